TOOLCHAIN ?= clang
ifeq ($(TOOLCHAIN),clang)
ifeq ($(origin CC),default)
CC := $(call tool,clang)
endif
ifeq ($(origin LD),default)
LD := $(call tool,ld.lld)
endif
ifeq ($(origin AS),default)
AS := $(call tool,msp430-elf-as)
endif
TARGET := --target=msp430 -mhwmult=@CLANG_HWMULT@ -std=gnu11 -nostdlibinc
COMPILE := sh runtime/compile
RUNTIME := crt0 memory mspabi_div mspabi_mul_mpy mspabi_shift
LINK = $(LD)
GC := --gc-sections --orphan-handling=error
ASSEMBLE = sh runtime/assemble $@ $< $(CC) $(AS) @DEFINES@
else
ifeq ($(origin CC),default)
CC := $(call tool,msp430-elf-gcc)
endif
TARGET := @GCC_CPU@ -std=gnu11
COMPILE := sh runtime/compile
RUNTIME := crt0 memory
LINK = $(CC) $(TARGET) -nostartfiles -nostdlib
GC := -Wl,--gc-sections
LIBRARIES = -lgcc
ASSEMBLE = $(CC) $(TARGET) -isystem runtime/include @DEFINES@ -c $< -o $@
endif
