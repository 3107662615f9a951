/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A workload of the bench as a node's life: once every period between two edges of the trigger pin,
 * asleep in between. The host writes the constants into the image, or into the chip, as a
 * programmer would; duty_input, of the workload's file, holds the input over a loss of the supply.
 */
#include "duty.h"

#include "bench.h"
#include "board.h"

extern uint8_t bench_input[], bench_output[];
extern const SUNSEAL_FLASH uint8_t duty_input[];

extern const volatile SUNSEAL_FLASH uint16_t duty_input_len, duty_mclk_khz;
extern const volatile SUNSEAL_FLASH uint32_t duty_period_s;
const volatile SUNSEAL_FLASH uint16_t duty_input_len = 0;
const volatile SUNSEAL_FLASH uint16_t duty_mclk_khz = 1000;
const volatile SUNSEAL_FLASH uint32_t duty_period_s = 0; /* 0: one behind the other */

/* Since the last start. */
extern uint32_t duty_count, duty_failed;
uint32_t duty_count, duty_failed;

#include "operation.inc"

#if defined(SUNSEAL_AES_FPGA)
#include "sunseal/coprocessor.h"

/* What a coprocessor does between uses: it waits, or it is off and is configured anew for each. */
extern const volatile SUNSEAL_FLASH uint8_t duty_switched_off;
const volatile SUNSEAL_FLASH uint8_t duty_switched_off = 0;

static bool timed;

void bench_coprocessor_wait(void) {
    if (timed)
        duty_pause(BOARD_COPROCESSOR_BOOT_MS);
    else
        board_coprocessor_wait();
}

static uint16_t start_timer(void) {
    timed = duty_period_s != 0;
    return timed ? duty_timer(duty_period_s) : 0;
}

static void rest(void) {
    if (timed && duty_switched_off)
        sunseal_coprocessor_power(false);
}

/* One that does not come back answers no operation, which then fails. */
static void resume(void) {
    if (timed && duty_switched_off) {
        duty_lead(BOARD_COPROCESSOR_BOOT_MS);
        (void)bench_setup(bench_input, bench_input_len, bench_output);
    }
}
#else
static void rest(void) {}
static void resume(void) {}
#endif

int main(void) {
    bench_status = BENCH_RUNNING;
    board_trigger_init();
#ifdef BOARD_HAS_WAIT_STATES
    board_wait_states(bench_wait_states);
#endif
    duty_begin(duty_mclk_khz);
    bench_input_len = duty_input_len;
    for (uint16_t i = 0; i < bench_input_len; i++)
        bench_input[i] = duty_input[i];
#if defined(SUNSEAL_AES_FPGA)
    /* The node sleeps through the first configuration too. */
    const uint16_t fires = start_timer();
#endif
    int16_t status = bench_setup(bench_input, bench_input_len, bench_output);
    if (status != 0) {
        bench_status = status;
        return 0;
    }
#if !defined(SUNSEAL_AES_FPGA)
    const uint16_t fires = duty_period_s == 0 ? 0 : duty_timer(duty_period_s);
#endif
    uint16_t seen = duty_fired;
    for (;;) {
        board_trigger_high();
        status = bench_operation(bench_input, bench_input_len, bench_output);
        board_trigger_low();
        bench_status = status;
        duty_failed += status != 0;
        duty_count++;
        rest();
        for (uint16_t n = 0; n < fires; n++)
            duty_sleep(seen++);
        resume();
    }
}
