# SPDX-License-Identifier: MIT OR Apache-2.0
#
# AVR: avr-gcc and GNU binutils. C is gnu11 there, for __flash.

AVR_TOOLS ?= $(shell $(HERE)/toolchain/get --for avr --print-bin)
CC  := $(AVR_TOOLS)/avr-gcc
COMPILERS := $(CC)
OPT ?= -Os

# All curves together are larger than 128 KB of flash.
GROUPS_ECC := ecc-secp160r1 ecc-p224 ecc-p256 ecc-25519
CPU := -mmcu=atmega128
# GCC 5 knows no -ffile-prefix-map; its debug data are mapped, and no source uses __FILE__.
CFLAGS_TARGET = $(CPU) -std=gnu11 $(COMMON) -fdebug-prefix-map=$(HERE)=. $(OPT) -isystem runtime/include -gdwarf-4 -gstrict-dwarf -gno-record-gcc-switches $(INCLUDES)
WL := -Wl,
link = $(CC) $(CPU) -nostartfiles -nostdlib -T $(LINK) -Wl,--gc-sections -Wl,-Map=$(basename $@).map -o $@ \
       $(2) $(1) -lgcc

define_fpga = $(if $(filter aes-fpga-%,$(1)),-DSUNSEAL_AES_FPGA=1)
compile = $(CC) $(CFLAGS_TARGET) $(DEFINES) $(define_fpga)

define assemble
$(CC) $(CPU) -x assembler-with-cpp $(INCLUDES) -Iruntime/include $(DEFINES) -MMD -MP -MF $@.d -MT $@ -c $< -o $@
endef
