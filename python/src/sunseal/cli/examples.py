# SPDX-License-Identifier: MIT OR Apache-2.0
"""Examples of each command, for its help, its manual page and its page of the site."""

from __future__ import annotations

from typing import Any

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "boards": (
        ("Which boards there are, with their limits of voltage and clock", ""),
        ("What of each chip and radio is not modelled", "--gaps"),
    ),
    "parts": (("Which capacitors there are, yours among them", "--kind capacitor"),),
    "part new": (
        ("A capacitor with your figures, in ./sunseal/parts", "capacitor my-supercap"),
        ("A panel like one that is there, but for what you change", "panel my-panel --extends ixys-slmd600h10l"),
    ),
    "part check": (("Units, plausibility and what is missing in a part of yours", "sunseal/parts/my-supercap.toml"),),
    "part fit": (
        ("A capacitor's leakage and branches from its discharge", "discharge.csv --name my-supercap --rated 5.5V"),
        ("A panel from its I-V points under 500 W/m2", "curve.csv --name my-panel --cells 8 --light 500"),
    ),
    "schema": (
        ("The schema of a scenario, so that your editor completes it", "scenario"),
        ("All of them, into a folder", "--write schemas"),
    ),
    "workloads": (("Names, security levels, and what each does", ""),),
    "measure": (
        ("A P-256 signature at 2.2 V and 8 MHz", "ecdsa-p256-sign --vcc 2.2V --freq 8MHz"),
        ("The same without a hardware multiplier, as JSON", "ecdsa-p256-sign --variant mpy=none --json"),
        ("A function of your program, called with an argument", "node.elf --board telosb --call 'board_wait_ms(20)'"),
        ("Your program between two of its functions", "node.elf --board telosb --from main --to board_wait_ms"),
    ),
    "curve": (
        ("Energy and time of a signature at each voltage and clock", "ecdsa-p256-sign"),
        ("The same as a picture", "aes128-encrypt --board micaz --figure curve.svg"),
    ),
    "profile": (
        ("Cycles and joules by function, as a flame graph", "ecdsa-p256-sign --figure flame.svg"),
        ("The same for speedscope, in cycles and joules", "ecdsa-p256-sign --weight joules --out sign.json"),
        ("Which lines of your program ran, for lcov", "node.elf --board telosb --coverage node.info"),
    ),
    "constant-time": (
        ("Does the variable `key` decide how your program runs", "node.elf --board telosb --secret key"),
        ("The same source over compilers, levels and cores", "--matrix compare.c --secret key"),
    ),
    "waveform": (
        (
            "The first 20 ms of a program, with a variable",
            "node.elf --board telosb --for 20ms --symbol blinks --out a.vcd",
        ),
    ),
    "examples": (
        ("What there is to begin with", ""),
        ("The scenarios, with the programs that they name, in ./examples", "scenarios"),
        ("All of them, elsewhere", "all --to sunseal-examples"),
    ),
    "new": (("A program for the TelosB: then `make run` in the folder", "my-node --board telosb"),),
    "run": (
        ("Two seconds of a program, its UART here", "node.elf --board telosb --for 2s"),
        ("With 1.2 V at A3 and a button that is pressed", "node.elf --board telosb --for 2s --adc 3=1.2V --pin P2.7=0"),
        ("Two programs on one air, and what they sent", "two-motes.toml --for 2s --frames air.csv"),
        ("On harvested light instead of a bench supply", "node.elf --supply scenario.toml --for 10s"),
    ),
    "gdb": (("Then `target remote :3333` in your debugger", "node.elf --board msp432p401r-launchpad"),),
    "dap": (("Wait for an editor's debugger at a port", "--port 4711"),),
    "tune": (
        ("Which signature takes 5 mJ and 300 ms at most", "--security 112 --energy 5mJ --latency 300ms"),
        ("The quickest AES on two boards", "aes128-encrypt --board micaz --board telosb --best latency"),
    ),
    "size": (
        (
            "Store and panel of a signature each ten minutes, in 1 % of the sun",
            "ecdsa-p256-sign --every 10min --shading 0.01",
        ),
    ),
    "lifetime": (
        ("Years on a MICA2DOT's battery, 320 bits sent each time", "ecdsa-secp160r1-sign --every 10min --bits 320"),
        ("The same on another board, with a report", "ecdsa-p256-sign --board telosb --every 1h --report life.html"),
    ),
    "plan": (
        ("The cheapest nodes, and why the others lost", "requirements.toml --explain"),
        ("The best of them played in the closed loop", "requirements.toml --confirm"),
    ),
    "inject": (
        ("Cut the power at each cycle of a task", "sum.elf --board msp430fr5994-launchpad --to done --golden result"),
        (
            "At each write, and again in each recovery",
            "sum.elf --board msp430fr5994-launchpad --at writes --losses 2 --golden result",
        ),
    ),
    "least-capacitor": (("Between 3.0 and 1.8 V", "sum.elf --board msp430fr5994-launchpad --volts 3.0-1.8 --to done"),),
    "war": (("Between two commits of a task", "sum.elf --board msp430fr5994-launchpad --to done --commit commit"),),
    "reproduce": (
        ("A table of a paper beside ours", "mane2014/table-4.1"),
        ("All tables of all papers, as a page", "--all --report reproduced.html"),
    ),
    "simulate": (
        ("A day of a solar node, by the scenario that comes along", "day"),
        ("Your scenario, with a report", "scenario.toml --report day.html"),
    ),
    "sweep": (("Twenty capacitors", "scenario.toml --over supply.capacitance_f=0.01:1:20:log --out sweep.csv"),),
    "fleet": (("A thousand nodes for a year, by one measured profile", "fleet.toml --report fleet.html"),),
    "demo": (
        ("One winter's day against the real server", ""),
        ("The same program on another board", "--board telosb"),
    ),
    "trace import": (("What a recording holds, and the same in SI units", "scope.csv --out scope.npz"),),
    "trace energy": (
        ("Joules between the edges of a trigger, over 10 ohm", "scope.csv --shunt 10ohm --vcc 3V --trigger trigger"),
    ),
    "trace capacitor": (
        ("What 50 operations took out of 1 mF", "-C 1mF --v1 3.3V --v2 3.1V -n 50 --tolerance capacitance=2%"),
        ("The same instrument at a simulated board", "aes128-encrypt -C 1mF --v1 3.3V"),
    ),
    "trace compare": (
        (
            "A measured window against the simulated run",
            "scope.csv --workload sha256-hash --shunt 10ohm --vcc 3V --trigger trigger",
        ),
    ),
    "trace harvest": (
        (
            "Light indoors as a source for a scenario",
            "office.csv --format lux --panel ixys-slmd600h10l -o office-w.csv",
        ),
    ),
    "coupon analyze": (
        (
            "What of a function can be done before `message` is there",
            "node.elf --board msp430fr5994-launchpad --function seal --runtime-input message:64",
        ),
    ),
    "coupon metrics": (("What each kind costs ahead, at run time, and in the store", "--board msp432p401r-launchpad"),),
    "coupon rate": (("Signatures per second over harvested power", "--figure rate.svg"),),
    "coupon recovery": (("The first answer after a week of darkness, over the store", "--figure recovery.svg"),),
    "coupon breakeven": (
        ("Do coupons pay over a year, under 200 answers a day", "--demand 200"),
        ("In your scenario's light, for one axis alone", "scenario.toml --axis light"),
    ),
    "coupon leakage": (("A thousand traces of AES with an S-box", "--kind ctr --way sbox --traces 1000"),),
    "coupon randomness": (
        ("One of the board's generators", "--generator sram_sha256"),
        ("A chip's own samples, a byte each", "--raw noise.bin --width 8 --claim 0.5"),
        ("A model of your memory's start-up dumps", "--fit warm@22C --fit cold@-18C --save mine.toml"),
    ),
    "send": (("Blocks to a node that encrypts by its FPGA", "blocks.txt --board mica2-fpga-up5k"),),
    "hdl size": (("The coprocessor on its iCE40", "coprocessor-parallel-up5k --target ice40"),),
    "hdl energy": (("What 16 bytes cost in each core", ""),),
    "node list": (
        ("Only those that are late", "--late"),
        ("Of a group, those whose store is low, for a spreadsheet", "--group north --below 2.1V --csv"),
    ),
    "node show": (("All that is known of a node", "53756e7365616c01"),),
    "node events": (("What was refused in the last two days", "--verdict bad-signature --since 2d"),),
    "node import": (("Thousands at once, all or none", "nodes.csv"),),
    "node change": (("Into another group", "53756e7365616c01 --group north"),),
    "queue": (("What waits for a node, and why", "--node 53756e7365616c01"),),
    "node open": (
        ("Let a node enrol that says a sign of life each ten minutes", "53756e7365616c01 --name roof --period 600s"),
    ),
    "node ask": (("A challenge, handed out when the node shows itself", "53756e7365616c01"),),
    "node revoke": (("A node that was stolen", "53756e7365616c01 --why stolen"),),
    "node rekey": (("A node whose memory was replaced", "53756e7365616c01"),),
    "serve": (
        ("A server on this machine; nodes.sqlite.tokens has the first two tokens", "--db nodes.sqlite"),
        ("By TLS, for gateways elsewhere", "--db nodes.sqlite --tls-cert server.pem --tls-key server.key"),
        ("Behind a proxy that is called by name", "--db nodes.sqlite --host nodes.example.org"),
    ),
    "gateway": (
        (
            "From a radio to that server, what was on the air kept for Wireshark",
            "--listen 127.0.0.1:8081 --server http://127.0.0.1:8437 --pcap air.pcap",
        ),
    ),
    "token": (
        ("A second operator's token, shown this once", "--db nodes.sqlite --role operator --name anna"),
        ("One for Prometheus that ends by itself", "--db nodes.sqlite --role read --name prometheus --days 365"),
        ("Which there are", "--db nodes.sqlite"),
    ),
    "doctor": (("Which tools are there, and how to get the others", ""),),
    "toolchain get": (("Cross compilers for AVR and Arm", "--for matrix"),),
    "bench": (("Instructions a second of each core", "engine"),),
    "completion": (('In ~/.bashrc: eval "$(sunseal completion bash)"', "bash"),),
    "man": (("Then `man sunseal-measure`", "~/.local/share/man/man1"),),
}
"""Examples of a command, by its path: what is asked, and the arguments that ask it."""


def lines(path: str) -> list[tuple[str, str]]:
    """Return of a command what each example asks, and the whole command line."""
    return [(asked, f"sunseal {path} {arguments}".rstrip()) for asked, arguments in EXAMPLES.get(path, ())]


def text(path: str) -> str:
    """Write the examples of a command as they stand at the end of its help; empty where it has none."""
    told = "".join(f"  {asked}:\n    {line}\n" for asked, line in lines(path))
    return told and f"\nExamples:\n{told}"


def attach(command: Any, path: str) -> None:
    """Have a command's help end with its examples, and those of the commands in it with theirs."""
    for name, inner in getattr(command, "commands", {}).items():
        attach(inner, f"{path} {name}")
    command.format_epilog = lambda _, formatter: formatter.write(text(path))
