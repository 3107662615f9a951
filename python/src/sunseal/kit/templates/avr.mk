ifeq ($(origin CC),default)
CC := $(call tool,avr-gcc)
endif
TARGET := -mmcu=atmega128 -std=gnu11
RUNTIME := crt0 memory
LINK = $(CC) $(TARGET) -nostartfiles -nostdlib
GC := -Wl,--gc-sections
LIBRARIES = -lgcc
ASSEMBLE = $(CC) $(TARGET) -x assembler-with-cpp -isystem runtime/include -c $< -o $@
