# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Cortex-M4: clang for C and assembly, lld. Floating-point registers only where assembly spills into them.

CC  := $(TOOLS)/clang
LD  := $(TOOLS)/ld.lld
COMPILERS := $(CC)
OPT ?= -O2
CPU := --target=thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=soft
CFLAGS_TARGET = $(CPU) -std=c11 $(COMMON) -ffile-prefix-map=$(HERE)/= $(OPT) -nostdlibinc -isystem runtime/include -gdwarf-4 -fdebug-compilation-dir=. $(INCLUDES)
WL :=
link = $(LD) -T $(LINK) --gc-sections --build-id=none -Map=$(basename $@).map -o $@ $(2) $(1)

compile = $(CC) $(CFLAGS_TARGET) $(DEFINES)

# The soft ABI hides the floating-point unit from C alone.
define assemble
$(CC) --target=thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=softfp $(INCLUDES) -Iruntime/include $(DEFINES) -MMD -MP -MF $@.d -MT $@ -c $< -o $@
endef
