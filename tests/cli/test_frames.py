"""Every frame of a run opens in the reader that ParaView uses."""
import json
import math

import pytest
from conftest import DIVERGING, history, run

vtk = pytest.importorskip("vtkmodules.vtkIOHDF", reason="python3-vtk9 is not installed")


def read(path):
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def test_vtk_reads_every_frame_of_the_series(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out)
    files = json.loads((out / "frames.hdf.series").read_text())["files"]
    rows = history(out)
    assert len(files) == len(rows) == 25
    for entry, row in zip(files, rows):
        grid = read(out / entry["name"])
        n = grid.GetNumberOfPoints()
        assert n == grid.GetNumberOfCells() == int(row["bodies"])
        data = grid.GetPointData()
        names = {data.GetArrayName(i) for i in range(data.GetNumberOfArrays())}
        assert {"id", "radius", "half_axes", "quaternion", "velocity", "spin", "shape", "material"} <= names
        assert all(abs(x) < 10 for i in range(n) for x in grid.GetPoint(i))


def test_momentum_of_a_frame_is_that_of_the_history(ball, tmp_path):
    run(ball, tmp_path / "out")
    grid = read(tmp_path / "out/frames/000010.hdf")
    velocity = grid.GetPointData().GetArray("velocity").GetTuple(1)
    mass = 2600 * 4 / 3 * 3.141592653589793 * 0.1**3
    assert velocity[2] * mass == pytest.approx(float(history(tmp_path / "out")[-1]["pz"]), rel=1e-6)


def test_contacts_of_a_frame_open_too(busy, tmp_path):
    run(busy, tmp_path / "out")
    last = read(tmp_path / "out/contacts/000024.hdf")
    assert last.GetNumberOfPoints() >= int(history(tmp_path / "out")[-1]["contacts"]) > 0
    names = {last.GetPointData().GetArrayName(i) for i in range(last.GetPointData().GetNumberOfArrays())}
    assert {"body_a", "body_b", "normal", "gap", "impulse"} <= names


def test_last_state_of_a_diverged_run_is_finite(ball, tmp_path):
    run(ball, tmp_path / "out", *DIVERGING, code=1)
    for path in (tmp_path / "out/frames").iterdir():
        grid = read(path)
        assert grid.GetNumberOfPoints() == 2
        assert all(math.isfinite(x) for i in range(2) for x in grid.GetPoint(i))
