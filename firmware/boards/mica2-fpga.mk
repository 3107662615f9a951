# SPDX-License-Identifier: MIT OR Apache-2.0
#
# A MICA2 with the coprocessor of hdl/: the ciphers that it has, on each bus. What the mote does by itself is board mica2's.
FAMILY   := avr
DEVICE   := atmega128l
ARCH     := avr
LINK     := runtime/avr/atmega128l.ld
VARIANTS_ALL := aes-fpga-bus-uart aes-fpga-bus-spi aes-fpga-bus-parallel
HAS      := coprocessor
HAL_DIR  := hal/avr
RADIO    := cc1000
NODES    :=
BASES    := base-node-aes128 base-node-xtea base-node-present128
