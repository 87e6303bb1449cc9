"""Revolved walls from a scene file: run, resume, frames, contacts, pictures."""
import pytest

from conftest import hash_of, history, run, talus

SCENE = """\
talus: 1
until: 0.6
step: {dt: 2e-3}
materials: {grain: {friction: 0.3}}
shapes:
  grain: {sphere: 0.02}
  hopper: {funnel: {top: 0.3, bottom: 0.06, length: 0.3}}
  cup: {revolved: [[0, 0], [0, 0.2], [0.2, 0.2]], sides: both}
bodies:
  - {name: hopper, shape: hopper, material: grain, at: [0, 0, 0.5], fixed: true}
  - {name: cup, shape: cup, material: grain, motion: {spin: [0, 0, 3]}}
  - fill: {shape: grain, material: grain, count: 60, in: {box: [[-0.15, -0.15, 0.5], [0.15, 0.15, 0.65]]}, seed: 2}
output: {every: 0.1, fields: [quaternion, velocity, spin, contacts, surfaces]}
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("revolved")
    (folder / "scene.yaml").write_text(SCENE)
    return folder, run(folder / "scene.yaml", folder / "out")


def test_funnel_lets_grains_into_a_cup(whole):
    folder, _ = whole
    rows = history(folder / "out")
    assert int(rows[-1]["bodies"]) == 62 and int(rows[-1]["sunk"]) == 0
    assert int(rows[-1]["contacts"]) > 20


def test_resumed_in_the_middle_ends_in_the_same_state(whole):
    folder, result = whole
    for until in ("0.1", "0.35", "0.6"):
        part = run(folder / "scene.yaml", folder / "parts", "--until", until, "--resume")
    assert hash_of(part) == hash_of(result)


def test_frame_gives_the_contacts_of_its_walls(whole):
    folder, _ = whole
    frame = sorted((folder / "out/frames").glob("*.hdf"))[-1]
    result = talus("contacts", frame)
    assert result.returncode == 0, result.stderr
    assert any(line.startswith("1,") or line.startswith("2,") for line in result.stdout.splitlines())


def test_walls_are_drawn(whole):
    folder, _ = whole
    result = talus("render", folder / "out", "-o", folder / "a.png", "--size", "160x90", "--samples", "1")
    if "needs Embree" in result.stderr or "without" in result.stderr:
        pytest.skip("built without Embree")
    assert result.returncode == 0, result.stderr
    assert (folder / "a.png").stat().st_size > 1000


def test_shape_info_tells_the_profile(whole):
    result = talus("shape", "info", "{revolved: [[0, 0], [0, 0.2], [0.2, 0.2]]}")
    assert result.returncode == 0, result.stderr
    assert "3 points" in result.stdout and "walls without thickness" in result.stdout
