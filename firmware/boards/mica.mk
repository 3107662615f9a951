# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := avr
DEVICE   := atmega128l
ARCH     := avr
LINK     := runtime/avr/atmega128l.ld
VARIANTS_ALL := default
HAL_DIR  := hal/avr
NODES    := node-secp160r1 node-p256
