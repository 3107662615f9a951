/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_OTS_INTERNAL_H
#define SUNSEAL_OTS_INTERNAL_H

#include "sunseal/ots.h"

/* SUNSEAL_OK, or SUNSEAL_ERR_NULL where there is no store, or one without a function. */
int sunseal_store_check(const struct sunseal_store *store);

/* Return from the calling function where there is no store. */
#define SUNSEAL_REQUIRE_STORE(store)                                                               \
    do {                                                                                           \
        int missing = sunseal_store_check(store);                                                  \
        if (missing != SUNSEAL_OK) {                                                               \
            return missing;                                                                        \
        }                                                                                          \
    } while (0)

#endif
