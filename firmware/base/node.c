/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node of Rizvi et al. 2009, section II-C: takes a key and data from the base station, encrypts
 * them by whatever the program was built with, sends the result back. A segment lies in its buffer
 * at its sequence number, and what the report leaves open is checked: what lies beyond the buffer,
 * a key of another length and half a block are refused with a reason.
 *
 * In a window a packet lies at its number; both ways are told in message.h.
 *
 * BASE_aes128, BASE_xtea or BASE_present128 names the cipher; behind the coprocessor's variants it
 * is the FPGA's, which is on while it is used.
 */
#include <string.h>

#include "board.h"
#include "hal.h"
#include "message.h"
#include "phy.h"
#include "sunseal/aes.h"
#include "sunseal/block.h"
#include "sunseal/present.h"
#include "sunseal/wipe.h"
#include "sunseal/xtea.h"
#include "window.h"

#if defined(BASE_xtea)
#define CIPHER sunseal_xtea
#define COPROCESSOR_CIPHER SUNSEAL_COPROCESSOR_XTEA
#define BLOCK_BYTES 8
#elif defined(BASE_present128)
#define CIPHER sunseal_present128
#define COPROCESSOR_CIPHER SUNSEAL_COPROCESSOR_PRESENT128
#define BLOCK_BYTES 8
#else
#define CIPHER sunseal_aes128
#define COPROCESSOR_CIPHER SUNSEAL_COPROCESSOR_AES128
#define BLOCK_BYTES 16
#endif

#define CHANNEL 0
#define KEY_BYTES 16
#define BUFFER_BYTES 1024
#define SEGMENTS (BUFFER_BYTES / MESSAGE_BODY_BYTES)
#define KEY_SEGMENTS (KEY_BYTES / MESSAGE_BODY_BYTES)

#define TRIES 11 /* the first and ten more */
/* An ACK comes through the base station's serial port, twice: some 20 ms. */
#define ACK_MS 80
/* What the base station takes to hand the last ACK on, before it hears a result. */
#define TURN_MS 20
#define LISTEN_MS 1000

static uint8_t key[KEY_BYTES];
static uint8_t buffer[BUFFER_BYTES];
static struct sunseal_crypt crypt;
static int event_error;

/* Segments come in order, counting down; `next` is the one that is waited for. */
static struct {
    bool keyed;
    int16_t next_key, next;
    uint8_t segments; /* of the data, 0 before the first */
} session;

/* In a window. */
static struct {
    uint16_t bytes;       /* of the data, 0 before a START */
    uint8_t packet_bytes; /* of all packets but the last */
    uint8_t most;         /* packets of a burst */
    struct window came;
} burst;

#if defined(SUNSEAL_AES_FPGA)
#include "sunseal/coprocessor.h"

static struct sunseal_coprocessor engine;

static void engine_sleep(void) {
    sunseal_coprocessor_sleep(&engine);
}
#else
static struct sunseal_crypt_software engine;
static uint8_t schedule[SUNSEAL_SCHEDULE_BYTES_MAX]
    __attribute__((aligned(SUNSEAL_SCHEDULE_ALIGN)));

static void engine_sleep(void) {}
#endif

static void done(struct sunseal_crypt *from, int error) {
    (void)from;
    event_error = error;
}

static const struct sunseal_crypt_events events = {done, done};

static int by_events(int status) {
    event_error = SUNSEAL_ERR_ENGINE;
    while (status == SUNSEAL_OK && sunseal_crypt_poll(&crypt))
        engine_sleep();
    return status == SUNSEAL_OK ? event_error : status;
}

#if defined(SUNSEAL_AES_FPGA)
static void engine_on(void) {
    sunseal_coprocessor_power(true);
    hal_sleep_ms(BOARD_COPROCESSOR_BOOT_MS);
    sunseal_coprocessor_init(&engine, COPROCESSOR_CIPHER);
    sunseal_crypt_init(&crypt, &engine.driver, &engine, &events);
}

static void engine_off(void) {
    sunseal_coprocessor_power(false);
}
#else
static void engine_on(void) {
    sunseal_crypt_software_init(&engine, &CIPHER, schedule);
    sunseal_crypt_init(&crypt, &engine.driver, &engine, &events);
}

static void engine_off(void) {
    sunseal_wipe(schedule, sizeof schedule);
}
#endif

static bool send(uint8_t type, uint8_t sequence, const uint8_t *body, uint8_t body_bytes) {
    uint8_t packet[1 + MESSAGE_BYTES];
    struct message message = {.to = MESSAGE_BASE,
                              .from = MESSAGE_NODE,
                              .type = type,
                              .sequence = sequence,
                              .body_bytes = body_bytes};
    memcpy(message.body, body, body_bytes);
    packet[0] = message_write(packet + 1, &message);
    return phy_send(packet, packet[0] + 1, true);
}

static void acknowledge(const struct message *message) {
    send(MESSAGE_ACK, message->sequence, &message->type, 1);
}

static void refuse(const struct message *message, uint8_t reason, uint8_t figure) {
    const uint8_t body[2] = {reason, figure};
    send(MESSAGE_REFUSED, message->sequence, body, sizeof body);
}

static void acknowledge_burst(const struct window *came, uint8_t sequence) {
    uint8_t body[1 + WINDOW_BYTES] = {MESSAGE_DATA_ENDS};
    window_write(body + 1, came);
    send(MESSAGE_ACK, sequence, body, sizeof body);
}

static bool receive(struct message *message, uint16_t timeout_ms) {
    uint8_t frame[MESSAGE_BYTES];
    uint8_t bytes = phy_receive(frame, sizeof frame, timeout_ms);
    return bytes != 0 && message_read(message, frame, bytes) && message->to == MESSAGE_NODE &&
           message->from == MESSAGE_BASE;
}

/* A segment in order, or the one before once more, whose ACK was lost. */
static bool in_order(int16_t *next, uint8_t sequence) {
    if (sequence == *next) {
        (*next)--;
        return true;
    }
    return sequence == *next + 1;
}

static void take_key(const struct message *message) {
    if (message->sequence >= KEY_SEGMENTS || message->body_bytes != MESSAGE_BODY_BYTES) {
        refuse(message, MESSAGE_KEY_WRONG, KEY_BYTES);
        return;
    }
    if (!in_order(&session.next_key, message->sequence)) {
        if (message->sequence != KEY_SEGMENTS - 1) {
            refuse(message, MESSAGE_KEY_WRONG, KEY_BYTES);
            return;
        }
        session.next_key = KEY_SEGMENTS - 2;
    }
    burst.bytes = 0;
    memcpy(key + message->sequence * MESSAGE_BODY_BYTES, message->body, MESSAGE_BODY_BYTES);
    session.keyed = session.next_key < 0;
    session.segments = 0;
    acknowledge(message);
}

/* True when the data are whole, and were not before. */
static bool take_data(const struct message *message) {
    if (!session.keyed) {
        refuse(message, MESSAGE_NO_KEY, KEY_BYTES);
        return false;
    }
    if (message->sequence >= SEGMENTS) {
        refuse(message, MESSAGE_TOO_LONG, SEGMENTS);
        return false;
    }
    if (message->body_bytes != MESSAGE_BODY_BYTES) {
        refuse(message, MESSAGE_NO_BLOCK, BLOCK_BYTES);
        return false;
    }
    bool whole_before = session.segments != 0 && session.next < 0;
    if (session.segments == 0 || !in_order(&session.next, message->sequence)) {
        session.segments = message->sequence + 1;
        session.next = (int16_t)message->sequence - 1;
        whole_before = false;
    }
    if (session.segments * MESSAGE_BODY_BYTES % BLOCK_BYTES != 0) {
        session.segments = 0;
        refuse(message, MESSAGE_NO_BLOCK, BLOCK_BYTES);
        return false;
    }
    if (whole_before) {
        acknowledge(message);
        return false;
    }
    memcpy(buffer + message->sequence * MESSAGE_BODY_BYTES, message->body, MESSAGE_BODY_BYTES);
    acknowledge(message);
    return session.next < 0;
}

static uint8_t packet_bytes(uint8_t packet) {
    uint16_t left = burst.bytes - (uint16_t)packet * burst.packet_bytes;
    return left < burst.packet_bytes ? (uint8_t)left : burst.packet_bytes;
}

static void take_start(const struct message *message) {
    const uint8_t *body = message->body;
    uint16_t bytes = (uint16_t)(body[0] << 8 | body[1]);
    if (message->body_bytes != 4 + KEY_BYTES) {
        refuse(message, MESSAGE_KEY_WRONG, KEY_BYTES);
    } else if (bytes > BUFFER_BYTES) {
        refuse(message, MESSAGE_TOO_LONG, SEGMENTS);
    } else if (bytes == 0 || bytes % BLOCK_BYTES != 0) {
        refuse(message, MESSAGE_NO_BLOCK, BLOCK_BYTES);
    } else if (body[2] == 0 || body[2] % MESSAGE_BODY_BYTES != 0 ||
               body[2] > MESSAGE_BODY_BYTES_MAX || body[3] == 0 || body[3] > WINDOW_PACKETS_MAX) {
        refuse(message, MESSAGE_PACKET_WRONG, MESSAGE_BODY_BYTES_MAX);
    } else {
        burst.bytes = bytes;
        burst.packet_bytes = body[2];
        burst.most = body[3];
        burst.came = (struct window){.packets = (uint8_t)((bytes + body[2] - 1) / body[2])};
        memcpy(key, body + 4, KEY_BYTES);
        session.keyed = false;
        session.next_key = KEY_SEGMENTS - 1;
        acknowledge(message);
    }
}

/* True when the data are whole, and were not before. */
static bool take_packet(const struct message *message) {
    uint8_t packet = message->sequence;
    if (burst.bytes == 0) {
        refuse(message, MESSAGE_NO_START, 0);
        return false;
    }
    if (packet >= burst.came.packets || message->body_bytes != packet_bytes(packet)) {
        refuse(message, MESSAGE_PACKET_WRONG, burst.packet_bytes);
        return false;
    }
    bool whole_before = window_whole(&burst.came);
    if (!window_has(&burst.came, packet) && window_take(&burst.came, packet))
        memcpy(buffer + (uint16_t)packet * burst.packet_bytes, message->body, message->body_bytes);
    if (message->type == MESSAGE_DATA_ENDS)
        acknowledge_burst(&burst.came, packet);
    return !whole_before && window_whole(&burst.came);
}

static int encrypt(size_t bytes) {
    engine_on();
    hal_mark(true);
    int status = by_events(sunseal_crypt_set_key(&crypt, key, sizeof key));
    if (status == SUNSEAL_OK)
        status = by_events(sunseal_crypt_encrypt_data(&crypt, buffer, bytes, buffer, bytes));
    hal_mark(false);
    engine_off();
    return status;
}

/* Until it is acknowledged; false after ten more tries. */
static bool deliver(uint8_t type, uint8_t sequence, const uint8_t *body, uint8_t body_bytes) {
    struct message answer;
    for (uint8_t tries = 0; tries < TRIES; tries++) {
        if (!send(type, sequence, body, body_bytes))
            continue;
        while (receive(&answer, ACK_MS)) {
            if (answer.type == MESSAGE_ACK && answer.sequence == sequence &&
                answer.body_bytes == 1 && answer.body[0] == type)
                return true;
            /* The ACK of the last data was lost. */
            if (answer.type == MESSAGE_DATA && answer.sequence == 0)
                acknowledge(&answer);
        }
    }
    return false;
}

/* A burst of what is not acknowledged; behind a silence its last one alone, which asks again. */
static void send_burst(const struct window *had, bool last_only) {
    uint8_t due[WINDOW_PACKETS_MAX], count = 0;
    for (uint8_t i = 0; i < burst.most && had->first + i < had->packets; i++) {
        if (!window_has(had, had->first + i))
            due[count++] = had->first + i;
    }
    for (uint8_t i = last_only ? count - 1 : 0; i < count; i++)
        send(i + 1 == count ? MESSAGE_RESULT_ENDS : MESSAGE_RESULT, due[i],
             buffer + (uint16_t)due[i] * burst.packet_bytes, packet_bytes(due[i]));
}

/* True when what is at the other side has grown; false when nothing came. */
static bool burst_acknowledged(struct window *had) {
    struct message answer;
    while (receive(&answer, ACK_MS)) {
        if (answer.type == MESSAGE_ACK && answer.body_bytes == 1 + WINDOW_BYTES &&
            answer.body[0] == MESSAGE_RESULT_ENDS)
            return window_read(had, answer.body + 1);
        /* The ACK of the last data was lost. */
        if (answer.type == MESSAGE_DATA_ENDS)
            acknowledge_burst(&burst.came, answer.sequence);
    }
    return false;
}

static void answer_in_bursts(void) {
    struct window had = {.packets = burst.came.packets};
    uint8_t tries = 0;
    while (!window_whole(&had) && tries < TRIES) {
        send_burst(&had, tries != 0);
        tries = burst_acknowledged(&had) ? 0 : tries + 1;
    }
}

static void answer(void) {
    int status =
        encrypt(burst.bytes != 0 ? burst.bytes : (size_t)session.segments * MESSAGE_BODY_BYTES);
    hal_sleep_ms(TURN_MS);
    if (status != SUNSEAL_OK) {
        const uint8_t body = (uint8_t)-status;
        deliver(MESSAGE_FAILED, 0, &body, 1);
        session.segments = 0;
        burst.bytes = 0;
        return;
    }
    if (burst.bytes != 0) {
        answer_in_bursts();
        return;
    }
    for (uint8_t left = session.segments; left != 0; left--) {
        if (!deliver(MESSAGE_RESULT, left - 1, buffer + (left - 1) * MESSAGE_BODY_BYTES,
                     MESSAGE_BODY_BYTES))
            break;
    }
}

int main(void) {
    struct message message;
    hal_init();
    if (!phy_start(CHANNEL, BOARD_POWER))
        hal_halt();
    phy_wake();
    session.next_key = KEY_SEGMENTS - 1;
    for (;;) {
        if (!receive(&message, LISTEN_MS))
            continue;
        if (message.type == MESSAGE_KEY)
            take_key(&message);
        else if (message.type == MESSAGE_START)
            take_start(&message);
        else if (message.type == MESSAGE_DATA_ENDS ||
                 (message.type == MESSAGE_DATA && burst.bytes != 0)) {
            if (take_packet(&message))
                answer();
        } else if (message.type == MESSAGE_DATA && take_data(&message))
            answer();
    }
}
