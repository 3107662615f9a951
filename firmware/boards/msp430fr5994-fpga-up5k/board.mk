# SPDX-License-Identifier: MIT OR Apache-2.0
#
# A LaunchPad with the coprocessor of hdl/ on its SPI: the ciphers that it has. What the chip does by itself is board
# msp430fr5994-launchpad's.
FAMILY   := msp430
DEVICE   := msp430fr5994
ARCH     := fr5xx msp430x msp430
LINK     := boards/msp430fr5994-launchpad/link.ld
VARIANTS_ALL := aes-fpga-bus-spi
BENCH_ONLY := aes128-encrypt xtea-encrypt present128-encrypt aes128-ctr-encrypt aes128-ccm-seal
DUTY_SKIP := coupon-%
HAL_DIR  := hal/msp430fr5
NODES    :=
