/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_H
#define SUNSEAL_CIPHER_H

#include <string.h>

#include "../buffers.h"
#include "sunseal/block.h"

/*
 * What the ciphers and modes share. An implementation is a set of functions of the shapes in
 * `struct sunseal_block`; they check nothing, take any alignment of in, out, key and counter, allow
 * out == in, and blocks may be 0.
 */

/* Memory for any schedule, for one call. It names no transport: a radio behind the cipher answers
 * SUNSEAL_ERR_NULL instead of being looked for. */
#define SUNSEAL_SCHEDULE_ONCE(name)                                                                \
    _Alignas(SUNSEAL_SCHEDULE_ALIGN) uint8_t name[SUNSEAL_SCHEDULE_BYTES_MAX];                     \
    memset(name, 0, sizeof(void *))

/* Adds 1 to a big-endian number of 4 bytes or more, which is public. */
void sunseal_counter_next(uint8_t *counter, size_t len);

/* out = in ^ encryptions of counter on; counter moves on by blocks. */
int sunseal_ctr_blocks(const struct sunseal_block *cipher, const void *schedule, uint8_t *out,
                       const uint8_t *in, uint8_t *counter, size_t blocks);

#endif
