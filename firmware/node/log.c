/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "log.h"

#include "hal.h"

void log_word(const char *word) {
    hal_log(word);
}

void log_value(const char *name, uint32_t value) {
    char digits[11];
    char *at = digits + sizeof digits;
    *--at = '\0';
    do {
        *--at = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    hal_log(" ");
    hal_log(name);
    hal_log("=");
    hal_log(at);
}

void log_end(void) {
    hal_log("\n");
}
