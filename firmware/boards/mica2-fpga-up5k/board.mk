# SPDX-License-Identifier: MIT OR Apache-2.0
include $(HERE)/boards/mica2-fpga.mk
