"""Files, folders, names and numbers that somebody made to do harm: each is refused with a message."""
import math
import os
import signal
import shutil
import subprocess

import pytest

from conftest import BALL, TALUS, run, start, talus, wait_for

SCENE = """\
talus: 1
until: 0.01
materials: {stone: {density: 2600}}
shapes: {ball: {sphere: 0.1}}
bodies:
  - {name: ball, shape: ball, material: stone, at: [0, 0, 0.5]}
"""
HULL = "  - {shape: {hull: %s}, material: stone, at: [5, 0, 0]}\n"
MESH = "  - {shape: {mesh: %s}, material: stone, at: [5, 0, 0], fixed: true}\n"
MOTION = "  - {shape: ball, material: stone, at: [5, 0, 0], motion: {table: %s}}\n"


@pytest.fixture
def ball(tmp_path):
    (tmp_path / "ball.yaml").write_text(BALL)
    return tmp_path / "ball.yaml"


# ---- what is no plain file -----------------------------------------------------------------------


def odd_file(tmp_path, kind, name):
    if kind == "FIFO":
        os.mkfifo(tmp_path / name)
        return tmp_path / name
    if kind == "device":
        (tmp_path / name).symlink_to("/dev/zero")
        return tmp_path / name
    (tmp_path / name).mkdir()
    return tmp_path / name


@pytest.mark.parametrize("kind", ["FIFO", "device", "folder"])
@pytest.mark.parametrize("entry, name", [(HULL, "a.obj"), (HULL, "a.stl"), (HULL, "a.csv"), (MOTION, "a.csv"), (MESH, "a.stl"),
                                         (MESH, "a.obj"), (MESH, "a.ply")])
def test_mesh_or_table_that_is_no_plain_file_is_refused(tmp_path, kind, entry, name):
    odd = odd_file(tmp_path, kind, name)
    (tmp_path / "a.yaml").write_text(SCENE + entry % odd)
    done = talus("run", tmp_path / "a.yaml", "-o", tmp_path / "out", timeout=20)
    assert done.returncode in (1, 2) and f"is a {kind}; expected a plain file" in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_contacts_and_shape_read_plain_files_alone(tmp_path, kind):
    odd_file(tmp_path, kind, "a.csv"), odd_file(tmp_path, kind, "a.obj")
    odd_file(tmp_path, kind, "a.ply")
    for words in (["contacts", "a.csv"], ["shape", "info", "a.obj"], ["shape", "repair", "a.ply", "-o", "b.ply"],
                  ["shape", "clump", "a.obj", "--error", "0.1", "-o", "b.yaml"], ["shape", "info", "a.csv"]):
        done = talus(*words, cwd=tmp_path, timeout=20)
        assert done.returncode in (1, 2) and f"is a {kind}; expected a plain file" in done.stderr, done.stderr


@pytest.mark.parametrize("kind", ["FIFO", "device"])
def test_field_reads_plain_files_alone(tmp_path, ball, kind):
    odd_file(tmp_path, kind, "a.png")
    done = talus("field", "--image", "a.png", "-o", "a.csv", cwd=tmp_path, timeout=20)
    assert done.returncode in (1, 2) and ("expected a plain file" in done.stderr or "libpng" in done.stderr), done.stderr
    run(ball, tmp_path / "out")
    (tmp_path / "out/fields/ring").mkdir(parents=True)
    odd_file(tmp_path, kind, "out/fields/ring/000000.hdf")
    done = talus("field", "out", "--average", "ring", "-o", "a.csv", cwd=tmp_path, timeout=20)
    assert done.returncode in (1, 2) and "is not a file" in done.stderr, done.stderr


AVERAGE = """\
averages:
  - {name: cut, grid: {plane: xy, x: [-1, 1], y: [-1, 1], z: [-1, 1], cells: [2, 2]}, record: [velocity]}
"""


@pytest.mark.parametrize("group, name, value", [
    ("talus", "grid", [b"plane"] * 5000), ("talus", "plane", [b"xy"] * 5000), ("talus", "plane", "yx"),
    ("VTKHDF", "Spacing", [1, 1, math.inf]),
    ("VTKHDF", "Spacing", [1, math.nan, 1]), ("talus", "cells", [3, 2, 1]), ("talus", "cells", [-2, 2, 1])])
def test_field_refuses_averages_with_odd_attributes(tmp_path, ball, group, name, value):
    h5py = pytest.importorskip("h5py")
    ball.write_text(ball.read_text() + AVERAGE)
    run(ball, tmp_path / "out")
    with h5py.File(tmp_path / "out/fields/cut/000000.hdf", "r+") as file:
        file[group].attrs[name] = value
    done = talus("field", "out", "--average", "cut", "--frame", 0, "-o", "a.csv", cwd=tmp_path)
    assert done.returncode == 2 and "damaged" in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_mesh_larger_than_the_cap_is_refused(tmp_path):
    with open(tmp_path / "a.stl", "wb") as file:
        file.truncate((1 << 30) + 1)
    done = talus("shape", "info", tmp_path / "a.stl", timeout=120)
    assert done.returncode == 2 and "larger than 1024 MiB" in done.stderr, done.stderr


def test_table_of_bodies_larger_than_half_the_memory_is_refused(tmp_path):
    with open(tmp_path / "a.csv", "wb") as file:
        file.write(b"x,y,z,r\n")
        file.truncate(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    done = talus("contacts", tmp_path / "a.csv", timeout=120)
    assert done.returncode == 2 and "half of this machine's memory" in done.stderr, done.stderr


@pytest.mark.parametrize("name", ["history.csv", "log.txt", "scene.yaml", "checkpoint.hdf", "frames/000001.hdf"])
def test_info_and_render_wait_for_nobody(tmp_path, ball, name):
    run(ball, tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    os.mkfifo(tmp_path / "out" / name)
    for words in (["info", "out"], ["info", "out", "--json"], ["render", "out", "-o", "a.png", "--size", "16x16"],
                  ["audit", "out"]):
        done = talus(*words, cwd=tmp_path, timeout=30)
        assert done.returncode in (0, 1, 2), done.stderr


@pytest.mark.parametrize("name", ["history.csv", "log.txt", "scene.yaml", "checkpoint.hdf", "frames/000000.hdf",
                                  "frames.hdf.series", "probes/floor.csv"])
@pytest.mark.parametrize("option", ["--force", "--resume"])
def test_run_into_a_folder_with_a_fifo_waits_for_nobody(tmp_path, ball, name, option):
    (tmp_path / "out" / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(tmp_path / "out" / name)
    done = talus("run", ball, "-o", tmp_path / "out", option, timeout=30)
    assert done.returncode in (0, 1, 2), done.stderr


def test_a_scene_file_without_an_end_in_the_folder_is_not_read_to_its_end(tmp_path, ball):
    run(ball, tmp_path / "out")
    with open(tmp_path / "out/scene.yaml", "wb") as file:
        file.truncate(1 << 40)
    done = talus("run", ball, "-o", tmp_path / "out", "--resume", "--set", "shapes.ball.sphere=0.2", timeout=30)
    assert done.returncode == 2 and "the scene is not the one of this folder" in done.stderr, done.stderr


# ---- pictures ------------------------------------------------------------------------------------


def can_draw(folder, tmp_path):
    return talus("render", folder, "-o", tmp_path / "try.png", "--size", "16x16", "--samples", 1).returncode == 0


def draw(folder, tmp_path, *options):
    return talus("render", folder, "-o", tmp_path / "a.png", "--size", "32x32", "--samples", 1, *options)


def test_bodies_beyond_what_pictures_can_show_are_refused(tmp_path, ball):
    run(ball, tmp_path / "near")
    if not can_draw(tmp_path / "near", tmp_path):
        pytest.skip("no pictures in this build")
    for i, setting in enumerate(["bodies.1.at=[1e18, 0, 0]", "bodies.1.at=[0, 0, 1e30]", "shapes.ball.sphere=1e18"]):
        out = tmp_path / f"far{i}"
        done = talus("run", ball, "-o", out, "--set", setting, "--until", 0.001)
        if not (out / "frames/000000.hdf").exists():
            continue
        done = draw(out, tmp_path, "--frame", 0)
        assert done.returncode == 2 and "within 1e12 m" in done.stderr, done.stderr


@pytest.mark.parametrize("camera", ["1e30,0,0,0,0,0", "0,0,0,1e300,0,0", "1e18,1,1", "-1e13,0,0,0,0,0"])
def test_camera_beyond_what_pictures_can_show_is_refused(tmp_path, ball, camera):
    run(ball, tmp_path / "out")
    done = draw(tmp_path / "out", tmp_path, f"--camera={camera}")
    assert done.returncode == 2 and "within 1e12 m" in done.stderr, done.stderr


def test_what_pictures_can_show_is_drawn(tmp_path, ball):
    """At the very borders: Embree ends a process whose rays are no numbers."""
    run(ball, tmp_path / "out")
    if not can_draw(tmp_path / "out", tmp_path):
        pytest.skip("no pictures in this build")
    for camera in ("1e12,0,0,0,0,0", "0,0,0,1e12,0,0", "0,0,0", "1e12,1e12,1e12,-1e12,-1e12,-1e12"):
        done = draw(tmp_path / "out", tmp_path, "--camera", camera)
        assert done.returncode == 0, (camera, done.stderr)


@pytest.mark.parametrize("name", ["-f.mp4", "a:b.mp4", "http://a.mp4", "-y -i x.mp4", "pipe:1.mp4"])
def test_films_have_any_name(tmp_path, ball, name):
    """ffmpeg writes to an open file, and does not learn its name."""
    run(ball, tmp_path / "out", "--set", "output.every=0.05")
    if not shutil.which("ffmpeg") or not can_draw(tmp_path / "out", tmp_path):
        pytest.skip("no films here")
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    done = talus("render", "out", f"--output={name}", "--size", "32x32", "--samples", 1, cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / name).stat().st_size > 100, done.stderr


# ---- names ---------------------------------------------------------------------------------------


def test_folder_name_is_no_command(tmp_path):
    """Peers of benchmarks were run by a shell, with names of folders in its line."""
    folder = tmp_path / "a'$(touch pwned)'`touch pwned`'; touch pwned; '"
    folder.mkdir()
    for name in ("talus-peer-bullet-contacts", "talus-peer-ccd", "talus-peer-fcl"):
        (folder / name).write_text("#!/bin/sh\nexit 0\n")
        (folder / name).chmod(0o755)
    for section in ("spheres", "pairs"):
        done = talus("bench", "ellipsoids", "--only", section, "--max", 256, "--repeat", 1, cwd=tmp_path,
                     env={"TALUS_PEERS": str(folder), "TMPDIR": str(folder)})
        assert done.returncode == 0, done.stderr
    assert not (tmp_path / "pwned").exists() and not (folder / "pwned").exists()


EVIL = "a\x1b[31mb\u202ec\u2066d\x07"


def is_clean(text):
    return not any(c in text for c in "\x1b\u202e\u2066\x07\x9b")


def test_control_and_direction_characters_are_escaped(tmp_path):
    title = "red\\u202eback\\u2066"  # others are no text for a scene
    scene = tmp_path / "a.yaml"
    scene.write_text(SCENE.replace("until", f'title: "{title}"\nuntil').replace(
        "name: ball", f'name: "{title}"').replace("at: [0, 0, 0.5]", "at: [0, 0, 0.5], velocity: [1e3, 0, 0]"))
    limit = ["--set", "domain={box: [[-1, -1, -1], [1, 1, 1]], outside: stop}"]
    out = tmp_path / "out"
    said = [talus("check", scene, env={"TERM": "dumb"}), talus("run", scene, "-o", out, *limit, env={"TERM": "dumb"})]
    assert said[1].returncode == 1 and "leaves the domain" in said[1].stderr, said[1].stderr
    said += [talus("info", out), talus("run", tmp_path / EVIL), talus("contacts", EVIL), talus(EVIL), talus("render", EVIL),
             talus("run", EVIL, "--" + EVIL), talus("info", EVIL), talus("shape", "info", EVIL + ".obj")]
    for done in said:
        assert is_clean(done.stdout) and is_clean(done.stderr), done.args
    assert is_clean((out / "log.txt").read_text())
    assert "red\\u202eback\\u2066" in said[0].stdout and "\\x1b[31mb\\u202ec\\u2066d" in said[3].stderr


def test_mistakes_in_a_file_with_an_evil_name_are_escaped(tmp_path):
    (tmp_path / (EVIL + ".yaml")).write_text("talus: 1\nnonsense: 3\n")
    done = talus("check", tmp_path / (EVIL + ".yaml"))
    assert done.returncode == 2 and "nonsense" in done.stderr and is_clean(done.stderr)


def test_command_to_go_on_is_one_that_works_and_that_no_terminal_obeys(tmp_path):
    scene = tmp_path / "evil \x1b[31m.yaml"
    scene.write_text(BALL.replace("until: 0.1", "until: 1000"))
    process = start("run", scene, "-o", tmp_path / "out", "--threads", 1)
    wait_for(lambda: (tmp_path / "out/frames/000001.hdf").exists(), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and is_clean(err), err
    bash = shutil.which("bash")
    if bash:
        line = err.splitlines()[-1].strip().replace("talus ", f"'{TALUS}' ", 1) + " --until 0.01"
        done = subprocess.run([bash, "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60)
        assert "no such file" not in done.stderr.lower(), done.stderr
