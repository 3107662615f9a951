/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A window of packets, selective repeat: what the receiver has, which it says in its ACK and the
 * sender keeps a copy of. Packets are numbered from 0.
 */
#ifndef SUNSEAL_BASE_WINDOW_H
#define SUNSEAL_BASE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#define WINDOW_PACKETS_MAX 16

struct window {
    uint8_t packets; /* in all */
    uint8_t first;   /* the first that is missing; all when it is `packets` */
    uint16_t beyond; /* bit i: packet first + 1 + i is there */
};

bool window_has(const struct window *window, uint8_t packet);

/* A packet has come; one further ahead than a window is not kept: false. */
bool window_take(struct window *window, uint8_t packet);

static inline bool window_whole(const struct window *window) {
    return window->first == window->packets;
}

/* As an ACK has it: first, then `beyond` with its high byte first. */
#define WINDOW_BYTES 3
void window_write(uint8_t to[WINDOW_BYTES], const struct window *window);

/* False if the ACK tells nothing new: an earlier one, or of packets that there are not. */
bool window_read(struct window *window, const uint8_t from[WINDOW_BYTES]);

#endif
