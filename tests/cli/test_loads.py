"""Loads over time: forces, torques and motors by ramp or table, and plates that press."""
import csv
import math

import pytest

from conftest import SHORT, assert_same_folder, history, run, talus

MASS = 2600 * 4 / 3 * math.pi * 0.1**3
FLOAT = """\
talus: 1
until: 0.5
gravity: [0, 0, 0]
step: {{dt: {dt}}}
solve: {solve}
materials: {{rock: {{density: 2600, stiffness: 1e4}}}}
bodies:
  - {{name: ball, shape: {{sphere: 0.1}}, force: {force}, torque: {{ramp: [[0, 0, 0, 0], [0.5, 0, 0, 0.2]]}}}}
probes: [{{name: ball, body: ball, record: [position, velocity, spin], every: {dt}}}]
output: {{every: 0.1}}
"""
PRESS = """\
talus: 1
until: {until}
step: {{dt: {dt}}}
solve: {solve}
quiet: [soft-springs, overlap]
materials: {{rock: {{density: 2600, friction: 0.5, stiffness: 2e6}}}}
bodies:
  - {{name: floor, shape: {{plane: [0, 0, 1, 0]}}, fixed: true}}
  - {{name: cube, shape: {cube}, at: [0, 0, 0.1]}}
  - {{name: plate, shape: {{box: [0.5, 0.4, 0.02]}}, at: [0.01, 0, 0.2{above}], press: {press}}}
probes:
  - {{name: plate, body: plate, record: [force, position, velocity], every: {every}}}
  - {{name: floor, body: floor, record: [force], every: {every}}}
output: {{every: 0.02}}
"""
RIGID = {"dt": 1e-3, "until": 0.3, "every": 0.01, "cube": "{box: [0.2, 0.2, 0.2]}", "above": "3"}
SPRINGS = {**RIGID, "dt": 2e-5, "until": 0.12, "every": 0.004, "solve": "penalty", "cube": "{sphere: 0.1}", "above": "15"}
KINDS = {"ccp": {**RIGID, "solve": "ccp"}, "impulse": {**RIGID, "solve": "impulse"}, "penalty": SPRINGS}


def rows(path):
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(path.open())]


def write(folder, name, text):
    (folder / name).write_text(text)
    return folder / name


@pytest.mark.parametrize("solve, dt", [("ccp", 1e-3), ("impulse", 1e-3), ("penalty", 5e-4)])
def test_a_ramp_does_the_work_of_its_integral(tmp_path, solve, dt):
    ramp = "{ramp: [[0, 0, 0, 0], [0.2, 10, 0, 0], [0.3, 10, 0, 0], [0.4, 0, 0, 0]]}"
    run(write(tmp_path, "float.yaml", FLOAT.format(solve=solve, dt=dt, force=ramp)), tmp_path / "out")
    last = rows(tmp_path / "out/probes/ball.csv")[-1]
    assert last["vx"] == pytest.approx((0.5 * 0.2 * 10 + 0.1 * 10 + 0.5 * 0.1 * 10) / MASS, rel=1e-4)
    assert last["wz"] == pytest.approx(0.5 * 0.5 * 0.2 / (0.4 * MASS * 0.01), rel=5e-3)
    work = float(history(tmp_path / "out")[-1]["load_work"])
    assert work == pytest.approx(float(history(tmp_path / "out")[-1]["kinetic_energy"]), rel=1e-4)


def test_a_table_does_as_a_ramp_does_and_is_watched(tmp_path):
    write(tmp_path, "load.csv", "# N\ntime,fx,fy,fz\n0,0,0,0\n0.2,10,0,0\n")
    scene = write(tmp_path, "table.yaml", FLOAT.format(solve="ccp", dt=1e-3, force="{table: load.csv}"))
    ramp = write(tmp_path, "ramp.yaml", FLOAT.format(solve="ccp", dt=1e-3, force="{ramp: [[0, 0, 0, 0], [0.2, 10, 0, 0]]}"))
    run(ramp, tmp_path / "ramp")
    run(scene, tmp_path / "whole")
    assert history(tmp_path / "whole")[-1]["state_hash"] == history(tmp_path / "ramp")[-1]["state_hash"]
    run(scene, tmp_path / "parts", "--until", 0.07)
    write(tmp_path, "load.csv", "time,fx,fy,fz\n0,0,0,0\n0.2,20,0,0\n")
    assert "load.csv has changed since" in run(scene, tmp_path / "parts", "--resume").stderr
    write(tmp_path, "load.csv", "# N\ntime,fx,fy,fz\n0,0,0,0\n0.2,10,0,0\n")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")
    run(tmp_path / "whole/scene.yaml", tmp_path / "again")
    assert_same_folder(tmp_path / "whole", tmp_path / "again")


@pytest.mark.parametrize("force, why", [
    ("{ramp: [[0, 0, 0], [1, 0, 0]]}", "bodies.0.force.ramp.0 is a list of 3; expected rows [time, x, y, z]"),
    ("{ramp: [[0, 0, 0, 0], [0, 1, 0, 0]]}", "bodies.0.force.ramp.1 is at 0 s, not after the row before"),
    ("{slope: 3}", "bodies.0.force is a map; expected a list of 3 numbers, in N, or {ramp: [[time, x, y, z], ...]} or {table: FILE}"),
    ("{table: none.csv}", "none.csv"),
    ("{table: wrong.csv}", "wrong.csv:1:1: the heading is not one of a table of a force or torque"),
])
def test_a_wrong_course_is_refused_with_its_place(tmp_path, force, why):
    write(tmp_path, "wrong.csv", "time,force\n0,1\n")
    done = talus("run", write(tmp_path, "wrong.yaml", FLOAT.format(solve="ccp", dt=1e-3, force=force)), "-o", tmp_path / "out")
    assert done.returncode == 2 and "wrong.yaml:8:" in done.stderr and why in done.stderr


def test_a_motor_follows_its_ramp_and_a_branch_goes_on_with_it(tmp_path):
    text = """\
talus: 1
until: 0.4
gravity: [0, 0, 0]
materials: {rock: {}}
bodies: [{name: wheel, shape: {cylinder: {radius: 0.1, length: 0.1}}}]
joints: [{name: axle, kind: revolute, bodies: [ground, wheel], at: [0, 0, 0], axis: [0, 0, 1],
          motor: {speed: {ramp: [[0, 0], [0.2, 10], [0.4, -10]]}}}]
probes: [{name: wheel, body: wheel, record: [spin], every: 0.1}]
"""
    scene = write(tmp_path, "wheel.yaml", text)
    run(scene, tmp_path / "half", "--until", 0.3)
    write(tmp_path, "branch.yaml", "talus: 1\nuntil: 0.1\ngravity: [0, 0, 0]\nbodies: [{from: half/}]\n"
          "probes: [{name: wheel, body: wheel, record: [spin], every: 0.1}]\n")
    run(tmp_path / "branch.yaml", tmp_path / "branch")
    run(scene, tmp_path / "half", "--resume")
    spins = [row["wz"] for row in rows(tmp_path / "half/probes/wheel.csv")]
    assert spins == pytest.approx([2.5, 7.5, 5, -5], abs=0.06)
    assert history(tmp_path / "half")[-1]["state_hash"] == history(tmp_path / "branch")[-1]["state_hash"]
    assert rows(tmp_path / "branch/probes/wheel.csv")[0]["wz"] == spins[-1]


@pytest.mark.parametrize("kind", ["ccp"] if SHORT else KINDS)
@pytest.mark.parametrize("press, force", [("{axis: [0, 0, -1], force: 500, max_speed: 0.2}", 500),
                                          ("{axis: [0, 0, -2], pressure: 5e3, max_speed: 0.2}", 1000)])
def test_a_press_comes_at_its_speed_and_holds_its_force(tmp_path, kind, press, force):
    run(write(tmp_path, "press.yaml", PRESS.format(press=press, **KINDS[kind])), tmp_path / "out")
    plate = rows(tmp_path / "out/probes/plate.csv")
    assert max(abs(row["vz"]) for row in plate) < 0.2 * 1.05
    assert min(row["vz"] for row in plate[1:]) < -0.19 or kind == "penalty"
    late = plate[len(plate) * 3 // 4:]
    mean = sum(row["fz"] for row in late) / len(late)
    assert mean == pytest.approx(force, rel=0.05 if kind == "penalty" else 0.005)
    assert abs(plate[-1]["x"] - 0.01) < 1e-5 and abs(late[-1]["vz"]) < 0.02
    weight = 9.81 * 2600 * (0.2**3 if kind != "penalty" else 4 / 3 * math.pi * 1e-3)
    floor = [row["fz"] for row in rows(tmp_path / "out/probes/floor.csv")]
    assert sum(floor[-len(late):]) / len(late) == pytest.approx(-force - weight, rel=0.05)


@pytest.mark.parametrize("kind", ["ccp", "penalty"])
def test_a_press_by_table_goes_on_bit_for_bit(tmp_path, kind):
    write(tmp_path, "load.csv", "time,force\n0,0\n0.05,200\n0.1,600\n")
    scene = write(tmp_path, "press.yaml", PRESS.format(press="{axis: [0, 0, -1], force: {table: load.csv}, max_speed: 1}", **KINDS[kind]))
    run(scene, tmp_path / "whole")
    run(scene, tmp_path / "parts", "--until", 0.071)
    run(scene, tmp_path / "parts", "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")
    assert rows(tmp_path / "whole/probes/plate.csv")[-1]["fz"] == pytest.approx(600, rel=0.1)


@pytest.mark.parametrize("press, why", [
    ("{axis: [0, 0, 0], force: 5, max_speed: 1}", "bodies.2.press.axis has length 0"),
    ("{axis: [0, 0, 1], force: 5, area: 2, max_speed: 1}", "bodies.2.press.area is for `pressure`"),
    ("{axis: [0, 0, 1], force: 5, pressure: 2, max_speed: 1}", "bodies.2.press has both `force` and `pressure`"),
    ("{axis: [0, 0, 1], force: 5}", "bodies.2.press has no `max_speed`"),
    ("{axis: [0, 0, 1], force: 5, max_speed: 1}, fixed: true", "bodies.2 has `press` and is fixed"),
    ("{axis: [0, 0, 1], force: 5, max_speed: 1}, force: [0, 0, 1]", "bodies.2.force is given together with `press`"),
    ("{axis: [0, 0, 1], force: {ramp: [[0, -1]]}, max_speed: 1}", "a press pushes, along its axis"),
])
def test_a_press_that_cannot_be_is_refused(tmp_path, press, why):
    done = talus("run", write(tmp_path, "wrong.yaml", PRESS.format(press=press, **KINDS["ccp"])), "-o", tmp_path / "out")
    assert done.returncode == 2 and "wrong.yaml:10:" in done.stderr and why in done.stderr


def test_springs_press_along_an_axis_of_the_world(tmp_path):
    text = PRESS.format(press="{axis: [0, 1, 1], force: 5, max_speed: 1}", **SPRINGS)
    done = talus("run", write(tmp_path, "wrong.yaml", text), "-o", tmp_path / "out")
    assert done.returncode == 2 and "presses along x, y or z" in done.stderr


def test_the_pressure_of_a_round_piston_acts_on_its_end(tmp_path):
    """Radius 0.1 m at 1 kPa on a ball: pi 0.01 1000 = 31.4 N."""
    (tmp_path / "scene.yaml").write_text("""\
talus: 1
until: 0.4
materials: {rock: {density: 2600}}
bodies:
  - {shape: {plane: [0, 0, 1, 0]}, fixed: true}
  - {shape: {sphere: 0.05}, at: [0, 0, 0.05], lock: [x, y, rx, ry]}
  - {name: piston, shape: {cylinder: {radius: 0.1, length: 0.02}}, at: [0, 0, 0.12], press: {axis: [0, 0, -1], pressure: 1000, max_speed: 0.5}}
probes: [{name: piston, body: piston, record: [force], every: 0.1}]
""")
    done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    last = (tmp_path / "out/probes/piston.csv").read_text().splitlines()[-1]
    assert abs(float(last.split(",")[4]) / 31.416 - 1) < 0.01
