"""docs/sources.md has every erratum, equation and algorithm of a paper that comments of the code cite."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "sources.md").read_text()
FOLDERS = ("src", "include", "cli", "bench")
ENTRY = r"[ACDF]\d{1,2}"

EQUATION = re.compile(
    r"\((?:[2-9]\.\d{1,2}|A-\d{1,2})\)"  # (5.1), (A-17)
    r"|\beqs?\. (?:\(\d+\)|\d+(?:-\d+)?)"  # eq. 10, eqs. 12-14
    r"|\b(?:Algorithm|Definition|Corollary) \d+"
)


def comments(path):
    for comment in re.findall(r"/\*.*?\*/", path.read_text(), re.S):
        yield re.sub(r"\s*\n\s*\*?\s*", " ", comment)


def sources():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            yield path


def numbers(cited):
    """D1 and D3 of "D1, D3"; C1, C2, C3 of "C1-C3"."""
    for first, last in re.findall(rf"({ENTRY})(?:-({ENTRY}))?", cited):
        letter, low = first[0], int(first[1:])
        for n in range(low, int(last[1:]) + 1 if last else low + 1):
            yield f"{letter}{n}"


def entries_cited(text):
    for cited in re.findall(rf"(?:docs/sources\.md|sources\.md\)?|[Ee]rrat(?:um|a))[ :]+((?:{ENTRY}[-, and]*)+)", text):
        yield from numbers(cited)


def test_every_entry_that_is_cited_is_there():
    there = set(re.findall(rf"^- \*\*({ENTRY})\.\*\*", PAGE, re.M))
    seen = set()
    for path in sources():
        for comment in comments(path):
            for entry in entries_cited(comment):
                seen.add(entry)
                assert entry in there, f"{path}: {entry} is not in docs/sources.md"
    for path in sorted((ROOT / "docs").rglob("*.md")):
        for entry in entries_cited(path.read_text()):
            assert entry in there, f"{path}: {entry} is not in docs/sources.md"
    assert len(seen) > 10, seen  # or the pattern finds nothing


def test_every_equation_that_is_cited_is_there():
    table = PAGE[: PAGE.index("## A.")]
    seen = set()
    for path in sources():
        for comment in comments(path):
            for cited in EQUATION.findall(comment):
                seen.add(cited)
                assert cited in table, f"{path}: {cited} is not in the table of docs/sources.md"
    assert len(seen) > 12, seen


def test_entries_are_there_once():
    entries = re.findall(rf"^- \*\*({ENTRY})\.\*\*", PAGE, re.M)
    assert len(entries) == len(set(entries)), entries
