# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := armv7em
DEVICE   := msp432p401r
ARCH     := msp432 armv7em
LINK     := runtime/armv7em/msp432p401r.ld
VARIANTS_ALL := default
# A sector of flash.
HAS      := aes start_up_samples coupons coupon_bytes=4096
HAL_DIR  := hal/msp432
RADIO    := cc2500
NODES    := node-secp160r1 node-p256 node-secp160r1-coupons node-p256-coupons
