"""talus info --plot: the curves are those of history.csv, in a file and in a terminal."""
import math
import os
import pty
import re
import select
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from conftest import BUSY, TALUS, history, run, talus

NAMES = {"energy": ["kinetic", "potential", "total"], "contacts": ["contacts", "pairs", "bodies"],
         "work": ["total", "by contacts, joints", "by loads", "by flow"],
         "residual": ["largest", "root mean square"],
         "time": ["total", "solve", "broad", "narrow", "step", "output"]}
LABELS = {"energy": "energy [J]", "work": "energy since the start [J]", "contacts": "count", "residual": "residual [m/s]",
          "time": "wall clock per step [ms]"}
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plot")
    (folder / "busy.yaml").write_text(BUSY.replace("A bit of everything", "Grains > 2 & < 90"))
    run(folder / "busy.yaml", folder / "out")
    return folder / "out"


def plot(out, name, path):
    done = talus("info", out, "--plot", name, "-o", path)
    assert done.returncode == 0 and done.stdout == "" == done.stderr, done.stderr
    return xml.etree.ElementTree.parse(path).getroot()


def number(text):
    digits = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
    return int(text[2:].translate(digits)) if re.fullmatch("10[⁰-⁹¹²³⁻]+", text) else float(text)


def axes(svg):
    """Functions from values to pixels, from the places of the ticks' labels."""
    ticks = {"x": [], "y": []}
    for text in svg.iter(SVG + "text"):
        if re.fullmatch(r"-?[\d.]+(e[-+]\d+)?|10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", text.text or ""):
            anchor = text.get("text-anchor")
            ticks["x" if anchor == "middle" else "y"].append(
                (number(text.text), float(text.get("x")) if anchor == "middle" else float(text.get("y")) - 4.5))

    def line(points):
        (a, p), (b, q) = points[0], points[-1]
        return lambda value: p + (value - a) * (q - p) / (b - a)
    return line(ticks["x"]), line(ticks["y"])


def curves(svg):
    """By name, the points of each curve in pixels; in the file they come before the legend, last first."""
    paths = [p.get("d") for p in svg.iter(SVG + "path") if p.get("class") == "curve"]
    drawn = paths[:len(paths) // 2][::-1]
    return [[tuple(map(float, point)) for point in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)] for path in drawn]


@pytest.mark.parametrize("name", NAMES)
def test_svg_has_labelled_axes_and_a_legend(out, tmp_path, name):
    svg = plot(out, name, tmp_path / "a.svg")
    texts = [text.text for text in svg.iter(SVG + "text")]
    assert {"Grains > 2 & < 90", "time [s]", LABELS[name], *NAMES[name]} <= set(texts)
    assert len(curves(svg)) == len(NAMES[name])
    assert os.listdir(tmp_path) == ["a.svg"]


def test_energy_curves_go_through_the_history(out, tmp_path):
    svg = plot(out, "energy", tmp_path / "a.svg")
    x, y = axes(svg)
    rows = history(out)
    kinetic, potential, total = curves(svg)
    assert len(kinetic) == len(rows) == 25
    for i, row in enumerate(rows):
        k, p = float(row["kinetic_energy"]), float(row["potential_energy"])
        for curve, value in ((kinetic, k), (potential, p), (total, k + p)):
            assert curve[i] == (pytest.approx(x(float(row["time"])), abs=0.2), pytest.approx(y(value), abs=0.2))


def test_work_curves_go_through_the_history(out, tmp_path):
    svg = plot(out, "work", tmp_path / "a.svg")
    x, y = axes(svg)
    columns = ("contact_work", "load_work", "flow_energy")
    drawn = curves(svg)
    for i, row in enumerate(history(out)):
        total = float(row["kinetic_energy"]) + float(row["potential_energy"])
        for curve, value in zip(drawn, [total] + [float(row[name]) for name in columns], strict=True):
            assert curve[i] == (pytest.approx(x(float(row["time"])), abs=0.2), pytest.approx(y(value), abs=0.2))


def test_residuals_are_drawn_on_a_logarithmic_axis(out, tmp_path):
    svg = plot(out, "residual", tmp_path / "a.svg")
    x, y = axes(svg)
    expected = [(x(float(row["time"])), y(math.log10(float(row["residual_max"])))) for row in history(out)
                if float(row["residual_max"]) > 0]
    drawn = curves(svg)[0]
    assert len(drawn) == len(expected) > 0
    low = max(b for _, b in drawn)  # the axis has an end: what is far below the largest stands there
    assert drawn == [(pytest.approx(a, abs=0.2), pytest.approx(min(b, low), abs=0.2)) for a, b in expected]


def test_long_histories_are_thinned_without_losing_peaks(out, tmp_path):
    head, *rows = (out / "history.csv").read_text().splitlines()
    folder = tmp_path / "out"
    folder.mkdir()
    shutil.copy(out / "scene.yaml", folder)
    cells = rows[0].split(",")
    at = head.split(",").index("kinetic_energy")
    with open(folder / "history.csv", "w") as file:
        print(head, file=file)
        for i in range(30000):
            cells[0], cells[at] = str(1e-3 * i), "1000" if i == 12345 else "1"
            print(",".join(cells), file=file)
    svg = plot(folder, "energy", tmp_path / "a.svg")
    _, y = axes(svg)
    kinetic = curves(svg)[0]
    assert len(kinetic) < 3000 and min(p[1] for p in kinetic) == pytest.approx(y(1000), abs=0.2)


@pytest.mark.parametrize("name", NAMES)
def test_plain_terminal_gets_plain_characters(out, name):
    done = talus("info", out, "--plot", name, env={"LC_ALL": "C", "COLUMNS": "72"})
    assert done.returncode == 0 and done.stdout.isascii() and "\033" not in done.stdout
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 72 and 18 <= len(lines) <= 24
    assert LABELS[name] in lines[0] and all(series in lines[1] for series in NAMES[name])
    assert "time [s]" in lines[-1] and sum(line.count("*") for line in lines[2:]) > 5


def test_coloured_utf8_terminal_gets_braille(out):
    """In a real (pseudo) terminal."""
    leader, follower = pty.openpty()
    env = {**os.environ, "LC_ALL": "C.UTF-8", "TERM": "xterm"}
    env.pop("NO_COLOR", None)
    process = subprocess.Popen([TALUS, "info", out, "--plot", "energy"], stdout=follower, env=env)
    os.close(follower)
    text = b""
    while select.select([leader], [], [], 30)[0]:
        try:
            some = os.read(leader, 65536)
        except OSError:  # the other side is closed
            break
        if not some:
            break
        text += some
    os.close(leader)
    assert process.wait() == 0
    assert len(re.findall("[\u2801-\u28ff]", text.decode())) > 50 and b"\033[34m" in text


@pytest.mark.parametrize("arguments, code, message", [
    (["--plot", "enrgy"], 2, "did you mean 'energy'?"),
    (["--plot", "heat"], 2, "is not one of energy, work, contacts, residual, time, joints"),
    (["-o", "a.svg"], 2, "-o is for plots; say which: --plot energy"),
    (["--plot", "energy", "--json"], 2, "one or the other"),
    (["--plot", "energy", "-o", "a.png"], 2, "plots are written as SVG: -o plot.svg, not 'a.png'"),
    (["--plot", "energy", "-o", "no/a.svg"], 1, "no/a.svg: could not be written: there is no folder 'no'"),
])
def test_wrong_plots_are_refused(out, tmp_path, arguments, code, message):
    done = talus("info", out, *arguments, cwd=tmp_path)
    assert done.returncode == code and message in done.stderr and done.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_residuals_of_zero_are_drawn_on_a_plain_axis(ball, tmp_path):
    run(ball, tmp_path / "out")
    assert all(float(row["residual_max"]) == 0 for row in history(tmp_path / "out"))
    svg = plot(tmp_path / "out", "residual", tmp_path / "a.svg")
    _, y = axes(svg)
    assert all(point[1] == pytest.approx(y(0), abs=0.2) for point in curves(svg)[0])


def test_history_without_lines_is_said(out, tmp_path):
    (tmp_path / "history.csv").write_text((out / "history.csv").read_text().splitlines()[0] + "\n")
    done = talus("info", tmp_path, "--plot", "energy")
    assert done.returncode == 2 and "no energy to plot yet: 0 lines" in done.stderr


def test_few_points_are_marked_and_many_are_not(ball, tmp_path):
    def marks(svg):
        return sum(path.get("class") == "mark" for path in svg.iter(SVG + "path"))
    run(ball, tmp_path / "few")
    rows = len(history(tmp_path / "few"))
    assert rows <= 24 and marks(plot(tmp_path / "few", "contacts", tmp_path / "a.svg")) == 3 * rows + 3
    run(ball, tmp_path / "many", "--set", "output.every=1e-3")
    assert marks(plot(tmp_path / "many", "contacts", tmp_path / "b.svg")) == 0


def test_a_curve_on_another_is_dashed(ball, tmp_path):
    run(ball, tmp_path / "out", "--set", "bodies.1.at=[0, 0, 0.1]")  # one pair, one contact, two bodies
    svg = plot(tmp_path / "out", "contacts", tmp_path / "a.svg")
    dashed = [path.get("stroke-dasharray") is not None for path in svg.iter(SVG + "path") if path.get("class") == "curve"]
    assert dashed == [False, False, True, True, False, False]
