"""talus shape info, mesh files, and scenes with every kind of shape."""
import json
import math
import struct
import subprocess

import pytest

from conftest import TALUS


def talus(*arguments, cwd, code=0):
    done = subprocess.run([str(TALUS), *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=240)
    assert done.returncode == code, done.stderr
    return done


def shapes_of(path, *options):
    return json.loads(talus("shape", "info", path.name, "--json", *options, cwd=path.parent).stdout)


CUBE = [(x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))]


def write_stl_text(path):
    lines = ["solid cube"]
    for triangle in TRIANGLES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [" vertex %g %g %g" % CUBE[v] for v in triangle]
        lines += ["endloop", "endfacet"]
    path.write_text("\n".join([*lines, "endsolid cube", ""]))


def write_stl_binary(path, head=b"solid of a program that calls binary files so"):
    data = head.ljust(80) + struct.pack("<I", len(TRIANGLES))
    for triangle in TRIANGLES:
        data += struct.pack("<12fH", 0, 0, 0, *(x for v in triangle for x in CUBE[v]), 0)
    path.write_bytes(data)


def write_obj(path):
    lines = ["# a cube", "o cube"] + ["v %g %g %g" % p for p in CUBE] + ["vn 0 0 1", "vt 0 0"]
    lines += ["f " + " ".join(f"{v + 1}/1/1" for v in side) for side in SIDES[:3]]
    lines += ["f " + " ".join(str(v - 8) for v in side) for side in SIDES[3:]]
    path.write_text("\r\n".join(lines) + "\r\n")


def write_csv(path):
    path.write_text("x,y,z\n" + "".join("%g, %g, %g\n" % p for p in CUBE))


@pytest.mark.parametrize("name, write", [("cube.stl", write_stl_text), ("binary.stl", write_stl_binary),
                                         ("CUBE.OBJ", write_obj), ("cube.csv", write_csv)])
def test_every_format_gives_the_cube(tmp_path, name, write):
    path = tmp_path / name
    write(path)
    (cube,) = shapes_of(path, "--scale", 0.5, "--as", "hull")
    assert cube["kind"] == "hull" and (cube["vertices"], cube["faces"], cube["edges"]) == (8, 6, 12)
    assert cube["volume"] == pytest.approx(1, abs=1e-12)
    assert cube["centre"] == pytest.approx([0.5, 0.5, 0.5], abs=1e-12)
    assert cube["inertia"] == pytest.approx([1 / 6] * 3, abs=1e-6)
    assert cube["axes"] == [1, 0, 0, 0]
    assert cube["bounds"][0] == pytest.approx([0, 0, 0], abs=1e-12)
    assert cube["bounds"][1] == pytest.approx([1, 1, 1], abs=1e-12)
    text = talus("shape", "info", name, "--as", "hull", cwd=tmp_path).stdout
    assert "8 vertices, 6 faces, 12 edges" in text and "volume    8 m3" in text


STL = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n"
BAD_FILES = [
    ("none.stl", None, "none.stl: cannot be opened: No such file"),
    ("stone.ply", b"", "this is no PLY file: its first line must be `ply`"),
    ("empty.stl", b"", "empty.stl: 0 bytes are no STL file"),
    ("cut.stl", STL.encode(), "cut.stl:9: the file ends within a solid: it is cut off"),
    ("two.stl", b"solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendfacet\n", "two.stl:5:1: a facet ends with 2 vertices"),
    ("word.stl", b"solid a\nfacet\nvertex 0 zero 0\n", "word.stl:3:10: a vertex: `zero` is not a number"),
    ("few.stl", b"solid a\nfacet\nvertex 0 0\n", "few.stl:3:11: a vertex has 2 numbers"),
    ("loose.stl", b"solid a\nvertex 0 0 0\n", "loose.stl:2:1: a vertex outside of a facet"),
    ("what.stl", b"solid a\nfacet\nfrobnicate\n", "what.stl:3:1: `frobnicate` is no word of an STL file"),
    ("short.stl", b"x" * 80 + struct.pack("<I", 12) + b"0" * 100, "short.stl: a binary STL file of 12 triangles"),
    ("nan.stl", b"x" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", *[math.nan] * 12, 0),
     "nan.stl: byte 96: a corner of triangle 0 is not a number"),
    ("nan.obj", b"v 0 0 nan\n", "nan.obj:1:7: a vertex: `nan` is not a number"),
    ("face.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 3\n", "face.obj:3:7: corner 3 of a face is not one of the 2 vertices"),
    ("edge.obj", b"v 0 0 0\nv 1 0 0\nf 1 2\n", "edge.obj:3:6: a face has 2 corners"),
    ("none.obj", b"# nothing\n", "none.obj has no points"),
    ("wide.csv", b"x,y,z\n1,2,3,4\n", "wide.csv:2:7: a point has more than three numbers"),
    ("flat.csv", b"0,0,0\n1,0,0\n0,1,0\n1,1,0\n", "the 4 points of the hull lie in a plane"),
    ("three.csv", b"0,0,0\n1,0,0\n0,1,0\n0,1,0\n", "a hull of 3 points has no volume"),
]


@pytest.mark.parametrize("name, data, message", BAD_FILES)
def test_bad_mesh_is_refused_with_its_line(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = talus("shape", "info", name, "--json", cwd=tmp_path, code=2)
    assert message in done.stderr and done.stdout == ""


def test_all_mistakes_of_a_mesh_come_at_once_and_the_first_ten_are_shown(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\n" + "v 1 x 0\n" * 12)
    done = talus("shape", "info", "a.obj", cwd=tmp_path, code=2)
    assert done.stderr.count("`x` is not a number") == 10
    assert "a.obj:2:5: a vertex: `x` is not a number; expected x, y, z\n  v 1 x 0\n      ^\na.obj:3:5:" in done.stderr
    assert done.stderr.endswith("... and 2 more in a.obj\n")


def test_a_shape_may_be_written_on_the_command_line(tmp_path):
    (found,) = json.loads(talus("shape", "info", "{cylinder: {radius: 1, length: 2}}", "--json", cwd=tmp_path).stdout)
    assert found["kind"] == "cylinder" and found["volume"] == pytest.approx(2 * math.pi)
    done = talus("shape", "info", "{sphre: 1}", cwd=tmp_path, code=2)
    assert "not a valid shape:" in done.stderr and "did you mean `sphere`" in done.stderr and done.stdout == ""


SHAPES = {
    "ball": ("{sphere: 0.5}", 4 / 3 * math.pi * 0.125),
    "brick": ("{box: [1, 0.8, 0.6]}", 0.48),
    "egg": ("{ellipsoid: [0.6, 0.4, 0.3]}", 4 / 3 * math.pi * 0.072),
    "block": ("{superellipsoid: {half: [0.6, 0.4, 0.3], n1: 2, n2: 2}}", 4 / 3 * math.pi * 0.072),
    "pill": ("{capsule: {radius: 0.3, length: 0.6}}", math.pi * 0.09 * 0.6 + 4 / 3 * math.pi * 0.027),
    "can": ("{cylinder: {radius: 0.4, length: 0.7}}", math.pi * 0.16 * 0.7),
    "hat": ("{cone: {radius: 0.5, length: 0.9}}", math.pi * 0.25 * 0.3),
    "die": ("{hull: cube.stl, scale: 0.25}", 0.125),
    "peak": ("{hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}", 1 / 6),
    "pair": ("{clump: [[0, 0, 0, 0.3], [1, 0, 0, 0.3]]}", 8 / 3 * math.pi * 0.027),
    "grit": ("{clump: [[0, 0, 0, 0.3]], volume: 0.1, centre: [0, 0, 0.1], inertia: [1, 1, 1, 0, 0, 0]}", 0.1),
}


@pytest.fixture
def zoo(tmp_path):
    """A scene with every kind, apart from each other and in free fall."""
    (tmp_path / "meshes").mkdir()
    write_stl_text(tmp_path / "meshes" / "cube.stl")
    lines = ["talus: 1", "until: 0.02", "step: {kind: fixed, dt: 1e-3}", "materials: {rock: {density: 1000}}", "shapes:"]
    lines += [f"  {name}: {text}".replace("cube.stl", "meshes/cube.stl") for name, (text, _) in SHAPES.items()]
    lines += ["bodies:"]
    lines += [f"  - {{name: {name}, shape: {name}, at: [{3 * i}, 0, 0], spin: [1, 2, 3]}}" for i, name in enumerate(SHAPES)]
    lines += ["output: {every: 0.01}", ""]
    (tmp_path / "zoo.yaml").write_text("\n".join(lines))
    return tmp_path


def test_every_shape_of_a_scene_is_measured(zoo):
    found = shapes_of(zoo / "zoo.yaml")
    assert [shape["name"] for shape in found] == list(SHAPES)
    for shape in found:
        assert shape["volume"] == pytest.approx(SHAPES[shape["name"]][1], rel=1e-9), shape["name"]
        assert shape["bounded"] and shape["error"] < 1e-8


def test_a_scene_of_every_kind_runs_resumes_and_reads_back(zoo):
    hashes = []
    whole = talus("run", "zoo.yaml", "-o", "whole", "--quiet", cwd=zoo)
    talus("run", "zoo.yaml", "-o", "part", "--until", "0.01", "--quiet", cwd=zoo)
    talus("run", "zoo.yaml", "-o", "part", "--resume", "--quiet", cwd=zoo)
    for folder in ("whole", "part"):
        hashes.append((zoo / folder / "history.csv").read_text().splitlines()[-1].split(",")[-1])
    assert hashes[0] == hashes[1] and whole.returncode == 0
    # The resolved scene holds the path of the mesh from the root on: it means the same elsewhere.
    (zoo / "elsewhere").mkdir()
    (zoo / "whole" / "scene.yaml").rename(zoo / "elsewhere" / "zoo.yaml")
    assert shapes_of(zoo / "elsewhere" / "zoo.yaml") == shapes_of(zoo / "zoo.yaml")
    # Bodies of a run go on in another, shapes and all.
    (zoo / "next.yaml").write_text("talus: 1\nuntil: 0.01\nmaterials: {rock: {density: 1000}}\nbodies: [{from: whole}]\n")
    assert "11 free" in talus("check", "next.yaml", cwd=zoo).stdout
    # Frames can be looked at for pairs: bodies are apart, so there are none.
    frame = zoo / "whole" / "frames" / "000002.hdf"
    assert talus("contacts", frame, "--pairs", cwd=zoo).stdout == "body_a,body_b\n"


def test_a_frame_has_what_it_takes_to_draw_its_shapes(zoo):
    h5py = pytest.importorskip("h5py")
    talus("run", "zoo.yaml", "-o", "out", "--quiet", cwd=zoo)
    with h5py.File(zoo / "out" / "frames" / "000000.hdf") as frame:
        shapes = frame["talus/shapes"]
        names = [name.decode() for name in shapes["name"][:]]
        points, start = shapes["points"][:], shapes["point_start"][:]
        triangles, first = shapes["triangles"][:], shapes["triangle_start"][:]
        die, pair = names.index("die"), names.index("pair")
        assert shapes["size"].shape == (len(SHAPES), 5)
        corners = {tuple(round(x, 12) + 0.0 for x in p) for p in points[start[die]:start[die + 1]]}
        assert corners == {(x / 4, y / 4, z / 4, 0.0) for x, y, z in CUBE}
        assert first[die + 1] - first[die] == 12 and triangles[first[die]:first[die + 1]].max() == 7
        assert points[start[pair]:start[pair + 1]].ravel().tolist() == pytest.approx([0, 0, 0, 0.3, 1, 0, 0, 0.3], abs=1e-6)
        half = frame["VTKHDF/PointData/half_axes"][:]
        assert half[names.index("egg")] == pytest.approx([0.6, 0.4, 0.3], rel=1e-6)
        assert half[names.index("hat")] == pytest.approx([0.5, 0.5, 0.45], rel=1e-6)
        # A cone's centre of mass is a quarter of its height above its base.
        assert frame["VTKHDF/Points"][names.index("hat")][2] == pytest.approx(-0.225, abs=1e-6)


@pytest.mark.parametrize("shape, message", [
    ("{hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}", "a hull of 3 points has no volume"),
    ("{hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}", "lie in a plane"),
    ("{hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]}", "points 1 and 4 of the hull are both [1, 0, 0]"),
    ("{hull: nowhere.stl}", "nowhere.stl: cannot be opened"),
    ("{hull: zoo.yaml}", "`.yaml` is no kind of mesh"),
    ("{clump: [[0, 0, 0, 1]], volume: 1, centre: [0, 0, 0], inertia: [9, 1, 1, 0, 0, 0]}", "principal moments"),
])
def test_a_shape_that_is_none_is_refused_with_its_place(zoo, shape, message):
    (zoo / "bad.yaml").write_text(f"talus: 1\nuntil: 1\nshapes:\n  stone: {shape}\n")
    for command in (["check", "bad.yaml"], ["shape", "info", "bad.yaml"]):
        done = subprocess.run([str(TALUS), *command], cwd=zoo, capture_output=True, text=True, timeout=240)
        assert done.returncode in (1, 2)
        assert message in done.stderr and "bad.yaml:4:10: " in done.stderr


@pytest.mark.skipif("embree" not in subprocess.run([str(TALUS), "--version"], capture_output=True, text=True).stdout.split(),
                    reason="this command was built without Embree and libpng")
def test_every_kind_is_drawn_as_itself(zoo):
    talus("run", "zoo.yaml", "-o", "out", "--quiet", cwd=zoo)
    done = talus("render", "out", "-o", "zoo.png", "--size", "160x90", "--samples", 1, "--quiet", cwd=zoo)
    assert "bounding spheres" not in done.stderr and (zoo / "zoo.png").stat().st_size > 1000


def test_fill_and_emit_take_every_bounded_kind(zoo):
    text = (zoo / "zoo.yaml").read_text().split("bodies:")[0].replace("until: 0.02", "until: 0.5") + "gravity: [0, 0, 0]\nbodies:\n"
    for i, name in enumerate(SHAPES):
        text += f"  - fill: {{shape: {name}, count: 20, rotation: random, seed: {i}, "
        text += f"in: {{box: [[{20 * i}, 0, 0], [{20 * i + 12}, 12, 12]]}}}}\n"
    text += "emit:\n"
    for i, name in enumerate(SHAPES):
        text += f"  - {{shape: {name}, rate: 10, rotation: random, from: {{box: [[{20 * i}, 50, 0], [{20 * i + 12}, 62, 12]]}}}}\n"
    (zoo / "many.yaml").write_text(text)
    talus("run", "many.yaml", "-o", "out", "--quiet", "--set", "until=0.3", cwd=zoo)
    last = (zoo / "out" / "history.csv").read_text().splitlines()[-1].split(",")
    assert int(last[2]) > 20 * len(SHAPES) + len(SHAPES)


def test_a_torus_thicker_than_its_ring_is_refused(tmp_path):
    made = talus("shape", "make", "torus", "--size", "0.03", "-o", "ring.ply", cwd=tmp_path, code=2)
    assert not (tmp_path / "ring.ply").exists()
    assert "a torus of radius 0.03 m with a tube of radius 0.25 m goes through itself" in made.stderr
