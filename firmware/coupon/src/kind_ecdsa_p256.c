/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#define CURVE(family, name) family##_p256_##name
#define COUPON sunseal_ecdsa_p256_coupon
#define STEPS sunseal_coupon_ecdsa_p256_steps
#define POOL sunseal_coupon_ecdsa_p256_pool
#define ORDER_BYTES 32
#include "kind_ecdsa.inc"
