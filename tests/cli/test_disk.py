"""Disks that are full, read-only or gone: exit 1, a clear message, and what was there stays whole."""
import json
import os
import resource
import shutil
import subprocess

import pytest
from conftest import assert_readable, assert_same_folder, hash_of, run, start, talus, wait_for


@pytest.fixture
def small_disk(tmp_path):
    """A tmpfs of 600 KiB, which only root can mount."""
    place = tmp_path / "disk"
    place.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "talus-test", place], capture_output=True,
                          text=True)
    if made.returncode != 0:
        pytest.skip(f"tmpfs cannot be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_full_disk_ends_the_run_and_leaves_earlier_frames_whole(busy, small_disk, tmp_path):
    out = small_disk / "out"
    done = run(busy, out, "--checkpoint-every", 0, code=1)
    assert "the disk is full" in done.stderr and "--resume" in done.stderr
    assert_readable(out)
    assert not list(out.rglob("*.part"))
    listed = json.loads((out / "frames.hdf.series").read_text())["files"] if (out / "frames.hdf.series").exists() else []
    assert len(listed) > 2
    assert (out / "history.csv").read_text().endswith("\n")
    # Room is made, and the run goes on as if nothing had happened.
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    state = hash_of(run(busy, out, "--resume"))
    assert hash_of(run(busy, tmp_path / "whole")) == state
    assert_same_folder(tmp_path / "whole", out)


def test_disk_that_fills_at_every_stage_never_leaves_half_a_file(busy, small_disk):
    """A ballast moves the moment of the failure through all that is written."""
    for ballast in range(0, 560, 40):
        (small_disk / "ballast").write_bytes(b"x" * ballast * 1024)
        done = talus("run", busy, "-o", small_disk / "out", "--threads", 1, "--checkpoint-every", 0)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "the disk is full" in done.stderr
        if (small_disk / "out").exists():
            assert_readable(small_disk / "out")
            assert not list((small_disk / "out").rglob("*.part"))
            shutil.rmtree(small_disk / "out")


def test_read_only_disk_is_refused_before_the_run(ball, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = run(ball, small_disk / "out", code=1)
    assert "read-only" in done.stderr and str(small_disk / "out") in done.stderr


def test_disk_that_becomes_read_only_keeps_what_it_has(busy, small_disk):
    run(busy, small_disk / "out", "--until", 0.05)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = run(busy, small_disk / "out", "--resume", code=1)
    assert "read-only" in done.stderr
    assert_readable(small_disk / "out")


def test_removed_folder_ends_the_run_with_a_message(busy, tmp_path):
    out = tmp_path / "out"
    process = start("run", busy, "-o", out, "--threads", 1, "--until", 100)
    wait_for(lambda: (out / "frames/000003.hdf").exists(), process)
    out.rename(tmp_path / "gone")
    _, err = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the folder was removed" in err and str(out) in err
    assert not out.exists()
    assert_readable(tmp_path / "gone")


@pytest.mark.skipif("TSAN_OPTIONS" in os.environ,
                    reason="the limit cuts a file of 512 KiB that the thread sanitizer itself maps")
def test_limit_on_file_sizes_is_an_error_and_no_death(busy, tmp_path):
    limit = 12 * 1024
    done = talus("run", busy, "-o", tmp_path / "out", "--threads", 1,
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    assert done.returncode == 1
    assert "larger than" in done.stderr
    assert not list((tmp_path / "out").rglob("*.part"))
    assert_readable(tmp_path / "out")


def test_run_without_right_to_write_is_refused(ball, tmp_path):
    done = talus("run", ball, "-o", "/proc/talus-test/out")
    assert done.returncode == 1 and "/proc/talus-test" in done.stderr

