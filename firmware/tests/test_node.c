/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The node's parts, and the whole node, on this machine: firmware/hal/host is the hardware, a fake
 * CC2500 and a fake gateway are the air. Exit status 0 if every check agrees.
 */
#include <stdio.h>
#include <string.h>

#include "crc16.h"
#include "host.h"
#include "log.h"
#include "test_node.h"

unsigned failures;
static unsigned passed;

void check(bool good, const char *what) {
    if (good) {
        passed++;
        return;
    }
    failures++;
    if (failures < 20)
        fprintf(stderr, "test_node: %s\n", what);
}

bool runs_through(void (*work)(void *), void *with) {
    if (setjmp(host_power_lost) != 0)
        return false;
    work(with);
    return true;
}

static void a_crc_is_what_python_computes(void) {
    /* binascii.crc_hqx(b"123456789", 0xFFFF) */
    check(crc16((const uint8_t *)"123456789", 9) == 0x29B1, "crc16: its check value");
    check(crc16((const uint8_t *)"", 0) == 0xFFFF, "crc16: nothing");
}

static void the_log_writes_numbers(void) {
    host_log[0] = '\0';
    log_word("x");
    log_value("a", 0);
    log_value("b", 4294967295u);
    log_end();
    check(strcmp(host_log, "x a=0 b=4294967295\n") == 0, "log");
}

int main(void) {
    counter_survives_every_cut();
    counter_survives_a_long_rough_life();
    counter_ends_in_silence();
    a_counter_whose_heads_are_lost_is_not_begun_again();
    counter_gives_no_number_that_worn_flash_forgets();
    a_configuration_that_would_overflow_is_refused();
    a_key_is_whole_or_not_there();
    a_key_of_an_unhealthy_source_is_refused();
    a_key_that_worn_flash_does_not_hold_is_refused();
    gate_agrees_with_the_formula();
    entropy_tests_itself();
    radio_driver_keeps_to_the_datasheet();
    the_driver_listens_as_often_as_it_is_told();
    messages_go_out_in_frames_and_one_answer_is_ours();
    the_node_survives_a_cut_at_every_moment();
    the_node_gets_through_a_lossy_air_and_a_rough_supply();
    a_node_that_listens_answers_when_it_is_called();
    who_wakes_a_node_without_end_costs_it_a_bounded_number_of_signatures();
    the_node_signs_no_number_that_worn_flash_does_not_hold();
    a_crc_is_what_python_computes();
    the_log_writes_numbers();
    printf("test_node: %u checks agree, %u differ\n", passed, failures);
    return failures != 0;
}
