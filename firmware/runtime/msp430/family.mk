# SPDX-License-Identifier: MIT OR Apache-2.0
#
# MSP430 and MSP430X: clang for C, GNU as for assembly, lld. Or msp430-elf-gcc for all of it.

define_mpy-none := -DSUNSEAL_MPY=0
define_mpy-16   := -DSUNSEAL_MPY=16
define_mpy-32   := -DSUNSEAL_MPY=32
hwmult_mpy-none := -mhwmult=none
hwmult_mpy-16   := -mhwmult=16bit
hwmult_mpy-32   := -mhwmult=f5series
suffix_mpy-none := mpynone
suffix_mpy-16   := mpy16
suffix_mpy-32   := mpy32
# Beside a coprocessor, on a chip that has the MPY32.
define_aes-fpga-bus-spi := -DSUNSEAL_MPY=32 -DSUNSEAL_AES_FPGA=1
hwmult_aes-fpga-bus-spi := -mhwmult=f5series
suffix_aes-fpga-bus-spi := mpy32

# All curves together are larger than the 48 KB that 16-bit pointers leave.
GROUPS_ECC := ecc-secp160r1 ecc-p224 ecc-p256 ecc-25519

# -Os: the back end's -O2 unrolls into code that is larger and hardly faster,
# since the time is spent in assembly.
OPT ?= -Os
MSP430X := $(filter msp430x,$(ARCH))
RUNTIME_NOT_mpy-none := %_mpy.S
RUNTIME_NOT_mpy-16   := %_mpynone.S
RUNTIME_NOT_mpy-32   := %_mpynone.S
RUNTIME_NOT_aes-fpga-bus-spi := %_mpynone.S

ifeq ($(TOOLCHAIN),clang)
CC  := $(TOOLS)/clang
LD  := $(TOOLS)/ld.lld
AS  := $(TOOLS)/msp430-elf-as
COMPILERS := $(CC) $(AS)
CPU := --target=msp430
# No jump tables: tests/check_elf.py follows every jump.
CFLAGS_TARGET = $(CPU) -std=c11 -fno-jump-tables $(COMMON) -ffile-prefix-map=$(HERE)/= $(OPT) -nostdlibinc -isystem runtime/include -gdwarf-4 -fdebug-compilation-dir=. $(INCLUDES)
WL :=
link = $(LD) -T $(LINK) --gc-sections --build-id=none -Map=$(basename $@).map -o $@ $(2) $(1)
# See toolchain/isa430x.awk; GNU ld takes 430X relocations, lld those of the 430.
ISA := 430
else ifeq ($(TOOLCHAIN),gcc)
ISA := $(if $(MSP430X),430xv2,430)
CC  := msp430-elf-gcc
AS  := msp430-elf-as
COMPILERS :=
ifeq ($(shell command -v $(CC)),)
$(error TOOLCHAIN=gcc needs msp430-elf-gcc on PATH (it is in the MSP430 GCC package of Texas Instruments); without it, leave TOOLCHAIN at clang)
endif
CPU := $(if $(MSP430X),-mcpu=msp430x -msmall,-mcpu=msp430)
CFLAGS_TARGET = $(CPU) -std=c11 -fno-jump-tables $(COMMON) -ffile-prefix-map=$(HERE)/= $(OPT) -gdwarf-4 $(INCLUDES)
WL := -Wl,
link = $(CC) $(CPU) -nostartfiles -nostdlib -T $(LINK) -Wl,--gc-sections -Wl,--build-id=none \
       -Wl,-Map=$(basename $@).map -o $@ $(2) $(1) -lgcc
# libgcc brings the __mspabi_* helpers.
RUNTIME_NOT_mpy-none += runtime/msp430/mspabi%
RUNTIME_NOT_mpy-16   += runtime/msp430/mspabi%
RUNTIME_NOT_mpy-32   += runtime/msp430/mspabi%
else
$(error TOOLCHAIN is "$(TOOLCHAIN)"; it is clang or gcc)
endif

# $(1) is the variant.
compile = $(CC) $(CFLAGS_TARGET) $(hwmult_$(1)) $(define_$(1)) $(DEFINES)

# The assembler gets no -g: lld refuses the differences in its debug lines.
define assemble
$(CC) $(CPU) -E -x assembler-with-cpp $(INCLUDES) -Iruntime/include $(define_$(1)) $(DEFINES) -MMD -MP -MF $@.d -MT $@ $< -o $@.i
awk $(if $(MSP430X),,-v classic=1) -f toolchain/isa430x.awk $@.i > $@.s
$(AS) -mcpu=$(ISA) -o $@ $@.s
endef
