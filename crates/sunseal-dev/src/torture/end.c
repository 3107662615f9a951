/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How a program of GCC's torture tests ends: at `ended`, with its status as the argument. */

/* The status is used, or a compiler would not pass it. */
__attribute__((noinline, used)) void ended(int status) {
    for (;;) __asm__ volatile("" : : "r"(status));
}

void exit(int status) {
    ended(status);
    for (;;) {}
}

void abort(void) {
    ended(0x0BAD);
    for (;;) {}
}
