/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node of Mane 2014, section 3.4: asynchronous mode (the server asks) and periodic mode (the
 * node reports), both gated by the energy in the store; power-down otherwise.
 * docs/reference/node.md tells what it does and why.
 */
#include <stddef.h>
#include <string.h>

#include "config.h"
#include "counter.h"
#include "coupons.h"
#include "entropy.h"
#include "gate.h"
#include "hal.h"
#include "key.h"
#include "link.h"
#include "log.h"
#include "phy.h"
#include "radio.h"
#include "suite.h"
#include "sunseal/coupon.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"

int main(void);

#define ENROL_RETRY_S_MAX 3600
#define BACKOFF_MS_MAX 15000
/* Looks at the air, and milliseconds, from one look at the store to the next: what they cost on a
 * busy channel, 0.11 mJ a look, is less than the gate keeps for an answer. */
#define LOOKS_MAX 32
#define LISTEN_MS_MAX 60000
#define WAKE_SHARES 16 /* wakes for nothing that cost as much as an answer */
#define HELLO_LISTENS 0x80
#define ASK_AGAIN_S 3 /* the server hands a challenge out again after 2 s */

enum reason { REASON_BOOT = 0, REASON_READY = 1, REASON_LOW = 2 };

#define ANSWERS_HELLO (1U << LINK_CHALLENGE | 1U << LINK_IDLE | 1U << LINK_VERDICT)
#define ANSWERS_SIGNED (1U << LINK_VERDICT)

static struct node_config config;
static struct coupon_policy coupons; /* of programs with COUPONS */
static uint16_t lot;      /* state of the lots for back-off; nothing secret hangs on it */
static uint8_t silent;    /* messages in a row that nobody answered */
static bool enrolled;     /* the server has our key, as far as we know */
static bool say_boot;     /* the next HELLO is the first of this life */
static bool reports_turn; /* NODE_BOTH: whose turn it is */
static uint16_t storage_mv;

/* One message at a time: static, so that the stack has to hold cryptography only. */
static uint8_t body[LINK_BODY_BYTES_MAX];
static uint8_t signed_bytes[LINK_SIGNED_BYTES_MAX];

/* Lots */

static uint16_t draw(void) {
    /* Marsaglia's xorshift with the triple 7, 9, 8: period 2^16 - 1. */
    lot ^= (uint16_t)(lot << 7);
    lot ^= lot >> 9;
    lot ^= (uint16_t)(lot << 8);
    return lot;
}

static void pause_before_retry(uint8_t tried) {
    uint32_t span_ms = (uint32_t)config.backoff_ms << (tried > 4 ? 4 : tried);
    if (span_ms > BACKOFF_MS_MAX)
        span_ms = BACKOFF_MS_MAX;
    hal_sleep_ms((uint16_t)(span_ms + (draw() & 0x3FF) * span_ms / 1024));
}

/* Energy gate */

static bool affordable(uint32_t energy_uj) {
    storage_mv = hal_storage_mv();
    uint32_t wanted_uj = gate_wanted_uj(energy_uj, config.margin_percent, config.overhead_uj);
    return gate_stored_uj(config.storage_uf, storage_mv, config.cutoff_mv) >= wanted_uj;
}

/* A signature from the present state: from a coupon where there is one. */
static uint32_t sign_uj(void) {
    return COUPONS && coupons_ready() != 0 ? coupons.use_uj : config.sign_uj;
}

static enum link_kind hello(enum reason reason, struct link_message *answer);

/* Power-down until the store holds the energy. */
static void await_energy(uint32_t energy_uj, bool tell) {
    if (affordable(energy_uj))
        return;
    log_word("wait");
    log_value("vcap_mv", storage_mv);
    log_value("for_uj", energy_uj);
    log_end();
    if (tell && (config.flags & NODE_FLAG_TELL_LOW) && affordable(config.radio_uj)) {
        struct link_message answer;
        hello(REASON_LOW, &answer);
    }
    do
        hal_sleep_s(config.poll_s);
    while (!affordable(energy_uj));
}

/* Messages */

static void verdict(const struct link_message *answer) {
    log_word("verdict");
    log_value("code", answer->verdict);
    log_value("of", answer->reference);
    log_end();
    /* Not signed, so a forged one must not cost us the key: only an enrolment more. */
    if (answer->verdict == LINK_UNKNOWN_NODE)
        enrolled = false;
}

static void heard(bool answered) {
    if (answered)
        silent = 0;
    else if (silent != UINT8_MAX)
        silent++;
}

static bool can_be_called(void) {
    return PHY_LISTENS && config.listen_ms != 0 && config.mode != NODE_PERIODIC;
}

/* The kind that answered, 0 for none. */
static enum link_kind hello(enum reason reason, struct link_message *answer) {
    uint8_t tries = reason == REASON_LOW ? 1 : config.hello_tries;
    bool answered = false;
    for (uint8_t tried = 0; tried < tries && !answered; tried++) {
        if (tried != 0)
            pause_before_retry(tried);
        memcpy(body, config.node_id, LINK_NODE_ID_BYTES);
        uint8_t *end = link_put32(body + LINK_NODE_ID_BYTES, counter_now());
        end = link_put16(end, storage_mv);
        bool listens = can_be_called() && reason != REASON_LOW;
        *end++ = (uint8_t)(reason | (listens ? HELLO_LISTENS : 0));
        if (listens)
            end = link_put16(end, config.listen_ms);
        answered = radio_exchange(LINK_HELLO, body, (uint16_t)(end - body), ANSWERS_HELLO, answer);
    }
    heard(answered);
    log_word("hello");
    log_value("reason", reason);
    log_value("vcap_mv", storage_mv);
    log_value("answer", answered ? answer->kind : 0);
    log_end();
    if (!answered)
        return LINK_NOTHING;
    if (answer->kind == LINK_VERDICT)
        verdict(answer);
    return answer->kind;
}

/* Signs signed_bytes. Between the marks stands what Mane's testbench measures: hash and signature.
 * With COUPONS, the entropy of a signature that found none stands there too. */
static bool sign(uint8_t *signature, uint16_t bytes) {
    uint8_t entropy[ENTROPY_BYTES];
    uint8_t digest[SUNSEAL_SHA256_BYTES];
    uint8_t digest_bytes = SUNSEAL_SHA256_BYTES;
    /* Without a healthy source it is zeros, and the nonce a deterministic one (ecdsa.h). */
    if (!COUPONS && !entropy_take(entropy, ENTROPY_SAMPLES_NONCE)) {
        log_word("entropy unhealthy");
        log_end();
    }
    hal_watchdog_kick();
    hal_mark(true);
#if defined(NODE_secp160r1)
    if (config.suite == SUITE_SECP160R1_SHA1) {
        struct sunseal_sha1 sha1;
        sunseal_sha1_init(&sha1);
        sunseal_sha1_update(&sha1, signed_bytes, bytes);
        sunseal_sha1_final(&sha1, digest);
        digest_bytes = SUNSEAL_SHA1_BYTES;
    } else
#endif
    {
        struct sunseal_sha256 sha256;
        sunseal_sha256_init(&sha256);
        sunseal_sha256_update(&sha256, signed_bytes, bytes);
        sunseal_sha256_final(&sha256, digest);
    }
    int status = COUPONS ? coupons_sign(signature, digest, digest_bytes)
                         : SUITE_SIGN(signature, key_private(), digest, digest_bytes, entropy);
    hal_mark(false);
    hal_watchdog_kick();
    if (COUPONS)
        return status == SUNSEAL_OK || status == SUNSEAL_COUPON_MONOLITHIC;
    sunseal_wipe(entropy, sizeof entropy);
    return status == SUNSEAL_OK;
}

/* A number for one signature, burnt before use. Without one left the node falls silent for good. */
static uint32_t burn(void) {
    uint32_t counter = counter_burn();
    if (counter == 0) {
        log_word("stop: the counter or its flash is used up, enrol under another node_id");
        log_end();
        hal_halt();
    }
    return counter;
}

/* Sends a signed message once; true if its verdict came. */
static bool deliver(enum link_kind kind, uint16_t bytes, uint32_t reference) {
    struct link_message answer;
    bool answered =
        radio_exchange(kind, body, bytes, ANSWERS_SIGNED, &answer) && answer.reference == reference;
    heard(answered);
    if (answered) {
        verdict(&answer);
    } else {
        log_word("no verdict");
        log_value("kind", kind);
        log_value("counter", reference);
        log_end();
    }
    return answered;
}

static bool respond(const struct link_message *challenge) {
    uint32_t counter = burn();
    uint16_t bytes = link_signed_auth(signed_bytes, config.node_id, challenge->reference,
                                      challenge->nonce, counter);
    memcpy(body, config.node_id, LINK_NODE_ID_BYTES);
    uint8_t *end = link_put32(body + LINK_NODE_ID_BYTES, challenge->reference);
    end = link_put32(end, counter);
    *end++ = config.suite;
    if (!sign(end, bytes))
        return false;
    end += SUITE_SIGNATURE_BYTES;
    return deliver(LINK_RESPONSE, (uint16_t)(end - body), counter);
}

/* What the node senses: temperature, its store, its uptime. */
#define DATA_BYTES 8

static bool report(void) {
    uint8_t data[DATA_BYTES];
    uint8_t *at = link_put16(data, (uint16_t)hal_temperature_centidegree());
    at = link_put16(at, storage_mv);
    link_put32(at, hal_seconds());
    uint32_t counter = burn();
    uint16_t bytes = link_signed_report(signed_bytes, config.node_id, counter, data, DATA_BYTES);
    memcpy(body, config.node_id, LINK_NODE_ID_BYTES);
    uint8_t *end = link_put32(body + LINK_NODE_ID_BYTES, counter);
    *end++ = config.suite;
    *end++ = DATA_BYTES;
    memcpy(end, data, DATA_BYTES);
    end += DATA_BYTES;
    if (!sign(end, bytes))
        return false;
    end += SUITE_SIGNATURE_BYTES;
    return deliver(LINK_REPORT, (uint16_t)(end - body), counter);
}

/* Shows the public key. The same bytes may be sent again: enrolling twice changes nothing. */
static bool enrol(void) {
    uint16_t bytes = link_signed_enrol(signed_bytes, config.node_id, config.suite, key_public(),
                                       SUITE_PUBLIC_BYTES);
    memcpy(body, config.node_id, LINK_NODE_ID_BYTES);
    uint8_t *end = body + LINK_NODE_ID_BYTES;
    *end++ = config.suite;
    memcpy(end, key_public(), SUITE_PUBLIC_BYTES);
    end += SUITE_PUBLIC_BYTES;
    if (!sign(end, bytes))
        return false;
    end += SUITE_SIGNATURE_BYTES;
    struct link_message answer;
    bool answered = false;
    for (uint8_t tried = 0; tried < config.hello_tries && !answered; tried++) {
        if (tried != 0)
            pause_before_retry(tried);
        answered =
            radio_exchange(LINK_ENROL, body, (uint16_t)(end - body), ANSWERS_SIGNED, &answer) &&
            answer.reference == 0;
    }
    heard(answered);
    log_word("enrol");
    log_value("answered", answered);
    log_end();
    if (!answered)
        return false;
    verdict(&answer);
    if (answer.verdict != LINK_ACCEPTED)
        return false;
    key_set_enrolled();
    return true;
}

/* Coupons */

/* Whether the store can spare a coupon: what the next duty wants stays, and the reserve. Making one
 * takes what making a key pair takes. */
static bool spares_a_coupon(void) {
    uint32_t duty_uj = config.sign_uj + 2 * config.radio_uj;
    uint16_t ready = coupons_ready();
    if (ready >= coupons.high || !affordable(config.keygen_uj + duty_uj))
        return false;
    uint32_t wanted_uj = gate_wanted_uj(config.keygen_uj + duty_uj, config.margin_percent,
                                        config.overhead_uj);
    uint32_t stored_uj = gate_stored_uj(config.storage_uf, storage_mv, config.cutoff_mv);
    return stored_uj - wanted_uj >= coupons.reserve_uj &&
           (ready < coupons.low || storage_mv >= coupons.refill_above_mv);
}

/* Makes as many as one wake-up may. False if no more can be made before the next duty. */
static bool refill(void) {
    for (uint8_t made = 0; made < coupons.per_wake && spares_a_coupon(); made++) {
        if (coupons_make() != SUNSEAL_OK)
            return false;
    }
    return coupons_ready() < coupons.high;
}

/* Power-down until then; what the store can spare meanwhile goes into coupons. */
static void rest(uint32_t seconds) {
    if (!COUPONS) {
        hal_sleep_s(seconds);
        return;
    }
    uint32_t due_s = hal_seconds() + seconds;
    bool refills = true;
    int32_t left_s = (int32_t)seconds;
    while (left_s > 0) {
        refills = refills && refill();
        left_s = (int32_t)(due_s - hal_seconds());
        if (left_s > 0)
            hal_sleep_s(refills && left_s > coupons.every_s ? coupons.every_s : (uint32_t)left_s);
        left_s = (int32_t)(due_s - hal_seconds());
    }
}

/* States */

static void make_key(void) {
    for (bool made = false; !made;) {
        await_energy(config.keygen_uj, false);
        made = key_generate();
        log_word("keygen");
        log_value("made", made);
        log_end();
        if (!made)
            hal_sleep_s(config.poll_s);
    }
}

static void become_enrolled(void) {
    uint32_t retry_s = config.enrol_retry_s;
    while (!enrolled) {
        await_energy(sign_uj() + config.hello_tries * (uint32_t)config.radio_uj, false);
        enrolled = enrol();
        if (enrolled)
            return;
        rest(retry_s);
        retry_s = retry_s * 2 > ENROL_RETRY_S_MAX ? ENROL_RETRY_S_MAX : retry_s * 2;
    }
}

/* Shows itself and answers the challenge, if there is one; true if the gateway is there. Without a
 * verdict it asks again, as soon as the server would hand the same challenge out again. */
static bool show(void) {
    uint32_t answer_uj = sign_uj() + config.radio_uj;
    for (uint8_t tried = 0; tried < config.report_tries; tried++) {
        if (tried != 0)
            hal_sleep_s(ASK_AGAIN_S);
        await_energy(answer_uj + config.radio_uj, !say_boot && tried == 0);
        struct link_message answer;
        enum link_kind kind = hello(say_boot ? REASON_BOOT : REASON_READY, &answer);
        say_boot = false;
        if (kind == LINK_NOTHING)
            return false;
        /* Retries may have cost more than was set aside; then the challenge waits for us. */
        if (kind != LINK_CHALLENGE || !affordable(answer_uj) || respond(&answer))
            return true;
    }
    return true;
}

static void period(void) {
    bool shows = config.mode == NODE_ASYNCHRONOUS || (config.mode == NODE_BOTH && !reports_turn);
    bool reports = !shows;
    reports_turn = !reports_turn;
    /* A signature is dear and a HELLO cheap: after so much silence ask first who is there. */
    if (say_boot || silent >= config.silent_max)
        shows = true;
    if (shows && !show())
        return;
    for (uint8_t tried = 0; reports && enrolled && tried < config.report_tries; tried++) {
        if (tried != 0)
            pause_before_retry(tried);
        await_energy(sign_uj() + config.radio_uj, tried == 0);
        if (report())
            return;
    }
}

/* A WAKE is not signed, as a CHALLENGE is not: the next HELLO says how often one may cost us. */
static void called(const struct link_message *call, uint32_t answer_uj) {
    /* The gateway is deaf while its train lasts; our seconds are the VLO's, so a little longer. */
    hal_sleep_ms((uint16_t)(call->left_ms + call->left_ms / 64 + 2));
    bool affords = affordable(answer_uj);
    log_word("called");
    log_value("challenge", call->reference);
    log_value("vcap_mv", storage_mv);
    log_value("affords", affords);
    log_end();
    if (affords)
        respond(call);
}

static uint16_t listening_span_ms(uint32_t left_s) {
    uint32_t span_ms = (uint32_t)config.listen_ms * LOOKS_MAX;
    if (span_ms > LISTEN_MS_MAX)
        span_ms = LISTEN_MS_MAX;
    return (uint16_t)(left_s < span_ms / 1000 ? left_s * 1000 : span_ms);
}

/* Until the next period: listens as long as the store could pay an answer and wakes are left, else
 * sleeps. */
static void listen_until(uint32_t due_s) {
    uint32_t answer_uj = sign_uj() + config.radio_uj;
    uint16_t shares = config.wakes_max * WAKE_SHARES;
    int32_t left_s;
    while ((left_s = (int32_t)(due_s - hal_seconds())) > 0 && shares != 0 && enrolled &&
           affordable(answer_uj)) {
        struct link_message call;
        if (COUPONS)
            refill();
        enum radio_woken woken = radio_listen(listening_span_ms((uint32_t)left_s), &call);
        if (woken == RADIO_BROKEN)
            break;
        uint8_t cost = woken == RADIO_CALLED ? WAKE_SHARES : woken == RADIO_NOISE;
        shares = shares > cost ? (uint16_t)(shares - cost) : 0;
        if (woken == RADIO_CALLED)
            called(&call, answer_uj);
    }
    if (left_s > 0)
        left_s = (int32_t)(due_s - hal_seconds());
    if (left_s > 0)
        rest((uint32_t)left_s);
}

static void warn_if_store_too_small(void) {
    uint32_t wanted_uj = gate_wanted_uj(config.sign_uj + 2 * config.radio_uj, config.margin_percent,
                                        config.overhead_uj);
    if (gate_stored_uj(config.storage_uf, HAL_STORAGE_MV_MAX, config.cutoff_mv) < wanted_uj) {
        log_word("the store can never hold");
        log_value("uj", wanted_uj);
        log_end();
    }
}

/* The counter may begin when no number can have been used: without a key, or on a new device with a
 * key from the programmer. False if it is lost. */
static bool start_counter(enum key_state key) {
    if (counter_open())
        return true;
    if (key != KEY_NONE && !counter_unused())
        return false;
    counter_create();
    return true;
}

/* Starts the lots, and measures the VLO, so that seconds are seconds. */
static void start_lots(void) {
    uint8_t samples[64];
    hal_entropy_samples(samples, sizeof samples);
    lot = 1;
    for (uint8_t i = 0; i < sizeof samples; i++)
        lot = (uint16_t)(lot * 31 + samples[i]);
    lot |= 1;
}

static void stop_if(bool wrong, const HAL_FLASH char *what, const HAL_FLASH char *why) {
    if (!wrong)
        return;
    hal_log_init();
    log_word("stop: ");
    log_text(what);
    log_text(why);
    log_end();
    hal_halt();
}

int main(void) {
    hal_init();
    const HAL_FLASH char *bad_field = config_load(&config);
    if (bad_field == NULL)
        radio_start(&config);
    stop_if(bad_field != NULL, HAL_TEXT("node_config."), bad_field);
    if (COUPONS) {
        bad_field = coupons_load(&coupons);
        stop_if(bad_field != NULL, HAL_TEXT("node_coupons."), bad_field);
    }
    /* Neither the counter's flash nor a fast clock before the store can pay a little: a node that
     * starts and dies over and over would wear the flash for nothing. */
    await_energy(config.radio_uj, false);
    hal_clock(config.mclk_khz);
    if (config.flags & NODE_FLAG_LOG)
        hal_log_init();
    enum key_state key = key_open();
    stop_if(key == KEY_DAMAGED, HAL_TEXT("the key is "), HAL_TEXT("damaged or of another curve"));
    stop_if(!start_counter(key), HAL_TEXT("the counter is "), HAL_TEXT("lost"));
    start_lots();
    radio_first_sequence((uint8_t)draw());
    log_word("boot");
    log_value("cause", hal_reset_cause());
    log_value("counter", counter_now());
    log_value("vcap_mv", storage_mv);
    log_value("key", key);
    log_end();
    warn_if_store_too_small();

    if (key == KEY_NONE)
        make_key();
    if (COUPONS)
        coupons_open();
    enrolled = key_enrolled();
    say_boot = true;
    for (;;) {
        uint32_t due_s = hal_seconds() + config.period_s;
        if (!enrolled)
            become_enrolled();
        period();
        uint32_t now_s = hal_seconds();
        if ((int32_t)(due_s - now_s) <= 0)
            continue;
        if (can_be_called())
            listen_until(due_s);
        else
            rest(due_s - now_s);
    }
}
