"""Memory runs out at any block that a command asks for: it ends with a message, never with a signal, and what was there
is there still. memory.c, which is preloaded, refuses the k-th block; threads that cannot be made are told, too."""
import os
import pathlib
import re
import resource
import shutil
import subprocess

import pytest
from conftest import BALL, BUSY, TALUS, assert_readable, assert_same_folder, contents, points, run, talus

SCENE = BUSY.replace("until: 0.3", "until: 0.03")
TABLE = "x,y,z,r\n" + "".join(f"{i % 10},{i // 10},0,0.6\n" for i in range(50))


@pytest.fixture(scope="session")
def memory_library(tmp_path_factory):
    if "TSAN_OPTIONS" in os.environ:
        pytest.skip("the allocator is the thread sanitizer's")
    library = tmp_path_factory.mktemp("library") / "memory.so"
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("there is no C compiler to make the library with")
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "memory.c",
                    "-ldl"], check=True)
    if talus("--version", env={"LD_PRELOAD": str(library)}).returncode != 0:
        pytest.skip("nothing can be preloaded into this command (a sanitizer build?)")
    return library


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A scene, a table, a run that has ended and one that has half ended."""
    at = tmp_path_factory.mktemp("memory")
    (at / "busy.yaml").write_text(SCENE)
    (at / "table.csv").write_text(TABLE)
    (at / "ball.yaml").write_text(BALL)
    for kind, name in (("nut", "nut.ply"), ("box", "box.stl")):
        assert talus("shape", "make", kind, "-o", at / name).returncode == 0
    run(at / "busy.yaml", at / "done", "--quiet")
    run(at / "busy.yaml", at / "half", "--quiet", "--until", 0.015)
    return at


def refused(library, folder, arguments, most, before=lambda: None, after=lambda done, k: None):
    """Runs a command again and again, another block refused each time; how often it told."""
    counted = folder / "blocks"
    before()
    done = talus(*arguments, cwd=folder, env={"LD_PRELOAD": str(library), "BLOCKS_TO": str(counted)})
    assert done.returncode == 0, done.stderr
    told = 0
    for k in points(int(counted.read_text()), most):
        before()
        done = talus(*arguments, cwd=folder, env={"LD_PRELOAD": str(library), "REFUSE_AT": str(k)})
        assert done.returncode in (0, 1) or "damaged, or memory ran out" in done.stderr, (k, done.returncode, done.stderr)
        assert done.returncode == 0 or "memory" in done.stderr, (k, done.stderr)
        told += done.returncode != 0
        after(done, k)
    return told


@pytest.mark.parametrize("arguments", [
    ["check", "busy.yaml"], ["scenes"], ["scenes", "--schema"], ["info", "done"], ["info", "done", "--json"],
    ["info", "done", "--plot", "energy"], ["shape", "info", "busy.yaml"], ["--version"],
    ["shape", "info", "nut.ply"], ["shape", "make", "nut", "-o", "made.stl"], ["shape", "repair", "nut.ply", "-o", "made.obj"],
    ["shape", "clump", "box.stl", "--error", "0.3", "-o", "made.yaml"],
    ["field", "done", "--cell", "0.1", "-o", "made.svg"], ["field", "done", "--cell", "0.1", "-o", "made.hdf"],
    ["sweep", "ball.yaml", "--vary", "seed=1:2", "--dry-run", "-o", "study"],
    ["contacts", "table.csv", "--threads", "1", "-o", "found.csv"],
    ["contacts", "done/frames/000001.hdf", "--threads", "1", "-o", "found.csv"],
], ids=lambda words: f"{' '.join(words[:3])} {words[-1]}")
def test_command_ends_with_a_message_where_memory_is_missing(memory_library, folder, arguments):
    before = contents(folder / "done")
    refused(memory_library, folder, arguments, 12)
    assert contents(folder / "done") == before


def test_study_does_not_call_its_own_files_foreign_where_memory_is_missing(memory_library, folder):
    words = ["sweep", "ball.yaml", "--vary", "seed=1:2", "--jobs", "1", "-o", "again"]
    assert talus(*words, cwd=folder).returncode == 0
    env = {"LD_PRELOAD": str(memory_library)}
    talus(*words, cwd=folder, env=env | {"BLOCKS_TO": str(folder / "blocks")})
    last = int((folder / "blocks").read_text())
    unread = 0
    for k in range(last - 40, last + 1):  # what is there is looked at last
        done = talus(*words, cwd=folder, env=env | {"REFUSE_AT": str(k)})
        assert done.returncode in (0, 1) and "not written by talus sweep" not in done.stderr, (k, done.stderr)
        unread += "replaces only what it sees to be its own" in done.stderr or "must see whether" in done.stderr
    assert unread > 0


@pytest.mark.parametrize("variable", ["REFUSE_AT", "REFUSE_FROM"])
def test_info_never_describes_another_folder_where_memory_is_missing(memory_library, folder, variable):
    """Not a run without frames or without an end, because a folder or the scene could not be read."""
    env = {"LD_PRELOAD": str(memory_library)}
    whole = talus("info", "done", "--json", cwd=folder, env={**env, "BLOCKS_TO": str(folder / "blocks")})
    told = 0
    for k in points(int((folder / "blocks").read_text()), 25):
        done = talus("info", "done", "--json", cwd=folder, env={**env, variable: str(k)})
        assert done.returncode in (0, 1), (k, done.stderr)
        assert (done.stdout == whole.stdout) if done.returncode == 0 else ("memory" in done.stderr), (k, done.stdout, done.stderr)
        told += done.returncode
    assert told > 10


def test_frame_that_memory_does_not_hold_is_not_called_damaged_alone(memory_library, folder):
    for k in (100, 300, 1000):
        done = talus("contacts", "done/frames/000001.hdf", "--threads", "1", cwd=folder,
                     env={"LD_PRELOAD": str(memory_library), "REFUSE_FROM": str(k)})
        assert done.returncode in (1, 2) and "memory" in done.stderr, (k, done.stderr)


def test_picture_is_whole_or_not_there_where_memory_is_missing(memory_library, folder):
    if "embree" not in talus("--version").stdout:
        pytest.skip("this command draws no pictures")

    def check(done, k):
        assert (folder / "picture.png").exists() or done.returncode != 0, k
        if (folder / "picture.png").exists():
            assert (folder / "picture.png").read_bytes().endswith(b"IEND\xaeB`\x82"), k

    refused(memory_library, folder, ["render", "done", "-o", "picture.png", "--time", "0.02", "--size", "32x24", "--samples",
                                     "1", "--threads", "1"], 12, lambda: (folder / "picture.png").unlink(True), check)


@pytest.mark.parametrize("name", ["new", "resumed"])
def test_run_that_memory_ends_is_resumed_to_the_same_end(memory_library, folder, name):
    out = folder / "out"

    def begin():
        shutil.rmtree(out, ignore_errors=True)
        if name == "resumed":
            shutil.copytree(folder / "half", out)

    def go_on(done, k):
        if out.exists():
            assert_readable(out)
        if done.returncode != 0:
            run(folder / "busy.yaml", out, "--quiet", "--resume")
        assert_same_folder(out, folder / "done")

    arguments = ["run", "busy.yaml", "-o", "out", "--threads", "1", "--quiet", *(["--resume"] if name == "resumed" else [])]
    assert refused(memory_library, folder, arguments, 25, begin, go_on) > 15


def test_run_ends_with_a_message_where_all_memory_is_gone(memory_library, folder):
    """From some block on nothing is to be had any more."""
    out = folder / "gone"
    for k in (1, 50, 1200, 1600, 1900, 2100, 2300):
        shutil.rmtree(out, ignore_errors=True)
        done = talus("run", "busy.yaml", "-o", "gone", "--threads", "1", "--quiet", cwd=folder,
                     env={"LD_PRELOAD": str(memory_library), "REFUSE_FROM": str(k)})
        assert done.returncode in (0, 1), (k, done.stderr)
        assert done.returncode == 0 or done.stderr.startswith("talus: ") , (k, done.stderr)
        if out.exists():
            assert_readable(out)
        run(folder / "busy.yaml", out, "--quiet", "--resume")
        assert_same_folder(out, folder / "done")


HEAP = """\
talus: 1
until: 0.01
materials: {glass: {density: 2500}}
shapes: {grain: {sphere: 0.02}, floor: {plane: [0, 0, 1, 0]}}
bodies:
  - {shape: floor, material: glass, fixed: true}
  - fill: {shape: grain, material: glass, count: 1500, in: {box: [[-0.5, -0.5, 0], [0.5, 0.5, 0.6]]}, seed: 3}
"""


def test_run_goes_on_with_fewer_threads_where_the_system_has_no_more(tmp_path):
    """Stacks of 200 threads are more than the process may have; libgomp would end it."""
    (tmp_path / "heap.yaml").write_text(HEAP)
    whole = run(tmp_path / "heap.yaml", tmp_path / "one", "--quiet")
    if "openmp" not in talus("--version").stdout:
        pytest.skip("this command has one thread")
    limit = 1 << 30
    done = subprocess.run(
        [TALUS, "run", "heap.yaml", "-o", "many", "--threads", "200"], cwd=tmp_path, text=True, capture_output=True,
        env={**os.environ, "OMP_WAIT_POLICY": "passive"}, timeout=240,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    if "anitizer" in done.stderr:
        pytest.skip("a sanitizer needs more room than that")
    assert done.returncode == 0, done.stderr
    assert "could not start 200 threads" in (tmp_path / "many/log.txt").read_text()
    assert done.stdout.split()[1] == whole.stdout.split()[1]


def test_more_copies_than_memory_are_refused_at_once(tmp_path):
    """Before the first of them is made: they would fill the machine, one after the other."""
    (tmp_path / "many.yaml").write_text(HEAP.split("  - fill:")[0] +
                                        "  - {shape: grain, repeat: {count: 2000000000, shift: [1, 0, 0]}}\n")
    limit = 1 << 30
    done = talus("check", "many.yaml", cwd=tmp_path,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    if "anitizer" in done.stderr:
        pytest.skip("a sanitizer needs more room than that")
    assert done.returncode != 0
    assert int(re.search(r"out of memory: could not get \d+ bytes \((\d+) are held", done.stderr)[1]) < 1 << 20
