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


INLET = """\
talus: 1
until: 0.1
gravity: [0, 0, 0]
step: {kind: event, dt: 0.01}
solve: elastic
materials: {steel: {friction: 0, restitution: 1}}
shapes: {ball: {sphere: 0.1}, wall: {revolved: [[0, 1], [1, 1], [1, 2], [2, 2]]}}
bodies: [{name: nozzle, shape: wall, material: steel, fixed: true}]
emit:
  - {name: inlet, shape: ball, rate: 10, from: {disc: {at: %s, radius: %g}}, velocity: [0, 0, 1]}
"""


@pytest.mark.parametrize("at, radius, said", [
    ("[1.6, 0, 0.5]", 0.1, ["in its matter", "put it inside"]),
    ("[3, 0, 0.5]", 0.1, ["the place where its bodies come from is outside", "put it inside"]),
    ("[0, 0, 1.5]", 2.5, ["a part of where its bodies come from is outside", "make it narrower than the wall"]),
])
def test_an_inlet_outside_a_wall_is_refused(tmp_path, at, radius, said):
    scene = tmp_path / "inlet.yaml"
    scene.write_text(INLET % (at, radius))
    for command in (("check", scene), ("run", scene, "-o", tmp_path / "out")):
        result = talus(*command)
        assert result.returncode == 2, result.stderr
        errors = [line for line in result.stderr.splitlines() if "error" in line]
        assert len(errors) == 1 and "inlet.yaml:10:5: emit.0: inlet" in errors[0]
        assert all(words in errors[0] for words in said)


@pytest.mark.parametrize("at, radius", [("[0, 0, 0.5]", 0.8), ("[0, 0, 2.5]", 3), ("[0, 0, 0.5]", 1.5)])
def test_an_inlet_within_or_beside_a_wall_is_accepted(tmp_path, at, radius):
    scene = tmp_path / "inlet.yaml"
    scene.write_text(INLET % (at, radius))
    assert talus("check", scene).returncode == 0


KINDS = """\
talus: 1
until: 0.3
step: {dt: 2e-3}
materials: {grain: {friction: 0.3}}
shapes:
  egg: {ellipsoid: [0.05, 0.04, 0.03]}
  log: {cylinder: {radius: 0.03, length: 0.1}}
  top: {cone: {radius: 0.04, length: 0.08}}
  brick: {superellipsoid: {half: [0.05, 0.04, 0.03], n1: 4, n2: 4}}
  stone: {mesh: {make: noisy-sphere, triangles: 80, noise: 1.3, seed: 3}, scale: 0.04}
  drum: {revolved: [[-0.3, 0], [-0.3, 0.3], [0.3, 0.3], [0.3, 0]]}
bodies:
  - {name: drum, shape: drum, material: grain, rotation: {axis: [0, 1, 0], degrees: 90}, motion: {spin: [3, 0, 0]}}
"""


def test_every_kind_turns_in_a_drum_with_any_number_of_threads(tmp_path):
    rows = [f"  - {{shape: {kind}, material: grain, at: [{0.12 * (i - 2)}, {0.1 * (j - 0.5)}, {-0.12 + 0.14 * j}]}}\n"
            for i, kind in enumerate(("egg", "log", "top", "brick", "stone")) for j in range(2)]
    (tmp_path / "scene.yaml").write_text(KINDS + "".join(rows) + "output: {every: 0.1}\n")
    hashes = {hash_of(run(tmp_path / "scene.yaml", tmp_path / f"out{n}", "--threads", n)) for n in (1, 3)}
    run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", "0.15")
    hashes.add(hash_of(run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", "0.3", "--resume")))
    assert len(hashes) == 1
    last = history(tmp_path / "out1")[-1]
    assert int(last["bodies"]) == 11 and int(last["contacts"]) > 10 and int(last["sunk"]) == 0
