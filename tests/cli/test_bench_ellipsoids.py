"""talus bench ellipsoids: the sections that need no hours, and a peer that disagrees."""
import csv
import os

from conftest import talus

# Writes the pair (0, 1), which does not touch, and no other.
PEER = """\
#!/bin/sh
test -s "$1" || exit 3
printf '\\001\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\000\\001\\000\\000\\000' > "$2"
"""


def bench(*arguments, code=0):
    done = talus("bench", "ellipsoids", *arguments, timeout=900)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def test_clumps_of_the_same_shape_touch_about_as_often(tmp_path):
    bench("--only", "clumps", "--max", 1000, "--repeat", 1, "--csv", tmp_path / "clumps.csv")
    with open(tmp_path / "clumps.csv") as file:
        rows = {row["what"]: int(row["contacts"]) for row in csv.DictReader(file)}
    assert rows.keys() == {"ellipsoid", "clump to 5 %", "clump to 2 %"}
    exact = rows["ellipsoid"]
    assert exact > 100
    assert abs(rows["clump to 5 %"] - exact) < 0.2 * exact and abs(rows["clump to 2 %"] - exact) < 0.1 * exact


def test_spheres_are_counted_and_without_a_peer_stand_alone():
    done = bench("--only", "spheres", "--max", 1024, "--peers", "no")
    assert done.stdout.splitlines()[-1].split() == ["1024", "383", "-"]


def test_an_unknown_section_is_refused():
    assert "Sections: pairs errors scenes clumps" in bench("--only", "cubes", code=2).stderr


def test_pairs_that_only_one_reports_are_listed_with_their_gaps(tmp_path):
    peer = tmp_path / "talus-peer-bullet-contacts"
    peer.write_text(PEER)
    os.chmod(peer, 0o755)
    done = talus("bench", "ellipsoids", "--only", "spheres", "--max", 1024, env={"TALUS_PEERS": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert "only ours 383, only Bullet's 1" in done.stdout
    assert "and 376 with smaller gaps" in done.stdout
    shown = [line.split() for line in done.stdout.splitlines() if "  gap " in line]
    assert ["Bullet", "0", "1", "gap"] in [row[:4] for row in shown]
    assert all((float(row[4]) > 0) == (row[0] == "Bullet") for row in shown)
