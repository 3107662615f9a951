/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One workload between two edges of the trigger pin; see bench.h. The linker
 * gives bench_operation the address of the workload, and bench_setup that of its
 * set-up. The clock stays as it is after reset, since cycles are what is counted.
 */
#include "bench.h"

#include "board.h"

extern const uint8_t bench_input[];
extern uint8_t bench_output[];
#include "operation.inc"

#if defined(SUNSEAL_AES_FPGA)
void bench_coprocessor_wait(void) {
    board_coprocessor_wait();
}
#endif

int main(void) {
    bench_status = BENCH_RUNNING;
    board_trigger_init();
#ifdef BOARD_HAS_CLOCK
    board_clock();
#endif
#ifdef BOARD_HAS_WAIT_STATES
    board_wait_states(bench_wait_states);
#endif
    int16_t status = bench_setup(bench_input, bench_input_len, bench_output);
    if (status != 0) {
        bench_status = status;
        return 0;
    }
    board_trigger_high();
    status = bench_operation(bench_input, bench_input_len, bench_output);
    board_trigger_low();
    bench_status = status;
    return 0;
}
