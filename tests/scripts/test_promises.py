"""docs/promises.md names tests: each of them must be there."""
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[2]


def test_every_promise_names_tests_that_exist():
    rows = [line for line in (ROOT / "docs/promises.md").read_text().splitlines()
            if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) >= 5
    sources = list((ROOT / "tests").rglob("test_*.py")) + list((ROOT / "tests").rglob("test_*.c"))
    known = set()
    for source in sources:
        known.update(re.findall(r"^(?:def |TEST\()(\w+)", source.read_text(), re.M))
    for row in rows:
        promise, attacks = row.strip("| ").rsplit("|", 1)
        names = re.findall(r"`(\w+)`", attacks)
        assert names, f"no test attacks: {promise}"
        assert set(names) <= known, (promise, set(names) - known)
