"""make install, make uninstall and make deb: what is installed can be used, and can be taken away again.

Installs from the build that runs the tests ($TALUS_BUILD_DIR) into folders of its own. Programs are built
out of the tree, as a user would: with pkg-config and with CMake, shared and static."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
BUILD = pathlib.Path(os.environ.get("TALUS_BUILD_DIR", SOURCE / "build/release"))
VERSION = re.search(r"project\(talus VERSION ([0-9.]+)", (SOURCE / "CMakeLists.txt").read_text()).group(1)

CMAKE_PROJECT = """\
cmake_minimum_required(VERSION 3.21)
project(outside C)
find_package(talus %s REQUIRED COMPONENTS static)
add_executable(shared hello.c)
target_link_libraries(shared PRIVATE talus::talus)
add_executable(static hello.c)
target_link_libraries(static PRIVATE talus::static)
"""

needs = {tool: pytest.mark.skipif(not shutil.which(tool), reason=f"needs {tool}")
         for tool in ("pkg-config", "nm", "bash", "zsh", "dpkg-deb", "dpkg-shlibdeps", "readelf")}


def call(*command, **options):
    """Runs a command that must succeed, and returns what it says."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def install(prefix, **environment):
    call("cmake", "--install", BUILD, "--prefix", prefix, env={**os.environ, **environment})


def uninstall(prefix, **environment):
    return subprocess.run(["cmake", f"-DRECORDS={BUILD}/installed", f"-DPREFIX={prefix}", "-P",
                           SOURCE / "cmake/uninstall.cmake"], text=True, capture_output=True,
                          env={**os.environ, **environment})


def files_below(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A prefix with talus in it."""
    folder = tmp_path_factory.mktemp("usr")
    install(folder)
    yield folder
    assert uninstall(folder).returncode == 0


@pytest.fixture(scope="module")
def libdir(prefix):
    return next(prefix.rglob("libtalus.so")).parent


@pytest.fixture(scope="module")
def command(prefix):
    path = prefix / "bin/talus"
    if not path.exists():
        pytest.skip("the build has no command")
    return path


def commands_of(command):
    text = call(command, "--help").split("Commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in text.splitlines()]


def run_example(program, libdir=None):
    out = call(program, env={**os.environ, "LD_LIBRARY_PATH": str(libdir or "")})
    assert out.splitlines()[0].split() == ["time", "height"] and len(out.splitlines()) == 22, out


def links_talus(program):
    return "libtalus" in call("readelf", "-d", program)


# ---- libraries -------------------------------------------------------------------------------------


@needs["pkg-config"]
@needs["readelf"]
@pytest.mark.parametrize("module, shared", [("talus", True), ("talus-static", False)])
def test_a_program_is_built_with_pkg_config(prefix, libdir, tmp_path, module, shared):
    example = next(prefix.rglob("examples/hello.c"))
    env = {**os.environ, "PKG_CONFIG_PATH": str(libdir / "pkgconfig")}
    assert call("pkg-config", "--modversion", module, env=env).strip() == VERSION
    flags = call("pkg-config", "--cflags", "--libs", module, env=env).split()
    call("cc", example, *flags, "-o", tmp_path / "hello")
    run_example(tmp_path / "hello", libdir if shared else None)
    assert links_talus(tmp_path / "hello") == shared


@needs["readelf"]
def test_a_program_is_built_with_cmake(prefix, libdir, tmp_path):
    shutil.copy(next(prefix.rglob("examples/hello.c")), tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT % VERSION)
    call("cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    call("cmake", "--build", tmp_path / "build")
    for name in ("shared", "static"):
        run_example(tmp_path / "build" / name)  # CMake gives the build tree a path to the library
        assert links_talus(tmp_path / "build" / name) == (name == "shared")


def test_cmake_refuses_a_version_that_is_not_there(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(CMAKE_PROJECT % "1.0")
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"],
                          text=True, capture_output=True)
    assert done.returncode != 0 and VERSION in done.stderr, done.stderr


@needs["pkg-config"]
def test_an_installed_tree_can_be_moved(prefix, libdir, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(prefix, moved, symlinks=True)
    at = moved / libdir.relative_to(prefix)
    flags = call("pkg-config", "--cflags", "--libs", "talus",
                 env={**os.environ, "PKG_CONFIG_PATH": str(at / "pkgconfig")}).split()
    folders = [pathlib.Path(flag[2:]).resolve() for flag in flags if flag[:2] in ("-I", "-L")]
    assert folders == [moved / "include", at]
    for path in (at / "cmake/talus").iterdir():
        assert str(prefix) not in path.read_text(), path


@needs["nm"]
def test_libraries_show_nothing_but_the_public_calls(libdir):
    shared = call("nm", "-D", "--defined-only", libdir / "libtalus.so").splitlines()
    static = [line for line in call("nm", "-g", "--defined-only", libdir / "libtalus.a").splitlines()
              if len(line.split()) == 3]
    names = {line.split()[-1].split("@")[0] for line in shared}
    assert names == {line.split()[-1] for line in static}
    assert {name for name in names if not name.startswith("talus_")} == set()
    declared = set()
    for header in (SOURCE / "include/talus").glob("*.h"):
        declared |= set(re.findall(r"^TALUS_API [^(;]*?\b(talus_\w+)\(", header.read_text(), re.M))
    assert names >= declared and len(declared) > 50, declared - names


@needs["readelf"]
def test_the_shared_library_has_an_abi_version(libdir):
    major = VERSION.split(".")[0]
    assert f"soname: [libtalus.so.{major}]" in call("readelf", "-d", libdir / "libtalus.so")
    assert os.readlink(libdir / "libtalus.so") == f"libtalus.so.{major}"
    assert os.readlink(libdir / f"libtalus.so.{major}") == f"libtalus.so.{VERSION}"


# ---- the command -----------------------------------------------------------------------------------


def test_the_installed_command_runs(command):
    assert VERSION in call(command, "--version")
    assert call(command, "scenes") == call(BUILD / "talus", "scenes")


def test_man_pages_hold_every_option_and_are_without_warnings(prefix, command, tmp_path):
    if not shutil.which("groff"):
        pytest.skip("needs groff")
    pages = {path.name for path in (prefix / "share/man/man1").iterdir()}
    assert pages == {"talus.1"} | {f"talus-{name}.1" for name in commands_of(command)}
    for name in sorted(pages):
        page = prefix / "share/man/man1" / name
        warnings = call("groff", "-man", "-Tutf8", "-ww", "-z", page)
        assert warnings == "", f"{name}: {warnings}"
        text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", call("groff", "-man", "-Tutf8", page))
        text = text.replace("\u2212", "-").replace("\u2010", "-")
        words = name[:-2].split("-")
        for option in re.findall(r"--[a-z-]+", call(command, *words[1:], "--help")):
            assert option in text, f"{name} lacks {option}"


def test_man_finds_the_pages(prefix, command):
    if not shutil.which("man"):
        pytest.skip("needs man")
    env = {**os.environ, "MANPATH": str(prefix / "share/man"), "MANWIDTH": "80", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["man", "--warnings", "-P", "cat", "talus-run"], env=env, text=True, capture_output=True)
    if "minimized" in done.stdout + done.stderr:
        pytest.skip("man is a stub here")
    assert done.returncode == 0 and done.stderr == "" and "SYNOPSIS" in done.stdout, done.stderr


COMPLETE = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_talus && printf '%s\\n' "${COMPREPLY[@]}"
"""


@needs["bash"]
def test_bash_completes_commands_options_scenes_and_files(prefix, command, tmp_path):
    script = prefix / "share/bash-completion/completions/talus"
    call("bash", "-n", script)

    def complete(*words):
        return sorted(call("bash", "-c", COMPLETE, "-", script, command, *words, cwd=tmp_path).split())

    for name in ("mine.yaml", "other.txt"):
        (tmp_path / name).write_text("")
    (tmp_path / "pour.out").mkdir()
    assert complete("") == sorted([*commands_of(command), "help", "--help", "--version"])
    assert complete("ch") == ["check"]
    for name in commands_of(command):
        options = call(command, name, "--help").split("Options:\n")[1].split("\n\n")[0]
        assert complete(name, "--") == sorted(re.findall(r"^ .*?(--[a-z-]+)", options, re.M))
    scenes = [line.split()[0] for line in call(command, "scenes").splitlines()]
    assert complete("scenes", "") == sorted(scenes)
    assert complete("run", "") == sorted([*scenes, "mine.yaml", "pour.out"])
    assert complete("run", "mine.yaml", "-o", "") == ["pour.out"]
    assert complete("run", "--until", "") == []
    assert complete("run", "--output", "=", "po") == ["pour.out"]
    assert complete("info", "") == ["pour.out"]
    assert complete("nonsense", "") == []


@needs["zsh"]
def test_zsh_reads_its_completion(prefix, command):
    script = prefix / "share/zsh/site-functions/_talus"
    assert script.read_text().startswith("#compdef talus ")
    call("zsh", "-n", script)


# ---- taking it away --------------------------------------------------------------------------------


def test_uninstall_leaves_what_was_there_and_nothing_else(tmp_path):
    prefix = tmp_path / "my prefix"
    (prefix / "lib/pkgconfig").mkdir(parents=True)
    (prefix / "share/man").mkdir(parents=True)
    (prefix / "lib/pkgconfig/other.pc").write_text("")
    before = files_below(prefix)
    install(prefix)
    install(prefix)  # again: folders that the first time made are still ours
    (prefix / "share/doc/talus/note.txt").write_text("mine")
    assert uninstall(prefix).returncode == 0
    assert files_below(prefix) == sorted([*before, "share/doc", "share/doc/talus", "share/doc/talus/note.txt"])
    done = uninstall(prefix)
    assert done.returncode != 0 and "Nothing was installed" in done.stderr


def test_uninstall_removes_a_prefix_that_it_made_below_destdir(tmp_path):
    root = tmp_path / "root"
    install("/opt/talus", DESTDIR=str(root))
    assert (root / "opt/talus/include/talus/talus.h").exists()
    assert uninstall("/opt/talus", DESTDIR=str(root)).returncode == 0
    assert not root.exists()


# ---- Debian packages -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    if not all(map(shutil.which, ("dpkg-deb", "dpkg-shlibdeps", "cpack", "file"))):
        pytest.skip("needs dpkg-deb, dpkg-shlibdeps, cpack and file")
    folder = tmp_path_factory.mktemp("deb")
    call("cpack", "-G", "DEB", "-B", folder, cwd=BUILD)
    return {path.name.split("_")[0]: path for path in folder.glob("*.deb")}


def field(package, name):
    return call("dpkg-deb", "-f", package, name).strip()


def test_debian_packages_hold_what_they_should(packages, tmp_path):
    major = VERSION.split(".")[0]
    runtime, dev = f"libtalus{major}", "libtalus-dev"
    assert packages.keys() == {"talus", runtime, dev}
    held = {}
    for name, path in packages.items():
        call("dpkg-deb", "-x", path, tmp_path / name)
        held[name] = set(files_below(tmp_path / name))
        assert field(path, "Version") == VERSION
        assert {f"usr/share/doc/{name}/copyright", f"usr/share/doc/{name}/changelog.gz"} <= held[name]
    assert {"usr/bin/talus", "usr/share/man/man1/talus-run.1.gz", "usr/share/zsh/vendor-completions/_talus",
            "usr/share/bash-completion/completions/talus"} <= held["talus"]
    assert any(file.endswith(f"/libtalus.so.{VERSION}") for file in held[runtime])
    for end in ("/libtalus.so", "/libtalus.a", "/talus.pc", "/talus-config.cmake", "include/talus/talus.h"):
        assert any(file.endswith(end) for file in held[dev]), end
        assert not any(file.endswith(end) for file in held[runtime] | held["talus"]), end
    shared = [file for a in held for b in held if a < b for file in held[a] & held[b]
              if not (tmp_path / a / file).is_dir()]
    assert shared == []
    assert not any("talus" in file.split("/") for file in held[dev] if file.startswith("usr/share/doc"))


def test_debian_packages_depend_on_what_they_link(packages):
    major = VERSION.split(".")[0]
    features = call(BUILD / "talus", "--version")
    for name in ("talus", f"libtalus{major}"):
        depends = field(packages[name], "Depends")
        assert "libc6" in depends
        assert ("libyaml-0-2" in depends) == ("yaml" in features), depends
        # The library writes and reads its files by itself; the command reads frames with HDF5.
        assert ("libhdf5-" in depends) == ("hdf5" in features and name == "talus"), depends
    assert field(packages["libtalus-dev"], "Depends") == f"libtalus{major} (= {VERSION})"
    assert call("dpkg-deb", "-I", packages[f"libtalus{major}"], "shlibs").startswith(f"libtalus {major} ")
