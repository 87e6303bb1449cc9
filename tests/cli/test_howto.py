"""The pages of docs/howto: what they show is run as it stands."""
import csv
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from conftest import SHORT, SINGLE, TALUS, assert_same_folder, long_test, talus

ROOT = pathlib.Path(__file__).parents[2]
PAGES = ROOT / "docs/howto"


def blocks(page):
    return re.findall(r"^```(\w+) ?(\S*)\n(.*?)^```", (PAGES / page).read_text(), flags=re.M | re.S)


def rows_of(path):
    with open(path, encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def follow(page, folder, marks=()):
    """Writes the files that a page names and runs its commands and programs; returns what those print."""
    printed = []
    for kind, name, text in blocks(page):
        if "." in name:
            (folder / name).write_text(text)
        elif kind == "sh" and name in ("", *marks):
            for line in text.replace("\\\n", " ").splitlines():
                subprocess.run([TALUS, *shlex.split(line, comments=True)[1:]], cwd=folder, check=True, stdout=subprocess.PIPE)
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


def test_a_run_is_continued_with_changes(tmp_path):
    follow("branch.md", tmp_path)
    rows = [list(csv.DictReader((tmp_path / f"{name}.out/history.csv").open()))[-1] for name in ("settled", "lift")]
    assert 2 < int(rows[1]["bodies"]) <= int(rows[0]["bodies"]) and float(rows[1]["kinetic_energy"]) > 1e-3


def test_a_packing_is_pressed(tmp_path):
    follow("press.md", tmp_path)
    plate = list(csv.DictReader((tmp_path / "press.out/probes/plate.csv").open()))
    late = [float(row["fz"]) for row in plate[-20:]]
    assert abs(sum(late) / len(late) - 1e4 * 0.19**2) < 0.05 * 1e4 * 0.19**2
    middle = list(csv.DictReader((tmp_path / "press.out/probes/middle.csv").open()))[-1]
    assert 5e3 < float(middle["szz"]) < 2e4 and 0.3 < float(middle["solid_fraction"]) < 0.7


def test_a_belt_carries_a_box_and_rollers_a_plank(tmp_path):
    follow("belt.md", tmp_path)
    with open(tmp_path / "belt.out/history.csv", encoding="utf-8") as lines:
        last = list(csv.DictReader(lines))[-1]
    box, plank = 0.3 * 0.3 * 0.2 * 1000, 1 * 0.4 * 0.05 * 1000
    assert abs(float(last["px"]) - 0.5 * (box + plank)) < 0.02 * (box + plank)


@long_test
def test_a_study_has_a_table_and_a_plot(tmp_path):
    follow("study.md", tmp_path)
    with open(tmp_path / "study/table.csv", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    counts = [float(row["heap.count mean 0.5:0.6"]) for row in rows]
    assert len(rows) == 3 and counts[0] < counts[2] and all(row["runs"] == "4" for row in rows)
    assert "class=\"bar\"" in (tmp_path / "study/plot.svg").read_text()


@long_test
def test_a_screen_parts_fine_from_coarse(tmp_path):
    follow("screen.md", tmp_path)
    counts = [float(row["count"]) for row in rows_of(tmp_path / "screen.out/probes/deck.csv")]
    assert counts[0] == pytest.approx(175, abs=0.5) and 24.5 < counts[-1] < 75
    assert "sunk" not in (tmp_path / "screen.out/log.txt").read_text()


PICTURES = ["render"] if "embree" in talus("--version").stdout.split() else []


@long_test
def test_a_drum_lifts_grains(tmp_path):
    follow("drum.md", tmp_path, PICTURES)
    torque = [float(row["ty"]) for row in rows_of(tmp_path / "drum.out/probes/drive.csv")][10:]
    weight, arm = 250 * 2500 * 4.19 * 0.008**3 * 9.81, 0.12
    assert 0.1 * weight * arm < -sum(torque) / len(torque) < weight * arm


@long_test
def test_a_cone_hopper_runs_out(tmp_path):
    follow("hopper.md", tmp_path, PICTURES)
    flow = {round(float(row["from"]), 2): float(row["mass_flow_z"]) for row in rows_of(tmp_path / "hopper.out/probes/outlet.csv")}
    assert flow[0.25] == 0 and all(-1.5 < flow[t] < -0.6 for t in (0.5, 0.55, 0.6, 0.65)) and flow[1.1] == 0


@long_test
def test_a_hopper_from_cad_runs_out(tmp_path):
    follow("cad-hopper.md", tmp_path, PICTURES)
    assert (tmp_path / "cad.out/shapes.hdf").exists()
    removed = [int(row["removed"]) for row in rows_of(tmp_path / "cad.out/history.csv")]
    assert removed[-1] > 20


@long_test
def test_a_triaxial_test_holds_its_stresses(tmp_path):
    follow("triaxial.md", tmp_path)
    last = rows_of(tmp_path / "triaxial.out/probes/sample.csv")[-1]
    axial, side = (abs(float(last[name])) for name in ("szz", "sxx"))
    assert 1.2 < axial / side < 3 and 1e4 < axial < 3e4
    plate = {round(float(row["to"]), 2): float(row["fz"]) for row in rows_of(tmp_path / "triaxial.out/probes/top.csv")}
    assert plate[0.25] == pytest.approx(81, rel=0.1) and plate[0.5] == pytest.approx(130, rel=0.1)


def test_gears_turn_by_their_ratio(tmp_path):
    follow("gears.md", tmp_path)
    value = {row["joint"]: float(row["value"]) for row in rows_of(tmp_path / "gears.out/joints.csv")}
    assert 11.5 < value["drive"] < 12.01 and value["driven"] == pytest.approx(-value["drive"] / 4, abs=1e-3)


def test_a_run_is_continued_and_branched_from(tmp_path):
    follow("continue.md", tmp_path)
    talus("run", "rain.yaml", "-o", "whole.out", cwd=tmp_path)
    assert_same_folder(tmp_path / "rain.out", tmp_path / "whole.out")
    before, after = (rows_of(tmp_path / name / "history.csv") for name in ("rain.out", "tilted.out"))
    assert after[0]["bodies"] == before[-1]["bodies"] == "101"
    assert float(after[0]["kinetic_energy"]) == pytest.approx(float(before[-1]["kinetic_energy"]), abs=1e-9)


@long_test
def test_pictures_are_drawn(tmp_path):
    follow("pictures.md", tmp_path, PICTURES)
    pictures = [path.read_bytes() for path in tmp_path.glob("*.png")]
    assert len(set(pictures)) == (5 if PICTURES else 0)


def test_a_program_in_c_is_linked(tmp_path):
    follow("linking.md", tmp_path)
    build = pathlib.Path(os.environ.get("TALUS_BUILD_DIR", pathlib.Path(TALUS).parent))
    library, compiler = "talus-single" if SINGLE else "talus", shutil.which("cc")
    if SHORT or not compiler or not (build / f"lib{library}.so").exists():
        pytest.skip("no compiler, no shared library, or one with a sanitizer")
    subprocess.run([compiler, "settle.c", "-std=c17", "-I", ROOT / "include", "-I", build / "include", "-L", build, f"-l{library}",
                    f"-Wl,-rpath,{build}", "-o", "settle"], cwd=tmp_path, check=True)
    assert subprocess.run([tmp_path / "settle"], stdout=subprocess.PIPE, text=True, check=True).stdout == "height 0.100 m\n"


def test_meshes_are_looked_at_mended_and_made(tmp_path):
    for name in ("rock.stl", "scan.stl"):
        assert talus("shape", "make", "noisy-sphere", "--triangles", 320, "-o", name, cwd=tmp_path).returncode == 0
    follow("meshes.md", tmp_path)
    assert "closed, manifold, oriented" in talus("shape", "info", "scan.ply", cwd=tmp_path).stdout


def test_mistakes_are_told_as_the_page_says(tmp_path):
    follow("mistakes.md", tmp_path)
    done = talus("check", "wrong.yaml", cwd=tmp_path)
    expected = next(text for kind, _, text in blocks("mistakes.md") if kind == "text").splitlines()
    assert done.returncode == 2 and len(expected) == 3 and all(line in done.stderr for line in expected)


def test_every_page_is_followed_and_linked():
    followed = set(re.findall(r'follow\("([\w-]+\.md)"', pathlib.Path(__file__).read_text()))
    pages = {path.name for path in PAGES.glob("*.md")}
    assert pages - followed == {"dem.md"}  # words and a table, looked at below
    readme = (ROOT / "README.md").read_text()
    assert all(f"docs/howto/{page}" in readme for page in pages)


def test_every_solver_that_is_advised_is_one(tmp_path):
    advised = re.findall(r"^\| [^|]* \| `([^`|]*)`", (PAGES / "dem.md").read_text().split("## Words")[0], flags=re.M)
    follow("packing.md", tmp_path)
    for solve in [advice for advice in advised if advice != "solve:"]:
        checked = subprocess.run([TALUS, "check", "packing.yaml", "--set", f"solve={solve}", "--set", "step.dt=1e-4"], cwd=tmp_path, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        assert checked.returncode == 0, solve + checked.stdout
    assert len(advised) == 8
