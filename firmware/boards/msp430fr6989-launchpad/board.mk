# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := msp430
DEVICE   := msp430fr6989
ARCH     := fr5xx msp430x msp430
LINK     := boards/launchpad_2k.ld
VARIANTS_ALL := mpy-32
HAL_DIR  := hal/msp430fr5
# Checkpoints keep RAM, not what lies in FRAM; the tables of T-boxes, the coupons of duty-coupon-p256 and those of Winternitz chains are too large; Ed25519's verification may take 2,056 bytes of stack; 2 KB of RAM hold no generator's samples.
BENCH_SKIP := trng-sram-%-256bit %-sign-checkpoint aes128-tbox-encrypt coupon-p256 coupon-wots-% ed25519-verify
# Its T-box is larger than the RAM.
GROUPS_SKIP := cipher
