"""talus audit: whether bodies of a run passed through each other."""
import json
import re
import struct

import pytest

from conftest import BUSY, HISTORY_COLUMNS, long_test, talus

DROP = """\
talus: 1
until: 0.4
step: {dt: 1e-3}
materials: {m: {density: 2600, friction: 0.5, restitution: 0.3}}
bodies:
  - {name: floor, shape: {plane: [0, 0, 1, 0]}, material: m, fixed: true}
  - {name: ball, shape: {sphere: 0.05}, material: m, at: [0, 0, 0.3]}
  - {name: box, shape: {box: [0.1, 0.1, 0.1]}, material: m, at: [0.05, 0, 0.6], spin: [3, 1, 2]}
output: {every: 0.1}
"""

# A contact is looked for only where bodies are within a micrometre: the bullet is 10 m further in each step.
BULLET = """\
talus: 1
until: 0.004
gravity: [0, 0, 0]
step: {dt: 1e-3}
contact: {margin: 1e-6, sweep: false}
materials: {m: {density: 2600}}
bodies:
  - {name: card, shape: {box: [1, 1, 1e-3]}, material: m, at: [0, 0, 0], fixed: true}
  - {name: bullet, shape: {sphere: 0.01}, material: m, at: [0, 0, 14], velocity: [0, 0, -1e4]}
output: {every: 1e-3}
"""


def made(tmp_path, text):
    (tmp_path / "scene.yaml").write_text(text)
    done = talus("run", tmp_path / "scene.yaml", "-o", tmp_path / "out", "--quiet")
    assert done.returncode == 0, done.stderr
    return tmp_path / "out"


def test_a_run_in_which_nothing_passes_through_anything_is_clean(tmp_path):
    out = made(tmp_path, DROP)
    done = talus("audit", out, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["overlaps"] == found["unproven"] == found["moved"] == 0
    assert found["steps"] == 400 and found["hashes"] == found["frames"] == 5
    assert "nothing passed" in talus("audit", out, "--frames").stdout


DEEP = """\
talus: 1
until: 0.02
gravity: [0, 0, 0]
step: {dt: 0.001}
materials: {stuff: {density: 1000}}
shapes:
  block: {box: [0.6, 0.4, 0.5]}
  stone: {mesh: {make: noisy-sphere, triangles: 80, size: [0.25, 0, 0, 0, 0], noise: 1.5, seed: 5}}
bodies:
  - {name: block, shape: block, material: stuff, at: [0, 0, 0], fixed: true}
  - {name: stone, shape: stone, material: stuff, at: [%s, 0.02, 0.03]}
output: {every: 0.01}
"""


@pytest.mark.parametrize("options", [(), ("--frames",)])
def test_flat_bodies_that_share_a_place_are_found_where_the_narrow_phase_has_no_contact(tmp_path, options):
    """A mesh that is half within a block touches it nowhere near its surface; exact signs tell."""
    out = made(tmp_path, DEEP % 0.05)
    done = talus("audit", out, "--json", *options)
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["decided"] == found["overlaps"] == 3
    assert (found["first"]["a"], found["first"]["b"]) == ("body 1 'block'", "body 2 'stone'")
    assert "they share a place" in talus("audit", out, *options).stdout
    (tmp_path / "apart").mkdir()
    out = made(tmp_path / "apart", DEEP % 0.7)
    assert talus("audit", out, *options).returncode == 0


def test_a_bullet_that_passes_a_card_between_frames_is_named(tmp_path):
    out = made(tmp_path, BULLET)
    assert talus("audit", out, "--frames").returncode == 0  # it is before the card, and then behind it
    done = talus("audit", out, "--json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert found["overlaps"] == 1
    assert {found["first"]["a"], found["first"]["b"]} == {"body 1 'card'", "body 2 'bullet'"}
    assert found["first"]["time"] == pytest.approx((14 - 0.0105) / 1e4, abs=1e-8)
    assert found["deepest"]["depth"] > 0.005
    assert "'bullet'" in talus("audit", out).stdout


@pytest.mark.parametrize("change", [
    ("contact: {margin: 1e-6, sweep: false}", "contact: {margin: 1e-6}"),
    ("contact: {margin: 1e-6, sweep: false}", ""),
    ("step: {dt: 1e-3}\ncontact: {margin: 1e-6, sweep: false}", "step: {kind: adaptive, max: 1e-3}"),
])
def test_a_sweep_or_an_adaptive_step_stops_the_bullet(tmp_path, change):
    assert change[0] in BULLET
    out = made(tmp_path, BULLET.replace(*change))
    done = talus("audit", out)
    assert done.returncode == 0, done.stdout


def test_without_a_sweep_a_ball_passes_a_card_by_default_too(tmp_path):
    out = made(tmp_path, BULLET.replace("margin: 1e-6, ", ""))
    assert talus("audit", out).returncode == 1


def test_a_heap_with_adaptive_steps_is_clean_and_goes_on_after_a_stop(tmp_path):
    text = DROP.replace("step: {dt: 1e-3}", "step: {kind: adaptive, max: 0.01}")
    out = made(tmp_path, text)
    done = talus("audit", out, "--json")
    assert done.returncode == 0, done.stdout
    found = json.loads(done.stdout)
    assert 40 < found["steps"] < 400 and found["deepest"]["depth"] < 0
    shown = talus("info", out).stdout
    assert "shortest step" in shown and "the last by bodies" in shown and re.search(r"e-0\d s \|.*#", shown)
    part = tmp_path / "part"
    for until, resume in ((0.2, []), (0.4, ["--resume"])):
        done = talus("run", tmp_path / "scene.yaml", "-o", part, "--quiet", "--until", until, *resume)
        assert done.returncode == 0, done.stderr
    walls = [i for i, name in enumerate(HISTORY_COLUMNS) if name.startswith("wall_")]
    rows = [[[cell for i, cell in enumerate(line.split(",")) if i not in walls]
             for line in (folder / "history.csv").read_text().splitlines()] for folder in (out, part)]
    assert rows[0] == rows[1]


FAST = """\
talus: 1
until: {until}
gravity: [0, 0, 0]
step: {step}
contact: {{sweep: {sweep}}}
materials: {{m: {{density: 1000, friction: 0.2, restitution: 0.3}}}}
bodies:
{bodies}
output: {{every: {until}}}
"""

# Time, step, bodies, and the pair that meets.
FAST_SCENES = {
    "needle through a mesh wall": (0.004, 1e-3, """\
  - {name: wall, shape: {mesh: {make: plate, size: [2, 2], triangles: 200}}, material: m, fixed: true}
  - {name: needle, shape: {capsule: {radius: 0.002, length: 0.2}}, material: m, at: [-10, 0.2, 11.7],
     rotation: {axis: [0, 1, 0], degrees: -40}, velocity: [8e3, 0, -1e4], spin: [0, 3, 0]}""", ("wall", "needle")),
    "spinning cross": (0.1, 0.02, """\
  - {name: cross, shape: {clump: [[-0.9, 0, 0, 0.1], [-0.6, 0, 0, 0.1], [-0.3, 0, 0, 0.1], [0, 0, 0, 0.1], [0.3, 0, 0, 0.1],
     [0.6, 0, 0, 0.1], [0.9, 0, 0, 0.1], [0, 0.9, 0, 0.1], [0, -0.9, 0, 0.1]]}, material: m, spin: [0, 0, 30]}
  - {name: box, shape: {box: [0.1, 0.1, 0.1]}, material: m, at: [0.7, 0.7, 0]}""", ("cross", "box")),
    "three balls at once": (0.05, 0.01, """\
  - {name: one, shape: {sphere: 0.1}, material: m, at: [1, 0, 0], velocity: [-100, 0, 0]}
  - {name: two, shape: {sphere: 0.1}, material: m, at: [-0.5, 0.8660254037844386, 0], velocity: [50, -86.60254037844386, 0]}
  - {name: three, shape: {sphere: 0.1}, material: m, at: [-0.5, -0.8660254037844386, 0],
     velocity: [50, 86.60254037844386, 0]}""", ("one", "two")),
    "ball in a shrinking corner": (0.2, 0.01, """\
  - {name: left, shape: {box: [1, 4, 4]}, material: m, at: [-0.7, 0, 0], fixed: true}
  - {name: right, shape: {box: [1, 4, 4]}, material: m, at: [0.9, 0, 0], rotation: {axis: [0, 0, 1], degrees: 8},
     motion: {velocity: [-0.5, 0, 0]}}
  - {name: ball, shape: {sphere: 0.1}, material: m, at: [0, 0, 0], velocity: [40, 30, 1]}""", ("right", "ball")),
    "screw thread": (0.002, 1e-3, """\
  - {name: bolt, shape: {mesh: {make: bolt, size: [0.01, 0.0015, 0.006], triangles: 600}}, material: m, fixed: true}
  - {name: nut, shape: {mesh: {make: nut, size: [0.01, 0.0015, 0.002, 0.016, 1.0e-4], triangles: 300}}, material: m,
     at: [0, 0, 0.003], spin: [0, 0, 300], velocity: [0, 0, -5]}""", ("bolt", "nut")),
}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=long_test) if name == "screw thread" else name for name in FAST_SCENES])
def test_what_is_fast_meets_and_without_a_sweep_it_passes_through(tmp_path, name):
    until, dt, bodies, pair = FAST_SCENES[name]
    for kind, sweep in (("adaptive", "true"), ("fixed", "true"), ("fixed", "false")):
        step = f"{{kind: adaptive, max: {dt}}}" if kind == "adaptive" else f"{{dt: {dt}}}"
        folder = tmp_path / (kind + sweep)
        folder.mkdir()
        out = made(folder, FAST.format(until=until, step=step, sweep=sweep, bodies=bodies))
        done = talus("audit", out, "--json")
        found = json.loads(done.stdout)
        if sweep == "true":
            assert done.returncode == 0, (kind, done.stdout)
            assert found["overlaps"] == found["unproven"] == 0
        else:
            assert done.returncode == 1, done.stdout
            assert {found["first"][end].split("'")[1] for end in "ab"} == set(pair)


def test_overlaps_within_the_tolerance_are_allowed(tmp_path):
    out = made(tmp_path, BULLET)
    assert talus("audit", out, "--tolerance", 0.02).returncode == 0
    done = talus("audit", out, "--tolerance", -1)
    assert done.returncode == 2 and "negative" in done.stderr


def test_a_body_that_was_moved_in_one_frame_is_found(tmp_path):
    out = made(tmp_path, DROP)
    frame = out / "frames/000000.hdf"
    data = frame.read_bytes()
    place = struct.pack("<3d", 0, 0, 0.3)
    assert data.count(place) == 1
    frame.write_bytes(data.replace(place, struct.pack("<3d", 0, 0, 0.3 + 5e-5)))
    done = talus("audit", out)
    assert done.returncode == 1
    assert "'ball' in frame 0, moved by 5e-05 m" in done.stdout


def test_a_folder_whose_scene_was_changed_is_refused(tmp_path):
    out = made(tmp_path, DROP)
    scene = out / "scene.yaml"
    scene.write_text(scene.read_text().replace("0.3", "0.31"))
    done = talus("audit", out)
    assert done.returncode == 2
    assert "history.csv has the state" in done.stderr


@pytest.mark.parametrize("name", ["scene.yaml", "history.csv"])
def test_what_is_missing_is_said(tmp_path, name):
    out = made(tmp_path, DROP)
    (out / name).unlink()
    done = talus("audit", out)
    assert done.returncode == 2 and name in done.stderr


def test_a_history_of_something_else_is_refused(tmp_path):
    out = made(tmp_path, DROP)
    (out / "history.csv").write_text("a,b\n1,2\n")
    done = talus("audit", out)
    assert done.returncode == 2 and "state_hash" in done.stderr


def test_emitters_sinks_and_probes_are_repeated(tmp_path):
    out = made(tmp_path, BUSY)
    one, two = (talus("audit", out, "--json", "--threads", n) for n in (1, 2))
    assert one.returncode == two.returncode
    assert one.stdout == two.stdout
    assert json.loads(one.stdout)["hashes"] > 3


JOINED = """\
talus: 1
until: 0.1
gravity: [0, 0, 0]
domain: {box: [[-1, -1, -1], [1, 1, 1]], periodic: [x]}
materials: {m: {density: 1000}}
ignore: [[a, b]]
bodies:
  - {name: one, shape: {sphere: 0.2}, material: m, at: [0.95, 0, 0], velocity: [1, 0, 0]}
  - {name: two, shape: {sphere: 0.2}, material: m, at: [-0.85, 0, 0], velocity: [1, 0, 0]}
  - {name: three, shape: {sphere: 0.2}, material: m, at: [0, 0.5, 0], group: a}
  - {name: four, shape: {sphere: 0.2}, material: m, at: [0.1, 0.5, 0], group: b}
joints:
  - {kind: distance, bodies: [one, two], at: [0.95, 0, 0], to: [1.15, 0, 0]}
output: {every: 0.05}
"""


def test_bodies_that_may_overlap_are_left_alone_and_images_are_not(tmp_path):
    out = made(tmp_path, JOINED)
    done = talus("audit", out)
    assert done.returncode == 0, done.stdout + done.stderr
    apart = tmp_path / "apart"
    apart.mkdir()
    text = JOINED.split("joints:")[0] + "output: {every: 0.05}\n"
    out = made(apart, text)
    done = talus("audit", out)
    assert done.returncode == 1 and "'one' and body 2 'two' at t = 0 s: overlap 0.2 m" in done.stdout


def test_springs_are_refused_with_the_reason(tmp_path):
    text = DROP.replace("step: {dt: 1e-3}", "step: {dt: 1e-5}\nsolve: {kind: penalty}").replace("until: 0.4", "until: 1e-3")
    text = text.replace("restitution: 0.3", "restitution: 0.3, stiffness: 1e5").replace("every: 0.1", "every: 1e-3")
    out = made(tmp_path, text)
    done = talus("audit", out)
    assert done.returncode != 0 and "overlap_max" in done.stderr
