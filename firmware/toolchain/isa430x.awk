# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Lets GNU as take 430X instructions in a file that lld links. GNU as numbers
# the relocations of a 430X file differently from those of a 430 file, and lld
# knows only the latter; so a file is assembled for the 430, and each line with
# a 430X instruction switches the instruction set on and off around itself.
# These instructions must have register and constant operands only: a symbol in
# one would need a 430X relocation, which lld refuses by name.
#
# With -v classic=1, for a CPU that has no 430X instruction, PUSHM, POPM, RRAM,
# RRCM, RRUM and RLAM of words become as many steps of one register or one place
# each; any other 430X instruction is an error with its line.
function refuse(what) {
    printf "%s:%d: %s has no form for the classic MSP430: %s\n", FILENAME, FNR, what, $0 > "/dev/stderr"
    failed = 1
    exit 1
}

# pushm.w #n, rK: rK, rK-1, ...; popm.w #n, rK: the other way round, up to rK; rrum.w #n, rK: n times.
function unroll(line,    parts, count, top, i, out, step) {
    if (!match(line, /#[ \t]*[0-9]+[ \t]*,[ \t]*[rR][0-9]+[ \t]*$/)) refuse("other operands than a count and a register")
    split(substr(line, RSTART + 1), parts, /[ \t]*,[ \t]*[rR]/)
    count = parts[1] + 0
    top = parts[2] + 0
    out = ""
    for (i = 0; i < count; i++) {
        if (line ~ /pushm/) step = "push r" top - i
        else if (line ~ /popm/) step = "pop r" top - count + 1 + i
        else if (line ~ /rram/) step = "rra r" top
        else if (line ~ /rrcm/) step = "rrc r" top
        else if (line ~ /rlam/) step = "rla r" top
        else step = "clrc { rrc r" top
        out = out (i ? " { " : " ") step
    }
    return out
}

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
        if (!classic)
            print label " .cpu 430xv2 { " line " { .cpu 430"
        else if (line ~ /^[ \t]*(push|pop|rra|rrc|rru|rla)m(\.w)?[ \t]/)
            print label unroll(line)
        else
            refuse("this instruction")
    } else
        print
}

END {
    if (failed) exit 1
}
