"""scripts/run-tests counts over all presets, goes on after failures, names the slowest tests and adds up processor time.

cmake and ctest are replaced by stubs; nothing is built here."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


class Tree:
    """A copy of the script in a tree of its own, with stub commands before all others in PATH."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "scripts").mkdir()
        shutil.copy(SOURCE / "scripts/run-tests", folder / "scripts/run-tests")
        self.stub("scripts/check-includes", "exit 0")
        self.stub("bin/cmake", "exit 0")

    def stub(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def ctest(self, preset, lines, failed=0):
        (self.folder / "build" / preset).mkdir(parents=True)
        rows = [f" {i}/{len(lines)} Test  #{i}: {line}" for i, line in enumerate(lines, 1)]
        rows.append(f"{100 - failed}% tests passed, {failed} tests failed out of {len(lines)}")
        (self.folder / f"{preset}.txt").write_text("\n".join(rows) + "\n")
        (self.folder / f"{preset}.rc").write_text(str(int(failed > 0)))
        self.stub("bin/ctest", f'cat {self.folder}/"$2".txt; exit "$(cat {self.folder}/"$2".rc)"')

    def run(self, *presets):
        return subprocess.run([shutil.which("bash"), self.folder / "scripts/run-tests", *presets], text=True,
                              env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"},
                              capture_output=True)


def slowest(text):
    lines = text[text.index("The ten slowest tests:"):].splitlines()[1:]
    return [line.split() for line in lines[:lines.index("")]]


def test_the_ten_slowest_of_all_presets_are_named_the_slowest_first(tmp_path):
    tree = Tree(tmp_path)
    tree.ctest("release", [f"test{i} .......   Passed    {i}.25 sec" for i in range(8)])
    tree.ctest("single", ["physics/slow ..   Passed  101.50 sec", "quick ....   Passed    0.01 sec",
                          "away .....***Skipped   0.02 sec", "other ....   Passed    6.50 sec"])
    done = tree.run("release", "single")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = slowest(done.stdout)
    assert len(rows) == 10
    assert rows[0] == ["101.5", "s", "single", "physics/slow"]
    assert rows[1][3] == "test7" and rows[2][3] == "other"
    assert done.stdout.splitlines()[-1] == "12 passed, 0 failed, 1 skipped"


def test_failures_are_among_the_slowest_and_do_not_stop_the_rest(tmp_path):
    tree = Tree(tmp_path)
    tree.ctest("release", ["bad ......***Failed   12.00 sec", "hung .....***Timeout 900.03 sec"], failed=2)
    tree.ctest("single", ["good .....   Passed    3.00 sec"])
    done = tree.run("release", "single")
    assert done.returncode == 1
    assert [row[3] for row in slowest(done.stdout)] == ["hung", "bad", "good"]
    assert "FAILED release: see build/release/ctest.log" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 passed, 2 failed, 0 skipped"


def test_what_was_skipped_within_tests_is_told_with_the_reason(tmp_path):
    tree = Tree(tmp_path)
    tree.ctest("release", ["good .....   Passed    3.00 sec"])
    logs = tmp_path / "build/release/Testing/Temporary"
    logs.mkdir(parents=True)
    (logs / "LastTest.log").write_text("- lanes\n  skipped: no AVX-512 here\n- more\n  skipped: no AVX-512 here\n"
                                       "2 passed, 0 failed, 2 skipped\nSKIPPED [3] test_x.py:12: too long\n")
    done = tree.run("release")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    at = lines.index("Skipped within tests that ran:")
    assert lines[at + 1:at + 3] == ["3 release too long", "2 release no AVX-512 here"]
    assert lines[-1] == "2 passed, 0 failed, 0 skipped"


def test_processor_time_of_builds_and_tests_is_told(tmp_path):
    """Half a second of a loop in the tests, and less in the build, which does nothing."""
    tree = Tree(tmp_path)
    tree.ctest("release", ["good .....   Passed    3.00 sec"])
    tree.stub("bin/ctest", f"{sys.executable} -c 'import time\nwhile time.process_time() < 0.5: pass'; cat {tmp_path}/release.txt")
    done = tree.run("release")
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    at = lines.index("Processor time:")
    (build, _, *built), (test, _, *tested), (total, *_) = (line.split() for line in lines[at + 1:at + 4])
    assert (built, tested) == (["release", "build"], ["release", "tests"])
    assert float(build) < 0.5 <= float(test) < 5 and float(build) + float(test) <= float(total) < 10


def test_nothing_is_listed_where_nothing_ran(tmp_path):
    tree = Tree(tmp_path)
    tree.stub("bin/cmake", "exit 1")
    done = tree.run("release")
    assert done.returncode == 1 and "slowest" not in done.stdout
