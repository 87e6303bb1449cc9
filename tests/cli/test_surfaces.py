"""Laws that go with the radius of a pair: rolling by a coefficient, cohesion by surface energy."""
import csv
import math

import pytest

from conftest import history, run, talus

KINDS = [("ccp", 1e-3), ("impulse", 1e-3), ("penalty", 1e-4)]
ROLL = """\
talus: 1
until: 0.2
step: {{dt: {dt}}}
solve: {solve}
quiet: [soft-springs]
materials: {{rock: {{density: 2600, friction: 0.5, stiffness: 1e5, {law}}}, floor: {{friction: 0.5, stiffness: 1e5, rolling: 1, rolling_coefficient: 1}}}}
bodies:
  - {{shape: {{plane: [0, 0, 1, 0]}}, material: floor, fixed: true}}
  - {{name: ball, shape: {{sphere: {r}}}, material: rock, at: [0, 0, {r}], velocity: [1, 0, 0], spin: [0, {spin}, 0]}}
probes: [{{name: ball, body: ball, record: [velocity], every: {dt}}}]
"""
HANG = """\
talus: 1
until: 0.1
step: {{dt: {dt}}}
solve: {solve}
quiet: [soft-springs, overlap]
materials: {{clay: {{density: 2000, friction: 0.5, stiffness: 1e3, surface_energy: {energy}}}}}
bodies:
  - {{shape: {{plane: [0, 0, -1, 0]}}, fixed: true}}
  - {{shape: {{sphere: 0.005}}, at: [0, 0, -0.00499999]}}
"""


def last_speed(path):
    return float(list(csv.DictReader(path.open()))[-1]["vx"])


@pytest.mark.parametrize("solve, dt", KINDS)
@pytest.mark.parametrize("radius", [0.05, 0.2])
def test_a_coefficient_is_a_length_for_each_radius(tmp_path, solve, dt, radius):
    speeds = []
    for name, law in (("length", f"rolling: {0.2 * radius}"), ("coefficient", "rolling_coefficient: 0.2"), ("none", "rolling: 0")):
        (tmp_path / f"{name}.yaml").write_text(ROLL.format(solve=solve, dt=dt, law=law, r=radius, spin=1 / radius))
        run(tmp_path / f"{name}.yaml", tmp_path / name)
        speeds.append(last_speed(tmp_path / f"{name}/probes/ball.csv"))
    assert speeds[1] == pytest.approx(speeds[0], rel=1e-4)
    assert speeds[0] < 0.95 < speeds[2]
    if solve != "penalty":  # a = 5/7 g rolling / r
        assert 1 - speeds[1] == pytest.approx(5 / 7 * 9.81 * 0.2 * 0.2, rel=0.03)


@pytest.mark.parametrize("solve, dt", [("ccp", 1e-3), ("impulse", 1e-3), ("penalty", 2e-5)])
def test_surface_energy_holds_a_ball_up_to_its_pull_off_force(tmp_path, solve, dt):
    """4 pi g R of a ball and a plane; the weight is 0.8 or 1.25 of it."""
    weight = 2000 * 4 / 3 * math.pi * 0.005**3 * 9.81
    for share, holds in ((0.8, True), (1.25, False)):
        energy = weight / share / (4 * math.pi * 0.005)
        (tmp_path / "hang.yaml").write_text(HANG.format(solve=solve, dt=dt, energy=energy))
        run(tmp_path / "hang.yaml", tmp_path / "out", "--force")
        height = float(history(tmp_path / "out")[-1]["potential_energy"]) / weight
        assert (height > -0.006) == holds, height


def test_a_run_goes_on_with_them_and_pairs_may_tell_others(tmp_path):
    text = ROLL.format(solve="penalty", dt=1e-4, law="rolling_coefficient: 0.2, surface_energy: 1", r=0.1, spin=10)
    (tmp_path / "whole.yaml").write_text(text + "pairs: [{materials: [rock, floor], rolling_coefficient: 0.4}]\n")
    run(tmp_path / "whole.yaml", tmp_path / "whole")
    run(tmp_path / "whole.yaml", tmp_path / "parts", "--until", 0.1)
    run(tmp_path / "whole.yaml", tmp_path / "parts", "--resume")
    assert history(tmp_path / "whole")[-1]["state_hash"] == history(tmp_path / "parts")[-1]["state_hash"]
    run(tmp_path / "whole/scene.yaml", tmp_path / "again")
    assert history(tmp_path / "whole")[-1]["state_hash"] == history(tmp_path / "again")[-1]["state_hash"]
    (tmp_path / "less.yaml").write_text(text)
    run(tmp_path / "less.yaml", tmp_path / "less")
    assert last_speed(tmp_path / "less/probes/ball.csv") > last_speed(tmp_path / "whole/probes/ball.csv")


def test_they_are_not_negative(tmp_path):
    (tmp_path / "wrong.yaml").write_text(HANG.format(solve="ccp", dt=1e-3, energy=-1))
    done = talus("check", tmp_path / "wrong.yaml")
    assert done.returncode == 2 and "materials.clay.surface_energy is -1; expected a number of at least 0, in J/m2" in done.stderr
