"""talus run --backend: steps on a device (here `check`, the code of devices on the host), and what the CPU does for it."""
from conftest import assert_same_folder, hash_of, history, run, talus

HEAP = """talus: 1
until: 0.06
step: {dt: 2e-3}
solve: {iterations: 20}
materials:
  stone: {density: 2600, friction: 0.4, restitution: 0}
shapes:
  ball: {sphere: 0.1}
  block: {box: [0.2, 0.15, 0.1]}
  ground: {plane: [0, 0, 1, 0]}
bodies:
  - {shape: ground, material: stone, fixed: true}
  - {shape: ball, material: stone, at: [0, 0, 0.101]}
  - {shape: ball, material: stone, at: [0.01, 0, 0.302]}
  - {shape: block, material: stone, at: [0.4, 0, 0.051], velocity: [-1, 0, 0]}
output: {every: 0.02, fields: [velocity, contacts]}
"""

SLEEP = "sleep: {speed: 0.01, time: 0.1}\n"


def write(tmp_path, text=HEAP):
    path = tmp_path / "heap.yaml"
    path.write_text(text)
    return path


def test_a_run_on_a_device_says_so_and_can_go_on(tmp_path):
    scene = write(tmp_path)
    whole = run(scene, tmp_path / "whole", "--backend", "check", "--no-fallback")
    log = (tmp_path / "whole/log.txt").read_text()
    assert "backend check (the host, in place of a device): 30 steps there" in log
    assert "backend check" in (tmp_path / "whole/scene.yaml").read_text().splitlines()[0] + log
    run(scene, tmp_path / "parts", "--backend", "check", "--until", 0.04)
    parts = run(scene, tmp_path / "parts", "--backend", "check", "--resume")
    assert hash_of(parts) == hash_of(whole)
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")


def test_the_cpu_goes_on_where_a_device_stopped_and_the_other_way_round(tmp_path):
    scene = write(tmp_path)
    for first, second in (("check", "cpu"), ("cpu", "check")):
        out = tmp_path / first
        run(scene, out, "--backend", first, "--until", 0.04)
        run(scene, out, "--backend", second, "--resume")
        assert [int(row["steps"]) for row in history(out)] == [0, 10, 20, 30]


def test_what_a_device_cannot_do_the_cpu_does(tmp_path):
    scene = write(tmp_path, HEAP + SLEEP)
    cpu = run(scene, tmp_path / "cpu")
    done = run(scene, tmp_path / "check", "--backend", "check")
    assert hash_of(done) == hash_of(cpu)
    assert (tmp_path / "check/log.txt").read_text().count("check does not know sleep") == 1


def test_without_fallback_nothing_is_written(tmp_path):
    scene = write(tmp_path, HEAP + SLEEP)
    done = talus("run", scene, "-o", tmp_path / "out", "--backend", "check", "--no-fallback")
    assert done.returncode == 2
    assert "does not know sleep, and to fall back on the CPU was not allowed" in done.stderr
    assert not (tmp_path / "out").exists()
