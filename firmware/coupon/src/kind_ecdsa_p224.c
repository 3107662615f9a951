/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define CURVE(family, name) family##_p224_##name
#define COUPON sunseal_ecdsa_p224_coupon
#define STEPS sunseal_coupon_ecdsa_p224_steps
#define POOL sunseal_coupon_ecdsa_p224_pool
#define ORDER_BYTES 28
#include "kind_ecdsa.inc"
