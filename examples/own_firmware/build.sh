#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# build.sh OUT.elf [SOURCE.c]: compile fletcher.c, or another file, with the compilers of `sunseal toolchain get`, the linker
# script of the tree or of the installed package, and CFLAGS. A source without `_start` gets that of start.c. BOARD is another MSP430
# board of firmware/boards than msp430f5438a-anagear.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "build.sh takes the program to write and, if it is not fletcher.c, the source: build.sh OUT.elf [SOURCE.c]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(cd "$here/../.." && pwd -P)
# A copy of `sunseal examples` lies in no tree: what it needs of one is in the package.
[ -f "$root/firmware/toolchain/get" ] || root=$(dirname "$(sunseal examples --where)")
tools=$(python3 "$root/firmware/toolchain/get" --print-bin)
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT
compile() {
    # shellcheck disable=SC2086 # CFLAGS are words
    "$tools/clang" --target=msp430 -mhwmult=none -std=c11 -ffreestanding -Os -g -Wall -Wextra -Werror ${CFLAGS:-} \
        -c "$1" -o "$objects/$2"
}
compile "${2:-$here/fletcher.c}" program.o
compile "$here/start.c" start.o
# Linker scripts name what they include from the firmware's folder.
"$tools/ld.lld" -L "$root/firmware" -T "$root/firmware/build/${BOARD:-msp430f5438a-anagear}/link.ld" \
    "$objects/program.o" --start-lib "$objects/start.o" --end-lib -o "$1"
