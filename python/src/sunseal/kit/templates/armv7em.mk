TOOLCHAIN ?= clang
# Numbers of type float are computed by the floating-point unit, which start-up turns on.
CPU := -mcpu=cortex-m4 -mthumb -mfloat-abi=softfp -mfpu=fpv4-sp-d16
ifeq ($(TOOLCHAIN),clang)
ifeq ($(origin CC),default)
CC := $(call tool,clang)
endif
ifeq ($(origin LD),default)
LD := $(call tool,ld.lld)
endif
TARGET := --target=thumbv7em-none-eabi $(CPU) -std=gnu11 -nostdlibinc -DSUNSEAL_DEVICE_@DEVICE@=1
RUNTIME := crt0 memory aeabi_div
LINK = $(LD)
GC := --gc-sections
else
ifeq ($(origin CC),default)
CC := $(call tool,arm-none-eabi-gcc)
endif
TARGET := $(CPU) -std=gnu11 -DSUNSEAL_DEVICE_@DEVICE@=1
RUNTIME := crt0 memory
LINK = $(CC) $(TARGET) -nostartfiles -nostdlib
GC := -Wl,--gc-sections
LIBRARIES = -lgcc
endif
ASSEMBLE = $(CC) $(TARGET) -isystem runtime/include -c $< -o $@
