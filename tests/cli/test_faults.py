"""Killed, or out of disk, at each single call that changes a file: nothing is half, and resuming mends all.

Random moments (test_run.py) rarely hit the few microseconds between two such calls; this hits them all.
"""
import json
import os
import shutil
import signal

import pytest
from conftest import BALL, BUSY, assert_readable, assert_same_folder, points, talus

SCENE = BUSY.replace("until: 0.3", "until: 0.05")


@pytest.fixture(scope="module")
def faults(faults_library, tmp_path_factory):
    """Runs the command with a fault: faults(out, *arguments, KILL_AT=3)."""
    folder = tmp_path_factory.mktemp("faults")
    scene = folder / "scene.yaml"
    scene.write_text(SCENE)

    def call(out, *arguments, **fault):
        return talus("run", scene, "-o", out, "--threads", 1, "--checkpoint-every", 0.002, "--quiet", *arguments,
                     env={"LD_PRELOAD": str(faults_library), "FAULTS_IN": str(out), **{name: str(value) for name, value in fault.items()}})

    done = call(folder / "whole", COUNT_TO=folder / "count")
    assert done.returncode == 0, done.stderr
    return call, folder / "whole", int((folder / "count").read_text().split()[0])


def test_run_killed_at_any_write_goes_on_as_if_nothing_had_happened(faults, tmp_path):
    call, whole, count = faults
    assert count > 60
    out = tmp_path / "out"
    for at in range(1, count + 1):
        shutil.rmtree(out, ignore_errors=True)
        done = call(out, KILL_AT=at)
        assert done.returncode in (-signal.SIGKILL, 0), (at, done.stderr)
        assert_readable(out) if out.exists() else None
        # Whoever goes on is killed too, at another place each time.
        call(out, "--resume", KILL_AT=1 + 7 * at % 40)
        assert_readable(out) if out.exists() else None
        done = call(out, "--resume")
        assert done.returncode == 0, (at, done.stderr)
        assert_same_folder(whole, out)
        assert not list(out.rglob("*.part")), at


def test_disk_full_at_any_write_costs_nothing_that_was_there(faults, tmp_path):
    call, whole, count = faults
    out = tmp_path / "out"
    for at in range(1, count + 1):
        shutil.rmtree(out, ignore_errors=True)
        done = call(out, FULL_AT=at, COUNT_TO=tmp_path / "count")
        # Checkpoints go by the clock, so that each run has another number of calls.
        calls = int((tmp_path / "count").read_text().split()[0])
        # Only the log and the last fsyncs may be lost without a word.
        assert done.returncode == 1 or (done.returncode == 0 and at > calls - 25), (at, calls, done.stderr)
        if done.returncode == 1:
            assert "disk is full" in done.stderr or "standard output" in done.stderr, (at, done.stderr)
        if out.exists():
            assert_readable(out)
            assert not list(out.rglob("*.part")), at
        done = call(out, "--resume")
        assert done.returncode == 0, (at, done.stderr)
        assert_same_folder(whole, out)


# Errors that come once and are gone when one looks again.
EIO, EACCES = 5, 13


@pytest.mark.parametrize("error", [EIO, EACCES])
def test_one_error_of_any_call_is_told_or_does_no_harm(faults, tmp_path, error):
    """A run ends whole or says so, and what it says so of can be resumed."""
    call, whole, _ = faults
    out = tmp_path / "out"
    assert call(out, COUNT_TO=tmp_path / "count").returncode == 0
    count = int((tmp_path / "count").read_text().split()[1])
    assert count > 150
    for at in points(count):
        shutil.rmtree(out, ignore_errors=True)
        done = call(out, FAIL_AT=at, FAIL_WITH=error)
        if done.returncode == 0:
            assert_same_folder(whole, out)
            continue
        assert done.returncode in (1, 2) and done.stderr, (at, done.stderr)
        assert_readable(out) if out.exists() else None
        done = call(out, "--resume")
        assert done.returncode == 0, (at, done.stderr)
        assert_same_folder(whole, out)


def test_one_error_while_a_run_goes_on_costs_nothing(faults, tmp_path):
    """The folder of a run that was stopped, and one error of any call of the run that goes on."""
    call, whole, _ = faults
    half, out = tmp_path / "half", tmp_path / "out"
    assert call(half, "--until", 0.03).returncode == 0
    shutil.copytree(half, out)
    assert call(out, "--resume", COUNT_TO=tmp_path / "count").returncode == 0
    count = int((tmp_path / "count").read_text().split()[1])
    for at in points(count):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(half, out)
        done = call(out, "--resume", FAIL_AT=at)
        if done.returncode != 0:
            assert done.returncode in (1, 2) and done.stderr, (at, done.stderr)
            assert_readable(out)
            for name in ("frames/000000.hdf", "frames/000002.hdf", "checkpoint.hdf"):
                assert (out / name).exists(), (at, name, done.stderr)
            done = call(out, "--resume")
            assert done.returncode == 0, (at, done.stderr)
        assert_same_folder(whole, out)


def counted(library, scene, out, *arguments):
    """A run, and how often it flushed and how many bytes it wrote."""
    done = talus("run", scene, "-o", out, "--threads", 1, "--quiet", "--checkpoint-every", 1000, *arguments,
                 env={"LD_PRELOAD": str(library), "FAULTS_IN": str(out), "COUNT_TO": str(out) + ".count"})
    assert done.returncode == 0, done.stderr
    _, _, syncs, size = map(int, (out.parent / (out.name + ".count")).read_text().split())
    return syncs, size


@pytest.mark.parametrize("fields", ["velocity", "velocity, contacts, surfaces"])
def test_a_frame_costs_two_flushes(faults_library, tmp_path, fields):
    busy = BUSY.replace("quaternion, velocity, spin, contacts", fields).replace("every: 0.031", "every: 9")
    (tmp_path / "scene.yaml").write_text(busy)
    few, _ = counted(faults_library, tmp_path / "scene.yaml", tmp_path / "few", "--until", 0.13)
    many, _ = counted(faults_library, tmp_path / "scene.yaml", tmp_path / "many", "--until", 0.26,
                      "--set", "output.every=0.002")
    assert (many - few) / (131 - 11) <= 2


def test_bytes_written_grow_with_frames_and_not_with_their_square(faults_library, tmp_path):
    """Surfaces every 1 ms for 8 s were 8,000 frames and 4 GB of series; without TALUS_SOAK it is a quarter of that."""
    frames_asked = 8000 if os.environ.get("TALUS_SOAK") else 2000
    cube = BALL.replace("ball: {sphere: 0.1}", "ball: {box: [0.1, 0.1, 0.1]}").replace(
        "output: {every: 0.01}", "output: {every: 0.001, fields: [surfaces]}")
    (tmp_path / "scene.yaml").write_text(cube)
    _, written = counted(faults_library, tmp_path / "scene.yaml", tmp_path / "many", "--until", frames_asked / 1000)
    frames = sum(path.stat().st_size for path in (tmp_path / "many").rglob("*.hdf"))
    # A line of history, two entries, and what it takes to make room for them again and again.
    assert written - frames < frames_asked * 1200, (written, frames)
    series = json.loads((tmp_path / "many/surfaces.hdf.series").read_text())["files"]
    assert [entry["name"] for entry in series] == [f"surfaces/{i:06d}.hdf" for i in range(frames_asked + 1)]


def test_series_is_whole_json_while_it_grows(faults_library, tmp_path):
    """Killed at many writes of a run of many frames: what is listed is there, in its order, and is all but the last."""
    scene = tmp_path / "scene.yaml"
    scene.write_text(BALL.replace("every: 0.01", "every: 0.001"))
    for at in (400, 700, 1000, 1003, 1009):
        out = tmp_path / f"out{at}"
        done = talus("run", scene, "-o", out, "--threads", 1, "--quiet", "--until", 1, "--checkpoint-every", 1000,
                     env={"LD_PRELOAD": str(faults_library), "FAULTS_IN": str(out), "KILL_AT": str(at)})
        assert done.returncode == -signal.SIGKILL
        names = [entry["name"] for entry in json.loads((out / "frames.hdf.series").read_text())["files"]]
        there = sorted(path.name for path in (out / "frames").glob("*.hdf"))
        assert names == [f"frames/{i:06d}.hdf" for i in range(len(names))] and len(names) > 50
        assert len(there) - len(names) in (0, 1)


def test_lines_of_joints_of_one_time_are_one_write(faults_library, tmp_path):
    counts = []
    for joints in (1, 50):
        bodies = "".join(f"  - {{name: b{i}, shape: ball, material: stone, at: [{i}, 5, 2]}}\n" for i in range(50))
        ties = "".join(f"  - {{kind: spherical, bodies: [ground, b{i}], at: [{i}, 5, 2.5]}}\n" for i in range(joints))
        scene = BALL.replace("name: ground, ", "").replace("output:", bodies + "joints:\n" + ties + "output:")
        (tmp_path / "scene.yaml").write_text(scene)
        done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / f"out{joints}", "--quiet",
                     env={"LD_PRELOAD": str(faults_library), "COUNT_TO": str(tmp_path / "count")})
        assert done.returncode == 0, done.stderr
        assert len((tmp_path / f"out{joints}/joints.csv").read_text().splitlines()) == 1 + 11 * joints
        counts.append(int((tmp_path / "count").read_text().split()[0]))
    assert counts[0] == counts[1]
