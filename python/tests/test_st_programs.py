# SPDX-License-Identifier: MIT OR Apache-2.0
"""Programs in the style of ST's examples for the STM32L476, each with the effect that RM0351's sentence gives it.

Sections of RM0351 are named beside what is computed by hand, their numbers recalled; the programs are
data/st_programs.c.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sunseal import EngineError, Machine, kit
from test_devices import Notes
from test_new import make, tools

BOARD = "nucleo-l476rg"
SOURCE = Path(__file__).parent / "data" / "st_programs.c"
CYCLE_S = 1 / 4e6


@dataclass(frozen=True)
class Effect:
    """What a program must leave in `out`, send, write to its device or show on PA5 (times between edges, in cycles)."""

    out: tuple[int, ...] = ()
    sent: bytes = b""
    edges: tuple[int, ...] = ()
    device: dict[int, int] = field(default_factory=dict)
    refused: str = ""
    lint: str = ""


EFFECTS = {
    # 11.4.4: from memory to memory while EN is set; 11.6.1: GIF, TCIF and HTIF are bits 0 to 2.
    "dma_copies_words": Effect((0x11223344, 8, 0, 0x7)),
    # 11.4.4, table "Programmable data width": bytes become words with zeros above, words become bytes by their low one.
    "dma_widens_bytes": Effect((0x44, 0x33)),
    "dma_narrows_words": Effect((0x44, 0x88)),
    # 11.6.3: without PINC the address stays. 11.6.2: CGIF clears all flags of the channel.
    "dma_fills_from_one_word": Effect((5, 0)),
    "dma_interrupts_halfway_and_at_the_end": Effect((1, 1)),
    # 11.4.3: the software priority comes first.
    "dma_serves_the_higher_priority_first": Effect((0,)),
    # 11.4.5: an error clears EN.
    "dma_into_flash_is_an_error": Effect((0, 8), lint="dma"),
    # 11.6.4: CNDTR is read-only while the channel is on.
    "dma_keeps_the_count_of_a_channel_that_is_on": Effect((8,), lint="locked"),
    "dma_sends_over_the_uart": Effect(sent=b"moved"),
    "dma_receives_from_the_uart": Effect(tuple(b"four")),
    # 31.4.4, UDE: a request at each update, every 4,000 cycles.
    "dma_of_an_update_moves_a_pin": Effect((0x20,), edges=(4000, 4000, 4000)),
    # Nobody answers: the line is pulled up.
    "dma_takes_bytes_through_the_spi": Effect((0xFF,) * 4, lint="spi"),
    "dma_for_an_audio_block": Effect(refused=r"channel 1 of DMA2 waits for request 1, which no modelled block makes"),
    # 1.5 V of 3.0 V are 2048 of 4096; 16.4.18: reading DR clears EOC, EOS stays, ADSTART ends with the sequence.
    "adc_converts_once": Effect((2048, 8, 0)),
    "adc_scans_three_channels": Effect((2048, 1024, 4095, 8)),
    # DS10198: 1.212 V; 0.76 V at 30 degrees, 2.5 mV/K, so 0.7475 V at 25; 16.4.33: a third of VBAT.
    "adc_measures_its_reference": Effect((round(1.212 / 3 * 4096),)),
    "adc_measures_the_temperature": Effect((round(0.7475 / 3 * 4096),)),
    "adc_measures_a_third_of_vbat": Effect((round(4096 / 3),)),
    "adc_of_eight_bits": Effect((128,)),
    "adc_aligns_left": Effect((0x8000,)),
    # 16.4.26: OVRMOD says whether the old or the new value stays.
    "adc_overruns": Effect((2048,)),
    "adc_overwrites": Effect((1024, 1)),
    # 16.4.28: AUTDLY begins no conversion before DR is read.
    "adc_waits_for_its_reader": Effect((0, 2048, 1024)),
    # 16.4.20: one conversion at each rising edge of TRGO, every millisecond.
    "adc_by_a_timer": Effect((5, 2048)),
    "adc_watches_a_window": Effect((0, 0x80)),
    # 16.4.16: 640.5 and 12.5 clocks a conversion; 16.4.27: in one-shot mode it ends with the last transfer.
    "adc_takes_its_time": Effect((100, 2048, 0)),
    "adc_fills_a_ring": Effect((3, 2048, 1024, 0)),
    "adc_of_a_pin_that_is_not_connected": Effect(refused=r"channel 5 of ADC1 is PA0, which is not connected"),
    "adc_without_its_regulator": Effect(refused=r"voltage regulator is off"),
    "adc_oversamples": Effect(refused=r"oversampling of the ADC is not modelled"),
    "adc_injects": Effect(refused=r"injected conversions"),
    # 39.4.9: with AUTOEND a STOP follows NBYTES; then TXE alone stands.
    "i2c_writes_and_stops": Effect((1,), device={3: 0xAB}),
    "i2c_reads_behind_a_repeated_start": Effect((5, 6, 7)),
    # A NACK is followed by a STOP.
    "i2c_of_nobody_is_not_acknowledged": Effect((0x10,)),
    "i2c_reloads": Effect(device={7: 0x77}),
    "i2c_stops_by_software": Effect((0, 0)),
    # 39.4.9: SCLL + 1 + SCLH + 1 = 36 ticks and at least 4 of synchronisation; 10 + 4 * 9 + 1 bits are 1,880 cycles.
    "i2c_by_interrupts": Effect((9, 4, 3)),
    "i2c_by_dma": Effect((0, 1, 2, 3)),
    "i2c_of_ten_bits": Effect(refused=r"addresses of ten bits"),
    # 38.3.5: an alarm is where all fields that are not masked fit; 38.4: it ends all Stop modes by line 18.
    "rtc_alarm_ends_stop_2": Effect((0x130005,)),
    "rtc_alarm_of_every_minute": Effect((0x235900, 0x000000, 0x000100)),
    "rtc_alarm_of_a_date": Effect((0x000001, 0x265201)),
    "rtc_alarm_within_a_second": Effect((0, 1, 127)),
    # 38.6.7: it is written while ALRAE is clear.
    "rtc_alarm_is_locked_while_it_is_on": Effect((0,), lint="locked"),
    "rtc_tamper": Effect(refused=r"tampers and calibration of the RTC are not modelled"),
    # 41.4.4: 256 times 32,768 Hz through 9,600 are 873.
    "lpuart_sends_by_the_crystal": Effect(sent=b"slow"),
    "lpuart_ends_stop_2": Effect(tuple(b"fo")),
    "lpuart_by_dma": Effect(sent=b"low"),
    "lpuart_of_a_rate_too_high": Effect(refused=r"LPUART_BRR must be 0x300 or more"),
    # 31.3.9: PWM mode 1 is active below CCR1.
    "tim_makes_a_pwm": Effect(edges=(3000, 1000, 3000, 1000, 3000)),
    # 31.4.7, OC1PE: the new width counts from the next update on.
    "tim_takes_a_preloaded_width_with_the_next_update": Effect(edges=(3000, 3000, 1000, 3000, 1000)),
    "tim_takes_a_width_at_once": Effect(edges=(1000, 3000, 1000, 3000, 1000)),
    # 31.3.1: with ARPE the period that runs ends as it was begun.
    "tim_takes_a_buffered_period_with_the_next_update": Effect(edges=(3000, 1000, 1000, 1000, 1000)),
    # 31.3.11: the references joined by OR and by AND.
    "tim_combines_two_channels": Effect(edges=(2000,) * 5),
    "tim_joins_two_channels_by_and": Effect(edges=(2000,) * 5),
    "tim_toggles_a_pin": Effect(edges=(2000, 2000, 2000)),
    "tim_of_one_pulse": Effect((0,), edges=(3000,)),
    "tim_captures": Effect(refused=r"input capture of the timers is not modelled"),
    "tim_as_a_slave": Effect(refused=r"slave modes and external clocks"),
    "tim_retriggers": Effect(refused=r"retriggerable and asymmetric modes"),
    # The catalogue's check value of CRC-32/MPEG-2.
    "crc_of_nine_bytes": Effect((0x0376E6E7,)),
    "crc_by_dma": Effect((0x0376E6E7,)),
    "gpio_sets_and_resets": Effect((0x20, 0)),
    "exti_by_software": Effect((2,)),
    # 4 MHz * 40 / 2; a hundred microseconds are 8,000 cycles.
    "clock_of_80_mhz": Effect((8,)),
    "lptim_counts": Effect((10,)),
    "touch_sensing": Effect(refused=r"TSC, which is not modelled"),
}


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tools(BOARD)
    folder = tmp_path_factory.mktemp("st") / "node"
    kit.write(folder, BOARD, programs=[SOURCE])
    done = make(folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "build" / "node.elf"


def test_every_program_has_an_effect() -> None:
    listed = re.findall(r"P\((\w+)\)", SOURCE.read_text())
    assert [name for name in listed if name != "name"] == list(EFFECTS)
    right = [effect for effect in EFFECTS.values() if not effect.refused]
    assert len(right) >= 40


@pytest.mark.parametrize("name", EFFECTS)
def test_a_program_has_the_effect_of_the_manuals_sentence(name: str, elf: Path) -> None:
    effect, limit_s = EFFECTS[name], 200.0 if name.startswith("rtc") else 4.0 if name.startswith("lp") else 0.05
    machine = Machine(BOARD, elf)
    machine.vcc_v = 3.0
    for channel, volts in ((1, 3.0), (5, 1.5), (6, 0.75)):
        machine.adc(channel, volts)
    device = machine.i2c(0x48, Notes(), serial="i2c1")
    machine.run("main")
    machine.write("which", list(EFFECTS).index(name).to_bytes(4, "little"))
    if name in ("dma_receives_from_the_uart", "lpuart_ends_stop_2"):
        machine.run(time_s=3.0 if name.startswith("lp") else 1e-3)
        machine.uart("lpuart1" if name.startswith("lp") else "usart2").send("four")
    if effect.refused:
        with pytest.raises(EngineError, match=effect.refused):
            machine.run(time_s=limit_s)
        return
    machine.run("sunseal_halt", time_s=limit_s)
    assert machine.pc == machine.address("sunseal_halt"), "it did not come to its end"
    out = machine.read("out")
    assert tuple(int.from_bytes(out[4 * i : 4 * i + 4], "little") for i in range(len(effect.out))) == effect.out
    assert b"".join(machine.take_uarts().values()) == effect.sent
    edges = [round(at / CYCLE_S) for at, _, pin, _ in machine.pin_log() if pin == "PA5"]
    apart = [b - a for a, b in itertools.pairwise(edges)]
    assert apart[len(apart) - len(effect.edges) :] == list(effect.edges)
    assert {at: device.memory[at] for at in effect.device} == effect.device
    lints = machine.lints()
    assert bool(lints) == bool(effect.lint), lints
