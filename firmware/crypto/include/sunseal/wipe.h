/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_WIPE_H
#define SUNSEAL_WIPE_H

#include <stddef.h>

/* Set keys, nonces and entropy that are no longer needed to zero in a way that no compiler removes.
 */
void sunseal_wipe(void *bytes, size_t count);

#endif
