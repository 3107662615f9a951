/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "mp.h"

static void shift_vartime(struct sunseal_mp_digits *digits) {
    if (digits->bits_left == 0) {
        digits->word = 0;
        if (digits->words_left > 0) {
            digits->words_left--;
            digits->word = *--digits->words;
        }
        digits->bits_left = 16;
    }
    digits->window = (uint16_t)((digits->window << 1) | (digits->word >> 15));
    digits->word = (uint16_t)(digits->word << 1);
    digits->bits_left--;
}

void sunseal_mp_digits_begin_vartime(struct sunseal_mp_digits *digits, const uint16_t *u,
                                     uint16_t bits, uint8_t width) {
    memset(digits, 0, sizeof *digits);
    digits->words_left = (uint8_t)((bits - 1) / 16);
    digits->words = u + digits->words_left;
    digits->bits_left = (uint8_t)((bits - 1) % 16 + 1);
    digits->word = (uint16_t)(digits->words[0] << (16 - digits->bits_left));
    digits->width = width;
    for (uint8_t i = 0; i < width; i++) {
        shift_vartime(digits);
    }
}

int8_t sunseal_mp_digits_next_vartime(struct sunseal_mp_digits *digits) {
    int8_t digit = 0;
    uint16_t half = (uint16_t)(1 << (digits->width - 1));
    if (digits->busy == 0) {
        uint16_t window = digits->window & (uint16_t)(4 * half - 1);
        if (((window >> 1) ^ window) & half) {
            int16_t value = (int16_t)((window & (uint16_t)(2 * half - 1)) - (window >> 1));
            digits->busy = digits->width;
            digits->until = (uint8_t)(digits->width - 1);
            while (!(value & 1)) {
                value /= 2;
                digits->until--;
            }
            digits->value = (int8_t)value;
        }
    }
    if (digits->busy > 0) {
        digits->busy--;
        if (digits->until == 0) {
            digit = digits->value;
            digits->value = 0;
        } else {
            digits->until--;
        }
    }
    shift_vartime(digits);
    return digit;
}
