"""Sleep from a scene file: history, at_rest, resuming in the middle of it."""
from conftest import hash_of, history, run, talus

SCENE = """\
talus: 1
until: 1.2
step: {dt: 2e-3}
sleep: {speed: 5e-3, time: 0.1}
materials: {stone: {friction: 0.5}}
shapes: {ball: {sphere: 0.1}, ground: {plane: [0, 0, 1, 0]}}
bodies:
  - {shape: ground, material: stone, fixed: true}
  - {shape: ball, material: stone, at: [0, 0, 0.1]}
  - {shape: ball, material: stone, at: [0.2, 0, 0.1]}
  - {shape: ball, material: stone, at: [0.05, 0, 3], name: falling}
output: {every: 0.1}
"""


def test_history_counts_sleepers_and_a_falling_ball_wakes_them(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    asleep = [int(row["asleep"]) for row in history(tmp_path / "out")]
    assert asleep[0] == 0 and asleep[5] == 2  # t = 0.5 s: the ball arrives at 0.75 s
    assert asleep[8] == 0
    info = talus("info", tmp_path / "out")
    assert "asleep" in info.stdout


def test_resumed_in_the_middle_of_sleep_ends_in_the_same_state(tmp_path):
    (tmp_path / "scene.yaml").write_text(SCENE)
    whole = run(tmp_path / "scene.yaml", tmp_path / "whole")
    for until in ("0.05", "0.4", "0.74", "1.2"):
        part = run(tmp_path / "scene.yaml", tmp_path / "parts", "--until", until, "--resume")
    assert hash_of(part) == hash_of(whole)


def test_sleepers_are_at_rest(tmp_path):
    scene = SCENE.replace("until: 1.2", "until: {time: 2, at_rest: 1e-9}").replace(
        "  - {shape: ball, material: stone, at: [0.05, 0, 3], name: falling}\n", "")
    (tmp_path / "scene.yaml").write_text(scene)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    assert float(history(tmp_path / "out")[-1]["time"]) < 0.5
