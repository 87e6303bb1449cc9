"""talus bench ccp: every table runs small, says iterations and residuals beside times, and measures peers."""
import csv
import os
import xml.etree.ElementTree

import pytest
from conftest import talus

TABLES = ["silo", "tank", "convergence", "sweep", "peers"]
METHODS = {"gauss-seidel", "apgd", "jacobi", "bb"}

# Plays mpirun, lmp and all: leaves the heap as it is and says what a program of this kind says.
MPIRUN = """\
#!/bin/sh
test "$1" = -np && test "$4" = -in && test -s "$5" || exit 3
grep -q '^run ' in.heap && grep -q "fix weight all gravity 9.81" in.heap || exit 4
echo "Loop time of 9.0 on 2 procs"
echo "talus_vcm 0.001"
echo "Loop time of $LOOP on 2 procs"
echo "talus_vcm $FALL"
awk 'BEGIN { print "ITEM: ATOMS x y z" } NF == 7 { print $5, $6, $7 }' heap.data > final.txt
"""


def bench(*arguments, code=0, path="/usr/bin:/bin", **options):
    env = {"TALUS_PEERS": "/nowhere", "PATH": str(path), **options}
    done = talus("bench", "ccp", *arguments, timeout=900, env=env)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def rows_of(folder, name):
    with open(folder / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """All tables once, with 300 spheres and no peers."""
    folder = tmp_path_factory.mktemp("quick")
    return folder, bench("--quick", "--max", 300, "--threads", 2, "--peer", "none", "-o", folder)


def test_every_table_runs(quick):
    folder, done = quick
    assert done.stdout.count("\n== ") == len(TABLES) and done.stderr == ""
    assert {path.name for path in folder.iterdir()} == {f"{name}.csv" for name in TABLES} | {
        "convergence-iterations.svg", "convergence-time.svg", "peers.svg"}


@pytest.mark.parametrize("table", ["silo", "tank"])
def test_times_have_iterations_and_residuals_beside_them(quick, table):
    rows = rows_of(quick[0], table)
    assert {row["method"] for row in rows} == METHODS and {row["bodies"] for row in rows} == {"300"}
    for row in rows:
        assert row["iterations"] == "50" and float(row["contacts"]) > 150
        assert 0 < float(row["residual_rms"]) <= float(row["residual_max"]) < 1
        assert 0 < float(row["solve_s"]) < float(row["total_s"]) and float(row["collision_s"]) > 0


@pytest.mark.parametrize("table, ours", [("silo", 9), ("tank", 9)])
def test_sizes_that_the_paper_lacks_have_dashes_and_empty_cells(quick, table, ours):
    folder, done = quick
    assert "nan" not in done.stdout
    lines = (folder / f"{table}.csv").read_text().splitlines()
    columns = lines[0].split(",")
    for line in lines[1:]:
        cells = line.split(",")
        assert len(cells) == len(columns) and all(cells[:ours]) and not any(cells[ours:])
    assert [line for line in done.stdout.splitlines() if line.split()[:2] == ["300", "bb"] and line.endswith(" -")]


def test_more_sweeps_leave_less(quick):
    rows = rows_of(quick[0], "convergence")
    assert {(row["method"], row["start"]) for row in rows} == {(m, s) for m in METHODS for s in ("cold", "warm")}
    cold = [row for row in rows if row["method"] == "gauss-seidel" and row["start"] == "cold"]
    assert [int(row["iterations"]) for row in cold] == [1, 2, 5, 10]
    residuals = [float(row["residual_rms"]) for row in cold]
    assert residuals == sorted(residuals, reverse=True) and residuals[-1] < residuals[0]
    for name in ("convergence-iterations", "convergence-time", "peers"):
        plot = xml.etree.ElementTree.parse(quick[0] / f"{name}.svg").getroot()
        texts = {text.text for text in plot.iter("{http://www.w3.org/2000/svg}text")}
        assert ("talus" if name == "peers" else "apgd, warm") in texts


def test_sweeps_are_priced(quick):
    rows = rows_of(quick[0], "sweep")
    assert {row["threads"] for row in rows} == {"1", "2"}
    assert {row["method"] for row in rows} == METHODS | {"body-steps/s"}
    assert "triad on 2 threads: " in quick[1].stdout and "% of the solve" in quick[1].stdout


def test_the_published_figures_stand_beside_ours(tmp_path):
    done = bench("--table", "silo", "--max", 16000, "--methods", "gauss-seidel", "--settle", 3, "--steps", 1,
                 "--iterations", 2, "-o", tmp_path)
    (row,) = rows_of(tmp_path, "silo")
    assert (row["bodies"], row["paper_cpu_solve_s"], row["paper_gpu_solve_s"]) == ("16000", "7.11", "0.57")
    assert row["iterations"] == "2" and "   16000  gauss-seidel" in done.stdout


def test_the_same_heap_gives_the_same_residuals(quick, tmp_path):
    bench("--quick", "--max", 300, "--threads", 1, "--table", "convergence", "-o", tmp_path)
    keys = ("method", "start", "iterations", "residual_rms", "residual_max")
    assert [[row[key] for key in keys] for row in rows_of(tmp_path, "convergence")] == \
           [[row[key] for key in keys] for row in rows_of(quick[0], "convergence")]


def programs_in(folder):
    folder.mkdir()
    for name, text in (("mpirun", MPIRUN), ("lmp", "#!/bin/sh\n"), ("liggghts", "#!/bin/sh\n")):
        (folder / name).write_text(text)
        os.chmod(folder / name, 0o755)
    return f"{folder}:/usr/bin:/bin"


def test_peers_are_found_on_the_path_and_judged(tmp_path):
    path = programs_in(tmp_path / "bin")
    arguments = ["--table", "peers", "--quick", "--max", 300, "-o", tmp_path]
    bench(*arguments, path=path, LOOP="2.0", FALL="0.001")
    rows = {row["program"]: row for row in rows_of(tmp_path, "peers") if row["program"] != "talus"}
    assert set(rows) == {"lammps-hooke", "lammps-hertz", "liggghts"}
    for row in rows.values():  # the first step they try: the heap that talus settled does not overlap
        assert row["dt"] == "0.0003" and row["passes"] == "1" and float(row["base_error"]) == 0
        assert float(row["simulated_per_wall"]) == pytest.approx(67 * 3e-4 / 2.0)
        assert 0 < float(row["overlap"]) < 0.01
    bench(*arguments, "--peer", "liggghts", path=path, LOOP="2.0", FALL="0.1")
    rows = [row for row in rows_of(tmp_path, "peers") if row["program"] != "talus"]
    assert [row["program"] for row in rows] == ["liggghts"] * 3 and {row["passes"] for row in rows} == {"0"}
    assert float(rows[0]["base_error"]) == pytest.approx(0.099 / (9.81 * 67 * 3e-4), rel=1e-4)


def test_a_peer_that_fails_does_not_pass(tmp_path):
    path = programs_in(tmp_path / "bin")
    (tmp_path / "bin/mpirun").write_text("#!/bin/sh\nexit 1\n")
    bench("--table", "peers", "--quick", "--max", 300, "--peer", "lammps-hooke", "-o", tmp_path, path=path)
    rows = [row for row in rows_of(tmp_path, "peers") if row["program"] == "lammps-hooke"]
    assert len(rows) == 3 and all(row["passes"] == "0" and row["simulated_per_wall"] == "0" for row in rows)


@pytest.mark.parametrize("arguments, message", [
    (["--table", "slio"], "did you mean 'silo'?"),
    (["--methods", "gauss-seidel,apdg"], "there is no method 'apdg'; did you mean 'apgd'?"),
    (["--peer", "lamps-hooke"], "did you mean 'lammps-hooke'?"),
    (["--max", "3"], "--max is at least 100"),
    (["--sweeps", "3"], "unknown option"),
    (["-o", "/no/such/folder"], "No such file"),
])
def test_bad_options_are_refused(arguments, message):
    done = talus("bench", "ccp", *arguments)
    assert done.returncode in (1, 2) and message in done.stderr and done.stdout == ""


def test_help_fits_on_one_screen():
    done = talus("bench", "ccp", "--help")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) <= 40 and max(map(len, lines)) <= 80
    assert all(f"\n  {table} " in done.stdout for table in TABLES)
