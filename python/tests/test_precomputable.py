# SPDX-License-Identifier: MIT OR Apache-2.0
"""`sunseal coupon analyze`: programs of which it is known what can go ahead, on every instruction set."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from sunseal import Machine, SunsealError
from sunseal.catalog import boards
from sunseal.cli.app import run
from sunseal.secure import constant_time_matrix as matrix
from sunseal.secure import precomputable
from validating import wrong_output

SOURCE = Path(__file__).parent / "data" / "precomputable.c"
N = 32
Analyze = Callable[..., precomputable.Analysis]


@pytest.fixture(
    scope="module",
    params=[(s, level) for s in matrix.SETS for level in ("-O1", "-O2")],
    ids=lambda p: f"{p[0].name}{p[1]}",
)
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    isa, level = request.param
    compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
    return isa.board, matrix.build(SOURCE, isa, compiler, level, tmp_path_factory.mktemp("precomputable"))


@pytest.fixture(scope="module")
def analyze(built: tuple[str, Path]) -> Analyze:
    board, elf = built
    return lambda function, *inputs, **more: precomputable.analyze(
        elf, function, inputs or ["message"], board=board, output=[f"result:{N}"], **more
    )


def test_of_a_one_time_pad_all_but_the_sum_goes_ahead(analyze: Analyze) -> None:
    done = analyze("one_time_pad")
    assert done.share_cycles > 0.8
    assert done.cuts[-1].data_bytes == N
    assert done.branches == ()
    assert done.not_followed == ()
    if done.board != "msp432p401r-launchpad":  # there the key is loaded ahead of the mixing
        # Each byte that is carried saves the same: what is paid once is saved with the last.
        saved = {cut.data_bytes: cut.saved_cycles for cut in done.cuts}
        assert saved[24] - saved[16] == pytest.approx(saved[16] - saved[8], rel=0.01)
        assert 0.35 < saved[16] / saved[N] < 0.5


def test_of_a_chain_from_the_message_on_nothing_goes_ahead(analyze: Analyze) -> None:
    done = analyze("chain")
    assert done.share_cycles < 0.05
    assert max(part.dependent_cycles for part in done.functions) > done.cycles / 4


def test_of_a_fixed_prefix_the_state_is_carried(analyze: Analyze) -> None:
    done = analyze("fixed_prefix")
    assert done.share_cycles == pytest.approx(0.8, abs=0.02)
    # A byte, in a register or two.
    assert 1 <= done.cuts[-1].data_bytes <= 8


def test_what_is_found_at_a_place_that_depends_on_the_input_depends_on_it(analyze: Analyze) -> None:
    done = analyze("look_up")
    assert done.share_cycles < 0.1
    assert done.cuts[-1].data_bytes <= 2


def test_cycles_and_joules_add_up(analyze: Analyze) -> None:
    done = analyze("fixed_prefix")
    sums = [sum(getattr(p, f"{k}_cycles") for p in done.functions) for k in ("independent", "frame", "dependent")]
    assert sum(sums) == done.cycles
    assert sums[0] == pytest.approx(done.share_cycles * done.cycles)
    assert done.cuts[-1].saved_cycles == sums[0]
    bytes_, saved = [c.bytes for c in done.cuts], [c.saved_cycles for c in done.cuts]
    assert bytes_ == sorted(set(bytes_)) and saved == sorted(set(saved))
    assert done.cuts[-1].saved_j == pytest.approx(done.share_j * done.energy_j)


def test_runs_that_go_other_ways_are_joined_to_what_holds_in_each(analyze: Analyze, tmp_path: Path) -> None:
    """Work that only an odd message wants is independent in that run, and no coupon for any message can count on it."""
    odd, even = tmp_path / "odd.txt", tmp_path / "even.txt"
    odd.write_text(f'message = "{"01" * N}"\n')
    even.write_text(f'message = "{"02" * N}"\n')
    one, other = (analyze("by_turns", given=[file]) for file in (odd, even))
    both = analyze("by_turns", given=[odd, even])
    assert (one.runs, both.runs) == (1, 2)
    # 4 N steps of the header always, N of the key with one of them.
    assert one.share_cycles * one.cycles == pytest.approx(5 / 4 * other.share_cycles * other.cycles, rel=0.03)
    assert both.cycles == one.cycles > other.cycles
    assert both.share_cycles * both.cycles == pytest.approx(other.share_cycles * other.cycles, rel=0.01)
    assert sum(p.independent_cycles + p.frame_cycles + p.dependent_cycles for p in both.functions) == both.cycles
    assert {at for at, _ in both.branches} == {at for run in (one, other) for at, _ in run.branches} != set()
    most = both.cuts[-1]
    assert 0.9 < most.saved_cycles / (both.share_cycles * both.cycles) <= 1
    assert most.bytes <= most.bytes_most
    # Alone, the odd run offers work that the even one never does.
    assert one.cuts[-1].saved_cycles > 1.2 * most.saved_cycles


def test_drawn_inputs_join_to_the_run_itself_where_none_decides_anything(analyze: Analyze, tmp_path: Path) -> None:
    alone, many = analyze("one_time_pad"), analyze("one_time_pad", runs=4, seed=3)
    assert (many.runs, many.cuts, many.functions) == (4, alone.cuts, alone.functions)
    given = tmp_path / "even.txt"
    given.write_text(f'message = "{"02" * N}"\n')
    # Of seven drawn ones some are odd.
    even, turns = analyze("by_turns", given=given), analyze("by_turns", given=given, runs=8)
    assert turns.cycles > even.cycles
    assert turns.share_cycles * turns.cycles == pytest.approx(even.share_cycles * even.cycles, rel=0.01)
    with pytest.raises(SunsealError, match="a run each"):
        analyze("by_turns", given=[Path("a"), Path("b")], runs=2)


def test_what_cannot_be_answered_is_a_sentence(analyze: Analyze, built: tuple[str, Path]) -> None:
    for inputs, words in [
        (["unread"], "never reads unread"),
        (["message+30:4"], "which has 32 bytes"),
        (["0x10"], "needs its size"),
    ]:
        with pytest.raises(SunsealError, match=words.replace("+", r"\+")):
            analyze("chain", *inputs)
    with pytest.raises(SunsealError, match="not called 2 times"):
        analyze("chain", "message", call=2)
    if built[0] in ("telosb", "msp430fr5994-launchpad"):  # whose start-up jumps to it, with nothing on the stack
        with pytest.raises(SunsealError, match="`main` was entered without a call"):
            analyze("main")


@pytest.mark.parametrize(
    ("isa", "register", "told"),
    [("msp430x", 0x500, "dma"), ("cortex-m4", 0x4000E000, "dma"), ("cortex-m4", 0x42000000, "bit-band")],
)
def test_what_is_not_followed_is_named(
    isa: str, register: int, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = next(s for s in matrix.SETS if s.name == isa)
    compiler = next(c for c in matrix.compilers(target) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
    elf = matrix.build(SOURCE, target, compiler, "-O1", tmp_path, [f"-DDMA_REGISTER={register:#x}"])
    args = [
        "coupon",
        "analyze",
        str(elf),
        "--board",
        target.board,
        "--function",
        "by_dma",
        "--runtime-input",
        "message",
    ]
    assert run([*args, "--json"]) == 3
    printed = capsys.readouterr().out
    assert (json.loads(printed)["not_followed"], wrong_output(printed)) == ([told], [])


@pytest.fixture(scope="module")
def library(firmware: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of one's own that calls the library, on the FR5994."""
    isa = next(s for s in matrix.SETS if s.name == "msp430x")
    compiler = next(c for c in matrix.compilers(isa) if isinstance(c, matrix.Compiler) and "clang 19" in str(c))
    home, elf = boards.home() / "firmware", tmp_path_factory.mktemp("library") / "library.elf"
    source = SOURCE.with_name("precomputable_library.c")
    flags = ["-std=gnu11", "-ffreestanding", "-ffunction-sections", "-O2"]
    flags += [f"-I{home / where}/include" for where in ("crypto", "runtime")]
    subprocess.run([compiler.program, *isa.clang, *flags, "-c", str(source), "-o", f"{elf}.o"], check=True)
    crypto = sorted((home / "build/obj/msp430fr5994/mpy-32").glob("crypto/**/*.o"))
    runtime = sorted((home / "build/obj" / isa.runtime).glob("*.o"))
    linker = Path(compiler.program).with_name("ld.lld")
    command = [linker, "-T", str(isa.script), "--gc-sections", "-o", elf, f"{elf}.o", *runtime]
    subprocess.run([*map(str, command), "--start-lib", *map(str, crypto), "--end-lib"], check=True, cwd=home)
    return elf


@pytest.mark.parametrize(
    ("function", "bytes_", "share", "carries", "saves"),
    [
        # Ten round keys of 16 bytes; the first is the key itself, which was there before.
        ("cbc", 64, (0.05, 0.13), (160, 160), 0.05),
        # 1/k, r, and r as the multiplier takes it: fewer bytes would leave an operand behind.
        ("ecdsa", 32, (0.99, 1.0), (96, 104), 0.99),
        # The state; a length and a count beside it.
        ("prefixed", 64, (0.6, 0.7), (32, 60), 0.6),
    ],
)
def test_of_cbc_the_key_schedule_of_ecdsa_the_nonce_of_a_hash_the_prefix_goes_ahead(
    library: Path, function: str, bytes_: int, share: tuple[float, float], carries: tuple[int, int], saves: float
) -> None:
    board = "msp430fr5994-launchpad"
    done = precomputable.analyze(library, function, [f"message:{bytes_}"], board=board, output=["result"])
    assert share[0] < done.share_cycles < share[1]
    assert done.branches == ()
    # The smallest coupon with which nearly all is saved.
    best = next(cut for cut in done.cuts if cut.saved_cycles > saves * done.cycles and cut.data_bytes >= carries[0])
    assert best.data_bytes <= carries[1]
    of = {part.name: part for part in done.functions}
    if function == "cbc":
        assert of["sunseal_aes128_expand"].dependent_cycles == of["sunseal_aes128_expand"].frame_cycles == 0
        rounds = of["sunseal_aes128_sbox_encrypt"]
        assert rounds.independent_cycles < 0.05 * (rounds.frame_cycles + rounds.dependent_cycles)
    many = precomputable.analyze(
        library, function, [f"message:{bytes_}"], board=board, output=["result"], runs=3, seed=2
    )
    assert (many.runs, many.cuts, many.functions) == (3, done.cuts, done.functions)


@pytest.mark.parametrize("board", ["msp430fr5994-launchpad", "msp432p401r-launchpad"])
def test_ciphers_and_hashes_of_the_library(firmware: None, board: str) -> None:
    def of(name: str, data: bytes, message: str, output: str) -> precomputable.Analysis:
        elf = next((boards.home() / "firmware/build" / board).glob(f"*/bench-{name}.elf"))
        machine = Machine(board, elf)
        machine.write("bench_input", data)
        machine.write("bench_input_len", len(data).to_bytes(2, "little"))
        function = "bench_" + name.replace("-", "_")
        return precomputable.analyze(machine, function, [message], board=board, output=[output])

    key, counter, message = bytes(range(16)), bytes(16), bytes(128)
    ctr = of("aes128-ctr-encrypt", key + counter + message, "bench_input+32:128", "bench_output:128")
    assert ctr.share_cycles > 0.75 and ctr.cuts[-1].data_bytes >= 128 and ctr.cuts[-1].data_bytes <= 136
    block = of("aes128-sbox-encrypt", key + message, "bench_input+16:128", "bench_output:128")
    assert block.share_cycles < 0.05
    hashed = of("sha256-hash", bytes(range(128)), "bench_input+64:64", "bench_output:32")
    # The first of three blocks, and what the last one, padding alone, makes of itself.
    assert 1 / 3 < hashed.share_cycles < 1 / 2


def test_the_command(built: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    board, elf = built
    args = [
        "coupon",
        "analyze",
        str(elf),
        "--board",
        board,
        "--function",
        "one_time_pad",
        "--runtime-input",
        "message:32",
    ]
    assert run([*args, "--json"]) == 0
    printed = capsys.readouterr().out
    told = json.loads(printed)
    assert wrong_output(printed) == []
    assert {"share_cycles", "share_j", "cuts", "functions"} <= set(told)
    assert {"bytes", "saved_cycles", "saved_j", "at"} <= set(told["cuts"][0])
    assert run(args) == 0
    assert "can run before its input comes" in " ".join(capsys.readouterr().out.split())
