"""talus bench implicit: Noble's tables beside ours."""
import csv

from conftest import talus


def test_tables_of_surrogates_and_kernels(tmp_path):
    done = talus("bench", "implicit", "--quick", "--steps", 4, "-o", tmp_path, timeout=240)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "implicit.csv") as file:
        rows = {(row["table"], row["row"], row["column"]): row for row in csv.DictReader(file)}

    def ours(*key):
        return float(rows[key]["ours"])

    # 6.1: no surrogate of a sphere is larger than its bounding sphere; a long one is thinner.
    assert ours("6.1", "eta 1, 80 triangles", "eps") <= 0.5001
    assert ours("6.1", "eta 2.6, 80 triangles", "eps") <= 0.58
    # 6.2: proofs leave nothing out, what was published may.
    for triangles in (12, 36):
        assert 0 < ours("6.2", f"{triangles} triangles", "fallback by length, %") < 100
        assert ours("6.2", f"{triangles} triangles", "missed as printed, % of near") >= 0
    # 6.4: the same near pairs by every way, and fewer comparisons than without a tree.
    for scene in ("two", "plane"):
        near = {rows["6.4", f"{scene}, {way}", "near pairs"]["ours"]
                for way in ("surrogates, comparison", "surrogates, hybrid", "boxes, comparison", "boxes, hybrid")}
        assert len(near) == 1
        assert ours("6.4", f"{scene}, surrogates, comparison", "times fewer than flat") > 2
    # Figure 6.3: a step goes down one level with each look, from one row; 6.7: the cost of detail is bounded.
    assert ours("figure-6.3", "two, step 1", "look 1") == 1
    assert ours("figure-6.3", "two, step 1", "look 3") > ours("figure-6.3", "two, step 1", "look 2") > 1
    assert ours("6.7", "scale 4", "comparisons per step") < 4 * ours("6.7", "scale 1", "comparisons per step")


def test_mistakes_are_told():
    assert talus("bench", "implicit", "--frob").returncode == 2
    assert talus("bench", "implicit", "--table", "6.11").returncode == 2
