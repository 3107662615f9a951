/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * CC2500 at 250 kBd, MSK, 2.4 GHz, variable packet length, hardware CRC.
 */
#ifndef SUNSEAL_CC2500_H
#define SUNSEAL_CC2500_H

#include <stdbool.h>
#include <stdint.h>

/* Resets and configures the chip and puts it to sleep; false if it does not answer. */
bool cc2500_start(uint8_t channel, uint8_t power);

/* Out of sleep into IDLE. */
bool cc2500_wake(void);
/* Into sleep; the configuration stays. */
void cc2500_sleep(void);

/* Sends a packet (length byte and frame) and waits for its end; then the chip listens,
 * or rests in IDLE. False if the packet did not leave in time. */
bool cc2500_send(const uint8_t *packet, uint8_t bytes, bool then_listen);

/* Waits for a packet with a good CRC, up to timeout_ms in all; its frame without the length
 * byte goes to `frame`. Returns the frame's bytes, 0 if none came.
 * Called again, it listens again. */
uint8_t cc2500_receive(uint8_t *frame, uint8_t frame_bytes_max, uint16_t timeout_ms);

#endif
