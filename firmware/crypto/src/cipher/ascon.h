/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_CIPHER_ASCON_H
#define SUNSEAL_CIPHER_ASCON_H

#include "sunseal/ascon.h"

/* The last `rounds` (1 to 12) of Ascon-p[12], SP 800-232, section 3. */
void sunseal_ascon_permute(struct sunseal_ascon_state *state, uint8_t rounds);

/* Word `index` of the state as 8 little-endian bytes: += them; read them. How the state holds its
 * words is the implementation's matter: in order, or its even and its odd bits apart. */
void sunseal_ascon_add(struct sunseal_ascon_state *state, uint8_t index, const uint8_t bytes[8]);
void sunseal_ascon_get(uint8_t bytes[8], const struct sunseal_ascon_state *state, uint8_t index);

#endif
