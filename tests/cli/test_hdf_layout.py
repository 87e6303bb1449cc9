"""What HDF5's own library finds in the files that talus writes without it: hdf_layout.txt says what must be there,
to the type, and was made from files that the library had written."""
import os
import pathlib

import pytest
from conftest import TALUS, run

h5py = pytest.importorskip("h5py")

REAL = "float32" if "single" in os.path.basename(TALUS) else "float64"
# Numbers whose type is that of talus_real.
REALS = {"radius", "half_axes", "quaternion", "velocity", "spin", "axes", "density", "friction", "restitution",
         "static_friction", "rolling", "spinning", "cohesion", "scale", "force", "torque", "gap", "impulse", "normal"}

SCENE = """\
talus: 1
until: 0.05
step: {dt: 1e-3}
materials: {glass: {density: 2500, friction: 0.4, restitution: 0.5}}
shapes:
  block: {box: [0.04, 0.04, 0.04]}
  egg: {ellipsoid: [0.03, 0.02, 0.01]}
  nut: {clump: [[0, 0, 0, 0.02], [0.02, 0, 0, 0.02]]}
  rock: {hull: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.08, 0.08, 0.08]]}
  tank: {container: [0.4, 0.4, 0.8], open: [top]}
bodies:
  - {name: tank, shape: tank, material: glass, at: [0, 0, 0.4], fixed: true}
  - {name: cube, shape: block, material: glass, at: [0, 0, 0.021], spin: [0, 0, 5]}
  - {name: egg, shape: egg, material: glass, at: [0.1, 0.1, 0.02]}
  - {name: nut, shape: nut, material: glass, at: [-0.1, -0.1, 0.02]}
  - {name: rock, shape: rock, material: glass, at: [0.05, -0.15, 0.0]}
joints:
  - {name: pin, kind: spherical, bodies: [cube, ground], at: [0, 0, 0.1]}
output: {every: 0.025, fields: [quaternion, velocity, spin, contacts, surfaces]}
"""


def kind_of(kind, dtype, name):
    """A type in words: its size, sign, order; of texts their end and characters."""
    if kind.get_class() == h5py.h5t.STRING:
        end = {h5py.h5t.STR_NULLTERM: "ended", h5py.h5t.STR_NULLPAD: "padded"}[kind.get_strpad()]
        return f"text {end} {'UTF-8' if kind.get_cset() == h5py.h5t.CSET_UTF8 else 'ASCII'}"
    assert kind.get_order() in (h5py.h5t.ORDER_LE, h5py.h5t.ORDER_NONE)
    if name in REALS:
        assert dtype.name == REAL, name
        return "real"
    return dtype.name


def describe(path):
    lines = []

    def show(name, what):
        for key in sorted(what.attrs):
            one = what.attrs.get_id(key)
            lines.append(f"{name} attribute {key}: {kind_of(one.get_type(), one.dtype, '')} {one.shape}")
        if not isinstance(what, h5py.Dataset):
            lines.append(f"{name}: group")
            for key in sorted(what):
                show(f"{name.rstrip('/')}/{key}", what[key])
            return
        made = what.id.get_create_plist()
        assert made.get_layout() == h5py.h5d.CONTIGUOUS and what.maxshape == what.shape and what.size is not None
        what[()]  # all of it can be read
        lines.append(f"{name}: {kind_of(what.id.get_type(), what.dtype, name.rsplit('/')[-1])} "
                     f"{('n', *what.shape[1:])} names {h5py.h5o.get_info(what.id).rc}")

    with h5py.File(path) as file:
        show("/", file)
    return lines


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    at = tmp_path_factory.mktemp("layout")
    (at / "scene.yaml").write_text(SCENE)
    run(at / "scene.yaml", at / "out", "--quiet")
    return at / "out"


def test_files_have_the_datasets_types_and_attributes_that_hdf5_itself_wrote(folder):
    found = [f"{which}{line}" for which in ("frames", "contacts", "surfaces")
             for line in describe(folder / which / "000002.hdf")]
    expected = (pathlib.Path(__file__).parent / "hdf_layout.txt").read_text().splitlines()
    assert found == expected


def test_values_are_those_of_the_run(folder):
    with h5py.File(folder / "frames/000002.hdf") as file:
        assert list(file["talus/names/name"].asstr()[()]) == ["tank", "cube", "egg", "nut", "rock"]
        assert list(file["talus/shapes/kind"].asstr()[()]) == ["box", "ellipsoid", "clump", "hull", "container"]
        assert file["talus"].attrs["steps"] == 50 and file["talus"].attrs["time"] == pytest.approx(0.05)
        assert list(file["VTKHDF/PointData/id"][()]) == [1, 2, 3, 4, 5]
        assert tuple(file["VTKHDF/Points"][0]) == (0, 0, 0.4)
    with h5py.File(folder / "contacts/000002.hdf") as file:
        assert len(file["contacts/gap"]) >= 3
        assert file["contacts/point"] == file["VTKHDF/Points"]  # two names of one


def test_checkpoint_is_a_file_of_hdf5(folder):
    with h5py.File(folder / "checkpoint.hdf") as file:
        assert file.userblock_size == 512 and file.attrs["talus_checkpoint"] > 0
        assert file["world/steps"][0] == 50 and len(file["world"]) > 80
        names = []
        file.visititems(lambda name, what: names.append((name, what[()])) if isinstance(what, h5py.Dataset) else None)
    assert len(names) > 250
