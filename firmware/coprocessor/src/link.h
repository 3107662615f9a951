/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A bus to the coprocessor: link_parallel.c, link_spi.c, link_uart.c. What goes over it and when:
 * hdl/README.md.
 */
#ifndef SUNSEAL_COPROCESSOR_LINK_H
#define SUNSEAL_COPROCESSOR_LINK_H

#include <stdbool.h>
#include <stdint.h>

/* The pins of the bus at rest; or as outputs at 0. */
void link_open(void);
void link_close(void);
/* The first byte of a command, or one behind it. */
void link_send_byte(uint8_t byte);
/* Behind that; count is not 0. */
void link_send(const uint8_t *bytes, uint16_t count);
/* Behind the last byte sent: it is the coprocessor's turn. */
void link_turn(void);
/* The status, 0 while it has not come. */
uint8_t link_status(void);
/* How often link_status is asked before an answer is given up, some 160 ms: the longest message,
 * 1,024 bytes of XTEA, takes 1.4 ms at 24 MHz. */
uint16_t link_polls_max(void);
/* Whether a status comes so much later than the result that any answer is worth falling asleep. */
bool link_is_slow(void);
/* False if one did not come. */
bool link_receive(uint8_t *bytes, uint16_t count);
/* Behind the last byte received: it is the mote's turn. */
void link_finish(void);

/* Whether the interrupt of a result that is ready is let through; off forgets one that came. On
 * with interrupts off only. */
void link_watch(bool on);
/* Whether it came since then: the status is there, or will be within two bytes. */
bool link_seen(void);

/* The line IRQ, of the buses that have it (link_ready.c). */
void link_ready_open(void);
void link_ready_close(void);

#define STATUS_READY 0x80
#define STATUS_REASON 0x03

#endif
