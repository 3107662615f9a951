/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "log.h"

void log_text(const HAL_FLASH char *text) {
    hal_log(text);
}

void log_number(const HAL_FLASH char *name, uint32_t value) {
    static const HAL_FLASH char digits[10][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    uint8_t reversed[10];
    uint8_t count = 0;
    do {
        reversed[count++] = (uint8_t)(value % 10);
        value /= 10;
    } while (value != 0);
    hal_log(HAL_TEXT(" "));
    hal_log(name);
    hal_log(HAL_TEXT("="));
    while (count-- != 0)
        hal_log(digits[reversed[count]]);
}

void log_end(void) {
    hal_log(HAL_TEXT("\n"));
}
