"""Averaged fields and zones of a run: fields/NAME/NNNNNN.hdf and the series, with every solver, and when a run goes on."""
import json
import subprocess
import sys

import pytest
from conftest import assert_same_folder, history, run, talus

GAS = """\
talus: 1
gravity: [0, 0, 0]
until: 0.95
step: {kind: STEP, dt: 0.01}
solve: {kind: elastic}
materials: {m: {density: 100, restitution: 1, friction: 0}}
shapes:
  ball: {sphere: 0.2}
  vessel: {revolved: [[0, 0], [0, 3], [6, 3], [6, 0]]}
bodies:
  - {name: vessel, shape: vessel, material: m, fixed: true}
  - fill: {shape: ball, material: m, count: 100, velocity: [0, 0, 1], seed: 3,
           in: {cylinder: {at: [0, 0, 3], axis: [0, 0, 1], radius: 2.7, length: 5.4}}}
averages:
  - {name: rz, grid: {radius: 3, z: [0, 6], cells: [3, 6]}, every: 0.3, wall: vessel,
     record: [density, velocity, angle, temperature, pressure, curl, divergence, wall-pressure]}
  - {name: cut, grid: {plane: yz, x: [-1, 1], y: [-3, 3], z: [0, 6], cells: [4, 5]}, record: [velocity, angle]}
  - {name: all, grid: {box: [[-3, -3, 0], [3, 3, 6]], cells: [2, 3, 4]}, record: [density, angle]}
output: {every: 0.5}
"""


@pytest.fixture(params=["fixed", "event"])
def gas(request, tmp_path):
    path = tmp_path / "gas.yaml"
    path.write_text(GAS.replace("STEP", request.param), encoding="utf-8")
    return path


def test_every_interval_is_a_file_that_the_series_lists(gas, tmp_path):
    run(gas, tmp_path / "out")
    fields = tmp_path / "out/fields"
    listed = json.loads((fields / "rz.hdf.series").read_text())["files"]
    assert [entry["name"] for entry in listed] == [f"rz/{i:06}.hdf" for i in range(4)]
    assert [entry["time"] for entry in listed] == pytest.approx([0.3, 0.6, 0.9, 0.95])
    assert sorted(path.name for path in (fields / "rz").iterdir()) == [f"{i:06}.hdf" for i in range(4)]
    assert sorted(path.name for path in (fields / "cut").iterdir()) == ["000000.hdf", "000001.hdf"]


def test_files_are_images_with_what_was_asked_for(gas, tmp_path):
    h5py = pytest.importorskip("h5py")
    run(gas, tmp_path / "out")
    with h5py.File(tmp_path / "out/fields/rz/000001.hdf") as file:
        image, data = file["VTKHDF"].attrs, file["VTKHDF/PointData"]
        assert image["Type"] == b"ImageData" and list(image["WholeExtent"]) == [0, 2, 0, 1, 0, 5]
        assert list(image["Origin"]) == [0.5, 0, 0.5] and list(image["Spacing"]) == [1, 1, 1]
        assert {name: data[name].shape for name in data} == {
            "count": (6, 2, 3), "density": (6, 2, 3), "number_density": (6, 2, 3), "velocity": (6, 2, 3, 3),
            "angle": (6, 2, 3), "temperature": (6, 2, 3), "pressure": (6, 2, 3), "pressure_kinetic": (6, 2, 3),
            "pressure_collisional": (6, 2, 3), "curl": (6, 2, 3, 3), "divergence": (6, 2, 3)}
        assert data["count"][:, 0].sum() == pytest.approx(100) and (data["count"][:, 0] == data["count"][:, 1]).all()
        talus_group = file["talus"].attrs
        assert (talus_group["from"], talus_group["to"]) == pytest.approx((0.3, 0.6))
        assert talus_group["grid"] == b"rz" and list(talus_group["axis"]) == [0, 0]
        assert list(talus_group["cells"]) == [3, 1, 6]
        assert file["talus/wall/profile"][1].tolist() == [0, 3, 6, 3] and file["talus/wall/force"][2] > 0
    with h5py.File(tmp_path / "out/fields/cut/000000.hdf") as file:
        assert file["talus"].attrs["plane"] == b"yz" and file["VTKHDF/PointData/velocity"].shape == (5, 4, 2, 3)
        assert file["VTKHDF"].attrs["Origin"][0] == -1 and file["VTKHDF"].attrs["Spacing"][0] == 2
    with h5py.File(tmp_path / "out/fields/all/000000.hdf") as file:
        assert file["VTKHDF/PointData/angle"].shape == (4, 3, 2, 2)


def test_stopped_run_writes_the_same_files(gas, tmp_path):
    run(gas, tmp_path / "whole")
    run(gas, tmp_path / "parts", "--until", 0.47)
    run(gas, tmp_path / "parts", "--resume", "--until", 0.74)
    run(gas, tmp_path / "parts", "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")


def test_forced_run_removes_fields_of_the_one_before(gas, tmp_path):
    run(gas, tmp_path / "out")
    (tmp_path / "out/fields/rz/mine.txt").write_text("mine")
    run(gas, tmp_path / "out", "--force", "--until", 0.3, "--set", "averages.1.name=other")
    fields = tmp_path / "out/fields"
    assert sorted(path.name for path in fields.iterdir()) == ["all", "all.hdf.series", "other", "other.hdf.series",
                                                              "rz", "rz.hdf.series"]
    assert sorted(path.name for path in (fields / "rz").iterdir()) == ["000000.hdf", "mine.txt"]


def test_run_with_other_averages_does_not_go_on(gas, tmp_path):
    run(gas, tmp_path / "out", "--until", 0.3)
    done = talus("run", gas, "-o", tmp_path / "out", "--resume", "--set", "averages.0.every=0.1")
    assert done.returncode != 0 and "averages" in done.stderr


THIN = {"yz": "{plane: yz, x: [-1, 1], y: [-3, 3], z: [0, 6], cells: [2, 3]}",
        "xz": "{plane: xz, x: [-3, 3], y: [-1, 1], z: [0, 6], cells: [2, 3]}",
        "xy": "{plane: xy, x: [-3, 3], y: [-3, 3], z: [0, 2], cells: [2, 3]}",
        "rings": "{radius: 3, z: [0, 6], cells: [3, 6]}",
        "column": "{box: [[-3, -3, 0], [3, 3, 6]], cells: [1, 1, 4]}",
        "one": "{box: [[-3, -3, 0], [3, 3, 6]], cells: [1, 1, 1]}"}

# In a process of its own: VTK's reader crashed on images that are one point thin.
READ = """\
import sys
from vtkmodules.vtkIOHDF import vtkHDFReader
for path in sys.argv[1:]:
    reader = vtkHDFReader()
    reader.SetFileName(path)
    reader.Update()
    image = reader.GetOutput()
    count, velocity = (image.GetPointData().GetArray(name) for name in ("count", "velocity"))
    assert velocity.GetNumberOfTuples() == count.GetNumberOfTuples() == image.GetNumberOfPoints()
    print(*image.GetDimensions(), sum(count.GetValue(i) for i in range(count.GetNumberOfTuples())))
"""


def read_with_vtk(paths):
    pytest.importorskip("vtkmodules.vtkIOHDF", reason="VTK (python3-vtk9) is not installed")
    done = subprocess.run([sys.executable, "-c", READ, *map(str, paths)], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stderr)
    return [[float(word) for word in line.split()] for line in done.stdout.splitlines()]


def test_vtk_reads_thin_images(tmp_path):
    head, tail = GAS.replace("STEP", "fixed").split("averages:\n")
    rows = "".join(f"  - {{name: {name}, grid: {grid}, record: [velocity]}}\n" for name, grid in THIN.items())
    (tmp_path / "gas.yaml").write_text(f"{head}averages:\n{rows}{tail[tail.index('output'):]}", encoding="utf-8")
    run(tmp_path / "gas.yaml", tmp_path / "out", "--until", 0.1)
    found = read_with_vtk([tmp_path / f"out/fields/{name}/000000.hdf" for name in THIN])
    assert [row[:3] for row in found] == [[2, 2, 3], [2, 2, 3], [2, 3, 2], [3, 2, 6], [2, 2, 4], [2, 2, 2]]
    assert [found[i][3] for i in (3, 4, 5)] == pytest.approx([200, 400, 800])
    paths = [tmp_path / f"{name}.hdf" for name in ("yz", "xz", "xy", "rings")]
    for path in paths:
        done = talus("field", tmp_path / "out", "--average", path.stem, "-o", path)
        assert done.returncode == 0, done.stderr
    for seen, known in zip(read_with_vtk(paths), found):
        assert seen == pytest.approx(known)


# ---- zones ---------------------------------------------------------------------------------------

ZONES = GAS[:GAS.index("averages:")] + """\
zones:
  - {name: pull, of: {group: balls}, radius: 1, force: {strength: -0.5, power: 2}}
  - {name: gate, of: {at: [0, 0, 5]}, radius: 1.5, trigger: true, every: 0.25}
output: {every: 0.5}
"""


@pytest.mark.parametrize("step", ["fixed", "event"])
def test_zones_write_lines_and_go_on(step, tmp_path):
    scene = tmp_path / "zones.yaml"
    scene.write_text(ZONES.replace("STEP", step).replace("seed: 3,", "seed: 3, group: balls,"), encoding="utf-8")
    run(scene, tmp_path / "whole")
    head, *lines = (tmp_path / "whole/probes/gate.csv").read_text().splitlines()
    assert head == ("from,to,inside,neighbours,entered,left,mass_in,mass_out,energy_in,energy_out,dwell,energy")
    assert [float(line.split(",")[1]) for line in lines] == pytest.approx([0.25, 0.5, 0.75, 0.95])
    assert sum(int(line.split(",")[4]) for line in lines) > 0
    last = history(tmp_path / "whole")[-1]
    assert float(last["zone_energy"]) < 0 and float(last["zone_work"]) != 0
    run(scene, tmp_path / "parts", "--until", 0.47)
    run(scene, tmp_path / "parts", "--resume")
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")
