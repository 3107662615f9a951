/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The pins of a board whose ports have 8 bits. Every pin that nothing drives is an output at 0, so
 * that no input floats. BOARD_PORTS(port) lists the ports, each with its output and its direction
 * register, the pins that are 1 and those that are inputs. Included by a board.h.
 */
#ifndef SUNSEAL_BOARD_PINS_H
#define SUNSEAL_BOARD_PINS_H

#define BOARD_PORT_LEVELS(out, dir, high, inputs) out = (high);
#define BOARD_PORT_DIRECTIONS(out, dir, high, inputs) dir = (uint8_t)~(inputs);

static inline void board_pins_init(void) {
    BOARD_PORTS(BOARD_PORT_LEVELS)
    BOARD_PORTS(BOARD_PORT_DIRECTIONS)
}

#endif
