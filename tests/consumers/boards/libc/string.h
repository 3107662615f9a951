/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Declarations, as of a C library's header, of the functions in the package's runtime/: clang
 * brings no C library. */
#ifndef STRING_H
#define STRING_H
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memmove(void *to, const void *from, size_t n);
void *memset(void *to, int value, size_t n);
int memcmp(const void *a, const void *b, size_t n);
#endif
