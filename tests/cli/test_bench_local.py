"""talus bench local: the table is whole, and a wrong setup is refused."""
from conftest import talus


def test_local_time_takes_fewer_body_steps_where_pairs_collide_apart(tmp_path):
    done = talus("bench", "local", "--quick", "--threads", "2", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(",") for line in (tmp_path / "local.csv").read_text().splitlines()]
    assert header[:4] == ["setup", "bodies", "body_steps_adaptive", "body_steps_local"]
    assert [row[0] for row in rows] == ["pairs", "meshes", "stacks", "staircase", "hopper", "dominoes", "tower"]
    steps = {row[0]: (float(row[2]), float(row[3])) for row in rows}
    assert steps["pairs"][0] > 2 * steps["pairs"][1]
    assert steps["tower"][0] == steps["tower"][1]
    assert all(float(row[header.index("dt_fixed")]) > 0 for row in rows)
    check_figures(tmp_path, {row[0]: (row[1], row[header.index("body_steps_local")]) for row in rows})


def check_figures(folder, sizes):
    """Steps by length add up to those that count, and each setup has its drawings."""
    lengths = [line.split(",") for line in (folder / "local-lengths.csv").read_text().splitlines()[1:]]
    threads = [line.split(",") for line in (folder / "local-threads.csv").read_text().splitlines()[1:]]
    phases = [line.split(",") for line in (folder / "local-phases.csv").read_text().splitlines()[1:]]
    for setup, (bodies, body_steps) in sizes.items():
        counted = [row for row in lengths if row[0] == setup and row[2] == "local"]
        assert 0 < sum(int(row[5]) for row in counted) <= int(body_steps)
        assert [row[2] for row in threads if row[0] == setup] == ["1", "2"]
        assert {row[2] for row in phases if row[0] == setup} == {"fixed", "adaptive", "local"}
        for what in ("time", "body-steps", "lengths", "phases", "clusters", "threads"):
            drawn = (folder / f"{setup}-{what}.svg").read_text()
            assert drawn.startswith("<svg") or drawn.startswith("<?xml")
            assert "<path class=\"curve\"" in drawn or "<circle" in drawn, (setup, what)


def test_a_setup_that_is_not_there_is_named():
    done = talus("bench", "local", "--table", "none")
    assert done.returncode == 2 and "none" in done.stderr


def test_two_ways_find_the_same_clusters():
    done = talus("bench", "local", "--table", "clusters", "--quick")
    assert done.returncode == 0, done.stderr
    sweeps = {line[:20].strip(): int(line.split()[-3]) for line in done.stdout.splitlines()[2:]}
    assert sweeps["pairs"] == 2 and sweeps["one chain, in order"] >= 500


def test_sweeps_that_leave_out_rows_reach_the_same_residual():
    done = talus("bench", "local", "--table", "sweeps", "--quick")
    assert done.returncode == 0, done.stderr
    rows = {tuple(line[:26].rsplit(None, 1)): [float(x) for x in line[26:].split()] for line in done.stdout.splitlines()[2:]}
    assert len(rows) == 8 and all(row[-1] == 0 for (_, to), row in rows.items() if to == "1")
    solves, _, own, plain, by_row, by_pack, idle = rows["tower at rest", "0.01"][:7]
    assert solves > 0 and 0 < own < plain and 0 < by_row < 1.1 * plain and by_pack > 0 and 0 < idle < 100


def test_a_loop_without_rounds_is_bounded_by_work_and_by_chains_of_steps(tmp_path):
    done = talus("bench", "local", "--table", "loop", "--quick", "-o", tmp_path)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(",") for line in (tmp_path / "local-loop.csv").read_text().splitlines()]
    assert header[-4:] == ["rounds_rest_alone", "rounds_rest_shared", "no_loop", "no_loop_other_hash"] and len(rows) == 7 * 3
    for setup, _, rounds, steps, stepped, rest, workers, *times in rows:
        stepped, rest, workers = float(stepped), float(rest), int(workers)
        alone, shared, same_hash, other_hash = map(float, times)
        near = 1e-5  # of six digits
        assert int(steps) >= int(rounds) > 0 and stepped > 0
        assert stepped + rest + near >= alone >= shared - near and shared + near >= (stepped + rest) / workers
        assert same_hash + near >= other_hash >= (stepped + rest) / workers - near
        if setup == "tower":  # one cluster: each step needs the one before
            assert other_hash > 0.8 * (stepped + rest)
    costs = [line.split(",") for line in (tmp_path / "local-costs.csv").read_text().splitlines()[1:]]
    for setup, _, _, steps, *_ in rows[::3]:
        for of in ("contacts", "bodies"):
            assert sum(int(cost[4]) for cost in costs if cost[0] == setup and cost[2] == of) == int(steps)
        assert "by contacts" in (tmp_path / f"{setup}-costs.svg").read_text()
