# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Lets GNU as take 430X instructions in a file that lld links. GNU as numbers
# the relocations of a 430X file differently from those of a 430 file, and lld
# knows only the latter; so a file is assembled for the 430, and each line with
# a 430X instruction switches the instruction set on and off around itself.
# These instructions must have register and constant operands only: a symbol in
# one would need a 430X relocation, which lld refuses by name.
{
    line = $0
    sub(/;.*/, "", line)
    if (match(line, /^[ \t]*([A-Za-z0-9_.$]+:)?[ \t]*(push|pop|rrc|rra|rla|rru)m(\.[wa])?[ \t]/) ||
        match(line, /^[ \t]*([A-Za-z0-9_.$]+:)?[ \t]*rpt[ \t]/) ||
        match(line, /^[ \t]*([A-Za-z0-9_.$]+:)?[ \t]*(mov|cmp|add|sub|call|bit|bic|bis|xor|and|dadd|addc|subc|push|pop|rrc|rru|rra|rla|rlc|swpb|sxt|tst|clr|inc|dec|incd|decd|inv|adc|sbc|dadc)x(\.[wab])?[ \t]/) ||
        match(line, /^[ \t]*([A-Za-z0-9_.$]+:)?[ \t]*(mova|cmpa|adda|suba|calla|reta|bra)([ \t]|$)/)) {
        label = ""
        if (match(line, /^[ \t]*[A-Za-z0-9_.$]+:/)) {
            label = substr(line, 1, RLENGTH)
            line = substr(line, RLENGTH + 1)
        }
        # On one line ("{" separates statements), so that errors name the right one.
        print label " .cpu 430xv2 { " line " { .cpu 430"
    } else
        print
}
