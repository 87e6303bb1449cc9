"""What probes measure of bodies and in regions, and what sinks write down."""
import csv
import math

import pytest

from conftest import BUSY, SHORT, assert_same_folder, kill, run, start, talus, wait_for

R, RHO = 0.05, 2600
COLUMN = """\
talus: 1
until: {until}
step: {{dt: {dt}}}
solve: {solve}
materials: {{rock: {{density: 2600, friction: 0.5, stiffness: 2e5}}}}
bodies:
  - {{shape: {{plane: [0, 0, 1, 0]}}, fixed: true}}
  - {{name: low, shape: {{sphere: 0.05}}, at: [0, 0, 0.05]}}
  - {{shape: {{sphere: 0.05}}, at: [0, 0, 0.15]}}
  - {{name: top, shape: {{sphere: 0.05}}, at: [0, 0, 0.25], lock: [x, y]}}
probes:
  - {{name: pile, region: {{box: [[-1, -1, -0.5], [1, 1, 0.5]]}}, record: [stress, solid-fraction, coordination, sizes],
     sizes: [0.04, 0.05001], every: {every}}}
  - {{name: top, body: top, record: [position, rotation, velocity, spin], every: {every}}}
"""


def rows(path):
    return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(path.open())]


@pytest.mark.parametrize("solve, dt", [("ccp", 1e-3), ("impulse", 1e-3), ("penalty", 2e-5)])
def test_a_column_of_three_balls_has_its_stress_fraction_and_partners(tmp_path, solve, dt):
    """Three balls on each other: contacts carry 3, 2 and 1 weights over r, 2 r and 2 r."""
    until, every = (0.2, 0.05) if dt > 1e-4 else (0.1, 0.025)
    (tmp_path / "column.yaml").write_text(COLUMN.format(solve=solve, dt=dt, until=until, every=every))
    run(tmp_path / "column.yaml", tmp_path / "out")
    last = rows(tmp_path / "out/probes/pile.csv")[-1]
    volume = 4 / 3 * math.pi * R**3
    assert last["szz"] == pytest.approx(9 * R * RHO * volume * 9.81 / 4, rel=0.02)
    assert abs(last["sxx"]) < 1e-3 * last["szz"] and abs(last["kzz"]) < 1e-2 * last["szz"]
    assert last["solid_fraction"] == pytest.approx(3 * volume / 4, rel=1e-6)
    assert last["coordination"] == pytest.approx(5 / 3, rel=1e-6)
    assert [last[f"count_{name}"] for name in ("below_0.04", "0.04_0.05001", "from_0.05001")] == pytest.approx([0, 3, 0])
    top = rows(tmp_path / "out/probes/top.csv")[-1]
    assert top["z"] == pytest.approx(0.25, abs=1e-3) and abs(top["vz"]) < 1e-2
    assert top["qw"]**2 + top["qx"]**2 + top["qy"]**2 + top["qz"]**2 == pytest.approx(1, rel=1e-5)


def test_sizes_and_records_belong_together(tmp_path):
    text = COLUMN.format(solve="ccp", dt=1e-3, until=0.2, every=0.05)
    for wrong, why in ((text.replace("     sizes: [0.04, 0.05001],", "    "), "probes.0 records sizes; expected `sizes: [radius, ...]`"),
                       (text.replace(", sizes],", "],"), "probes.0.sizes is for `record: [sizes]`"),
                       (text.replace("0.04, 0.05001", "0.05, 0.04"), "probes.0.sizes goes from 0.05 to 0.04; expected a list of 1 to 15 rising"),
                       (text.replace("[position,", "[stress,"), "probes.1.record is for a region, not for a body")):
        (tmp_path / "wrong.yaml").write_text(wrong)
        done = talus("check", tmp_path / "wrong.yaml")
        assert done.returncode == 2 and why in done.stderr


def test_edges_of_intervals_are_written_as_they_were_given(tmp_path):
    """In steps of 0.01 s, 35 steps are 0.35000000000000003 s."""
    (tmp_path / "ball.yaml").write_text("""\
talus: 1
until: 0.5
gravity: [0, 0, 0]
step: {dt: 0.01}
materials: {m: {}}
bodies: [{shape: {sphere: 0.1}, at: [0, 0, 1]}]
probes: [{name: p, region: {box: [[-1, -1, -1], [1, 1, 2]]}, record: [count], every: 0.05}]
zones: [{name: z, of: {at: [0, 0, 1]}, radius: 0.5, every: 0.05}]
""")
    run(tmp_path / "ball.yaml", tmp_path / "out")
    edges = ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35", "0.4", "0.45", "0.5"]
    for name in "p", "z":
        lines = (tmp_path / f"out/probes/{name}.csv").read_text().splitlines()[1:]
        assert [line.split(",")[:2] for line in lines] == [list(pair) for pair in zip(edges, edges[1:])]


@pytest.fixture
def drained(tmp_path):
    """BUSY, with a second sink that has no name of a file, and a domain that bodies fall out of."""
    text = BUSY.replace("sinks:\n", "domain: {box: [[-0.5, -0.5, -0.1], [0.5, 0.5, 2]], outside: remove}\nsinks:\n"
                        "  - {name: 'to the left', in: {box: [[-0.2, -0.2, 0.03], [-0.15, 0.2, 0.06]]}}\n")
    (tmp_path / "drained.yaml").write_text(text.replace("- {name: tank, shape: tank", "- {name: tank, shape: {container: [0.4, 0.4, 0.8], open: [top, right]}"))
    return tmp_path / "drained.yaml"


def test_sinks_write_down_what_left(drained, tmp_path):
    run(drained, tmp_path / "out")
    files = sorted(path.name for path in (tmp_path / "out/sinks").iterdir())
    assert files == ["drain.csv", "outside.csv", "sink-0.csv"]
    left = [row for name in files for row in rows(tmp_path / "out/sinks" / name)]
    assert len(left) > 3 and len({row["uid"] for row in left}) == len(left)
    for row in left:
        assert 0 < row["time"] <= 0.3 and 0.009 < row["radius"] < 0.03
        assert row["mass"] == pytest.approx(2500 * 4 / 3 * math.pi * row["radius"]**3, rel=1e-5)
    for row in rows(tmp_path / "out/sinks/drain.csv"):
        assert -0.2 <= row["x"] <= -0.1 and 0 <= row["z"] <= 0.03


def test_sinks_of_a_killed_run_are_those_of_a_whole_one(drained, tmp_path):
    run(drained, tmp_path / "whole")
    for step in range(2 if SHORT else 4):
        process = start("run", drained, "-o", tmp_path / "parts", "--threads", 1, "--checkpoint-every", 0, "--resume")
        wait_for(lambda: (tmp_path / "parts/checkpoint.hdf").exists(), process)
        kill(process)
    run(drained, tmp_path / "parts", "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")


def test_a_table_of_somebody_else_among_the_sinks_is_left_alone(drained, tmp_path):
    (tmp_path / "out/sinks").mkdir(parents=True)
    (tmp_path / "out/sinks/mine.csv").write_text("a,b\n")
    run(drained, tmp_path / "out", "--force")
    assert (tmp_path / "out/sinks/mine.csv").read_text() == "a,b\n"
    (tmp_path / "out/sinks/drain.csv").write_text("a,b\n")
    assert "was not written by talus" in run(drained, tmp_path / "out", "--force", code=2).stderr


def test_no_sink_is_called_as_the_domain(drained):
    drained.write_text(drained.read_text().replace("name: drain", "name: outside"))
    done = talus("check", drained)
    assert done.returncode == 2 and "sinks.1.name is `outside`, which is what leaves the domain" in done.stderr


def test_a_plate_beside_a_region_fills_it_by_what_is_within(tmp_path):
    """A plate of 2 x 2 x 0.2 m: of the region's metre above z = 0 it takes a tenth; a fixed one, none."""
    (tmp_path / "scene.yaml").write_text("""\
talus: 1
until: 0.01
gravity: [0, 0, 0]
materials: {steel: {density: 7800}}
bodies:
  - {name: plate, shape: {box: [2, 2, 0.2]}}
  - {shape: {box: [2, 2, 0.2]}, at: [0, 0, 0.5], fixed: true}
probes: [{name: above, region: {box: [[-0.5, -0.5, 0], [0.5, 0.5, 1]]}, record: [solid-fraction]}]
""")
    done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    last = (tmp_path / "out/probes/above.csv").read_text().splitlines()[-1]
    assert abs(float(last.split(",")[2]) - 0.1) < 1e-5
