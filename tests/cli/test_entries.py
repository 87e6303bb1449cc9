"""Names of entries, settings by name, runs without frames, and small things that were lost or refused in silence."""
import pytest

from conftest import BALL, BUSY, assert_same_folder, history, run, talus

NAMED = """\
talus: 1
until: 0.01
materials: {rock: {density: 2600}}
bodies:
  - {name: floor, shape: {plane: [0, 0, 1, 0]}, fixed: true, group: walls}
  - name: sand
    fill: {shape: {sphere: 0.05}, count: 20, in: {box: [[-1, -1, 0.1], [1, 1, 1]]}}
  - {name: stones, table: stones.csv}
ignore: [[sand, stones]]
probes: [{name: ground, body: floor, record: [force]}]
"""


@pytest.fixture
def named(tmp_path):
    (tmp_path / "stones.csv").write_text("x,y,z,r,vx,vy,vz\n3,0,1,0.1,0,0,0\n4,0,1,0.1,1,0,0\n")
    (tmp_path / "named.yaml").write_text(NAMED)
    return tmp_path / "named.yaml"


def bodies(folder):
    return int(history(folder)[-1]["bodies"])


def test_entries_are_set_by_name(named, tmp_path):
    run(named, tmp_path / "plain")
    assert bodies(tmp_path / "plain") == 23
    run(named, tmp_path / "fewer", "--set", "bodies.sand.count=5")
    run(named, tmp_path / "same", "--set", "bodies.sand.fill.count=5")
    assert bodies(tmp_path / "fewer") == 8
    assert_same_folder(tmp_path / "fewer", tmp_path / "same")
    run(named, tmp_path / "number", "--set", "bodies.1.count=5", "--set", "probes.ground.every=0.005")
    assert bodies(tmp_path / "number") == 8
    run(named, tmp_path / "moved", "--set", "bodies.stones.at=[0, 0, 5]", "--set", "bodies.floor.shape.plane=[0, 0, 1, -1]")
    for setting, why in (("bodies.snd.count=5", "there is no entry named `snd`; expected a name or a number from 0 on; did you mean `sand`?"),
                         ("bodies.7.count=5", "there is no entry `7`; expected a number from 0 to 2")):
        done = talus("check", named, "--set", setting)
        assert done.returncode == 2 and why in done.stderr


def test_the_name_of_a_fill_is_its_group(named, tmp_path):
    run(named, tmp_path / "first")
    (tmp_path / "next.yaml").write_text("talus: 1\nuntil: 0.001\nbodies:\n  - {name: old, from: first/, only: {groups: [sand]}}\n")
    run(tmp_path / "next.yaml", tmp_path / "next", "--set", "bodies.old.only={groups: [sand, stones]}")
    assert bodies(tmp_path / "next") == 22


def test_two_entries_of_one_name_are_refused(named):
    named.write_text(NAMED.replace("name: stones", "name: sand").replace("[sand, stones]", "[sand, walls]"))
    done = talus("check", named)
    assert done.returncode == 2 and "bodies.2.name is `sand`, as is bodies.1.name" in done.stderr
    named.write_text(NAMED.replace("body: floor", "body: sand"))
    done = talus("check", named)
    assert done.returncode == 2 and "probes.0.body is `sand`; expected the name of a body" in done.stderr


def test_a_fixed_table_says_that_velocities_do_not_count(named, tmp_path):
    done = run(named, tmp_path / "out", "--set", "bodies.stones.fixed=true")
    assert "a table gives a velocity or spin to 1 body that never moves; the velocity is ignored" in done.stderr
    assert "never move" not in run(named, tmp_path / "free").stderr


def test_copies_have_the_name_of_their_entry_as_their_group(tmp_path):
    """Two rows of balls at one place, whose groups do not collide."""
    (tmp_path / "rows.yaml").write_text(BALL.replace("until: 0.1", "until: 0.01").replace("output: {every: 0.01}", """\
  - {name: one, shape: ball, at: [5, 0, 9], repeat: {count: 3, shift: [1, 0, 0]}}
  - {name: other, shape: ball, at: [5, 0, 9], repeat: {count: 3, shift: [1, 0, 0]}}
ignore: [[one, other]]"""))
    assert "overlap" not in run(tmp_path / "rows.yaml", tmp_path / "out").stderr
    assert bodies(tmp_path / "out") == 2 + 6
    again = run(tmp_path / "out/scene.yaml", tmp_path / "again", "--quiet", "--set", "bodies.one.repeat.count=5")
    assert again.stderr == "" and bodies(tmp_path / "again") == 2 + 8


def test_a_run_without_frames_has_all_the_rest(tmp_path):
    (tmp_path / "busy.yaml").write_text(BUSY)
    run(tmp_path / "busy.yaml", tmp_path / "with")
    run(tmp_path / "busy.yaml", tmp_path / "without", "--set", "output.frames=false")
    run(tmp_path / "busy.yaml", tmp_path / "parts", "--set", "output.frames=false", "--until", 0.1)
    done = run(tmp_path / "busy.yaml", tmp_path / "parts", "--set", "output.frames=false", "--resume")
    assert "not there" not in done.stderr and " frames 0 " in done.stdout
    assert_same_folder(tmp_path / "without", tmp_path / "parts")
    names = {path.relative_to(tmp_path / "without").as_posix() for path in (tmp_path / "without").rglob("*") if path.is_file()}
    assert names == {"fields/heap.hdf.series", *(f"fields/heap/{i:06d}.hdf" for i in range(10)), "scene.yaml", "checkpoint.hdf", "history.csv", "log.txt", "probes/floor.csv", "probes/middle.csv", "probes/pull.csv", "sinks/drain.csv"}
    for name in ("probes/floor.csv", "sinks/drain.csv"):
        assert (tmp_path / "with" / name).read_bytes() == (tmp_path / "without" / name).read_bytes()
    assert [row["state_hash"] for row in history(tmp_path / "with")] == [row["state_hash"] for row in history(tmp_path / "without")]
    assert talus("info", tmp_path / "without").returncode == 0


def test_frames_may_begin_when_a_run_goes_on(tmp_path):
    (tmp_path / "ball.yaml").write_text(BALL)
    run(tmp_path / "ball.yaml", tmp_path / "out", "--set", "output.frames=false", "--until", 0.05)
    run(tmp_path / "ball.yaml", tmp_path / "out", "--resume")
    assert len(list((tmp_path / "out/frames").iterdir())) == 5


def test_an_empty_instruction_set_is_none(ball, tmp_path):
    assert talus("check", ball, env={"TALUS_ISA": ""}).returncode == 0
    assert talus("check", ball, env={"TALUS_ISA": "mmx"}).returncode == 2
