/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "radio.h"

#include "phy.h"

/* Foreign or unwanted packets heard in one window, so that chatter cannot keep us awake. */
#define STRANGERS_MAX 4

static const struct node_config *config;
static uint8_t sequence;
static bool configured;

void radio_start(const struct node_config *node) {
    config = node;
    configured = phy_start(config->channel, config->power);
}

void radio_first_sequence(uint8_t first) {
    sequence = first;
}

static bool send(enum link_kind kind, const uint8_t *body, uint16_t body_bytes) {
    uint8_t packet[LINK_PACKET_BYTES];
    uint8_t count = link_fragments(body_bytes);
    sequence++;
    for (uint8_t index = 0; index < count; index++) {
        uint8_t bytes =
            link_packet(packet, config->address, kind, sequence, body, body_bytes, index);
        if (!phy_send(packet, bytes, index + 1 == count))
            return false;
    }
    return true;
}

static bool await(uint16_t answers, struct link_message *answer) {
    uint8_t frame[LINK_FRAME_BYTES];
    for (uint8_t heard = 0; heard <= STRANGERS_MAX; heard++) {
        uint8_t bytes = phy_receive(frame, sizeof frame, config->window_ms);
        if (bytes == 0)
            return false;
        if (link_read(answer, frame, bytes, config->address, config->node_id) &&
            (answers & 1U << answer->kind) != 0)
            return true;
    }
    return false;
}

/* A chip that did not answer at the start, or lost its supply, is set up once more. */
static bool wake(void) {
    if (!configured)
        configured = phy_start(config->channel, config->power);
    configured = configured && phy_wake();
    return configured;
}

bool radio_exchange(enum link_kind kind, const uint8_t *body, uint16_t body_bytes, uint16_t answers,
                    struct link_message *answer) {
    if (!wake())
        return false;
    bool answered = send(kind, body, body_bytes) && await(answers, answer);
    phy_sleep();
    return answered;
}

#ifdef NODE_LISTENS
enum radio_woken radio_listen(uint16_t timeout_ms, struct link_message *call) {
    uint8_t frame[LINK_FRAME_BYTES], bytes;
    if (!wake())
        return RADIO_BROKEN;
    bool woken =
        phy_listen(config->address, config->listen_ms, timeout_ms, frame, sizeof frame, &bytes);
    phy_sleep();
    if (!woken)
        return RADIO_SILENCE;
    bool called = bytes != 0 && link_read(call, frame, bytes, config->address, config->node_id) &&
                  call->kind == LINK_WAKE;
    return called ? RADIO_CALLED : RADIO_NOISE;
}
#endif
