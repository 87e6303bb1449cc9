"""talus contacts: tables, binary records and frames in; sorted rows and numbers about the search out."""
import json
import math
import pathlib
import random
import re
import struct

import pytest
from conftest import TALUS, run, talus

SINGLE = "single" in pathlib.Path(TALUS).name
STAGES = ["count", "scan", "write", "sort", "active", "scan", "loads", "count", "scan", "write"]
METHODS = ["auto", "bins", "kdtree", "cells", "sweep", "bvh", "brute"]


def table(bodies):
    return "x,y,z,r\n" + "".join(",".join(map(repr, body)) + "\n" for body in bodies)


def records(bodies):
    return struct.pack("<Q", len(bodies)) + b"".join(struct.pack("<4d", *body) for body in bodies)


def cloud(n, edge, low, high, seed):
    random.seed(seed)
    return [(*(random.uniform(-edge / 2, edge / 2) for _ in range(3)), low * (high / low) ** random.random())
            for _ in range(n)]


def contacts(path, *arguments, code=0, **options):
    done = talus("contacts", path, *arguments, **options)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def rows(text):
    lines = text.splitlines()
    return lines[0], [tuple(map(float, line.split(","))) for line in lines[1:]]


def overlaps(a, b, margin=0.0):
    return all(a[k] - a[3] - margin / 2 <= b[k] + b[3] + margin / 2 and
               b[k] - b[3] - margin / 2 <= a[k] + a[3] + margin / 2 for k in range(3))


def gap(a, b):
    return math.dist(a[:3], b[:3]) - (a[3] + b[3])


@pytest.fixture
def bodies(tmp_path):
    path = tmp_path / "bodies.csv"
    path.write_text(table(cloud(700, 8, 0.1, 0.8, 1)))
    return path


def numbers(path):
    return rows(path.read_text())[1]


@pytest.mark.parametrize("find", ["--pairs", "--contacts"])
def test_a_device_finds_the_rows_of_the_cpu(bodies, find):
    cpu = contacts(bodies, find, "--margin", "0.1").stdout
    device = ("--margin", "0.1", "--backend", "check", "--no-fallback")
    assert contacts(bodies, find, *device).stdout == cpu
    assert contacts(bodies, find, *device, "--broad", "cells", "--pieces", "7").stdout == cpu
    assert contacts(bodies, find, *device, "--broad", "bins-published").stdout == cpu
    assert "is not 1 to 1000000" in contacts(bodies, "--pieces", "0", code=2).stderr
    found = json.loads(contacts(bodies, find, "--backend", "check", "--json").stdout)
    assert found["backend"] == "check" and found["fallback"] == "" and found["moved_bytes"] > 700 * 32


def test_stages_of_the_published_bins_are_shown_where_they_were_timed(bodies):
    stages = [[str(k + 1), name] for k, name in enumerate(STAGES)]
    asked = ("--broad", "bins-published", "--stats")
    lines = contacts(bodies, *asked, "--backend", "check", "--no-fallback").stdout.splitlines()
    assert [line.split()[:2] for line in lines[-10:]] == stages
    for other in ([], ["--pairs"], ["--pairs", "--backend", "check", "--no-fallback"]):
        lines = contacts(bodies, *asked, *other).stdout.splitlines()
        assert not [line for line in lines if line.split()[:2] in stages]


# ---- what comes out ----------------------------------------------------------------------------


def test_two_spheres_by_hand(tmp_path):
    (tmp_path / "two.csv").write_text("x,y,z,r\n0,0,0,1\n0,0,1.5,0.75\n")
    done = contacts(tmp_path / "two.csv")
    assert done.stderr == ""
    assert done.stdout == "body_a,body_b,px,py,pz,nx,ny,nz,gap\n0,1,0,0,0.875,0,0,1,-0.25\n"
    assert contacts(tmp_path / "two.csv", "--pairs").stdout == "body_a,body_b\n0,1\n"


def test_surfaces_are_the_points_on_both_bodies(tmp_path):
    (tmp_path / "two.csv").write_text("x,y,z,r\n0,0,0,1\n0,0,1.5,0.75\n")
    done = contacts(tmp_path / "two.csv", "--surfaces")
    assert done.stdout == ("body_a,body_b,px,py,pz,nx,ny,nz,gap,ax,ay,az,bx,by,bz\n"
                           "0,1,0,0,0.875,0,0,1,-0.25,0,0,1,0,0,0.75\n")
    assert "leave --pairs out" in contacts(tmp_path / "two.csv", "--surfaces", "--pairs", code=2).stderr


@pytest.mark.parametrize("margin", [0, 0.3])
def test_rows_are_those_of_two_loops(bodies, margin):
    found = numbers(bodies)
    n = len(found)
    header, pairs = rows(contacts(bodies, "--pairs", "--margin", margin).stdout)
    assert header == "body_a,body_b"
    assert pairs == [(i, j) for i in range(n) for j in range(i + 1, n) if overlaps(found[i], found[j], margin)]
    header, touching = rows(contacts(bodies, "--contacts", "--margin", margin).stdout)
    assert header == "body_a,body_b,px,py,pz,nx,ny,nz,gap"
    tolerance = 1e-6 if SINGLE else 1e-13
    expected = [(i, j) for i in range(n) for j in range(i + 1, n) if gap(found[i], found[j]) <= margin]
    assert [row[:2] for row in touching] == expected
    for a, b, px, py, pz, nx, ny, nz, between in touching:
        one, other = found[int(a)], found[int(b)]
        distance = math.dist(one[:3], other[:3])
        assert between == pytest.approx(gap(one, other), abs=tolerance)
        assert (nx, ny, nz) == pytest.approx([(other[k] - one[k]) / distance for k in range(3)], abs=tolerance)
        point = [one[k] + (one[3] + distance - other[3]) / 2 * (other[k] - one[k]) / distance for k in range(3)]
        assert (px, py, pz) == pytest.approx(point, abs=tolerance)


def test_every_method_and_thread_count_writes_the_same_bytes(bodies, tmp_path):
    for find in ("--pairs", "--contacts"):
        first = None
        for method in METHODS:
            for threads in (1, 2, 3, 4):
                out = tmp_path / "out.csv"
                done = contacts(bodies, find, "--broad", method, "--threads", threads, "-o", out, "--margin", 0.05)
                assert done.stdout == done.stderr == ""
                first = first or out.read_bytes()
                assert out.read_bytes() == first, (find, method, threads)
        assert len(first.splitlines()) > 500
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bodies.csv", "out.csv"]


def test_touching_counts(tmp_path):
    path = tmp_path / "row.csv"
    path.write_text(table([(2.0 * i, 0.0, 0.0, 1.0) for i in range(10)]))
    for method in METHODS:
        assert len(contacts(path, "--pairs", "--broad", method).stdout.splitlines()) == 10
        assert len(contacts(path, "--broad", method).stdout.splitlines()) == 10
    path.write_text(table([(2.5 * i, 0.0, 0.0, 1.0) for i in range(10)]))
    assert len(contacts(path, "--margin", 0.5).stdout.splitlines()) == 10
    assert len(contacts(path, "--margin", 0.5, "--pairs").stdout.splitlines()) == 10
    assert len(contacts(path, "--margin", 0.499).stdout.splitlines()) == 1
    assert len(contacts(path, "--margin", 0.499, "--pairs").stdout.splitlines()) == 1


def test_none_and_one_have_no_rows(tmp_path):
    for n, text in enumerate(["x,y,z,r\n", "x,y,z,r\n1,2,3,4\n"]):
        (tmp_path / "few.csv").write_text(text)
        for method in METHODS:
            done = contacts(tmp_path / "few.csv", "--broad", method)
            assert done.stdout == "body_a,body_b,px,py,pz,nx,ny,nz,gap\n"
        assert json.loads(contacts(tmp_path / "few.csv", "--json").stdout)["bodies"] == n


# ---- numbers about it --------------------------------------------------------------------------


def test_json_has_the_keys_of_the_contract(bodies):
    info = json.loads(contacts(bodies, "--json", "--repeat", 3, "--margin", 0.1, "--threads", 2).stdout)
    for key in ("broad_ms", "sort_ms", "narrow_ms"):
        assert 0 <= info[key] < 60000
    assert info["pairs"] >= info["contacts"] > 0 and info["candidates"] >= info["pairs"]
    assert info["peak_bytes"] > 700 * 48
    assert (info["bodies"], info["margin"], info["threads"], info["repeat"]) == (700, 0.1, 2, 3)
    assert info["broad"] in METHODS[1:] and info["reason"]
    assert info["pairs"] == len(contacts(bodies, "--pairs", "--margin", 0.1).stdout.splitlines()) - 1
    assert info["contacts"] == len(contacts(bodies, "--margin", 0.1).stdout.splitlines()) - 1
    pairs = json.loads(contacts(bodies, "--pairs", "--json", "--broad", "kdtree").stdout)
    assert pairs["narrow_ms"] == 0 and pairs["broad"] == "kdtree" and pairs["reason"] == ""


def test_stats_are_shown_instead_of_rows_and_rows_go_to_the_file(bodies, tmp_path):
    done = contacts(bodies, "--stats", "--repeat", 2, "-o", tmp_path / "out.csv")
    assert re.search(r"^  broad +\w+: .+\n  pairs +\d+\n  candidates +\d+\n  contacts +\d+$", done.stdout, re.M)
    assert re.search(r"^  narrow +[\d.]+ +[\d.]+$", done.stdout, re.M) and "body_a" not in done.stdout
    assert (tmp_path / "out.csv").read_text().startswith("body_a,body_b,px")
    assert "narrow" not in contacts(bodies, "--stats", "--pairs").stdout


def test_help_fits_on_one_screen():
    for arguments in (["contacts", "--help"], ["help", "contacts"]):
        done = talus(*arguments)
        lines = done.stdout.splitlines()
        assert done.returncode == 0 and len(lines) <= 40 and max(map(len, lines)) <= 80
        assert all(method in done.stdout for method in METHODS)
    assert re.search(r"^  contacts ", talus("--help").stdout, re.M)


# ---- what goes in ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bodies.bin", "bodies.dat", "bodies"])
def test_binary_records_give_the_same_rows(bodies, tmp_path, name):
    (tmp_path / name).write_bytes(records(numbers(bodies)))
    assert contacts(tmp_path / name).stdout == contacts(bodies).stdout


def test_tables_may_come_from_elsewhere(tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("x,y,z,r\n1,2,3,0.5\n1.25,2,3,5e-1\n-4,0,0,.5\n")
    expected = contacts(plain, "--margin", 100).stdout
    for text in ("x,y,z,r\r\n1,2,3,0.5\r\n1.25,2,3,5e-1\r\n-4,0,0,.5\r\n",  # Windows
                 "\ufeffx,y,z,r\n1,2,3,0.5\n1.25,2,3,0.5\n-4,0,0,0.5",  # a spreadsheet; no last line end
                 " r , x,\ty,z \n +0.5, 1,2,3\n5.E-1 ,1.25 ,2.0,3\n0.50,-4,-0,0e9\n\n",
                 "x,y,z,r\n1.0000000000000000000000000,2,3,0.5\n12500e-4,2,3,0.00000005e7\n-4,0,1e-400,0.5\n"):
        (tmp_path / "other.csv").write_bytes(text.encode())
        assert contacts(tmp_path / "other.csv", "--margin", 100).stdout == expected


def test_numbers_are_read_as_python_reads_them(tmp_path):
    random.seed(5)
    texts = ["0.1", "1e22", "1e23", "123456789012345678", "9007199254740993", "2.2250738585072011e-308", "4.9e-324",
             "8.5e-05", "1.7976931348623157e307", "0.30000000000000004", "1e-22", "1e-23", "000000000000000000001.5"]
    texts += [repr(random.uniform(-1, 1) * 10 ** random.randint(-30, 30)) for _ in range(300)]
    assert len(set(map(float, texts))) == len(texts)
    # Two points in the same place touch there, and nowhere else.
    (tmp_path / "points.csv").write_text("x,y,z,r\n" + "".join(2 * f"{text},0,0,0\n" for text in texts))
    _, found = rows(contacts(tmp_path / "points.csv").stdout)
    assert [row[2] for row in found] == [float(text) for text in texts]


def test_boxes_stand_in_columns_of_their_own(tmp_path):
    path = tmp_path / "mixed.csv"
    s = math.sqrt(0.5)
    path.write_text("shape,x,y,z,r,lx,ly,lz,qw,qx,qy,qz\n"
                    "box,0,0,0,,2,4,2,,,,\n"
                    f"box,0,0,10,,2,4,2,{s},0,0,{s}\n"
                    "sphere,1.4,0,0,0.5,,,,,,,\n"
                    "sphere,2.4,0,10,0.5,,,,1,0,0,0\n")
    header, found = rows(contacts(path).stdout)
    assert [row[:2] for row in found] == [(0, 2), (1, 3)]
    assert [row[8] for row in found] == pytest.approx([-0.1, -0.1], abs=1e-6)
    assert contacts(path, "--pairs").stdout == "body_a,body_b\n0,2\n1,3\n"


def test_shapes_stand_in_columns_a_b_c(tmp_path):
    s = math.sqrt(0.5)
    (tmp_path / "mixed.csv").write_text(
        "shape,x,y,z,qw,qx,qy,qz,a,b,c,n1,n2\n"
        "ellipsoid,0,0,0,,,,,1,2,3,,\n"            # x from -1 to 1
        f"ellipsoid,2.9,0,0,{s},0,0,{s},1,2,3,,\n"  # turned about z: x from 0.9 to 4.9
        "capsule,0,0,9,,,,,1,4,,,\n"                # y from -1 to 1, z from 6 to 12
        f"cylinder,0,3.9,9,{s},{s},0,0,1,6,,,\n"    # turned about x: y from 0.9 to 6.9
        "cone,20,0,0,,,,,1,4,,,\n"                  # x from 19 to 21, z from -2 to 2
        "superellipsoid,21.9,0,0,,,,,1,1,1,4,8\n"   # x from 20.9 to 22.9
        "box,20,0,2.9,,,,,1,1,1,,\n"                # z from 1.9 to 3.9
        "sphere,20,0,4.8,,,,,1,,,,\n")              # z from 3.8 to 5.8
    found = contacts(tmp_path / "mixed.csv", "--pairs").stdout
    assert found == "body_a,body_b\n0,1\n2,3\n4,5\n4,6\n6,7\n"


def test_a_b_c_of_spheres_and_boxes_are_as_good_as_their_own_columns(tmp_path):
    (tmp_path / "own.csv").write_text("shape,x,y,z,r,lx,ly,lz\nbox,0,0,0,,2,4,2\nsphere,1.4,0,0,0.5,,,\n")
    (tmp_path / "abc.csv").write_text("shape,x,y,z,a,b,c\nbox,0,0,0,1,2,1\nsphere,1.4,0,0,0.5,,\n")
    assert contacts(tmp_path / "own.csv").stdout == contacts(tmp_path / "abc.csv").stdout != ""


BAD_TABLES = [
    ("", "1: the header is missing"),
    ("\n# nothing\n", "3: the header is missing"),
    ("1,2,3\n", "1: 3 numbers and no header"),
    ("x,y,z\n1,2,3\n", "1: there is no column 'r'"),
    ("x,z,r\n1,2,3\n", "1: there is no column 'y'"),
    ("x,y,z,r,r\n", "1: column 'r' is there twice"),
    ("x,y,z,width\n", "1: unknown column 'width'"),
    ("x,y,z,r,\n", "1: unknown column ''"),
    ("x,y,z,r,lx\n", "1: column 'lx' is for other shapes than spheres"),
    ("x;y;z;r\n", "1: unknown column 'x;y;z;r'; separate columns by commas or blanks, and write decimals with a point"),
    ("x,y,z,r,density\n", "1: unknown column 'density'; leave it out: the density of the material decides"),
    ("x,y,z,r,type\n", "1: unknown column 'type'; leave it out: give each material a table of its own"),
    ("x,y,z,r\n1,2,3,4\n1,2,3\n", "3: 3 fields, but the header names 4"),
    ("x,y,z,r\n1,2,3,4,5\n", "2: 5 fields, but the header names 4"),
    ("x,y,z,r\n1,2,3,4,\n", "2: 5 fields, but the header names 4"),
    ("x,y,z,r\r\n1,2,3,4\r\n1,2,three,4\r\n", "3: column 'z': 'three' is not a number"),
    ("x,y,z,r\n1,2,3,4 m\n", "2: column 'r': '4 m' is not a number"),
    ("x,y,z,r\n1,2,3,0x10\n", "2: column 'r': '0x10' is not a number"),
    ("x,y,z,r\n1,2,3,1e\n", "2: column 'r': '1e' is not a number"),
    ("x,y,z,r\n1,2,3,1e+\n", "2: column 'r': '1e+' is not a number"),
    ("x,y,z,r\n1,2,3,.\n", "2: column 'r': '.' is not a number"),
    ("x,y,z,r\n1,2,3,--1\n", "2: column 'r': '--1' is not a number"),
    ("x,y,z,r\n1,2,3,1.2.3\n", "2: column 'r': '1.2.3' is not a number"),
    ("x,y,z,r\n1,,3,4\n", "2: column 'y' is empty"),
    ("x,y,z,r\n1,2,3,\n", "2: column 'r' is empty"),
    ("x,y,z,r\nnan,2,3,4\n", "2: column 'x': 'nan' is not a finite number"),
    ("x,y,z,r\n1,2,-Inf,4\n", "2: column 'z': '-Inf' is not a finite number"),
    ("x,y,z,r\n1,2,3,1e999\n", "2: column 'r': '1e999' is not a finite number"),
    ("x,y,z,r\n1,2,3,4\n\n\n1,2,3,-0.5\n", "5: column 'r': -0.5 is not a radius"),
    ("x,y,z,shape,r\n1,2,3,ball,4\n", "2: column 'shape': 'ball' is none of sphere, box, ellipsoid"),
    ("x,y,z,shape,r\n1,2,3,box,4\n", "2: column 'lx' is not there"),
    ("x,y,z,shape,lx,ly,lz\n1,2,3,box,1,0,1\n", "2: column 'ly': 0 is not an edge"),
    ("x,y,z,shape,lx,ly,lz\n1,2,3,sphere,,,\n", "2: column 'r' is not there"),
    ("x,y,z,shape,r,qw,qx,qy,qz\n1,2,3,sphere,1,1,0,,0\n", "2: a rotation is qw,qx,qy,qz"),
    ("x,y,z,shape,r,qw,qx,qy,qz\n1,2,3,sphere,1,0,0,0,0\n", "2: qw,qx,qy,qz are no rotation"),
    ("x,y,z,shape,r,qw,qx,qy,qz\n1,2,3,sphere,1,1,1,0,0\n", "2: qw,qx,qy,qz are no rotation: their length is 1.41"),
    ("x,y,z,shape,a,b,c\n1,2,3,ellipsoid,1,0,1\n", "2: column 'b': 0 is not a length"),
    ("x,y,z,shape,a,b,c\n1,2,3,ellipsoid,1,1,-1\n", "2: column 'c': -1 is not a length"),
    ("x,y,z,shape,a,b,c\n1,2,3,ellipsoid,nan,1,1\n", "2: column 'a': 'nan' is not a finite number"),
    ("x,y,z,shape,a,b\n1,2,3,ellipsoid,1,1\n", "2: column 'c' is not there"),
    ("x,y,z,shape,a,b,c\n1,2,3,capsule,1,,\n", "2: column 'b' is empty"),
    ("x,y,z,shape,a,b,c,n1,n2\n1,2,3,superellipsoid,1,1,1,0.5,2\n", "2: shape without a name: exponent n1 is 0.5"),
    ("x,y,z,r,a\n", "1: column 'a' is for other shapes than spheres"),
    ("x,y,z,shape\n1,2,3,hull\n", "2: column 'file' is not there; a hull stands in a mesh file or a scene file"),
    ("x,y,z,shape,file\n1,2,3,clump,\n", "2: column 'file' is empty; a clump stands in a scene file (.yaml)"),
    ("x,y,z,shape,file\n1,2,3,clump,a.stl\n", "2: column 'file': a.stl: a clump stands in a scene file"),
    ("x,y,z,shape,file\n1,2,3,hull,a.vtk\n", "2: column 'file': a.vtk: `.vtk` is no kind of mesh"),
    ("x,y,z,shape,file,a\n1,2,3,hull,a.stl,0\n", "2: column 'a': 0 is not a length"),
]


@pytest.mark.parametrize("text, message", BAD_TABLES)
def test_bad_table_is_refused_with_its_line(tmp_path, text, message):
    (tmp_path / "bad.csv").write_bytes(text.encode())
    done = contacts("bad.csv", "-o", "out.csv", code=2, cwd=tmp_path)
    line, what = message.split(":", 1)
    assert re.search(rf"bad\.csv:{line}(:\d+)?:{re.escape(what)}", done.stderr), done.stderr
    assert done.stdout == "" and not (tmp_path / "out.csv").exists()
    quoted = re.search(r": '([^']+)' is not", done.stderr)
    if quoted:  # the caret stands below it
        _, shown, caret = done.stderr.splitlines()
        assert shown[caret.index("^"):].startswith(quoted[1])


def test_all_mistakes_of_a_table_come_at_once(tmp_path):
    (tmp_path / "bad.csv").write_text("shape,x,y,z,r,file\nball,1,2,3,4,\nsphere,1,two,x,4,\nsphere,1,2,3\n"
                                      "hull,0,0,0,,gone.stl\nhull,1,0,0,,gone.stl\nsphere,0,0,0,-1,\n"
                                      + "sphere,0,0,0,,\n" * 9)
    told = [line.split(": ", 1) for line in contacts("bad.csv", code=2, cwd=tmp_path).stderr.splitlines()
            if "bad.csv" in line]
    assert told[0][0] == "talus" and told[0][1].startswith("error: bad.csv:2:1: column 'shape'")
    assert [place for place, _ in told[1:-1]] == ["bad.csv:3:10", "bad.csv:3:14", "bad.csv:4:13", "bad.csv:5:13",
                                                  "bad.csv:7:14", *(f"bad.csv:{n}:14" for n in range(8, 12))]
    assert "gone.stl: cannot be opened" in told[4][1]  # once, though two lines name it
    assert told[-1] == ["... and 5 more in bad.csv"]


@pytest.mark.parametrize("data, message", [
    (b"", "0 bytes are no bodies"),
    (b"\1\0\0", "3 bytes are no bodies"),
    (struct.pack("<Q", 2) + bytes(32), "it says 2 bodies, 32 bytes each, but 32 bytes follow: it is cut off"),
    (struct.pack("<Q", 1) + bytes(31), "it is cut off"),
    (struct.pack("<Q", 1) + bytes(33), "it is longer than it should be"),
    (struct.pack("<Q", 1) + bytes(64), "it is longer than it should be"),
    (struct.pack("<Q", 2**63) + bytes(32), "it is cut off"),
    (records([(0, 0, 0, 1), (0, math.nan, 0, 1)]), "row 1: its position (0, nan, 0)"),
    (records([(0, 0, 0, 1), (0, 0, 0, -1)]), "row 1: its radius is -1"),
    (records([(0, 0, 0, math.inf)]), "row 0: its radius is inf"),
])
def test_bad_binary_is_refused(tmp_path, data, message):
    (tmp_path / "bad.bin").write_bytes(data)
    done = contacts("bad.bin", code=2, cwd=tmp_path)
    assert done.stderr.startswith("talus: error: bad.bin: ") and message in done.stderr and done.stdout == ""
    if len(data) > 8 and "row" not in message:
        (tmp_path / "bad.dat").write_bytes(data)
        assert "bad.dat: " in contacts("bad.dat", code=2, cwd=tmp_path).stderr


@pytest.mark.parametrize("arguments, message", [
    ([], "contacts: a file of bodies is missing"),
    (["none.csv"], "none.csv: No such file or directory"),
    (["."], ". is a folder; give one of its frames"),
    (["b.csv", "--broad", "bin"], "option '--broad': 'bin' is not a broad phase: these are auto, bins,"),
    (["b.csv", "--margin", "-1"], "-1 is negative"),
    (["b.csv", "--margin", "nan"], "'nan' is not a number"),
    (["b.csv", "--repeat", "0"], "0 is not 1 to 100000"),
    (["b.csv", "--threads", "9999"], "9999 is more than 4096"),
    (["b.csv", "--pairs", "--contacts"], "one or the other"),
    (["b.csv", "--stats", "--json"], "one or the other"),
    (["b.csv", "--sats"], "did you mean '--stats'?"),
])
def test_bad_command_line_exits_2(tmp_path, arguments, message):
    (tmp_path / "b.csv").write_text("x,y,z,r\n0,0,0,1\n")
    done = talus("contacts", *arguments, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr and done.stdout == ""


def test_file_that_cannot_be_written_exits_1_and_leaves_nothing(bodies, tmp_path):
    done = contacts(bodies, "-o", tmp_path / "no/such/folder.csv", code=1)
    assert "could not be written: there is no folder" in done.stderr
    assert list(tmp_path.iterdir()) == [bodies]


# ---- frames ------------------------------------------------------------------------------------

SCENE = """\
talus: 1
until: 0.02
materials: {stone: {density: 2600}}
shapes:
  ball: {sphere: 0.1}
  brick: {box: [0.4, 0.2, 0.1]}
  ground: {plane: [0, 0, 1, 0]}
bodies:
  - {name: ground, shape: ground, material: stone, fixed: true}
  - {name: a, shape: ball, material: stone, at: [0, 0, 0.09], fixed: true}
  - {name: b, shape: ball, material: stone, at: [0.19, 0, 0.25], scale: 1.5, fixed: true}
  - {name: c, shape: brick, material: stone, at: [2, 0, 0.195], fixed: true,
     rotation: {axis: [0, 1, 0], degrees: 90}}
  - {name: d, shape: ball, material: stone, at: [2.14, 0, 0.2], fixed: true}
output: {every: 0.01, fields: [quaternion]}
"""


def test_frame_gives_the_contacts_of_its_bodies(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    frame = tmp_path / "out/frames/000000.hdf"
    _, found = rows(contacts(frame).stdout)
    # The brick stands on its short side, two of its corners in the ground and two with the same depth.
    assert [row[:2] for row in found] == [(0, 1), (0, 3), (0, 3), (0, 3), (0, 3), (1, 2), (3, 4)]
    gaps = [row[8] for row in found]
    assert gaps == pytest.approx([-0.01, *[-0.005] * 4, math.hypot(0.19, 0.16) - 0.25, -0.01], abs=1e-6)
    for method in METHODS:
        assert rows(contacts(frame, "--broad", method).stdout)[1] == found
    (tmp_path / "frame").write_bytes(frame.read_bytes())
    assert rows(contacts(tmp_path / "frame").stdout)[1] == found


def test_frame_without_rotations_will_do_for_spheres(tmp_path):
    text = SCENE.replace("fields: [quaternion]", "fields: []")
    (tmp_path / "scene.yaml").write_text(text)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    done = contacts(tmp_path / "out/frames/000000.hdf", code=2)
    assert "how its bodies are turned" in done.stderr and "quaternion" in done.stderr


EVERY_SHAPE = """\
talus: 1
until: 0.001
materials: {stone: {density: 2600}}
shapes:
  ball: {sphere: 0.3}
  brick: {box: [0.6, 0.5, 0.4]}
  egg: {ellipsoid: [0.4, 0.3, 0.2]}
  pillow: {superellipsoid: {half: [0.4, 0.3, 0.2], n1: 3, n2: 4}}
  pill: {capsule: {radius: 0.2, length: 0.5}}
  can: {cylinder: {radius: 0.3, length: 0.4}}
  hat: {cone: {radius: 0.3, length: 0.6}}
  ground: {plane: [0, 0, 1, 0]}
  tank: {container: [4, 4, 4], open: [top]}
  rock: {hull: rock.obj, scale: 0.5}
  peak: {hull: [[0, 0, 0], [0.7, 0, 0], [0, 0.6, 0], [0, 0, 0.5]]}
  pair: {clump: [[0, 0, 0, 0.2], [0.3, 0, 0, 0.25], [0.1, 0.2, 0, 0.15]]}
bodies:
"""
# How a table writes each: columns a,b,c,n1,n2,file,name.
SIZES = {"ball": "sphere,0.3,,,,,,", "brick": "box,0.3,0.25,0.2,,,,", "egg": "ellipsoid,0.4,0.3,0.2,,,,",
         "pillow": "superellipsoid,0.4,0.3,0.2,3,4,,", "pill": "capsule,0.2,0.5,,,,,", "can": "cylinder,0.3,0.4,,,,,",
         "hat": "cone,0.3,0.6,,,,,", "rock": "hull,0.5,,,,,rock.obj,", "peak": "hull,,,,,,shapes.yaml,peak",
         "pair": "clump,,,,,,shapes.yaml,", "ground": "plane,,,,,,,", "tank": "container,,,,,,shapes.yaml,tank"}


def test_every_shape_of_a_table_has_the_contacts_of_the_same_bodies_in_a_frame(tmp_path):
    random.seed(11)
    (tmp_path / "rock.obj").write_text("".join(
        "v %r %r %r\n" % tuple(random.uniform(-0.8, 0.8) for _ in range(3)) for _ in range(24)))
    scene, lines = EVERY_SHAPE, ["shape,a,b,c,n1,n2,file,name,x,y,z,qw,qx,qy,qz"]
    names = ["ground", "tank"] + [name for name in SIZES if name not in ("ground", "tank")] * 5
    for n, name in enumerate(names):
        at = [random.uniform(-0.9, 0.9), random.uniform(-0.9, 0.9), random.uniform(0.1, 1.4)]
        turn = [random.gauss(0, 1) for _ in range(4)]
        if n < 2:
            at, turn = [0, 0, 2 * n], [1, 0, 0, 0]
        turn = [q / math.hypot(*turn) for q in turn]
        scene += f"  - {{shape: {name}, material: stone, at: {at}, rotation: {turn}, fixed: true}}\n"
        lines.append(",".join([SIZES[name], *map(repr, at), *map(repr, turn)]))
    (tmp_path / "shapes.yaml").write_text(scene + "output: {every: 0.001, fields: [quaternion]}\n")
    (tmp_path / "bodies.csv").write_text("\n".join(lines) + "\n")
    run(tmp_path / "shapes.yaml", tmp_path / "out")
    _, expected = rows(contacts(tmp_path / "out/frames/000000.hdf").stdout)
    _, found = rows(contacts(tmp_path / "bodies.csv").stdout)
    kinds = {tuple(sorted((names[int(a)], names[int(b)]))) for a, b, *_ in expected}
    assert len(kinds) > 50  # most pairs of shapes that there are
    # Manifolds may keep other points of a face when the pose is rounded; the deepest one stays.
    def deepest(contact_rows):
        depth = {}
        for a, b, *_, between in contact_rows:
            depth[a, b] = min(between, depth.get((a, b), math.inf))
        return depth
    one, other = deepest(expected), deepest(found)
    assert {pair for pair in one.keys() ^ other.keys() if one.get(pair, other.get(pair)) < -1e-5} == set()
    assert all(one[pair] == pytest.approx(other[pair], abs=3e-5 if SINGLE else 1e-6) for pair in one.keys() & other.keys())


def test_a_scene_with_several_shapes_of_the_kind_needs_a_name(tmp_path):
    (tmp_path / "shapes.yaml").write_text(EVERY_SHAPE.replace("bodies:", "").replace("hull: rock.obj, scale: 0.5",
                                          "hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]"))
    for row, why in [("hull,0,0,0,shapes.yaml,", "has 2 shapes that are a hull; a column `name` says which"),
                     ("hull,0,0,0,shapes.yaml,pair", "has no hull `pair` among its shapes"),
                     ("clump,0,0,0,rain.yaml,", "rain.yaml: there is no such file")]:
        (tmp_path / "bodies.csv").write_text("shape,x,y,z,file,name\n" + row + "\n")
        assert why in contacts("bodies.csv", code=2, cwd=tmp_path).stderr


def test_damaged_frame_is_refused(tmp_path):
    (tmp_path / "bad.hdf").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    assert "bad.hdf" in contacts(tmp_path / "bad.hdf", code=2).stderr
    (tmp_path / "none.hdf").write_bytes(b"x,y,z,r\n")
    assert "none.hdf" in contacts(tmp_path / "none.hdf", code=2).stderr
