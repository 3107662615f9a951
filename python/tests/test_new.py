# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal new`: what it writes builds and runs on every board, and its registers are the chip's."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli, require
from sunseal import Bench, Machine, kit, measure_calls
from sunseal.catalog import boards, coprocessor
from sunseal.kit import registers

BOARDS = boards.names("boards")
SUNSEAL = f"{sys.executable} -m sunseal"
FR, TELOSB, AVR, ARM = "msp430fr5994-launchpad", "telosb", "micaz", "msp432p401r-launchpad"


def tools(board: str) -> Path:
    """Return the folder with a board's compilers, which must be there."""
    return fetched("avr" if boards.board(board)["device"].startswith("atmega") else "firmware")


def fetched(group: str) -> Path:
    get = [sys.executable, str(boards.home() / "firmware" / "toolchain" / "get"), "--for", group, "--print-bin"]
    folder = Path(subprocess.run(get, check=True, capture_output=True, text=True).stdout.strip())
    require(folder.is_dir(), f"what `firmware/toolchain/get --for {group}` brings")
    return folder


def make(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", f"SUNSEAL={SUNSEAL}", "WARN=-Wall -Wextra -Werror", *args]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


def greets(board: str, elf: Path) -> None:
    node = Bench(board, elf)
    node.run(until_uart="ready\r\n", within="2s")
    assert node.text == f"hello from {board}\r\nready\r\n"
    assert node.run(within="1s").why == "halted"
    assert node.machine.read_int("blinks") == 3
    assert (node.resets, node.machine.lints()) == (0, [])
    assert node.machine.baud[str(node.uart)] == pytest.approx(9600, rel=0.03)
    wrong = Bench(board, elf, baud=115_200)
    wrong.run(within="20ms")
    assert "hello" not in wrong.text and wrong.machine.framing_errors[str(wrong.uart)] > 0


@pytest.mark.parametrize("board", BOARDS)
def test_a_new_program_builds_and_greets(board: str, tmp_path: Path) -> None:
    tools(board)
    kit.write(tmp_path / "node", board)
    done = make(tmp_path / "node")
    assert (done.returncode, done.stderr) == (0, "")
    # A board with an FPGA runs where the tools of hardware are; hdl/tests/test_mote.py runs its programs.
    if not coprocessor.fitted(board) or coprocessor.tool()[0]:
        greets(board, tmp_path / "node" / "build" / "node.elf")


@pytest.mark.parametrize("board", [FR, TELOSB, AVR, ARM])
def test_cmake_builds_it_too(board: str, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        pytest.skip("cmake is not installed")
    kit.write(tmp_path / "node", board)
    env = os.environ | {"SUNSEAL_TOOLS": str(tools(board))}
    for step in (["-B", "build", "-DCMAKE_TOOLCHAIN_FILE=toolchain.cmake"], ["--build", "build"]):
        done = subprocess.run(
            ["cmake", *step], cwd=tmp_path / "node", env=env, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
    greets(board, tmp_path / "node" / "build" / "node.elf")


@pytest.mark.parametrize("toolchain", ["clang", "gcc"])
@pytest.mark.parametrize("board", [ARM, "nucleo-l476rg"])
def test_a_cortex_m4_computes_floats_in_its_unit(board: str, toolchain: str, tmp_path: Path) -> None:
    tools(board)
    require(toolchain == "clang" or shutil.which("arm-none-eabi-gcc") is not None, "arm-none-eabi-gcc on PATH")
    kit.write(tmp_path / "node", board)
    (tmp_path / "node" / "main.c").write_text(
        "volatile float given = 1.5f; volatile int found;\n"
        "__attribute__((noinline)) float on(float a) { return a * 2.0f + 0.25f; }\n"
        "int main(void) { found = (int)(on(given) * 100.0f); return 0; }\n"
    )
    done = make(tmp_path / "node", f"TOOLCHAIN={toolchain}")
    assert (done.returncode, done.stderr) == (0, "")
    elf = tmp_path / "node" / "build" / "node.elf"
    machine = Machine(board, elf)
    machine.run()
    assert machine.read_int("found") == 325
    assert measure_calls(elf, "on(-0.125)", board=board).calls[0].value == 0


def test_another_compiler_is_a_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    require(shutil.which("arm-none-eabi-gcc") is not None, "arm-none-eabi-gcc on PATH")
    kit.write(tmp_path / "node", ARM)
    done = make(tmp_path / "node", "TOOLCHAIN=gcc", "TOOLS=/nowhere")
    assert (done.returncode, done.stderr) == (0, "")
    greets(ARM, tmp_path / "node" / "build" / "node.elf")
    done = make(tmp_path / "node", "-B", "TOOLCHAIN=gcc", "CC=no-such-compiler")
    assert done.returncode != 0
    (tmp_path / "bin").mkdir()
    for name in ("make", "sh", "mkdir"):
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    done = make(tmp_path / "node", "-B", "TOOLS=/nowhere")
    assert "clang is neither in the folder of" in done.stderr


def built(folder: Path, board: str, source: str) -> Path:
    """Build a new program whose main.c is this; return the ELF."""
    kit.write(folder, board)
    (folder / "main.c").write_text('#include "board.h"\n' + source)
    done = make(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "build" / "node.elf"


TICKING = {
    FR: "ISR(ta0_ccr0) { ticks++; }\n#define START TA0CCR0 = 999; TA0CCTL0 = CCIE; TA0CTL = TASSEL__SMCLK | MC__UP",
    TELOSB: "ISR(ta_ccr0) { ticks++; }\n#define START TACCR0 = 999; TACCTL0 = CCIE; TACTL = TASSEL_2 | MC_1",
    AVR: "ISR(16) { ticks++; }\n#define START TIMSK = TOIE0; TCCR0 = CS02",
    ARM: "ISR(24) { TA0CCTL0 &= (uint16_t)~CCIFG; ticks++; }\n#define START NVIC_ISER0 = 1 << 8; TA0CCR0 = 999; "
    "TA0CCTL0 = CCIE; TA0CTL = TASSEL__SMCLK | MC__UP",
}
ENABLE = {FR: "nop\\n\\teint\\n\\tnop", TELOSB: "eint", AVR: "sei", ARM: "cpsie i"}


@pytest.mark.parametrize("board", TICKING)
def test_an_interrupt_is_handled_as_the_header_says(board: str, tmp_path: Path) -> None:
    tools(board)
    source = (
        f"volatile uint8_t ticks;\n{TICKING[board]}\n"
        f'int main(void) {{ START; __asm__ volatile("{ENABLE[board]}"); while (ticks < 3) {{}} return 0; }}\n'
    )
    node = Bench(board, built(tmp_path / "node", board, source))
    node.keep_trace()
    node.run(until="sunseal_halt", within="1s")
    assert node.machine.read_int("ticks") >= 3
    ways = [row for row in node.trace if row["text"].startswith("(interrupt by the vector at 0x")]
    assert len(ways) == node.machine.read_int("ticks")
    handlers = {node.machine.describe(int(row["PC"])).split("+")[0].split()[0] for row in ways}
    assert len(handlers) == 1
    assert handlers != {"main"}


SLEEPING = {
    FR: "WAKING_ISR(ta0_ccr0) { ticks++; woken = 1; }\nISR(port1) { }\nWAKING_ISR(port2) { }\n"
    "#define START TA0CCR0 = 99; TA0CCTL0 = CCIE; TA0CTL = TASSEL__ACLK | MC__UP",
    TELOSB: "WAKING_ISR(ta_ccr0) { ticks++; woken = 1; }\n"
    "#define START TACCR0 = 99; TACCTL0 = CCIE; TACTL = TASSEL_1 | MC_1",
    AVR: "WAKING_ISR(16) { ticks++; woken = 1; }\n#define START ASSR = AS0; TIMSK = TOIE0; TCCR0 = CS00",
    ARM: "WAKING_ISR(24) { TA0CCTL0 &= (uint16_t)~CCIFG; ticks++; woken = 1; }\n#define START NVIC_ISER0 = 1 << 8; "
    "TA0CCR0 = 9999; TA0CCTL0 = CCIE; TA0CTL = TASSEL__SMCLK | MC__UP",
}


@pytest.mark.parametrize("board", SLEEPING)
def test_a_program_sleeps_until_a_handler_sets_its_flag(board: str, tmp_path: Path) -> None:
    tools(board)
    source = (
        f"volatile uint8_t ticks, woken, before;\n{SLEEPING[board]}\n"
        "int main(void) { START; while (before < 20) { board_sleep_until(&woken); woken = 0; before++; } return 0; }\n"
    )
    node = Bench(board, built(tmp_path / "node", board, source))
    node.run(until="sunseal_halt", within="1s")
    assert node.machine.read_int("ticks") == node.machine.read_int("before") == 20
    assert node.machine.lints() == []
    # It counted no cycles asleep: 20 waits of some 3 ms each.
    assert node.time_s > 50e-3
    assert node.machine.cycles < 20 * 200


def test_a_run_that_begins_asleep_stops_at_the_next_interrupt(tmp_path: Path) -> None:
    source = (
        f"volatile uint8_t ticks;\n{TICKING[TELOSB]}\n"
        'int main(void) { START; for (;;) __asm__ volatile("bis #0x18, sr"); }\n'
    )
    m = Machine(TELOSB, built(tmp_path / "node", TELOSB, source))
    for _ in range(3):
        m.run(time_s=0.0101)
        ticks = m.read_int("ticks")
        assert ticks > 0
        assert m.run(until="sunseal_isr_ta_ccr0", time_s=0.1).kind == "pc"
        assert m.read_int("ticks") == ticks


def test_it_says_what_it_wrote(sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = sunseal("new", "my-node", "--board", "telosb")
    assert (done.status, done.err) == (0, "")
    assert done.out == (
        "wrote my-node for telosb:\n"
        "  main.c                                says hello over the UART, blinks, stops\n"
        "  board.h, board.c                      the board's LED and UART\n"
        "  include/                              the chip's registers, by its maker's names\n"
        "  link.ld                               its memories\n"
        "  runtime/                              what starts it and helps the compiler\n"
        "  Makefile                              make, make run, make test\n"
        "  CMakeLists.txt, toolchain.cmake       the same by CMake\n"
        "  test_node.py, pytest.ini              a test in the simulator\n"
        "  .vscode/                              build, run, test and debug from an editor\n"
        "  .github/, Dockerfile                  the same in CI and in a container\n"
        "  README.md                             how to go on\n"
        "next: cd my-node && make run\n"
    )
    assert len((tmp_path / "my-node" / "README.md").read_text().splitlines()) <= 12
    left = [p for p in (tmp_path / "my-node").rglob("*") if p.is_file() and re.search(r"@[A-Z_]+@", p.read_text())]
    assert not left


def test_what_cannot_be_written_is_refused(sunseal: Cli, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").touch()
    (tmp_path / "full" / "part.c").write_text("int part(void) { return domain(1); }\n")
    for args, sentence in (
        ((tmp_path / "full",), "is there already and not an empty folder"),
        ((tmp_path / "full" / "thesis.tex",), "is there already and not an empty folder"),
        ((tmp_path / "new", "--board", "arduino"), "unknown board `arduino`"),
        ((tmp_path / "new", "--from", tmp_path / "gone.c"), "No such file or directory"),
        ((tmp_path / "new", "--from", tmp_path / "full" / "thesis.tex"), "is no source in C"),
        ((tmp_path / "new", "--from", tmp_path / "full" / "part.c"), "no function `main` in part.c"),
    ):
        done = sunseal("new", *args)
        assert (done.status, done.out) == (2, "")
        assert sentence in " ".join(done.err.split())
    assert not (tmp_path / "new").exists()
    (tmp_path / "empty").mkdir()
    assert sunseal("new", tmp_path / "empty").status == 0


def test_a_board_without_a_uart_is_refused(sunseal: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sunseal" / "boards").mkdir(parents=True)
    told = (boards.home() / "data" / "boards" / "telosb.toml").read_text().replace('name = "telosb"', 'name = "mute"')
    (tmp_path / "sunseal" / "boards" / "mute.toml").write_text(told.replace('[log]\nserial = "usart1"\n', ""))
    done = sunseal("new", "node", "--board", "mute")
    assert done.status == 2
    assert "mute leads no UART out, and a new program says hello over usart1" in " ".join(done.err.split())

    family = dict(registers.family("msp430x1xx"), uart=[])
    monkeypatch.setattr(registers, "family", lambda _: family)
    done = sunseal("new", "node", "--board", "telosb")
    assert done.status == 2
    assert "no [[uart]] of data/registers/msp430x1xx.toml names the msp430f1611" in " ".join(done.err.split())


# --- Programs of others ------------------------------------------------------------------------------

STYLES = {
    "TI's and IAR's": "#pragma vector = {VECTOR} // Timer\r\n__interrupt void Timer(void)",
    "GCC's": "void __attribute__((interrupt({VECTOR}))) Timer(void)",
}
FOREIGN = """#include <msp430.h>
unsigned int ticks;
unsigned int __attribute__((persistent)) starts = 7;
void main(void) {
    WDTCTL = WDTPW | WDTHOLD;
    starts++;
    {CCR0} = 99; {CCTL0} = CCIE; {CTL} = TASSEL_1 | MC_1 | TACLR;
    while (ticks < 5) { __bis_SR_register(LPM3_bits | GIE); __no_operation(); }
    __disable_interrupt();
    __bis_SR_register(LPM4_bits);
}
{HANDLER} { if (++ticks == 5) __bic_SR_register_on_exit(LPM3_bits); }
"""


@pytest.mark.parametrize(
    ("board", "style"), [(FR, "TI's and IAR's"), (TELOSB, "GCC's"), ("msp430f5438a-anagear", "TI's and IAR's")]
)
def test_a_program_for_msp430_h_builds_as_it_is(board: str, style: str, sunseal: Cli, tmp_path: Path) -> None:
    tools(board)
    old = board == TELOSB
    facts = {"VECTOR": "TIMERA0_VECTOR" if old else "TIMER0_A0_VECTOR"}
    facts |= {key: f"{'TA' if old else 'TA0'}{key}" for key in ("CCR0", "CCTL0", "CTL")}
    source = FOREIGN if board == FR else FOREIGN.replace("__attribute__((persistent)) ", "")
    source = source.replace("{HANDLER}", STYLES[style])
    for key, value in facts.items():
        source = source.replace(f"{{{key}}}", value)
    (tmp_path / "theirs.c").write_bytes(source.encode("latin-1"))
    assert sunseal("new", tmp_path / "node", "--board", board, "--from", tmp_path / "theirs.c").status == 0
    done = make(tmp_path / "node", "WARN=-Wall -Wno-main-return-type")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "node" / "theirs.c").read_bytes() == source.encode("latin-1")
    node = Bench(board, tmp_path / "node" / "build" / "node.elf")
    node.run(within="1s")
    assert (node.machine.read_int("ticks"), node.machine.lints()) == (5, [])
    assert node.machine.cycles < 1000  # of 15 ms: it slept between ticks
    if board == FR:
        node.machine.power_cut()
        assert node.machine.read_int("starts") == 8


def test_a_delay_takes_the_cycles_that_it_is_asked_for(tmp_path: Path) -> None:
    tools(TELOSB)
    asked = [1, 4, 5, 6, 7, 8, 9, 14, 15, 26, 27, 100, 1000, 50_001, 196_608, 196_612, 262_150, 1_000_003]
    rows = "".join(f'__asm__ volatile(".global at{i}\\nat{i}:"); __delay_cycles({n}); ' for i, n in enumerate(asked))
    source = f'int main(void) {{ {rows} __asm__ volatile(".global at{len(asked)}\\nat{len(asked)}:"); return 0; }}\n'
    m = Machine(TELOSB, built(tmp_path / "node", TELOSB, source))
    cycles = []
    for i in range(len(asked) + 1):
        m.run(until=f"at{i}")
        cycles.append(m.cycles)
    assert [b - a for a, b in itertools.pairwise(cycles)] == asked


def test_a_run_tells_of_an_interrupt_without_a_handler(sunseal: Cli, tmp_path: Path) -> None:
    tools(FR)
    source = (
        "int main(void) { TA0CCR0 = 999; TA0CCTL0 = CCIE; TA0CTL = TASSEL__SMCLK | MC__UP;\n"
        "__enable_interrupt(); for (;;) {} }"
    )
    done = sunseal("run", built(tmp_path / "node", FR, source), "--board", FR, "--for", "20ms")
    assert "an interrupt that the program has no handler for was taken" in " ".join(done.err.split())


def test_an_interrupt_that_the_chip_has_not_is_refused(tmp_path: Path) -> None:
    tools(FR)
    kit.write(tmp_path / "node", FR)
    source = "__attribute__((interrupt(3))) void f(void) {} int main(void) { return 0; }"
    (tmp_path / "node" / "main.c").write_text(source)
    done = make(tmp_path / "node")
    assert done.returncode != 0
    assert "the chip has no interrupt of the number" in done.stderr


def test_a_program_for_avr_libc_builds_as_it_is(sunseal: Cli, tmp_path: Path) -> None:
    tools(AVR)
    (tmp_path / "theirs.c").write_text(
        "#include <avr/io.h>\n#include <avr/interrupt.h>\n#include <avr/sleep.h>\n#include <util/delay.h>\n"
        "volatile uint8_t ticks;\nISR(TIMER0_OVF_vect) { ticks++; }\n"
        "int main(void) { TCCR0 = _BV(CS02); TIMSK |= _BV(TOIE0); sei(); _delay_ms(1);\n"
        "while (ticks < 5) sleep_mode(); cli(); return 0; }\n"
    )
    assert sunseal("new", tmp_path / "node", "--board", AVR, "--from", tmp_path / "theirs.c").status == 0
    done = make(tmp_path / "node", "CFLAGS=-DF_CPU=7372800UL")
    assert (done.returncode, done.stderr) == (0, "")
    node = Bench(AVR, tmp_path / "node" / "build" / "node.elf")
    node.run(until="sunseal_halt", within="1s")
    assert node.machine.read_int("ticks") == 5


ECHOES = {
    TELOSB: "#include <msp430.h>\nint main(void) { P3SEL |= BIT6 | BIT7; ME2 |= UTXE1 | URXE1; UCTL1 |= CHAR; "
    "UTCTL1 |= SSEL0; UBR01 = 3; UBR11 = 0; UMCTL1 = 0x4A; UCTL1 &= ~SWRST; "
    "for (;;) { while (!(IFG2 & URXIFG1)) {} TXBUF1 = RXBUF1; } }",
    "msp430f5438a-anagear": "#include <msp430.h>\nint main(void) { P5SEL |= BIT6 | BIT7; UCA1CTL1 = UCSWRST; "
    "UCA1CTL1 |= UCSSEL__SMCLK; UCA1BRW = 109; UCA1MCTL = UCBRS_2; UCA1CTL1 &= ~UCSWRST; "
    "for (;;) { while (!(UCA1IFG & UCRXIFG)) {} UCA1TXBUF = UCA1RXBUF; } }",
    ARM: '#include "msp432p401r.h"\nint main(void) { P1SEL0 |= BIT2 | BIT3; UCA0CTLW0 = UCSWRST; '
    "UCA0CTLW0 |= UCSSEL__SMCLK; UCA0BRW = 19; UCA0MCTLW = 0x6581; UCA0CTLW0 &= (uint16_t)~UCSWRST; "
    "for (;;) { while (!(UCA0IFG & UCRXIFG)) {} UCA0TXBUF = UCA0RXBUF; } }",
    "nucleo-l476rg": "#include <stm32l476xx.h>\nint main(void) { RCC->AHB2ENR |= RCC_AHB2ENR_GPIOAEN; "
    "RCC->APB1ENR1 |= RCC_APB1ENR1_USART2EN; (void)RCC->APB1ENR1; "
    "MODIFY_REG(GPIOA->MODER, GPIO_MODER_MODE2 | GPIO_MODER_MODE3, GPIO_MODER_MODE2_1 | GPIO_MODER_MODE3_1); "
    "GPIOA->AFR[0] |= (7U << GPIO_AFRL_AFSEL2_Pos) | (7U << GPIO_AFRL_AFSEL3_Pos); USART2->BRR = 417; "
    "USART2->CR1 = USART_CR1_TE | USART_CR1_RE | USART_CR1_UE; "
    "for (;;) { while (!(USART2->ISR & USART_ISR_RXNE)) {} USART2->TDR = USART2->RDR; } }",
}


@pytest.mark.parametrize("board", ECHOES)
def test_a_receiver_of_the_wrong_rate_sees_framing_errors(board: str, tmp_path: Path) -> None:
    tools(board)
    kit.write(tmp_path / "node", board)
    (tmp_path / "node" / "main.c").write_text(ECHOES[board])
    assert make(tmp_path / "node").returncode == 0
    told = []
    for baud in (9600, 19_200, 57_600):
        node = Bench(board, tmp_path / "node" / "build" / "node.elf", baud=baud)
        node.run(within="20ms")
        node.send("echo" * 20)
        node.run(within="100ms")
        assert (node.text == "echo" * 20) == (baud == 9600)
        told.append(any(lint.startswith("framing error of a UART") for lint in node.machine.lints()))
    # Of a text that repeats itself, stop bits may be high by chance at one wrong rate.
    assert (told[0], any(told[1:])) == (False, True)


def test_a_uart_that_is_read_too_slowly_loses_bytes_and_says_so(sunseal: Cli, tmp_path: Path) -> None:
    tools("msp430f5438a-anagear")
    board = "msp430f5438a-anagear"
    slow = ECHOES[board].replace("UCA1TXBUF = UCA1RXBUF;", "UCA1TXBUF = UCA1RXBUF; __delay_cycles(5000);")
    kit.write(tmp_path / "node", board)
    (tmp_path / "node" / "main.c").write_text(slow)
    assert make(tmp_path / "node").returncode == 0
    typed = tmp_path / "typed"
    typed.write_text("0123456789" * 2)
    elf = tmp_path / "node" / "build" / "node.elf"
    for baud, sentence in ((9600, "byte lost by a UART"), (115_200, "and the terminal read at 115,200")):
        done = sunseal("run", elf, "--board", board, "--input", typed, "--for", "300ms", "--baud", baud)
        assert sentence in " ".join(done.err.split())
    done = sunseal("run", elf, "--board", board, "--input", typed, "--for", "300ms", "--json")
    told = json.loads(done.out)
    assert told["uart_baud"] == {"usci_a1": pytest.approx(9600, rel=0.03)}
    assert set("0123456789") > set(told["uart"]["usci_a1"]) != set()


def test_a_program_for_cmsis_builds_as_it_is(sunseal: Cli, tmp_path: Path) -> None:
    board = "nucleo-l476rg"
    tools(board)
    (tmp_path / "theirs.c").write_text(
        "#include <stm32l476xx.h>\nvolatile uint32_t ticks, steps;\nvoid SysTick_Handler(void) { ticks++; }\n"
        "void TIM2_IRQHandler(void) { TIM2->SR = ~TIM_SR_UIF; GPIOA->ODR ^= GPIO_ODR_OD5; steps++; }\n"
        "int main(void) {\n"
        "RCC->AHB2ENR |= RCC_AHB2ENR_GPIOAEN; RCC->APB1ENR1 |= RCC_APB1ENR1_TIM2EN | RCC_APB1ENR1_USART2EN;\n"
        "MODIFY_REG(GPIOA->MODER, GPIO_MODER_MODE5_Msk, 1U << GPIO_MODER_MODE5_Pos);\n"
        "MODIFY_REG(GPIOA->MODER, GPIO_MODER_MODE2 | GPIO_MODER_MODE3, GPIO_MODER_MODE2_1 | GPIO_MODER_MODE3_1);\n"
        "GPIOA->AFR[0] |= (7U << GPIO_AFRL_AFSEL2_Pos) | (7U << GPIO_AFRL_AFSEL3_Pos);\n"
        "USART2->BRR = SystemCoreClock / 9600; USART2->CR1 = USART_CR1_TE | USART_CR1_UE;\n"
        "while (!(USART2->ISR & USART_ISR_TEACK)) {}\n"
        "USART2->TDR = 'k'; TIM2->PSC = 3999; TIM2->ARR = 9; TIM2->DIER = TIM_DIER_UIE; TIM2->CR1 = TIM_CR1_CEN;\n"
        "NVIC_EnableIRQ(TIM2_IRQn); SysTick_Config(4000);\nwhile (ticks < 100) __WFI();\nreturn 0; }\n"
    )
    assert sunseal("new", tmp_path / "node", "--board", board, "--from", tmp_path / "theirs.c").status == 0
    done = make(tmp_path / "node")
    assert (done.returncode, done.stderr) == (0, "")
    node = Bench(board, tmp_path / "node" / "build" / "node.elf")
    node.run(until="sunseal_halt", within="1s")
    assert (node.text, node.machine.read_int("ticks")) == ("k", 100)
    # The prescaler is taken over with the first update, which comes after ten ticks of the undivided clock.
    assert node.machine.read_int("steps") in (10, 11)


# --- Registers -------------------------------------------------------------------------------------


def read_by_the_core(m: Machine, core: str, register: registers.Register) -> None:
    """Run an instruction that reads a register, so that the bus answers and no debugger."""
    if core in ("cpu", "cpuxv2"):
        start, words = 0x1C00, [0x425C if register.bits == 8 else 0x421C, register.address]  # MOV(.B) &address, R12
    elif core == "avre":
        start = 0x100
        words = [w for i in range(register.bits // 8) for w in (0x9180, register.address + i)]  # LDS R24, address
    else:
        start, words = 0x2000_0000, [{8: 0x7808, 16: 0x8808, 32: 0x6808}[register.bits]]  # LDR(B, H) R0, [R1]
        m.registers["R1"] = register.address
    m.write(start, b"".join(word.to_bytes(2, "little") for word in words))
    m.registers["PC"] = start
    m.step(register.bits // 8 if core == "avre" else 1)


def give_clocks(m: Machine, device: str) -> None:
    """Set all clock enables of an STM32: a block without a clock does not answer."""
    chip = registers.device(device)
    rcc = next(block["base"] for block in chip["block"] if block["name"] == "rcc")
    for offset in {block["enable"][0] for block in chip["block"] if "enable" in block}:
        m.write(0x2000_0000, (0x6008).to_bytes(2, "little"))  # STR R0, [R1]
        m.registers["R0"], m.registers["R1"] = 0xFFFF_FFFF, rcc + offset
        m.registers["PC"] = 0x2000_0000
        m.step()


@pytest.mark.parametrize("device", boards.names("devices"))
def test_the_simulator_has_every_register_of_a_header(device: str) -> None:
    core, m = registers.device(device)["core"], Machine(device)
    found = [r for block in registers.blocks(device) for r in block.registers]
    assert len(found) > 80
    assert len({r.name for r in found}) == len(found)
    if any("enable" in block for block in registers.device(device)["block"]):
        give_clocks(m, device)
    for register in found:
        read_by_the_core(m, core, register)  # a fault names the address


BY_HAND = re.compile(r"#\s*define \w+ .*(?:REG(?:8|16|32|ISTER)\(0x|volatile uint(?:8|16|32)_t \*\)\(?0x)")
"""A register by its address, as a macro."""


def test_the_firmware_takes_its_registers_from_the_data() -> None:
    firmware = boards.home() / "firmware"
    # The library is built without `data/`, too; the MSP432's descriptors are no registers.
    left_out = [firmware / "build", firmware / "crypto", firmware / "hal" / "msp432" / "dco.inc"]
    sources = [p for ending in ("c", "h", "S", "inc") for p in firmware.rglob(f"*.{ending}")]
    sources = [p for p in sources if not any(p.is_relative_to(folder) for folder in left_out)]
    assert len(sources) > 100
    assert [p for p in sources if BY_HAND.search(p.read_text(encoding="utf-8"))] == []
    assert BY_HAND.search("#define P1IN SUNSEAL_REG8(0x0200)")
    assert BY_HAND.search("#define FCTL1 (*(volatile uint16_t *)0x0140)")


@pytest.mark.parametrize("device", boards.names("devices"))
def test_what_the_firmwares_build_includes_is_made_of_the_data(device: str, tmp_path: Path) -> None:
    script = [sys.executable, str(boards.home() / "python" / "src" / "sunseal" / "kit" / "chips.py")]
    assert subprocess.run([*script, "write", device, str(tmp_path)], check=False).returncode == 0
    chip = registers.device(device)
    written = {p.name for p in tmp_path.iterdir()}
    assert written == {"chip.h", "memory.h"} | ({"vectors.S"} if device.startswith("msp430") else set())
    places = dict(re.findall(r"#define (\w+) SUNSEAL_REG\d+\((0x\w+)\)", (tmp_path / "chip.h").read_text()))
    assert all(int(places[r.name], 16) == r.address for b in registers.blocks(device) for r in b.registers)
    memory = dict(re.findall(r"#define CHIP_(\w+) (0x\w+)", (tmp_path / "memory.h").read_text()))
    for m in (m for m in chip["memory"] if m["kind"] != "peripheral"):
        start, size_bytes = (int(memory[key], 16) for key in (m["name"].upper(), f"{m['name'].upper()}_BYTES"))
        assert (start, start + size_bytes - 1) == (m["start"], m["end"])
    check = [*script, "check", device, str(tmp_path)]
    assert subprocess.run(check, check=False).returncode == 0
    (tmp_path / "chip.h").write_text("#define P1IN SUNSEAL_REG8(0x0999)\n")
    stale = subprocess.run(check, check=False, capture_output=True, text=True)
    assert stale.returncode == 1
    assert stale.stderr.startswith(f"chip.h of {tmp_path}: not what the data of {device} give")


@pytest.mark.parametrize("device", boards.names("devices"))
def test_a_link_script_has_the_chips_memories(device: str) -> None:
    script = registers.link_script(device)
    regions = {n: int(s, 16) for n, s in re.findall(r"^ +(\w+) +\(\w+\) : ORIGIN = (0x\w+)", script, re.MULTILINE)}
    starts = {m["start"] for m in registers.device(device)["memory"]}
    assert {regions["ram"], regions["flash"]} <= starts
    assert "node_key" not in script
