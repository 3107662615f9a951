# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := msp430
DEVICE   := msp430fr5994
ARCH     := fr5xx msp430x msp430
LINK     := boards/msp430fr5994-launchpad/link.ld
VARIANTS_ALL := mpy-32
HAS      := aes fram checkpoints oscillators start_up_samples coupons
HAL_DIR  := hal/msp430fr5
RADIO    := cc2500
NODES    := node-secp160r1 node-p256 node-secp160r1-coupons node-p256-coupons
