"""What a run removes: its own files, and nothing of anybody else's."""
import os
import shutil

import pytest
from conftest import BUSY, assert_same_folder, contents, run


def everything(folder):
    """Every name in a folder, with what it is; links are not followed."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_file():
            found[name] = path.read_bytes()
        else:
            found[name] = "folder"
    return found


FOREIGN = {
    "history.csv": "year,event\n1969,moon\n",
    "joints.csv": "knee,hip\n",
    "frames.hdf.series": '{"mine": true}',
    "log.txt": "dear diary\n",
    "frames/000003.hdf": "my measurements",
    "contacts/000000.hdf": "\x89PNG",
    "surfaces/123456.hdf": "x",
    "probes/floor.csv": "a,b\n1,2\n",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_resume_without_a_checkpoint_removes_nothing_that_talus_did_not_write(busy, tmp_path, name):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text(FOREIGN[name])
    before = everything(out)
    done = run(busy, out, "--resume", code=2)
    assert str(out / name) in done.stderr and "was not written by talus" in done.stderr
    assert everything(out) == before


@pytest.mark.parametrize("name", FOREIGN)
def test_resume_removes_nothing_that_took_the_place_of_a_file(busy, tmp_path, name):
    """A run of talus without its checkpoint, in which one file is somebody else's."""
    out = tmp_path / "out"
    run(busy, out, "--until", 0.05)
    (out / "checkpoint.hdf").unlink()
    (out / name).parent.mkdir(exist_ok=True)
    (out / name).write_text(FOREIGN[name])
    before = everything(out)
    done = run(busy, out, "--resume", code=2)
    assert str(out / name) in done.stderr
    assert everything(out) == before


@pytest.mark.parametrize("name", ["scene.yaml", "frames.hdf.series", "log.txt"])
def test_run_that_goes_on_replaces_nothing_that_took_the_place_of_a_file(busy, tmp_path, name):
    """With its checkpoint: a resumed run writes these anew, or adds lines."""
    out = tmp_path / "out"
    run(busy, out, "--until", 0.05)
    (out / name).write_text("mine\n")
    before = everything(out)
    assert f"{name} was not written by talus" in run(busy, out, "--resume", code=2).stderr
    assert everything(out) == before


def test_names_that_only_look_like_ours_stay(busy, tmp_path):
    out = tmp_path / "out"
    foreign = {"thesis.txt": "mine", "frames/film.mp4": "b", "probes/mine.csv": "x,y\n", "frames/000001.hdf.bak": "c"}
    for name, text in foreign.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text)
    run(busy, out, "--resume", "--until", 0.05)
    for name, text in foreign.items():
        assert (out / name).read_text() == text


def test_probe_does_not_overwrite_a_table_of_its_name(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.05)
    (out / "probes/mine.csv").write_text("x,y\n1,2\n")
    before = everything(out)
    for option in ("--resume", "--force"):
        done = run(busy, out, option, "--set", "probes.0.name=mine", code=2)
        assert "probes/mine.csv was not written by talus" in done.stderr
        after = everything(out)
        after.pop("log.txt"), before.pop("log.txt", None)
        assert after == before


def test_link_to_a_checkpoint_that_is_away_costs_nothing(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.05)
    (out / "checkpoint.hdf").rename(tmp_path / "away.hdf")
    (out / "checkpoint.hdf").symlink_to(tmp_path / "disk/away.hdf")
    before = contents(out)
    done = run(busy, out, "--resume", code=1)
    assert "checkpoint.hdf" in done.stderr
    assert contents(out) == before
    # The disk is back: the run goes on, and leaves the file behind the link alone.
    (tmp_path / "disk").mkdir()
    shutil.copy(tmp_path / "away.hdf", tmp_path / "disk/away.hdf")
    run(busy, out, "--resume", "--until", 0.08)
    assert not (out / "checkpoint.hdf").is_symlink()
    assert (tmp_path / "disk/away.hdf").read_bytes() == (tmp_path / "away.hdf").read_bytes()


@pytest.mark.parametrize("option", ["--force", "--resume"])
@pytest.mark.parametrize("folder", ["frames", "contacts", "surfaces", "probes"])
def test_linked_folders_are_not_followed(busy, tmp_path, option, folder):
    out, other = tmp_path / "out", tmp_path / "other"
    run(busy, out, "--until", 0.05)
    run(busy, other)
    if (out / folder).exists():
        shutil.rmtree(out / folder)
    (other / folder).mkdir(exist_ok=True)
    (out / folder).symlink_to(other / folder)
    before, theirs = everything(out), everything(other)
    done = run(busy, out, option, code=2)
    assert f"{folder} is a link" in done.stderr
    assert everything(other) == theirs
    after = everything(out)
    after.pop("log.txt"), before.pop("log.txt")
    assert after == before


def test_pipe_in_a_folder_is_not_waited_for(busy, tmp_path):
    for name in ("scene.yaml", "history.csv", "probes/floor.csv", "frames/000000.hdf"):
        out = tmp_path / name.replace("/", "-")
        (out / name).parent.mkdir(parents=True)
        os.mkfifo(out / name)
        assert "was not written by talus" in run(busy, out, "--resume", code=2, timeout=20).stderr


def test_frame_beyond_the_checkpoint_that_is_not_ours_stops_a_resume(busy, tmp_path):
    out = tmp_path / "out"
    run(busy, out, "--until", 0.05)
    (out / "frames/000099.hdf").write_text("mine")
    before = contents(out)
    assert "frames/000099.hdf was not written by talus" in run(busy, out, "--resume", code=2).stderr
    assert contents(out) == before


def test_folder_without_a_checkpoint_is_begun_anew_where_all_is_ours(tmp_path):
    scene = tmp_path / "scene.yaml"
    scene.write_text(BUSY.replace("contacts]", "contacts, surfaces]"))
    run(scene, tmp_path / "out", "--until", 0.1)
    (tmp_path / "out/checkpoint.hdf").unlink()
    run(scene, tmp_path / "out", "--resume", "--until", 0.05)
    run(scene, tmp_path / "clean", "--until", 0.05)
    assert_same_folder(tmp_path / "out", tmp_path / "clean")
