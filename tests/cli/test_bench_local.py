"""talus bench local: the table is whole, and a wrong setup is refused."""
from conftest import talus


def test_local_time_takes_fewer_body_steps_where_pairs_collide_apart(tmp_path):
    done = talus("bench", "local", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(",") for line in (tmp_path / "local.csv").read_text().splitlines()]
    assert header[:4] == ["setup", "bodies", "body_steps_adaptive", "body_steps_local"]
    assert [row[0] for row in rows] == ["pairs", "meshes", "stacks", "staircase", "hopper", "dominoes", "tower"]
    steps = {row[0]: (float(row[2]), float(row[3])) for row in rows}
    assert steps["pairs"][0] > 2 * steps["pairs"][1]
    assert steps["tower"][0] == steps["tower"][1]


def test_a_setup_that_is_not_there_is_named():
    done = talus("bench", "local", "--table", "none")
    assert done.returncode == 2 and "none" in done.stderr


def test_two_ways_find_the_same_clusters():
    done = talus("bench", "local", "--table", "clusters", "--quick")
    assert done.returncode == 0, done.stderr
    sweeps = {line[:20].strip(): int(line.split()[-3]) for line in done.stdout.splitlines()[2:]}
    assert sweeps["pairs"] == 2 and sweeps["one chain, in order"] >= 500
