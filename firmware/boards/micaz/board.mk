# SPDX-License-Identifier: MIT OR Apache-2.0
include $(HERE)/boards/mica.mk
HAL_DIR  := hal/avr
RADIO    := cc2420
NODES    := node-secp160r1 node-p256
