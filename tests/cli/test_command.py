"""The command line: help, exit codes, messages, and the commands that only look."""
import json
import os
import pty
import re
import select
import subprocess

import pytest
from conftest import BALL, DIVERGING, SHORT, TALUS, hash_of, run, talus

COMMANDS = ["run", "check", "scenes", "info", "shape", "sweep", "bench", "field", "contacts", "audit"]


# ---- help --------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"], *[[c, "--help"] for c in COMMANDS],
                                       *[["help", c] for c in COMMANDS]])
def test_help_fits_on_one_screen(arguments):
    done = talus(*arguments)
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) <= 40 and max(map(len, lines)) <= 80
    assert done.stdout.startswith("talus")


def test_help_names_every_command():
    text = talus("--help").stdout
    assert all(re.search(rf"^  {command} ", text, re.M) for command in COMMANDS)


def test_version_lists_the_features():
    done = talus("--version")
    assert done.returncode == 0
    assert re.match(r"talus \d+\.\d+\.\d+\nfeatures: (double|single)\b.*yaml hdf5", done.stdout)
    assert re.search(r"^instructions: (avx512|avx2|generic)$", done.stdout, re.M)


# ---- instruction sets --------------------------------------------------------------------------


def test_the_instruction_set_can_be_forced():
    done = talus("--version", env={"TALUS_ISA": "generic"})
    assert done.returncode == 0
    assert "\ninstructions: generic\n" in done.stdout


def test_an_unknown_instruction_set_is_refused():
    done = talus("--version", env={"TALUS_ISA": "mmx"})
    assert done.returncode == 2
    assert "TALUS_ISA=mmx: unknown instruction set; there are avx512, avx2 and generic" in done.stderr


def test_an_instruction_set_that_the_processor_lacks_is_refused():
    lacks = [isa for isa in ("avx2", "avx512") if talus("--version", env={"TALUS_ISA": isa}).returncode != 0]
    if not lacks:
        pytest.skip("this processor has all of them")
    done = talus("scenes", env={"TALUS_ISA": lacks[0]})
    assert done.returncode == 2
    assert f"TALUS_ISA={lacks[0]}: this processor does not have it" in done.stderr


# ---- bad command lines -------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, message", [
    (["rnu"], "unknown command 'rnu'; did you mean 'talus run'?"),
    (["frobnicate"], "unknown command 'frobnicate'; see talus --help"),
    (["--vresion"], "unknown option '--vresion'"),
    (["run"], "run: a scene is missing: talus run SCENE"),
    (["check"], "check: a scene is missing"),
    (["info"], "info: a result folder is missing"),
    (["run", "a", "b"], "run: 'b' is one argument too many"),
    (["run", "bounce", "--outptu", "x"], "unknown option '--outptu'; did you mean '--output'?"),
    (["run", "bounce", "--thread=2"], "unknown option '--thread'; did you mean '--threads'?"),
    (["run", "bounce", "--xyzzy"], "unknown option '--xyzzy'; see talus run --help"),
    (["run", "bounce", "-x"], "unknown option '-x'"),
    (["run", "bounce", "-o"], "option '--output' needs a value: --output DIR"),
    (["run", "bounce", "--output="], "option '--output': '' is not a value"),
    (["run", "bounce", "--threads", "two"], "option '--threads': 'two' is not a whole number, 0 or more"),
    (["run", "bounce", "--threads", "-1"], "'-1' is not a whole number"),
    (["run", "bounce", "--threads", "99999"], "99999 is more than 4096"),
    (["run", "bounce", "--threads", "1.5"], "'1.5' is not a whole number"),
    (["run", "bounce", "--threads"], "option '--threads' needs a whole number, 0 or more: --threads N"),
    (["run", "bounce", "--until", "soon"], "option '--until': 'soon' is not a number"),
    (["run", "bounce", "--until", "nan"], "'nan' is not a number"),
    (["run", "bounce", "--until", "inf"], "'inf' is not a number"),
    (["run", "bounce", "--until", "0x10"], "'0x10' is not a number"),
    (["run", "bounce", "--until", "0"], "0 is not a positive time"),
    (["run", "bounce", "--until", "-3"], "-3 is not a positive time"),
    (["run", "bounce", "--until", "1e300"], "until is 1e+300 s"),
    (["run", "bounce", "--checkpoint-every", "-1"], "-1 is not a time in seconds"),
    (["run", "bounce", "--backend", "gpu"], "'gpu' is not a backend: these are cpu, check, cuda"),
    (["run", "chain", "--backend", "check", "--no-fallback"], "does not know joints"),
    (["run", "bounce", "--resume", "--force"], "choose one of the two"),
    (["run", "bounce", "--quiet=yes"], "option '--quiet' takes no value"),
    (["run", "no-such-scene"], "no-such-scene"),
    (["run", "bunce"], "bounce"),
    (["run", "bounce", "--set", "untl=1"], "until"),
    (["run", "bounce", "--set", "nonsense"], "nonsense"),
    (["check", "no-such-file.yaml"], "no-such-file.yaml"),
    (["scenes", "bunce"], "no built-in scene 'bunce'; did you mean 'bounce'?"),
    (["scenes", "bounce", "--schema"], "leave 'bounce' out"),
    (["bench", "ccp", "-o", "pour", "--table", "nosuch"], "no table 'nosuch'"),
    (["bench", "ccp", "--quick", "puor"], "'puor' is one argument too many"),
    (["bench", "puor"], "no benchmark 'puor'; did you mean 'pour'?"),
    (["info", "no-such-folder"], "no-such-folder: No such file or directory"),
])
def test_bad_command_line_exits_2_with_one_clear_message(arguments, message, tmp_path):
    done = talus(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_no_arguments_show_help_and_exit_2():
    done = talus()
    assert done.returncode == 2 and "talus COMMAND" in done.stderr and done.stdout == ""


def test_arguments_after_two_dashes_are_no_options(tmp_path):
    (tmp_path / "--odd.yaml").write_text(BALL)
    done = talus("run", "-oout", "--until=0.01", "--", "--odd.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/history.csv").exists()


# ---- output ------------------------------------------------------------------------------------


def test_data_goes_to_stdout_and_messages_to_stderr(ball, tmp_path):
    done = run(ball, tmp_path / "out")
    assert re.fullmatch(r"hash [0-9a-f]{16}  steps 100  time 0.1 s  bodies 2  frames 11  wall .*\n", done.stdout)
    assert "frames.hdf.series" in done.stderr
    assert "\033" not in done.stdout + done.stderr and "\r" not in done.stderr


def test_quiet_run_prints_its_last_line_only(ball, tmp_path):
    done = run(ball, tmp_path / "out", "--quiet")
    assert done.stderr == "" and len(done.stdout.splitlines()) == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
def test_full_standard_output_is_an_error(ball, tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TALUS, "scenes"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "standard output" in done.stderr


def on_terminal(*arguments, env=None):
    """Runs the command with a terminal as its stderr; returns the exit code and what it showed there."""
    master, slave = pty.openpty()
    process = subprocess.Popen([TALUS, *map(str, arguments)], stderr=slave, stdout=subprocess.PIPE,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **(env or {})})
    os.close(slave)
    shown = b""
    while True:
        ready, _, _ = select.select([master], [], [], 20)
        try:
            data = os.read(master, 65536) if ready else b""
        except OSError:  # Linux says EIO when the other side is closed
            data = b""
        if not data:
            break
        shown += data
    os.close(master)
    process.stdout.read()
    return process.wait(20), shown.decode()


def test_bar_on_a_terminal_stays_within_a_line_and_is_erased(busy, tmp_path):
    code, shown = on_terminal("run", busy, "-o", tmp_path / "out", "--threads", "1", "--until", "1")
    assert code == 0
    bars = [part for part in shown.split("\r") if part.startswith("[")]
    assert bars and all(len(part.split("\033")[0]) < 80 for part in bars)
    assert re.search(r"\d+% t [\d.e-]+/1 s \S+ steps/s \S+ bodies \S+ contacts ETA [\d:]+", bars[-1])
    assert shown.split("talus: open")[0].endswith("\r\033[K")


def test_a_wide_terminal_shows_how_deep_bodies_overlap(busy, tmp_path):
    code, shown = on_terminal("run", busy, "-o", tmp_path / "out", "--threads", "1", "--until", "1",
                              env={"COLUMNS": "120"})
    assert code == 0 and re.search(r"contacts overlap [\d.e-]+% ETA", shown)


def test_colour_only_on_a_terminal_that_wants_it(tmp_path):
    arguments = ["run", "bounce", "--threads", "x"]
    assert "\033[1;31m" in on_terminal(*arguments)[1]
    assert "\033" not in on_terminal(*arguments, env={"NO_COLOR": "1"})[1]
    assert "\033" not in on_terminal(*arguments, env={"TERM": "dumb"})[1]
    assert "\033" not in talus(*arguments).stderr


# ---- scenes ------------------------------------------------------------------------------------


def test_scenes_are_listed_with_what_they_show():
    lines = talus("scenes").stdout.splitlines()
    names = [line.split()[0] for line in lines]
    assert "pour" in names and "bounce" in names and names == sorted(names)
    assert all(len(line.split()) > 3 for line in lines)


def test_every_listed_scene_prints_and_checks(tmp_path):
    for line in talus("scenes").stdout.splitlines()[::4 if SHORT else 1]:
        name = line.split()[0]
        printed = talus("scenes", name)
        assert printed.returncode == 0 and "talus: 1" in printed.stdout
        (tmp_path / f"{name}.yaml").write_text(printed.stdout)
        checked = talus("check", tmp_path / f"{name}.yaml")
        assert checked.returncode == 0, checked.stderr
        assert "a valid scene" in checked.stdout


def test_schema_documents_the_keys():
    done = talus("scenes", "--schema")
    assert done.returncode == 0
    assert all(key in done.stdout for key in ("restitution", "at_rest", "allow_fewer", "periodic"))


# ---- check -------------------------------------------------------------------------------------


def test_check_says_what_a_scene_holds_and_costs(busy):
    done = talus("check", busy)
    assert done.returncode == 0 and done.stderr == ""
    assert re.search(r"bodies +42: 41 free, 1 fixed", done.stdout)
    assert re.search(r"time +300 steps of 0.001 s, until 0.3 s", done.stdout)
    assert re.search(r"output +25 frames", done.stdout)
    assert re.search(r"overlaps +none", done.stdout)
    assert re.search(r"memory +[\d.]+ [KM]iB", done.stdout)


def test_check_does_not_take_the_first_step_for_all_of_them(ball):
    line = talus("check", ball).stdout.splitlines()[-1]
    assert "for an early step" in line and "like it take" in line


def test_check_names_the_bodies_that_overlap(ball):
    done = talus("check", ball, "--set", "bodies.1.at=[0, 0, 0.07]")
    assert done.returncode == 0
    assert re.search(r"overlaps +1 at the start, the deepest 0\.03\d* m: 'ground' and 'ball'|"
                     r"overlaps +1 at the start, the deepest 0\.0299\d+ m: 'ground' and 'ball'", done.stdout)


def test_check_shows_every_mistake_with_a_caret(tmp_path):
    (tmp_path / "bad.yaml").write_text(BALL.replace("until: 0.1", "until: soon").replace("density: 2600", "densty: 1"))
    done = talus("check", tmp_path / "bad.yaml")
    assert done.returncode == 2 and done.stdout == ""
    assert "bad.yaml:2:8: " in done.stderr and "bad.yaml:3:" in done.stderr
    assert done.stderr.count("^") >= 2
    assert "density" in done.stderr


# ---- info --------------------------------------------------------------------------------------


def test_info_sums_up_a_folder(busy, tmp_path):
    done = run(busy, tmp_path / "out")
    text = talus("info", tmp_path / "out")
    assert text.returncode == 0 and text.stderr == ""
    assert hash_of(done) in text.stdout and "finished" in text.stdout and "A bit of everything" in text.stdout
    for label in ("kinetic energy", "total energy", "residual max", "contacts", "solve", "step size"):
        assert re.search(rf"^  {label}", text.stdout, re.M), label


def test_info_json_is_complete(busy, tmp_path):
    done = run(busy, tmp_path / "out")
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert info["state_hash"] == hash_of(done) == info["checkpoint"]["state_hash"]
    assert info["finished"] and info["resumable"]
    assert (info["steps"], info["frames"], info["contact_files"], info["probes"]) == (300, 25, 25, 3)
    assert info["dt"] == 1e-3 and info["scene"]["until"] == 0.3
    assert info["scene"]["title"] == "A bit of everything"
    for key in ("bodies", "pairs", "contacts", "kinetic_energy", "potential_energy", "total_energy", "residual_max",
                "residual_rms", "iterations"):
        span = info["history"][key]
        assert span["min"] <= min(span["first"], span["last"]) <= span["max"], key
    assert 0 < sum(info["wall"]["share"].values()) <= 1.001
    assert set(info["wall"]["share"]) == {"broad", "narrow", "solve", "step", "output"}


def test_info_tells_why_a_run_failed(tmp_path):
    scene = tmp_path / "bird.yaml"
    scene.write_text(
        "talus: 1\nuntil: 1\nstep: {dt: 1e-3}\nmaterials: {m: {density: 1000}}\nshapes: {s: {sphere: 0.1}}\n"
        "domain: {box: [[-1, -1, -1], [1, 1, 1]], outside: stop}\n"
        "bodies: [{name: bird, shape: s, material: m, velocity: [5, 0, 0]}]\n"
    )
    run(scene, tmp_path / "out", code=1)
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert not info["finished"] and "'bird'" in info["failure"] and "outside: stop" in info["failure"]
    assert "failed               body 1 'bird'" in talus("info", tmp_path / "out").stdout


def test_info_tells_an_unfinished_run(busy, tmp_path):
    run(busy, tmp_path / "out", "--until", 0.1)
    (tmp_path / "out/scene.yaml").write_text((tmp_path / "out/scene.yaml").read_text().replace("time: 0.1", "time: 9"))
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert not info["finished"] and info["resumable"]
    (tmp_path / "out/checkpoint.hdf").write_bytes(b"nonsense")
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert not info["resumable"] and info["checkpoint"]["error"]
    (tmp_path / "out/checkpoint.hdf").unlink()
    assert "no checkpoint" in talus("info", tmp_path / "out").stdout


def test_info_refuses_what_is_no_result_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/history.csv").write_text("a,b\n1,2\n")
    (tmp_path / "file").write_text("x")
    for name, message in (("empty", "not a result folder"), ("foreign", "not a result folder"), ("file", "is a file"),
                          ("missing", "No such file")):
        done = talus("info", tmp_path / name)
        assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_info_survives_a_torn_last_line(ball, tmp_path):
    run(ball, tmp_path / "out")
    with open(tmp_path / "out/history.csv", "a") as file:
        file.write("0.11,110,2")
    info = json.loads(talus("info", tmp_path / "out", "--json").stdout)
    assert info["steps"] == 100


# ---- failing runs ------------------------------------------------------------------------------


def test_body_leaving_a_stop_domain_ends_the_run_with_its_name(ball, tmp_path):
    out = tmp_path / "out"
    done = run(ball, out, "--until", 1, "--set", "domain={box: [[-1, -1, 0.4], [1, 1, 1]], outside: stop}", code=1)
    assert "'ball'" in done.stderr and "t = 0.14" in done.stderr and "outside: stop" in done.stderr
    frames = json.loads((out / "frames.hdf.series").read_text())["files"]
    assert len(frames) == 16 and frames[-1]["time"] == pytest.approx(0.142, abs=2e-3)
    assert frames[-1]["name"] in done.stderr
    assert "outside: stop" in (out / "log.txt").read_text()


def test_body_that_leaves_after_touching_names_its_contacts(ball, tmp_path):
    done = run(ball, tmp_path / "out", "--until", 2, "--set", "bodies.1.velocity=[3, 0, 0]",
               "--set", "domain={box: [[-1, -1, -1], [1.5, 1, 1]], outside: stop}", code=1)
    assert "'ball'" in done.stderr and "'ground'" in done.stderr


def test_diverging_run_names_the_body_and_writes_no_nan(ball, tmp_path):
    out = tmp_path / "out"
    done = run(ball, out, *DIVERGING, code=1)
    assert "'ball'" in done.stderr and "t = " in done.stderr and "smaller step" in done.stderr
    assert "nan" not in (out / "history.csv").read_text().lower()
    assert not (out / "checkpoint.hdf").exists()


