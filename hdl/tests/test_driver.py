# SPDX-License-Identifier: MIT OR Apache-2.0
"""The driver's calls on every bus: modes that the coprocessor does itself, refusals, sleep, a bus that was cut."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import conversation
import pytest
from bench import tools_or_skip
from cryptography.hazmat.primitives.ciphers.aead import AESCCM

from sunseal import Machine
from sunseal.catalog import boards, coprocessor
from sunseal.measurement import measuring
from sunseal.papers import offload

UP5K = "mica2-fpga-up5k"
BUSES = ("parallel", "spi", "uart")
AES, XTEA = 0x00, 0x10
OK, TAG, LENGTH, NULL, NONCE_LENGTH, NO_KEY, ENGINE = 0, -5, -7, -40, -42, -45, -46
ENGINE_BYTES = 64
START_KEY_AT = 2
"""Of the driver, behind two bytes of lengths."""


@pytest.fixture(autouse=True, scope="module")
def _tools() -> None:
    with tools_or_skip():
        coprocessor.ready(UP5K, ())
        library("parallel")


def library(bus: str) -> Path:
    return boards.firmware_path(UP5K, boards.variant(("aes=fpga", f"bus={bus}"), UP5K), "library-coprocessor")


def words(*numbers: int) -> bytes:
    """Lengths and pointers; without what marks an address as one of data."""
    return b"".join((n & 0xFFFF).to_bytes(2, "little") for n in numbers)


class Driver:
    """A mote at rest whose driver's functions are called, its coprocessor on."""

    def __init__(self, bus: str, cipher: int = AES, power: str = "PB5") -> None:
        self.m = Machine(UP5K, library(bus), timing={"coprocessor.bus": bus, "coprocessor.power": power})
        self.m.run(until="main")
        self.engine = self.m.place(ENGINE_BYTES)
        self.m.call("sunseal_coprocessor_init", self.engine, cipher)
        self.boot()

    def boot(self) -> None:
        self.m.call("sunseal_coprocessor_power", 1)
        until_s, spent = self.m.time_s + 0.08, self.m.place(512)
        while self.m.time_s < until_s:
            self.m.call("sunseal_wipe", spent, 512)

    def status(self, function: str, *args: int) -> int:
        done = self.m.call(function, self.engine, *args)
        return int(done.value)

    def finish(self) -> int:
        return self.status("sunseal_coprocessor_finish")

    def place(self, data: bytes) -> int:
        return self.m.place(data or bytes(1))

    def set_key(self, key: bytes) -> int:
        start = 2 * int.from_bytes(self.m.read(self.engine + START_KEY_AT, 2), "little")
        assert int(self.m.call(start, self.engine, self.place(key)).value) == OK
        return self.finish()

    def ctr(self, counter: bytes, data: bytes) -> tuple[int, bytes]:
        """In place, with a byte behind that must stay."""
        at = self.place(data + b"\xa5")
        status = self.status("sunseal_coprocessor_start_ctr", self.place(counter), at, at, len(data))
        if status == OK:
            status = self.finish()
        assert self.m.read(at + len(data), 1) == b"\xa5"
        return status, self.m.read(at, len(data)) if data else b""

    def mac(self, *pieces: bytes) -> tuple[int, bytes]:
        table = b"".join(words(self.place(p), len(p)) for p in pieces)
        out = self.place(bytes(16))
        status = self.status("sunseal_coprocessor_start_mac", out, self.place(table), len(pieces))
        return (self.finish() if status == OK else status), self.m.read(out, 16)

    def ccm(self, verb: str, nonce: bytes, aad: bytes, data: bytes, tag: bytes) -> tuple[int, bytes, bytes]:
        header = self.place(words(self.place(nonce), len(nonce), self.place(aad), len(aad)))
        out, tag_at = self.place(bytes(len(data))), self.place(tag)
        status = self.status(
            f"sunseal_coprocessor_ccm_{verb}", header, out, self.place(data), len(data), tag_at, len(tag)
        )
        return status, self.m.read(out, len(data)) if data else b"", self.m.read(tag_at, len(tag))


@pytest.fixture(params=BUSES)
def keyed(request: pytest.FixtureRequest) -> Iterator[tuple[Driver, bytes, random.Random]]:
    rng = random.Random(request.param)
    driver, key = Driver(request.param), rng.randbytes(16)
    assert driver.set_key(key) == OK
    yield driver, key, rng


@pytest.mark.parametrize("size", [1, 15, 16, 17, 160, 777])
def test_counter_mode_takes_any_length(keyed: tuple[Driver, bytes, random.Random], size: int) -> None:
    driver, key, rng = keyed
    # The carry runs through all bytes behind the second block.
    counter, data = b"\xff" * 15 + b"\xfe", rng.randbytes(size)
    assert driver.ctr(counter, data) == (OK, conversation.aes_ctr(key, counter, data))


def test_counter_mode_fills_the_buffer_and_goes_no_further() -> None:
    driver, rng = Driver("parallel"), random.Random(1)
    key, counter, data = rng.randbytes(16), rng.randbytes(16), rng.randbytes(1024)
    assert driver.set_key(key) == OK
    assert driver.ctr(counter, data) == (OK, conversation.aes_ctr(key, counter, data))
    driver.m.release()
    driver.engine = driver.m.place(driver.m.read(driver.engine, ENGINE_BYTES))
    assert driver.ctr(counter, data + b"!") == (LENGTH, data + b"!")


def test_cbc_mac_runs_over_pieces(keyed: tuple[Driver, bytes, random.Random]) -> None:
    driver, key, rng = keyed
    pieces = [rng.randbytes(n) for n in (3, 29, 0, 64, 16)]
    text, tag = b"".join(pieces), bytes(16)
    for i in range(0, len(text), 16):
        tag = conversation.aes_ecb(key, bytes(a ^ b for a, b in zip(tag, text[i : i + 16], strict=True)))
    assert driver.mac(*pieces) == (OK, tag)
    assert driver.mac(*pieces, b"!") == (LENGTH, bytes(16))


@pytest.mark.parametrize(
    ("nonce_bytes", "aad_bytes", "size", "tag_bytes"),
    [(13, 19, 64, 16), (7, 0, 33, 4), (12, 14, 0, 8), (13, 30, 200, 10), (8, 15, 1, 16)],
)
def test_ccm_seals_and_opens_as_another_implementation(
    keyed: tuple[Driver, bytes, random.Random], nonce_bytes: int, aad_bytes: int, size: int, tag_bytes: int
) -> None:
    driver, key, rng = keyed
    nonce, aad, data = (rng.randbytes(n) for n in (nonce_bytes, aad_bytes, size))
    sealed = AESCCM(key, tag_bytes).encrypt(nonce, data, aad)
    right, tag = sealed[:size], sealed[size:]
    assert driver.ccm("seal", nonce, aad, data, bytes(tag_bytes)) == (OK, right, tag)
    assert driver.ccm("open", nonce, aad, right, tag) == (OK, data, tag)
    bit = bytes([tag[0], *tag[1:-1], tag[-1] ^ 0x80])
    assert driver.ccm("open", nonce, aad, right, bit) == (TAG, bytes(size), bit)


def test_what_the_coprocessor_cannot_take_is_refused() -> None:
    driver = Driver("parallel")
    assert driver.ctr(bytes(16), bytes(16)) == (NO_KEY, bytes(16))
    assert driver.set_key(bytes(16)) == OK
    assert driver.ctr(bytes(16), b"")[0] == LENGTH
    assert driver.status("sunseal_coprocessor_start_ctr", 0, 0x200, 0x200, 16) == NULL
    assert driver.ccm("seal", bytes(6), b"", bytes(16), bytes(16))[0] == NONCE_LENGTH
    assert driver.ccm("seal", bytes(13), bytes(100), bytes(920), bytes(16))[0] == LENGTH
    # Nothing of that reached the bus.
    assert driver.ctr(bytes(16), bytes(16)) == (OK, conversation.aes_ecb(bytes(16), bytes(16)))


@pytest.mark.parametrize("bus", BUSES)
def test_no_answer_ends_in_a_status_asleep_or_awake(bus: str) -> None:
    # Its supply hangs on a pin that nobody drives.
    driver = Driver(bus, power="PA7")
    started_s = driver.m.time_s
    assert driver.set_key(bytes(16)) == ENGINE
    # As if it had gone off behind a key: with 160 bytes the mote sleeps meanwhile.
    engine = bytearray(driver.m.read(driver.engine, ENGINE_BYTES))
    assert driver.ctr(bytes(16), bytes(16)) == (NO_KEY, bytes(16))
    engine[KEYED_AT] = 1
    driver.m.write(driver.engine, bytes(engine))
    driver.m.call("sunseal_coprocessor_power", 1)
    assert driver.ctr(bytes(16), b"\x11" * 160) == (ENGINE, bytes(160))
    assert driver.status("sunseal_coprocessor_status") == ENGINE
    assert driver.m.time_s - started_s < 2


KEYED_AT = 10
"""Of `struct sunseal_coprocessor`: driver (8), cipher, on_key, keyed."""


# On the parallel bus while it sends, while the coprocessor works, while it receives; then on the slow ones.
@pytest.mark.parametrize("cut_us", [20, 200, 400, 2000])
@pytest.mark.parametrize("bus", BUSES)
def test_next_message_starts_clean_where_a_brown_out_cut_one(bus: str, cut_us: int) -> None:
    rng = random.Random(cut_us)
    key, counter, data = rng.randbytes(16), rng.randbytes(16), rng.randbytes(160)
    elf = boards.firmware_path(UP5K, boards.variant(("aes=fpga", f"bus={bus}"), UP5K), "bench-aes128-ctr-encrypt")
    m = Machine(UP5K, elf, timing={"coprocessor.bus": bus})

    def begin() -> None:
        m.write("bench_input", key + counter + data)
        m.write("bench_input_len", (32 + len(data)).to_bytes(2, "little"))
        assert m.run(pin="PE7").kind == "pin"

    begin()
    # A message takes 480 us on the parallel bus: the longest cut is behind it there.
    assert m.run(time_s=cut_us * 1e-6).kind == ("halted" if bus == "parallel" and cut_us == 2000 else "time")
    m.power_cut()
    m.power_on()
    begin()
    assert m.run().kind == "halted"
    assert m.read("bench_status", 2) == bytes(2)
    assert m.read("bench_output", len(data)) == conversation.aes_ctr(key, counter, data)


@pytest.mark.parametrize("workload", ["aes128-ctr-encrypt", "aes128-ccm-seal"])
@pytest.mark.parametrize("bus", BUSES)
def test_modes_are_workloads(workload: str, bus: str) -> None:
    m = measuring.measure(workload, board=UP5K, variant=("aes=fpga", f"bus={bus}"))
    assert m.result_valid is True
    software = measuring.measure(workload, board=offload.MOTE)
    assert (m.energy_j < software.energy_j / 4) == (bus == "parallel")


@pytest.mark.parametrize("bus", BUSES)
def test_mote_sleeps_through_a_long_message_and_not_where_it_is_done_before(bus: str) -> None:
    elf = boards.firmware_path(UP5K, boards.variant(("aes=fpga", f"bus={bus}"), UP5K), "bench-aes128-encrypt")

    def ends(size: int) -> str:
        m = Machine(UP5K, elf, timing={"coprocessor.bus": bus})
        m.write("bench_input", bytes(16 + size))
        m.write("bench_input_len", (16 + size).to_bytes(2, "little"))
        assert m.run(pin="PE7").kind == "pin"
        return m.run("idle").kind

    # Four blocks are ready while the driver is on its way to sleep, which takes 130 cycles and more.
    # On the UART the status comes two frames later.
    assert [ends(64), ends(1024)] == ["pc" if bus == "uart" else "halted", "pc"]
    long = offload.message("aes128", 1024, UP5K, bus)
    # At 24 MHz 64 blocks take 0.6 ms.
    assert long.time_s - long.cycles / 7_372_800 > 500e-6


def test_models_may_go_in_any_order() -> None:
    # A model that went behind another's context locked a freed mutex: it hung or crashed the process.
    drivers = [Driver("parallel") for _ in range(6)]
    while drivers:
        drivers.pop()
    assert Driver("parallel").set_key(bytes(16)) == OK
