"""talus bench broad: that it runs, agrees with itself and with its peers, and writes what it says."""
import csv
import os
import xml.etree.ElementTree

import pytest
from conftest import kill, start, talus, wait_for

SECTIONS = ["table1", "tables23", "figures", "uniform", "sizes", "order", "skin", "auto"]
METHODS = {"bins", "kdtree", "cells", "sweep", "bvh", "auto"}

PEER = """\
#!/bin/sh
# A peer that counts as many pairs as it is told to.
test -s "$1" || exit 3
echo "embree-low pairs $PAIRS time_ms 12.5 peak_mb 3.5"
"""


def bench(*arguments, code=0, peers="/nowhere", **options):
    done = talus("bench", "broad", *arguments, timeout=900, env={"TALUS_PEERS": str(peers), **options})
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_every_section_runs_and_all_methods_agree(tmp_path):
    done = bench("--max", 2000, "--quick", "--csv", tmp_path / "all.csv", "--svg", tmp_path / "plot.svg")
    assert done.stdout.count("\n== ") == len(SECTIONS) and done.stderr == ""
    assert "all methods found the same pairs" in done.stdout and "MISMATCH" not in done.stdout
    assert "GB/s on 1 thread," in done.stdout and "times the best fixed choice" in done.stdout
    with open(tmp_path / "all.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["section"] for row in rows} == set(SECTIONS)
    uniform = [row for row in rows if row["section"] == "uniform"]
    assert {row["method"] for row in uniform} == METHODS | {"brute"}
    assert {row["threads"] for row in uniform} == {"1", "2"} and {row["bodies"] for row in uniform} == {"2000"}
    assert len({row["pairs"] for row in uniform}) == 1
    assert all(float(row["ms"]) > 0 and float(row["ratio_to_best"]) > 0 for row in uniform)
    settling = {row["method"]: row for row in rows if row["section"] == "tables23" and row["threads"] == "1"}
    assert int(settling["kd-tree-1"]["candidates"]) > int(settling["kd-tree-2"]["candidates"]) > 0
    assert int(settling["brute"]["candidates"]) == 2000 * 1999 // 2
    plot = xml.etree.ElementTree.parse(tmp_path / "plot.svg").getroot()
    texts = {text.text for text in plot.iter("{http://www.w3.org/2000/svg}text")}
    assert METHODS <= texts


def peers_in(folder, script):
    folder.mkdir()
    for name in ("embree", "bullet"):
        path = folder / f"talus-peer-{name}"
        path.write_text(script)
        os.chmod(path, 0o755)
    return folder


def test_peers_are_measured_beside_and_must_agree(tmp_path):
    folder = peers_in(tmp_path / "peers", PEER)
    arguments = ["--max", 500, "--quick", "--only", "uniform", "--threads", 1]
    found = bench(*arguments).stdout
    pairs = next(line.split()[4] for line in found.splitlines() if line.startswith("  bins"))
    done = bench(*arguments, peers=folder, PAIRS=pairs)
    assert "  embree-low            12.500" in done.stdout and "MISMATCH" not in done.stdout
    assert "embree" not in bench(*arguments, "--no-peers", peers=folder).stdout
    done = bench(*arguments, peers=folder, code=1, PAIRS="7")
    assert f"MISMATCH: embree-low finds 7 pairs, bins {pairs}" in done.stdout and "MISMATCHES" in done.stdout


def test_peer_that_fails_is_told(tmp_path):
    folder = peers_in(tmp_path / "peers", "#!/bin/sh\necho nonsense\nexit 1\n")
    done = bench("--max", 200, "--quick", "--only", "uniform", "--threads", 1, peers=folder)
    assert "a peer said: nonsense" in done.stderr and "talus-peer-embree failed" in done.stderr


@pytest.mark.parametrize("arguments, message", [
    (["--threads", "0"], "'0' is not a list of counts"),
    (["--threads", "1,,2"], "is not a list of counts"),
    (["--max", "3"], "--max is at least 10"),
    (["--only", "unifrom"], "did you mean 'uniform'?"),
    (["--sgv", "x"], "did you mean '--svg'?"),
    (["17"], "one argument too many"),
    (["--csv", "/no/such/folder/x.csv"], "there is no folder"),
])
def test_bad_options_are_refused(arguments, message):
    done = talus("bench", "broad", *arguments)
    assert done.returncode in (1, 2) and message in done.stderr and done.stdout == ""


def test_help_fits_on_one_screen():
    done = talus("bench", "broad", "--help")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) <= 40 and max(map(len, lines)) <= 80
    assert all(f"\n  {section} " in done.stdout for section in SECTIONS)


def test_table_is_whole_or_as_it_was(tmp_path):
    """Killed while it measures, or with no room on the disk: the old table is there."""
    table = tmp_path / "table.csv"
    table.write_text("of yesterday")
    process = start("bench", "broad", "--max", 20000, "--repeat", 99, "--threads", 1, "--csv", table)
    assert wait_for(lambda: (tmp_path / "table.csv.part").exists(), process)
    kill(process)
    assert table.read_text() == "of yesterday"
    done = bench("--max", 100, "--quick", "--only", "uniform", "--threads", 1, "--csv", table)
    assert table.read_text().startswith("section,") and not (tmp_path / "table.csv.part").exists(), done.stderr
    done = bench("--max", 100, "--quick", "--only", "uniform", "--threads", 1, "--csv", "/dev/full", code=1)
    assert "/dev/full: could not be written: the disk is full" in done.stderr


# ---- contacts on a device ----------------------------------------------------------------------


def gpu(*arguments, code=0):
    done = talus("bench", "gpu-detect", "--backend", "check", "--repeat", 1, *arguments, timeout=600)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_published_tables_of_a_device_have_the_contacts_of_the_cpu(tmp_path):
    gpu("--table", "000", "--most", 1500, "--csv", tmp_path / "000.csv")
    with open(tmp_path / "000.csv") as file:
        rows = list(csv.DictReader(file))
    assert [row["how"] for row in rows] == ["spheres", "newton", "method 1: opm", "method 2: chm+opm"]
    assert {row["same"] for row in rows} == {"1"} and len({row["contacts"] for row in rows[1:]}) == 1
    done = gpu("--table", "002-lattice", "--most", 20000)
    sums = [line.split("sum ")[1] for line in done.stdout.splitlines() if "sum " in line]
    assert len(sums) == 4 and len(set(sums[:3])) == 1 and sums[3] != sums[0]


def test_cells_of_a_device_are_measured_and_other_names_refused():
    assert gpu("--broad", "cells", "--bodies", 3000).stdout.rstrip().endswith("same")
    assert "these are bins, cells" in gpu("--broad", "brute", code=2).stderr
    assert "these are 000, 002, 002-lattice, 004" in gpu("--table", "003", code=2).stderr
