"""talus bench machines: every table runs small, and says what it should of joints."""
import csv
import xml.etree.ElementTree

import pytest
from conftest import talus

TABLES = ["joints", "chains", "loops", "vehicle"]


def bench(*arguments, code=0):
    done = talus("bench", "machines", *arguments, timeout=900)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def rows_of(folder, name):
    with open(folder / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All tables once, with chains of up to 100 links and few pebbles."""
    folder = tmp_path_factory.mktemp("quick")
    return folder, bench("--quick", "--max", 100, "--pebbles", 20, "--threads", 2, "-o", folder)


def test_every_table_runs(quick):
    folder, done = quick
    assert done.stdout.count("\n== ") == len(TABLES) and done.stderr == ""
    assert {path.name for path in folder.iterdir()} == {f"{name}.csv" for name in TABLES} | {"chains.svg", "loops.svg"}
    for name in ("chains", "loops"):
        xml.etree.ElementTree.parse(folder / f"{name}.svg")


def test_joints_are_priced_by_kind(quick):
    rows = rows_of(quick[0], "joints")
    assert [row["kind"] for row in rows] == ["distance", "spherical", "universal", "revolute", "prismatic",
                                             "cylindrical", "fixed"]
    assert all(float(row["iterative_ns_per_joint_and_step"]) > 0 for row in rows)


def test_direct_holds_a_chain_better_than_sweeps(quick):
    rows = rows_of(quick[0], "chains")
    assert [(row["links"], row["joints"]) for row in rows] == [
        (n, way) for n in ("10", "30", "100") for way in ("direct", "iterative")]
    for direct, iterative in zip(rows[::2], rows[1::2]):
        assert float(direct["ms_per_step"]) > 0 and iterative["iterations"] == "50"
        assert float(direct["joint_drift_m"]) < 0.5 * float(iterative["joint_drift_m"])


def test_loops_come_nearer_with_more_sweeps(quick):
    direct, *rows = rows_of(quick[0], "loops")
    assert direct["solver"] == "direct" and float(direct["times_direct"]) == 1
    assert [int(row["iterations"]) for row in rows] == [5, 10, 20, 50, 100, 200, 500]
    if "single" in quick[1].stdout:  # rounding hides what sweeps leave of so short a ladder
        return
    assert float(rows[0]["joint_drift_m"]) > 2 * float(rows[3]["joint_drift_m"])
    assert float(direct["joint_drift_m"]) < float(rows[0]["joint_drift_m"])
    assert float(direct["tip_error_m"]) <= float(rows[0]["tip_error_m"])
    assert "after equal time" in quick[1].stdout


def test_the_vehicle_is_timed_by_stage(quick):
    rows = rows_of(quick[0], "vehicle")
    assert [(row["pebbles"], row["joints_solver"], row["threads"]) for row in rows] == [
        (p, s, t) for p in ("1", "20") for s in ("direct", "iterative") for t in ("1", "2")]
    for row in rows:
        assert int(row["joints"]) > 70 and float(row["solve_ms"]) > 0 and float(row["steps_per_s"]) > 0
    for one, two in zip(rows[::2], rows[1::2]):  # threads change nothing but the time
        assert (one["residual_rms"], one["joint_drift_m"]) == (two["residual_rms"], two["joint_drift_m"])


@pytest.mark.parametrize("arguments, message", [
    (["--table", "chain"], "did you mean 'chains'?"),
    (["--max", "3"], "--max is at least 10"),
    (["--links", "3"], "unknown option"),
    (["-o", "/no/such/folder"], "No such file"),
])
def test_bad_options_are_refused(arguments, message):
    done = talus("bench", "machines", *arguments)
    assert done.returncode in (1, 2) and message in done.stderr and done.stdout == ""


def test_help_fits_on_one_screen():
    done = talus("bench", "machines", "--help")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) <= 40 and max(map(len, lines)) <= 80
    assert all(f"\n  {table} " in done.stdout for table in TABLES)
