# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := msp430
DEVICE   := msp430f5438a
ARCH     := msp430x msp430
LINK     := boards/msp430f5438a-anagear/link.ld
LINK_COUPONS := boards/msp430f5438a-anagear/link_coupons.ld
VARIANTS_ALL := mpy-none mpy-16 mpy-32
HAL_DIR  := hal/msp430f5
# bench/duty_msp430f5438a.c leans on it.
DUTY_HAL := yes
RADIO    := cc2500
NODES    := node-secp160r1 node-p256 node-secp160r1-coupons node-p256-coupons
# 2.4 KB too large for 0x5C00 to 0xF5FF.
NODE_SKIP := mpy-16/node-secp160r1-coupons
# 78 bytes are left below 0x10000 without it.
NODE_DEAF := mpy-16/node-secp160r1
# A segment of flash.
HAS      := start_up_samples coupons coupon_bytes=512
