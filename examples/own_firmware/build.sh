#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# build.sh OUT.elf [SOURCE.c]: compile fletcher.c, or another file, with the compilers that `make firmware` has fetched.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
    echo "build.sh takes the program to write and, if it is not fletcher.c, the source: build.sh OUT.elf [SOURCE.c]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
tools=$("$root/firmware/toolchain/get" --print-bin)
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$tools/clang" --target=msp430 -mhwmult=none -std=c11 -ffreestanding -Os -g -Wall -Wextra -Werror \
    -c "${2:-$here/fletcher.c}" -o "$object"
# Linker scripts name what they include from the firmware's folder.
"$tools/ld.lld" -L "$root/firmware" -T "$root/firmware/boards/msp430f5438a-anagear/link.ld" "$object" -o "$1"
