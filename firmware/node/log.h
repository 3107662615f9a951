/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Lines of the log: a word, then name=value pairs, then log_end. Silent until hal_log_init.
 */
#ifndef SUNSEAL_LOG_H
#define SUNSEAL_LOG_H

#include <stdint.h>

#include "hal.h"

void log_text(const HAL_FLASH char *text);
void log_number(const HAL_FLASH char *name, uint32_t value);
void log_end(void);

#define log_word(word) log_text(HAL_TEXT(word))
#define log_value(name, value) log_number(HAL_TEXT(name), value)

#endif
