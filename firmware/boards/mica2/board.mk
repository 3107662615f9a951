# SPDX-License-Identifier: MIT OR Apache-2.0
include $(HERE)/boards/mica.mk
RADIO    := cc1000
BASES    := base-station base-node-aes128 base-node-xtea base-node-present128
