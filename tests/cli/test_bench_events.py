"""talus bench events: the table is whole, and a wrong option is refused."""
from conftest import talus


def test_events_are_counted_for_every_size_and_filling(tmp_path):
    table = tmp_path / "events.csv"
    done = talus("bench", "events", "--bodies", "100,200", "--filled", "0.1,0.4", "--collisions", "1", "--csv", table)
    assert done.returncode == 0, done.stderr
    header, *rows = [line.split(",") for line in table.read_text().splitlines()]
    assert header == "bodies,filled,collisions_per_step,step_s,mcollisions_per_s".split(",")
    assert [row[:2] for row in rows] == [["108", "0.1"], ["108", "0.4"], ["256", "0.1"], ["256", "0.4"]]
    for bodies, filled, collisions, *_ in rows:
        assert 0.3 * int(bodies) < float(collisions) < 0.7 * int(bodies)  # two take part in each


def test_a_wrong_option_shows_the_usage():
    done = talus("bench", "events", "--bodies", "none")
    assert done.returncode == 2 and "usage: talus bench events" in done.stderr
