# SPDX-License-Identifier: MIT OR Apache-2.0
"""Parts, boards and scenarios of one's own: where they are found, what they extend, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conftest import Cli, put
from sunseal import _engine
from sunseal._engine import EngineError
from sunseal.catalog import boards, part_files, places
from sunseal.errors import SunsealError
from sunseal.harvest import part_fitting
from sunseal.planner import lifetime
from sunseal.planner import plan_supplies as supplies

CAP = """name = "{name}"
title = "a capacitor of ours"

[capacitor]
capacitance_f = {f}
tolerance_rel = 0.1
esr_ohm = 1.0
v_rated_v = 5.4
leakage_uA = 8.0
source = "ours"
"""

CELL = """name = "leaky"
title = "a cell of ours"

[cell]
capacity_mAh = 30
ocv_V = [[0, 2.9], [100, 3.1]]
r_ohm = [[0, 1], [100, 1]]
self_discharge_percent_per_year = 8.0
rechargeable = false
v_end_V = 2.9
source = "ours"
"""


def cap(folder: Path, name: str, farads: float) -> Path:
    return put(folder / f"{name}.toml", CAP.format(name=name, f=farads))


def farads(name: str) -> float:
    return float(boards.part(name)["capacitor"]["capacitance_f"])


def test_a_part_that_is_not_there_is_told_by_the_nearest_three() -> None:
    """A mistake of a letter finds its part; the sentence names the command that lists all of them."""
    with pytest.raises(
        SunsealError, match=r"nearest: capxx-hw203, [^,]+, [^,]+, of [0-9]+; `sunseal parts` lists them"
    ):
        boards.part("capxx-hw230")


def test_the_nearest_folder_wins(here: Path) -> None:
    cap(here / "share/sunseal/parts", "mine", 1.0)
    assert farads("mine") == 1.0
    cap(here / "sunseal/parts", "mine", 2.0)
    assert farads("mine") == 2.0
    beside = cap(here / "elsewhere", "mine", 3.0).parent
    with places.beside(beside):
        assert farads("mine") == 3.0
        assert boards.origin(boards.part_path("mine")) == "elsewhere"
    assert farads("mine") == 2.0
    # One of the package's name stands before the package's.
    assert farads("capxx-hw203") != 7.0
    cap(here / "sunseal", "capxx-hw203", 7.0)
    assert farads("capxx-hw203") == 7.0


def test_loose_files_are_listed_by_what_they_are(here: Path) -> None:
    cap(here / "sunseal", "loose", 1.0)
    put(here / "sunseal/based.toml", 'name = "based"\nextends = "loose"\n')
    put(here / "sunseal/bare.toml", 'name = "bare"\nextends = "telosb"\nradio = "none"\n')
    put(here / "sunseal/day.toml", 'name = "day"\nboard = "telosb"\nduration_s = 1\n')
    assert {"loose", "based"} <= set(boards.names("parts")) and "bare" not in boards.names("parts")
    assert "bare" in boards.names("boards") and "day" not in boards.names("boards")


def test_a_part_extends_another(here: Path) -> None:
    put(
        here / "sunseal/parts/bigger.toml",
        'name = "bigger"\nextends = "supercap-0f47-branches"\n[capacitor]\nleakage_uA = 4.0\n',
    )
    base, own = boards.part("supercap-0f47-branches"), boards.part("bigger")
    assert own["capacitor"] == {**base["capacitor"], "leakage_uA": 4.0}
    put(
        here / "sunseal/parts/radio2.toml",
        'name = "radio2"\nextends = "cc2420"\n[radio.receiver]\nadjacent_dB = 30.0\n',
    )
    assert boards.part("radio2")["radio"]["receiver"]["alternate_dB"] == 54.0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('name = "a"\nextends = "a"\n', "extends itself: a extends a"),
        ('name = "a"\nextends = "b"\n', "extends itself: a extends b extends a"),
        ('name = "a"\nextends = "nothing"\n', 'extends "nothing", and there is no nothing.toml in '),
        ('name = "a"\nextends = 3\n', "extends is 3; it is a name in quotes"),
        ('name = "a"\nextends = "c\n', "is not valid TOML: Illegal character"),
    ],
)
def test_a_base_that_cannot_be_is_a_sentence(here: Path, sunseal: Cli, text: str, why: str) -> None:
    file = put(here / "sunseal/parts/a.toml", text)
    put(here / "sunseal/parts/b.toml", 'name = "b"\nextends = "a"\n')
    done = sunseal("part", "check", file)
    assert done.status == 2 and why in done.err and "Traceback" not in done.err, done.err
    with pytest.raises(_engine.EngineError, match=r"a\.toml"):
        boards.part("a")


def test_an_error_names_the_places_looked_in(here: Path, sunseal: Cli, scenario: Callable[..., Path]) -> None:
    (here / "sunseal").mkdir()
    file = scenario(supply='capacitor = "capxx-hw204"')
    done = sunseal("simulate", file)
    assert done.status == 2
    for place in (file.parent, here / "sunseal", boards.home() / "data/parts"):
        assert str(place) in done.err, done.err
    refused = sunseal("run", file.with_suffix(".elf"), "--board", "telosc")
    assert refused.status == 2 and "telosb" in refused.err


@pytest.fixture
def scenario(here: Path) -> Callable[..., Path]:
    """Write a scenario of a load, which needs no program."""

    def write(*, supply: str = "", board: str = "msp430fr5994-launchpad", top: str = "", name: str = "day") -> Path:
        text = f'name = "{name}"\nboard = "{board}"\nduration_s = 60\n{top}\n'
        text += f"[supply]\n{supply}\n[load]\nsteps = [{{ lasts_s = 1.0, current_a = 1e-4 }}]\n"
        return put(here / "scenarios" / f"{name}.toml", text)

    return write


def test_engine_and_python_find_the_same_part(
    here: Path, sunseal: Cli, scenario: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    supply = 'capacitor = "mine"\ninitial_v = 3.0\nv_cut_v = 1.9\nv_on_v = 2.5'
    file = scenario(supply=supply)
    drops = []
    for farads_ in (0.1, 1.0):
        cap(file.parent, "mine", farads_)
        done = sunseal("simulate", file, "--json")
        assert done.status == 0, done.err
        told = json.loads(done.out)
        drops.append(told["energy"]["stored_begin_j"])
    assert drops[1] == pytest.approx(10 * drops[0])
    # By name, from the user's folder of scenarios; the part lies in another.
    (here / "share/sunseal/scenarios").mkdir(parents=True)
    file.rename(here / "share/sunseal/scenarios/day.toml")
    (file.parent / "mine.toml").rename(put(here / "sunseal/parts/keep.toml", "").parent / "mine.toml")
    (here / "sunseal/parts/keep.toml").unlink()
    done = sunseal("simulate", "day", "--json")
    assert done.status == 0 and json.loads(done.out)["energy"]["stored_begin_j"] == pytest.approx(drops[1]), done.err
    gone = sunseal("simulate", "nights")
    assert gone.status == 2 and "share/sunseal/scenarios" in gone.err.replace("\n", ""), gone.err


def test_each_command_takes_a_board_of_one_s_own(here: Path, sunseal: Cli) -> None:
    put(here / "sunseal/boards/bare.toml", 'name = "bare"\nextends = "msp430fr5994-launchpad"\nradio = "none"\n')
    rows = json.loads(sunseal("boards", "--json").out)
    (own,) = (r for r in rows if r["board"] == "bare")
    assert own["from"] == "sunseal/boards" and "cc2500" not in own["parts"]
    assert all(r["from"] == "package" for r in rows if r["board"] != "bare")
    plain = json.loads(sunseal("measure", "aes128-encrypt", "--board", "msp430fr5994-launchpad", "--json").out)
    done = sunseal("measure", "aes128-encrypt", "--board", "bare", "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out)["cycles"] == plain["cycles"] and json.loads(done.out)["board"] == "bare"
    assert sunseal("curve", "aes128-encrypt", "--board", "bare").status == 0
    asleep = [
        json.loads(sunseal("lifetime", "aes128-encrypt", "--board", b, "--battery", "panasonic-cr2354", "--json").out)
        for b in ("msp430fr5994-launchpad", "bare")
    ]
    assert asleep[1]["sleep_w"] < asleep[0]["sleep_w"]


def test_a_radio_s_word_is_none_or_nothing(here: Path, sunseal: Cli, scenario: Callable[..., Path]) -> None:
    put(here / "sunseal/boards/odd.toml", 'name = "odd"\nextends = "telosb"\nradio = "off"\n')
    done = sunseal("part", "check", here / "sunseal/boards/odd.toml")
    assert done.status == 2 and 'radio is "off"; it is "none"' in done.err.replace("\n", " "), done.err
    # In a scenario any other word is a part.
    done = sunseal("simulate", scenario(top='radio = "off"'))
    assert done.status == 2 and "part off: there is no off.toml" in done.err.replace("\n", " "), done.err


def own_program(here: Path, radio: str, firmware: Path, board: str = "msp430fr5994-launchpad") -> Path:
    text = f'name = "own"\nboard = "{board}"\nfirmware = "{firmware}"\nduration_s = 30\n{radio}'
    text += '[supply]\ncapacitor = "capxx-hw203"\ninitial_v = 3.3\n'
    return put(here / "own.toml", text)


def test_without_a_radio_nobody_pays_for_it(here: Path, sunseal: Cli) -> None:
    board = "msp430fr5994-launchpad"
    firmware = boards.firmware_path(board, boards.variant((), board), "duty-aes128-encrypt")
    joules = []
    for radio in ("", 'radio = "none"\n'):
        done = sunseal("simulate", own_program(here, radio, firmware), "--json")
        assert done.status == 0, done.err
        joules.append(json.loads(done.out)["energy"]["by_component_j"])
    assert joules[0]["radio"] > 0 and "radio" not in joules[1]
    assert joules[1]["cpu"] == pytest.approx(joules[0]["cpu"], rel=1e-4)


def test_the_node_s_program_without_a_radio_is_refused(here: Path, sunseal: Cli) -> None:
    board = "msp430fr5994-launchpad"
    firmware = boards.firmware_path(board, boards.variant((), board), "node-p256")
    done = sunseal("simulate", own_program(here, 'radio = "none"\n', firmware))
    told = " ".join(done.err.split())
    assert done.status == 2 and 'radio is "none", and' in told and "is the node's program, which sends by it" in told


def test_a_folder_without_rights_is_a_sentence(here: Path, sunseal: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "sunseal").mkdir()

    def locked(_: Path) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", locked)
    done = sunseal("boards")
    told = " ".join(done.err.split())
    assert done.status == 2 and f"the folder `{here}/sunseal` may hold parts of your own and cannot be read" in told


# --- part new, part check --------------------------------------------------------------------


@pytest.mark.parametrize("kind", part_files.KINDS)
def test_each_template_checks(here: Path, sunseal: Cli, kind: str) -> None:
    assert sunseal("part", "new", kind, "mine").status == 0
    file = here / "sunseal/parts/mine.toml"
    done = sunseal("part", "check", file, "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["kinds"] == [kind] and told["questions"] == [f"{kind}.source is still the template's"]
    text = file.read_text()
    assert text.count("#") > 5, "each key says what it means"
    again = sunseal("part", "new", kind, "mine")
    assert again.status == 2 and "is there already" in again.err
    based = sunseal("part", "new", kind, "based", "--extends", "mine")
    assert based.status == 0 and sunseal("part", "check", here / "sunseal/parts/based.toml").status == 0, based.err
    assert json.loads(sunseal("parts", "--kind", kind, "--json").out)[-1]["kinds"] is not None
    if kind == "capacitor":
        mine, model = (boards.part(name) for name in ("mine", part_files.MODELS[kind]))
        assert mine["tolerance"] == model["tolerance"], "the lower end goes along"


def test_a_leak_far_from_its_kin_is_questioned(here: Path, sunseal: Cli) -> None:
    file = put(here / "leaky.toml", CAP.format(name="leaky", f=0.47).replace("8.0", "80000.0"))
    done = sunseal("part", "check", file)
    told = " ".join(done.out.split())
    assert done.status == 0 and "question: capacitor.leakage_uA is 80000" in told and "times above the largest" in told
    fine = put(here / "fine.toml", CAP.format(name="fine", f=0.47))
    assert json.loads(sunseal("part", "check", fine, "--json").out)["questions"] == []


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("leakage_uA", "leakage_ua", "unknown field `leakage_ua`"),
        ("8.0", '"8 uA"', "invalid type: string"),
        ("8.0", "-8.0", "leakage_uA is -8"),
        ("8.0", "nan", "capacitor.leakage_uA is NaN; a figure is a finite number"),
        ("0.47", "0.0", "capacitance_f is 0"),
        ("tolerance_rel = 0.1", "tolerance_rel = 1.0", "100% downwards it may have no capacitance at all"),
        ('name = "bad"', 'name = "good"', "it must be the file's name"),
        ("[capacitor]", "[kondensator]", "unknown field `kondensator`"),
        ('source = "ours"\n', "", "missing field `source`"),
    ],
)
def test_a_part_that_cannot_be_is_refused(here: Path, sunseal: Cli, old: str, new: str, why: str) -> None:
    file = put(here / "bad.toml", CAP.format(name="bad", f=0.47).replace(old, new))
    done = sunseal("part", "check", file)
    assert done.status == 2 and why in " ".join(done.err.split()), done.err


def test_a_plan_refuses_a_capacitor_that_may_be_none(here: Path, sunseal: Cli) -> None:
    put(here / "sunseal/parts/none.toml", CAP.format(name="none", f=0.47).replace("= 0.1", "= 1.0"))
    wanted = (boards.home() / "examples/requirements.toml").read_text(encoding="utf-8")
    put(here / "wanted.toml", wanted.replace("capacitors = [", 'capacitors = ["none", '))
    done = sunseal("plan", here / "wanted.toml")
    assert done.status == 2 and "part `none`: by its tolerance of 100% downwards" in " ".join(done.err.split())


def test_every_part_of_the_package_checks() -> None:
    for room in ("parts", "boards", "power"):
        for path in sorted((boards.home() / "data" / room).glob("*.toml")):
            assert part_files.check(path).name == path.stem


def test_a_tolerance_is_what_the_sheet_prints() -> None:
    """0/+100 % has no low end of 0.8, and -20/+80 % has one."""
    found, _ = supplies.harvested({"panels": ["ixys-slmd600h10l"]})
    ends = {s.store.part: (s.store.tolerance_low_rel, s.store.tolerance_rel) for s in found}
    assert ends["avx-scmr14d474"] == (0.0, 1.0)
    assert ends["capxx-hf-0f1"] == (0.2, 0.8)
    assert ends["capxx-hw203"] == (0.2, 0.2)


def test_a_name_that_leads_elsewhere_is_refused(here: Path, sunseal: Cli) -> None:
    for name in ("../x", "A", "a b", ""):
        assert sunseal("part", "new", "capacitor", name).status == 2
    with pytest.raises(SunsealError, match="unknown part"):
        boards.part_path("../boards/telosb")


# --- part fit --------------------------------------------------------------------------------

SPAN_S = np.linspace(0.0, 4000.0, 800)
LOAD_A = np.where((SPAN_S % 400 < 200) & (SPAN_S < 2000), 1e-3, 0.0)


def discharge(folder: Path, c_f: list[float], r_ohm: list[float], leak_ua: float, noise_v: float = 2e-4) -> Path:
    run = part_fitting.Discharge("", SPAN_S, SPAN_S, LOAD_A)
    v = part_fitting.voltages(np.array(c_f), np.array(r_ohm), leak_ua * 1e-6 / 5.4, 5.0, run)
    v = v + np.random.default_rng(7).normal(0, noise_v, len(v))
    rows = "".join(f"{t},{u},{i}\n" for t, u, i in zip(SPAN_S, v, LOAD_A, strict=True))
    return put(folder / "measured.csv", "time_s,voltage_v,current_a\n" + rows)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_fit_finds_the_capacitor_that_was_measured(here: Path, sunseal: Cli, count: int) -> None:
    c_f, r_ohm = [0.24, 0.09, 0.2][:count], [1.0, 1000.0, 5800.0][:count]
    file = discharge(here, c_f, r_ohm, 8.0)
    done = sunseal("part", "fit", file, "--rated", "5.4V", "--out", here / "fitted.toml", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    figures = {k: v["value"] for k, v in told["figures"].items()}
    assert figures["capacitance_f"] == pytest.approx(sum(c_f), rel=0.01)
    assert figures["leakage_uA"] == pytest.approx(8.0, rel=0.05)
    assert len(told["part"].get("branch", [])) == (count if count > 1 else 0)
    assert told["residual_rms"] == pytest.approx(2e-4, rel=0.1)
    assert sunseal("part", "check", here / "fitted.toml").status == 0


def test_a_fit_plays_as_the_engine_does(here: Path, sunseal: Cli) -> None:
    """The network that is fitted is the one that the closed loop plays."""
    c_f, r_ohm = [0.24, 0.09], [1.0, 1000.0]
    text = CAP.format(name="two", f=0.33).replace("8.0", "40.0")
    text += "".join(
        f"[[capacitor.branch]]\ncapacitance_f = {c}\nr_ohm = {r}\n" for c, r in zip(c_f, r_ohm, strict=True)
    )
    put(here / "two.toml", text)
    day = 'name = "d"\nboard = "msp430fr5994-launchpad"\nduration_s = 600\n[output]\npoints = 600\n'
    day += '[supply]\ncapacitor = "two"\n'
    day += 'initial_v = 3.5\nv_cut_v = 1.9\nv_on_v = 2.5\noutput = "direct"\n'
    day += "[load]\nsteps = [{ lasts_s = 600.0, current_a = 1e-4 }]\n"
    done = sunseal("simulate", put(here / "d.toml", day), "--series", here / "s.csv")
    assert done.status == 0, done.err
    played = np.genfromtxt(here / "s.csv", delimiter=",", names=True)
    time_s = np.linspace(0, 600, 601)
    run = part_fitting.Discharge("", time_s, time_s, np.full(601, 1e-4))
    ours = part_fitting.voltages(np.array(c_f), np.array(r_ohm), 40e-6 / 5.4, 3.5, run)
    # The series has the store at rest, the curve its terminal: 0.1 mV at 1 ohm.
    assert played["vcap_v"][-1] == pytest.approx(ours[-1], abs=5e-4)


def test_a_cell_that_discharges_itself_lasts_as_long_as_the_engine_plays_it(here: Path, sunseal: Cli) -> None:
    """Half of the charge lies below the cut-off, and discharges itself, too."""
    put(here / "sunseal/parts/leaky.toml", CELL)
    text = 'name = "d"\nboard = "telosb"\nradio = "none"\nduration_s = 3e8\n'
    text += '[supply]\ncell = "leaky"\noutput = "direct"\nv_cut_v = 3.0\nv_on_v = 3.02\n'
    text += "[load]\nsteps = [{ lasts_s = 86400, current_a = 1e-6 }]\n"
    done = sunseal("simulate", put(here / "d.toml", text), "--json")
    assert done.status == 0, done.err
    played_s = 86_400.0 * json.loads(done.out)["load"]["rounds"]
    use = lifetime.Use("wait", "telosb", 3.05, 1e-9, 1e-3, 0.0, 0.0, 3.05e-6, 1e6)
    asked = lifetime.Question(use, "leaky", 3.0)
    assert lifetime.of(asked).lifetime_s == pytest.approx(played_s, rel=0.005)
    # More than all of it in a year is a rate like any other; less than none is not.
    put(here / "sunseal/parts/leaky.toml", CELL.replace("= 8.0", "= 120"))
    assert 0 < lifetime.of(asked).lifetime_s < 0.4 * played_s
    put(here / "sunseal/parts/leaky.toml", CELL.replace("= 8.0", "= -5"))
    with pytest.raises(EngineError, match=r"leaky has self_discharge_per_s = -.*; it must be a number, zero or more"):
        lifetime.of(asked)


def test_a_fit_finds_the_panel_that_was_measured(here: Path, sunseal: Cli) -> None:
    x = np.array([25e-3, np.log(1e-10), np.log(5.0), 1 / 5000.0, 10 * 1.1 * 0.025693])
    v = np.linspace(0.0, 5.44, 60)
    i = part_fitting.diode_current(x, v) + np.random.default_rng(3).normal(0, 1e-5, 60)
    file = put(here / "iv.csv", "voltage_v,current_a\n" + "".join(f"{a},{b}\n" for a, b in zip(v, i, strict=True)))
    done = sunseal("part", "fit", file, "--cells", "10", "--name", "ours", "--json")
    assert done.status == 0, done.err
    told = json.loads(done.out)
    assert told["figures"]["ideality"]["value"] == pytest.approx(1.1, rel=0.05)
    assert told["part"]["i_sc_mA"] == pytest.approx(25.0, rel=0.005)
    power = v * part_fitting.diode_current(x, v)
    assert told["part"]["v_mp_v"] * told["part"]["i_mp_mA"] == pytest.approx(1e3 * power.max(), rel=0.01)
    # Half the light at another temperature tells the same panel, about.
    dim = x.copy()
    dim[0], dim[3] = x[0] / 2, x[3] / 2
    i = part_fitting.diode_current(dim, v)
    good = i > 0
    rows = "".join(f"{a},{b}\n" for a, b in zip(v[good], i[good], strict=True))
    dark = put(here / "dim.csv", "voltage_v,current_a\n" + rows)
    done = sunseal("part", "fit", dark, "--cells", "10", "--light", "500", "--json")
    assert json.loads(done.out)["part"]["v_oc_v"] == pytest.approx(told["part"]["v_oc_v"], rel=0.01)


def test_a_fit_of_another_cell_is_told_in_lux_or_refused(here: Path, sunseal: Cli) -> None:
    """Points of an AM-1417 at 200 lux, as its catalogue draws them: no crystalline cell's at 1000 W/m2."""
    v = np.linspace(0.0, 2.49, 40)
    i = 14.1e-6 * (1 - (v / 2.5) ** 5.6)
    file = put(here / "am.csv", "voltage_v,current_a\n" + "".join(f"{a},{b}\n" for a, b in zip(v, i, strict=True)))
    refused = sunseal("part", "fit", file, "--cells", "4", "--light", "0.6", "--name", "am", "--out", here / "am.toml")
    said = " ".join(refused.err.split())
    assert refused.status == 2 and "makes no panel that could be used" in said and "--lux" in said
    assert not (here / "am.toml").exists()
    out = here / "sunseal" / "parts" / "am.toml"
    out.parent.mkdir(parents=True, exist_ok=True)
    done = sunseal("part", "fit", file, "--cells", "4", "--lux", "200", "--name", "am", "--out", out)
    assert done.status == 0, done.err
    assert sunseal("part", "check", out).status == 0
    (here / "l.csv").write_text("hour,lux\n0,200\n1,500\n")
    for lux, status in (("200", 0), ("2000", 2)):
        (here / "l.csv").write_text(f"hour,lux\n0,200\n1,{lux}\n")
        used = sunseal("trace", "harvest", here / "l.csv", "--panel", "am", "--out", here / "t.csv")
        assert used.status == status, used.err
    assert "its table goes from 50 to 1000 lux" in " ".join(used.err.split())


def test_what_cannot_be_fitted_is_a_sentence(here: Path, sunseal: Cli) -> None:
    rows = [f"{t},5.0" for t in range(20)]
    for text, args, why in (
        ("a,b\n1,2\n", (), "it must be one of `time_s,voltage_v`"),
        ("time_s,voltage_v\n0,1\n", (), "a fit needs 8 or more"),
        ("time_s,voltage_v\n" + "\n".join([*rows, "19,5"]), (), "line 22: the time does not rise"),
        ("time_s,voltage_v\n" + "\n".join([*rows, "20,x"]), (), "line 22: `20,x` is not 2 numbers"),
        ("time_s,voltage_v\n" + "\n".join(rows), (), "say it by `--rated`"),
        ("time_s,voltage_v\n" + "\n".join(rows), ("--rated", "5.4V"), "give them by `--capacitance` and `--esr`"),
        ("time_s,voltage_v\n" + "\n".join(rows), ("--rated", "3V"), "rated 3 V"),
        ("voltage_v,current_a\n" + "\n".join(f"{t},1" for t in range(9)), (), "`--cells`"),
        ("voltage_v,current_a\n" + "\n".join(f"{t},1" for t in range(9)), ("--cells", "4"), "only a part of the curve"),
        ("voltage_v,current_a\n" + "\n".join(f"{t},-1" for t in range(9)), ("--cells", "4"), "gives power"),
    ):
        done = sunseal("part", "fit", put(here / "m.csv", text), *args)
        assert done.status == 2 and why in " ".join(done.err.split()), (text, done.err)


def test_folders_are_looked_at_once_a_file_that_is_worked_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[Path] = []
    readable = places._readable

    def counted(folder: Path) -> bool:
        looked.append(folder)
        return readable(folder)

    monkeypatch.setattr(places, "_readable", counted)
    with places.beside(tmp_path):
        found = [places.own_folders() for _ in range(3)]
        assert found[0][0] == tmp_path and found == [found[0]] * 3
    assert len(looked) == len(set(looked))
    assert tmp_path not in places.own_folders()
