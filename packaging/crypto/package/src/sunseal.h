/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* All headers of sunseal-crypto; each can be taken alone. */
#ifndef SUNSEAL_H
#define SUNSEAL_H

#define SUNSEAL_VERSION "@VERSION@"

#include "sunseal/aes.h"
#include "sunseal/ascon.h"
#include "sunseal/block.h"
#include "sunseal/ccm.h"
#include "sunseal/cmac.h"
#include "sunseal/ctr.h"
#include "sunseal/ecdh.h"
#include "sunseal/ecdsa.h"
#include "sunseal/ecdsa_pool.h"
#include "sunseal/ecdsa_steps.h"
#include "sunseal/ed25519.h"
#include "sunseal/error.h"
#include "sunseal/hkdf.h"
#include "sunseal/hmac.h"
#include "sunseal/lms.h"
#include "sunseal/ots.h"
#include "sunseal/present.h"
#include "sunseal/random.h"
#include "sunseal/rsa.h"
#include "sunseal/sha.h"
#include "sunseal/wipe.h"
#include "sunseal/x25519.h"
#include "sunseal/xtea.h"

#endif
