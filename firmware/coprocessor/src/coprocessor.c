/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Commands of the coprocessor: hdl/README.md, "Commands".
 */
#include "sunseal/coprocessor.h"

#include <string.h>

#include "board.h"
#include "engine.h"
#include "link.h"
#include "sunseal/wipe.h"

#define COMMAND_KEY_AND_DATA 0x00
#define COMMAND_DATA 0x40
#define COMMAND_LENGTH 0x02
#define COMMAND_STATUS 0xC0
#define UNIT_BYTES 8
#define KEY_BYTES 16

static const uint8_t zeros[16];

/* The command of a message of whole blocks under the key that is there. */
static void send_head(const struct sunseal_coprocessor *engine, uint8_t mode, uint16_t bytes) {
    const uint8_t command = COMMAND_DATA | engine->cipher | mode;
    if (bytes == engine->driver.block_bytes) {
        link_send_byte(command);
    } else {
        link_send_byte(command | COMMAND_LENGTH);
        link_send_byte((uint8_t)(bytes / UNIT_BYTES));
    }
}

/* So many bytes were sent, so many come back. */
static void begin(struct sunseal_coprocessor *engine, uint16_t bytes, uint16_t answer,
                  uint16_t kept) {
    engine->sleeps = bytes >= engine->sleep_bytes;
    if (engine->sleeps)
        link_watch(false); /* it takes longer than this to be ready */
    link_turn();
    engine->answer = answer;
    engine->kept = kept;
    engine->polls = 0;
}

static int start_key(void *opaque, const uint8_t *key) {
    struct sunseal_coprocessor *engine = opaque;
    const uint8_t block = engine->driver.block_bytes;
    engine->on_key = true;
    engine->keyed = false;
    engine->first = NULL;
    engine->left = 0;
    /* There is no command for a key alone: a block of zeros goes with it. */
    link_send_byte(COMMAND_KEY_AND_DATA | engine->cipher);
    link_send(key, KEY_BYTES);
    link_send(zeros, block);
    begin(engine, block, block, 0);
    return SUNSEAL_OK;
}

/* As much as one command takes; the rest is left. */
static void send_message(struct sunseal_coprocessor *engine, const uint8_t *in, uint16_t left) {
    uint16_t bytes = left;
    if (bytes > SUNSEAL_COPROCESSOR_MESSAGE_BYTES)
        bytes = SUNSEAL_COPROCESSOR_MESSAGE_BYTES;
    send_head(engine, MODE_ECB, bytes);
    link_send(in, bytes);
    engine->in = in + bytes;
    engine->left = left - bytes;
    begin(engine, bytes, bytes, bytes);
}

static int start_data(void *opaque, uint8_t *out, const uint8_t *in, size_t blocks) {
    struct sunseal_coprocessor *engine = opaque;
    const size_t bytes = blocks * engine->driver.block_bytes;
    if (bytes > UINT16_MAX)
        return SUNSEAL_ERR_LENGTH;
    engine->on_key = false;
    engine->first = NULL;
    engine->out = out;
    engine->left = engine->answer = 0;
    if (bytes != 0)
        send_message(engine, in, (uint16_t)bytes);
    return SUNSEAL_OK;
}

int coprocessor_start(struct sunseal_coprocessor *engine, uint8_t mode, const uint8_t *counter,
                      const struct sunseal_coprocessor_piece *pieces, uint8_t count) {
    const uint8_t block = engine->driver.block_bytes;
    uint16_t bytes = 0;
    for (uint8_t i = 0; i < count; i++) {
        if (pieces[i].bytes == NULL && pieces[i].count != 0)
            return SUNSEAL_ERR_NULL;
        if (pieces[i].count > SUNSEAL_COPROCESSOR_MESSAGE_BYTES - bytes)
            return SUNSEAL_ERR_LENGTH;
        bytes += pieces[i].count;
    }
    const uint8_t fill = (uint8_t)-bytes & (uint8_t)(block - 1);
    if (bytes == 0)
        return SUNSEAL_ERR_LENGTH;
    if (engine->answer != 0)
        return SUNSEAL_ERR_BUSY;
    if (!engine->keyed)
        return SUNSEAL_ERR_NO_KEY;
    engine->on_key = false;
    engine->first = NULL;
    engine->left = 0;
    send_head(engine, mode, bytes + fill);
    if (counter != NULL)
        link_send(counter, block);
    for (uint8_t i = 0; i < count; i++) {
        if (pieces[i].count != 0)
            link_send(pieces[i].bytes, pieces[i].count);
    }
    if (fill != 0)
        link_send(zeros, fill);
    begin(engine, bytes, mode == MODE_CBC_MAC ? block : bytes + fill, bytes);
    return SUNSEAL_OK;
}

/* The last block of an answer, of which so much is kept as fills a message. Apart, as it takes a
 * frame. */
__attribute__((noinline)) static bool take_last(uint8_t *out, uint8_t kept, uint8_t block) {
    uint8_t last[16];
    if (!link_receive(last, block))
        return false;
    memcpy(out, last, kept);
    sunseal_wipe(last, sizeof last);
    return true;
}

/* What is kept goes to its places, what fills the last block to none. Apart, as step needs fewer
 * registers by itself. */
__attribute__((noinline)) static bool take_pieces(struct sunseal_coprocessor *engine) {
    const uint8_t block = engine->driver.block_bytes;
    const uint16_t whole = engine->kept & (uint16_t)~(block - 1U);
    uint16_t rest = engine->answer - whole;
    if (engine->first != NULL) {
        if (!link_receive(engine->first, block))
            return false;
        rest -= block;
    }
    if (whole != 0 && !link_receive(engine->out, whole))
        return false;
    return rest == 0 || take_last(engine->out + whole, (uint8_t)(engine->kept - whole), block);
}

__attribute__((noinline)) static int no_answer(struct sunseal_coprocessor *engine) {
    engine->answer = 0;
    engine->keyed = false;
    sunseal_coprocessor_power(false);
    return SUNSEAL_ERR_ENGINE;
}

static int step(void *opaque) {
    struct sunseal_coprocessor *engine = opaque;
    const uint16_t answer = engine->answer;
    if (answer == 0)
        return SUNSEAL_OK;
    const uint8_t status = link_status();
    if (status == 0)
        return engine->polls++ < engine->polls_max ? SUNSEAL_PENDING : no_answer(engine);
    if ((status & STATUS_REASON) != 0)
        return no_answer(engine);
    /* An answer of whole blocks that are all kept is one piece. */
    const bool came = engine->first == NULL && engine->kept == answer
                          ? link_receive(engine->out, answer)
                          : take_pieces(engine);
    if (!came)
        return no_answer(engine);
    link_finish();
    engine->keyed = true;
    engine->answer = 0;
    if (engine->left == 0)
        return SUNSEAL_OK;
    engine->out += engine->kept;
    send_message(engine, engine->in, engine->left);
    return SUNSEAL_PENDING;
}

int sunseal_coprocessor_poll(struct sunseal_coprocessor *engine) {
    return step(engine);
}

void sunseal_coprocessor_init(struct sunseal_coprocessor *engine,
                              enum sunseal_coprocessor_cipher cipher) {
    engine->driver.block_bytes = cipher == SUNSEAL_COPROCESSOR_AES128 ? 16 : 8;
    engine->driver.key_bytes = KEY_BYTES;
    engine->driver.start_key = start_key;
    engine->driver.start_data = start_data;
    engine->driver.step = step;
    engine->cipher = (uint8_t)cipher;
    engine->on_key = engine->keyed = engine->sleeps = false;
    engine->first = engine->out = NULL;
    engine->in = NULL;
    engine->left = engine->answer = engine->kept = engine->polls = 0;
    engine->polls_max = link_polls_max();
    if (link_is_slow())
        engine->sleep_bytes = 0;
    else if (cipher == SUNSEAL_COPROCESSOR_AES128)
        engine->sleep_bytes = BOARD_COPROCESSOR_SLEEP_BYTES_AES;
    else if (cipher == SUNSEAL_COPROCESSOR_XTEA)
        engine->sleep_bytes = BOARD_COPROCESSOR_SLEEP_BYTES_XTEA;
    else
        engine->sleep_bytes = BOARD_COPROCESSOR_SLEEP_BYTES_PRESENT;
}

void sunseal_coprocessor_power(bool on) {
    if (on)
        link_open();
    else
        link_close();
    board_coprocessor_power(on);
}

int sunseal_coprocessor_status(void) {
    uint8_t status;
    uint16_t polls = link_polls_max();
    link_send_byte(COMMAND_STATUS);
    link_turn();
    while ((status = link_status()) == 0) {
        if (--polls == 0) {
            sunseal_coprocessor_power(false);
            return SUNSEAL_ERR_ENGINE;
        }
    }
    link_finish();
    return status & STATUS_REASON;
}
