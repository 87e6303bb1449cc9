"""scripts/make-vehicle: the scene of this tree is what it writes, and what it writes otherwise are scenes."""
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


def make(*arguments, code=0):
    done = subprocess.run([sys.executable, "-B", ROOT / "scripts/make-vehicle", *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == code, done.stderr
    return done


def test_the_scene_vehicle_is_what_it_writes():
    text = (ROOT / "scenes/vehicle.yaml").read_text()
    assert text == make().stdout, "scripts/make-vehicle > scenes/vehicle.yaml"


@pytest.mark.parametrize("plates, shoes", [(6, 20), (15, 38)])
def test_tracks_of_other_lengths_close(tmp_path, plates, shoes):
    command = os.environ.get("TALUS")
    if not command:
        pytest.skip("$TALUS is not set")
    scene = tmp_path / "vehicle.yaml"
    scene.write_text(make("--plates", plates, "--pebbles", 20, "--length", 2).stdout)
    done = subprocess.run([command, "check", scene], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if "without" in done.stderr and done.returncode != 0:
        pytest.skip(done.stderr)
    assert done.returncode == 0 and done.stderr == ""
    # Floor, pebbles, kerbs, hull, cabin; on each side two wheels, teeth, yoke, three wheels and the shoes.
    assert f"bodies       {1 + 20 + 2 + 2 + 2 * (7 + shoes)}:" in done.stdout


def test_a_track_too_short_is_refused():
    assert "at least 6 plates" in make("--plates", 3, code=2).stderr
