/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Operations of which it is known what can be done before `message` comes.
 */
#include <stdint.h>

#define N 32

/* Written before the start, and not cleared there. */
__attribute__((section(".noinit"))) volatile uint8_t message[N];
volatile uint8_t unread[4];
uint8_t key[N] = {3, 1, 4, 1, 5, 9, 2, 6};
uint8_t header[4 * N] = {2, 7, 1, 8};
uint8_t pad[N], result[N];

__attribute__((noinline)) static uint8_t mix(uint8_t state, uint8_t byte) {
    for (int i = 0; i < 12; i++)
        state = (uint8_t)((uint8_t)(state << 1) ^ (uint8_t)(state >> 3) ^ byte);
    return state;
}

/* Makes a pad of the key and adds it: all but the sum can go ahead, N bytes of pad. */
__attribute__((noinline)) void one_time_pad(void) {
    uint8_t state = 1;
    for (int i = 0; i < N; i++)
        pad[i] = state = mix(state, key[i]);
    for (int i = 0; i < N; i++)
        result[i] = (uint8_t)(pad[i] + message[i]);
}

/* Each step needs the one before, and the first the message. */
__attribute__((noinline)) void chain(void) {
    uint8_t state = 1;
    for (int i = 0; i < N; i++)
        result[i] = state = mix(state, message[i]);
}

/* The first 4 of 5 parts are the header's; one byte of state goes on. */
__attribute__((noinline)) void fixed_prefix(void) {
    uint8_t state = 1;
    for (int i = 0; i < 4 * N; i++)
        state = mix(state, header[i]);
    for (int i = 0; i < N; i++)
        state = mix(state, message[i]);
    result[0] = state;
}

/* A table that depends on the message by its address alone. */
__attribute__((noinline)) void look_up(void) {
    for (int i = 0; i < N; i++)
        result[i] = header[message[i] & 63];
}

/* The header's state always goes ahead; that of the key is wanted with an odd message only. */
__attribute__((noinline)) void by_turns(void) {
    uint8_t state = 1, other = 2;
    for (int i = 0; i < 4 * N; i++)
        state = mix(state, header[i]);
    result[0] = state;
    if (message[0] & 1) {
        for (int i = 0; i < N; i++)
            other = mix(other, key[i]);
        result[1] = other;
    }
    result[2] = message[1];
}

#ifdef DMA_REGISTER
/* What DMA moves is not followed. */
__attribute__((noinline)) void by_dma(void) {
    *(volatile uint16_t *)DMA_REGISTER = 0;
    result[0] = message[0];
}
#else
void by_dma(void) {}
#endif

int main(void) {
    by_dma();
    one_time_pad();
    chain();
    fixed_prefix();
    look_up();
    by_turns();
    for (;;) {
    }
}
