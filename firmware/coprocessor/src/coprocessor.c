/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Commands of the coprocessor: hdl/README.md, "Commands".
 */
#include "sunseal/coprocessor.h"

#include "board.h"
#include "link.h"

#define COMMAND_KEY_AND_DATA 0x00
#define COMMAND_DATA 0x40
#define COMMAND_LENGTH 0x02
#define COMMAND_STATUS 0xC0
#define UNIT_BYTES 8
#define KEY_BYTES 16

/* Looks for an answer before it is given up: with 20 cycles or more a look, 160 ms; the longest
 * message takes 1.3 ms at 12 MHz. */
#define POLLS_MAX 60000U

static const uint8_t no_data[16];

static void begin(struct sunseal_coprocessor *engine, uint16_t bytes) {
    link_turn();
    engine->sent = bytes;
    engine->polls = 0;
}

static int start_key(void *opaque, const uint8_t *key) {
    struct sunseal_coprocessor *engine = opaque;
    const uint8_t command = COMMAND_KEY_AND_DATA | engine->cipher;
    engine->on_key = true;
    engine->left = 0;
    /* There is no command for a key alone: a block of zeros goes with it. */
    link_send(&command, 1);
    link_send(key, KEY_BYTES);
    link_send(no_data, engine->driver.block_bytes);
    begin(engine, engine->driver.block_bytes);
    return SUNSEAL_OK;
}

static void send_message(struct sunseal_coprocessor *engine) {
    uint16_t bytes = engine->left;
    if (bytes > SUNSEAL_COPROCESSOR_MESSAGE_BYTES)
        bytes = SUNSEAL_COPROCESSOR_MESSAGE_BYTES;
    const uint8_t head[2] = {COMMAND_DATA | COMMAND_LENGTH | engine->cipher,
                             (uint8_t)(bytes / UNIT_BYTES)};
    const uint8_t one_block = COMMAND_DATA | engine->cipher;
    if (bytes == engine->driver.block_bytes)
        link_send(&one_block, 1);
    else
        link_send(head, 2);
    link_send(engine->in, bytes);
    engine->in += bytes;
    engine->left -= bytes;
    begin(engine, bytes);
}

static int start_data(void *opaque, uint8_t *out, const uint8_t *in, size_t blocks) {
    struct sunseal_coprocessor *engine = opaque;
    const size_t bytes = blocks * engine->driver.block_bytes;
    if (bytes > UINT16_MAX)
        return SUNSEAL_ERR_LENGTH;
    engine->on_key = false;
    engine->out = out;
    engine->in = in;
    engine->left = (uint16_t)bytes;
    engine->sent = 0;
    if (bytes != 0)
        send_message(engine);
    return SUNSEAL_OK;
}

static int step(void *opaque) {
    struct sunseal_coprocessor *engine = opaque;
    uint8_t status, zeros_encrypted[16];
    if (engine->sent == 0)
        return SUNSEAL_OK;
    if (!link_status(&status)) {
        if (++engine->polls < POLLS_MAX)
            return SUNSEAL_PENDING;
        sunseal_coprocessor_power(false);
        return SUNSEAL_ERR_ENGINE;
    }
    if ((status & STATUS_REASON) != 0 ||
        !link_receive(engine->on_key ? zeros_encrypted : engine->out, engine->sent)) {
        sunseal_coprocessor_power(false);
        return SUNSEAL_ERR_ENGINE;
    }
    link_finish();
    engine->out += engine->on_key ? 0 : engine->sent;
    engine->sent = 0;
    if (engine->left == 0)
        return SUNSEAL_OK;
    send_message(engine);
    return SUNSEAL_PENDING;
}

void sunseal_coprocessor_init(struct sunseal_coprocessor *engine,
                              enum sunseal_coprocessor_cipher cipher) {
    engine->driver.block_bytes = cipher == SUNSEAL_COPROCESSOR_AES128 ? 16 : 8;
    engine->driver.key_bytes = KEY_BYTES;
    engine->driver.start_key = start_key;
    engine->driver.start_data = start_data;
    engine->driver.step = step;
    engine->cipher = (uint8_t)cipher;
    engine->on_key = false;
    engine->out = NULL;
    engine->in = NULL;
    engine->left = engine->sent = engine->polls = 0;
}

void sunseal_coprocessor_power(bool on) {
    if (on)
        link_open();
    else
        link_close();
    board_coprocessor_power(on);
}

int sunseal_coprocessor_status(void) {
    const uint8_t command = COMMAND_STATUS;
    uint8_t status = 0;
    uint16_t polls = 0;
    link_send(&command, 1);
    link_turn();
    while (!link_status(&status)) {
        if (++polls == POLLS_MAX)
            return SUNSEAL_ERR_ENGINE;
    }
    link_finish();
    return status & STATUS_REASON;
}
