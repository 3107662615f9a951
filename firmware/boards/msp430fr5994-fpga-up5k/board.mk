# SPDX-License-Identifier: MIT OR Apache-2.0
#
# A LaunchPad with the coprocessor of hdl/ on its SPI: the ciphers that it has. What the chip does by itself is board
# msp430fr5994-launchpad's.
FAMILY   := msp430
DEVICE   := msp430fr5994
ARCH     := fr5xx msp430x msp430
LINK     := boards/msp430fr5994-launchpad/link.ld
VARIANTS_ALL := aes-fpga-bus-spi
HAS      := coprocessor
HAL_DIR  := hal/msp430fr5
NODES    :=
