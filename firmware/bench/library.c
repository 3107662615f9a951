/* SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The program of library-<group>.elf: it does nothing. A test lets it start up
 * and then calls the group's functions by their names.
 */
int main(void);

int main(void) {
    return 0;
}
