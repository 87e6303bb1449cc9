"""Hard spheres from the command: probes, restarts, what history.csv says."""
import csv

from conftest import talus

SCENE = """\
talus: 1
until: 0.4
gravity: [0, 0, 0]
step: {kind: event, dt: 0.02}
solve: elastic
materials: {glass: {friction: 0, restitution: 1}}
shapes: {ball: {sphere: 0.05}, box: {container: [1, 1, 1]}}
bodies:
  - {name: box, shape: box, material: glass, fixed: true}
  - {name: ball, shape: ball, material: glass, mass: 2, velocity: [3, 0, 0]}
  - fill: {shape: ball, material: glass, count: 40, in: {box: [[-0.45, -0.45, -0.45], [0.45, -0.1, 0.45]]}, velocity: [0.5, 0.2, -1], seed: 1}
probes:
  - {name: box, body: box, record: [force], every: 0.4}
output: {every: 0.1}
"""


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def run(tmp_path, name, *options):
    scene = tmp_path / "gas.yaml"
    scene.write_text(SCENE, encoding="utf-8")
    done = talus("run", scene, "-o", tmp_path / name, *options)
    assert done.returncode == 0, done.stderr
    return rows_of(tmp_path / name / "history.csv")


def test_history_counts_collisions_and_nobody_is_outside(tmp_path):
    rows = run(tmp_path, "out")
    counts = [int(row["collisions"]) for row in rows]
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] > 20
    assert {row["outside"] for row in rows} == {"0"}
    energies = [float(row["kinetic_energy"]) for row in rows]
    assert max(energies) - min(energies) < 1e-4 * energies[0]


def test_the_force_on_the_box_is_the_momentum_it_took(tmp_path):
    rows = run(tmp_path, "out")
    probe = rows_of(tmp_path / "out" / "probes" / "box.csv")[-1]
    for axis in "xyz":
        took = float(rows[0][f"p{axis}"]) - float(rows[-1][f"p{axis}"])
        force = float(probe[f"force_{axis}"] if f"force_{axis}" in probe else probe[f"f{axis}"])
        assert abs(force * 0.4 - took) < 1e-3 * max(1, abs(took))


def test_a_resumed_gas_ends_with_the_same_state(tmp_path):
    whole = run(tmp_path, "whole")
    run(tmp_path, "parts", "--until", "0.2")
    parts = run(tmp_path, "parts", "--resume")
    assert parts[-1]["state_hash"] == whole[-1]["state_hash"]
    assert parts[-1]["collisions"] == whole[-1]["collisions"]
