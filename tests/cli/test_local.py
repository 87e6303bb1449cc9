"""Local time from the command: lengths of steps in a file and a plot, the pace of bodies in frames and pictures."""
import csv
import json

import pytest
from conftest import SINGLE, history, run, talus

SCENE = """\
talus: 1
gravity: [0, 0, 0]
until: 0.4
step: {kind: %s, max: 0.05}
materials: {stuff: {density: 1000, friction: 0.4, restitution: 0.5}}
shapes:
  rod: {mesh: {make: cylinder, size: [0.11, 0.3], triangles: 48}}
  ball: {sphere: 0.1}
bodies:
  - {shape: rod, material: stuff, at: [0, 0, 0], velocity: [1, 0, 0], spin: [3, 1, 2]}
  - {shape: rod, material: stuff, at: [0.5, 0, 0], velocity: [-1, 0, 0]}
  - {shape: ball, material: stuff, at: [0, 3, 0], velocity: [1, 0, 0]}
  - {shape: ball, material: stuff, at: [0.45, 3, 0]}
  - {shape: ball, material: stuff, at: [0, 6, 0], velocity: [1, 0, 0]}
output: {every: 0.05}
"""


@pytest.fixture(scope="module")
def outs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    for kind in ("local", "adaptive"):
        (folder / f"{kind}.yaml").write_text(SCENE % kind)
        run(folder / f"{kind}.yaml", folder / kind)
    return folder


def table(out):
    rows = [{name: float(value) for name, value in row.items()} for row in csv.DictReader((out / "steps.csv").open())]
    assert rows[0]["length"] == 0.05 and all(b["length"] == a["length"] / 2 for a, b in zip(rows, rows[1:]))
    return {name: sum(row[name] for row in rows) for name in ("steps", "body_steps", "dropped")}


def test_lengths_of_steps_add_up_to_the_history(outs):
    last, sums = history(outs / "local")[-1], table(outs / "local")
    assert sums["steps"] == float(last["clusters"]) and sums["dropped"] == float(last["rollbacks"])
    assert 5 * 8 <= sums["body_steps"] <= float(last["body_steps"])
    sums = table(outs / "adaptive")
    assert sums["body_steps"] == 5 * sums["steps"] and sums["steps"] > 8 and sums["dropped"] == 0


def test_a_run_that_goes_on_has_the_same_table(outs, tmp_path):
    (tmp_path / "local.yaml").write_text(SCENE % "local")
    run(tmp_path / "local.yaml", tmp_path / "out", "--until", "0.2")
    run(tmp_path / "local.yaml", tmp_path / "out", "--resume")
    assert (tmp_path / "out/steps.csv").read_bytes() == (outs / "local/steps.csv").read_bytes()


def test_they_are_drawn(outs, tmp_path):
    done = talus("info", outs / "local", "--plot", "steps", "-o", tmp_path / "steps.svg")
    assert done.returncode == 0, done.stderr
    assert "log10 of the length" in (tmp_path / "steps.svg").read_text()
    assert "steps of bodies" in talus("info", outs / "adaptive", "--plot", "steps").stdout


@pytest.mark.skipif("embree" not in talus("--version").stdout.split(), reason="pictures need Embree")
def test_who_takes_short_steps_is_coloured(outs, tmp_path):
    small = ("--size", "160x120", "--samples", 1, "--bare", "-q", "--frame", 4)
    for colour in ("time", "speed"):
        done = talus("render", outs / "local", "-o", tmp_path / f"{colour}.png", "--colour", colour, *small)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "time.png").read_bytes() != (tmp_path / "speed.png").read_bytes()
    done = talus("render", outs / "adaptive", "-o", tmp_path / "a.png", "--colour", "time", *small)
    assert done.returncode == 2 and "holds no pace" in done.stderr


def test_nothing_passed_through_anything(outs):
    for kind in ("local", "adaptive"):
        done = talus("audit", outs / kind)
        assert done.returncode == 0 and "nothing passed through anything" in done.stdout, done.stdout + done.stderr


FLIGHT = """\
talus: 1
gravity: [0, 0, -9.81]
until: 0.274
step: {kind: %s, max: 0.01, min: 1e-9}
materials: {stuff: {density: 1000, friction: 0.4, restitution: 0.6}}
shapes: {ground: {plane: [0, 0, 1, 0]}, ball: {sphere: 0.05}, brick: {box: [0.1, 0.2, 0.3]}}
bodies:
  - {name: flyer, shape: brick, material: stuff, at: [5, 1, 2], velocity: [1, -2, 3], spin: [3, 1, 2]}
  - {shape: ground, material: stuff, fixed: true}
  - fill: {shape: ball, material: stuff, count: 12, in: {box: [[0, 0, 0.1], [0.5, 0.5, 0.5]]}, seed: 3, velocity: [0, 0, -3]}
output: {every: 0.0137}
"""


@pytest.mark.parametrize("kind", ["local", "adaptive"])
def test_frames_are_at_multiples_of_every_and_flights_are_parabolas_there(tmp_path, kind):
    """Others collide all the time, so that steps end anywhere; none has to end there."""
    h5py = pytest.importorskip("h5py")
    (tmp_path / "flight.yaml").write_text(FLIGHT % kind)
    run(tmp_path / "flight.yaml", tmp_path / "out")
    files = json.loads((tmp_path / "out/frames.hdf.series").read_text())["files"]
    assert len(files) == 21
    for k, entry in enumerate(files):
        t = k * 0.0137
        assert entry["time"] == pytest.approx(t, rel=1e-15, abs=0)
        with h5py.File(tmp_path / "out" / entry["name"]) as frame:
            at = frame["VTKHDF/Points"][0]
        assert at == pytest.approx([5 + t, 1 - 2 * t, 2 + 3 * t - 0.5 * 9.81 * t * t], abs=1e-5 if SINGLE else 1e-12)
    assert talus("audit", tmp_path / "out").returncode == 0


DRIVEN = """\
talus: 1
until: 1
step: {kind: local, max: 0.02}
materials: {stuff: {density: 1000, friction: 0.4, restitution: 0.2}}
shapes: {floor: {box: [2, 2, 0.1]}, block: {box: [0.2, 0.2, 0.2]}, ball: {sphere: 0.1}}
bodies:
  - {shape: floor, material: stuff, at: [0, 0, 0], motion: {velocity: [0, 0, 1], until: 0.5}}
  - {shape: block, material: stuff, at: [0, 0, 0.2]}
  - {shape: ball, material: stuff, at: [0.5, 0, 0.171]}
  - {shape: ball, material: stuff, at: [-0.5, 0, 0.1537]}
output: {every: 0.02}
"""


def test_bodies_are_beside_a_driven_wall_in_every_frame(tmp_path):
    """Steps that went on beyond the grid were 2.5 mm within the wall in frames after it had stopped."""
    (tmp_path / "scene.yaml").write_text(DRIVEN)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    done = talus("audit", tmp_path / "out", "--frames")
    assert done.returncode == 0, done.stdout + done.stderr
