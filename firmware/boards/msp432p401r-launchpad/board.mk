# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := armv7em
DEVICE   := msp432p401r
ARCH     := msp432 armv7em
LINK     := runtime/armv7em/msp432p401r.ld
VARIANTS_ALL := default
# No FRAM; no timer captures the VLO against the DCO; 4,288 bytes of SHA-256's chains are longer than a sector.
BENCH_SKIP := trng-osc-% %-sign-steps %-sign-tasks %-sign-checkpoint coupon-wots-sha256-%
HAL_DIR  := hal/msp432
RADIO    := cc2500
NODES    := node-secp160r1 node-p256 node-secp160r1-coupons node-p256-coupons
