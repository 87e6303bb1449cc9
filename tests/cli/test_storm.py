"""A short storm (scripts/storm): runs that are killed, fail and lack memory, again and again, end whole."""
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import TALUS

STORM = pathlib.Path(__file__).parents[2] / "scripts/storm"


@pytest.mark.skipif("TSAN_OPTIONS" in os.environ,
                    reason="limits of memory and file sizes cut what the thread sanitizer itself maps")
def test_runs_in_a_short_storm_end_whole():
    done = subprocess.run([sys.executable, STORM, "--rounds", "4", "--seconds", "20", "--seed", "7", "--talus", TALUS],
                          text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " rounds ended whole, 0 did not" in done.stdout
