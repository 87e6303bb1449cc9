"""talus bench blocks: every table runs small, and says what it should of boxes, hulls and machines."""
import csv

import pytest
from conftest import talus

SCENES = ["pyramid", "hulls", "rubble", "wall", "jointed"]


def bench(*arguments, code=0):
    done = talus("bench", "blocks", *arguments, timeout=900)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def rows_of(folder, name):
    with open(folder / f"{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", SCENES)
def test_a_scene_is_priced_by_stage(name, tmp_path):
    bench("--quick", "--table", name, "--threads", 2, "-o", tmp_path)
    (row,) = rows_of(tmp_path, name)
    assert row["scene"] == name and int(row["bodies"]) > 20 and float(row["total_ms"]) > 0
    assert float(row["sag_most_m"]) < 1


def test_a_pyramid_of_the_asked_size_stands(tmp_path):
    bench("--table", "pyramid", "--bodies", 55, "--steps", 20, "--substeps", 4, "--threads", 1, "-o", tmp_path)
    (row,) = rows_of(tmp_path, "pyramid")
    assert row["bodies"] == "56" and row["steps"] == "20" and row["contacts"] == "400"
    assert float(row["creep_most_m"]) < 0.01 and float(row["sag_most_m"]) < 0.01


def test_pairs_are_priced_by_kinds(tmp_path):
    bench("--quick", "--table", "pairs", "-o", tmp_path)
    rows = rows_of(tmp_path, "pairs")
    assert len(rows) == 3 * 21 and all(float(row["ns"]) > 0 for row in rows)
    assert all(float(row["contacts"]) == 0 for row in rows if row["way"] == "miss")
    assert all(float(row["contacts"]) >= 1 for row in rows if row["way"] != "miss")


def test_what_is_not_there_is_refused():
    assert "did you mean 'pyramid'" in bench("--table", "pyramids", code=2).stderr
    assert "ccp or impulse" in bench("--solve", "penalty", code=2).stderr


def test_another_build_runs_the_same_table(tmp_path):
    other = tmp_path / "other talus"
    other.write_text('#!/bin/sh\necho "told: $*"\n', encoding="utf-8")
    other.chmod(0o755)
    told = bench("--quick", "--table", "wall", "--threads", 1, "--substeps", 2, "--against", other).stdout
    assert "| told: bench blocks --table wall --solve ccp --bodies 0 --steps 0 --threads 1 --substeps 2 --iterations 10 --quick" in told
    other.write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    assert "does not have table wall" in bench("--quick", "--table", "wall", "--against", other, code=1).stderr
    assert "give the path of another talus" in bench("--against", tmp_path / "none", code=2).stderr
