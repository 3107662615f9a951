/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One workload between two edges of the trigger pin; see bench.h. The linker
 * gives bench_operation the address of the workload, and bench_setup that of its
 * set-up.
 */
#include "bench.h"

#include "board.h"

extern const uint8_t bench_input[];
extern uint8_t bench_output[];
BENCH_NOINIT uint16_t bench_input_len;
BENCH_NOINIT int16_t bench_status;

int16_t bench_setup(const uint8_t *in, uint16_t in_len, uint8_t *out);
int16_t bench_operation(const uint8_t *in, uint16_t in_len, uint8_t *out);
int main(void);

#ifdef BOARD_HAS_WAIT_STATES
/* Who measures at a clock that needs wait states writes their number into the image: the clock
 * stays as it is after reset, since cycles are what is counted. */
extern const volatile uint8_t bench_wait_states;
const volatile uint8_t bench_wait_states = 0;
#endif

WORKLOAD(no_setup) {
    return 0;
}

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
