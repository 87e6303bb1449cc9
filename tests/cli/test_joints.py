"""Joints from a scene file: what info shows, islands that sleep, resuming, errors of the run."""
import csv
import json
import math

import pytest

from conftest import assert_same_folder, hash_of, history, kill, run, start, talus, wait_for

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


# ---- what joints carry, in files -----------------------------------------------------------------


def joint_lines(folder):
    with open(folder / "joints.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def length(row, *columns):
    return math.sqrt(sum(float(row[column])**2 for column in columns))


def test_joints_csv_has_a_line_per_joint_and_output_time(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE.replace("name: arm", 'name: \'an "arm", long\'')
                                         .replace("name: hinge, ", ""))
    run(tmp_path / "scene.yaml", tmp_path / "out")
    lines = joint_lines(tmp_path / "out")
    past = history(tmp_path / "out")
    assert list(lines[0]) == "time,joint,fx,fy,fz,tx,ty,tz,drift,value,broken".split(",")
    assert [row["joint"] for row in lines[:3]] == ["1", 'an "arm", long', "thread"]
    assert [row["time"] for row in lines[1::3]] == [row["time"] for row in past]
    arms = lines[1::3]
    weight = 2600 * 4 / 3 * math.pi * 0.1**3 * 9.81
    assert all(float(row["fz"]) == pytest.approx(weight, rel=1e-3) for row in arms[1:])  # holds the bob up
    assert all(abs(float(row["drift"])) < 1e-4 for row in arms)
    assert [row["broken"] for row in lines[2::3]] == ["0"] + ["1"] * 10
    assert all(length(row, "fx", "fy", "fz") == 0 for row in lines[5::3])


@pytest.mark.parametrize("arm,thread,marks", [("2", "x", "#"), ("'#1'", "x", ""), ("3", "'#12'", "##"),
                                              ("'#'", "'3a'", ""), ("-1", "1.0", "")])
def test_joint_without_a_name_is_never_written_as_one_whose_name_is_a_number(arm, thread, marks, tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE.replace("name: arm", f"name: {arm}").replace("name: hinge, ", "")
                                         .replace("name: thread", f"name: {thread}"))
    run(tmp_path / "scene.yaml", tmp_path / "out", "--until", 0.2)
    run(tmp_path / "scene.yaml", tmp_path / "out", "--until", 0.3, "--resume")
    names = [row["joint"] for row in joint_lines(tmp_path / "out")]
    assert names == [f"{marks}1", arm.strip("'"), thread.strip("'")] * 4


def test_history_has_the_largest_load_of_any_joint_in_any_step(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    run(tmp_path / "scene.yaml", tmp_path / "fine", "--set", "output.every=2e-3")
    fine, past = joint_lines(tmp_path / "fine"), history(tmp_path / "out")
    for column, parts in (("joint_force", ("fx", "fy", "fz")), ("joint_torque", ("tx", "ty", "tz"))):
        assert float(past[0][column]) == 0
        for i in range(1, len(past)):
            since, now = float(past[i - 1]["time"]), float(past[i]["time"])
            most = max(length(row, *parts) for row in fine if since + 1e-9 < float(row["time"]) < now + 1e-9)
            assert float(past[i][column]) == pytest.approx(most, rel=1e-6)  # single rounds its sum of squares
    assert "joint force, N" in talus("info", tmp_path / "out").stdout
    shown = talus("info", tmp_path / "out", "--plot", "joints")
    assert shown.returncode == 0 and "largest torque" in shown.stdout


def test_scene_without_joints_has_no_joints_csv(ball, tmp_path):
    run(ball, tmp_path / "out")
    assert not (tmp_path / "out/joints.csv").exists()
    assert {(row["joint_force"], row["joint_torque"]) for row in history(tmp_path / "out")} == {("0", "0")}
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "out", "--force")
    run(ball, tmp_path / "out", "--force")
    assert not (tmp_path / "out/joints.csv").exists()


def test_of_many_joints_those_with_a_name_are_recorded(tmp_path):
    bodies = "".join(f"  - {{name: b{i}, shape: ball, material: steel, at: [{i}, 5, 2]}}\n" for i in range(65))
    joints = "".join(f"  - {{{'name: last, ' if i == 64 else ''}kind: spherical, bodies: [ground, b{i}], "
                     f"at: [{i}, 5, 2.5]}}\n" for i in range(65))
    head, tail = SCENE[:SCENE.index("joints:")], "output: {every: 0.1}\n"
    (tmp_path / "scene.yaml").write_text(head + bodies + "joints:\n" + joints + tail)
    run(tmp_path / "scene.yaml", tmp_path / "out", "--until", 0.2)
    assert [row["joint"] for row in joint_lines(tmp_path / "out")] == ["last"] * 3
    assert "has 65 joints" in (tmp_path / "out/log.txt").read_text()


def test_joints_csv_of_a_resumed_run_is_that_of_an_unbroken_one(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "whole")
    for until in ("0.05", "0.37", "0.4", "1"):
        run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", until, "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")
    (tmp_path / "parts/joints.csv").unlink()
    gone = run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", 1.2, "--resume", code=2)
    assert "joints.csv is gone" in gone.stderr


def test_killed_run_goes_on_with_joints_csv(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE.replace("until: 1", "until: 4"))
    run(tmp_path / "scene.yaml", tmp_path / "whole")
    out = tmp_path / "out"
    process = start("run", tmp_path / "scene.yaml", "-o", out, "--threads", 1, "--checkpoint-every", 0)
    wait_for(lambda: (out / "frames/000004.hdf").exists() and (out / "checkpoint.hdf").exists(), process)
    kill(process)
    run(tmp_path / "scene.yaml", out, "--resume")
    assert_same_folder(tmp_path / "whole", out)


def test_probe_of_another_joint_wants_another_name_when_a_run_goes_on(tmp_path):
    probes = "probes: [{name: pin, joint: JOINT, record: [force], every: 0.1}]\n"
    (tmp_path / "scene.yaml").write_text(SCENE + probes.replace("JOINT", "arm"))
    run(tmp_path / "scene.yaml", tmp_path / "out", "--until", 0.4)
    (tmp_path / "scene.yaml").write_text(SCENE + probes.replace("JOINT", "hinge"))
    before = (tmp_path / "out/probes/pin.csv").read_bytes()
    refused = run(tmp_path / "scene.yaml", tmp_path / "out", "--resume", code=2)
    assert "the probe `pin` is not the one whose values are in probes/pin.csv" in refused.stderr
    assert (tmp_path / "out/probes/pin.csv").read_bytes() == before
    (tmp_path / "scene.yaml").write_text(SCENE + probes.replace("JOINT", "hinge").replace("pin", "bolt"))
    run(tmp_path / "scene.yaml", tmp_path / "out", "--resume")
    first = (tmp_path / "out/probes/bolt.csv").read_text().splitlines()[1].split(",")
    assert float(first[0]) == pytest.approx(0.4) and abs(float(first[4])) < 40
