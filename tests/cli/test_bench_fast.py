"""talus bench fast: the tables are whole, and a wrong one is refused."""
import csv

from conftest import talus


def test_times_of_impact_and_sweeps_are_measured(tmp_path):
    for table in ("toi", "sweep"):
        (tmp_path / table).mkdir()
        done = talus("bench", "fast", "--table", table, "--quick", "--repeat", 1, "--no-peers", "-o", tmp_path / table)
        assert done.returncode == 0, done.stderr
        rows = list(csv.DictReader((tmp_path / table / "fast.csv").open()))
        assert len(rows) >= 7 and all(row["table"] == table for row in rows)
    assert "linear (the thesis)" in (tmp_path / "toi/fast.csv").read_text()


def test_adaptive_steps_are_clean_and_long_fixed_ones_are_not(tmp_path):
    done = talus("bench", "fast", "--table", "steps", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((tmp_path / "fast.csv").open()))
    for row, kind in zip(rows, ("local", "adaptive")):
        assert kind in row["method"] and row["error"] == "0"


def test_a_table_that_is_not_there_is_refused():
    done = talus("bench", "fast", "--table", "toy")
    assert done.returncode == 2 and "toi" in done.stderr
