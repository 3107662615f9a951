/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The link layer's frames, as docs/reference/link.md has them. No I/O.
 */
#ifndef SUNSEAL_LINK_H
#define SUNSEAL_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define LINK_BROADCAST 0x00
#define LINK_GATEWAY 0x01

#define LINK_HEADER_BYTES 5
#define LINK_FRAGMENT_BYTES 56
#define LINK_FRAME_BYTES (LINK_HEADER_BYTES + LINK_FRAGMENT_BYTES)
#define LINK_PACKET_BYTES (1 + LINK_FRAME_BYTES)

enum link_kind {
    LINK_NOTHING = 0, /* not on the air: no message */
    LINK_HELLO = 1,
    LINK_CHALLENGE = 2,
    LINK_RESPONSE = 3,
    LINK_REPORT = 4,
    LINK_VERDICT = 5,
    LINK_IDLE = 6,
    LINK_ENROL = 7,
    LINK_WAKE = 8
};

#define LINK_NODE_ID_BYTES 8
#define LINK_NONCE_BYTES 16
#define LINK_DATA_BYTES_MAX 16
#define LINK_SIGNATURE_BYTES_MAX 64
#define LINK_PUBLIC_BYTES_MAX 64

#define LINK_CHALLENGE_BYTES (8 + 4 + 16)
#define LINK_WAKE_BYTES (LINK_CHALLENGE_BYTES + 2)
#define LINK_VERDICT_BYTES (8 + 4 + 1)
#define LINK_IDLE_BYTES 8
#define LINK_BODY_BYTES_MAX (8 + 1 + LINK_PUBLIC_BYTES_MAX + LINK_SIGNATURE_BYTES_MAX)

enum link_verdict { LINK_ACCEPTED = 0, LINK_UNKNOWN_NODE = 1 }; /* those that a node acts on */

/* Frames that a body of this length takes. */
uint8_t link_fragments(uint16_t body_bytes);

/* Writes fragment `index` of a message to the gateway as a packet (length byte and
 * frame) and returns the packet's bytes. */
uint8_t link_packet(uint8_t packet[LINK_PACKET_BYTES], uint8_t source, enum link_kind kind,
                    uint8_t sequence, const uint8_t *body, uint16_t body_bytes, uint8_t index);

/* What the gateway sends: always one frame. */
struct link_message {
    enum link_kind kind; /* CHALLENGE, WAKE, VERDICT or IDLE */
    uint8_t sequence;
    uint32_t reference; /* challenge_id of a CHALLENGE or WAKE, counter of a VERDICT */
    uint8_t verdict;
    uint8_t nonce[LINK_NONCE_BYTES];
    uint16_t left_ms; /* of a WAKE: until the gateway listens */
};

/* Reads a frame; false if it is broken, not for us, or not what a node receives. */
bool link_read(struct link_message *message, const uint8_t *frame, uint8_t frame_bytes,
               uint8_t own_address, const uint8_t node_id[LINK_NODE_ID_BYTES]);

/* Signed bytes into `to`; the number of them is returned. */
#define LINK_SIGNED_BYTES_MAX (16 + 8 + 4 + 1 + LINK_PUBLIC_BYTES_MAX)
uint16_t link_signed_auth(uint8_t *to, const uint8_t *node_id, uint32_t challenge_id,
                          const uint8_t nonce[LINK_NONCE_BYTES], uint32_t counter);
uint16_t link_signed_report(uint8_t *to, const uint8_t *node_id, uint32_t counter,
                            const uint8_t *data, uint8_t data_bytes);
uint16_t link_signed_enrol(uint8_t *to, const uint8_t *node_id, uint8_t suite,
                           const uint8_t *public_key, uint8_t public_bytes);

/* Big-endian integers. */
uint8_t *link_put16(uint8_t *to, uint16_t value);
uint8_t *link_put32(uint8_t *to, uint32_t value);
uint32_t link_get32(const uint8_t *from);

#endif
