"""The power fails at any moment: of what had not been flushed, any part may be lost.

faults.c records every change of a run. A model of a disk then replays it up to each point: what a flush covers is
there, of everything after that (bytes of files, names in folders) any subset is. In each state what talus had reported as
written must be there, and a resumed run must end as if nothing had happened.
"""
import json
import os
import pathlib
import random
import shutil

import pytest
from conftest import BUSY, assert_same_folder, points, talus

SCENE = BUSY.replace("until: 0.3", "until: 0.05").replace("contacts]", "contacts, surfaces]")


class Record:
    """The changes of a run under a folder, and what is a whole file at each."""

    def __init__(self, path, root, base):
        self.root, self.ops = str(root), []
        live = {}  # path -> inode, as the running process sees it
        self.base = {}  # inode -> bytes
        self.base_names = {}  # path -> inode
        for name, (inode, data) in base.items():
            live[name] = self.base_names[name] = inode
            if data is not None:
                self.base[inode] = data
        full = {inode: bytearray(data) for inode, data in self.base.items()}
        self.whole = {}  # path -> list of (op, bytes): what it was renamed to, in order
        for line in pathlib.Path(path).read_text().splitlines():
            what, inode, name, to, offset, data = (line + " ").split(" ")[:6]
            inode, offset, data = int(inode), int(offset), bytes.fromhex(data)
            at = len(self.ops)
            if what == "mkdir":
                inode = live[name] = f"folder {name}"
            elif what == "make":
                live[name] = inode
                full[inode] = bytearray()
            elif what == "rename":
                inode = live.pop(name)
                live[to] = inode
                self.whole.setdefault(to, []).append((at, bytes(full[inode])))
            elif what == "unlink":
                inode = live.pop(name, None)
            elif what == "write":
                apply_write(full[inode], offset, data)
            elif what == "truncate":
                del full[inode][offset:]
            self.ops.append((what, inode, name, to, offset, data))

    def state(self, end, keep):
        """Files by path after the power failed before change number `end`; keep(i): change i arrived, unflushed."""
        files = {inode: bytearray(data) for inode, data in self.base.items()}
        names = dict(self.base_names)
        flushed = self.flushed(end)
        for i, (what, inode, name, to, offset, data) in enumerate(self.ops[:end]):
            if i not in flushed and not keep(i):
                continue
            if what in ("make", "mkdir"):
                names[name] = inode
            elif what == "rename":
                names.pop(name, None)
                names[to] = inode
            elif what == "unlink":
                names.pop(name, None)
            elif what == "write":
                apply_write(files.setdefault(inode, bytearray()), offset, data)
            elif what == "truncate":
                del files.setdefault(inode, bytearray())[offset:]
        found = {}
        for name, inode in names.items():
            parent = os.path.dirname(name)
            while parent != self.root and parent in names:
                parent = os.path.dirname(parent)
            if parent == self.root:  # and not within a folder that never came to be
                found[name] = None if isinstance(inode, str) else bytes(files.get(inode, b""))
        return found

    def flushed(self, end):
        done, pending = set(), []
        for i, (what, inode, name, to, _, _) in enumerate(self.ops[:end]):
            if what == "syncfs":
                done.update(p[0] for p in pending)
                pending = []
            elif what in ("fsync", "fdatasync"):
                covered = [p for p in pending if p[1] in (inode, name)]
                done.update(p[0] for p in covered)
                pending = [p for p in pending if p not in covered]
            elif what in ("write", "truncate"):
                pending.append((i, inode))
            else:
                pending.append((i, os.path.dirname(name)))
        return done


def apply_write(data, offset, new):
    if len(data) < offset:
        data.extend(bytes(offset - len(data)))
    data[offset:offset + len(new)] = new


def scan(root):
    """What is on the disk before: path -> (inode, bytes; folders None)."""
    return {str(path): (f"folder {path}", None) if path.is_dir() else (path.stat().st_ino, path.read_bytes())
            for path in sorted(root.rglob("*"))}


def record(library, scene, disk, to, *arguments):
    base = scan(disk)
    done = talus("run", scene, "-o", disk / "out", "--threads", 1, "--quiet", "--checkpoint-every", 0.001, *arguments,
                 env={"LD_PRELOAD": str(library), "FAULTS_IN": str(disk), "RECORD_TO": str(to)})
    assert done.returncode == 0, done.stderr
    made = Record(to, disk, base)
    assert sum(b" checkpoint: step" in op[5] for op in made.ops) >= 2
    return made


def check_state(made, end, found):
    """What holds of a folder in any state."""
    out = made.root + "/out/"
    now = made.state(end, lambda i: True)
    for name, data in found.items():
        if name.endswith(".hdf"):
            written = [one for at, one in made.whole.get(name, []) if at < end]
            if name in made.base_names:
                written.append(made.base[made.base_names[name]])
            assert data in written, f"{name} is not whole at {end}"
        if name.endswith(".series"):
            for entry in json.loads(data)["files"]:
                assert name[:name.rindex("/") + 1] + entry["name"] in found, f"{entry['name']} is listed and not there at {end}"
    # Reported: what the series listed when the power failed, and the checkpoint that the log told of.
    for series in ("frames", "surfaces"):
        for entry in json.loads(now.get(f"{out}{series}.hdf.series") or '{"files": []}')["files"]:
            name = out + entry["name"]
            assert name in found and found[name] == now[name], f"{entry['name']} is lost at {end}"
    told = [i for i, op in enumerate(made.ops[:end]) if op[0] == "write" and op[2] == out + "log.txt"
            and b" checkpoint: step" in op[5]]
    if told:
        saved = [one for at, one in made.whole[out + "checkpoint.hdf"] if at < end]
        newest = max(k for k, (at, _) in enumerate(made.whole[out + "checkpoint.hdf"]) if at < told[-1])
        assert found.get(out + "checkpoint.hdf") in saved[newest:], f"the checkpoint is lost at {end}"


def lay_out(found, made, to):
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    for name, data in sorted(found.items()):
        path = to / os.path.relpath(name, made.root)
        path.mkdir(parents=True, exist_ok=True) if data is None else path.write_bytes(data)


def keeps(chance):
    """Ways to lose what was not flushed: all of it, none of it, any part of it."""
    return [lambda i: False, lambda i: True, *[(lambda i, kept=random.Random(chance.random()), seen={}:
                                                seen.setdefault(i, kept.random() < 0.5)) for _ in range(2)]]


@pytest.fixture(scope="module")
def runs(faults_library, tmp_path_factory):
    """A run from its begin, one that goes on, and one that begins anew where another one had ended:
    name -> (record, folder of an undisturbed run, scene)."""
    folder = tmp_path_factory.mktemp("power")
    scene = folder / "scene.yaml"
    scene.write_text(SCENE)
    made = {}
    for name in ("new", "resumed", "forced"):
        disk = folder / name
        disk.mkdir()
        if name != "new":
            done = talus("run", scene, "-o", disk / "out", "--threads", 1, "--until", 0.027, "--quiet")
            assert done.returncode == 0, done.stderr
        made[name] = (record(faults_library, scene, disk, folder / f"{name}.record",
                             *{"new": [], "resumed": ["--resume"], "forced": ["--force"]}[name]), disk / "out", scene)
    return made


@pytest.mark.parametrize("name", ["new", "resumed", "forced"])
def test_what_was_reported_is_there_after_a_power_cut_at_any_moment(runs, name):
    made, _, _ = runs[name]
    chance = random.Random(16)
    assert len(made.ops) > 100
    for end in range(1, len(made.ops) + 1):
        for keep in keeps(chance):
            check_state(made, end, made.state(end, keep))


@pytest.mark.parametrize("name", ["new", "resumed", "forced"])
def test_what_a_run_wrote_is_there_when_it_has_ended(runs, name, tmp_path):
    made, out, _ = runs[name]
    lay_out(made.state(len(made.ops), lambda i: False), made, tmp_path / "disk")
    assert_same_folder(tmp_path / "disk/out", out)
    assert "done at step" in (tmp_path / "disk/out/log.txt").read_text()


@pytest.mark.parametrize("name", ["new", "resumed", "forced"])
def test_run_goes_on_after_a_power_cut_as_if_nothing_had_happened(runs, name, tmp_path):
    made, out, scene = runs[name]
    chance = random.Random(61)
    for end in points(len(made.ops), 15):
        for keep in keeps(chance)[::2]:
            lay_out(made.state(end, keep), made, tmp_path / "disk")
            done = talus("run", scene, "-o", tmp_path / "disk/out", "--threads", 1, "--quiet", "--resume")
            assert done.returncode == 0, (end, done.stderr)
            assert_same_folder(tmp_path / "disk/out", out)
