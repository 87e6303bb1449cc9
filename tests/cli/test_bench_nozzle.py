"""talus bench nozzle: its tables are whole, and wrong options are refused."""
import csv

from conftest import SHORT, SINGLE, talus


def test_every_way_steps_the_full_flow(tmp_path):
    done = talus("bench", "nozzle", "--only", "flow", "--bodies", "3000", "--steps", 2, "--threads", 1, "--csv", tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "nozzle-flow.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["way"] for row in rows] == ["hard, bins, skin", "hard, bins", "hard, cells",
                                            "hard, bins, wall without cells", "soft", "events"]
    assert {row["outside"] for row in rows} == {"0"} and {row["bodies"] for row in rows} == {"3000"}


def test_only_the_symmetric_response_keeps_energy(tmp_path):
    steps = 3 if SHORT or SINGLE else 140  # nobody has two partners at once before 100
    done = talus("bench", "nozzle", "--only", "drift", "--drift-steps", steps, "--threads", 1, "--csv", tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "nozzle-drift.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["response"] for row in rows] == ["symmetric", "published"]
    assert abs(float(rows[0]["energy_change"])) < 1e-6
    if steps > 3:
        assert abs(float(rows[1]["energy_change"])) > 1e-5


def test_a_wrong_option_is_refused():
    assert "whole numbers" in talus("bench", "nozzle", "--bodies", "none").stderr
    assert "nozzle" in talus("bench", "nozzle", "--only", "flo").stderr
