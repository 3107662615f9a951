/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Eight lines and a toggle line. Lines: port C, whole; toggle: a bit of port B. Cycles are counted,
 * as the coprocessor takes a byte some of its clocks behind the toggle and no longer asks:
 * BOARD_COPROCESSOR_READ_CYCLES from a toggle to the read is what boards are held to (`read_cycles`
 * in data/boards).
 *
 * Sending, eight bytes at a time, takes 4.6 cycles a byte: 4 from toggle to toggle, 3 until the
 * lines change. Receiving, eight bytes at a time, takes 7.6: 4 from a toggle to what IN reads,
 * which is the level of a cycle before (2467X, "Reading the pin value").
 */
#include "board.h"
#include "link.h"

/* I/O addresses for IN and OUT: the data space's less 0x20. */
#define IO_PINC 0x13
#define IO_PORTC 0x15
#define IO_PORTB 0x18

void link_open(void) {
    PORTC = 0xFF;
    DDRC = 0xFF;
    PORTB &= (uint8_t)~BOARD_COPROCESSOR_TOGGLE;
    DDRB |= BOARD_COPROCESSOR_TOGGLE;
    link_ready_open();
}

void link_close(void) {
    link_ready_close();
    PORTB &= (uint8_t)~BOARD_COPROCESSOR_TOGGLE;
    DDRB |= BOARD_COPROCESSOR_TOGGLE;
    PORTC = 0;
    DDRC = 0xFF;
}

static void toggle(void) {
    PORTB ^= BOARD_COPROCESSOR_TOGGLE;
}

#define SEND_ONE(level)                                                                            \
    "ld __tmp_reg__, %a[bytes]+\n\t"                                                               \
    "out %[portc], __tmp_reg__\n\t"                                                                \
    "out %[portb], %[" level "]\n\t"

void link_send_byte(uint8_t byte) {
    PORTC = byte;
    toggle();
}

/* count / 8, of 2,047 at most: -Os would shift in a loop. */
static inline uint8_t eights_of(uint16_t count) {
    uint8_t high = (uint8_t)(count >> 8), low = (uint8_t)count;
    __asm__("lsr %[high]\n\tror %[low]\n\t"
            "lsr %[high]\n\tror %[low]\n\t"
            "lsr %[high]\n\tror %[low]"
            : [high] "+r"(high), [low] "+r"(low));
    return low;
}

void link_send(const uint8_t *bytes, uint16_t count) {
    uint8_t now = PORTB, other = now ^ BOARD_COPROCESSOR_TOGGLE;
    uint8_t eights = eights_of(count);
    if (eights != 0) {
        do {
            __asm__ volatile(
                SEND_ONE("other") SEND_ONE("now") SEND_ONE("other") SEND_ONE("now")
                    SEND_ONE("other") SEND_ONE("now") SEND_ONE("other") SEND_ONE("now")
                : [bytes] "+e"(bytes)
                : [now] "r"(now), [other] "r"(other), [portc] "I"(IO_PORTC), [portb] "I"(IO_PORTB)
                : "memory");
        } while (--eights != 0);
    }
    for (uint8_t rest = count & 7; rest != 0; rest--) {
        PORTC = *bytes++;
        PORTB = other;
        other = now;
        now ^= BOARD_COPROCESSOR_TOGGLE;
    }
}

void link_turn(void) {
    /* Let go of, the lines are pulled up: 0xFF until somebody drives them. */
    DDRC = 0;
    PORTC = 0xFF;
    toggle();
}

uint8_t link_status(void) {
    const uint8_t status = PINC;
    return (status & (uint8_t)~STATUS_REASON) == STATUS_READY ? status : 0;
}

uint16_t link_polls_max(void) {
    return 60000; /* 20 cycles a look */
}

bool link_is_slow(void) {
    return false;
}

#define RECEIVE_NEXT(level)                                                                        \
    "out %[portb], %[" level "]\n\t"                                                               \
    "st %a[bytes]+, __tmp_reg__\n\t"                                                               \
    "nop\n\tnop\n\tnop\n\t"                                                                        \
    "in __tmp_reg__, %[pinc]\n\t"

bool link_receive(uint8_t *bytes, uint16_t count) {
    uint8_t now = PORTB, other = now ^ BOARD_COPROCESSOR_TOGGLE;
    uint8_t eights = eights_of(count);
    if (eights != 0) {
        do {
            /* A read is stored behind the next toggle, while the coprocessor fetches. */
            __asm__ volatile(
                "out %[portb], %[other]\n\t"
                "nop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
                "in __tmp_reg__, %[pinc]\n\t" RECEIVE_NEXT("now") RECEIVE_NEXT("other")
                    RECEIVE_NEXT("now") RECEIVE_NEXT("other") RECEIVE_NEXT("now")
                        RECEIVE_NEXT("other") RECEIVE_NEXT("now") "st %a[bytes]+, __tmp_reg__\n\t"
                : [bytes] "+e"(bytes)
                : [now] "r"(now), [other] "r"(other), [pinc] "I"(IO_PINC), [portb] "I"(IO_PORTB)
                : "memory");
        } while (--eights != 0);
    }
    return true;
}

void link_finish(void) {
    toggle();
    /* The coprocessor lets go of the lines 8 of its clocks later. */
    __asm__ volatile("nop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop");
    DDRC = 0xFF;
}
