/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The energy gate of Mane 2014, section 3.4 and equation 6.1: an operation starts
 * only when the store holds what it needs, with a margin, above the voltage at
 * which the harvester cuts the supply.
 */
#ifndef SUNSEAL_GATE_H
#define SUNSEAL_GATE_H

#include <stdint.h>

/* 1/2 C (V^2 - Vcut^2) in microjoules, 0 below the cut-off. */
uint32_t gate_stored_uj(uint32_t storage_uf, uint16_t storage_mv, uint16_t cutoff_mv);

/* overhead + margin x energy; the margin in percent, 200 in equation 6.1. */
uint32_t gate_wanted_uj(uint32_t energy_uj, uint16_t margin_percent, uint32_t overhead_uj);

#endif
