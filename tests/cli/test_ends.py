"""Ends of runs: the files that a message names hold what it says, and a run that is refused has cut nothing."""
import json

import pytest

from conftest import BALL, contents, run, talus

# An adaptive step ends at 0.0123 s, where the motion has a row; the grid of steps is 0.02 s.
BETWEEN = """\
talus: 1
until: 0.1
step: {kind: adaptive, max: 0.02}
gravity: [0, 0, 0]
domain: {box: [[-1, -1, -1], [1, 1, 1]], outside: stop}
materials: {glass: {density: 2500}}
shapes: {grain: {sphere: 0.02}, lid: {box: [0.1, 0.1, 0.02]}}
bodies:
  - {name: a, shape: grain, material: glass, at: [0.9, 0, 0], velocity: [7, 0, 0]}
  - {name: lid, shape: lid, material: glass, at: [0, 0, 0.1], motion: {table: lid.csv, along: [0, 0, 1]}}
output: {every: 0.02, fields: [velocity]}
quiet: [short-run]
"""


def test_the_last_state_between_two_steps_is_the_frame_that_is_named(tmp_path):
    (tmp_path / "lid.csv").write_text("time,displacement\n0,0\n0.0123,0\n0.1,0.1\n")
    (tmp_path / "scene.yaml").write_text(BETWEEN)
    done = run(tmp_path / "scene.yaml", tmp_path / "out", code=1)
    assert "leaves the domain" in done.stderr and done.stderr.rstrip().endswith("out/frames/000001.hdf"), done.stderr
    series = json.loads((tmp_path / "out/frames.hdf.series").read_text())["files"]
    assert [entry["time"] for entry in series] == [0, 0.0123]
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "out/frames/000001.hdf") as frame:
        assert frame["VTKHDF/Points"][0][0] == pytest.approx(0.9 + 7 * 0.0123)


def test_a_probe_between_two_steps_makes_no_frame(tmp_path):
    """Steps end at its times, and a frame is due at every step."""
    (tmp_path / "lid.csv").write_text("time,displacement\n0,0\n0.0123,0\n0.1,0.1\n")
    (tmp_path / "scene.yaml").write_text(BETWEEN.replace("velocity: [7", "velocity: [0").replace(
        "output:", "probes: [{name: push, body: lid, record: [force], every: 0.027}]\noutput:"))
    run(tmp_path / "scene.yaml", tmp_path / "out")
    series = json.loads((tmp_path / "out/frames.hdf.series").read_text())["files"]
    assert [entry["time"] for entry in series] == [0, 0.02, 0.04, 0.06, 0.08, 0.1]


@pytest.mark.parametrize("options", [("--backend", "cuda"), ("--until", 0.02), ("--set", "shapes.ball.sphere=0.2"),
                                     ("--backend", "check", "--no-fallback", "--set", "until=2")])
def test_a_run_that_is_not_gone_on_with_loses_nothing(tmp_path, options):
    """The end lies between two output times, so that its frame and lines are beyond the checkpoint."""
    (tmp_path / "ball.yaml").write_text(BALL + "sleep: {speed: 0.01, time: 0.1}\n")  # which no device knows
    run(tmp_path / "ball.yaml", tmp_path / "out", "--until", 0.055)
    before, log = contents(tmp_path / "out"), (tmp_path / "out/log.txt").read_text()
    done = talus("run", tmp_path / "ball.yaml", "-o", tmp_path / "out", "--resume", *options)
    if options[-1] == "cuda" and done.returncode == 0:
        pytest.skip("there is a GPU here")
    assert done.returncode in (1, 2) and done.stderr.count("error") == 1, done.stderr
    assert contents(tmp_path / "out") == before and (tmp_path / "out/log.txt").read_text().startswith(log)
