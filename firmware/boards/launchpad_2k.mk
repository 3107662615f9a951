# SPDX-License-Identifier: MIT OR Apache-2.0
# The LaunchPads of the FR5969 and the FR6989, which differ in the device.
FAMILY   := msp430
ARCH     := fr5xx msp430x msp430
LINK     := boards/launchpad_2k.ld
VARIANTS_ALL := mpy-32
HAL_DIR  := hal/msp430fr5
# No checkpoints, which keep RAM, not what lies in FRAM; 2 KB of RAM hold no generator's samples. Coupons that take more
# than half of the 6 KB for variables are left out. 12 KB of FRAM are left beside 29 KB of a program.
HAS      := aes fram oscillators coupons coupon_bytes=3072 nvm_bytes=12288
# Its T-box is larger than the RAM.
GROUPS_SKIP := cipher
