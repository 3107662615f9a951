# SPDX-License-Identifier: MIT OR Apache-2.0
include $(HERE)/boards/launchpad_2k.mk
DEVICE   := msp430fr5969
