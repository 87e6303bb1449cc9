"""The built-in scenes, and warnings about likely mistakes as the command shows them."""
import csv
import math
import pathlib
import re

import pytest

from conftest import BALL, SHORT, SINGLE, hash_of, long_test, run, talus

FOLDER = pathlib.Path(__file__).parents[2] / "scenes"
SCENES = sorted(path.stem for path in FOLDER.glob("*.yaml"))

# The ball of BALL with a density in g/cm3, and too deep in the floor.
ODD = BALL.replace("density: 2600", "density: 2.6").replace("at: [0, 0, 0.5]", "at: [0, 0, 0.05]")


def probe(folder, name):
    with open(folder / "probes" / f"{name}.csv", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def test_the_fuzzer_knows_nearly_every_key_of_a_scene():
    """The fuzzer finds a few by itself; half of them were missing once."""
    words = (FOLDER.parent / "tests/fuzz/scene.dict").read_text()
    keys = re.findall(r"^\| `([a-z_]+)`", talus("scenes", "--schema").stdout, re.M)
    missing = sorted({key for key in keys if f'"{key}: "' not in words})
    assert len(keys) > 150 and len(missing) < 20, missing


# ---- built-in scenes -----------------------------------------------------------------------------


def test_the_command_has_the_scenes_of_this_tree():
    assert [line.split()[0] for line in talus("scenes").stdout.splitlines()] == SCENES
    assert {"pour", "rain", "stack", "incline", "billiards", "periodic-shear", "hopper", "gas",
            "silo", "tank", "packing", "column-collapse", "wall", "shaker", "mixer", "floating-ball",
            "pendulum", "crank", "clock", "nozzle", "nozzle-simple", "effusion", "blowdown", "chain", "trebuchet", "vehicle", "pyramid", "domino-spiral", "dominoes", "bullet",
            "rubble", "nut", "cards", "screw"} <= set(SCENES)


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_opens_with_a_sentence_on_what_to_see(name):
    first, second = (FOLDER / f"{name}.yaml").read_text().splitlines()[:2]
    assert first.startswith("# ") and first.endswith(".") and 30 < len(first) < 110
    assert second == "talus: 1"


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_runs_without_a_word_and_so_does_its_resolved_file(name, tmp_path):
    step = re.search(r"\b(?:dt|max): ([0-9.e-]+)[,}\s]", (FOLDER / f"{name}.yaml").read_text())
    until = max(0.02, float(step[1]) if step else 0)
    done = run(name, tmp_path / "out", "--until", until, "--quiet")
    assert done.stderr == ""
    # the scene with everything filled in, which the folder has, is the same scene, for two threads too
    if SHORT or SINGLE:
        assert talus("check", tmp_path / "out/scene.yaml").returncode == 0
        return
    again = run(tmp_path / "out/scene.yaml", tmp_path / "again", "--until", until, "--quiet", "--threads", 2)
    assert hash_of(again) == hash_of(done)


@pytest.mark.parametrize("name, sizes, count", [
    ("particle-pairs", ["pairs.repeat.2.count=3"], 30),
    ("stacks", ["cubes.repeat.2.count=3", "tops.repeat.1.count=3"], 61),
    ("tower", ["bricks.repeat.1.count=2"], 34),
    ("staircase", ["stairs.repeat.1.count=2", "balls.repeat.count=2"], 18),
    ("dominoes", ["back.repeat.count=20"], 34),
    ("sheet", ["sheet.repeat.0.count=2", "sheet.repeat.1.count=5"], 10),
    ("stones-hopper", ["boulders.count=2", "stones.count=3", "grains.count=4"], 10),
])
def test_scenes_have_any_size(name, sizes, count):
    text = (FOLDER / f"{name}.yaml").read_text()
    assert all(f"--set bodies.{size.split('=')[0]}=" in text.replace(".fill.", ".") for size in sizes[:1])
    shown = talus("check", name, *(f"--set=bodies.{size}" for size in sizes)).stdout
    assert re.search(rf"^  bodies +{count}: ", shown, re.M), shown


@long_test
def test_the_last_domino_falls(tmp_path):
    out = tmp_path / "out"
    run("domino-spiral", out, "--until", "4.5", "--quiet")
    standing = [row["count"] for row in probe(out, "standing")]
    assert standing[0] > 79 and standing[-1] == 0


@long_test
def test_the_truck_empties_its_box(tmp_path):
    """A smaller load: none of it leaves before the box is steep, none stays, none is below the ground."""
    out = tmp_path / "out"
    few = [f"--set=bodies.{fill}.fill.count=15" for fill in (12, 13, 14)]
    run("rubble", out, *few, "--until", "7.5", "--quiet")
    load = [row["count"] for row in probe(out, "load")]
    assert load[1] == pytest.approx(45) and load[-1] == 0


@long_test
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


@long_test
def test_the_silo_runs_out_at_a_steady_rate(tmp_path):
    """1500 grains instead of 4000: they go through the hole and nowhere else."""
    out = tmp_path / "out"
    run("silo", out, "--set", "bodies.5.fill.count=1500", "--set",
        "bodies.5.fill.in={box: [[-0.075, -0.075, 0], [0.075, 0.075, 0.16]]}", "--until", "0.6", "--quiet")
    inside = [row["count"] for row in probe(out, "inside")]
    assert inside[0] == pytest.approx(1500, abs=40) and inside[-1] < 1100
    rows = probe(out, "outlet")
    flow = [-row["mass_flow_z"] for row in rows if row["from"] > 0.19]
    assert min(flow) > 0.6 and max(flow) < 2 * min(flow)
    fallen = sum(-row["mass_flow_z"] * (row["to"] - row["from"]) for row in rows)
    mass = 2500 * 4 / 3 * 3.14159265 * 0.005**3 * 1.01  # E[s^3] of 0.9 ... 1.1 is 1.01
    assert fallen == pytest.approx((1500 - inside[-1]) * mass, rel=0.15)


@long_test
def test_the_tank_holds_until_its_gate_opens(tmp_path):
    out = tmp_path / "out"
    run("tank", out, "--set", "emit.0.rate=500", "--until", "1.6", "--quiet")
    flow = probe(out, "outlet")
    assert all(row["mass_flow_z"] == 0 for row in flow if row["to"] < 0.99)
    assert sum(row["mass_flow_z"] for row in flow if row["from"] > 1.09) < -1
    inside = {round(row["to"], 2): row["count"] for row in probe(out, "inside")}
    assert inside[1.0] == pytest.approx(400, abs=1) and inside[1.6] < 350


@long_test
def test_the_packing_is_random_and_close(tmp_path):
    """1000 grains in a bin of half the width, the fraction taken in its middle: 0.54 to 0.56, by seed."""
    out = tmp_path / "out"
    run("packing", out, "--set", "bodies.1.fill.count=1000", "--set", "shapes.bin.container=[0.17, 0.17, 0.7]",
        "--set", "shapes.lid.box=[0.165, 0.165, 0.03]", "--set", "bodies.2.mass=1",
        "--set", "bodies.1.fill.in={box: [[-0.085, -0.085, 0], [0.085, 0.085, 0.6]]}",
        "--set", "probes.0.region={box: [[-0.055, -0.055, 0.05], [0.055, 0.055, 0.15]]}", "--until", "0.5", "--quiet")
    count = probe(out, "core")[-1]["count"]
    assert 0.52 < count * 4.18879e-6 / (0.11 * 0.11 * 0.1) < 0.66


@long_test
def test_the_column_collapses_and_comes_to_rest(tmp_path):
    """400 grains in a column of half the width."""
    out = tmp_path / "out"
    run("column-collapse", out, "--set", "shapes.walls.container=[0.1, 0.1, 1.5]", "--set", "bodies.3.fill.count=400",
        "--set", "bodies.3.fill.in={box: [[-0.05, -0.05, 0.016], [0.05, 0.05, 0.7]]}",
        "--set", "probes.0.region={box: [[-0.05, -0.05, 0], [0.05, 0.05, 1]]}", "--until", "1.6", "--quiet")
    standing = {round(row["to"], 2): row for row in probe(out, "column")}
    assert standing[0.48]["count"] > 399 and standing[1.6]["count"] < 250
    rows = probe(out, "all")
    assert max(row["energy"] for row in rows) > 0.1 and rows[-1]["energy"] < 1e-3  # J, of 2 kg
    assert rows[-1]["count"] > 380  # few roll off the bed


@long_test
def test_the_wall_stands_until_it_is_hit(tmp_path):
    out = tmp_path / "out"
    run("wall", out, "--until", "0.7", "--quiet")
    rows = probe(out, "wall")
    standing = [row for row in rows if row["to"] < 0.245]
    assert all(row["count"] == pytest.approx(52) for row in standing)
    assert max(row["energy"] for row in standing) < 1e-2  # J, of 146 kg
    assert max(row["energy"] for row in rows) > 20 and rows[-1]["count"] < 40


def bodies_at(folder, which):
    """(place, radius, material, id) of every body of a frame."""
    vtk_hdf = pytest.importorskip("vtkmodules.vtkIOHDF", reason="VTK (python3-vtk9) is not installed")
    reader = vtk_hdf.vtkHDFReader()
    reader.SetFileName(str(sorted((folder / "frames").glob("*.hdf"))[which]))
    reader.Update()
    grid = reader.GetOutput()
    columns = [grid.GetPointData().GetArray(name) for name in ("radius", "material", "id")]
    return [(grid.GetPoint(i), *(column.GetValue(i) for column in columns)) for i in range(grid.GetNumberOfPoints())]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


@long_test
def test_the_shaker_brings_large_balls_up(tmp_path):
    """250 small balls and 3 large ones in a narrower box, shaken for 3 seconds; at 0.8 g they stay down."""
    small = ["--set", "shapes.box.container=[0.1, 0.1, 0.6]", "--set", "bodies.1.fill.count=3", "--set",
             "bodies.1.fill.in={box: [[-0.05, -0.05, 0], [0.05, 0.05, 0.05]]}", "--set", "bodies.2.fill.count=250",
             "--set", "bodies.2.fill.in={box: [[-0.05, -0.05, 0], [0.05, 0.05, 0.3]]}", "--until", "4", "--quiet"]
    rise = []
    for i, amplitude in enumerate((0.03, 0.008)):
        out = tmp_path / f"out{i}"
        run("shaker", out, *small, "--set", f"bodies.0.motion.amplitude=[0, 0, {amplitude}]",
            "--set", "bodies.0.motion.until=3.6")
        frame = bodies_at(out, -1)
        large = mean(place[2] for place, radius, *_ in frame if 0.015 < radius < 0.05)
        rise.append(large - mean(place[2] for place, radius, *_ in frame if radius < 0.015))
    assert rise[0] > 0.015 and rise[1] < -0.005


@long_test
def test_the_mixer_mixes_and_loses_no_grain(tmp_path):
    """Grains of twice the size, 70 of each kind."""
    out = tmp_path / "out"
    run("mixer", out, "--set", "shapes.grain.sphere=0.02", "--set", "bodies.20.fill.count=70", "--set",
        "bodies.21.fill.count=70", "--until", "6", "--quiet")
    assert all(row["count"] == pytest.approx(140) for row in probe(out, "inside"))
    apart = []
    for which in (12, -1):
        frame = [(place, material) for place, radius, material, _ in bodies_at(out, which) if radius < 0.05]
        apart.append(abs(mean(p[0] for p, m in frame if m == 0) - mean(p[0] for p, m in frame if m == 1)))
    assert apart[0] > 0.1 and apart[1] < 0.07
    # The drum itself: after 5.5 s at 2.5 rad/s the first stave stands where it should.
    stave = next(place for place, *_, uid in bodies_at(out, -1) if uid == 3)
    assert stave[0] == pytest.approx(0.26 * math.sin(2.5 * 5.5), abs=1e-9)
    assert stave[2] == pytest.approx(0.26 * math.cos(2.5 * 5.5), abs=1e-9)


@long_test
def test_the_light_ball_floats_and_the_heavy_one_sinks(tmp_path):
    out = tmp_path / "out"
    run("floating-ball", out, "--set", "shapes.tank.container=[0.3, 0.16, 1]", "--set", "bodies.3.fill.count=900",
        "--set", "bodies.3.fill.in={box: [[-0.15, -0.08, 0], [0.15, 0.08, 0.4]]}", "--until", "3", "--quiet")
    heights = {uid: place[2] for place, _, _, uid in bodies_at(out, -1)}
    top = sorted(z for uid, z in heights.items() if uid > 3)[-20]
    assert heights[2] > top and heights[3] < 0.7 * top


def test_the_trebuchet_says_when_its_sling_lets_go(tmp_path):
    out = tmp_path / "out"
    done = run("trebuchet", out, "--until", "1.3", "--quiet")
    assert "event: joint 'sling' broke at t = 1.2" in done.stderr
    pull = [math.hypot(row["fx"], row["fz"]) for row in probe(out, "sling")]
    assert 1000 < max(pull) < 1101 and pull[-1] == 0
    with open(out / "history.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["joints_broken"], rows[-1]["joints_broken"]) == ("0", "1")


@long_test
def test_the_vehicle_drives_with_its_motors(tmp_path):
    """60 pebbles instead of 1200; the test of physics says where it goes."""
    out = tmp_path / "out"
    run("vehicle", out, "--set", "bodies.1.fill.count=60", "--until", "0.4", "--quiet")
    left, right = probe(out, "left-motor"), probe(out, "right-motor")
    assert all(abs(row["ty"]) < 501 for row in left + right)  # its cap
    assert max(row["ty"] for row in left) > 200 and max(row["ty"] for row in right) > 200


def test_a_fill_can_be_fixed(tmp_path):
    scene = tmp_path / "bed.yaml"
    scene.write_text(BALL.replace("  - {name: ball", "  - fill: {shape: ball, count: 5, fixed: true, "
                                  "in: {box: [[-1, -1, 1], [1, 1, 3]]}}\n  - {name: ball"))
    done = talus("check", scene)
    assert "7: 1 free, 6 fixed" in done.stdout and done.stderr == ""


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
