/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define _DEFAULT_SOURCE
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct host_flash *host_flash;
uint32_t host_cut_at = UINT32_MAX;
enum host_cut host_cut_how;
jmp_buf host_power_lost;
uint32_t host_seed = 1;
uint16_t host_storage_mv = 4000;
uint32_t host_time_s;
bool host_halted;
void (*host_samples)(uint8_t *samples, uint16_t count);
void (*host_marked)(bool high);
char host_log[4096];
struct host_chip host_chip;

uint32_t host_random(void) {
    host_seed ^= host_seed << 13;
    host_seed ^= host_seed >> 17;
    host_seed ^= host_seed << 5;
    return host_seed;
}

/* Flash */

void host_flash_new(void) {
    if (host_flash == NULL) {
        host_flash = mmap(NULL, sizeof *host_flash, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (host_flash == MAP_FAILED) {
            perror("mmap");
            exit(2);
        }
    }
    memset(host_flash, 0, sizeof *host_flash);
    memset(host_flash->word, 0xFF, sizeof host_flash->word);
}

/* What a marginal word reads: all done, all undone, or anything. */
static uint16_t doubtful(void) {
    uint32_t lot = host_random() % 4;
    return lot == 0 ? 0 : lot == 1 ? 0xFFFF : (uint16_t)(host_random() >> 7);
}

void host_flash_settle(void) {
    for (int s = 0; s < 4; s++) {
        /* Cells together more often than each for itself: that is what looks whole and is not. */
        bool together = host_random() & 1;
        uint16_t all = doubtful();
        for (int i = 0; i < HAL_SEGMENT_BYTES / 2; i++) {
            uint16_t loose = host_flash->marginal[s][i], read = together ? all : doubtful();
            host_flash->word[s][i] = (uint16_t)((host_flash->word[s][i] & ~loose) | (read & loose));
        }
    }
}

void host_power_on(void) {
    host_flash->operations = 0;
    host_flash_settle();
}

static bool cut_now(void) {
    return host_flash->operations++ == host_cut_at;
}

void host_moment(void) {
    if (cut_now())
        longjmp(host_power_lost, 1);
}

/* The `touched` bits to those of `to`, or on the way there when the power goes. */
static void change(enum hal_segment segment, uint16_t index, uint16_t touched, uint16_t to,
                   bool cut) {
    uint16_t *word = &host_flash->word[segment][index];
    uint16_t *marginal = &host_flash->marginal[segment][index];
    uint16_t changes = (uint16_t)(((*word ^ to) | *marginal) & touched);
    if (!cut || host_cut_how == HOST_CUT_AFTER) {
        *word = (uint16_t)((*word & ~touched) | (to & touched));
        *marginal &= (uint16_t)~touched;
    } else if (host_cut_how == HOST_CUT_ALMOST) {
        *word = (uint16_t)((*word & ~touched) | (to & touched));
        *marginal |= changes;
    } else if (host_cut_how == HOST_CUT_HALF) {
        uint16_t done = (uint16_t)(host_random() & changes);
        *word = (uint16_t)((*word & ~done) | (to & done));
        *marginal |= (uint16_t)(host_random() & changes);
    }
}

/* Segment A: the program's own. */
extern const volatile uint16_t node_config[];

uint16_t hal_flash_word(enum hal_segment segment, uint16_t word_index) {
    return segment == HAL_SEGMENT_A ? node_config[word_index]
                                    : host_flash->word[segment][word_index];
}

void hal_flash_erase(enum hal_segment segment) {
    bool cut = cut_now();
    for (uint16_t i = 0; i < HAL_SEGMENT_BYTES / 2; i++)
        change(segment, i, 0xFFFF, 0xFFFF, cut);
    if (cut)
        longjmp(host_power_lost, 1);
}

void hal_flash_write(enum hal_segment segment, uint16_t word_index, uint16_t value) {
    bool cut = cut_now();
    uint16_t taken = value | host_flash->worn[segment][word_index];
    change(segment, word_index, (uint16_t)~taken, taken, cut);
    if (cut)
        longjmp(host_power_lost, 1);
}

/* Start and time */

void hal_init(void) {}

void hal_clock(uint16_t mclk_khz) {
    (void)mclk_khz;
    host_moment();
}

void hal_watchdog_kick(void) {}

uint16_t hal_reset_cause(void) {
    return 2;
}

void hal_halt(void) {
    host_halted = true;
    longjmp(host_power_lost, 1);
}

uint32_t hal_seconds(void) {
    return host_time_s;
}

void hal_sleep_s(uint32_t seconds) {
    host_moment();
    host_time_s += seconds;
}

void hal_sleep_ms(uint16_t ms) {
    (void)ms;
    host_moment();
}

void hal_delay_us(uint16_t us) {
    (void)us;
}

/* Sensors */

uint16_t hal_storage_mv(void) {
    return host_storage_mv;
}

int16_t hal_temperature_centidegree(void) {
    return -1234;
}

void hal_entropy_samples(uint8_t *samples, uint16_t count) {
    if (host_samples != NULL) {
        host_samples(samples, count);
        return;
    }
    for (uint16_t i = 0; i < count; i++)
        samples[i] = (uint8_t)(host_random() >> 11);
}

/* Radio */

void hal_spi_init(void) {}

bool hal_radio_select(void) {
    return host_chip.select != NULL && host_chip.select();
}

void hal_radio_deselect(void) {
    if (host_chip.deselect != NULL)
        host_chip.deselect();
}

uint8_t hal_spi_byte(uint8_t out) {
    return host_chip.byte(out);
}

void hal_radio_arm(void) {}

bool hal_radio_wait(uint16_t timeout_ms) {
    host_moment();
    return host_chip.wait(timeout_ms);
}

/* Marks and log */

void hal_mark(bool high) {
    if (host_marked != NULL)
        host_marked(high);
    host_moment();
}

void hal_log_init(void) {}

void hal_log(const char *text) {
    size_t used = strlen(host_log);
    if (used + strlen(text) < sizeof host_log)
        memcpy(host_log + used, text, strlen(text) + 1);
}
