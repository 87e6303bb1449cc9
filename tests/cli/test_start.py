"""Start files: `talus check SCENE --save` here, `talus run start.hdf` elsewhere."""
import pytest

from conftest import BALL, BUSY, assert_same_folder, hash_of, run, talus


def save(scene, path, *arguments, code=0):
    done = talus("check", scene, "--save", path, "--threads", 1, *arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def write(tmp_path, text, name="scene.yaml"):
    path = tmp_path / name
    path.write_text(text)
    return path


@pytest.mark.parametrize("step", ["{dt: 1e-3}", "{kind: adaptive, max: 1e-3}"])
def test_a_run_from_a_start_file_is_that_of_the_scene(tmp_path, step):
    scene = write(tmp_path, BUSY.replace("step: {dt: 1e-3}", f"step: {step}"))
    assert "begins from it" in save(scene, tmp_path / "start.hdf").stdout
    whole = run(scene, tmp_path / "whole", "--until", 0.1)
    scene.unlink()
    parts = run(tmp_path / "start.hdf", tmp_path / "parts", "--until", 0.1)
    assert hash_of(whole) == hash_of(parts)
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")
    assert (tmp_path / "whole/scene.yaml").read_text() == (tmp_path / "parts/scene.yaml").read_text()


def test_files_of_the_scene_need_not_be_there(tmp_path):
    (tmp_path / "points.csv").write_text("0,0,0\n0.2,0,0\n0,0.2,0\n0,0,0.2\n")
    scene = write(tmp_path, BALL.replace("ball: {sphere: 0.1}", "ball: {hull: points.csv}"))
    save(scene, tmp_path / "start.hdf")
    whole = run(scene, tmp_path / "whole")
    (tmp_path / "points.csv").unlink()
    scene.unlink()
    parts = run(tmp_path / "start.hdf", tmp_path / "parts")
    assert hash_of(whole) == hash_of(parts)
    assert_same_folder(tmp_path / "whole", tmp_path / "parts")


def test_start_file_and_scene_go_on_with_each_others_runs(tmp_path):
    scene = write(tmp_path, BUSY)
    start = tmp_path / "start.hdf"
    save(scene, start)
    whole = run(scene, tmp_path / "whole", "--until", 0.15)
    for first, second in ((scene, start), (start, scene)):
        out = tmp_path / f"of-{first.name}"
        run(first, out, "--until", 0.05)
        assert hash_of(run(second, out, "--until", 0.15, "--resume")) == hash_of(whole)


def test_end_and_interval_may_change_and_nothing_else(tmp_path):
    save(write(tmp_path, BALL), tmp_path / "start.hdf")
    run(tmp_path / "start.hdf", tmp_path / "out", "--until", 0.04, "--every", 0.02, "--backend", "check")
    assert len(list((tmp_path / "out/frames").iterdir())) == 3
    for setting in ("step.dt=1e-4", "bodies.1.mass=2", "probes=[]"):
        done = talus("run", tmp_path / "start.hdf", "-o", tmp_path / "no", "--set", setting)
        assert done.returncode == 2 and "is made already" in done.stderr
    assert not (tmp_path / "no").exists()
    assert "not a positive time" in talus("run", "pour", "--every", "-1").stderr


def test_what_is_no_start_file_stays_and_is_named(tmp_path):
    scene = write(tmp_path, BALL)
    other = write(tmp_path, "mine\n", "notes.txt")
    assert "no start file" in save(scene, other, code=2).stderr
    assert other.read_text() == "mine\n"
    save(scene, tmp_path / "start.hdf")
    save(scene, tmp_path / "start.hdf")  # its own kind is replaced
    run(scene, tmp_path / "out")
    done = talus("run", tmp_path / "out/checkpoint.hdf", "-o", tmp_path / "no")
    assert done.returncode != 0 and "but no start file" in done.stderr
    damaged = bytearray((tmp_path / "start.hdf").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "bad.hdf").write_bytes(damaged)
    done = talus("run", tmp_path / "bad.hdf", "-o", tmp_path / "no")
    assert done.returncode != 0 and "damaged" in done.stderr
    assert not (tmp_path / "no").exists()
