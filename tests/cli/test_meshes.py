"""Meshes in scenes: files, what is refused, restart, pictures and tables."""
import json
import math
import re

import pytest

from conftest import talus

PLATE = "v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n"
CUBE = """v -0.1 -0.1 -0.1
v 0.1 -0.1 -0.1
v 0.1 0.1 -0.1
v -0.1 0.1 -0.1
v -0.1 -0.1 0.1
v 0.1 -0.1 0.1
v 0.1 0.1 0.1
v -0.1 0.1 0.1
f 1 4 3 2
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""
SCENE = """talus: 1
gravity: [0, 0, -9.81]
materials: {rock: {density: 2500, friction: 0.4}}
shapes:
  floor: {mesh: plate.obj}
  cube: {mesh: cube.obj}
  ball: {sphere: 0.1}
bodies:
  - {shape: floor, fixed: true}
  - {shape: cube, at: [0, 0, 0.11], spin: [0, 0, 2]}
  - {shape: ball, at: [0.05, 0, 0.35]}
step: {dt: 0.002}
until: 0.2
output: {every: 0.05}
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "plate.obj").write_text(PLATE)
    (tmp_path / "cube.obj").write_text(CUBE)
    (tmp_path / "scene.yaml").write_text(SCENE)
    return tmp_path


def hash_of(result):
    return re.search(r"hash ([0-9a-f]{16})", result.stdout + result.stderr).group(1)


def test_scene_with_meshes_runs_and_goes_on_after_a_restart_to_the_same_bits(folder):
    whole = talus("run", folder / "scene.yaml", "-o", folder / "whole")
    assert whole.returncode == 0, whole.stderr
    first = talus("run", folder / "scene.yaml", "-o", folder / "part", "--until", "0.1")
    assert first.returncode == 0, first.stderr
    second = talus("run", folder / "scene.yaml", "-o", folder / "part", "--resume")
    assert second.returncode == 0, second.stderr
    assert hash_of(second) == hash_of(whole)
    flat = talus("run", folder / "scene.yaml", "-o", folder / "flat", "--set", "narrow.tree=flat")
    assert hash_of(flat) == hash_of(whole)
    for method in ("hybrid", "iterative"):
        out = folder / method
        tree = talus("run", folder / "scene.yaml", "-o", out, "--until", "0.1",
                     "--set", "narrow.tree=surrogate", "--set", f"narrow.triangle={method}")
        assert tree.returncode == 0, tree.stderr
        tree = talus("run", folder / "scene.yaml", "-o", out, "--resume",
                     "--set", "narrow.tree=surrogate", "--set", f"narrow.triangle={method}")
        assert tree.returncode == 0, tree.stderr
        if method == "hybrid":
            assert hash_of(tree) == hash_of(whole)


def test_distances_of_triangles_are_counted_and_drawn(folder):
    run = talus("run", folder / "scene.yaml", "-o", folder / "out", "--set", "narrow.tree=surrogate",
                "--set", "narrow.triangle=hybrid")
    assert run.returncode == 0, run.stderr
    lines = [line.split(",") for line in (folder / "out" / "history.csv").read_text().splitlines()]
    counts = [(int(row[lines[0].index("comparisons")]), int(row[lines[0].index("fallbacks")])) for row in lines[1:]]
    assert counts == sorted(counts) and counts[0][0] < counts[-1][0] and counts[-1][1] > 0
    drawn = talus("info", folder / "out", "--plot", "triangles", "-o", folder / "plot.svg")
    assert drawn.returncode == 0 and "again by comparison" in (folder / "plot.svg").read_text(), drawn.stderr


def test_open_mesh_that_is_free_is_refused_with_its_first_open_edge(folder):
    (folder / "scene.yaml").write_text(SCENE.replace("floor, fixed: true", "floor"))
    result = talus("check", folder / "scene.yaml")
    assert result.returncode == 2
    assert "open, first at the edge from (" in result.stderr and "talus shape repair" in result.stderr


# What is wrong with the mesh of a free body, and what is said of it.
FAULTS = {
    "inverted": (CUBE.replace("f 1 4 3 2", "f 1 2 3 4"), "one triangle is flipped, or more than two meet"),
    "inside out": ("\n".join(" ".join(["f", *reversed(line.split()[1:])]) if line[0] == "f" else line
                             for line in CUBE.splitlines()) + "\n", "inside out, its volume is -"),
    "flat": (CUBE.replace("0.1\n", "0\n").replace("-0\n", "0\n"), "closed but not a solid and cannot be free"),
    "cut off": (CUBE[:CUBE.index("f 4 1 5 8") - 12], "open, first at the edge from ("),
    "no number": (CUBE.replace("v 0.1 0.1 0.1", "v 0.1 nan 0.1"), "cube.obj:7:7: a vertex: `nan` is not a number"),
    "no such corner": (CUBE.replace("f 4 1 5 8", "f 4 1 5 9"), "cube.obj:14:9: corner 9 of a face is not one of the 8 vertices"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_mesh_that_is_no_solid_is_refused_with_its_place(folder, fault):
    data, message = FAULTS[fault]
    (folder / "cube.obj").write_text(data)
    result = talus("check", folder / "scene.yaml")
    assert result.returncode == 2 and message in result.stderr, result.stderr


def test_mesh_that_goes_through_itself_is_warned_of_with_its_first_pair(folder):
    (folder / "cube.obj").write_text(CUBE + "v 0 0 -0.2\nv 0.02 0 -0.2\nv 0 0 0.2\nv 0 0.02 -0.2\n"
                                     "f 9 12 10\nf 9 10 11\nf 10 12 11\nf 12 9 11\n")
    result = talus("check", folder / "scene.yaml")
    assert result.returncode == 0, result.stderr
    assert "scene.yaml:6:9: cube.obj goes through itself: " in result.stderr, result.stderr
    assert re.search(r"pairs of triangles, the first [01] and 1[2-5];.*`quiet: \[self-crossing\]`", result.stderr), result.stderr
    quiet = talus("check", folder / "scene.yaml", "--set", "quiet=[self-crossing]")
    assert quiet.returncode == 0 and "goes through itself" not in quiet.stderr


def test_body_within_a_solid_mesh_is_named_at_the_start(folder):
    (folder / "scene.yaml").write_text(SCENE.replace("[0.05, 0, 0.35]}", "[0, 0, 0.11], scale: 0.05}"))
    result = talus("check", folder / "scene.yaml")
    assert "overlap by 0.1 m at the start" in result.stderr, result.stderr


def test_file_that_is_not_there_and_keys_of_meshes_elsewhere_are_refused(folder):
    (folder / "scene.yaml").write_text(SCENE.replace("plate.obj", "none.obj").replace("sphere: 0.1", "sphere: 0.1, sides: in"))
    result = talus("check", folder / "scene.yaml")
    assert result.returncode == 2
    assert "sides is for a revolved wall or a mesh" in result.stderr


def test_contacts_of_a_table_are_those_of_every_tree_and_method(folder):
    table = folder / "bodies.csv"
    table.write_text("shape,x,y,z,file\nmesh,0,0,0,plate.obj\nmesh,0,0,0.0999,cube.obj\nmesh,0.05,0.02,0.2996,cube.obj\n")
    usual = talus("contacts", table)
    assert len(usual.stdout.splitlines()) > 6, usual.stdout
    counts = {}
    for tree in ("bvh", "flat", "surrogate"):
        for method in ("comparison", "certified", "hybrid"):
            found = talus("contacts", table, "--tree", tree, "--triangle", method)
            assert found.returncode == 0 and found.stdout == usual.stdout, found.stderr
            counts[tree, method] = json.loads(talus("contacts", table, "--tree", tree, "--triangle", method, "--json").stdout)
    assert counts["flat", "comparison"]["comparisons"] >= 2 * 12 + 12 * 12
    assert counts["surrogate", "comparison"]["comparisons"] > 0 == counts["surrogate", "comparison"]["fallbacks"]
    assert counts["surrogate", "hybrid"]["fallbacks"] > 0
    assert "again by comparison" in talus("contacts", table, "--tree", "surrogate", "--stats").stdout
    assert talus("contacts", table, "--triangle", "iterative").returncode == 0
    for option, names in (("--tree", "bvh, flat, surrogate"), ("--triangle", "comparison, certified, iterative, hybrid")):
        refused = talus("contacts", table, option, "octree")
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1 and names in refused.stderr


def test_table_of_contacts_has_meshes(folder):
    table = folder / "bodies.csv"
    table.write_text("shape,x,y,z,a,file\nmesh,0,0,0,,plate.obj\nmesh,0,0,0.0999,,cube.obj\nsphere,0.6,0,0.0999,0.1,\n")
    result = talus("contacts", table, "--contacts", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["contacts"] in (2, 5)


@pytest.mark.parametrize("size", ["[0.05, 0.01]", "[0.05, 0.01, 0]", "[0.05, 0.01, 0, 0, 0]"])
def test_sizes_of_a_made_mesh_may_be_left_out_at_the_end(tmp_path, size):
    (tmp_path / "scene.yaml").write_text(f"""\
talus: 1
until: 0.01
materials: {{rock: {{density: 1000}}}}
bodies: [{{shape: {{mesh: {{make: torus, size: {size}}}}}}}]
""")
    assert "0.0931889 kg" in talus("check", tmp_path / "scene.yaml").stdout
    refused = talus("check", tmp_path / "scene.yaml", "--set", "bodies.0.shape.mesh.size=[1, 0.1, 0, 0, 0, 0]")
    assert refused.returncode == 2 and "is a list of 6; expected a list of up to 5 numbers" in refused.stderr


STONES = """\
talus: 1
until: 0.01
gravity: [0, 0, 0]
materials: {rock: {density: 2600}}
shapes:
  stone: {mesh: {make: noisy-sphere, triangles: 320, size: [0.04], noise: 1.5, seed: 3}}
  pebble: {mesh: {make: noisy-sphere, triangles: 80, size: [0.03], noise: 1.5, seed: 8}}
bodies:
"""


@pytest.mark.parametrize("height", [0.08, 0.07, 0.06, 0.05, 0.04, 0.03])
def test_meshes_within_each_other_are_told_of_however_deep(tmp_path, height):
    (tmp_path / "scene.yaml").write_text(STONES + f"  - {{shape: stone}}\n  - {{shape: pebble, at: [0.01, 0.004, {height}]}}\n")
    assert "bodies.1 and bodies.0 overlap by" in talus("check", tmp_path / "scene.yaml").stderr


def test_a_fill_of_meshes_keeps_out_of_the_meshes_of_another(tmp_path):
    """Centres nearer than the smallest radii together, 0.07 m, would be deep within each other."""
    h5py = pytest.importorskip("h5py")
    box = "in: {box: [[-0.15, -0.15, 0], [0.15, 0.15, 0.5]]}, rotation: random"
    (tmp_path / "scene.yaml").write_text(STONES + f"  - fill: {{shape: stone, count: 15, {box}}}\n  - fill: {{shape: pebble, count: 20, {box}}}\n")
    done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / "out", "--until", 1e-3, "--set", "quiet=[short-run]")
    assert done.returncode == 0, done.stderr
    with h5py.File(tmp_path / "out/frames/000000.hdf") as frame:
        places = frame["VTKHDF/Points"][:]
    assert min(math.dist(p, q) for p in places[:15] for q in places[15:]) > 0.07


def test_triangles_are_written_once_and_pictures_find_them(folder):
    h5py = pytest.importorskip("h5py")
    result = talus("run", folder / "scene.yaml", "-o", folder / "out")
    assert result.returncode == 0, result.stderr
    with h5py.File(folder / "out/shapes.hdf") as file:
        assert list(file["talus/shapes/kind"].asstr()[()]) == ["mesh", "mesh", "sphere"]
        assert list(file["talus/shapes/triangle_start"][()]) == [0, 2, 14, 14]
        assert file["talus/shapes/points"].shape == (12, 4)
    with h5py.File(folder / "out/frames/000001.hdf") as file:
        assert file["talus/shapes/triangles"].shape == (0, 3)
        assert list(file["talus/shapes/point_start"][()]) == [0, 0, 0, 0]
    picture = talus("render", folder / "out", "--frame", "1", "-o", folder / "a.png", "--size", "64x48")
    assert picture.returncode == 0, picture.stderr
    first = (folder / "out/shapes.hdf").read_bytes()
    again = talus("run", folder / "scene.yaml", "-o", folder / "out", "--resume")
    assert again.returncode == 0, again.stderr
    assert (folder / "out/shapes.hdf").read_bytes() == first
    (folder / "out/shapes.hdf").unlink()
    lost = talus("render", folder / "out", "--frame", "1", "-o", folder / "b.png", "--size", "64x48")
    assert lost.returncode == 2 or lost.returncode == 1
    assert "shapes.hdf" in lost.stderr and "Traceback" not in lost.stderr


TANK = "\n".join(line for line in CUBE.splitlines() if line != "f 5 6 7 8") + "\n"  # without a lid


def test_places_above_an_open_tank_are_free(tmp_path):
    """No surface goes round a place where the mesh is open: the side of what is nearest tells what is within matter."""
    (tmp_path / "tank.obj").write_text(TANK)
    (tmp_path / "a.yaml").write_text("""talus: 1
until: 0.01
materials: {rock: {density: 2500}}
shapes:
  tank: {mesh: tank.obj, sides: in}
  ball: {sphere: 0.02}
bodies:
  - {shape: tank, material: rock, fixed: true}
  - {shape: ball, material: rock, at: [0, 0, 0.12]}
  - fill: {shape: ball, material: rock, count: 5, in: {box: [[-0.1, -0.1, 0.15], [0.1, 0.1, 0.3]]}, seed: 1}
""")
    done = talus("check", "a.yaml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "matter" not in done.stderr and "within" not in done.stderr and "inside" not in done.stderr
