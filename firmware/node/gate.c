/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "gate.h"

uint32_t gate_stored_uj(uint32_t storage_uf, uint16_t storage_mv, uint16_t cutoff_mv) {
    if (storage_mv <= cutoff_mv)
        return 0;
    uint32_t square_mv2 = (uint32_t)storage_mv * storage_mv - (uint32_t)cutoff_mv * cutoff_mv;
    /* uF x mV^2 = pJ. */
    uint64_t stored_pj = (uint64_t)storage_uf * square_mv2 / 2;
    uint64_t stored_uj = stored_pj / 1000000;
    return stored_uj > UINT32_MAX ? UINT32_MAX : (uint32_t)stored_uj;
}

uint32_t gate_wanted_uj(uint32_t energy_uj, uint16_t margin_percent, uint32_t overhead_uj) {
    uint64_t wanted_uj = (uint64_t)energy_uj * margin_percent / 100 + overhead_uj;
    return wanted_uj > UINT32_MAX ? UINT32_MAX : (uint32_t)wanted_uj;
}
