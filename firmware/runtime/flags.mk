# SPDX-License-Identifier: MIT OR Apache-2.0
#
# What every compiler here is told; apart from the Makefile, so that a new program compiles nothing anew.

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Werror
# One section a function, so that a program carries only what it calls. Paths
# are mapped away: the same sources give the same bytes in any folder.
COMMON := -ffreestanding -fno-builtin-printf -ffunction-sections -fdata-sections -fno-common $(WARN)
