/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Lines of the log: a word, then name=value pairs, then log_end. Silent until hal_log_init.
 */
#ifndef SUNSEAL_LOG_H
#define SUNSEAL_LOG_H

#include <stdint.h>

void log_word(const char *word);
void log_value(const char *name, uint32_t value);
void log_end(void);

#endif
