/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * What the files of the node's test on this machine share (test_node.c).
 */
#ifndef SUNSEAL_TEST_NODE_H
#define SUNSEAL_TEST_NODE_H

#include <stdbool.h>
#include <stdint.h>

/* Checks that did not agree so far. */
extern unsigned failures;

void check(bool good, const char *what);

/* Runs until its end, or until the power goes or the node stops; whether it ended. */
bool runs_through(void (*work)(void *), void *with);

/* test_node_memory.c: counter, configuration, key, gate and entropy. */
/* The configuration's block, as a programmer writes over it. */
uint8_t *own_block(void);
void counter_survives_every_cut(void);
void counter_survives_a_long_rough_life(void);
void counter_ends_in_silence(void);
void a_counter_whose_heads_are_lost_is_not_begun_again(void);
void counter_gives_no_number_that_worn_flash_forgets(void);
void a_configuration_that_would_overflow_is_refused(void);
void a_key_is_whole_or_not_there(void);
void a_key_of_an_unhealthy_source_is_refused(void);
void a_key_that_worn_flash_does_not_hold_is_refused(void);
void gate_agrees_with_the_formula(void);
void entropy_tests_itself(void);

/* test_node_radio.c: a CC2500 as far as the driver uses it. */
/* What is on the air: the test's own. Bytes of the next packet for the node, with its status bytes.
 */
extern uint8_t (*air_next)(uint8_t packet[80]);
extern void (*air_sent)(const uint8_t *packet, uint8_t bytes);
/* The same for a node that listens by wake-on-radio; *wakes: something comes, good or not. */
extern uint8_t (*air_calls)(uint8_t packet[80], uint16_t timeout_ms, bool *wakes);
/* A chip fresh from its supply, and nothing on the air. */
void chip_new(void);
void radio_driver_keeps_to_the_datasheet(void);
void the_driver_listens_as_often_as_it_is_told(void);
void messages_go_out_in_frames_and_one_answer_is_ours(void);

/* test_node_world.c: the whole node before a gateway. */
void the_node_survives_a_cut_at_every_moment(void);
void the_node_gets_through_a_lossy_air_and_a_rough_supply(void);
void a_node_that_listens_answers_when_it_is_called(void);
void who_wakes_a_node_without_end_costs_it_a_bounded_number_of_signatures(void);
void the_node_signs_no_number_that_worn_flash_does_not_hold(void);

#endif
