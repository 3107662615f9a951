/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What a node is told: the block `node_config` in information segment A. The ELF carries
 * one with the program's own values; a programmer, or a scenario, writes over it.
 * docs/reference/node.md has the table of offsets; config.c checks that this struct agrees.
 *
 * Energies are those that leave the store, converter losses included. The gate (gate.h) starts an
 * operation when 1/2 C (V^2 - Vcut^2) >= overhead + margin x energy.
 */
#ifndef SUNSEAL_CONFIG_H
#define SUNSEAL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "hal.h"

#define NODE_CONFIG_MAGIC UINT32_C(0x43444E53) /* "SNDC" in memory order */
#define NODE_CONFIG_VERSION 1
#define NODE_CONFIG_BYTES 72

/* Above these the arithmetic would wrap: seconds are compared as signed, and an energy is taken up
 * to 256 times. */
#define NODE_PERIOD_S_MAX INT32_MAX
#define NODE_ENERGY_UJ_MAX UINT32_C(0xFFFFFF) /* 16.7 J */

enum node_mode { NODE_PERIODIC = 1, NODE_ASYNCHRONOUS = 2, NODE_BOTH = 3 };

#define NODE_FLAG_LOG 0x01 /* log on the UART */
#define NODE_FLAG_TELL_LOW                                                                         \
    0x02 /* one HELLO with reason "low" in a period that the store cannot pay */

/* Little-endian, no padding. */
struct node_config {
    uint32_t magic;      /*  0 NODE_CONFIG_MAGIC */
    uint16_t version;    /*  4 NODE_CONFIG_VERSION */
    uint16_t bytes;      /*  6 NODE_CONFIG_BYTES */
    uint8_t node_id[8];  /*  8 as on the air */
    uint8_t address;     /* 16 short address, 0x02 to 0xFF */
    uint8_t mode;        /* 17 enum node_mode */
    uint8_t suite;       /* 18 suite of link.md; 0: the program's own */
    uint8_t channel;     /* 19 CC2500 CHANNR */
    uint8_t power;       /* 20 CC2500 PATABLE */
    uint8_t flags;       /* 21 NODE_FLAG_* */
    uint16_t mclk_khz;   /* 22 1000 to 25000; the supply must allow it (SLAS655, VCORE levels) */
    uint32_t period_s;   /* 24 from one exchange to the next */
    uint32_t storage_uf; /* 28 C of the store */
    uint16_t cutoff_mv;  /* 32 Vcut: below it the harvester switches off */
    uint16_t margin_percent; /* 34 200 in Mane's equation 6.1 */
    uint32_t overhead_uj;    /* 36 what must stay in the store besides */
    uint32_t keygen_uj;      /* 40 key generation with its entropy */
    uint32_t sign_uj;        /* 44 one signature with its entropy and the counter's flash write */
    uint32_t radio_uj;       /* 48 one message sent and the answer awaited */
    uint16_t poll_s;         /* 52 sleep between two looks at the store while energy is wanted */
    uint16_t window_ms;      /* 54 how long an answer is awaited */
    uint8_t hello_tries;     /* 56 HELLOs, and ENROLs, sent before the node gives up for now */
    uint8_t report_tries;    /* 57 REPORTs or RESPONSEs, each signed anew, in one period */
    uint8_t silent_max;      /* 58 unanswered messages in a row, after which a HELLO goes first */
    uint8_t reserved0;       /* 59 zero */
    uint16_t backoff_ms;     /* 60 shortest pause before a retry; doubles, and is drawn by lot */
    uint16_t enrol_retry_s;  /* 62 pause after a vain enrolment; doubles up to an hour */
    uint16_t listen_ms;      /* 64 from one look at the air to the next; 0: the radio sleeps */
    uint8_t wakes_max;       /* 66 WAKEs answered from one HELLO of our own to the next */
    uint8_t reserved[5];     /* 67 zero */
};

extern const volatile struct node_config node_config;

/* Copies the block; NULL if it is sound, else which field is not and why, for the log. */
const HAL_FLASH char *config_load(struct node_config *config);

#endif
