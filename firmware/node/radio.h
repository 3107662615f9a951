/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Messages over the radio: a body goes out in frames, one answer comes back.
 */
#ifndef SUNSEAL_RADIO_H
#define SUNSEAL_RADIO_H

#include <stdbool.h>
#include <stdint.h>

#include "config.h"
#include "link.h"

/* Configures the radio and puts it to sleep; soon after power-on, because it idles until then. */
void radio_start(const struct node_config *config);

/* Should differ from start to start: the gateway may still hold half a message of the life before.
 */
void radio_first_sequence(uint8_t first);

/* Sends a message once and waits for an answer of one of the kinds (1 << kind, ored). False if
 * nothing came in the window, or the radio is out of order. The radio sleeps before and after. */
bool radio_exchange(enum link_kind kind, const uint8_t *body, uint16_t body_bytes, uint16_t answers,
                    struct link_message *answer);

enum radio_woken {
    RADIO_SILENCE, /* the time has passed */
    RADIO_NOISE,   /* something woke us, and was not for us */
    RADIO_CALLED,  /* a WAKE */
    RADIO_BROKEN   /* the radio is out of order, and no time has passed */
};

/* Wake-on-radio, up to timeout_ms, in programs that have it. The radio sleeps before and after. */
enum radio_woken radio_listen(uint16_t timeout_ms, struct link_message *call);

#endif
