"""talus bench nozzle: its tables are whole, and wrong options are refused."""
import csv

import pytest

from conftest import SHORT, talus


def test_every_way_steps_the_full_flow(tmp_path):
    done = talus("bench", "nozzle", "--only", "flow", "--bodies", "3000", "--steps", 2, "--threads", 1, "--csv", tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "nozzle-flow.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["way"] for row in rows] == ["hard, neighbours kept", "hard, bins", "hard, cells",
                                            "hard, bins, wall without cells", "soft", "events"]
    assert {row["outside"] for row in rows} == {"0"} and {row["bodies"] for row in rows} == {"3000"}


def test_only_the_symmetric_response_keeps_energy(tmp_path):
    steps = 3 if SHORT else 150  # in which three balls meet at once, which alone tells the two apart
    done = talus("bench", "nozzle", "--only", "drift", "--drift-steps", steps, "--threads", 1, "--csv", tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "nozzle-drift.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["response"] for row in rows] == ["symmetric", "published"]
    assert abs(float(rows[0]["energy_change"])) < 1e-6
    assert steps == 3 or float(rows[1]["energy_change"]) < -1e-5


def test_the_table_of_fields_has_every_way_with_and_without_them(tmp_path):
    done = talus("bench", "nozzle", "--only", "fields", "--bodies", "3000", "--steps", 2, "--threads", 1, "--csv", tmp_path)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "nozzle-fields.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["way"] for row in rows] == ["hard, neighbours kept", "hard, bins", "soft"]
    assert all(float(row["without_ms"]) > 0 and float(row["with_ms"]) > 0 for row in rows)


@pytest.mark.parametrize("words, said", [(["--bodies", "none"], "whole numbers"), (["--only", "flo"], "'flo'")])
def test_a_wrong_option_is_refused(words, said):
    done = talus("bench", "nozzle", *words)
    assert done.returncode == 2 and said in done.stderr, done.stderr
