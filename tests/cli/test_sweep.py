"""talus sweep: many runs, one table."""
import csv
import json
import math
import os
import signal
import time

import pytest
from conftest import kill, start, talus, wait_for

# Four balls that fall for 0.05 s, at random places: the place of the mass depends on the seed, its fall on gravity alone.
RAIN = """\
talus: 1
until: 0.05
step: {dt: 1e-3}
materials: {stone: {density: 1000}}
shapes: {ball: {sphere: 0.05}, ground: {plane: [0, 0, 1, 0]}}
bodies:
  - {shape: ground, material: stone, fixed: true}
  - fill: {shape: ball, material: stone, count: 4, in: {box: [[-1, -1, 5], [1, 1, 6]]}, size: {uniform: [0.5, 1]}}
probes:
  - {name: air, region: {box: [[-2, -2, 2], [2, 2, 9]]}, record: [count, energy], every: 0.01}
output: {every: 0.01}
"""


@pytest.fixture
def rain(tmp_path):
    path = tmp_path / "rain.yaml"
    path.write_text(RAIN)
    return path


def sweep(scene, folder, *arguments, code=0, **options):
    done = talus("sweep", scene, "-o", folder, "--jobs", 2, *arguments, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def table(folder, name="table.csv"):
    with open(folder / name, encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_a_sweep_has_a_folder_per_run_and_means_with_intervals(rain, tmp_path):
    study = tmp_path / "study"
    what = "potential_energy last"
    done = sweep(rain, study, "--vary", "gravity=[0,0,-10],[0,0,-5]", "--vary", "seed=1:3", "--measure", what,
                 "--measure", "air.count mean 0.01:0.04")
    runs, rows = table(study, "runs.csv"), table(study)
    assert len(runs) == 6 and len(rows) == 2
    assert all((study / run["folder"] / "history.csv").exists() for run in runs)
    assert len({run["folder"] for run in runs}) == 6
    for row, of in zip(rows, (runs[:3], runs[3:])):
        values = [float(run[what]) for run in of]
        mean = sum(values) / 3
        spread = math.sqrt(sum((v - mean) ** 2 for v in values) / 2)
        assert len(set(values)) == 3, "the seed changes the draw"
        assert float(row[what]) == pytest.approx(mean, rel=1e-6)
        assert float(row[what + " +-95%"]) == pytest.approx(4.3027 * spread / math.sqrt(3), rel=1e-4)
        assert (row["runs"], row["failed"], row["reason"]) == ("3", "0", "")
        assert float(row["air.count mean 0.01:0.04"]) == pytest.approx(4, abs=1e-6)
    picture = (study / "plot.svg").read_text()
    assert picture.count('class="bar"') == 2 and "[0,0,-5]" in picture and (study / "plot-2.svg").exists()
    assert "6 of 6 done" in done.stderr and "runs 3" in done.stdout


def test_measures_are_those_of_the_files(rain, tmp_path):
    study = tmp_path / "study"
    measures = [f"kinetic_energy {how} 0.02:0.04" for how in ("mean", "min", "max", "last", "std")]
    sweep(rain, study, "--vary", "gravity=[0,0,-10]", *(word for m in measures for word in ("--measure", m)))
    row = table(study)[0]
    with open(next(study.glob("gravity*/history.csv")), encoding="utf-8") as lines:
        values = [float(r["kinetic_energy"]) for r in csv.DictReader(lines) if 0.0199 < float(r["time"]) < 0.0401]
    mean = sum(values) / len(values)
    expected = [mean, min(values), max(values), values[-1], math.sqrt(sum((v - mean) ** 2 for v in values) / len(values))]
    assert len(values) == 3
    assert [float(row[m]) for m in measures] == pytest.approx(expected, rel=1e-6)
    assert row[measures[0] + " +-95%"] == "", "one run has no interval"


def test_finished_runs_are_kept_and_new_values_added(rain, tmp_path):
    study = tmp_path / "study"
    sweep(rain, study, "--vary", "seed=1:2", "--measure", "kinetic_energy max")
    before = {path: path.stat().st_mtime_ns for path in study.rglob("*.hdf")}
    done = sweep(rain, study, "--vary", "seed=1:3", "--measure", "kinetic_energy min")
    assert all(path.stat().st_mtime_ns == when for path, when in before.items())
    assert "3 of 3 done" in done.stderr and "seed=1 ended" not in done.stderr
    assert len(table(study, "runs.csv")) == 3 and "kinetic_energy min" in table(study)[0]


def test_a_failed_run_is_a_row_with_its_reason(rain, tmp_path):
    study = tmp_path / "study"
    done = sweep(rain, study, "--vary", "bodies.1.fill.count=2,100000", "--measure", "kinetic_energy max", code=1)
    good, bad = table(study)
    assert (good["runs"], good["failed"], bad["runs"], bad["failed"]) == ("1", "0", "0", "1")
    assert bad["kinetic_energy max"] == "" and "fill" in bad["reason"]
    assert "1 of 2 runs failed" in done.stderr
    assert table(study, "runs.csv")[1]["state"] == "failed"


def test_a_dry_run_writes_nothing_and_json_is_json(rain, tmp_path):
    study = tmp_path / "study"
    done = sweep(rain, study, "--vary", "step.dt=1e-3,5e-4", "--vary", "seed=1:2", "--dry-run")
    assert "4 runs, 0 finished" in done.stdout and "step.dt=5e-4,seed=2" in done.stdout and not study.exists()
    plan = json.loads(sweep(rain, study, "--vary", "seed=1:2", "--dry-run", "--json").stdout)
    assert [run["state"] for run in plan["runs"]] == ["waits", "waits"] and not study.exists()
    found = json.loads(sweep(rain, study, "--vary", "seed=1:2", "--measure", "air.energy last", "--json").stdout)
    assert found["table"][0]["runs"] == 2 and found["table"][0]["measures"]["air.energy last"]["half_95"] >= 0


@pytest.mark.parametrize("arguments, message", [
    (["--vary", "materials.stone.frictoin=0.1,0.2"], "did you mean `friction`"),
    (["--vary", "seed=1:2", "--measure", "iar.count mean"], "it has air; did you mean 'air'?"),
    (["--vary", "seed=1:2", "--measure", "kinetic_energy"], "expected a column and what to take of it"),
    (["--vary", "seed=1:2", "--measure", "air.count average"], "expected mean, min, max, last or std"),
    (["--vary", "seed=1:2", "--measure", "air.count mean 3"], "expected an interval of time"),
    (["--vary", "seed=1:2", "--measure", "air.count mean 3:1"], "expected an interval of time"),
    (["--vary", "seed=1:2", "--measure", "air.cuont mean"], "there is no column 'cuont'; did you mean 'count'?"),
    (["--vary", "seed=1:2", "--measure", "kinetic mean"], "did you mean 'kinetic_energy'?"),
    (["--vary", "seed=1:2", "--jobs", "0"], "at least one run has to go at a time"),
    (["--vary", "seed"], "is not key=a,b,c or key=1:5"),
    (["--vary", "seed=1,,2"], "a value is missing"),
    (["--vary", "seed=0.5:2"], "has no step"),
    (["--vary", "seed=5:1"], "has no values"),
    (["--vary", "seed=1:2", "--vary", "seed=3:4"], "is varied twice"),
    (["--vary", "seed=1,2,1"], "has the value 1 twice"),
    (["--vary", "seed=1:200", "--vary", "bodies.1.fill.seed=1:200"], "40000 runs"),
    ([], "nothing is varied"),
])
def test_mistakes_are_told_before_anything_runs_for_long(rain, tmp_path, arguments, message):
    done = sweep(rain, tmp_path / "study", *arguments, code=2)
    assert message in done.stderr and not (tmp_path / "study/table.csv").exists()


def test_a_folder_of_another_study_is_refused(rain, tmp_path):
    study = tmp_path / "study"
    sweep(rain, study, "--vary", "seed=1")
    rain.write_text(RAIN.replace("count: 4", "count: 5"))
    assert "of another study" in sweep(rain, study, "--vary", "seed=1", code=2).stderr
    sweep(rain, study, "--vary", "seed=1", "--force")
    run = study / "seed=1"
    assert "result folder of a run" in sweep(rain, run, "--vary", "seed=1", code=2).stderr


def test_runs_of_another_scene_are_forgotten_with_force(rain, tmp_path):
    study = tmp_path / "study"
    sweep(rain, study, "--vary", "seed=1:2", "--measure", "bodies last")
    rain.write_text(RAIN.replace("count: 4", "count: 5"))
    sweep(rain, study, "--vary", "seed=1", "--measure", "bodies last", "--force")
    done = sweep(rain, study, "--vary", "seed=1:2", "--measure", "bodies last", code=1)
    assert [run["state"] for run in table(study, "runs.csv")] == ["done", "failed"], done.stderr


@pytest.mark.parametrize("text", ["", "# The scene of this study as talus 0.1.0 unders"])
def test_a_sweep_that_was_killed_while_it_wrote_its_scene_goes_on(rain, tmp_path, text):
    (tmp_path / "study").mkdir()
    (tmp_path / "study/scene.yaml.part").write_text(text)
    sweep(rain, tmp_path / "study", "--vary", "seed=1", "--measure", "bodies last")
    assert [run["state"] for run in table(tmp_path / "study", "runs.csv")] == ["done"]
    assert not (tmp_path / "study/scene.yaml.part").exists()


def test_a_begun_scene_of_somebody_else_is_left_alone(rain, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/scene.yaml.part").write_text("my own\n")
    assert "is not empty and holds no study" in sweep(rain, tmp_path / "mine", "--vary", "seed=1", code=2).stderr
    assert (tmp_path / "mine/scene.yaml.part").read_text() == "my own\n"


def test_what_is_no_study_is_left_alone(rain, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/table.csv").write_text("a,b\n")
    assert "is not empty and holds no study" in sweep(rain, tmp_path / "mine", "--vary", "seed=1", code=2).stderr
    assert (tmp_path / "mine/table.csv").read_text() == "a,b\n"
    scene = rain.rename(tmp_path / "scene.yaml")
    assert "replace the scene itself" in sweep(scene, tmp_path, "--vary", "seed=1", "--force", code=2).stderr
    assert scene.read_text() == RAIN


@pytest.mark.parametrize("name, text", [
    ("scene.yaml", "talus: 1\n# mine\n"), ("table.csv", "a,b\n1,2\n"), ("runs.csv", "a,state\n"), ("plot.svg", "<?xml?>"),
    ("seed=1.log", "what I saw\n")])
def test_with_force_too_a_sweep_replaces_only_what_a_sweep_wrote(rain, tmp_path, name, text):
    study = tmp_path / "study"
    study.mkdir()
    (study / name).write_text(text)
    words = ["--vary", "seed=1", "--measure", "bodies last"]
    done = sweep(rain, study, *words, "--force", code=2)
    assert f"{name} was not written by talus sweep" in done.stderr
    assert [path.name for path in study.iterdir()] == [name] and (study / name).read_text() == text
    (study / name).unlink()
    sweep(rain, study, *words, "--force")
    rain.write_text(RAIN.replace("count: 4", "count: 5"))
    sweep(rain, study, *words, "--force")


def test_with_force_the_log_of_a_run_that_is_no_sweeps_stays(rain, tmp_path):
    study = tmp_path / "study"
    talus("run", rain, "-o", study / "mine", "--quiet")
    (study / "mine.log").write_text("talus: my own notes\n")
    sweep(rain, study, "--vary", "seed=1", "--force")
    assert (study / "mine.log").read_text() == "talus: my own notes\n"


@pytest.mark.parametrize("kind", ["link", "FIFO", "folder"])
def test_log_of_a_run_that_is_no_plain_file_is_left_alone(rain, tmp_path, kind):
    study, thesis = tmp_path / "study", tmp_path / "thesis.txt"
    sweep(rain, study, "--vary", "seed=1")
    thesis.write_text("mine")
    log = study / "seed=2.log"
    {"link": lambda: log.symlink_to(thesis), "FIFO": lambda: os.mkfifo(log), "folder": log.mkdir}[kind]()
    done = sweep(rain, study, "--vary", "seed=1:2", code=1, timeout=60)
    assert [run["state"] for run in table(study, "runs.csv")] == ["done", "failed"], done.stderr
    assert "seed=2.log could not be written" in table(study, "runs.csv")[1]["reason"]
    assert thesis.read_text() == "mine"


@pytest.mark.parametrize("name", ["scene.yaml", "table.csv", "runs.csv", "plot.svg"])
@pytest.mark.parametrize("kind", ["link", "FIFO"])
def test_with_force_too_a_sweep_follows_no_link_and_waits_for_nobody(rain, tmp_path, name, kind):
    study, thesis = tmp_path / "study", tmp_path / "thesis.txt"
    study.mkdir()
    thesis.write_text("mine")
    os.symlink(thesis, study / name) if kind == "link" else os.mkfifo(study / name)
    done = sweep(rain, study, "--vary", "seed=1", "--measure", "kinetic_energy mean", "--force", code=2, timeout=60)
    assert f"{name} was not written by talus sweep" in done.stderr
    assert thesis.read_text() == "mine" and [entry.name for entry in study.iterdir()] == [name]


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_sweep_goes_on_and_ends_as_one_that_was_not(rain, tmp_path, sig):
    rain.write_text(RAIN.replace("until: 0.05", "until: 4").replace("output: {every: 0.01}", "output: {every: 0.02}"))
    words = ["--vary", "seed=1:2", "--measure", "kinetic_energy mean"]
    study = tmp_path / "study"
    process = start("sweep", rain, "-o", study, "--jobs", 1, *words)
    assert wait_for(lambda: (study / "seed=1/frames").exists() and len(list((study / "seed=1/frames").iterdir())) > 3, process)
    code, _, err = kill(process, sig)
    if sig == signal.SIGINT:
        assert code == 130 and "2 of 2 runs are left" in err, err
        assert [run["state"] for run in table(study, "runs.csv")] == ["waits", "waits"]
    else:  # its run was told to end: it saves first
        wait_for(lambda: "to go on" in (study / "seed=1.log").read_text())
        time.sleep(0.2)
    assert os.path.exists(study / "seed=1/checkpoint.hdf")
    sweep(rain, study, *words)
    sweep(rain, tmp_path / "whole", *words)
    assert (study / "table.csv").read_text() == (tmp_path / "whole/table.csv").read_text()
