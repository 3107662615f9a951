/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define CURVE(family, name) family##_secp160r1_##name
#define COUPON sunseal_ecdsa_secp160r1_coupon
#define STEPS sunseal_coupon_ecdsa_secp160r1_steps
#define POOL sunseal_coupon_ecdsa_secp160r1_pool
#define ORDER_BYTES 21
#include "kind_ecdsa.inc"
