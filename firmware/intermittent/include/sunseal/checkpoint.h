/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CHECKPOINT_H
#define SUNSEAL_CHECKPOINT_H

#include "sunseal/nvm.h"
#include "sunseal/supply.h"

/*
 * Checkpoints when the supply falls
 * =================================
 *
 * After Hibernus (Balsamo et al., IEEE Embedded Systems Letters 7(1), 2015): a program runs as if
 * the supply never failed. When it falls below a threshold, an interrupt saves the registers, the
 * part of SRAM that is in use and the peripheral registers listed; then the CPU sleeps. If the
 * supply comes back, it goes on from there; if it fails first, the next start-up waits for it,
 * restores, and goes on in the middle of the instruction stream. MSP430FR5994 only: a flash part
 * cannot write the state in the time that a small store gives it.
 *
 * Two slots in FRAM, used in turn. A slot is made invalid, filled, and made valid by the last word
 * written, its number; it has a CRC besides. So the power may fail at any cycle, in saving too:
 * what is restored is the youngest slot that is whole. Restoring writes SRAM alone. Without a
 * valid slot the program starts at main.
 *
 * What is saved: R0 to R15 in 20 bits, static memory (.data, .bss, .noinit), the stack, the
 * hardware multiplier in every state, the CRC16 module, and the registers of the list. Not saved:
 * transfers and conversions under way (DMA, AES, eUSCI, timers' phases). Whoever uses those holds
 * the checkpoint off meanwhile: with GIE clear none is taken.
 *
 * A checkpoint stays valid until the next. What the program wrote to FRAM since is written again
 * when it is run again: it must not read a word there and write it later, or end the stretch
 * between with sunseal_checkpoint_now. Likewise with the world: what was sent may be sent twice.
 *
 * SECRETS. A slot is all of SRAM: keys, nonces, half-done points. It lies in FRAM in the clear, as
 * the private key itself does on this part, and is read by whoever reads that: set the part's JTAG
 * password or its IP encapsulation. It is not sealed: a key for sealing would lie in the same FRAM.
 * sunseal_checkpoint_wipe zeroes both slots; call it when what they may hold is no longer needed.
 *
 * Uses the ADC12_B with its vector, REF_A, the CRC16 module (handed back as it was), and what
 * sunseal/supply.h uses. While it watches, ADC and reference take 164 uA at 3 V (SLASE54D: 145 and
 * 19 uA); the comparator, which Hibernus uses, would take less. While it waits, about 1 uA.
 *
 * Stack: 100 bytes below the program's deepest. Non-volatile memory: two slots of
 * SUNSEAL_CHECKPOINT_BYTES. Time to save or restore: docs/reference/intermittent.md, measured.
 */

/* A slot holds so much SRAM: the program's static memory and the stack at its deepest must fit. */
#ifndef SUNSEAL_CHECKPOINT_BYTES
#define SUNSEAL_CHECKPOINT_BYTES 4096
#endif
#define SUNSEAL_CHECKPOINT_REGISTERS_MAX 16

/* A peripheral register of 16 bits. Where it has a password in its upper byte, that byte is
 * replaced by it when it is written back. The list is restored in its order. */
struct sunseal_checkpoint_register {
    uint16_t address;
    uint16_t password;
};

struct sunseal_checkpoint_config {
    /* SUNSEAL_SUPPLY, or a pin's channel (sunseal/supply.h), and thresholds in its codes. Between
     * save and the least supply (1.8 V) lies the charge for one save; between resume and save, for
     * a restore, a save and work in between. */
    uint16_t save_below, resume_above;
    uint8_t channel;
    uint8_t count;
    const struct sunseal_checkpoint_register *registers;
};

/*
 * The first call of main, with interrupts off. Waits asleep until the supply is above
 * resume_above. If there is a checkpoint it does not return: the program goes on where that was
 * taken. Otherwise starts to watch the supply, sets GIE and returns SUNSEAL_OK.
 * SUNSEAL_ERR_PARAMETERS: save_below is not under resume_above, a code above 4094, an unknown
 * channel, or too many registers. config must last.
 */
int sunseal_checkpoint_start(const struct sunseal_checkpoint_config *config);

/*
 * Takes a checkpoint here and returns SUNSEAL_OK: once now, and again behind each restart from it.
 * SUNSEAL_ERR_STORE: the state in use is larger than a slot; the slots are as they were.
 */
int sunseal_checkpoint_now(void);

/* Bytes that a slot would have had to hold when last a checkpoint was refused; in FRAM. What the
 * supply's failure asked for has nobody else to tell. */
extern volatile uint16_t sunseal_checkpoint_refused_bytes;

/* Makes both slots invalid, then zero; a cut in between leaves them invalid and the next start
 * zeroes them. The next failure of the supply takes a new one. */
void sunseal_checkpoint_wipe(void);

/* Stops watching: ADC and reference off. */
void sunseal_checkpoint_stop(void);

#endif
