/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "link.h"

#include <string.h>

uint8_t *link_put16(uint8_t *to, uint16_t value) {
    *to++ = (uint8_t)(value >> 8);
    *to++ = (uint8_t)value;
    return to;
}

uint8_t *link_put32(uint8_t *to, uint32_t value) {
    to = link_put16(to, (uint16_t)(value >> 16));
    return link_put16(to, (uint16_t)value);
}

uint32_t link_get32(const uint8_t *from) {
    uint16_t high = (uint16_t)(from[0] << 8 | from[1]);
    uint16_t low = (uint16_t)(from[2] << 8 | from[3]);
    return (uint32_t)high << 16 | low;
}

static uint8_t *put(uint8_t *to, const void *from, uint16_t bytes) {
    memcpy(to, from, bytes);
    return to + bytes;
}

uint8_t link_fragments(uint16_t body_bytes) {
    uint8_t count = 1;
    while (body_bytes > LINK_FRAGMENT_BYTES) {
        body_bytes = (uint16_t)(body_bytes - LINK_FRAGMENT_BYTES);
        count++;
    }
    return count;
}

uint8_t link_packet(uint8_t packet[LINK_PACKET_BYTES], uint8_t source, enum link_kind kind,
                    uint8_t sequence, const uint8_t *body, uint16_t body_bytes, uint8_t index) {
    uint8_t count = link_fragments(body_bytes);
    uint16_t from = (uint16_t)(index * LINK_FRAGMENT_BYTES);
    uint8_t bytes = index + 1 < count ? LINK_FRAGMENT_BYTES : (uint8_t)(body_bytes - from);
    uint8_t *to = packet;
    *to++ = (uint8_t)(LINK_HEADER_BYTES + bytes);
    *to++ = LINK_GATEWAY;
    *to++ = source;
    *to++ = (uint8_t)kind;
    *to++ = sequence;
    *to++ = (uint8_t)(index << 4 | (count - 1));
    put(to, body + from, bytes);
    return (uint8_t)(1 + LINK_HEADER_BYTES + bytes);
}

bool link_read(struct link_message *message, const uint8_t *frame, uint8_t frame_bytes,
               uint8_t own_address, const uint8_t node_id[LINK_NODE_ID_BYTES]) {
    if (frame_bytes < LINK_HEADER_BYTES + LINK_NODE_ID_BYTES)
        return false;
    if (frame[0] != own_address && frame[0] != LINK_BROADCAST)
        return false;
    if (frame[1] != LINK_GATEWAY || frame[4] != 0)
        return false;
    const uint8_t *body = frame + LINK_HEADER_BYTES;
    uint8_t body_bytes = (uint8_t)(frame_bytes - LINK_HEADER_BYTES);
    if (memcmp(body, node_id, LINK_NODE_ID_BYTES) != 0)
        return false;
    message->sequence = frame[3];
    uint8_t kind = frame[2];
#ifdef NODE_LISTENS
    /* A CHALLENGE with something behind it. */
    if (kind == LINK_WAKE && body_bytes == LINK_WAKE_BYTES) {
        const uint8_t *left = body + LINK_CHALLENGE_BYTES;
        message->left_ms = (uint16_t)(left[0] << 8 | left[1]);
        kind = LINK_CHALLENGE;
        body_bytes = LINK_CHALLENGE_BYTES;
    }
#endif
    switch (kind) {
    case LINK_CHALLENGE:
        if (body_bytes != LINK_CHALLENGE_BYTES)
            return false;
        message->reference = link_get32(body + 8);
        memcpy(message->nonce, body + 12, LINK_NONCE_BYTES);
        break;
    case LINK_VERDICT:
        if (body_bytes != LINK_VERDICT_BYTES)
            return false;
        message->reference = link_get32(body + 8);
        message->verdict = body[12];
        break;
    case LINK_IDLE:
        if (body_bytes != LINK_IDLE_BYTES)
            return false;
        break;
    default:
        return false;
    }
    message->kind = (enum link_kind)frame[2];
    return true;
}

/* The text without its terminator. */
#define PUT_TEXT(to, text) put(to, text, sizeof(text) - 1)

uint16_t link_signed_auth(uint8_t *to, const uint8_t *node_id, uint32_t challenge_id,
                          const uint8_t nonce[LINK_NONCE_BYTES], uint32_t counter) {
    uint8_t *end = PUT_TEXT(to, "sunseal-auth-v1");
    end = put(end, node_id, LINK_NODE_ID_BYTES);
    end = link_put32(end, challenge_id);
    end = put(end, nonce, LINK_NONCE_BYTES);
    end = link_put32(end, counter);
    return (uint16_t)(end - to);
}

uint16_t link_signed_report(uint8_t *to, const uint8_t *node_id, uint32_t counter,
                            const uint8_t *data, uint8_t data_bytes) {
    uint8_t *end = PUT_TEXT(to, "sunseal-report-v1");
    end = put(end, node_id, LINK_NODE_ID_BYTES);
    end = link_put32(end, counter);
    *end++ = data_bytes;
    end = put(end, data, data_bytes);
    return (uint16_t)(end - to);
}

uint16_t link_signed_enrol(uint8_t *to, const uint8_t *node_id, uint8_t suite,
                           const uint8_t *public_key, uint8_t public_bytes) {
    uint8_t *end = PUT_TEXT(to, "sunseal-enrol-v1");
    end = put(end, node_id, LINK_NODE_ID_BYTES);
    *end++ = suite;
    end = put(end, public_key, public_bytes);
    return (uint16_t)(end - to);
}
