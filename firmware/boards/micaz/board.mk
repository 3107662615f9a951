# SPDX-License-Identifier: MIT OR Apache-2.0
include $(HERE)/boards/mica.mk
RADIO    := cc2420
