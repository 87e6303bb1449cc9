"""Scripted motion in scene files: tables, sums, resumes without the table's file, and bad tables."""
import pytest

from conftest import assert_same_folder, history, run, talus

SCENE = """\
talus: 1
until: 0.3
materials: {rock: {}}
shapes: {grain: {sphere: 0.02}, tank: {container: [0.3, 0.3, 0.3], open: [top]}}
bodies:
  - name: tank
    shape: tank
    at: [0, 0, 0.15]
    motion:
      - {swing: [0, 0.2, 0], frequency: 4, through: [0, 0, 0]}
      - {table: way.csv, along: [0, 0, 2], interpolate: smooth, from_time: 0.05}
  - fill: {shape: grain, count: 60, in: {box: [[-0.12, -0.12, 0.03], [0.12, 0.12, 0.25]]}, seed: 3}
output: {every: 0.02, fields: [velocity, quaternion]}
"""
TABLE = "time,displacement\n0,0\n0.05,0.02\n0.1,-0.01\n0.15,0\n"


@pytest.fixture(name="shaken")
def make_shaken(tmp_path):
    (tmp_path / "way.csv").write_text(TABLE)
    scene = tmp_path / "shaken.yaml"
    scene.write_text(SCENE)
    return scene


def test_a_run_goes_on_on_a_belt_that_is_in_its_checkpoint(tmp_path):
    scene = tmp_path / "belt.yaml"
    scene.write_text("""\
talus: 1
until: 0.3
materials: {rock: {}}
bodies:
  - {shape: {plane: [0, 0, 1, 0]}, motion: {amplitude: [0, 0, 0.002], frequency: 5}, surface_velocity: [1, 0, 0], surface_spin: [0, 0, 2]}
  - fill: {shape: {box: [0.04, 0.04, 0.04]}, count: 30, in: {box: [[-0.2, -0.2, 0.02], [0.2, 0.2, 0.2]]}}
output: {every: 0.1}
""")
    run(scene, tmp_path / "whole", "--threads", 1)
    run(scene, tmp_path / "parts", "--until", 0.1, "--threads", 2)
    run(scene, tmp_path / "parts", "--resume", "--threads", 1)
    last = history(tmp_path / "whole")[-1]
    assert history(tmp_path / "parts")[-1]["state_hash"] == last["state_hash"] and float(last["px"]) > 0
    assert float(last["made_energy"]) == 0


def test_a_run_goes_on_in_the_middle_of_a_table_whose_file_is_gone(shaken, tmp_path):
    run(shaken, tmp_path / "whole", "--threads", 1)
    run(shaken, tmp_path / "parts", "--until", 0.12, "--threads", 2)
    (tmp_path / "way.csv").unlink()
    run(shaken, tmp_path / "parts", "--resume", "--threads", 1)
    assert history(tmp_path / "parts")[-1]["state_hash"] == history(tmp_path / "whole")[-1]["state_hash"]
    log = (tmp_path / "parts/log.txt").read_text()
    assert log.count("the table of its motion ended at t = 0.2 s") == 1


def test_a_table_that_changed_is_told_of_and_the_stored_copy_used(shaken, tmp_path):
    run(shaken, tmp_path / "whole")
    run(shaken, tmp_path / "parts", "--until", 0.12)
    (tmp_path / "way.csv").write_text(TABLE.replace("0.02", "0.03"))
    for until in (0.2, 0.3):  # told each time, and once
        done = run(shaken, tmp_path / "parts", "--resume", "--until", until)
        assert done.stderr.count("the run uses the copy stored with it; ") == 1
        assert "way.csv has changed since" in done.stderr
    assert history(tmp_path / "parts")[-1]["state_hash"] == history(tmp_path / "whole")[-1]["state_hash"]
    (tmp_path / "way.csv").write_text(TABLE)
    assert "has changed" not in run(shaken, tmp_path / "parts", "--resume").stderr


def test_the_resolved_scene_runs_to_the_same_end(shaken, tmp_path):
    run(shaken, tmp_path / "one")
    run(tmp_path / "one/scene.yaml", tmp_path / "two")
    assert_same_folder(tmp_path / "one", tmp_path / "two")


def test_a_run_that_takes_over_another_goes_on_with_the_motion(shaken, tmp_path):
    """Two halves by `from`: the second starts at time 0, with the motion's clock at 0.15 s."""
    run(shaken, tmp_path / "whole")
    run(shaken, tmp_path / "half", "--until", 0.15)
    (tmp_path / "second.yaml").write_text("talus: 1\nuntil: 0.15\nmaterials: {rock: {}}\nbodies:\n  - from: half/\n"
                                          "output: {every: 0.02, fields: [velocity, quaternion]}\n")
    run(tmp_path / "second.yaml", tmp_path / "second")
    first, second = (history(tmp_path / name)[-1] for name in ("whole", "second"))
    assert first["bodies"] == second["bodies"]
    assert float(first["potential_energy"]) == pytest.approx(float(second["potential_energy"]), rel=1e-3)


@pytest.mark.parametrize("table, why", [
    ("", "way.csv:1: the table is empty"),
    ("time,displacement\n0,0\n0,1\n", "way.csv:3:1: time 0 s is not after 0 s"),
    ("time,displacement\n0,zero\n", "way.csv:2:3: `zero` in column `displacement` is not a number"),
    ("time,angle\n0,0\n", "way.csv: the table has no column `displacement`, which `along` is for"),
])
def test_a_bad_table_is_refused_with_its_line(shaken, tmp_path, table, why):
    (tmp_path / "way.csv").write_text(table)
    done = talus("run", shaken, "-o", tmp_path / "out", check=False)
    assert done.returncode == 2
    assert "shaken.yaml:6:5: bodies.0" in done.stderr and why in done.stderr


def test_a_table_that_is_not_there_or_needs_an_axis_is_refused(shaken, tmp_path):
    shaken.write_text(SCENE.replace(", along: [0, 0, 2]", ""))
    done = talus("run", shaken, "-o", tmp_path / "out", check=False)
    assert done.returncode == 2 and "add `along: [x, y, z]`" in done.stderr
    (tmp_path / "way.csv").unlink()
    done = talus("run", shaken, "-o", tmp_path / "out", check=False)
    assert done.returncode != 0 and "way.csv: cannot be opened" in done.stderr
