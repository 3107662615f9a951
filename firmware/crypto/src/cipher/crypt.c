/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "cipher.h"
#include "sunseal/wipe.h"

enum { NOTHING, KEY, DATA };

void sunseal_crypt_init(struct sunseal_crypt *crypt, const struct sunseal_crypt_driver *driver,
                        void *engine, const struct sunseal_crypt_events *events) {
    crypt->driver = driver;
    crypt->engine = engine;
    crypt->events = events;
    crypt->user = NULL;
    crypt->out = NULL;
    crypt->len = 0;
    crypt->pending = NOTHING;
    crypt->keyed = false;
}

int sunseal_crypt_set_key(struct sunseal_crypt *crypt, const uint8_t *key, size_t key_len) {
    if (crypt->pending != NOTHING) {
        return SUNSEAL_ERR_BUSY;
    }
    if (key == NULL) {
        return SUNSEAL_ERR_NULL;
    }
    if (key_len != crypt->driver->key_bytes) {
        return SUNSEAL_ERR_LENGTH;
    }
    crypt->keyed = false;
    int error = crypt->driver->start_key(crypt->engine, key);
    if (error == SUNSEAL_OK) {
        crypt->pending = KEY;
    }
    return error;
}

int sunseal_crypt_encrypt_data(struct sunseal_crypt *crypt, uint8_t *out, size_t out_len,
                               const uint8_t *in, size_t in_len) {
    if (crypt->pending != NOTHING) {
        return SUNSEAL_ERR_BUSY;
    }
    if (!crypt->keyed) {
        return SUNSEAL_ERR_NO_KEY;
    }
    SUNSEAL_REQUIRE(out, out_len, in, in_len, true);
    uint8_t block = crypt->driver->block_bytes;
    if (out_len != in_len || (in_len & (size_t)(block - 1)) != 0) {
        return SUNSEAL_ERR_LENGTH;
    }
    /* Blocks have 8 bytes or 16; a division takes an AVR 194 cycles. */
    const size_t blocks = block == 16 ? in_len / 16 : in_len / 8;
    int error = crypt->driver->start_data(crypt->engine, out, in, blocks);
    if (error == SUNSEAL_OK) {
        crypt->out = out;
        crypt->len = out_len;
        crypt->pending = DATA;
    }
    return error;
}

bool sunseal_crypt_poll(struct sunseal_crypt *crypt) {
    if (crypt->pending == NOTHING) {
        return false;
    }
    int result = crypt->driver->step(crypt->engine);
    if (result == SUNSEAL_PENDING) {
        return true;
    }
    uint8_t what = crypt->pending;
    /* Before the event, which may issue the next command. */
    crypt->pending = NOTHING;
    if (what == KEY) {
        crypt->keyed = result == SUNSEAL_OK;
        crypt->events->key_loaded(crypt, result);
    } else {
        if (result != SUNSEAL_OK) {
            sunseal_wipe(crypt->out, crypt->len);
        }
        crypt->events->data_encrypted(crypt, result);
    }
    return crypt->pending != NOTHING;
}

uint8_t sunseal_crypt_block_size(const struct sunseal_crypt *crypt) {
    return crypt->driver->block_bytes;
}

uint8_t sunseal_crypt_key_size(const struct sunseal_crypt *crypt) {
    return crypt->driver->key_bytes;
}

static int software_key(void *engine, const uint8_t *key) {
    struct sunseal_crypt_software *software = engine;
    software->blocks = 0;
    return software->cipher->set_key(software->schedule, key);
}

static int software_data(void *engine, uint8_t *out, const uint8_t *in, size_t blocks) {
    struct sunseal_crypt_software *software = engine;
    software->out = out;
    software->in = in;
    software->blocks = blocks;
    return SUNSEAL_OK;
}

static int software_step(void *engine) {
    struct sunseal_crypt_software *software = engine;
    const struct sunseal_block *cipher = software->cipher;
    size_t now = software->blocks < cipher->together ? software->blocks : cipher->together;
    if (now > 0) {
        int error = cipher->encrypt(software->schedule, software->out, software->in, now);
        if (error != SUNSEAL_OK) {
            return error;
        }
        software->out += now * cipher->block_bytes;
        software->in += now * cipher->block_bytes;
        software->blocks -= now;
    }
    return software->blocks > 0 ? SUNSEAL_PENDING : SUNSEAL_OK;
}

void sunseal_crypt_software_init(struct sunseal_crypt_software *software,
                                 const struct sunseal_block *cipher, void *schedule) {
    software->driver.block_bytes = cipher->block_bytes;
    software->driver.key_bytes = cipher->key_bytes;
    software->driver.start_key = software_key;
    software->driver.start_data = software_data;
    software->driver.step = software_step;
    software->cipher = cipher;
    software->schedule = schedule;
    software->blocks = 0;
}
