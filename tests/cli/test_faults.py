"""Killed, or out of disk, at each single call that changes a file: nothing is half, and resuming mends all.

Random moments (test_run.py) rarely hit the few microseconds between two such calls; this hits them all.
"""
import pathlib
import shutil
import signal
import subprocess

import pytest
from conftest import BALL, BUSY, assert_readable, assert_same_folder, talus

SCENE = BUSY.replace("until: 0.3", "until: 0.05")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """What is preloaded: faults.c."""
    library = tmp_path_factory.mktemp("library") / "faults.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("there is no C compiler to make the faults with")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "faults.c",
                    "-ldl"], check=True)
    if talus("--version", env={"LD_PRELOAD": str(library)}).returncode != 0:
        pytest.skip("nothing can be preloaded into this command (a sanitizer build?)")
    return library


@pytest.fixture(scope="module")
def faults(library, tmp_path_factory):
    """Runs the command with a fault: faults(out, *arguments, KILL_AT=3)."""
    folder = tmp_path_factory.mktemp("faults")
    scene = folder / "scene.yaml"
    scene.write_text(SCENE)

    def call(out, *arguments, **fault):
        return talus("run", scene, "-o", out, "--threads", 1, "--checkpoint-every", 0.002, "--quiet", *arguments,
                     env={"LD_PRELOAD": str(library), **{name: str(value) for name, value in fault.items()}})

    done = call(folder / "whole", COUNT_TO=folder / "count")
    assert done.returncode == 0, done.stderr
    return call, folder / "whole", int((folder / "count").read_text())


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
        done = call(out, FULL_AT=at)
        # Only the log and the last fsyncs may be lost without a word.
        assert done.returncode == 1 or (done.returncode == 0 and at > count - 25), (at, done.stderr)
        if done.returncode == 1:
            assert "disk is full" in done.stderr or "standard output" in done.stderr, (at, done.stderr)
        if out.exists():
            assert_readable(out)
            assert not list(out.rglob("*.part")), at
        done = call(out, "--resume")
        assert done.returncode == 0, (at, done.stderr)
        assert_same_folder(whole, out)


def test_lines_of_joints_of_one_time_are_one_write(library, tmp_path):
    counts = []
    for joints in (1, 50):
        bodies = "".join(f"  - {{name: b{i}, shape: ball, material: stone, at: [{i}, 5, 2]}}\n" for i in range(50))
        ties = "".join(f"  - {{kind: spherical, bodies: [ground, b{i}], at: [{i}, 5, 2.5]}}\n" for i in range(joints))
        scene = BALL.replace("name: ground, ", "").replace("output:", bodies + "joints:\n" + ties + "output:")
        (tmp_path / "scene.yaml").write_text(scene)
        done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / f"out{joints}", "--quiet",
                     env={"LD_PRELOAD": str(library), "COUNT_TO": str(tmp_path / "count")})
        assert done.returncode == 0, done.stderr
        assert len((tmp_path / f"out{joints}/joints.csv").read_text().splitlines()) == 1 + 11 * joints
        counts.append(int((tmp_path / "count").read_text()))
    assert counts[0] == counts[1]
