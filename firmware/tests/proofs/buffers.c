/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The check of buffers, by the definition: for all places in a small memory and all lengths.
 *
 * sources: mp/mp.c
 * unwind: 20
 */
#include "buffers.h"
#include "proof.h"

#define MEMORY 16

void prove_check(void) {
    static uint8_t memory[MEMORY];
    size_t out, out_len, in, in_len;
    bool in_place, both = false;
    ASSUME(out <= MEMORY && out_len <= MEMORY - out && in <= MEMORY && in_len <= MEMORY - in);
    for (size_t at = 0; at < MEMORY; at++) {
        both |= at >= out && at < out + out_len && at >= in && at < in + in_len;
    }
    int result = sunseal_buffers_check(memory + out, out_len, memory + in, in_len, in_place);
    ASSERT(result == (both && !(in_place && out == in) ? SUNSEAL_ERR_OVERLAP : SUNSEAL_OK));
    ASSERT(sunseal_buffers_check(NULL, out_len, memory + in, in_len, in_place) ==
           (out_len > 0 ? SUNSEAL_ERR_NULL : SUNSEAL_OK));
    ASSERT(sunseal_buffers_check(memory + out, out_len, NULL, in_len, in_place) ==
           (in_len > 0 ? SUNSEAL_ERR_NULL : SUNSEAL_OK));
}
