"""Files that commands write: whole or as they were; devices, FIFOs and links survive."""
import os
import stat
import subprocess
import threading

import pytest
from conftest import TALUS, run, talus


def write_contacts(tmp_path, output):
    table = tmp_path / "bodies.csv"
    table.write_text("x,y,z,r\n0,0,0,1\n1,0,0,1\n")
    return talus("contacts", table, "-o", output)


def write_plot(tmp_path, output):
    (tmp_path / "ball.yaml").write_text(
        "talus: 1\nuntil: 0.05\nmaterials: {stone: {}}\nshapes: {ball: {sphere: 0.1}}\n"
        "bodies: [{shape: ball, material: stone}]\noutput: {every: 0.01}\n")
    run(tmp_path / "ball.yaml", tmp_path / "out", "--force")
    return talus("info", tmp_path / "out", "--plot", "energy", "-o", output)


def write_picture(tmp_path, output):
    if "embree" not in talus("--version").stdout:
        pytest.skip("built without pictures")
    write_plot(tmp_path, tmp_path / "unused.svg")
    return talus("render", tmp_path / "out", "-o", output, "--size", "32x32", "--samples", 1)


def write_film(tmp_path, output):
    write_picture(tmp_path, tmp_path / "unused.png")
    return talus("render", tmp_path / "out", "-o", output, "--size", "32x32", "--samples", 1)


def write_field(tmp_path, output):
    write_plot(tmp_path, tmp_path / "unused.svg")
    return talus("field", tmp_path / "out", "--cell", 0.1, "-o", output)


def write_mesh(tmp_path, output):
    return talus("shape", "make", "box", "-o", output)


def write_mended(tmp_path, output):
    assert talus("shape", "make", "box", "-o", tmp_path / "mend.stl").returncode == 0
    return talus("shape", "repair", tmp_path / "mend.stl", "-o", output)


def write_clump(tmp_path, output):
    assert talus("shape", "make", "box", "-o", tmp_path / "clump.stl").returncode == 0
    return talus("shape", "clump", tmp_path / "clump.stl", "--error", 0.2, "-o", output)


COMMANDS = [(write_contacts, "x.csv", b"body_a,"), (write_plot, "x.svg", b"<svg"), (write_picture, "x.png", b"\x89PNG"),
            (write_film, "x.mp4", b"ftyp"), (write_mesh, "x.obj", b"v "), (write_mended, "x.ply", b"ply"),
            (write_clump, "x.yaml", b"talus: 1"), (write_field, "x.csv", b"z,y,count"), (write_field, "x.hdf", b"\x89HDF")]
each_command = pytest.mark.parametrize("write, name, sign", COMMANDS, ids=[f"{c[0].__name__}-{c[1]}" for c in COMMANDS])


@each_command
def test_a_device_stays_a_device(tmp_path, write, name, sign):
    device = tmp_path / name
    try:
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))  # a private /dev/null
    except PermissionError:
        pytest.skip("only root makes devices")
    done = write(tmp_path, device)
    assert done.returncode == 0, done.stderr
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert not list(tmp_path.glob(name + "*part*"))


@each_command
def test_a_fifo_is_written_through(tmp_path, write, name, sign):
    pipe, got = tmp_path / name, []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()), daemon=True)
    reader.start()
    done = write(tmp_path, pipe)
    assert done.returncode == 0, done.stderr
    reader.join(timeout=20)
    assert got and sign in got[0][:200] and stat.S_ISFIFO(pipe.lstat().st_mode)


@each_command
def test_a_link_at_the_name_aside_is_not_followed(tmp_path, write, name, sign):
    (tmp_path / "thesis.txt").write_text("mine")
    stem, _, suffix = name.rpartition(".")
    for aside in (f"{name}.part", f"{stem}.part.{suffix}"):
        (tmp_path / aside).symlink_to("thesis.txt")
    done = write(tmp_path, tmp_path / name)
    assert done.returncode == 1 and f"{name}.part" in done.stderr, done.stderr
    assert (tmp_path / "thesis.txt").read_text() == "mine"
    assert not (tmp_path / name).exists() and (tmp_path / f"{name}.part").is_symlink()


@each_command
def test_an_old_file_is_replaced_whole(tmp_path, write, name, sign):
    (tmp_path / name).write_text("old")
    done = write(tmp_path, tmp_path / name)
    assert done.returncode == 0, done.stderr
    assert sign in (tmp_path / name).read_bytes()[:200]
    assert not list(tmp_path.glob("*.part*"))


def test_standard_output_by_name_keeps_its_device(tmp_path):
    """/dev/stdout is a link: to a pipe here, and it must stay one."""
    table = tmp_path / "bodies.csv"
    table.write_text("x,y,z,r\n0,0,0,1\n1,0,0,1\n")
    link = tmp_path / "stdout"
    link.symlink_to("/proc/self/fd/1")
    done = talus("contacts", table, "-o", link)
    assert done.returncode == 0 and done.stdout.startswith("body_a,"), done.stderr
    with open(tmp_path / "kept.csv", "w") as kept:
        subprocess.run([TALUS, "contacts", table, "-o", link], stdout=kept, check=False)
    assert link.is_symlink() and (tmp_path / "kept.csv").read_text().startswith("body_a,")
