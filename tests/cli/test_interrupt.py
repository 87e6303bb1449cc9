"""Ctrl-C: every command stops within a second of the first one, whatever it is at, and leaves nothing half."""
import os
import random
import signal
import subprocess
import time

import pytest

from conftest import TALUS, BALL, assert_same_folder, run, start, talus, wait_for

# A step that never converges: 200 balls in a box, and a million sweeps.
ENDLESS = """\
talus: 1
until: 1
step: {dt: 5e-3}
solve: {iterations: 1000000, tolerance: 0}
materials: {glass: {density: 2500, friction: 0.4}}
shapes: {grain: {sphere: 0.02}, tank: {container: [0.4, 0.4, 0.8], open: [top]}}
bodies:
  - {name: tank, shape: tank, material: glass, at: [0, 0, 0.4], fixed: true}
  - fill: {shape: grain, material: glass, count: 200, in: {box: [[-0.18, -0.18, 0.02], [0.18, 0.18, 0.3]]},
           seed: 3, velocity: [0, 0, -8]}
"""
SLOW = os.environ.get("TALUS_SOAK_SEEDS") == "2"  # a sanitizer build
PROMPT = 10 if SLOW else 1


def stop(process, sig=signal.SIGINT):
    """Sends the signal once; how long the command went on, its exit code and what it said."""
    began = time.monotonic()
    process.send_signal(sig)
    _, err = process.communicate(timeout=60)
    return time.monotonic() - began, process.returncode, err


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_run_stops_within_a_step(tmp_path, sig):
    (tmp_path / "a.yaml").write_text(ENDLESS)
    process = start("run", tmp_path / "a.yaml", "-o", tmp_path / "out", "--threads", 2, cwd=tmp_path)
    assert wait_for(lambda: (tmp_path / "out/frames/000000.hdf").exists(), process)
    time.sleep(0.3)
    took, code, err = stop(process, sig)
    assert code == 130 and "the state is saved" in err and took < PROMPT, (took, err)
    assert (tmp_path / "out/checkpoint.hdf").exists()


def test_run_that_was_stopped_within_steps_ends_with_the_same_folder(tmp_path):
    """Steps of some 20 ms: most signals come within one."""
    scene = ENDLESS.replace("1000000", "1000").replace("until: 1", "until: 0.1\noutput: {every: 0.02}")
    (tmp_path / "a.yaml").write_text(scene)
    run(tmp_path / "a.yaml", tmp_path / "calm")
    for i in range(3):
        process = start("run", tmp_path / "a.yaml", "-o", tmp_path / "out", "--threads", 1, "--resume", cwd=tmp_path)
        wait_for(lambda: (tmp_path / "out/frames/000000.hdf").exists(), process)
        time.sleep(0.07 + 0.05 * i)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        assert process.returncode in (0, 130)
    run(tmp_path / "a.yaml", tmp_path / "out", "--resume")
    assert_same_folder(tmp_path / "calm", tmp_path / "out")


def many_rows(path, n):
    path.write_text("x,y,z,r\n" + "".join(f"{i % 97},{i % 89},{i % 83},5\n" for i in range(n)))


def test_contacts_stops(tmp_path):
    many_rows(tmp_path / "a.csv", 20000)
    process = start("contacts", tmp_path / "a.csv", "-o", tmp_path / "b.csv")
    time.sleep(0.3)
    if process.poll() is None:
        took, code, _ = stop(process)
        assert code in (130, -signal.SIGINT) and took < PROMPT
    assert not (tmp_path / "b.csv").exists() or process.returncode == 0


def test_check_stops(tmp_path):
    """While a large fill is being planned."""
    (tmp_path / "a.yaml").write_text(ENDLESS.replace("count: 200", "count: 4000000").replace("sphere: 0.02",
                                                                                             "sphere: 0.0008"))
    process = start("check", tmp_path / "a.yaml")
    time.sleep(0.5)
    took, code, _ = stop(process)
    assert code in (130, -signal.SIGINT) and took < PROMPT


def bush(path):
    """Triangles that go through each other, all through all."""
    r, n = random.Random(1), 30000
    corners = "".join(f"{r.random():.6f} {r.random():.6f} {r.random():.6f}\n" for _ in range(3 * n))
    faces = "".join(f"3 {3 * i} {3 * i + 1} {3 * i + 2}\n" for i in range(n))
    path.write_text(f"ply\nformat ascii 1.0\nelement vertex {3 * n}\nproperty double x\nproperty double y\n"
                    f"property double z\nelement face {n}\nproperty list uchar int vertex_indices\nend_header\n"
                    f"{corners}{faces}")


def stone(triangles):
    return lambda path: talus("shape", "make", "noisy-sphere", "--triangles", str(triangles), "-o", path)


@pytest.mark.parametrize("make, arguments", [(bush, ["info", "a.ply"]),
                                             (stone(1310720), ["repair", "a.ply", "-o", "b.ply"]),
                                             (stone(1310720), ["clump", "a.ply", "--error", "1e-6", "-o", "b.yaml"])],
                         ids=["info", "repair", "clump"])
def test_shape_stops(tmp_path, make, arguments):
    """Seconds of work, of which half a second is done."""
    make(tmp_path / "a.ply")
    process = start("shape", *arguments, cwd=tmp_path)
    time.sleep(0.5)
    assert process.poll() is None, "it has ended before it could be stopped"
    took, code, _ = stop(process)
    assert code in (130, -signal.SIGINT) and took < PROMPT
    assert os.listdir(tmp_path) == ["a.ply"]


@pytest.mark.parametrize("name", ["pour", "validation", "ccp"])
def test_bench_stops(tmp_path, name):
    process = start("bench", name, cwd=tmp_path, start_new_session=True)
    time.sleep(0.5)
    took, code, _ = stop(process)
    assert code in (130, -signal.SIGINT) and took < PROMPT


# ---- films ---------------------------------------------------------------------------------------

STUCK = {
    "takes nothing": "exec sleep 1000",
    "does not end": "cat > /dev/null; exec sleep 1000",
    "ignores signals": "trap '' INT TERM HUP; while :; do sleep 1000; done",
}


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    """A result folder, where pictures can be made."""
    folder = tmp_path_factory.mktemp("film")
    (folder / "a.yaml").write_text(BALL)
    run(folder / "a.yaml", folder / "out")
    if talus("render", folder / "out", "-o", folder / "x.png", "--size", "32x32", "--samples", 1).returncode:
        pytest.skip("no pictures in this build")
    return folder / "out"


@pytest.mark.parametrize("how", STUCK)
def test_render_stops_though_ffmpeg_is_stuck(film, tmp_path, how):
    (tmp_path / "bin").mkdir()
    fake = tmp_path / "bin/ffmpeg"
    fake.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\n{STUCK[how]}\n")
    fake.chmod(0o755)
    env = {"PATH": f"{tmp_path}/bin:/bin:/usr/bin"}
    process = subprocess.Popen(
        [TALUS, "render", film, "-o", tmp_path / "a.mp4", "--size", "320x200", "--samples", "1"],
        env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip(), process)
    time.sleep(1)
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.wait(timeout=60)
    assert process.returncode == 130 and time.monotonic() - began < PROMPT
    assert not (tmp_path / "a.mp4.part").exists() and not (tmp_path / "a.mp4").exists()
    encoder = int((tmp_path / "pid").read_text())
    assert wait_for(lambda: is_gone(encoder))


def is_gone(pid):
    """Ended, or a zombie that nobody waits for."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True
