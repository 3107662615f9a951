# SPDX-License-Identifier: MIT OR Apache-2.0
"""Power of a board while it waits for its timer: the one place that every command asks.

Four parts: the chip in the state in which it waits (`waits_in` of its file), the watch crystal's oscillator where that
is counted apart, the radio in its state of least current, and the residual current of the board. These are the states
that the closed loop books for a sleeping node, at the same coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sunseal import _engine
from sunseal.catalog import boards, places
from sunseal.errors import SunsealError
from sunseal.planner import radio as radios

Ends = tuple[float, float, float]
"""A power at its typical, lowest and highest coefficient, W."""
NOTHING: Ends = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Asleep:
    """A sleeping board's powers."""

    board: str
    cpu_w: Ends
    oscillator_w: Ends
    """Power of the watch crystal, where the chip's own figure leaves it out."""
    radio_w: Ends
    residual_w: Ends | None
    """Power of the board beside chip and radio; None: nobody has measured it, and it is left out."""

    @property
    def total_w(self) -> Ends:
        """Return the sum of what is known."""
        return _sum(self.cpu_w, self.beside_w)

    @property
    def beside_w(self) -> Ends:
        """Return what goes on being drawn while the CPU computes."""
        return _sum(self.oscillator_w, self.radio_w, self.residual_w or NOTHING)

    @property
    def remark(self) -> str | None:
        """Say what is left out."""
        if self.residual_w is not None:
            return None
        return f"the residual current of {self.board} is unknown and left out: chip and radio alone are counted"

    def to_dict(self) -> dict[str, Any]:
        """Return the shape of `--json`."""
        return {
            "total_w": self.total_w[0],
            "total_low_w": self.total_w[1],
            "total_high_w": self.total_w[2],
            "cpu_w": self.cpu_w[0],
            "oscillator_w": self.oscillator_w[0],
            "radio_w": self.radio_w[0],
            "residual_w": None if self.residual_w is None else self.residual_w[0],
            "remark": self.remark,
        }


def _sum(*parts: Ends) -> Ends:
    typical, low, high = (sum(values) for values in zip(*parts, strict=True))
    return typical, low, high


@places.cached
def of_board(board: str, vcc_v: float, power: str = boards.DEFAULT_POWER, radio: str | None = None) -> Asleep:
    """Return what a board draws asleep at a supply, by the set `power` of its chip; `radio` is what it carries."""
    facts: Any = boards.board(board)
    device = str(facts["device"])
    chip_set = boards.power_set_path(power, device).stem

    def drawn_w(power_set: str, part: str, component: str, state: str) -> Ends:
        typical, low, high = _engine.state_current_a(boards.library(), power_set, part, component, state, vcc_v)
        return typical * vcc_v, low * vcc_v, high * vcc_v

    known = _components(chip_set)
    residual_w, radio_w = None, NOTHING
    if "board" in known:  # the set was measured on a whole board, its radio asleep
        if radio is not None:
            raise SunsealError(
                f"the power set {chip_set} was measured on {board} with its own radio; with {radio} take another set"
            )
        residual_w = drawn_w(chip_set, device, "board", "residual")
    elif radio is not None or "radio" in facts:
        radio_w = radios.of_board(board, radio).asleep_w(vcc_v)
    if residual_w is None and "residual" in facts["power"]:
        residual_w = drawn_w(str(facts["power"]["residual"]), board, "board", "residual")
    return Asleep(
        board=board,
        cpu_w=drawn_w(chip_set, device, "cpu", str(boards.device(device)["waits_in"])),
        oscillator_w=(drawn_w(chip_set, device, "timer_oscillator", "on") if "timer_oscillator" in known else NOTHING),
        radio_w=radio_w,
        residual_w=residual_w,
    )


def power_sets(board: str, radio: str | None = None) -> list[str]:
    """Name the sets behind radio and residual current, for citations."""
    facts: Any = boards.board(board)
    found = [radios.of_board(board, radio).power_set] if radio is not None or "radio" in facts else []
    return [*found, *([str(facts["power"]["residual"])] if "residual" in facts["power"] else [])]


def _components(power_set: str) -> set[str]:
    """Name the components that a set speaks for, those of the set it extends included."""
    facts: Any = boards.read_toml(boards.power_set_path(power_set, ""))
    found = {str(c["component"]) for c in facts.get("current", [])}
    return found | (_components(facts["set"]["extends"]) if "extends" in facts["set"] else set())
