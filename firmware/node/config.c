/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "board.h"
#include "hal.h"
#include "phy.h"
#include "suite.h"

_Static_assert(sizeof(struct node_config) == NODE_CONFIG_BYTES, "docs/reference/node.md");
_Static_assert(offsetof(struct node_config, mclk_khz) == 22, "docs/reference/node.md");
_Static_assert(offsetof(struct node_config, overhead_uj) == 36, "docs/reference/node.md");
_Static_assert(offsetof(struct node_config, backoff_ms) == 60, "docs/reference/node.md");
_Static_assert(offsetof(struct node_config, wakes_max) == 66, "docs/reference/node.md");

#ifdef BOARD_ENERGIES
#define KEYGEN_UJ BOARD_KEYGEN_UJ
#define SIGN_UJ BOARD_SIGN_UJ
#define RADIO_UJ BOARD_RADIO_UJ
#else
#define RADIO_UJ 1200
/* At 16 MHz, 2.8 V and a converter of 85 %, measured on the simulator and rounded up by a quarter:
 * docs/reference/node.md. */
#if defined(NODE_secp160r1) && SUNSEAL_MPY == 32
#define KEYGEN_UJ 2000
#define SIGN_UJ 2300
#elif defined(NODE_secp160r1) && SUNSEAL_MPY == 16
#define KEYGEN_UJ 2200
#define SIGN_UJ 2600
#elif defined(NODE_secp160r1)
#define KEYGEN_UJ 9000
#define SIGN_UJ 11000
#elif SUNSEAL_MPY == 32
#define KEYGEN_UJ 3500
#define SIGN_UJ 4000
#elif SUNSEAL_MPY == 16
#define KEYGEN_UJ 4500
#define SIGN_UJ 5000
#else
#define KEYGEN_UJ 29000
#define SIGN_UJ 32000
#endif
#endif

#ifndef BOARD_MCLK_KHZ
#define BOARD_MCLK_KHZ 16000
#endif
#ifndef BOARD_POWER
#define BOARD_POWER 0xFF /* CC2500: +1 dBm (SWRS040, PATABLE); CC2420: 0 dBm */
#endif
#ifndef BOARD_WINDOW_MS
#define BOARD_WINDOW_MS 10
#endif

/* volatile: what stands here after the build is not what stands there on the node. */
__attribute__((section(".info_a"), used)) const volatile struct node_config node_config = {
    .magic = NODE_CONFIG_MAGIC,
    .version = NODE_CONFIG_VERSION,
    .bytes = NODE_CONFIG_BYTES,
    .node_id = {'S', 'u', 'n', 's', 'e', 'a', 'l', 1},
    .address = 0x10,
    .mode = NODE_BOTH,
    .suite = SUITE_DEFAULT,
    .channel = 0,
    .power = BOARD_POWER,
    .flags = NODE_FLAG_TELL_LOW,
    .mclk_khz = BOARD_MCLK_KHZ,
    .period_s = 600,
    .storage_uf = BOARD_STORAGE_UF,
    .cutoff_mv = 1900,
    .margin_percent = 200,
    .overhead_uj = 0,
    .keygen_uj = KEYGEN_UJ,
    .sign_uj = SIGN_UJ,
    .radio_uj = RADIO_UJ,
    .poll_s = 15,
    .window_ms = BOARD_WINDOW_MS,
    .hello_tries = 3,
    .report_tries = 2,
    .silent_max = 3,
    .backoff_ms = 40,
    .enrol_retry_s = 60,
    .wakes_max = 4,
};

const HAL_FLASH char *config_load(struct node_config *config) {
    uint16_t *words = (uint16_t *)config;
    for (uint8_t i = 0; i < sizeof *config / 2; i++)
        words[i] = hal_flash_word(HAL_SEGMENT_A, i);
    if (config->suite == 0)
        config->suite = SUITE_DEFAULT;
    if (config->magic != NODE_CONFIG_MAGIC)
        return HAL_TEXT("magic is missing");
    if (config->version != NODE_CONFIG_VERSION)
        return HAL_TEXT("version is another");
    if (config->bytes != NODE_CONFIG_BYTES)
        return HAL_TEXT("bytes is another size");
    if (config->address < 2)
        return HAL_TEXT("address is out of range");
    if (config->mode < NODE_PERIODIC || config->mode > NODE_BOTH)
        return HAL_TEXT("mode is out of range");
    if (!SUITE_FITS(config->suite))
        return HAL_TEXT("suite is of another curve");
    if (config->mclk_khz < HAL_MCLK_KHZ_MIN || config->mclk_khz > HAL_MCLK_KHZ_MAX)
        return HAL_TEXT("mclk_khz is out of range");
    if (config->period_s == 0 || config->period_s > NODE_PERIOD_S_MAX)
        return HAL_TEXT("period_s is out of range");
    if (config->storage_uf == 0)
        return HAL_TEXT("storage_uf is out of range");
    if (config->keygen_uj > NODE_ENERGY_UJ_MAX)
        return HAL_TEXT("keygen_uj is out of range");
    if (config->sign_uj > NODE_ENERGY_UJ_MAX)
        return HAL_TEXT("sign_uj is out of range");
    if (config->radio_uj > NODE_ENERGY_UJ_MAX)
        return HAL_TEXT("radio_uj is out of range");
    if (config->poll_s == 0)
        return HAL_TEXT("poll_s is out of range");
    if (config->window_ms == 0)
        return HAL_TEXT("window_ms is out of range");
    if (config->hello_tries == 0)
        return HAL_TEXT("hello_tries is out of range");
    if (config->report_tries == 0)
        return HAL_TEXT("report_tries is out of range");
    if (config->enrol_retry_s == 0)
        return HAL_TEXT("enrol_retry_s is out of range");
    if (config->listen_ms != 0 && !phy_can_listen(config->listen_ms))
        return HAL_TEXT("listen_ms is out of range");
    return NULL;
}
