"""talus bench triangles: every method finds the same pairs."""
import csv

from conftest import talus


def test_every_method_finds_the_same_near_pairs(tmp_path):
    done = talus("bench", "triangles", "--max", 80, "--repeat", 1, "--bodies", 200, "-o", tmp_path, timeout=240)
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


def test_tanks_and_stones_are_stepped(tmp_path):
    done = talus("bench", "triangles", "--table", "scenes", "--bodies", 200, "-o", tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "triangles.csv") as file:
        rows = list(csv.DictReader(file))
    tank = {int(row["triangles"]): int(row["near"]) for row in rows if row["scene"] == "tank"}
    assert set(tank) == {0, 12, 1200, 120000} and all(abs(n - tank[0]) < 0.2 * tank[0] for n in tank.values())
    assert {row["method"] for row in rows if row["scene"] == "stones"} == {"hull", "mesh", "clump"}
    assert all(float(row["us"]) < 160 for row in rows if row["scene"] == "memory")


def test_few_bodies_are_one_stone():
    done = talus("bench", "triangles", "--table", "scenes", "--bodies", 3, timeout=120)
    assert "\n1 noisy stones of 1280 triangles" in done.stdout
