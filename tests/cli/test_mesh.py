"""talus shape on triangle meshes: info, make, repair, clump; every format, and what is wrong with files."""
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


def info(cwd, name, *options):
    (found,) = json.loads(talus("shape", "info", name, "--json", *options, cwd=cwd).stdout)
    return found


CUBE = [(x, y, z) for x in (0, 2) for y in (0, 2) for z in (0, 2)]
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
TRIANGLES = [t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))]


def obj_of(triangles, points=CUBE):
    return "".join("v %g %g %g\n" % p for p in points) + "".join("f %d %d %d\n" % tuple(v + 1 for v in t) for t in triangles)


def stl_of(triangles):
    data = b"binary".ljust(80) + struct.pack("<I", len(triangles))
    for t in triangles:
        data += struct.pack("<12fH", 0, 0, 0, *(x for v in t for x in CUBE[v]), 0)
    return data


def ply_of(order):
    """With colours and other things that nobody asked for; faces of four corners."""
    name = {"<": "binary_little_endian", ">": "binary_big_endian", "": "ascii"}[order]
    head = (f"ply\r\nformat {name} 1.0\r\ncomment a cube\r\nelement vertex 8\r\nproperty uchar red\r\nproperty float x\r\n"
            "property double y\r\nproperty short z\r\nelement face 6\r\nproperty list uchar ushort vertex_indices\r\n"
            "property float quality\r\nelement edge 1\r\nproperty int vertex1\r\nend_header\r\n").encode()
    if not order:
        rows = ["7 %g %g %g" % p for p in CUBE] + ["4 %d %d %d %d 0.5" % s for s in SIDES] + ["3"]
        return head + ("\n".join(rows) + "\n").encode()
    body = b"".join(struct.pack(order + "Bfdh", 7, *p) for p in CUBE)
    body += b"".join(struct.pack(order + "B4Hf", 4, *s, 0.5) for s in SIDES)
    return head + body + struct.pack(order + "i", 3)


FILES = {"cube.obj": obj_of(TRIANGLES).encode(), "cube.stl": stl_of(TRIANGLES), "text.PLY": ply_of(""),
         "little.ply": ply_of("<"), "big.ply": ply_of(">")}


@pytest.mark.parametrize("name", FILES)
def test_every_format_has_the_triangles_of_the_cube(tmp_path, name):
    (tmp_path / name).write_bytes(FILES[name])
    cube = info(tmp_path, name, "--scale", 0.5)
    assert cube["kind"] == "mesh" and cube["closed"] and cube["manifold"] and cube["oriented"]
    assert (cube["vertices"], cube["triangles"], cube["facets"], cube["shells"], cube["crossings"]) == (8, 12, 6, 1, 0)
    assert cube["volume"] == pytest.approx(1, abs=1e-13) and cube["area"] == pytest.approx(6, abs=1e-13)
    assert cube["centre"] == pytest.approx([0.5] * 3, abs=1e-13)
    assert cube["inertia"] == pytest.approx([1 / 6] * 3, rel=1e-6)
    text = talus("shape", "info", name, cwd=tmp_path).stdout
    assert "8 vertices, 12 triangles, 6 facets, 1 shell" in text and "closed, manifold, oriented" in text


PLY = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n" \
      "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
BAD = [
    ("none.ply", None, "none.ply: cannot be opened"),
    ("word.ply", b"ply\nfrmat ascii 1.0\n", "word.ply:2:1: `frmat` is no word of the head"),
    ("cut.ply", b"ply\nformat ascii 1.0\n", "the file ends within its head; expected `end_header`"),
    ("xyz.ply", b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", "vertices do not have x, y, z"),
    ("index.ply", (PLY + "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n").encode(), "corner 3 of face 0 is not one of the 3 vertices"),
    ("two.ply", (PLY + "0 0 0\n1 0 0\n0 1 0\n2 0 1\n").encode(), "face 0 has 2 corners"),
    ("short.ply", (PLY + "0 0 0\n1 0 0\n").encode(), "the file is cut off: more rows were promised"),
    ("nan.ply", (PLY + "0 0 nan\n").encode(), "nan.ply:10:5: `nan` is not a number"),
    ("bytes.ply", ply_of("<")[:-9], "the file is cut off"),
    ("none.obj", b"v 0 0 0\nv 1 0 0\n", "none.obj has points, but no triangles"),
    ("face.obj", b"v 0 0 0\nv 1 0 0\nf 1 2 3\n", "face.obj:3:7: corner 3 of a face is not one of the 2 vertices"),
    ("short.stl", stl_of(TRIANGLES)[:-7], "it is cut off, or not an STL file"),
    ("nan.stl", b"x" * 80 + struct.pack("<I", 1) + struct.pack("<12fH", *[math.nan] * 12, 0),
     "nan.stl: byte 96: a corner of triangle 0 is not a number"),
]


@pytest.mark.parametrize("name, data, message", BAD)
def test_bad_meshes_are_refused_with_their_place(tmp_path, name, data, message):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    done = talus("shape", "info", name, cwd=tmp_path, code=2)
    assert message in done.stderr and done.stdout == ""


def test_faults_of_a_mesh_are_told(tmp_path):
    triangles = TRIANGLES[1:] + [TRIANGLES[4], (0, 0, 1)]
    triangles[5] = triangles[5][::-1]
    (tmp_path / "a.obj").write_text(obj_of(triangles))
    found = info(tmp_path, "a.obj")
    assert not found["closed"] and not found["oriented"]
    assert found["duplicates"] == 1 and found["degenerate"] == 1 and found["open_edges"] > 0 and "first_open" in found
    text = talus("shape", "info", "a.obj", cwd=tmp_path).stdout
    assert "  open " in text and "the first from " in text and "  twice     1 triangles" in text


def test_surfaces_that_go_through_themselves_are_found(tmp_path):
    spike = [(1, 1, -1), (1.2, 1, 3), (1, 1.2, 3)]
    (tmp_path / "a.obj").write_text(obj_of(TRIANGLES + [(8, 9, 10)], CUBE + spike))
    found = info(tmp_path, "a.obj")
    assert found["crossings"] >= 2 and found["first_crossing"][1] == 12
    assert "crossing " in talus("shape", "info", "a.obj", cwd=tmp_path).stdout


@pytest.mark.parametrize("kind", ["icosphere", "noisy-sphere", "box", "cylinder", "torus", "bolt", "nut"])
def test_what_is_made_is_sound(tmp_path, kind):
    talus("shape", "make", kind, "-o", "a.ply", cwd=tmp_path)
    found = info(tmp_path, "a.ply")
    assert found["closed"] and found["manifold"] and found["oriented"] and found["volume"] > 0
    assert found["crossings"] == found["degenerate"] == found["duplicates"] == 0


def test_mistakes_of_make_are_told(tmp_path):
    assert "expected icosphere" in talus("shape", "make", "cheese", "-o", "a.stl", cwd=tmp_path, code=2).stderr
    assert "say -o FILE" in talus("shape", "make", "box", cwd=tmp_path, code=2).stderr
    assert "--size" in talus("shape", "make", "box", "--size", "1,x", "-o", "a.stl", cwd=tmp_path, code=2).stderr
    assert "20 x 4^k" in talus("shape", "make", "icosphere", "--triangles", 100, "-o", "a.stl", cwd=tmp_path, code=2).stderr
    assert "written as .stl" in talus("shape", "make", "box", "-o", "a.step", cwd=tmp_path, code=2).stderr
    assert "talus shape info FILE" in talus("shape", "inof", "a.stl", cwd=tmp_path, code=2).stderr


def test_repair_mends_and_says_what(tmp_path):
    """A cube of loose triangles: one is missing, one twice, one flat, half are turned over, corners are a little off."""
    points, triangles = [], []
    for i, t in enumerate(TRIANGLES[:-1] + [TRIANGLES[3], (2, 2, 5)]):
        points += [tuple(x + 1e-8 * ((i + k) % 3) for k, x in enumerate(CUBE[v])) for v in t]
        row = [3 * i, 3 * i + 1, 3 * i + 2]
        triangles.append(tuple(row if i % 2 else row[::-1]))
    (tmp_path / "a.obj").write_text("".join("v %.17g %.17g %.17g\n" % p for p in points)
                                    + "".join("f %d %d %d\n" % tuple(v + 1 for v in t) for t in triangles))
    text = talus("shape", "repair", "a.obj", "--weld", 1e-6, "-o", "b.ply", cwd=tmp_path).stdout
    for words in ("vertices welded", "1 triangles with a vertex twice dropped", "1 triangles that were there twice",
                  "turned over to face as their neighbours", "3 edges are open; --close-holes"):
        assert words in text
    mended = info(tmp_path, "b.ply")
    assert mended["vertices"] == 8 and mended["triangles"] == 11 and mended["oriented"] and mended["open_edges"] == 3
    text = talus("shape", "repair", "b.ply", "--close-holes", "-o", "c.stl", cwd=tmp_path).stdout
    assert "1 holes closed" in text
    closed = info(tmp_path, "c.stl")
    assert closed["closed"] and closed["facets"] == 6 and closed["volume"] == pytest.approx(8, rel=1e-6)
    assert "nothing to repair" in talus("shape", "repair", "c.stl", "-o", "d.obj", cwd=tmp_path).stdout


def test_repair_turns_shells_outwards_and_cavities_inwards(tmp_path):
    inner = [tuple(1 + (x - 1) / 2 for x in p) for p in CUBE]
    both = [t[::-1] for t in TRIANGLES] + [tuple(v + 8 for v in t) for t in TRIANGLES]
    (tmp_path / "a.obj").write_text(obj_of(both, CUBE + inner))
    assert "2 shells turned over" in talus("shape", "repair", "a.obj", "-o", "b.obj", cwd=tmp_path).stdout
    assert info(tmp_path, "b.obj")["volume"] == pytest.approx(7)


def test_clump_stands_for_a_mesh(tmp_path):
    talus("shape", "make", "noisy-sphere", "--triangles", 320, "-o", "a.stl", cwd=tmp_path)
    said = talus("shape", "clump", "a.stl", "--error", 0.05, "-o", "clump.yaml", cwd=tmp_path).stdout
    (clump,) = json.loads(talus("shape", "info", "clump.yaml", "--json", cwd=tmp_path).stdout)
    mesh = info(tmp_path, "a.stl")
    assert clump["kind"] == "clump" and f"{clump['vertices']} spheres" in said and clump["vertices"] < 60
    assert clump["volume"] == pytest.approx(mesh["volume"]) and clump["inertia"] == pytest.approx(mesh["inertia"], rel=1e-5)
    assert clump["centre"] == pytest.approx(mesh["centre"], abs=1e-9)
    assert clump["bounds"][1] == pytest.approx(mesh["bounds"][1], abs=0.1)
    (tmp_path / "open.obj").write_text(obj_of(TRIANGLES[1:]))
    assert "is open" in talus("shape", "clump", "open.obj", "--error", 0.1, "-o", "x.yaml", cwd=tmp_path, code=2).stderr
    assert "--error" in talus("shape", "clump", "a.stl", "-o", "x.yaml", cwd=tmp_path, code=2).stderr
