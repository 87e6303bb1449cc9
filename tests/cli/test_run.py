"""talus run: what a run writes, and that threads, stops and resumes leave no trace in it."""
import json
import os
import random
import signal
import time

import pytest
from conftest import (BALL, BUSY, HISTORY_COLUMNS, SHORT, assert_readable, assert_same_folder, contents, hash_of, history,
                      kill, run, start, talus, wait_for)


# ---- what is written ---------------------------------------------------------------------------


def test_folder_holds_the_names_of_the_contract(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out)
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    frames = {f"{folder}/{i:06d}.hdf" for folder in ("frames", "contacts") for i in range(25)}
    assert names == frames | {"scene.yaml", "frames.hdf.series", "checkpoint.hdf", "history.csv", "log.txt",
                              "probes/floor.csv", "probes/middle.csv", "probes/pull.csv", "sinks/drain.csv",
                              "fields/heap.hdf.series", *(f"fields/heap/{i:06d}.hdf" for i in range(10))}


def test_history_has_exactly_the_columns_of_the_contract(busy, tmp_path):
    done = run(busy, tmp_path / "out")
    rows = history(tmp_path / "out")
    assert len(HISTORY_COLUMNS) == 67
    assert rows[-1]["state_hash"] == hash_of(done)
    assert [int(row["steps"]) for row in rows] == [*range(0, 300, 13), 300]
    for row in rows:
        assert float(row["time"]) == int(row["steps"]) * 1e-3
        assert float(row["dt"]) == 1e-3
    walls = [float(row["wall_total"]) for row in rows]
    assert walls == sorted(walls) and walls[-1] > 0


def test_energies_of_a_falling_ball_are_in_the_history(ball, tmp_path):
    run(ball, tmp_path / "out")
    first, *_, last = history(tmp_path / "out")
    mass = 2600 * 4 / 3 * 3.141592653589793 * 0.1**3
    assert float(first["potential_energy"]) == pytest.approx(mass * 9.81 * 0.5, rel=1e-5)
    assert float(last["kinetic_energy"]) == pytest.approx(0.5 * mass * (9.81 * 0.1) ** 2, rel=1e-5)
    assert float(last["pz"]) == pytest.approx(-mass * 9.81 * 0.1, rel=1e-5)


def test_series_lists_every_frame_with_its_time(busy, tmp_path):
    run(busy, tmp_path / "out")
    series = json.loads((tmp_path / "out/frames.hdf.series").read_text())
    assert series["file-series-version"] == "1.0"
    assert [entry["time"] for entry in series["files"]] == [float(row["time"]) for row in history(tmp_path / "out")]
    assert [entry["name"] for entry in series["files"]] == [f"frames/{i:06d}.hdf" for i in range(25)]


def test_frames_are_at_the_steps_nearest_to_the_interval_and_at_the_end(ball, tmp_path):
    run(ball, tmp_path / "out", "--set", "step.dt=0.003", "--set", "output.every=0.01", "--until", 0.05)
    steps = [int(row["steps"]) for row in history(tmp_path / "out")]
    assert steps == [0, 3, 7, 10, 13, 17]  # 0, 0.01, ... 0.05 s over 0.003 s


def test_probe_lines_cover_all_of_the_time_without_gaps(busy, tmp_path):
    run(busy, tmp_path / "out")
    lines = (tmp_path / "out/probes/floor.csv").read_text().splitlines()
    assert lines[0] == "from,to,fx,fy,fz,tx,ty,tz"
    spans = [tuple(map(float, line.split(",")[:2])) for line in lines[1:]]
    assert spans[0][0] == 0 and spans[-1][1] == pytest.approx(0.3)
    assert all(a[1] == b[0] for a, b in zip(spans, spans[1:]))
    assert len(spans) == 43  # every 7 steps of 300, and what is left
    head = (tmp_path / "out/probes/middle.csv").read_text().splitlines()[0]
    assert head == "from,to,mass_flow_x,mass_flow_y,mass_flow_z,count,energy"


def test_written_scene_runs_to_the_same_state(busy, tmp_path):
    first = run(busy, tmp_path / "a")
    text = (tmp_path / "a/scene.yaml").read_text()
    assert text.startswith("# ") and "precision" in text.splitlines()[0]
    second = run(tmp_path / "a/scene.yaml", tmp_path / "b")
    assert hash_of(first) == hash_of(second)
    assert_same_folder(tmp_path / "a", tmp_path / "b")


def test_an_end_before_the_first_step_or_before_the_present_is_refused(ball, tmp_path):
    done = run(ball, tmp_path / "out", "--until", 1e-4, code=2)
    assert "until is 0.0001 s, less than half a step of 0.001 s" in done.stderr and not (tmp_path / "out").exists()
    run(ball, tmp_path / "out", "--until", 0.05)
    done = run(ball, tmp_path / "out", "--resume", "--until", 0.02, code=2)
    assert "the run is at t = 0.05 s already, past the end at 0.02 s; give a later end (--until)" in done.stderr


def test_an_end_at_a_fraction_of_a_step_is_in_a_scene_that_runs(ball, tmp_path):
    first = run(ball, tmp_path / "a", "--until", 6e-4)
    assert "steps 1 " in first.stdout
    second = run(tmp_path / "a/scene.yaml", tmp_path / "b")
    assert hash_of(first) == hash_of(second)
    assert_same_folder(tmp_path / "a", tmp_path / "b")


def test_set_and_until_are_in_the_written_scene(ball, tmp_path):
    done = run(ball, tmp_path / "out", "--set", "bodies.1.at=[0, 0, 2]", "--until", 0.05)
    assert "steps 50 " in done.stdout
    text = (tmp_path / "out/scene.yaml").read_text()
    assert "time: 0.05" in text and "at: [0, 0, 2]" in text


def test_default_folder_is_named_after_the_scene(ball, tmp_path):
    assert talus("run", ball, cwd=tmp_path).returncode == 0
    assert (tmp_path / "ball.out/history.csv").exists()
    assert talus("run", "bounce", "--until", "0.01", cwd=tmp_path).returncode == 0
    assert (tmp_path / "bounce.out/history.csv").exists()


def test_folders_above_are_made(ball, tmp_path):
    run(ball, tmp_path / "a/b/c")
    assert (tmp_path / "a/b/c/history.csv").exists()


# ---- at rest -----------------------------------------------------------------------------------


def test_run_ends_when_all_is_at_rest(ball, tmp_path):
    run(ball, tmp_path / "out", "--set", "until={time: 20, at_rest: 1e-3}", "--set", "materials.stone.restitution=0")
    rows = history(tmp_path / "out")
    assert 0.28 < float(rows[-1]["time"]) < 0.4  # falls 0.4 m in 0.286 s, then lies one interval
    assert "at rest" in (tmp_path / "out/log.txt").read_text()
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert info["finished"] and info["time"] == float(rows[-1]["time"])


def test_ball_at_the_top_of_its_flight_is_not_at_rest(ball, tmp_path):
    # Thrown up so that it stands still at an output time, 0.1 s.
    run(ball, tmp_path / "out", "--set", "until={time: 0.3, at_rest: 0.02}", "--set", "bodies.1.velocity=[0, 0, 0.981]")
    assert float(history(tmp_path / "out")[-1]["time"]) == pytest.approx(0.3)


def test_resting_run_stays_ended_when_it_is_resumed(ball, tmp_path):
    arguments = ["--set", "until={time: 20, at_rest: 1e-3}", "--set", "materials.stone.restitution=0"]
    first = run(ball, tmp_path / "out", *arguments)
    again = run(ball, tmp_path / "out", *arguments, "--resume", "--until", 40)
    assert hash_of(first) == hash_of(again)


# ---- threads -----------------------------------------------------------------------------------


def test_threads_do_not_change_the_result(busy, tmp_path):
    for threads in (1, 2, 4):
        done = talus("run", busy, "-o", tmp_path / str(threads), "--threads", threads)
        assert done.returncode == 0, done.stderr
    assert_same_folder(tmp_path / "1", tmp_path / "2")
    assert_same_folder(tmp_path / "1", tmp_path / "4")


# ---- stop and go on ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run that nobody disturbed."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "busy.yaml").write_text(BUSY)
    done = run(folder / "busy.yaml", folder / "out")
    return folder / "out", hash_of(done)


@pytest.mark.parametrize("half", [0.15, 0.13, 0.0007, 0.2993])
def test_half_and_half_is_the_whole(busy, tmp_path, whole, half):
    """0.13 is an output time, the others are not: their last frames go again."""
    out, state = whole
    run(busy, tmp_path / "out", "--until", half)
    assert hash_of(run(busy, tmp_path / "out", "--resume")) == state
    assert_same_folder(out, tmp_path / "out")


def test_many_short_runs_are_the_whole(busy, tmp_path, whole):
    out, state = whole
    for i in range(1, 30):
        run(busy, tmp_path / "out", "--resume", "--until", i / 100)
    assert hash_of(run(busy, tmp_path / "out", "--resume")) == state
    assert_same_folder(out, tmp_path / "out")


def test_resuming_a_finished_run_changes_nothing(busy, tmp_path, whole):
    out, state = whole
    run(busy, tmp_path / "out")
    assert hash_of(run(busy, tmp_path / "out", "--resume")) == state
    assert_same_folder(out, tmp_path / "out")


def test_finished_run_goes_on_to_a_later_end(busy, tmp_path):
    run(busy, tmp_path / "a")
    run(busy, tmp_path / "a", "--resume", "--until", 0.35)
    run(busy, tmp_path / "b", "--until", 0.35)
    assert_same_folder(tmp_path / "a", tmp_path / "b")


SPRINGS = """\
talus: 1
title: Balls on springs
until: 0.2
step: {kind: STEP, dt: 1e-4}
solve: {kind: KIND}
materials: {stone: {density: 2000, friction: 0.5, restitution: 0.4, stiffness: 6e5}}
shapes:
  tank: {container: [0.6, 0.6, 1]}
  ball: {sphere: 0.04}
bodies:
  - {shape: tank, material: stone, fixed: true, at: [0, 0, 0.5]}
  - fill: {in: {box: [[-0.25, -0.25, 0.05], [0.25, 0.25, 0.6]]}, count: 60, shape: ball, material: stone, seed: 3, velocity: [0.3, 0, -2]}
output: {every: 0.01}
"""


@pytest.mark.parametrize("kind, step", [("penalty", "fixed"), ("impulse", "fixed"), ("penalty", "implicit")])
def test_other_models_resume_to_the_same_folder(kind, step, tmp_path):
    scene = tmp_path / "springs.yaml"
    scene.write_text(SPRINGS.replace("KIND", kind).replace("STEP", step), encoding="utf-8")
    run(scene, tmp_path / "whole")
    run(scene, tmp_path / "half", "--until", 0.1095)
    run(scene, tmp_path / "half", "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "half")
    assert any(int(row["contacts"]) >= 5 for row in history(tmp_path / "whole"))


def test_a_history_that_an_older_talus_began_keeps_its_columns(ball, tmp_path):
    out = tmp_path / "out"
    run(ball, out, "--until", 0.1)
    lines = (out / "history.csv").read_text().splitlines()
    fewer = [",".join(line.split(",")[:49]) for line in lines]
    (out / "history.csv").write_text("\n".join(fewer) + "\n")
    run(ball, out, "--resume", "--until", 0.2)
    after = (out / "history.csv").read_text().splitlines()
    assert len(after) > len(fewer) and after[:len(fewer)] == fewer
    assert {line.count(",") for line in after} == {48}


def test_log_is_cut_back_with_the_rest(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.15)
    run(busy, tmp_path / "out", "--resume")
    log = (tmp_path / "out/log.txt").read_text()
    assert log.count("done at step") == 1 and "goes on at step 150" in log
    assert log.count("checkpoint: step 150,") == 1


def test_wall_times_go_on_too(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.15)
    before = float(history(tmp_path / "out")[-2]["wall_total"])
    run(busy, tmp_path / "out", "--resume")
    walls = [float(row["wall_total"]) for row in history(tmp_path / "out")]
    assert walls == sorted(walls) and walls[-1] > before > 0


LONG = BUSY.replace("until: 0.3", "until: 1.2").replace("rate: 200", "rate: 100")


@pytest.fixture(scope="module")
def long_run(tmp_path_factory):
    """A run long enough to be hit: the scene, its folder, its hash, and how long it took."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.yaml").write_text(LONG)
    begin = time.monotonic()
    done = run(folder / "long.yaml", folder / "out", "--checkpoint-every", 0.02)
    return folder / "long.yaml", folder / "out", hash_of(done), time.monotonic() - begin


@pytest.mark.parametrize("seed", [1] if SHORT else [1, 2, 3])
def test_run_killed_at_random_moments_ends_as_if_nothing_had_happened(tmp_path, long_run, seed):
    scene, whole_out, state, seconds = long_run
    rng = random.Random(seed)
    out = tmp_path / "out"
    kills = 0
    while kills < 40:
        process = start("run", scene, "-o", out, "--threads", 1, "--resume", "--checkpoint-every", 0.02)
        time.sleep(rng.uniform(0, seconds / 8))
        code, _, err = kill(process)
        assert code in (0, -signal.SIGKILL), err
        if out.exists():
            assert_readable(out)
        kills += 1
        if code == 0:
            break
    assert kills > 5
    assert hash_of(run(scene, out, "--resume")) == state
    assert_same_folder(whole_out, out)
    assert not list(out.rglob("*.part"))


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_run_saves_exits_130_and_goes_on(tmp_path, long_run, sig):
    scene, whole_out, state, _ = long_run
    out = tmp_path / "out"
    process = start("run", scene, "-o", out, "--threads", 1)
    wait_for(lambda: (out / "frames/000005.hdf").exists(), process)
    code, _, err = kill(process, sig)
    assert code == 130, err
    assert "the state is saved" in err and "--resume" in err and str(out) in err
    assert_readable(out)
    info = json.loads(talus("info", out, "--json").stdout)
    assert info["resumable"] and not info["finished"]
    assert hash_of(run(scene, out, "--resume")) == state
    assert_same_folder(whole_out, out)


def test_resume_line_of_an_interrupted_run_works(tmp_path):
    (tmp_path / "my scene.yaml").write_text(LONG)
    process = start("run", "my scene.yaml", "--threads", 1, "--set", "title=it's long", "--force", cwd=tmp_path)
    wait_for(lambda: (tmp_path / "my scene.out/frames/000002.hdf").exists(), process)
    code, _, err = kill(process, signal.SIGINT)
    assert code == 130
    line = err.splitlines()[-1].strip()
    assert line == "talus run 'my scene.yaml' --threads 1 --set 'title=it'\\''s long' --resume"


def large_mesh(path):
    """A tetrahedron, and 64 MiB to pass over, so that one can see it being read."""
    path.write_bytes(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n" + (b"#" * 127 + b"\n") * (1 << 19))


def hold_while_it_reads(path, process):
    """Stops the process (SIGSTOP) while it has the file open, in the middle of building its world."""
    folder, end = f"/proc/{process.pid}/fd", time.monotonic() + 20
    while True:
        assert process.poll() is None and time.monotonic() < end, "the mesh was not read"
        try:
            if any(os.readlink(f"{folder}/{name}") == str(path) for name in os.listdir(folder)):
                break
        except OSError:
            pass
    process.send_signal(signal.SIGSTOP)


def stopped_when_it_reads(pipe, process, sig):
    """A pipe can be opened for writing once somebody reads it, who then waits: not before that, nor past it."""
    ends = []

    def is_read():
        try:
            ends.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    assert wait_for(is_read, process), process.communicate()
    code, out, err = kill(process, sig)
    os.close(ends[0])
    assert code == 130, err
    assert out == "" and err.count("\n") == 1, err
    assert err.startswith("talus: stopped before the first step; nothing was written")


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_run_that_is_stopped_while_it_reads_its_scene_says_so(tmp_path, sig):
    os.mkfifo(tmp_path / "slow.yaml")
    process = start("run", tmp_path / "slow.yaml", "-o", tmp_path / "out")
    stopped_when_it_reads(tmp_path / "slow.yaml", process, sig)
    assert not (tmp_path / "out").exists()


def test_run_that_is_stopped_while_it_builds_leaves_the_old_result(tmp_path, ball):
    out = tmp_path / "out"
    run(ball, out)
    before = contents(out)
    large_mesh(tmp_path / "slow.obj")
    (tmp_path / "scene.yaml").write_text("talus: 1\nuntil: 1\nmaterials: {rock: {}}\n"
                                         "bodies: [{shape: {hull: slow.obj}}]\n")
    process = start("run", tmp_path / "scene.yaml", "-o", out, "--force")
    hold_while_it_reads(tmp_path / "slow.obj", process)
    process.send_signal(signal.SIGINT)
    code, _, err = kill(process, signal.SIGCONT)
    assert code == 130 and err.startswith("talus: stopped before the first step; nothing was written"), err
    assert contents(out) == before


# ---- what may change on the way ----------------------------------------------------------------


@pytest.mark.parametrize("setting, key", [
    ("step.dt=5e-4", "step"), ("solve.iterations=11", "solve"), ("gravity=[0, 0, -1]", "gravity"),
    ("bodies.1.at=[0, 0, 0.03]", "bodies"), ("emit.0.rate=1", "emit"), ("sinks=[]", "sinks")])
def test_changed_scene_is_refused_and_the_change_named(busy, tmp_path, setting, key):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.1)
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    done = run(busy, out, "--resume", "--set", setting, code=2)
    assert f"it differs in {key};" in done.stderr
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_output_may_change_on_the_way(busy, tmp_path, whole):
    _, state = whole
    run(busy, tmp_path / "out", "--until", 0.1)
    done = run(busy, tmp_path / "out", "--resume", "--set", "output={every: 0.05, fields: [velocity]}")
    assert hash_of(done) == state
    rows = history(tmp_path / "out")
    assert [int(row["steps"]) for row in rows] == [*range(0, 100, 13), 100, 150, 200, 250, 300]
    assert len(list((tmp_path / "out/frames").iterdir())) == len(rows)
    assert len(list((tmp_path / "out/contacts").iterdir())) == 8
    assert_readable(tmp_path / "out")


def test_probes_may_change_on_the_way(busy, tmp_path, whole):
    _, state = whole
    out = tmp_path / "out"
    run(busy, out, "--until", 0.14)
    old = (out / "probes/floor.csv").read_text()
    done = run(busy, out, "--resume", "--set", "probes.0={name: cube, body: cube, record: [energy], every: 0.05}")
    assert hash_of(done) == state
    spans = [tuple(map(float, line.split(",")[:2])) for line in (out / "probes/cube.csv").read_text().splitlines()[1:]]
    assert [to for _, to in spans] == pytest.approx([0.15, 0.2, 0.25, 0.3]) and spans[0][0] == pytest.approx(0.14)
    assert (out / "probes/floor.csv").read_text() == old
    assert (out / "probes/middle.csv").read_text() == (whole[0] / "probes/middle.csv").read_text()


def test_a_probe_with_another_interval_continues_its_file(busy, tmp_path, whole):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.14)
    old = (out / "probes/floor.csv").read_text()
    assert hash_of(run(busy, out, "--resume", "--set", "probes.0.every=0.05")) == whole[1]
    text = (out / "probes/floor.csv").read_text()
    spans = [tuple(map(float, line.split(",")[:2])) for line in text.splitlines()[1:]]
    assert text.startswith(old) and [to for _, to in spans][-4:] == pytest.approx([0.15, 0.2, 0.25, 0.3])
    assert all(a[1] == b[0] for a, b in zip(spans, spans[1:]))


def test_a_changed_probe_of_the_same_name_is_refused(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.14)
    old = (out / "probes/floor.csv").read_text()
    done = run(busy, out, "--resume", "--set", "probes.0.record=[torque]", code=2)
    assert "the probe `floor` is not the one whose values are in probes/floor.csv" in done.stderr and "another name" in done.stderr
    assert (out / "probes/floor.csv").read_text() == old


def test_the_run_that_bodies_come_from_is_not_overwritten(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.05)
    (tmp_path / "again.yaml").write_text("talus: 1\nuntil: 0.01\nbodies: [{from: out}]\n")
    state = (tmp_path / "out/checkpoint.hdf").read_bytes()
    for folder in ("out", "./out/", tmp_path / "out"):
        done = talus("run", "again.yaml", "-o", folder, "--force", cwd=tmp_path)
        assert done.returncode == 2 and "is the run that the scene takes its bodies `from`" in done.stderr
    assert (tmp_path / "out/checkpoint.hdf").read_bytes() == state


def test_end_before_the_checkpoint_is_refused(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.1)
    done = run(busy, tmp_path / "out", "--resume", "--until", 0.05, code=2)
    assert "past the end" in done.stderr and "--until" in done.stderr


def test_resume_without_a_checkpoint_begins_at_0(busy, tmp_path, whole):
    out, state = whole
    run(busy, tmp_path / "out", "--until", 0.1)
    (tmp_path / "out/checkpoint.hdf").unlink()
    assert hash_of(run(busy, tmp_path / "out", "--resume")) == state
    assert_same_folder(out, tmp_path / "out")
    assert hash_of(run(busy, tmp_path / "new", "--resume")) == state


def test_damaged_checkpoint_is_refused_with_a_way_out(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.05)
    checkpoint = tmp_path / "out/checkpoint.hdf"
    data = bytearray(checkpoint.read_bytes())
    data[len(data) // 2] ^= 1
    checkpoint.write_bytes(data)
    done = run(busy, tmp_path / "out", "--resume", code=2)
    assert "checkpoint.hdf" in done.stderr
    run(busy, tmp_path / "out", "--force", "--until", 0.05)


def test_edited_history_is_refused_with_a_way_out(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.1)
    path = tmp_path / "out/history.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    assert "--force" in run(busy, tmp_path / "out", "--resume", code=2).stderr


def test_deleted_frames_are_left_out_of_the_series(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.1)
    (tmp_path / "out/frames/000002.hdf").unlink()
    run(busy, tmp_path / "out", "--resume", "--until", 0.2)
    assert_readable(tmp_path / "out")
    names = [e["name"] for e in json.loads((tmp_path / "out/frames.hdf.series").read_text())["files"]]
    assert "frames/000001.hdf" in names and "frames/000002.hdf" not in names and "frames/000015.hdf" in names


# ---- folders that are in use -------------------------------------------------------------------


def test_folder_that_is_not_empty_needs_resume_or_force(ball, tmp_path):
    run(ball, tmp_path / "out")
    before = (tmp_path / "out/history.csv").read_bytes()
    done = run(ball, tmp_path / "out", code=2)
    assert "--resume" in done.stderr and "--force" in done.stderr
    assert (tmp_path / "out/history.csv").read_bytes() == before
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/thesis.txt").write_text("mine")
    run(ball, tmp_path / "foreign", code=2)
    assert [path.name for path in (tmp_path / "foreign").iterdir()] == ["thesis.txt"]


def test_force_removes_only_what_talus_wrote(busy, ball, tmp_path):
    out = tmp_path / "out"
    run(busy, out)
    foreign = {"notes.txt": "a", "frames/film.mp4": "b", "frames/12.hdf": "c", "probes/mine.csv": "x,y\n1,2\n",
               "contacts/readme": "d", "history.csv.bak": "e"}
    for name, text in foreign.items():
        (out / name).write_text(text)
    run(ball, out, "--force")
    for name, text in foreign.items():
        assert (out / name).read_text() == text, name
        (out / name).unlink()
    run(ball, tmp_path / "clean")
    for folder in ("contacts", "probes"):
        (out / folder).rmdir()
    assert_same_folder(out, tmp_path / "clean")


@pytest.mark.parametrize("option", ["--force", "--resume"])
def test_scene_that_somebody_wrote_is_never_replaced(tmp_path, option):
    scene = tmp_path / "scene.yaml"
    scene.write_text(BALL)
    assert "was not written by talus" in run(scene, tmp_path, option, code=2).stderr
    assert scene.read_text() == BALL and [path.name for path in tmp_path.iterdir()] == ["scene.yaml"]
    run(scene, tmp_path / "out")
    run(tmp_path / "out/scene.yaml", tmp_path / "out", option)


def test_scene_that_cannot_be_built_costs_no_old_result(ball, tmp_path):
    run(ball, tmp_path / "out")
    before = (tmp_path / "out/history.csv").read_bytes()
    crowd = "bodies.1={fill: {shape: ball, material: stone, count: 1000, in: {box: [[0, 0, 0], [1, 1, 1]]}}}"
    done = run(ball, tmp_path / "out", "--force", "--set", crowd, code=2)
    assert "bodies.1.fill" in done.stderr
    assert (tmp_path / "out/history.csv").read_bytes() == before


def test_two_runs_do_not_share_a_folder(tmp_path, ball, long_run):
    scene, *_ = long_run
    out = tmp_path / "out"
    process = start("run", scene, "-o", out, "--threads", 1)
    wait_for(lambda: (out / "frames/000000.hdf").exists(), process)
    done = run(ball, out, "--force", code=2)
    assert "another run" in done.stderr and str(process.pid) in done.stderr
    assert process.poll() is None or process.returncode == 0
    kill(process)


def test_deleting_the_log_does_not_open_a_folder(tmp_path, ball, long_run):
    scene, *_ = long_run
    out = tmp_path / "out"
    process = start("run", scene, "-o", out, "--threads", 1, "--until", 100)
    wait_for(lambda: (out / "frames/000001.hdf").exists(), process)
    (out / "log.txt").unlink()
    for option in ("--force", "--resume"):
        done = run(ball, out, option, code=2)
        assert "another run" in done.stderr and str(process.pid) in done.stderr
    kill(process)
    run(ball, out, "--force")


SLOW = "talus: 1\nuntil: 0.01\nmaterials: {rock: {density: 1000}}\nbodies: [{shape: {hull: slow.obj}, material: rock}]\n"


def slow_run(tmp_path, out, *arguments):
    """A run that is held while it builds its world; what it returns lets it go on."""
    large_mesh(tmp_path / "slow.obj")
    (tmp_path / "slow.yaml").write_text(SLOW)
    process = start("run", tmp_path / "slow.yaml", "-o", out, "--threads", 1, *arguments)
    hold_while_it_reads(tmp_path / "slow.obj", process)

    def go_on():
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    return process, go_on


@pytest.mark.parametrize("arguments", [[], ["--resume"], ["--force"]])
def test_what_was_finished_while_another_run_built_its_world_stays(tmp_path, ball, arguments):
    out = tmp_path / "out"
    _, go_on = slow_run(tmp_path, out, *arguments)
    run(ball, out)
    before = contents(out)
    code, _, err = go_on()
    assert code == 2 and "while the scene was being built" in err, err
    assert contents(out) == before


def test_folder_is_locked_while_the_world_is_built(tmp_path, ball):
    out = tmp_path / "out"
    out.mkdir()
    process, go_on = slow_run(tmp_path, out)
    done = run(ball, out, code=2)
    assert "another run" in done.stderr and str(process.pid) in done.stderr
    assert list(out.iterdir()) == []
    code, _, err = go_on()
    assert code == 0, err


def test_run_does_not_go_on_in_a_folder_that_took_its_place(tmp_path, ball, long_run):
    scene, *_ = long_run
    out = tmp_path / "out"
    process = start("run", scene, "-o", out, "--threads", 1, "--until", 100)
    wait_for(lambda: (out / "frames/000003.hdf").exists(), process)
    process.send_signal(signal.SIGSTOP)
    out.rename(tmp_path / "old")
    run(ball, out)
    before = contents(out)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1 and "the folder was removed" in err
    assert contents(out) == before
    assert_readable(tmp_path / "old")


def test_empty_folder_is_fine(ball, tmp_path):
    (tmp_path / "out").mkdir()
    run(ball, tmp_path / "out")


def test_file_instead_of_a_folder_is_refused(ball, tmp_path):
    (tmp_path / "out").write_text("mine")
    assert "is a file" in run(ball, tmp_path / "out", code=2).stderr
    assert (tmp_path / "out").read_text() == "mine"
    assert BALL == ball.read_text()
