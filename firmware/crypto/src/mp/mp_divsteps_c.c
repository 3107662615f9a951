/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "mp.h"

/* Portable twin of mp_divsteps_msp430.S. */

void sunseal_mp_divsteps(struct sunseal_mp_matrix *matrix, uint16_t f, uint16_t g) {
    uint16_t u = 1, v = 0, q = 0, r = 1, eta = matrix->eta;
    for (int i = 0; i < SUNSEAL_MP_STEPS; i++) {
        uint16_t odd = (uint16_t)-(g & 1);
        uint16_t swap = (uint16_t)-(eta >> 15);
        g += (uint16_t)((f ^ swap) - swap) & odd;
        q += (uint16_t)((u ^ swap) - swap) & odd;
        r += (uint16_t)((v ^ swap) - swap) & odd;
        swap &= odd;
        eta = (uint16_t)((eta ^ swap) - 1 - (swap & matrix->half));
        f += g & swap;
        u += q & swap;
        v += r & swap;
        g = (uint16_t)((g >> 1) | (g & 0x8000));
        u <<= 1;
        v <<= 1;
    }
    matrix->u = u;
    matrix->v = v;
    matrix->q = q;
    matrix->r = r;
    matrix->eta = eta;
}
