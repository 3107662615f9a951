// SPDX-License-Identifier: MIT OR Apache-2.0
// What compilers make of tables in FRAM, pointers to functions, 32-bit products, recursion, and a counter that
// outlives power cuts. The host computes the same.

typedef unsigned short u16;
typedef unsigned long u32;

#define COUNT 64

__attribute__((section(".persistent"))) volatile u16 starts = 0;

struct results {
    u16 sorted[COUNT];
    u32 product_sum;
    u32 fib;
    u16 crc;
    u16 starts;
} volatile results;

static const u16 seeds[4] = {0xACE1, 0x1234, 0xBEEF, 0x0F0F};

static u16 next(u16 x) {
    x ^= (u16)(x << 7);
    x ^= (u16)(x >> 9);
    return (u16)(x ^ (u16)(x << 8));
}

static u32 fib(u16 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

static u16 step_left(u16 crc) { return (u16)((crc << 1) ^ ((crc & 0x8000) ? 0x1021 : 0)); }
static u16 step_none(u16 crc) { return crc; }
static u16 (*const steps[2])(u16) = {step_none, step_left};

void done(void);

__attribute__((noreturn, used)) void start(void) {
    *(volatile u16 *)0x015C = 0x5A80;
    *(volatile u16 *)0x0130 = 0;
    starts = (u16)(starts + 1);
    u16 work[COUNT];
    u16 x = seeds[0];
    for (u16 i = 0; i < COUNT; i++) {
        x = next((u16)(x ^ seeds[i & 3]));
        work[i] = x;
    }
    u32 sum = 0;
    u16 crc = 0xFFFF;
    for (u16 i = 0; i + 1 < COUNT; i++) {
        sum += (u32)work[i] * work[i + 1];
        crc ^= work[i];
        for (u16 b = 0; b < 16; b++) crc = steps[1](steps[0](crc));
    }
    for (u16 i = 1; i < COUNT; i++) {
        u16 v = work[i], j = i;
        for (; j && work[j - 1] > v; j--) work[j] = work[j - 1];
        work[j] = v;
    }
    for (u16 i = 0; i < COUNT; i++) results.sorted[i] = work[i];
    results.product_sum = sum;
    results.fib = fib(15);
    results.crc = crc;
    results.starts = starts;
    done();
    for (;;) {
    }
}

__attribute__((noinline)) void done(void) { __asm__ volatile("nop"); }

#define MPY32L (*(volatile u16 *)0x04D0)
#define MPY32H (*(volatile u16 *)0x04D2)
#define OP2L (*(volatile u16 *)0x04E0)
#define OP2H (*(volatile u16 *)0x04E2)
#define RES0 (*(volatile u16 *)0x04E4)
#define RES1 (*(volatile u16 *)0x04E6)

// The compiler calls this for 32-bit products on a device with the MPY32.
__attribute__((used)) u32 __mspabi_mpyl_hw32(u32 a, u32 b) {
    MPY32L = (u16)a;
    MPY32H = (u16)(a >> 16);
    OP2L = (u16)b;
    OP2H = (u16)(b >> 16);
    __asm__ volatile("nop\n nop\n nop\n nop\n nop");
    return RES0 | (u32)RES1 << 16;
}

__asm__(".section .reset,\"ax\"\n.global reset\nreset:\n mov #__stack, r1\n br #start\n.section .vectors,\"a\"\n.word reset\n");
