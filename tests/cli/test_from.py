"""Bodies of another run: a branch has the bits of the run, and may leave out or change what it names."""
import pytest

from conftest import SHORT, history, talus

SCENE = """\
talus: 1
until: 0.2
step: {{dt: {dt}}}
solve: {solve}
materials:
  glass: {{density: 2500, friction: 0.4, restitution: 0.3, rolling: 1e-4, stiffness: {stiffness}}}
  steel: {{density: 7800, friction: 0.2, stiffness: {stiffness}}}
{more}
bodies:
  - {{name: tank, shape: {{container: [0.2, 0.2, 0.6], open: [top]}}, material: steel, at: [0, 0, 0.3], group: walls,
     {tank}}}
  - {{name: cube, shape: {cube}, material: steel, at: [0, 0, 0.03], spin: [0, 0, 5]}}
  - fill: {{shape: {{sphere: 0.02}}, material: glass, count: 30, group: grains, size: {{uniform: [0.7, 1]}}, seed: 3,
           in: {{box: [[-0.1, -0.1, 0.06], [0.1, 0.1, 0.3]]}}, velocity: [0, 0, -1]}}
output: {{every: 0.05}}
"""
RIGID = {"dt": 1e-3, "solve": "{iterations: 20}", "stiffness": "auto", "more": "quiet: [soft-springs]",
         "tank": "motion: {amplitude: [0.01, 0, 0], frequency: 7}", "cube": "{box: [0.05, 0.05, 0.05]}"}
SPRINGS = {**RIGID, "dt": 1e-4, "solve": "penalty", "stiffness": 1e4}
CASES = {
    "ccp": RIGID,
    "apgd": {**RIGID, "solve": "{method: apgd, iterations: 20}"},
    "impulse": {**RIGID, "solve": "impulse"},
    "sleep": {**RIGID, "more": "sleep: {speed: 0.3, time: 0.01}", "tank": "fixed: true"},
    "springs": SPRINGS,
    "balls": {**SPRINGS, "cube": "{sphere: 0.025}"},
}


def run(scene, out, *arguments):
    done = talus("run", scene, "-o", out, "--quiet", *arguments)
    assert done.returncode == 0, done.stderr
    return done


def branch(tmp_path, case, bodies="{from: half/}", until=0.1, name="second"):
    """A scene that takes bodies from half/, with the settings and materials of the first."""
    text = SCENE.format(**CASES[case]).replace("until: 0.2", f"until: {until}")
    (tmp_path / f"{name}.yaml").write_text(text[:text.index("bodies:")] + f"bodies:\n  - {bodies}\n")
    return tmp_path / f"{name}.yaml"


@pytest.fixture
def half(tmp_path):
    (tmp_path / "first.yaml").write_text(SCENE.format(**CASES["ccp"]))
    run(tmp_path / "first.yaml", tmp_path / "half", "--until", 0.1)
    return tmp_path


@pytest.mark.parametrize("case", ["ccp", "balls"] if SHORT else CASES)
def test_a_branch_without_changes_has_the_bits_of_the_run(tmp_path, case):
    (tmp_path / "first.yaml").write_text(SCENE.format(**CASES[case]))
    run(tmp_path / "first.yaml", tmp_path / "half", "--until", 0.1)
    run(branch(tmp_path, case), tmp_path / "second")
    run(tmp_path / "first.yaml", tmp_path / "half", "--resume", "--until", 0.2)
    first, second = history(tmp_path / "half")[-1], history(tmp_path / "second")[-1]
    assert first["state_hash"] == second["state_hash"]
    assert first["contacts"] == second["contacts"] and int(first["contacts"]) > 20


LIFT = """\
talus: 1
until: 0.2
step: {{kind: {kind}, max: 0.01, min: 1e-9}}
materials: {{stuff: {{density: 1000, friction: 0.4, restitution: 0.3}}}}
bodies:
{bodies}
probes: [{{name: lid, body: lid, record: [position, force]}}]
output: {{every: 0.05}}
"""
LIFTED = """\
  - {name: lid, shape: {box: [0.4, 0.4, 0.02]}, material: stuff, motion: {table: lid.csv, along: [0, 0, 1]}}
  - {shape: {sphere: 0.03}, material: stuff, at: [0, 0, 0.1]}
  - {shape: {box: [0.05, 0.05, 0.05]}, material: stuff, at: [0.12, 0, 0.06]}"""


@pytest.mark.parametrize("kind", ["adaptive", "local"])
def test_a_motion_goes_on_in_a_branch_with_steps_of_any_length(tmp_path, kind):
    """A branch chooses the length of its steps anew, so that it agrees, but not to the bit; its table is in the time
    of the run that it comes from."""
    (tmp_path / "lid.csv").write_text("time,displacement\n0,0\n0.0731,0.01\n0.1273,-0.01\n0.3,0.05\n")
    (tmp_path / "first.yaml").write_text(LIFT.format(kind=kind, bodies=LIFTED))
    run(tmp_path / "first.yaml", tmp_path / "half", "--until", 0.1)
    second = LIFT.format(kind=kind, bodies="  - {from: half/}").replace("until: 0.2", "until: 0.1")
    (tmp_path / "second.yaml").write_text(second)
    run(tmp_path / "second.yaml", tmp_path / "second")
    assert talus("audit", tmp_path / "second").returncode == 0
    run(tmp_path / "first.yaml", tmp_path / "half", "--resume", "--until", 0.2)
    assert talus("audit", tmp_path / "half").returncode == 0
    last = [[float(x) for x in (tmp_path / out / "probes/lid.csv").read_text().splitlines()[-1].split(",")]
            for out in ("half", "second")]
    names = (tmp_path / "half/probes/lid.csv").read_text().splitlines()[0].split(",")
    z = [row[names.index("z")] for row in last]
    assert z[0] == z[1] == pytest.approx(-0.01 + 0.06 * (0.2 - 0.1273) / (0.3 - 0.1273), abs=1e-6)
    first, branch_ = history(tmp_path / "half")[-1], history(tmp_path / "second")[-1]
    assert float(first["potential_energy"]) == pytest.approx(float(branch_["potential_energy"]), rel=1e-3)


def test_a_branch_of_a_branch_goes_on_too(half):
    run(branch(half, "ccp", until=0.05), half / "second")
    run(branch(half, "ccp", "{from: second/}", until=0.05, name="third"), half / "third")
    run(half / "first.yaml", half / "half", "--resume", "--until", 0.2)
    assert history(half / "half")[-1]["state_hash"] == history(half / "third")[-1]["state_hash"]


def test_only_and_except_choose_by_name_group_material_and_place(half):
    def bodies(entry):
        run(branch(half, "ccp", entry, until=0.001), half / "out", "--force")
        return int(history(half / "out")[-1]["bodies"])
    everywhere = "{box: [[-9, -9, -9], [9, 9, 9]]}"
    assert bodies("{from: half/, only: {names: [tank, cube]}}") == 2
    assert bodies("{from: half/, only: {groups: [grains]}}") == 30
    assert bodies("{from: half/, only: {materials: steel}}") == 2
    assert bodies("{from: half/, only: [{names: tank}, {groups: grains}]}") == 31
    assert bodies("{from: half/, except: {names: cube}}") == 31
    assert bodies(f"{{from: half/, only: {{region: {everywhere}, groups: grains}}}}") == 30
    assert bodies(f"{{from: half/, except: {{region: {everywhere}, groups: grains}}}}") == 2


def test_changes_make_bodies_fixed_moving_free_or_of_another_material(half):
    scene = branch(half, "ccp", """{from: half/, change: [{groups: grains, fixed: true},
     {names: cube, motion: {velocity: [0, 0, 1]}, material: glass}, {names: tank, motion: {velocity: [0.1, 0, 0]}}]}""")
    run(scene, half / "out")
    first, last = history(half / "out")[0], history(half / "out")[-1]
    assert float(last["kinetic_energy"]) == 0 and float(first["kinetic_energy"]) == 0
    scene = branch(half, "ccp", "{from: half/, change: {groups: grains, force: [0, 0, 3]}}", name="up")
    run(scene, half / "up")
    assert float(history(half / "up")[-1]["pz"]) > 0 > float(history(half / "half")[-1]["pz"]) - 1e-9


@pytest.mark.parametrize("entry, why", [
    ("{from: half/, only: {names: [tnk]}}", "there is no body named `tnk` among the bodies to take; did you mean `tank`?"),
    ("{from: half/, except: {groups: grain}}", "there is no group `grain` among the bodies to take; did you mean `grains`?"),
    ("{from: half/, only: {materials: glas}}", "there is no material `glas` among the bodies to take; did you mean `glass`?"),
    ("{from: half/, only: {names: tank, groups: grains}}", "none of the 32 bodies is chosen"),
    ("{from: half/, change: {names: tank}}", "bodies.0.change changes nothing; expected material, fixed, motion, force or torque"),
    ("{from: half/, change: {material: gold}}", "bodies.0.change.material is `gold`; expected the name of a material"),
    ("{from: half/, only: {}}", "bodies.0.only is empty; expected names, groups, materials or a region"),
    ("{from: half/, shape: x}", "unknown key `shape`"),
    ("{from: half/, change: {names: tank, fixed: false}}", "a container has no mass and cannot be free"),
])
def test_a_wrong_choice_is_refused_with_its_place(half, entry, why):
    done = talus("run", branch(half, "ccp", entry), "-o", half / "out")
    assert done.returncode == 2
    assert "second.yaml:" in done.stderr and why in done.stderr


def test_a_changed_scene_is_told_the_way_by_from(half):
    done = talus("run", half / "first.yaml", "-o", half / "half", "--resume", "--set", "materials.glass.friction=0.1")
    assert done.returncode == 2
    assert "`bodies: [{from: " in done.stderr and "goes on from here with changes" in done.stderr


def test_the_resolved_scene_of_a_branch_runs_to_the_same_end(half):
    run(branch(half, "ccp", "{from: half/, except: {names: cube}, change: {groups: grains, force: [0, 0, 1]}}"), half / "one")
    run(half / "one/scene.yaml", half / "two")
    assert history(half / "one")[-1]["state_hash"] == history(half / "two")[-1]["state_hash"]


def test_emitters_and_sinks_that_stay_behind_are_told_of(tmp_path):
    (tmp_path / "first.yaml").write_text("""\
talus: 1
until: 0.01
materials: {rock: {density: 2600}}
bodies: [{shape: {plane: [0, 0, 1, 0]}, fixed: true}]
emit:
  - {name: spout, shape: {sphere: 0.01}, rate: 1000, from: {disc: {at: [0, 0, 1], radius: 0.5}}}
  - {name: over, shape: {sphere: 0.01}, rate: 1000, from: {disc: {at: [0, 0, 2], radius: 0.5}}, until: 0.005}
sinks: [{name: drain, in: {box: [[-1, -1, -2], [1, 1, -1]]}}]
""")
    run(tmp_path / "first.yaml", tmp_path / "first")
    (tmp_path / "next.yaml").write_text("talus: 1\nuntil: 0.01\nbodies: [{from: first}]\n")
    said = talus("check", tmp_path / "next.yaml").stderr
    assert ("next.yaml:3:10: bodies.0.from: emitter `spout` and sink `drain` of that run do not come along: "
            "copy `emit` and `sinks` from its scene.yaml; if that is meant, add `quiet: [left-behind]`") in said
    assert "come along" not in talus("check", tmp_path / "next.yaml", "--set", "quiet=[left-behind]").stderr
    assert "come along" not in talus("check", tmp_path / "next.yaml", "--set", "sinks=[{in: {sphere: {at: [0, 0, 9], radius: 1}}}]").stderr


APART = """\
talus: 1
until: {until}
step: {{dt: 1e-3}}
materials: {{m: {{}}}}
bodies: {bodies}
{more}
"""


def test_groups_that_ignore_each_other_do_so_in_a_branch(tmp_path):
    two = """
  - {name: a, group: frame, shape: {box: [0.1, 0.1, 0.1]}, at: [0, 0, 0], fixed: true}
  - {name: b, group: frame, shape: {box: [0.1, 0.1, 0.1]}, at: [0.05, 0, 0]}"""
    (tmp_path / "first.yaml").write_text(APART.format(until=0.1, bodies=two, more="ignore: [[frame, frame]]"))
    (tmp_path / "second.yaml").write_text(APART.format(until=0.1, bodies="[{from: first}]", more="").replace("materials: {m: {}}\n", ""))
    run(tmp_path / "first.yaml", tmp_path / "first")
    run(tmp_path / "second.yaml", tmp_path / "second")
    run(tmp_path / "first.yaml", tmp_path / "whole", "--until", 0.2)
    assert history(tmp_path / "second")[-1]["state_hash"] == history(tmp_path / "whole")[-1]["state_hash"]


@pytest.mark.parametrize("change", ["fixed: true", "motion: {velocity: [0, 0, 0.5]}"])
@pytest.mark.parametrize("held", ["press: {axis: [0, 0, -1], force: 10, max_speed: 1}}", "}\njoints: [{name: h, kind: revolute, "
                                                                                        "bodies: [ground, b], at: [0, 0, 1], axis: [0, 1, 0]}]"])
def test_a_joint_of_a_body_that_a_change_holds_is_left_out(tmp_path, change, held):
    body = "\n  - {name: b, shape: {box: [0.1, 0.1, 0.1]}, at: [0, 0, 1]" + (", " if held.startswith("press") else "") + held
    (tmp_path / "first.yaml").write_text(APART.format(until=0.05, bodies=body, more=""))
    (tmp_path / "second.yaml").write_text(APART.format(until=0.05, bodies=f"[{{from: first, change: {{names: b, {change}}}}}]", more="").replace(
        "materials: {m: {}}\n", ""))
    run(tmp_path / "first.yaml", tmp_path / "first")
    done = talus("run", tmp_path / "second.yaml", "-o", tmp_path / "second")
    assert done.returncode == 0, done.stderr
    assert "is left out, as neither of its bodies can move now" in (tmp_path / "second/log.txt").read_text()
    assert ("warning: joint 'h'" in done.stderr) == ("joints" in held)


@pytest.mark.parametrize("name, force, is_press", [("", "", False), ("", ", force: [0, 0, -3]", False), ("", ", force: [0, 0, 9.81]", True),
                                                  ("name: lift, ", ", force: [0, 0, 9.81]", False)])
def test_a_motor_without_a_name_is_a_press_if_a_force_bears_the_weight_and_the_message_says_so(tmp_path, name, force, is_press):
    body = f"\n  - {{name: car, shape: {{box: [0.1, 0.1, 0.1]}}, at: [0, 0, 1]{force}}}"
    joint = f"\njoints: [{{{name}kind: prismatic, bodies: [ground, car], at: [0, 0, 1], axis: [0, 0, 1], motor: {{speed: 0.1, max: 5}}}}]"
    (tmp_path / "first.yaml").write_text(APART.format(until=0.05, bodies=body, more=joint.strip()))
    run(tmp_path / "first.yaml", tmp_path / "first")
    (tmp_path / "second.yaml").write_text(
        "talus: 1\nuntil: 0.01\nstep: {dt: 1e-3}\nbodies: [{from: first, change: {names: car, force: [0, 0, -9]}}]\n")
    done = talus("check", tmp_path / "second.yaml")
    assert done.returncode == (2 if is_press else 0), done.stderr
    assert ("counts as a press: name it" in done.stderr) == is_press


@pytest.mark.parametrize("solve", ["ccp", "penalty"])
@pytest.mark.parametrize("load", ["force", "torque"])
def test_a_change_of_the_load_of_a_plate_that_presses_is_refused(tmp_path, solve, load):
    body = ("\n  - {name: lid, shape: {box: [0.1, 0.1, 0.1]}, at: [0, 0, 1], press: {axis: [0, 0, -1], force: 10, max_speed: 1}}"
            "\n  - {name: other, shape: {box: [0.1, 0.1, 0.1]}, at: [2, 0, 1]}")
    (tmp_path / "first.yaml").write_text(APART.format(until=0.05, bodies=body, more=f"solve: {solve}").replace("m: {}", "m: {stiffness: 1e3}"))
    run(tmp_path / "first.yaml", tmp_path / "first")
    take = "talus: 1\nuntil: 0.01\nstep: {{dt: 1e-3}}\nsolve: {}\nbodies: [{{from: first, change: {{names: {}, {}: [0, 0, -99]}}}}]\n"
    (tmp_path / "second.yaml").write_text(take.format(solve, "lid", load))
    done = talus("check", tmp_path / "second.yaml")
    assert done.returncode == 2
    assert f"body 1 'lid' another {load}, but it presses" in done.stderr and "leave it out (`except`)" in done.stderr
    (tmp_path / "third.yaml").write_text(take.format(solve, "other", load))
    done = talus("check", tmp_path / "third.yaml")
    assert done.returncode == 0, done.stderr


def test_the_resolved_scene_of_a_press_is_valid(tmp_path):
    body = "\n  - {name: b, shape: {box: [0.1, 0.1, 0.1]}, at: [0, 0, 1], press: {axis: [0, 0, -1], force: 10, max_speed: 1}}"
    (tmp_path / "first.yaml").write_text(APART.format(until=0.05, bodies=body, more=""))
    run(tmp_path / "first.yaml", tmp_path / "first")
    done = talus("check", tmp_path / "first/scene.yaml")
    assert done.returncode == 0, done.stderr


def test_a_material_of_the_run_has_to_be_declared(tmp_path):
    body = "\n  - {name: b, shape: {box: [0.1, 0.1, 0.1]}, at: [0, 0, 1]}"
    (tmp_path / "first.yaml").write_text(APART.format(until=0.01, bodies=body, more=""))
    run(tmp_path / "first.yaml", tmp_path / "first")
    (tmp_path / "second.yaml").write_text("talus: 1\nuntil: 0.01\nbodies: [{from: first, change: {material: m}}]\n")
    done = talus("check", tmp_path / "second.yaml")
    assert done.returncode == 2 and "declare one of the run that bodies come `from` in `materials`, too" in done.stderr
    (tmp_path / "third.yaml").write_text("talus: 1\nuntil: 0.01\nmaterials: {m: {}}\nbodies: [{from: first, change: {material: m}}]\n")
    assert talus("check", tmp_path / "third.yaml").returncode == 0
