"""Joints from a scene file: what info shows, islands that sleep, resuming, errors of the run."""
import json

from conftest import hash_of, history, run, talus

SCENE = """\
talus: 1
until: 1
step: {dt: 2e-3}
sleep: {speed: 5e-3, time: 0.1}
materials: {steel: {friction: 0.5}}
shapes: {brick: {box: [0.4, 0.2, 0.1]}, ball: {sphere: 0.1}, ground: {plane: [0, 0, 1, 0]}}
bodies:
  - {shape: ground, material: steel, fixed: true}
  - {name: one, shape: brick, material: steel, at: [0, 0, 0.05]}
  - {name: two, shape: brick, material: steel, at: [0.45, 0, 0.05]}
  - {name: bob, shape: ball, material: steel, at: [3, 0, 1]}
  - {name: drop, shape: ball, material: steel, at: [6, 0, 2]}
  - {name: late, shape: ball, material: steel, at: [0.5, 0, 2.2]}
joints:
  - {name: hinge, kind: revolute, bodies: [one, two], at: [0.225, 0, 0.05], axis: [0, 1, 0]}
  - {name: arm, kind: spherical, bodies: [ground, bob], at: [3, 0, 1.5]}
  - {name: thread, kind: fixed, bodies: [ground, drop], at: [6, 0, 2], break: {force: 1}}
output: {every: 0.1}
"""


def test_info_shows_joints_by_kind_and_what_they_carry(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    info = talus("info", tmp_path / "out")
    assert "3: 1 spherical, 1 revolute, 1 fixed; 1 broken" in info.stdout
    assert "joint drift, m" in info.stdout and "largest torque" in info.stdout
    joints = json.loads(talus("info", tmp_path / "out", "--json").stdout)["joints"]
    assert joints["kinds"] == {"spherical": 1, "revolute": 1, "fixed": 1}
    assert joints["count"] == 3 and joints["broken"] == 1
    weight = 1000 * 4 / 3 * 3.14159265 * 0.1**3 * 9.81
    assert 0.99 * weight < joints["force_max"] and joints["drift_max"] < 1e-4


def test_info_of_a_run_without_joints_does_not_speak_of_them(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE[:SCENE.index("joints:")] + "output: {every: 0.1}\n")
    run(tmp_path / "scene.yaml", tmp_path / "out", "--until", "0.1")
    assert "joint" not in talus("info", tmp_path / "out").stdout
    assert "joints" not in json.loads(talus("info", tmp_path / "out", "--json").stdout)


def test_mechanisms_sleep_wake_and_resume_to_the_same_bits(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    whole = run(tmp_path / "scene.yaml", tmp_path / "whole")
    asleep = [int(row["asleep"]) for row in history(tmp_path / "whole")]
    assert asleep[5] == 3  # two bricks and the bob; the late ball lands at about 0.65 s
    assert asleep[7] < 3 and asleep[-1] == 5
    for until in ("0.05", "0.4", "0.66", "1"):
        part = run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", until, "--resume")
    assert hash_of(part) == hash_of(whole)


def test_joint_that_outruns_the_step_ends_the_run_by_name(tmp_path):
    scene = SCENE.replace("at: [3, 0, 1.5]}", "at: [3, 0, 1.5]}\n  - {name: spinner, kind: revolute, "
                          "bodies: [ground, drop], at: [6, 0, 2], axis: [0, 0, 1], "
                          "motor: {speed: 5000, max: 500}}")
    (tmp_path / "scene.yaml").write_text(scene)
    failed = run(tmp_path / "scene.yaml", tmp_path / "out", code=1)
    assert "joint 'spinner'" in failed.stderr and "take a dt below" in failed.stderr
