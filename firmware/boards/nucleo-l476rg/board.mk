# SPDX-License-Identifier: MIT OR Apache-2.0
FAMILY   := armv7em
DEVICE   := stm32l476rg
ARCH     := armv7em
LINK     := runtime/armv7em/stm32l476rg.ld
VARIANTS_ALL := default
HAL_DIR  := hal/stm32l4
# No AES accelerator (the STM32L486 has one); no store of coupons yet.
HAS      := start_up_samples
