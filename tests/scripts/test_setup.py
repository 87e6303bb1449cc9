"""scripts/setup installs only what is missing, and says what to run where it may not install.

The commands it calls are replaced by stubs in a PATH of their own; nothing is installed here."""
import os
import pathlib
import shutil
import stat
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))


class Machine:
    """A folder of stub commands. `packages` are installed; apt-get adds to them and logs its calls."""

    def __init__(self, folder, packages, uid=1000):
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.installed = folder / "installed"
        self.installed.write_text("".join(f"{name}\n" for name in packages))
        self.log = folder / "log"
        self.log.write_text("")
        for tool in ("bash", "env", "grep", "cat"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.stub("id", f"echo {uid}")
        self.stub("dpkg-query", f'grep -qx -- "${{@: -1}}" {self.installed} && echo -n installed')
        self.stub("apt-cache", "exit 0")
        self.stub("apt-get", f'''echo "apt-get $*" >> {self.log}
            for word in "$@"; do case $word in -*|install|update) ;; *) echo $word >> {self.installed} ;; esac; done''')

    def stub(self, name, text):
        path = self.bin / name
        path.write_text(f"#!{shutil.which('bash')}\n{text}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def setup(self, *arguments):
        return subprocess.run([shutil.which("bash"), SOURCE / "scripts/setup", *arguments],
                              env={"PATH": str(self.bin)}, capture_output=True, text=True)


BUILD = ["build-essential", "cmake", "ninja-build", "pkg-config", "libembree-dev", "libpng-dev", "ffmpeg",
         "libyaml-dev", "libhdf5-dev"]


def test_nothing_missing_means_nothing_called(tmp_path):
    machine = Machine(tmp_path, BUILD)
    result = machine.setup()
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    assert machine.log.read_text() == ""


def test_root_installs_only_what_is_missing_without_refreshing_lists(tmp_path):
    machine = Machine(tmp_path, [name for name in BUILD if name not in ("libyaml-dev", "ninja-build")], uid=0)
    assert machine.setup().returncode == 0
    assert machine.log.read_text() == "apt-get -q install -y --no-install-recommends ninja-build libyaml-dev\n"
    assert machine.setup().stdout == ""


def test_lists_are_refreshed_when_they_do_not_know_a_package(tmp_path):
    machine = Machine(tmp_path, BUILD[:-1], uid=0)
    machine.stub("apt-cache", "exit 100")
    assert machine.setup().returncode == 0
    calls = machine.log.read_text().splitlines()
    assert calls[0] == "apt-get -q update"
    assert calls[1].endswith("libhdf5-dev")


def test_sudo_without_password_is_used(tmp_path):
    machine = Machine(tmp_path, BUILD[:-1])
    machine.stub("sudo", 'shift; if [ "$1" = true ]; then exit 0; fi; exec "$@"')
    assert machine.setup().returncode == 0
    assert "libhdf5-dev" in machine.log.read_text()


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_without_rights_it_prints_the_line_to_run(tmp_path, sudo):
    machine = Machine(tmp_path, BUILD[:-2])
    if sudo:
        machine.stub("sudo", sudo)
    result = machine.setup()
    assert result.returncode == 1
    line = "apt-get install --no-install-recommends libyaml-dev libhdf5-dev\n"
    assert ("please run\n  sudo " + line if sudo else "as root (su)\n  apt-get update && " + line) in result.stderr
    assert machine.log.read_text() == ""


def test_a_failed_installation_fails(tmp_path):
    machine = Machine(tmp_path, BUILD[:-1], uid=0)
    machine.stub("apt-get", "exit 100")
    result = machine.setup()
    assert result.returncode == 1
    assert "run as root: apt-get update && apt-get install" in result.stderr


def test_elsewhere_than_debian_it_goes_on_with_a_compiler_and_cmake(tmp_path):
    machine = Machine(tmp_path, [])
    (machine.bin / "apt-get").unlink()
    assert machine.setup().returncode == 1
    for tool in ("cc", "cmake", "ninja"):
        machine.stub(tool, "exit 0")
    result = machine.setup()
    assert result.returncode == 0
    assert "libhdf5-dev" in result.stderr


def test_an_unknown_group_is_refused(tmp_path):
    result = Machine(tmp_path, BUILD).setup("tests")
    assert result.returncode == 2
    assert "tsan" in result.stderr
