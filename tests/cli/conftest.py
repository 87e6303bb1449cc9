"""What the tests of the command share: how it is called, tiny scenes, and how folders are compared.

The command is $TALUS, or build/release/talus of this tree.
"""
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import pytest

TALUS = os.environ.get("TALUS") or str(pathlib.Path(__file__).parents[2] / "build/release/talus")

os.environ.setdefault("TALUS_PACE", "off")  # runs with threads are to have them

# Sanitizers, and other builds that look for other faults than physics (tests/CMakeLists.txt).
SHORT = "TALUS_TEST_SHORT" in os.environ
SINGLE = "single" in os.path.basename(TALUS)
long_test = pytest.mark.skipif(SHORT, reason="too long for this build; release runs it")

HISTORY_COLUMNS = (
    "time,steps,bodies,pairs,contacts,kinetic_energy,potential_energy,px,py,pz,lx,ly,lz,"
    "residual_max,residual_rms,iterations,dt,wall_total,wall_broad,wall_narrow,wall_solve,"
    "wall_step,wall_output,state_hash,asleep,objective,rotational_energy,contact_work,load_work,flow_energy,"
    "joint_drift,joints_broken,elastic_energy,damping_work,friction_work,joint_force,joint_torque,"
    "overlap_max,overlap_share,sunk,"
    "made_energy,energy_corrections,unconverged,"
    "spring_energy,joint_work,collisions,outside,emitted,removed,zone_energy,zone_work,dt_least,swept,short_steps,"
    "body_steps,body_steps_global,clusters,rounds,rendezvous,rollbacks,depth,window,"
    "inner,force_change,step_loss,comparisons,fallbacks"
).split(",")

# Falls, collides, emits, drains, is probed and writes contacts: a bit of all that has state.
BUSY = """\
talus: 1
title: A bit of everything
until: 0.3
step: {dt: 1e-3}
solve: {iterations: 10}
materials:
  glass: {density: 2500, friction: 0.4, restitution: 0.5}
shapes:
  grain: {sphere: 0.02}
  block: {box: [0.04, 0.04, 0.04]}
  tank: {container: [0.4, 0.4, 0.8], open: [top]}
bodies:
  - {name: tank, shape: tank, material: glass, at: [0, 0, 0.4], fixed: true}
  - {name: cube, shape: block, material: glass, at: [0, 0, 0.021], spin: [0, 0, 5]}
  - fill: {shape: grain, material: glass, count: 40, in: {box: [[-0.18, -0.18, 0.05], [0.18, 0.18, 0.3]]},
           size: {uniform: [0.6, 1]}, seed: 3, velocity: [0, 0, -1]}
emit:
  - {name: tap, shape: grain, material: glass, rate: 200, velocity: [0, 0, -2], seed: 4, size: {uniform: [0.5, 1]},
     from: {disc: {at: [0, 0, 0.6], radius: 0.15}}}
sinks:
  - {name: drain, in: {box: [[-0.2, -0.2, 0], [-0.1, -0.1, 0.03]]}}
probes:
  - {name: floor, body: tank, record: [force, torque], every: 0.007}
  - {name: middle, region: {box: [[-0.1, -0.1, 0], [0.1, 0.1, 0.2]]}, record: [mass-flow, count, energy]}
zones:
  - {name: pull, of: {body: cube}, radius: 0.1, force: {strength: -0.05}, trigger: true, every: 0.017}
averages:
  - {name: heap, grid: {radius: 0.2, z: [0, 0.4], cells: [2, 3]}, record: [density, velocity, pressure, curl], every: 0.031}
output: {every: 0.013, fields: [quaternion, velocity, spin, contacts]}
"""

# One ball on a floor: nothing to compute.
BALL = """\
talus: 1
until: 0.1
materials: {stone: {density: 2600}}
shapes: {ground: {plane: [0, 0, 1, 0]}, ball: {sphere: 0.1}}
bodies:
  - {name: ground, shape: ground, material: stone, fixed: true}
  - {name: ball, shape: ball, material: stone, at: [0, 0, 0.5]}
output: {every: 0.01}
"""

# Makes the ball's velocity leave the range of double, or of float.
DIVERGING = [word for setting in (
    "step.dt=1e28", "until=1e30", "output.every=1e28", "bodies.1.force=[1e30, 0, 0]",
    *(["bodies.1.mass=1e-30"] if SINGLE else
      ["shapes.ball.sphere=1e-30", "materials.stone.density=1e-30"])) for word in ("--set", setting)]


def pytest_configure(config):
    """Results go to memory where there is some: the tests sync thousands of files."""
    memory = "/dev/shm"
    if config.option.basetemp is None and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**28:
        config.option.basetemp = config.talus_temp = tempfile.mkdtemp(prefix="talus-test-", dir=memory)


def pytest_collection_modifyitems(items):
    features = talus("--version").stdout.split()
    missing = [name for name in ("yaml", "hdf5") if name not in features]
    for item in items if missing else []:
        item.add_marker(pytest.mark.skip(reason=f"this command was built without {' and '.join(missing)}"))


def pytest_sessionfinish(session):
    """A file of which nothing could run is skipped, not passed: CTest knows 77."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.exitstatus == 0 and reporter and reporter.stats.get("skipped") and not reporter.stats.get("passed"):
        session.exitstatus = 77


def pytest_unconfigure(config):
    shutil.rmtree(getattr(config, "talus_temp", ""), ignore_errors=True)


def talus(*arguments, cwd=None, env=None, timeout=240, **options):
    """Runs the command to its end; stdout and stderr are text."""
    return subprocess.run(
        [TALUS, *map(str, arguments)], cwd=cwd, env={**os.environ, "OMP_WAIT_POLICY": "passive", **(env or {})},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout, **options)


def start(*arguments, **options):
    """Starts the command and returns the process."""
    return subprocess.Popen(
        [TALUS, *map(str, arguments)], env={**os.environ, "OMP_WAIT_POLICY": "passive"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def run(scene, folder, *arguments, code=0, **options):
    """talus run, which must end with that exit code."""
    done = talus("run", scene, "-o", folder, "--threads", 1, *arguments, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def hash_of(done):
    """The state hash of the last line of a run."""
    words = done.stdout.split()
    assert words[0] == "hash" and len(words[1]) == 16 and int(words[1], 16) >= 0, done.stdout
    return words[1]


def wait_for(condition, process=None, seconds=20):
    """Until the condition holds; False where the process ended first."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        if process is not None and process.poll() is not None:
            return condition()
        time.sleep(0.002)
    return True


def history(folder):
    """Rows of history.csv as dicts of texts; the columns must be those of the contract."""
    lines = (pathlib.Path(folder) / "history.csv").read_text().splitlines()
    assert lines[0].split(",") == HISTORY_COLUMNS
    return [dict(zip(HISTORY_COLUMNS, line.split(","), strict=True)) for line in lines[1:]]


def contents(folder):
    """Every file of a result folder but the log, wall times taken out of the history."""
    folder, found = pathlib.Path(folder), {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        name = path.relative_to(folder).as_posix()
        if name == "log.txt":
            continue
        found[name] = path.read_bytes()
        if name == "history.csv":
            found[name] = [[cell for column, cell in row.items() if not column.startswith("wall_")]
                           for row in history(folder)]
    return found


def assert_same_folder(a, b):
    one, other = contents(a), contents(b)
    assert one.keys() == other.keys()
    for name in one:
        assert one[name] == other[name], f"{name} differs"


def assert_hdf5_is_whole(path):
    """The signature, and a length that is the one in the superblock: a torn file has neither."""
    data = path.read_bytes()
    at = next((at for at in (0, 512, 1024) if data[at:at + 8] == b"\x89HDF\r\n\x1a\n"), None)
    assert at is not None, f"{path} is no HDF5 file"
    version = data[at + 8]
    base, end = struct.unpack_from("<Q", data, at + (24 if version < 2 else 12))[0], None
    end = struct.unpack_from("<Q", data, at + (40 if version < 2 else 28))[0]
    assert len(data) in (end, base + end), f"{path} is cut off"


def assert_readable(folder):
    """What must hold at every moment, whoever was killed: no file is half, the list lists what is there."""
    import json
    folder = pathlib.Path(folder)
    for path in folder.rglob("*.hdf"):
        assert_hdf5_is_whole(path)
    for series in (folder / "frames.hdf.series", *folder.glob("fields/*.hdf.series")):
        if series.exists():
            for entry in json.loads(series.read_text())["files"]:
                assert (series.parent / entry["name"]).exists(), f"{entry['name']} is listed and not there"


def kill(process, sig=signal.SIGKILL):
    process.send_signal(sig)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


@pytest.fixture(scope="session")
def faults_library(tmp_path_factory):
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


def points(count, most=40):
    """Calls 1 ... count at which something goes wrong: all with TALUS_SOAK set, else some, evenly, and the last ones."""
    if os.environ.get("TALUS_SOAK") or count <= most:
        return list(range(1, count + 1))
    return sorted({1 + i * (count - 1) // (most - 1) for i in range(most)})


@pytest.fixture
def busy(tmp_path):
    path = tmp_path / "busy.yaml"
    path.write_text(BUSY)
    return path


@pytest.fixture
def ball(tmp_path):
    path = tmp_path / "ball.yaml"
    path.write_text(BALL)
    return path
