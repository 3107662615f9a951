/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "fixslice.h"

/* The S-box without its constant 0x63: Boyar and Peralta, "A depth-16 circuit for the AES S-box"
 * (eprint 2011/332), figures 5 to 7. Slice 7 is the highest bit. */
void sunseal_aes_fixslice_substitute(uint32_t q[8]);

void sunseal_aes_fixslice_substitute(uint32_t q[8]) {
    uint32_t x0 = q[7], x1 = q[6], x2 = q[5], x3 = q[4], x4 = q[3], x5 = q[2], x6 = q[1], x7 = q[0];
    /* To the tower field. */
    uint32_t y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5, t0 = x1 ^ x2;
    uint32_t y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14, y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8;
    uint32_t t1 = x4 ^ y12, y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0;
    uint32_t y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8, y16 = t0 ^ y11;
    uint32_t y21 = y13 ^ y16, y18 = x0 ^ y16;
    /* The inverse. */
    uint32_t t2 = y12 & y15, t4 = (y3 & y6) ^ t2, t6 = (y4 & x7) ^ t2, t7 = y13 & y16;
    uint32_t t9 = (y5 & y1) ^ t7, t11 = (y2 & y7) ^ t7, t12 = y9 & y11, t14 = (y14 & y17) ^ t12;
    uint32_t t16 = (y8 & y10) ^ t12;
    uint32_t t21 = t4 ^ t14 ^ y20, t22 = t6 ^ t16 ^ y19, t23 = t9 ^ t14 ^ y21,
             t24 = t11 ^ t16 ^ y18;
    uint32_t t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t29 = (t25 & t27) ^ t22;
    uint32_t t30 = t23 ^ t24, t31 = t22 ^ t26, t33 = (t31 & t30) ^ t24, t34 = t23 ^ t33;
    uint32_t t35 = t27 ^ t33, t36 = t24 & t35, t37 = t36 ^ t34, t38 = t27 ^ t36;
    uint32_t t40 = t25 ^ (t29 & t38), t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40;
    uint32_t t44 = t33 ^ t37, t45 = t42 ^ t41;
    uint32_t z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16, z4 = t40 & y1;
    uint32_t z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17, z8 = t41 & y10, z9 = t44 & y12;
    uint32_t z10 = t37 & y3, z11 = t33 & y4, z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2;
    uint32_t z15 = t42 & y9, z16 = t45 & y14, z17 = t41 & y8;
    /* And back. */
    uint32_t t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10, t50 = z2 ^ z12;
    uint32_t t51 = z2 ^ z5, t52 = z7 ^ z8, t53 = z0 ^ z3, t54 = z6 ^ z7, t55 = z16 ^ z17;
    uint32_t t56 = z12 ^ t48, t57 = t50 ^ t53, t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57;
    uint32_t t61 = z14 ^ t57, t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62;
    uint32_t t66 = z1 ^ t63;
    q[7] = t59 ^ t63;
    q[1] = t56 ^ t62;
    q[0] = t48 ^ t60;
    q[4] = t53 ^ t66;
    q[3] = t51 ^ t66;
    q[2] = t47 ^ t65;
    /* The circuit's complements of bits 6, 5, 1 and 0 are the constant that is left out. */
    q[6] = t64 ^ q[4];
    q[5] = t55 ^ t64 ^ t65;
}
