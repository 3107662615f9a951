/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * void hal_load_tables(void): copies what a linker script keeps above 64 KB, where 16-bit pointers
 * do not reach, to where the program reads it in RAM. From 0x10000 on, its length from the script.
 */
#include "function.inc"

    function hal_load_tables
    mova    #0x10000, r12
    mov     #__tables_start, r13
1:  cmp     #__tables_end, r13
    jhs     2f
    movx.w  @r12+, 0(r13)
    incd    r13
    jmp     1b
2:  ret
