/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_WIPE_H
#define SUNSEAL_WIPE_H

#include <stddef.h>

/* Set to zero in a way that no compiler removes, for keys, nonces and entropy that are no longer needed. */
void sunseal_wipe(void *bytes, size_t count);

#endif
