"""The built-in scenes, and warnings about likely mistakes as the command shows them."""
import csv
import pathlib

import pytest

from conftest import BALL, TALUS, run, talus

FOLDER = pathlib.Path(__file__).parents[2] / "scenes"
SCENES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

# The ball of BALL with a density in g/cm3, and too deep in the floor.
ODD = BALL.replace("density: 2600", "density: 2.6").replace("at: [0, 0, 0.5]", "at: [0, 0, 0.05]")


def probe(folder, name):
    with open(folder / "probes" / f"{name}.csv", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


# ---- built-in scenes -----------------------------------------------------------------------------


def test_the_command_has_the_scenes_of_this_tree():
    assert [line.split()[0] for line in talus("scenes").stdout.splitlines()] == SCENES
    assert {"pour", "rain", "stack", "incline", "billiards", "periodic-shear", "hopper"} <= set(SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_opens_with_a_sentence_on_what_to_see(name):
    first, second = (FOLDER / f"{name}.yaml").read_text().splitlines()[:2]
    assert first.startswith("# ") and first.endswith(".") and 30 < len(first) < 110
    assert second == "talus: 1"


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_runs_without_a_word(name, tmp_path):
    until = "0.01" if "san" in TALUS else "0.05"
    done = run(name, tmp_path / "out", "--until", until, "--quiet")
    assert done.stderr == ""


def test_the_hopper_does_not_leak(tmp_path):
    """300 beads instead of 3000: all of them end up in the tray, none beside it."""
    out = tmp_path / "out"
    run("hopper", out, "--set", "bodies.6.fill.count=300", "--set",
        "bodies.6.fill.in={box: [[-0.1, -0.1, 0.3], [0.1, 0.1, 0.36]]}", "--until", "1.2", "--quiet")
    rows = probe(out, "bin")
    assert rows[0]["count"] == pytest.approx(300) and rows[-1]["count"] == 0
    fallen = sum(-row["mass_flow_z"] * (row["to"] - row["from"]) for row in probe(out, "outlet"))
    mass = 300 * 2500 * 4 / 3 * 3.14159265 * 0.005**3 * 1.04  # E[s^3] of 0.8 ... 1.2 is 1.04
    assert fallen == pytest.approx(mass, rel=0.05)
    with open(out / "history.csv", encoding="utf-8") as file:
        assert {row["bodies"] for row in csv.DictReader(file)} == {"306"}  # none fell past the tray


# ---- warnings ------------------------------------------------------------------------------------


@pytest.fixture
def odd(tmp_path):
    path = tmp_path / "odd.yaml"
    path.write_text(ODD)
    return path


def count(text, kind):
    return text.count(f"`quiet: [{kind}]`")


def test_check_shows_each_warning_once(odd):
    done = talus("check", odd)
    assert done.returncode == 0 and "a valid scene" in done.stdout
    assert [count(done.stderr, kind) for kind in ("light-density", "overlap")] == [1, 1]
    assert done.stderr.count("talus: warning: ") == 2
    assert f"{odd}:3:30: materials.stone.density is 2.6 kg/m3" in done.stderr
    assert "\n  materials: {stone: {density: 2.6}}\n                               ^\n" in done.stderr


def test_a_run_shows_each_warning_once_and_logs_it(odd, tmp_path):
    done = run(odd, tmp_path / "out", "--quiet")
    log = (tmp_path / "out/log.txt").read_text()
    for text in (done.stderr, log):
        assert [count(text, kind) for kind in ("light-density", "overlap")] == [1, 1]
    assert " warning " in log
    again = run(odd, tmp_path / "out", "--quiet", "--resume", "--until", "0.12")
    assert again.stderr == ""


def test_quiet_silences_what_it_names_and_a_run_may_go_on_with_it(odd, tmp_path):
    done = run(odd, tmp_path / "out", "--quiet", "--set", "quiet=[overlap]")
    assert [count(done.stderr, kind) for kind in ("light-density", "overlap")] == [1, 0]
    both = "quiet=[overlap, light-density]"
    assert talus("check", odd, "--set", both).stderr == ""
    run(odd, tmp_path / "out", "--quiet", "--resume", "--until", "0.12", "--set", both)


def test_an_unknown_warning_is_an_error(odd):
    done = talus("check", odd, "--set", "quiet=[overlaps]")
    assert done.returncode == 2 and "did you mean `overlap`?" in done.stderr
