/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The board's radio (RADIO in board.mk: cc2500.c, cc2420.c or cc1000.c): packets of a length byte
 * and a frame of the link layer, with a CRC.
 */
#ifndef SUNSEAL_PHY_H
#define SUNSEAL_PHY_H

#include <stdbool.h>
#include <stdint.h>

/* Resets and configures the chip and puts it to sleep; false if it does not answer. */
bool phy_start(uint8_t channel, uint8_t power);

/* Out of sleep into IDLE. */
bool phy_wake(void);
/* Into sleep; the configuration stays. */
void phy_sleep(void);

/* Sends a packet (length byte and frame) and waits for its end; then the chip listens,
 * or rests in IDLE. False if the packet did not leave in time. */
bool phy_send(const uint8_t *packet, uint8_t bytes, bool then_listen);

/* Waits for a packet with a good CRC, up to timeout_ms in all; its frame without the length
 * byte goes to `frame`. Returns the frame's bytes, 0 if none came.
 * Called again, it listens again. */
uint8_t phy_receive(uint8_t *frame, uint8_t frame_bytes_max, uint16_t timeout_ms);

/* Wake-on-radio
 * -------------
 * In programs whose radio has it (NODE_LISTENS, Makefile).
 */
#ifdef NODE_LISTENS
#define PHY_LISTENS true

/* Whether the chip can look at the air by itself so often. */
bool phy_can_listen(uint16_t every_ms);

/* Out of IDLE: the chip looks at the air every every_ms, for frames to `address` or everyone, until
 * one wakes the processor (true) or timeout_ms have passed (false). `bytes` are those of the frame
 * without its length byte, 0 if what woke us was none. The chip is in IDLE afterwards. */
bool phy_listen(uint8_t address, uint16_t every_ms, uint16_t timeout_ms, uint8_t *frame,
                uint8_t frame_bytes_max, uint8_t *bytes);
#else
#define PHY_LISTENS false

static inline bool phy_can_listen(uint16_t every_ms) {
    (void)every_ms;
    return false;
}
#endif

#endif
