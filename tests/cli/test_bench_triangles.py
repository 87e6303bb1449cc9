"""talus bench triangles: every method finds the same pairs."""
import csv

from conftest import talus


def test_every_method_finds_the_same_near_pairs(tmp_path):
    done = talus("bench", "triangles", "--max", 80, "--repeat", 1, "-o", tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "triangles.csv") as file:
        rows = list(csv.DictReader(file))
    for scene in ("two", "on plane"):
        near = {row["near"] for row in rows if row["scene"] == scene}
        assert len(near) == 1 and int(near.pop()) > 0
        compared = {row["pairs"]: int(row["compared"]) for row in rows if row["scene"] == scene}
        assert compared["tree"] < compared["all"] / 10
    single = {row["method"]: int(row["near"]) for row in rows if row["scene"] == "pairs"}
    assert single["comparison, one by one"] == single["certified, one by one"] == single["lanes: float, then double"]


def test_mistakes_are_told():
    assert talus("bench", "triangles", "--frob").returncode == 2
