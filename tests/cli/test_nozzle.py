"""Streams of hard spheres through a nozzle, as the built-in scenes have them."""
import json
import math

from conftest import SHORT, assert_same_folder, hash_of, history, kill, run, start, talus, wait_for

COARSE = ("--set", "step.dt=0.1")


def test_the_simple_sequence_sends_twelve_a_second(tmp_path):
    run("nozzle-simple", tmp_path / "out", *COARSE, "--until", "5")
    rows = history(tmp_path / "out")
    assert [int(row["emitted"]) for row in rows] == [0, 36, 60, 72]
    assert {row["outside"] for row in rows} == {"0"}


def test_the_slope_reflects_the_simple_sequence_at_thirty_degrees(tmp_path):
    """After 22 s the first five bursts, 60 balls, come back from the wall: 20 % of their way, 30 degrees."""
    soft = run("nozzle-simple", tmp_path / "soft", *COARSE, "--until", "22")
    exact = run("nozzle-simple", tmp_path / "exact", *COARSE, "--until", "22", "--set", "step.kind=event")
    assert hash_of(soft) == hash_of(exact)
    last = history(tmp_path / "soft")[-1]
    mass = 7800 * 4 / 3 * math.pi * 0.2**3
    count, speed = int(last["emitted"]), 0.5
    back = (count * math.cos(math.radians(19.14)) * speed * mass - float(last["pz"])) / (
        mass * speed * (math.cos(math.radians(19.14)) - math.cos(math.radians(30))))
    assert 0.15 * count < back < 0.3 * count
    assert abs(float(last["py"])) < 1e-3 * float(last["pz"])


def test_what_comes_is_out_or_inside(tmp_path):
    """Every step: balls that came are those that left and those that are there."""
    run("nozzle", tmp_path / "out", "--until", "0.2" if SHORT else "1", "--set", "output.every=0.01",
        "--set", "sinks.0.in={box: [[-20, -20, 1.7], [20, 20, 80]]}")
    rows = history(tmp_path / "out")
    assert all(int(row["emitted"]) == int(row["removed"]) + int(row["bodies"]) - 1 for row in rows)
    assert int(rows[-1]["emitted"]) > 50 and (SHORT or int(rows[-1]["removed"]) > 50)


def test_a_stream_of_events_killed_goes_on_to_the_same_files(tmp_path):
    words = ("--until", "6", "--set", "step.kind=event", "--set", "step.dt=0.1", "--set", "emit.0.rate=100",
             "--set", "sinks.0.in={box: [[-20, -20, 2.5], [20, 20, 80]]}", "--set", "sinks.0.recycle=inlet")
    run("nozzle", tmp_path / "whole", *words)
    out = tmp_path / "parts"
    process = start("run", "nozzle", "-o", out, "--checkpoint-every", 0, *words)
    if wait_for((out / "frames/000002.hdf").exists, process):
        kill(process)
    run("nozzle", out, "--resume", *words)
    assert_same_folder(tmp_path / "whole", out)


def test_few_bodies_test_the_wall_and_the_log_says_how_many(tmp_path):
    for name, kind in (("event", []), ("hard", ["--set", "step={dt: 1e-4}", "--set", "solve.shell=hard"])):
        out = tmp_path / name
        run("effusion", out, "--until", "0.1" if name == "event" else "1e-3", *kind)
        told = json.loads(talus("info", out, "--json").stdout)["checkpoint"]
        assert 0 < told["wall_tests"] < 0.4 * told["wall_pairs"]
        assert f"revolved walls: {100 * told['wall_tests'] / told['wall_pairs']:.3g} %" in (out / "log.txt").read_text()
