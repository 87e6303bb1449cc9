"""The pages of docs/howto: what they show is run as it stands."""
import csv
import pathlib
import re
import shlex
import subprocess
import sys

from conftest import TALUS

PAGES = pathlib.Path(__file__).parents[2] / "docs/howto"


def blocks(page):
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", (PAGES / page).read_text(), flags=re.M | re.S)


def follow(page, folder):
    """Writes the files that a page names and runs its commands and programs; returns what those print."""
    printed = []
    for kind, name, text in blocks(page):
        if name:
            (folder / name).write_text(text)
        elif kind == "sh":
            for line in text.replace("\\\n", " ").splitlines():
                subprocess.run([TALUS, *shlex.split(line)[1:]], cwd=folder, check=True, stdout=subprocess.PIPE)
        elif kind == "python":
            module = re.search(r"^import (h5py|pandas)", text, flags=re.M).group(1)
            if subprocess.run([sys.executable, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0:
                printed.append(subprocess.run([sys.executable, "-c", text], cwd=folder, check=True, text=True, stdout=subprocess.PIPE).stdout)
    return printed


def test_a_packing_is_imported_and_its_results_are_read(tmp_path):
    follow("packing.md", tmp_path)
    assert len(list((tmp_path / "packing.out/frames").glob("*.hdf"))) == 11
    for text in follow("results.md", tmp_path):
        assert "3 grains" in text or "kinetic_energy" in text


def test_a_belt_carries_a_box_and_rollers_a_plank(tmp_path):
    follow("belt.md", tmp_path)
    with open(tmp_path / "belt.out/history.csv", encoding="utf-8") as lines:
        last = list(csv.DictReader(lines))[-1]
    box, plank = 0.3 * 0.3 * 0.2 * 1000, 1 * 0.4 * 0.05 * 1000
    assert abs(float(last["px"]) - 0.5 * (box + plank)) < 0.02 * (box + plank)


def test_a_study_has_a_table_and_a_plot(tmp_path):
    follow("study.md", tmp_path)
    with open(tmp_path / "study/table.csv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    counts = [float(row["heap.count mean 0.5:0.6"]) for row in rows]
    assert len(rows) == 3 and counts[0] < counts[2] and all(row["runs"] == "4" for row in rows)
    assert "class=\"bar\"" in (tmp_path / "study/plot.svg").read_text()


def test_every_solver_that_is_advised_is_one(tmp_path):
    advised = re.findall(r"^\| [^|]* \| `([^`|]*)`", (PAGES / "dem.md").read_text().split("## Words")[0], flags=re.M)
    follow("packing.md", tmp_path)
    for solve in [advice for advice in advised if advice != "solve:"]:
        checked = subprocess.run([TALUS, "check", "packing.yaml", "--set", f"solve={solve}", "--set", "step.dt=1e-4"], cwd=tmp_path, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert checked.returncode == 0, solve + checked.stdout
    assert len(advised) == 6
