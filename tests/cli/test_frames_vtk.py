"""Frames and contact files, opened with the reader that ParaView uses (VTK, python3-vtk9).

The files come from the C test of the same frames (tests/test_output_frame.c) and, where the command
is built, from a run of it.
"""
import json
import os
import subprocess
from pathlib import Path

import pytest

VTK_FLOAT, VTK_DOUBLE = 10, 11  # vtkType.h

vtk_hdf = pytest.importorskip("vtkmodules.vtkIOHDF", reason="VTK (python3-vtk9) is not installed")

SCENE = """\
talus: 1
until: 0.1
step: {kind: fixed, dt: 2e-3}
materials:
  rock: {density: 2600, friction: 0.5}
shapes:
  grain: {sphere: 0.05}
  tank: {container: [1, 1, 1]}
bodies:
  - {name: tank, shape: tank, material: rock, fixed: true}
  - fill: {shape: grain, material: rock, count: 40, in: {box: [[-0.4, -0.4, -0.4], [0.4, 0.4, 0.4]]}, seed: 3}
output: {every: 0.02, fields: [quaternion, velocity, spin, contacts]}
"""


def read(path):
    """The grid of a file, with every array switched on, as ParaView does by default."""
    reader = vtk_hdf.vtkHDFReader()
    assert reader.CanReadFile(str(path)), f"{path} is no VTKHDF file"
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def rows(data):
    """A VTK array as tuples (numpy is not needed for that)."""
    return [data.GetTuple(i) for i in range(data.GetNumberOfTuples())]


def array(grid, name):
    found = grid.GetPointData().GetArray(name)
    assert found is not None, f"there is no array {name}"
    return found


def column(grid, name):
    found = array(grid, name)
    assert found.GetNumberOfComponents() == 1
    return [int(found.GetValue(i)) if found.GetDataType() not in (VTK_FLOAT, VTK_DOUBLE)
            else found.GetValue(i) for i in range(found.GetNumberOfTuples())]


def lengths(grid, name):
    return [sum(x * x for x in row) ** 0.5 for row in rows(array(grid, name))]


def check_vertices(grid, n):
    """One vertex cell per point, in order."""
    assert grid.GetClassName() == "vtkUnstructuredGrid"
    assert grid.GetNumberOfPoints() == n
    assert grid.GetNumberOfCells() == n
    for i in range(n):
        assert grid.GetCellType(i) == 1
        assert grid.GetCell(i).GetPointId(0) == i


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A folder with the files of the C test, and what it says is in them."""
    examples = os.environ.get("TALUS_EXAMPLES")
    program = Path(examples).parent / "tests" / "test_output_frame" if examples else None
    if program is None or not program.exists():
        pytest.skip("test_output_frame is not built, or TALUS_EXAMPLES does not say where")
    folder = tmp_path_factory.mktemp("frames")
    done = subprocess.run([str(program), "frames_and_contacts_are_written"], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode == 77:
        pytest.skip("this talus was built without HDF5")
    assert done.returncode == 0, done.stdout
    return folder, json.loads((folder / "expected.json").read_text())


def test_frame_is_read_as_written(written):
    folder, expected = written
    grid = read(folder / "frame.hdf")
    n = expected["bodies"]
    assert n > 50
    check_vertices(grid, n)
    data = grid.GetPoints().GetData()
    assert data.GetDataType() == VTK_DOUBLE
    assert [list(row) for row in rows(data)] == expected["position"]
    assert column(grid, "id") == expected["id"]
    columns = {"id": 1, "radius": 1, "half_axes": 3, "quaternion": 4, "velocity": 3, "spin": 3,
               "shape": 1, "material": 1}
    data = grid.GetPointData()
    assert {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())} == set(columns)
    for name, count in columns.items():
        assert array(grid, name).GetNumberOfTuples() == n, name
        assert array(grid, name).GetNumberOfComponents() == count, name
    for name in ("radius", "half_axes", "quaternion", "velocity", "spin"):
        assert array(grid, name).GetDataTypeSize() == expected["real"], name
    assert lengths(grid, "quaternion") == pytest.approx([1] * n, abs=1e-5)
    planes = [i for i, radius in enumerate(column(grid, "radius")) if radius == 0]
    assert len(planes) == 1
    assert array(grid, "half_axes").GetTuple(planes[0]) == (0, 0, 0)


def test_contacts_are_read_as_written(written):
    folder, expected = written
    grid = read(folder / "contacts.hdf")
    n = expected["contacts"]
    assert n > 10
    check_vertices(grid, n)
    assert column(grid, "body_b") == expected["body_b"]
    assert all(a < b for a, b in zip(column(grid, "body_a"), column(grid, "body_b")))
    assert [list(row) for row in rows(array(grid, "impulse"))] == expected["impulse"]
    assert lengths(grid, "normal") == pytest.approx([1] * n, abs=1e-5)
    assert len(column(grid, "gap")) == n
    assert array(grid, "features").GetNumberOfComponents() == 2


@pytest.mark.parametrize("name", ["empty.hdf", "empty-contacts.hdf"])
def test_a_file_without_points_is_read(written, name):
    folder, _ = written
    check_vertices(read(folder / name), 0)


def test_every_frame_of_a_run_is_read(tmp_path):
    command = os.environ.get("TALUS")
    if not command or not Path(command).exists():
        pytest.skip("TALUS does not name the command")
    scene = tmp_path / "scene.yaml"
    scene.write_text(SCENE)
    out = tmp_path / "out"
    done = subprocess.run([command, "run", str(scene), "-o", str(out), "--quiet"],
                          capture_output=True, text=True)
    if "libhdf5-dev" in done.stderr or "libyaml" in done.stderr:
        pytest.skip("this talus was built without HDF5 or libyaml")
    assert done.returncode == 0, done.stderr
    series = json.loads((out / "frames.hdf.series").read_text())
    assert series["file-series-version"] == "1.0"
    times = [entry["time"] for entry in series["files"]]
    assert times == pytest.approx([0.02 * k for k in range(6)], abs=1e-9)
    for k, entry in enumerate(series["files"]):
        assert entry["name"] == f"frames/{k:06d}.hdf"
        check_vertices(read(out / entry["name"]), 41)
        read(out / f"contacts/{k:06d}.hdf")
    assert sorted(p.name for p in (out / "frames").iterdir()) == [f"{k:06d}.hdf" for k in range(6)]


# ---- surfaces ------------------------------------------------------------------------------------

SHAPES = """\
talus: 1
until: 0.02
gravity: [0, 0, 0]
step: {dt: 2e-3}
materials: {rock: {}}
shapes:
  box: {box: [1, 2, 3]}
  tank: {container: [9, 8, 7], open: [top]}
  hull: {hull: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}
  egg: {ellipsoid: [1, 0.5, 0.25]}
  blocky: {superellipsoid: {half: [1, 1, 1], n1: 8, n2: 8}}
  pill: {capsule: {radius: 0.5, length: 1}}
  can: {cylinder: {radius: 0.5, length: 2}}
  hat: {cone: {radius: 0.5, length: 3}}
  ball: {sphere: 0.5}
  floor: {plane: [0, 0, 1, -20]}
bodies:
  - {shape: box, at: [10, 0, 0], rotation: {axis: [0, 0, 1], degrees: 90}, motion: {velocity: [5, 0, 0]}}
  - {shape: tank, fixed: true, at: [0, 20, 0]}
  - {shape: hull, at: [30, 0, 0], scale: 2}
  - {shape: egg, at: [40, 0, 0]}
  - {shape: blocky, at: [50, 0, 0]}
  - {shape: pill, at: [60, 0, 0]}
  - {shape: can, at: [70, 0, 0]}
  - {shape: hat, at: [80, 0, 0]}
  - {shape: ball, at: [90, 0, 0]}
  - {shape: floor, fixed: true}
output: {every: 0.01, fields: [surfaces]}
"""


def triangles_of(grid):
    """By body: its triangles, as three corners each."""
    found = {}
    ids = grid.GetCellData().GetArray("id")
    for i in range(grid.GetNumberOfCells()):
        assert grid.GetCellType(i) == 5
        corners = [grid.GetPoint(grid.GetCell(i).GetPointId(k)) for k in range(3)]
        found.setdefault(int(ids.GetValue(i)), []).append(corners)
    return found


def volume(triangles):
    """Of a closed surface whose triangles go counter-clockwise from outside (divergence theorem)."""
    total = 0
    o = triangles[0][0]
    for corners in triangles:
        a, b, c = ([p[k] - o[k] for k in range(3)] for p in corners)
        total += (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2])
                  + a[2] * (b[0] * c[1] - b[1] * c[0])) / 6
    return total


def bounds(triangles):
    points = [p for corners in triangles for p in corners]
    return [(min(p[k] for p in points), max(p[k] for p in points)) for k in range(3)]


@pytest.fixture(name="shapes_run")
def make_shapes_run(tmp_path):
    command = os.environ.get("TALUS")
    if not command or not Path(command).exists():
        pytest.skip("TALUS does not name the command")
    scene = tmp_path / "shapes.yaml"
    scene.write_text(SHAPES)

    def start(*arguments):
        return subprocess.run([command, "run", str(scene), "-o", str(tmp_path / "out"), "--quiet", *arguments],
                              check=True)
    return start, tmp_path / "out"


def test_surfaces_are_closed_in_place_and_as_large_as_the_bodies(shapes_run):
    start, out = shapes_run
    start()
    found = triangles_of(read(out / "surfaces/000002.hdf"))
    assert sorted(found) == [1, 2, 3, 4, 5, 6, 7, 8]  # neither the sphere nor the plane
    assert volume(found[1]) == pytest.approx(6)
    assert volume(found[3]) == pytest.approx(8 / 6)
    # Round ones are inscribed: a few per cent smaller.
    pi = 3.141592653589793
    for uid, exact in ((4, 4 / 3 * pi / 8), (6, pi / 4 + pi / 6), (7, pi / 2), (8, pi / 4)):
        assert 0.95 * exact < volume(found[uid]) < exact
    assert 6 < volume(found[5]) < 8
    assert len(found[2]) == 10 and volume(found[2] + found[2]) < 0  # a side is open; seen from inside
    # Where they are: the box has moved and was turned by 90 degrees, the hull keeps its own corner.
    assert sum(bounds(found[1]), ()) == pytest.approx((9.1, 11.1, -0.5, 0.5, -1.5, 1.5), abs=1e-6)
    assert sum(bounds(found[3]), ()) == pytest.approx((30, 32, 0, 2, 0, 2), abs=1e-6)
    assert sum(bounds(found[8]), ()) == pytest.approx((79.5, 80.5, -0.5, 0.5, -1.5, 1.5), abs=1e-6)


def test_a_resumed_run_has_the_surfaces_of_one_that_was_not(shapes_run):
    start, out = shapes_run
    start("--until", "0.01")
    start("--resume")
    series = json.loads((out / "surfaces.hdf.series").read_text())
    assert [entry["name"] for entry in series["files"]] == [f"surfaces/{i:06d}.hdf" for i in range(3)]
    assert [entry["time"] for entry in series["files"]] == [0, 0.01, 0.02]
    whole = {path.name: path.read_bytes() for path in sorted((out / "surfaces").iterdir())}
    start("--force")
    assert {path.name: path.read_bytes() for path in sorted((out / "surfaces").iterdir())} == whole
