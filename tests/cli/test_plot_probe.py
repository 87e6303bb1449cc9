"""talus info --plot PROBE: the curves of probes/NAME.csv."""
import csv
import re

import pytest

from conftest import run, talus


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe") / "out"
    run("incline", folder, "--until", "0.5", "--set", "probes.0.name=ball.of.wood", "--quiet")
    return folder


def curves_of(svg):
    """The y coordinates of each curve of an SVG plot; a stroke of the legend has one point."""
    found = [re.findall(r"[ML][-\d.]+ ([-\d.]+)", path) for path in re.findall(r'class="curve"[^>]* d="([^"]*)"', svg)]
    return [[float(y) for y in ys] for ys in found if len(ys) > 1]


@pytest.mark.parametrize("name, label, curves", [
    ("slides", "force [N]", ["fx", "fy", "fz"]),
    ("slides.force", "force [N]", ["fx", "fy", "fz"]),
    ("slides.fz", "force [N]", ["fz"]),
    ("slides.energy", "kinetic energy [J]", ["energy"]),
    ("ball.of.wood", "force [N]", ["fx", "fy", "fz"]),
    ("ball.of.wood.ty", "torque [N m]", ["ty"]),
])
def test_a_probe_is_plotted(out, tmp_path, name, label, curves):
    done = talus("info", out, "--plot", name, "-o", tmp_path / "a.svg")
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "a.svg").read_text()
    assert label in svg
    assert len(curves_of(svg)) == len(curves)
    shown = talus("info", out, "--plot", name, env={"LC_ALL": "C", "COLUMNS": "80"})
    assert shown.returncode == 0 and label in shown.stdout
    assert all(curve in shown.stdout for curve in curves)


def test_the_curve_is_the_column(out, tmp_path):
    """Kinetic energy of a box that slides grows: so does the curve, point by point (y goes down)."""
    talus("info", out, "--plot", "slides.energy", "-o", tmp_path / "a.svg")
    with open(out / "probes/slides.csv", encoding="utf-8") as file:
        energy = [float(row["energy"]) for row in csv.DictReader(file)]
    assert energy == sorted(energy)
    (curve,) = curves_of((tmp_path / "a.svg").read_text())
    assert len(curve) == len(energy) and curve == sorted(curve, reverse=True)


@pytest.mark.parametrize("name, message", [
    ("slides.enery", "the probe has no 'enery'; it has force, energy; did you mean 'energy'?"),
    ("slides.torque", "the probe has no 'torque'; it has force, energy"),
    ("slide", "'slide' is not one of energy"),
    ("../probes/slides", "is not one of energy"),
])
def test_what_is_not_there_is_refused(out, name, message):
    done = talus("info", out, "--plot", name)
    assert done.returncode == 2 and message in done.stderr


def test_a_file_that_is_no_probe_is_refused(out):
    (out / "probes/odd.csv").write_text("a,b\n1,2\n")
    (out / "probes/empty.csv").write_text("from,to,count\n")
    assert "does not begin like a probe" in talus("info", out, "--plot", "odd").stderr
    assert "has no lines to plot yet" in talus("info", out, "--plot", "empty").stderr


SETTLED = """\
talus: 1
until: 0.05
materials: {m: {density: 2500}}
bodies:
  - {shape: {plane: [0, 0, 1, 0]}, fixed: true}
  - {name: ball, shape: {sphere: 0.1}, at: [0, 0, 0.1], spin: [0, 0, 1]}
probes:
  - {name: middle, region: {box: [[-1, -1, 0], [1, 1, 1]]}, record: [stress, solid-fraction, coordination, sizes], sizes: [0.05]}
  - {name: place, body: ball, record: [position, rotation, velocity, spin]}
output: {every: 0.01}
"""


@pytest.fixture(scope="module")
def settled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("settled")
    (folder / "scene.yaml").write_text(SETTLED)
    run(folder / "scene.yaml", folder / "out", "--quiet")
    return folder / "out"


@pytest.mark.parametrize("name, label, curves", [
    ("middle", "stress of contacts [Pa]", 6), ("middle.szz", "stress of contacts [Pa]", 1), ("middle.kinetic_stress", "stress of motion [Pa]", 6),
    ("middle.solid-fraction", "solid fraction", 1), ("middle.coordination", "contacts per body", 1), ("middle.count_from_0.05", "count_from_0.05", 1),
    ("place", "position [m]", 3), ("place.z", "position [m]", 1), ("place.rotation", "quaternion", 4), ("place.velocity", "velocity [m/s]", 3),
    ("place.wz", "spin [rad/s]", 1),
])
def test_every_quantity_of_a_probe_is_plotted(settled, tmp_path, name, label, curves):
    done = talus("info", settled, "--plot", name, "-o", tmp_path / "a.svg")
    assert done.returncode == 0, done.stderr
    svg = (tmp_path / "a.svg").read_text()
    assert label in svg and len(curves_of(svg)) == curves
