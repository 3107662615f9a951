/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef SUNSEAL_FLASH_H
#define SUNSEAL_FLASH_H

/* Where constant tables lie: on AVR in program memory, behind pointers of the same qualifier, so
 * that they do not take the 4 KB of RAM; elsewhere nothing is needed. */
#ifdef __AVR__
#define SUNSEAL_FLASH __flash
#else
#define SUNSEAL_FLASH
#endif

#endif
