/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "aes.h"
#include "sunseal/wipe.h"

/* SWRS041: command strobes, configuration registers, RAM (which is read and written from an address
 * of nine bits), status byte. Keys stand in RAM with their last byte first, data as they are. */
#define SNOP 0x00
#define SAES 0x0F
#define SECCTRL0 0x19
#define REGISTER_READ 0x40
#define RAM 0x80
#define RAM_READ 0x20
#define KEY1 0x130
#define SABUF 0x120
#define SEC_SAKEYSEL 0x80
#define ENC_BUSY 0x10
#define XOSC16M_STABLE 0x40
/* A block takes 14 us in the chip; a status byte at least 1 us on the wire. */
#define LOOKS 100

static int transfer(const struct sunseal_cc2420 *cc2420, const uint8_t *out, uint8_t *in,
                    size_t len) {
    int error = cc2420->transport->transfer(cc2420->transport->user, out, in, len);
    return error == SUNSEAL_OK ? SUNSEAL_OK : SUNSEAL_ERR_ENGINE;
}

static void ram(uint8_t *frame, uint16_t address, bool read) {
    frame[0] = (uint8_t)(RAM | (address & 0x7F));
    frame[1] = (uint8_t)(address >> 7 << 6 | (read ? RAM_READ : 0));
}

/* Until what is not wanted in the status is clear. */
static int wait(const struct sunseal_cc2420 *cc2420, uint8_t busy) {
    uint8_t strobe = SNOP, status;
    for (uint8_t i = 0; i < LOOKS; i++) {
        int error = transfer(cc2420, &strobe, &status, 1);
        if (error != SUNSEAL_OK) {
            return error;
        }
        if ((status & XOSC16M_STABLE) == 0 || status == 0xFF) {
            return SUNSEAL_ERR_ENGINE;
        }
        if ((status & busy) == 0) {
            return SUNSEAL_OK;
        }
    }
    return SUNSEAL_ERR_ENGINE;
}

/* Key 1, which SEC_SAKEYSEL chooses: key 0 stays the packets'. */
static int set_key(void *schedule, const uint8_t *key) {
    const struct sunseal_cc2420 *cc2420 = schedule;
    uint8_t frame[18], answer[3];
    if (cc2420->transport == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    int error = wait(cc2420, ENC_BUSY);
    if (error == SUNSEAL_OK) {
        ram(frame, KEY1, false);
        for (uint8_t i = 0; i < 16; i++) {
            frame[17 - i] = key[i];
        }
        error = transfer(cc2420, frame, NULL, 18);
        sunseal_wipe(frame, sizeof frame);
    }
    if (error == SUNSEAL_OK) {
        frame[0] = SECCTRL0 | REGISTER_READ;
        frame[1] = frame[2] = 0;
        error = transfer(cc2420, frame, answer, 3);
    }
    if (error == SUNSEAL_OK && (answer[2] & SEC_SAKEYSEL) == 0) {
        frame[0] = SECCTRL0;
        frame[1] = answer[1];
        frame[2] = answer[2] | SEC_SAKEYSEL;
        error = transfer(cc2420, frame, NULL, 3);
    }
    return error;
}

static int encrypt(const void *schedule, uint8_t *out, const uint8_t *in, size_t blocks) {
    const struct sunseal_cc2420 *cc2420 = schedule;
    uint8_t frame[18], answer[18], strobe = SAES;
    int error = SUNSEAL_OK;
    for (; blocks > 0 && error == SUNSEAL_OK; blocks--, out += 16, in += 16) {
        ram(frame, SABUF, false);
        memcpy(frame + 2, in, 16);
        error = transfer(cc2420, frame, NULL, 18);
        if (error == SUNSEAL_OK) {
            error = transfer(cc2420, &strobe, NULL, 1);
        }
        if (error == SUNSEAL_OK) {
            error = wait(cc2420, ENC_BUSY);
        }
        if (error == SUNSEAL_OK) {
            memset(frame, 0, sizeof frame);
            ram(frame, SABUF, true);
            error = transfer(cc2420, frame, answer, 18);
        }
        if (error == SUNSEAL_OK) {
            memcpy(out, answer + 2, 16);
        }
    }
    sunseal_wipe(frame, sizeof frame);
    sunseal_wipe(answer, sizeof answer);
    return error;
}

const struct sunseal_block sunseal_aes128_cc2420 =
    SUNSEAL_AES128_BLOCK(sunseal_cc2420, 1, set_key, encrypt, NULL, NULL);
