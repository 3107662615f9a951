/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "window.h"

bool window_has(const struct window *window, uint8_t packet) {
    if (packet <= window->first)
        return packet < window->first;
    uint8_t ahead = (uint8_t)(packet - window->first - 1);
    return ahead < WINDOW_PACKETS_MAX && (window->beyond >> ahead & 1) != 0;
}

bool window_take(struct window *window, uint8_t packet) {
    if (packet >= window->packets)
        return false;
    if (packet < window->first)
        return true;
    if (packet > window->first) {
        uint8_t ahead = (uint8_t)(packet - window->first - 1);
        if (ahead >= WINDOW_PACKETS_MAX)
            return false;
        window->beyond |= (uint16_t)(1U << ahead);
        return true;
    }
    bool next;
    do {
        window->first++;
        next = (window->beyond & 1) != 0;
        window->beyond >>= 1;
    } while (next);
    return true;
}

void window_write(uint8_t to[WINDOW_BYTES], const struct window *window) {
    to[0] = window->first;
    to[1] = (uint8_t)(window->beyond >> 8);
    to[2] = (uint8_t)window->beyond;
}

bool window_read(struct window *window, const uint8_t from[WINDOW_BYTES]) {
    uint16_t beyond = (uint16_t)(from[1] << 8 | from[2]);
    if (from[0] > window->packets || from[0] < window->first ||
        (from[0] == window->first && (beyond & ~window->beyond) == 0))
        return false;
    window->first = from[0];
    window->beyond = beyond;
    return true;
}
