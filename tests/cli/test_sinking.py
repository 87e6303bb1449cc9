"""Bodies that sink or pass through walls are named once, counted, and may end the run."""
import json

from conftest import hash_of, history, run, talus

# A ball on springs that are far too soft falls through a board.
SCENE = """\
talus: 1
until: 0.3
step: {dt: 1e-3}
solve: {kind: penalty}
materials: {foam: {density: 1000, stiffness: 2}}
shapes: {ball: {sphere: 0.02}, board: {box: [1, 1, 0.01]}}
bodies:
  - {name: board, shape: board, material: foam, fixed: true}
  - {name: grain, shape: ball, material: foam, at: [0, 0, 0.05]}
output: {every: 0.1}
"""


def test_a_body_that_sinks_is_named_once_in_log_and_summary(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    done = run(tmp_path / "scene.yaml", tmp_path / "out")
    assert done.stdout.rstrip().endswith("sunk 1")
    log = (tmp_path / "out/log.txt").read_text()
    assert log.count("warning body 2 'grain' sank") == 1
    assert "1 body passed through a wall or sank deeper than half its size, the first: body 2 'grain'" in log
    rows = history(tmp_path / "out")
    assert [row["sunk"] for row in rows] == ["0", "0", "1", "1"]
    assert max(float(row["overlap_share"]) for row in rows) > 1
    assert max(float(row["overlap_max"]) for row in rows) > 0.02
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert info["history"]["sunk"]["last"] == 1 and info["history"]["overlap_share"]["max"] > 1
    assert "overlap over radius" in talus("info", tmp_path / "out").stdout


def test_strict_sinking_ends_the_run_with_its_state_and_it_can_go_on(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    whole = run(tmp_path / "scene.yaml", tmp_path / "whole")
    failed = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / "out", "--set", "strict=[sinking]")
    assert failed.returncode == 1 and failed.stdout == ""
    assert "error: body 2 'grain' sank" in failed.stderr and "frames/000002.hdf" in failed.stderr
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert not info["finished"] and "sank" in info["failure"] and info["history"]["sunk"]["last"] == 1
    again = run(tmp_path / "scene.yaml", tmp_path / "out", "--resume")
    assert hash_of(again) == hash_of(whole)


def test_overlaps_since_the_last_line_survive_a_restart(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE.replace("stiffness: 2", "stiffness: 2e4").replace("dt: 1e-3", "dt: 5e-5"))
    run(tmp_path / "scene.yaml", tmp_path / "whole")
    for until in ("0.07", "0.13", "0.3"):
        run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", until, "--resume")
    columns = ("overlap_max", "overlap_share", "sunk")
    whole, parts = ([[row[c] for c in columns] for row in history(tmp_path / f)] for f in ("whole", "parts"))
    assert whole == parts and float(whole[-1][1]) < 0.05


FLOOR = """\
talus: 1
until: 2e-3
solve: penalty
materials: {glass: {density: 2500}}
bodies:
  - {shape: {plane: [0, 0, 1, 0]}, fixed: true}
"""


def dt_of(folder):
    return float(history(folder)[-1]["dt"])


def test_springs_choose_their_step_for_bodies_of_a_table_too(tmp_path):
    (tmp_path / "grains.csv").write_text("x,y,z,r\n" + "".join(f"{0.03 * i},0,0.02,0.01\n" for i in range(20)))
    (tmp_path / "scene.yaml").write_text(FLOOR + "  - {table: grains.csv}\n")
    run(tmp_path / "scene.yaml", tmp_path / "out")
    assert dt_of(tmp_path / "out") < 1e-4
    assert "info    step.dt is not given: " in (tmp_path / "out/log.txt").read_text()
    refused = talus("check", tmp_path / "scene.yaml", "--set", "step.dt=1e-3")
    assert refused.returncode == 2 and "would sink by" in refused.stderr and "would do, or give materials" in refused.stderr


def test_springs_choose_their_step_for_bodies_of_another_run_too(tmp_path):
    (tmp_path / "first.yaml").write_text(FLOOR + "  - {shape: {sphere: 0.01}, at: [0, 0, 0.02]}\n")
    run(tmp_path / "first.yaml", tmp_path / "first", "--set", "solve=ccp")
    (tmp_path / "scene.yaml").write_text("talus: 1\nuntil: 2e-3\nsolve: penalty\nbodies: [{from: first}]\n")
    run(tmp_path / "scene.yaml", tmp_path / "out")
    assert dt_of(tmp_path / "out") < 1e-4
    refused = talus("check", tmp_path / "scene.yaml", "--set", "step.dt=1e-3")
    assert refused.returncode == 2 and "body 2, at 0.44 m/s after a fall of 0.02 m, would sink by" in refused.stderr


def test_springs_are_chosen_for_the_smallest_body_that_an_emitter_will_add(tmp_path):
    (tmp_path / "scene.yaml").write_text(FLOOR.replace("2e-3", "0.01") + """\
emit:
  - {shape: {sphere: 0.02}, rate: 2000, from: {box: [[-0.2, -0.2, 0.03], [0.2, 0.2, 0.05]]}, size: {table: [[1, 1], [0.2, 1]]}}
output: {every: 0.005}
""")
    run(tmp_path / "scene.yaml", tmp_path / "out")
    log = (tmp_path / "out/log.txt").read_text()
    assert "stiffness auto" in log and "critical step of" not in log


def test_a_stiffness_that_a_table_has_is_not_refused(tmp_path):
    (tmp_path / "grains.csv").write_text("x,y,z,r\n0,0,0.02,0.01\n0,0,0.05,0.01\n")
    (tmp_path / "scene.yaml").write_text(FLOOR.replace("materials: {", "materials: {soft: {density: 2500, stiffness: 100}, ").replace(
        "fixed: true}", "fixed: true, material: glass}") + "  - {table: grains.csv, material: soft}\n")
    assert talus("check", tmp_path / "scene.yaml", "--set", "step.dt=5e-4").returncode == 0
