TOOLCHAIN ?= clang
CPU := -mcpu=cortex-m4 -mthumb -mfloat-abi=soft
ifeq ($(TOOLCHAIN),clang)
ifeq ($(origin CC),default)
CC := $(call tool,clang)
endif
ifeq ($(origin LD),default)
LD := $(call tool,ld.lld)
endif
TARGET := --target=thumbv7em-none-eabi $(CPU) -std=c11 -nostdlibinc -DSUNSEAL_DEVICE_@DEVICE@=1
RUNTIME := crt0 memory aeabi_div
LINK = $(LD)
GC := --gc-sections
else
ifeq ($(origin CC),default)
CC := $(call tool,arm-none-eabi-gcc)
endif
TARGET := $(CPU) -std=c11 -DSUNSEAL_DEVICE_@DEVICE@=1
RUNTIME := crt0 memory
LINK = $(CC) $(TARGET) -nostartfiles -nostdlib
GC := -Wl,--gc-sections
LIBRARIES = -lgcc
endif
# The soft ABI hides the floating-point unit, which start-up turns on, from C alone.
ASSEMBLE = $(CC) $(TARGET) -mfloat-abi=softfp -isystem runtime/include -c $< -o $@
