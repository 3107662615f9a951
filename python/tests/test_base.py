# SPDX-License-Identifier: MIT OR Apache-2.0
"""The base station: a file's blocks over serial port and air to a node that encrypts them, and back."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from sunseal.catalog import boards
from sunseal.cli.app import run
from sunseal.errors import SunsealError
from sunseal.papers import base, hdlc
from sunseal.papers.base import BASE, NODE, Message, Station, Text, Type

KEY = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
# SP 800-38A, F.1.1: the first two blocks and their ciphertexts; then flags and escapes of the serial line.
BLOCKS = bytes.fromhex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
CIPHERTEXTS = bytes.fromhex("3ad77bb40d7a3660a89ecaf32466ef97f5d3d58503b9699de785895a96fdbaaf")
ESCAPES = bytes.fromhex("7e7d") * 8


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "blocks.txt"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_blocks_come_back_encrypted_as_the_standard_has_them() -> None:
    sent = Station().send(Text(KEY, BLOCKS + ESCAPES))
    assert sent.result[:32] == CIPHERTEXTS
    assert sent.valid
    # Two segments of key, six of data, as many results, each typed or acknowledged once.
    assert (sent.packets, sent.retries) == (14, 0)
    assert 0 < sent.encrypting_s < sent.time_s


@pytest.mark.parametrize("cipher", ["xtea", "present128"])
def test_other_ciphers_agree_with_their_vectors(cipher: str) -> None:
    vectors = boards.home() / "data" / "vectors"
    name, key = ("xtea", "xtea") if cipher == "xtea" else ("present", "present128")
    row = json.loads((vectors / f"{name}.json").read_text())[key][-1]
    data = bytes.fromhex(row["plaintext"])
    sent = Station(cipher).send(Text(bytes.fromhex(row["key"]), data))
    assert sent.result.hex() == row["ciphertext"]
    assert sent.valid


def test_whole_buffer_is_encrypted() -> None:
    place = Station("xtea")
    data = bytes(i * 7 % 256 for i in range(place.buffer_bytes))
    assert place.send(Text(KEY, data)).valid


def test_lost_frames_are_survived_by_more_tries_the_same_for_the_same_seed() -> None:
    def played(seed: int) -> tuple[int, int, bytes]:
        sent = Station(seed=seed, frame_loss=0.3).send(Text(KEY, BLOCKS))
        assert sent.valid
        return sent.retries, sent.packets, sent.result

    assert played(1) == played(1)
    assert played(1)[0] > 0
    assert len({played(seed)[:2] for seed in range(1, 5)}) > 1


def test_dead_node_ends_after_ten_more_tries() -> None:
    place = Station(distance_m=5000)
    with pytest.raises(base.NoAnswerError, match="node does not answer: segment 1 of the key was sent 11 times"):
        place.send(Text(KEY, BLOCKS))
    assert (place.packets, place.retries) == (11, 10)


def test_node_that_dies_on_the_way_is_told() -> None:
    place = Station()
    for sequence in (1, 0):
        assert place.deliver(Type.KEY, sequence, KEY[8 * sequence :][:8]) is None
    place.air.place(place.node, 5000, 0)
    with pytest.raises(base.NoAnswerError, match="segment 3 of the data was sent 11 times"):
        place.deliver(Type.DATA, 3, BLOCKS[:8])


def test_dead_base_station_is_told_apart() -> None:
    place = Station()
    place.station.power_cut()
    with pytest.raises(base.NoAnswerError, match="base station does not answer on its serial port"):
        place.send(Text(KEY, BLOCKS))


def refusal(place: Station, kind: Type, sequence: int, body: bytes) -> str:
    with pytest.raises(base.NoAnswerError) as found:
        place.deliver(kind, sequence, body)
    return str(found.value)


def test_node_itself_refuses_what_it_cannot_hold() -> None:
    place = Station()
    # The first segment beyond the buffer, and the last number there is.
    assert "no key came before the data" in refusal(place, Type.DATA, 1, bytes(8))
    assert "takes a key of 16 bytes" in refusal(place, Type.KEY, 2, bytes(8))
    assert "takes a key of 16 bytes" in refusal(place, Type.KEY, 0, bytes(8))
    assert "takes a key of 16 bytes" in refusal(place, Type.KEY, 1, bytes(7))
    for sequence in (1, 0):
        assert place.deliver(Type.KEY, sequence, KEY[8 * sequence :][:8]) is None
    before = place.node.read("buffer"), place.node.read("key")
    for sequence in (128, 255):
        assert "longer than its buffer of 128 segments" in refusal(place, Type.DATA, sequence, bytes([7] * 8))
    assert "no whole number of blocks of 16 bytes" in refusal(place, Type.DATA, 2, bytes(8))
    assert "no whole number of blocks of 16 bytes" in refusal(place, Type.DATA, 1, bytes(5))
    assert (place.node.read("buffer"), place.node.read("key")) == before
    # It goes on as if nothing had been.
    assert place.send(Text(KEY, BLOCKS)).result == CIPHERTEXTS


def test_message_cut_short_leaves_nothing_behind() -> None:
    place = Station()
    for sequence in (1, 0):
        place.deliver(Type.KEY, sequence, bytes(8))
    place.deliver(Type.DATA, 9, bytes(8))
    place.deliver(Type.DATA, 8, bytes(8))
    sent = place.send(Text(KEY, BLOCKS * 2))
    assert sent.result == CIPHERTEXTS * 2


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_seed_that_no_air_takes_is_told(seed: int) -> None:
    with pytest.raises(SunsealError, match=f"seed is {seed}; a whole number from 0 to 2\\^64 - 1 is wanted"):
        Station(seed=seed)


@pytest.mark.parametrize(
    "packet",
    [
        "7E 44 00 FF 9D DF 7E",
        "7E 44 00 0E 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 3B 8B 7E",
        "7E 44 00 0E 7D 5E 7D 5E 7D 5E ED B9 7E",
        "7E 44 00 0E 7D 5D 7D 5E 33 62 7E",
    ],
)
def test_framing_is_that_of_tinyos(packet: str) -> None:
    """The packets are printed in proactivity-lab's page on TinyOS's serial protocol, "Acknowledged packets"."""
    line = bytes.fromhex(packet)
    reader = hdlc.Reader()
    (whole,) = [found for byte in line if (found := reader.take(byte)) is not None]
    assert hdlc.frame(whole) == line


def acks(place: Station, line: bytes) -> list[bytes]:
    place.type_in(line)
    return [p for p in place.packets_in(len(line) * 10 / base.BAUD + 0.02) if p[0] == hdlc.ACK]


def test_station_acknowledges_whole_packets_alone() -> None:
    place = Station()

    def packet(number: int) -> bytes:
        body = Message(NODE, BASE, Type.DATA, 0x7E, ESCAPES[:8]).pack()
        return hdlc.frame(bytes([hdlc.PACKET_ACK, number, hdlc.DISPATCH_MESSAGE]) + body)

    assert acks(place, packet(5)) == [bytes([hdlc.ACK, 5])]
    whole = bytearray(packet(6))
    for broken in (
        whole[:7] + bytes([whole[7] ^ 1]) + whole[8:],
        whole[:9] + whole[10:],
        b"\x7d".join([whole[:-1], b"\x7e"]),
    ):
        assert acks(place, bytes(broken)) == []
    assert acks(place, b"\x55" * 300 + hdlc.frame(b"\x44\x07\x00" + bytes(60))) == []
    assert acks(place, hdlc.frame(b"\x44") + hdlc.frame(b"\x44\x08") + hdlc.frame(b"\x99\x08\x00" + bytes(9))) == []
    assert acks(place, packet(9)) == [bytes([hdlc.ACK, 9])]


def test_packet_typed_while_the_station_sends_waits_for_its_end() -> None:
    place = Station()
    bodies = ESCAPES[:8], BLOCKS[:8]
    for number, body in enumerate(bodies):
        message = Message(NODE, BASE, Type.DATA, number, body)
        place.type_in(hdlc.frame(bytes([hdlc.PACKET_ACK, number, hdlc.DISPATCH_MESSAGE]) + message.pack()))
        # The line's ACK comes before the packet is sent; the next one is whole before that has ended.
        while not (place.packets_in(0.0005)):
            assert place.station.time_s < 0.2
    place.air.run(0.05)
    sent = [frame.data for frame in place.air.frames() if frame.sender is place.station]
    assert len(sent) == 2 and all(body in frame for body, frame in zip(bodies, sent, strict=True))


K = KEY.hex()
B = BLOCKS[:16].hex()


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([], "has no key: its first line is the key, 32 hex digits for aes128"),
        (["", B], "has no key"),
        ([K], "has a key and no block behind it"),
        ([K[:-1], B], r"line 1 of .*, the key, has 31 hex digits, an odd number"),
        ([K[:-2], B], r"line 1 of .* is a key of 15 bytes; aes128 takes one of 16"),
        ([K, B + "a"], "line 2 of .* has 33 hex digits, an odd number"),
        ([K, B, B[:-2]], "line 3 of .* has 15 bytes; aes128 works on blocks of 16"),
        ([K, "0x" + B], "line 2 of .* has `x`, which is no hex digit"),
        ([K, *[B] * 65], "has 65 blocks of 16 bytes; the node's buffer of 1,024 bytes holds 64"),
        (["\xe9"], "is no text of hex digits: byte 0 is 0xc3"),
    ],
)
def test_wrong_files_are_told_in_a_sentence(tmp_path: Path, lines: list[str], sentence: str) -> None:
    with pytest.raises(SunsealError, match=sentence):
        base.read(written(tmp_path, *lines), "aes128", 16, 1024)


def test_spaces_and_empty_lines_behind_the_key_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, K, "", " ".join([B[:16], B[16:].upper()]), "")
    assert base.read(path, "aes128", 16, 1024) == Text(KEY, BLOCKS[:16])


def test_send_answers_with_its_exit_status(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(written(tmp_path, K, B))
    assert run(["send", path, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["result_valid"] is True
    assert told["blocks"] == [{"in": B, "out": CIPHERTEXTS[:16].hex(), "valid": True}]
    assert run(["send", path, "--distance", "5000"]) == 1
    assert "node does not answer" in capsys.readouterr().err
    for wrong, sentence in (
        (["nothing.txt"], "`nothing.txt` cannot be read"),
        ([path, "--cipher", "des"], "unknown cipher `des`"),
        ([path, "--board", "telosb"], "telosb has no program `base-node-aes128`; these boards have: mica2"),
        ([path, "--loss", "2"], "frame_loss is 2"),
        ([path, "--distance", "0"], "distance_m is 0"),
    ):
        assert run(["send", *wrong]) == 2
        assert sentence in capsys.readouterr().err


# --- In a window -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("packet_bytes", "window"), [(8, 1), (8, 16), (48, 1), (48, 6), (40, 16)])
def test_packets_in_a_window_bring_the_same_results(packet_bytes: int, window: int) -> None:
    data = (BLOCKS + ESCAPES) * 4
    sent = Station().send(Text(KEY, data), packet_bytes, window)
    assert sent.valid and sent.result[:32] == CIPHERTEXTS
    # START; each packet once; and an ACK a burst of results.
    packets = -(-len(data) // packet_bytes)
    assert (sent.packets, sent.retries) == (1 + packets + -(-packets // window), 0)


def test_whole_buffer_in_a_window_is_encrypted() -> None:
    place = Station("xtea")
    # 21 packets and a rest of 16 bytes.
    data = bytes(i * 7 % 256 for i in range(place.buffer_bytes))
    assert place.send(Text(KEY, data), 48, 16).valid
    # Again, and by stop-and-wait behind it: nothing is left of the burst.
    assert place.send(Text(KEY, BLOCKS), 48, 16).valid
    assert place.send(Text(KEY, BLOCKS)).valid


@pytest.mark.parametrize("seed", range(1, 7))
def test_a_window_survives_losses_and_sends_again_what_is_missing_alone(seed: int) -> None:
    data = bytes(i * 11 % 256 for i in range(320))
    sent = Station(seed=seed, frame_loss=0.3).send(Text(KEY, data), 16, 5)
    assert sent.valid
    assert sent.retries > 0


def test_a_window_takes_less_of_the_node_than_stop_and_wait() -> None:
    data = BLOCKS * 4
    ways = [Station(frame_loss=0.1).send(Text(KEY, data), *way) for way in ((8, 0), (8, 8), (48, 6))]
    assert [round(w.node_j, 9) for w in ways] == sorted((round(w.node_j, 9) for w in ways), reverse=True)
    for w in ways:
        # Listening takes 7.4 mA of the CC1000 (SWRS048), sending at most 10.4 mA; the chip 8 mA awake, idle less.
        assert 3.0 * 0.0074 * w.time_s * 0.95 < w.node_radio_j < 3.0 * 0.0104 * w.time_s
        assert w.node_radio_j < w.node_j < w.node_radio_j + 3.0 * 0.009 * w.time_s


def test_node_that_dies_in_a_burst_is_told() -> None:
    place = Station()
    place.air.place(place.node, 5000, 0)
    with pytest.raises(base.NoAnswerError, match="segment 0 of the start was sent 11 times"):
        place.send(Text(KEY, BLOCKS), 16, 2)
    place = Station()
    started = len(BLOCKS).to_bytes(2) + bytes([16, 2]) + KEY
    assert place.deliver(Type.START, 0, started) is None
    place.air.place(place.node, 5000, 0)
    with pytest.raises(base.NoAnswerError, match="node does not answer: packet 1 of the data was sent 11 times"):
        place._deliver_in_bursts([BLOCKS[:16], BLOCKS[16:]], 2)
    place = Station()
    assert place.deliver(Type.START, 0, started) is None
    place.station.power_cut()
    with pytest.raises(base.NoAnswerError, match="base station does not answer on its serial port: packet 0"):
        place._deliver_in_bursts([BLOCKS[:16], BLOCKS[16:]], 2)


def test_node_itself_refuses_a_burst_that_it_cannot_take() -> None:
    place = Station()
    assert "no start came before the burst" in refusal(place, Type.DATA_ENDS, 0, bytes(8))
    for size, packet_bytes, window, sentence in (
        (1040, 16, 4, "longer than its buffer of 128 segments"),
        (0, 16, 4, "no whole number of blocks of 16 bytes"),
        (24, 16, 4, "no whole number of blocks of 16 bytes"),
        (32, 0, 4, "packets of 8 to 48 bytes in eights, and windows of 1 to 16"),
        (32, 12, 4, "packets of 8 to 48 bytes in eights"),
        (32, 56, 4, "packets of 8 to 48 bytes in eights"),
        (32, 16, 0, "windows of 1 to 16"),
        (32, 16, 17, "windows of 1 to 16"),
    ):
        assert sentence in refusal(place, Type.START, 0, size.to_bytes(2) + bytes([packet_bytes, window]) + KEY)
    assert "takes a key of 16 bytes" in refusal(place, Type.START, 0, (32).to_bytes(2) + bytes([16, 2]) + KEY[:8])
    assert place.deliver(Type.START, 0, (40 * 16).to_bytes(2) + bytes([16, 2]) + KEY) is None
    before = place.node.read("buffer")
    # Beyond the data, of another length, and further ahead than any window.
    assert "packets of 8 to 16 bytes" in refusal(place, Type.DATA_ENDS, 40, bytes(16))
    assert "packets of 8 to 16 bytes" in refusal(place, Type.DATA_ENDS, 0, bytes(8))
    with pytest.raises(base.NoAnswerError):
        place.deliver(Type.DATA_ENDS, 18, bytes([7] * 16))
    assert place.node.read("buffer") == before
    assert place.send(Text(KEY, BLOCKS), 16, 2).result == CIPHERTEXTS


def test_a_window_s_ack_says_what_its_receiver_has() -> None:
    rng = random.Random(1)
    for _ in range(200):
        packets = rng.randrange(1, 40)
        there, came = set[int](), base.Window(packets)
        while not came.whole:
            packet = rng.choice(came.due(base.WINDOW_MAX))
            came.take(packet)
            there.add(packet)
            assert {p for p in range(packets) if came.has(p)} == there
            told = base.Window(packets)
            assert told.read(came.pack()) and told == came
            assert not told.read(came.pack())
        assert there == set(range(packets)) and came.due(16) == []
    assert not base.Window(3).read(bytes([4, 0, 0]))


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (("--packet", "16"), "stop-and-wait has segments of 8 bytes; more go in a window"),
        (("--packet", "56", "--window", "2"), "packets of 56 bytes: the node takes 8 to 48 bytes in eights"),
        (("--packet", "12", "--window", "2"), "packets of 12 bytes"),
        (("--window", "17"), "a window holds 1 to 16 packets"),
        (("--window", "-1"), "a window holds 1 to 16 packets"),
    ],
)
def test_wrong_packets_and_windows_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, ...], sentence: str
) -> None:
    path = str(written(tmp_path, K, B))
    assert run(["send", path, *asked]) == 2
    assert sentence in " ".join(capsys.readouterr().err.split())
