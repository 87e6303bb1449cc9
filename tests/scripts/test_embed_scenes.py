"""cmake/embed_scenes.cmake: what a scene file holds is what the library holds, byte for byte."""
import os
import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))

PRINT = r"""
#include <stdio.h>
#include <string.h>
#include "scene/builtin.h"
int main(int argc, char **argv) {
  for (size_t i = 0; i < tl_builtin_scene_count; ++i) {
    if (argc < 2)
      puts(tl_builtin_scenes[i].name);
    else if (strcmp(argv[1], tl_builtin_scenes[i].name) == 0)
      fputs(tl_builtin_scenes[i].text, stdout);
  }
  return tl_builtin_scenes[tl_builtin_scene_count].name != NULL;
}
"""

TEXTS = {
    "empty": b"",
    "quotes": b"title: \"a \\\"b\\\" 'c' \\\\ \\n ??/ ??= %s %d\"\n",
    "cmake-specials": b"a: [1;2;3] ${HOME} @VAR@ $<1:x> #[[ ]] \\; ;; [ ] [[ ]]\n",
    "utf8": "title: Schüttgut aus Körnern, 砂, π ≈ 3.14, 🪨\n".encode(),
    "crlf_no_end": b"a: 1\r\nb: 2\ttab",
    "every-byte": bytes(range(1, 256)) * 3,
    "long-line": b"x" * 70000 + b"\n",
    "long": b"".join(b"- {at: [%d, 0, 0], comment: \"row\"}\n" % i for i in range(3000)),
    "v1.2": b"talus: 1\n",
}


def embed(out, paths):
    return subprocess.run(["cmake", f"-DOUTPUT={out}", "-P", SOURCE / "cmake/embed_scenes.cmake", "--", *paths],
                          capture_output=True, text=True)


@pytest.mark.skipif(not (shutil.which("cmake") and shutil.which("cc")), reason="needs cmake and cc")
def test_any_text_survives(tmp_path):
    paths = []
    for name, text in TEXTS.items():
        paths.append(tmp_path / f"{name}.yaml")
        paths[-1].write_bytes(text)
    result = embed(tmp_path / "scenes.c", paths)
    assert result.returncode == 0, result.stderr
    (tmp_path / "print.c").write_text(PRINT)
    subprocess.run(["cc", "-std=c17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror",
                    "-I", SOURCE / "src", "-o", tmp_path / "print", tmp_path / "print.c", tmp_path / "scenes.c"],
                   check=True)
    listed = subprocess.run([tmp_path / "print"], check=True, capture_output=True, text=True).stdout.split()
    assert listed == list(TEXTS)
    for name, text in TEXTS.items():
        assert subprocess.run([tmp_path / "print", name], check=True, capture_output=True).stdout == text, name


def test_no_scenes_make_an_empty_table(tmp_path):
    assert embed(tmp_path / "scenes.c", []).returncode == 0
    subprocess.run(["cc", "-std=c17", "-Wpedantic", "-Werror", "-I", SOURCE / "src", "-c",
                    "-o", tmp_path / "scenes.o", tmp_path / "scenes.c"], check=True)


@pytest.mark.parametrize("name, text", [("zero", b"a: \0\n"), ("two words", b"a: 1\n")])
def test_what_cannot_be_embedded_is_refused(tmp_path, name, text):
    path = tmp_path / f"{name}.yaml"
    path.write_bytes(text)
    result = embed(tmp_path / "scenes.c", [path])
    assert result.returncode != 0
    assert path.name in " ".join(result.stderr.split())  # CMake wraps its messages
