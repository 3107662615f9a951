# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := msp430
DEVICE   := msp430f1611
# A classic CPU: no 430X instruction.
ARCH     := msp430
LINK     := boards/telosb/link.ld
VARIANTS_ALL := mpy-16
HAL_DIR  := hal/msp430f1
RADIO    := cc2420
NODES    := node-secp160r1 node-p256
