"""Flat maps of a result folder, and fields from folders and from pictures."""
import csv
import math
import struct
import xml.etree.ElementTree as xml
import zlib

import pytest
from conftest import run, talus

HAS_PNG = "png" in talus("--version").stdout.split()
needs_png = pytest.mark.skipif(not HAS_PNG, reason="this command was built without libpng")

# Balls apart from each other that fly in 24 directions of the plane yz, and one with a slab of its own.
SCENE = """\
talus: 1
until: 0.1
gravity: [0, 0, 0]
step: {kind: event, dt: 0.1}
solve: elastic
materials: {glass: {friction: 0, restitution: 1}}
shapes: {ball: {sphere: 0.4}, tube: {tube: {radius: 4, length: 8}}}
bodies:
  - {name: tube, shape: tube, material: glass, fixed: true, at: [0, 0, 3]}
BALLS
  - {shape: ball, material: glass, at: [2, 0.5, 8.5], velocity: [1e-3, 0, 0]}
output: {every: 0.1, fields: [velocity]}
averages:
  - {name: cut, grid: {plane: yz, x: [-1, 1], y: [-2, 2], z: [0, 6], cells: [4, 6]}, record: [velocity, temperature], every: 0.1}
  - {name: strip, grid: {plane: xz, x: [-1, 1], y: [-2, 2], z: [0, 6], cells: [1, 6]}, record: [velocity], every: 0.1}
  - {name: rz, grid: {radius: 3, z: [0, 9], cells: [3, 9]}, record: [velocity], every: 0.1}
  - {name: all, grid: {box: [[-1, -2, 0], [1, 2, 6]], cells: [2, 4, 6]}, record: [velocity], every: 0.1}
"""


def angle_of(i):
    return (15 * i + 7.3) % 360


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("field")
    balls = "".join(
        f"  - {{shape: ball, material: glass, at: [0, {i // 6 - 1.5}, {i % 6 + 0.5}], velocity: "
        f"[0, {1e-3 * math.sin(math.radians(angle_of(i)))}, {1e-3 * math.cos(math.radians(angle_of(i)))}]}}\n"
        for i in range(24))
    (path / "scene.yaml").write_text(SCENE.replace("BALLS\n", balls))
    run(path / "scene.yaml", path / "out")
    return path


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


def field(*words, code=0):
    done = talus("field", *words)
    assert done.returncode == code, done.stderr
    return done


def draw(folder, name, *words):
    done = talus("render", folder / "out", "-o", folder / name, "--flat", "yz", "--slab", "-1:1", "--colour", "angle",
                 "--bounds", "0:6,-2:2", "--size", "240x160", "--bare", *words)
    assert done.returncode == 0, done.stderr
    assert "--bounds 0:6,-2:2" in done.stderr
    return folder / name


def apart(a, b):
    return abs((a - b + 180) % 360 - 180)


def test_a_field_from_a_frame_has_the_mean_velocity_of_each_cell(folder):
    field(folder / "out", "--plane", "yz", "--cell", 1, "--slab", "-1:1", "-o", folder / "f.csv")
    rows = rows_of(folder / "f.csv")
    assert len(rows) == 24 and all(row["count"] == 1 and row["temperature"] < 1e-12 for row in rows)
    for i, row in enumerate(rows):
        assert (row["z"], row["y"]) == (i % 6 + 0.5, i // 6 - 1.5)
        assert apart(row["angle"], angle_of(i)) < 1e-3 and row["speed"] == pytest.approx(1e-3, rel=1e-5)


def test_a_field_from_averages_is_that_of_the_frame_where_little_moves(folder):
    field(folder / "out", "--average", "cut", "-o", folder / "a.csv")
    rows = rows_of(folder / "a.csv")
    assert len(rows) == 24 and all(row["temperature"] < 1e-9 for row in rows)
    for i, row in enumerate(rows):
        assert row["z"] == pytest.approx(i % 6 + 0.5) and row["y"] == pytest.approx(i // 6 - 1.5)
        assert apart(row["angle"], angle_of(i)) < 1e-3 and row["speed"] == pytest.approx(1e-3, rel=1e-5)
    field(folder / "out", "--average", "rz", "--frame", 0, "-o", folder / "a.csv")
    assert rows_of(folder / "a.csv")[0].keys() == {"z", "r", "count", "vz", "vr", "angle", "vazimuth", "speed"}  # it records no temperature
    assert "is of a box" in field(folder / "out", "--average", "all", "-o", folder / "a.csv", code=2).stderr
    assert "no such interval" in field(folder / "out", "--average", "rz", "--frame", 9, "-o", folder / "a.csv", code=2).stderr


def test_a_plane_of_one_column_is_that_plane(folder):
    field(folder / "out", "--average", "strip", "-o", folder / "a.csv")
    rows = rows_of(folder / "a.csv")
    assert list(rows[0])[:5] == ["x", "z", "count", "vx", "vz"] and {row["count"] for row in rows} == {4}
    assert [(row["x"], row["z"]) for row in rows] == [(0, i + 0.5) for i in range(6)]


@needs_png
def test_a_picture_gives_its_directions_back(folder):
    picture = draw(folder, "f.png")
    field("--image", picture, "--granularity", 40, "--bounds", "0:6,-2:2", "-o", folder / "g.csv")
    rows = rows_of(folder / "g.csv")
    assert len(rows) == 24
    for i, row in enumerate(rows):
        assert row["z"] == pytest.approx(i % 6 + 0.5) and row["y"] == pytest.approx(i // 6 - 1.5)
        assert apart(row["angle"], angle_of(i)) < 0.25
        assert row["vz"] == pytest.approx(math.cos(math.radians(row["angle"])), abs=1e-6)
    field("--image", picture, "-o", folder / "h.csv")  # 8 x 8 pixels, and coordinates are pixels
    fine = rows_of(folder / "h.csv")
    assert len(fine) > 200 and max(row["z"] for row in fine) > 200


@needs_png
def test_filters_keep_exactly_their_range(folder):
    picture = draw(folder, "f.png")
    words = ("--angle", "20:40,320:340", "-o", folder / "k.csv")
    field("--image", picture, "--granularity", 40, *words)
    seen = [row["angle"] for row in rows_of(folder / "k.csv")]
    field(folder / "out", "--cell", 1, "--slab", "-1:1", *words)
    known = [row["angle"] for row in rows_of(folder / "k.csv")]
    wanted = [angle_of(i) for i in range(24) if 20 <= angle_of(i) <= 40 or 320 <= angle_of(i) <= 340]
    assert known == pytest.approx(wanted, abs=1e-3) and seen == pytest.approx(wanted, abs=0.25)
    field("--image", picture, "--granularity", 40, "--component", "y", *words)
    rows = rows_of(folder / "k.csv")
    assert all(row["vz"] == 0 for row in rows)
    assert [row["vy"] for row in rows] == pytest.approx([math.sin(math.radians(a)) for a in wanted], abs=5e-3)
    field(folder / "out", "--cell", 1, "--slab", "-1:1", "--angle", "350:20", "-o", folder / "k.csv")
    assert {row["angle"] > 349 or row["angle"] < 21 for row in rows_of(folder / "k.csv")} == {True}


def pixels_of(path):
    """Rows of pixels of a PNG picture of RGB bytes."""
    data, at, packed, head = path.read_bytes(), 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        head = data[at + 8:at + 8 + size] if kind == b"IHDR" else head
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    width, height, depth, colour = struct.unpack(">IIBB", head[:10])
    assert (depth, colour) == (8, 2)
    flat, rows, above = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        kind, row = flat[y * (3 * width + 1)], bytearray(flat[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i, value in enumerate(row):
            left, up, corner = (row[i - 3], above[i], above[i - 3]) if i >= 3 else (0, above[i], 0)
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda one: abs(guess - one))
            row[i] = (value + (0, left, up, (left + up) // 2, paeth)[kind]) % 256
        above = row
        rows.append([tuple(row[i:i + 3]) for i in range(0, 3 * width, 3)])
    return rows


@needs_png
@pytest.mark.parametrize("colour, several, words", [
    ("direction", 24, ()), ("id", 24, ()), ("speed", 1, ("--range", "0,2e-3")), ("temperature", 1, ("--range", "0,1")),
    ("size", 1, ()), ("material", 1, ())])
def test_flat_maps_have_all_colours(folder, colour, several, words):
    """Balls that differ in direction and number alone: a colour for each, or one for all."""
    done = talus("render", folder / "out", "-o", folder / f"{colour}.png", "--flat", "yz", "--slab", "-1:1", "--colour", colour,
                 "--bounds", "0:6,-2:2", "--size", "240x160", "--bare", *words)
    assert done.returncode == 0, done.stderr
    picture = pixels_of(folder / f"{colour}.png")
    middles = [picture[40 * row + 20][40 * column + 20] for row in range(4) for column in range(6)]
    assert len(set(middles)) == several and (255, 255, 255) not in middles


@needs_png
@pytest.mark.parametrize("turn, seen, unseen", [
    ("{axis: [0, 0, 1], degrees: 0}", [(0, 1), (1, 0.5), (-1, -0.5), (0.5, -1)], [(0.707, 0.707)]),
    ("{axis: [0, 0, 1], degrees: 45}", [(0.707, 0.707), (-0.707, 0.707), (1.2, -0.214)], [(1, 0.5), (-1, -0.5), (0, 1)]),
    ("{axis: [1, 0, 0], degrees: 45}", [(0, 1.414), (0, -1.414), (1, 0.7), (-1, -0.7)], [(0, 0), (0.5, 1)])])
def test_containers_are_drawn_as_they_are_turned(tmp_path, turn, seen, unseen):
    (tmp_path / "scene.yaml").write_text(f"""\
talus: 1
until: 0.01
gravity: [0, 0, 0]
materials: {{glass: {{friction: 0}}}}
shapes: {{ball: {{sphere: 0.1}}, tank: {{container: [2, 2, 2]}}}}
bodies:
  - {{shape: tank, material: glass, fixed: true, rotation: {turn}}}
  - {{shape: ball, material: glass, at: [0.3, 0.3, 0]}}
output: {{every: 0.01, fields: [quaternion, velocity]}}
""")
    run(tmp_path / "scene.yaml", tmp_path / "out")
    done = talus("render", tmp_path / "out", "-o", tmp_path / "f.png", "--flat", "xy", "--bounds", "-2:2,-2:2", "--size", "200x200",
                 "--bare")
    assert done.returncode == 0, done.stderr
    picture = pixels_of(tmp_path / "f.png")

    def has_line(x, y):
        column, row = round((x + 2) * 50), round((2 - y) * 50)
        return any(picture[row + j][column + k] != (255, 255, 255) for j in (-1, 0) for k in (-1, 0))
    assert [has_line(*at) for at in seen] == [True] * len(seen) and not any(has_line(*at) for at in unseen)


WALLS = {"box": ("{box: [2, 2, 2]}", 4), "cylinder": ("{cylinder: {radius: 1, length: 2}}", math.pi), "cone": ("{cone: {radius: 1, length: 2}}", math.pi),
         "ellipsoid": ("{ellipsoid: [1, 1, 0.5]}", math.pi), "capsule": ("{capsule: {radius: 1, length: 1}}", math.pi),
         "hull": ("{hull: [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [0, 0, 1]]}", 4), "clump": ("{clump: [[0, 0, 0, 1], [0, 0, 0.2, 1]]}", math.pi), "tube": ("{tube: {radius: 1, length: 2}}", math.pi)}


@needs_png
@pytest.mark.parametrize("kind", WALLS)
def test_walls_are_outlines_and_colours_those_of_free_bodies(tmp_path, kind):
    """A ball of 1 m/s, another of 2, and a wall around them that moves at 100 m/s: seen along z it neither covers nor outshines them."""
    shape, area = WALLS[kind]
    (tmp_path / "scene.yaml").write_text(f"""\
talus: 1
until: 0.001
gravity: [0, 0, 0]
materials: {{glass: {{density: 2500}}}}
shapes: {{ball: {{sphere: 0.1}}}}
bodies:
  - {{shape: {shape}, material: glass, motion: {{velocity: [0, 0, 100]}}, group: wall}}
  - {{shape: ball, material: glass, at: [0.3, 0.2, 0], velocity: [1, 0, 0], group: grain}}
  - {{shape: ball, material: glass, at: [-0.3, 0.2, 0], velocity: [2, 0, 0], group: grain}}
ignore: [[wall, grain]]
output: {{every: 0.01, fields: [quaternion, velocity]}}
""")
    run(tmp_path / "scene.yaml", tmp_path / "out")

    def colours(*words):
        done = talus("render", tmp_path / "out", "-o", tmp_path / "f.png", "--flat", "xy", "--bounds", "-2:2,-2:2", "--size", "200x200", "--bare", "--frame", 0, *words)
        assert done.returncode == 0, done.stderr
        picture = pixels_of(tmp_path / "f.png")
        grey = [(x, y) for y, row in enumerate(picture) for x, p in enumerate(row) if max(p) - min(p) < 20 and max(p) < 200]
        return picture[90][115], picture[90][85], picture[135][93], grey
    slow, fast, beside, grey = colours()
    assert (slow, fast) == colours("--range", "0,2")[:2] and beside == (255, 255, 255) and slow != fast
    # The outline is as wide as the wall and encloses its area: the sum over rows of what is between its ends.
    rows = {}
    for x, y in grey:
        rows.setdefault(y, []).append(x)
    assert 95 <= max(rows) - min(rows) <= 106
    assert sum(max(xs) - min(xs) for xs in rows.values()) / 2500 == pytest.approx(area, rel=0.08)
    assert len(grey) < 0.35 * 2500 * area  # lines, not a disc


@needs_png
@pytest.mark.parametrize("plane", ["yz", "xz", "xy"])
def test_temperature_of_a_flat_set_is_that_of_neighbours(tmp_path, plane):
    """A layer of balls: those of the left half are at rest, those of the right half go to and fro."""
    axes = {"yz": (2, 1), "xz": (0, 2), "xy": (0, 1)}[plane]
    balls = ""
    for i in range(400):
        at, v = [0.0] * 3, [0.0] * 3
        at[axes[0]], at[axes[1]] = i % 20, i // 20
        v[axes[1]] = (1e-3 if (i + i // 20) % 2 else -1e-3) if i % 20 >= 10 else 0.0
        balls += f"  - {{shape: ball, material: glass, at: {at}, velocity: {v}}}\n"
    scene = SCENE[:SCENE.index("averages:")].replace("  - {name: tube, shape: tube, material: glass, fixed: true, at: [0, 0, 3]}\n", "")
    scene = scene.replace("BALLS\n", balls).replace("  - {shape: ball, material: glass, at: [2, 0.5, 8.5], velocity: [1e-3, 0, 0]}\n", "")
    (tmp_path / "scene.yaml").write_text(scene)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    done = talus("render", tmp_path / "out", "-o", tmp_path / "t.png", "--flat", plane, "--colour", "temperature", "--bounds",
                 "-0.5:19.5,-0.5:19.5", "--size", "160x160", "--bare")
    assert done.returncode == 0, done.stderr
    picture = pixels_of(tmp_path / "t.png")
    cold, hot = ({picture[8 * row + 4][8 * column + 4] for row in range(20) for column in columns}
                 for columns in (range(6), range(14, 20)))
    assert len(cold) == 1 and not cold & hot


@needs_png
def test_the_colour_wheel_is_not_taken_for_bodies(folder):
    words = ("--flat", "yz", "--slab", "-1:1", "--colour", "angle", "--size", "480x240")
    for name, more in (("bare.png", ["--bare", "--bounds", "20:30,0:5"]), ("wheel.png", ["--bounds", "20:30,0:5"])):
        assert talus("render", folder / "out", "-o", folder / name, *words, *more).returncode == 0
        assert "no pixel of full colour" in field("--image", folder / name, "-o", folder / "w.csv", code=2).stderr


@needs_png
def test_pictures_that_hold_no_directions_are_refused(folder):
    (folder / "text.png").write_text("no picture")
    assert "is no PNG picture" in field("--image", folder / "text.png", "-o", folder / "w.csv", code=2).stderr
    head = b"\x89PNG\r\n\x1a\n"

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    grey = head + chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(b"\0\x80\x80\x80\x80" * 4)) + chunk(b"IEND", b"")
    (folder / "grey.png").write_bytes(grey)
    assert "no pixel of full colour" in field("--image", folder / "grey.png", "-o", folder / "w.csv", code=2).stderr
    large = head + chunk(b"IHDR", struct.pack(">IIBBBBB", 30000, 30000, 8, 0, 0, 0, 0)) + chunk(b"IDAT", b"")
    (folder / "large.png").write_bytes(large)  # refused by its head: there are no pixels to unpack
    words = ("--image", folder / "large.png", "--granularity", 1, "-o", folder / "w.csv")
    assert "more than 4000000 cells" in field(*words, code=2).stderr
    (folder / "cut.png").write_bytes(grey[:50])
    assert "PNG picture" in field("--image", folder / "cut.png", "-o", folder / "w.csv", code=2).stderr


def test_a_field_is_drawn_with_an_arrow_for_each_cell(folder):
    field(folder / "out", "--cell", 1, "--slab", "-1:1", "-o", folder / "f.svg")
    drawing = xml.parse(folder / "f.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    cells = [r for r in drawing.iter(space + "rect") if r.get("fill").startswith("#") and len(r.get("fill")) == 7]
    arrows = next(p.get("d") for p in drawing.iter(space + "path") if p.get("fill") == "none")
    assert len(cells) == 24 and arrows.count("M") == 48


def test_vtk_reads_a_field(folder):
    vtk = pytest.importorskip("vtkmodules.vtkIOHDF", reason="python3-vtk9 is not installed")
    field(folder / "out", "--cell", 1, "--slab", "-1:1", "-o", folder / "f.hdf")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(folder / "f.hdf"))
    reader.Update()
    image = reader.GetOutput()
    assert image.GetDimensions() == (2, 4, 6) and image.GetPoint(0) == (-1, -1.5, 0.5) and image.GetPoint(1)[0] == 1
    velocity = image.GetPointData().GetArray("velocity")
    for i in range(24):  # two layers along x, then y, then z
        v = velocity.GetTuple(2 * (4 * (i % 6) + i // 6))
        assert apart(math.degrees(math.atan2(v[1], v[2])), angle_of(i)) < 1e-3


@pytest.mark.parametrize("words, said", [
    (["--cell", "1", "-o", "f.txt"], "say where to"), (["-o", "f.csv"], "how wide the cells are"),
    (["--cell", "1", "--plane", "yy", "-o", "f.csv"], "one of xy, xz and yz"),
    (["--cell", "1", "--angle", "20", "-o", "f.csv"], "ranges of degrees"),
    (["--cell", "1", "--component", "w", "-o", "f.csv"], "x, y or z"),
    (["--cell", "1e-9", "-o", "f.csv"], "more than 4000000 cells"),
    (["--cell", "1", "--slab", "50:60", "-o", "f.csv"], "nobody is in the slab"),
    (["--average", "zr", "-o", "f.csv"], "has no average 'zr'"),
    (["--average", "rz", "--frame", "last", "-o", "f.csv"], "not a whole number"),
    (["--average", "rz", "--frame", "0x1", "-o", "f.csv"], "not a whole number"),
    (["--average", "rz", "--plane", "yz", "-o", "f.csv"], "keeps its grid"),
    (["--average", "rz", "--slab", "0:1", "-o", "f.csv"], "keeps its grid"),
    (["--average", "rz", "--bounds", "0:1,0:1", "-o", "f.csv"], "keeps its grid"),
    (["--average", "rz", "--cell", "1", "-o", "f.csv"], "keeps its grid"),
    (["--average", "rz", "--frame", "0", "--time", "0", "-o", "f.csv"], "--frame or --time"),
    (["--cell", "1", "--frame", "0", "--time", "0", "-o", "f.csv"], "--frame or --time"),
    (["--image", "x.png", "-o", "f.csv"], "not both")])
def test_what_field_cannot_do_is_said_in_a_line(folder, words, said):
    done = field(folder / "out", *words, code=2)
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize("words, said", [
    (["--flat", "yy"], "one of xy, xz and yz"), (["--slab", "0:1"], "are of flat maps"),
    (["--flat", "yz", "--slab", "1:0"], "two growing numbers"), (["--flat", "yz", "--bounds", "3"], "left:right"),
    (["--flat", "yz", "--slice", "1,0,0,0"], "no camera, slice or contacts")])
def test_what_a_flat_map_cannot_do_is_said_in_a_line(folder, words, said):
    done = talus("render", folder / "out", "-o", folder / "x.png", *words)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert said in done.stderr or ("--flat" not in words and "without Embree" in done.stderr)


def test_wheels_show_the_colours_of_angles(tmp_path):
    done = talus("field", "--wheel", "30,330", "-o", tmp_path / "w.svg")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "w.svg").read_text()
    assert "30 degrees" in text and "330 degrees" in text
    swatches = [line for line in text.splitlines() if 'height="36"' in line]  # orange and pink, as hues of 30 and 330 degrees are
    assert len(swatches) == 2 and "#ff8000" in swatches[0] and "#ff0080" in swatches[1], swatches


@pytest.mark.parametrize("words", [("--wheel", "400", "-o", "w.svg"), ("--wheel", "30,", "-o", "w.svg"), ("--wheel", "30", "-o", "w.csv"),
                                   ("--wheel", "30", "--cell", 1, "-o", "w.svg"), ("--wheel", "30")])
def test_wheels_of_what_is_no_angle_or_beside_a_field_are_refused(words, tmp_path):
    done = talus("field", *words, cwd=tmp_path)
    assert done.returncode == 2 and "--wheel" in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())
