/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_WIPE_H
#define SUNSEAL_WIPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Set keys, nonces and entropy that are no longer needed to zero in a way that no compiler removes.
 */
void sunseal_wipe(void *bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif
