"""Documentation that is generated is up to date, and links lead somewhere."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def reference(root):
    return subprocess.run([sys.executable, "-B", ROOT / "scripts/api-reference", root], check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def test_the_api_reference_is_up_to_date():
    assert (ROOT / "docs/api.md").read_text() == reference(ROOT), "docs/api.md is old: make docs"


def test_the_scene_format_is_up_to_date():
    command = os.environ.get("TALUS")
    if not command:
        pytest.skip("$TALUS is not set")
    schema = subprocess.run([command, "scenes", "--schema"], stdout=subprocess.PIPE, text=True)
    if schema.returncode != 0:
        pytest.skip("this command was built without yaml")
    assert (ROOT / "docs/scene.md").read_text() == schema.stdout, "docs/scene.md is old: make docs"


def test_every_public_function_is_in_the_reference():
    page = (ROOT / "docs/api.md").read_text()
    for header in (ROOT / "include/talus").glob("*.h"):
        for name in re.findall(r"^TALUS_API [^;(]*?(talus_\w+)\(", header.read_text(), flags=re.M):
            assert re.search(rf"^#### .*`{name}`", page, flags=re.M), f"{header.name}: {name}"


def test_comments_become_text_lists_and_code(tmp_path):
    (tmp_path / "include/talus").mkdir(parents=True)
    for name in (header.name for header in (ROOT / "include/talus").glob("*.h")):
        (tmp_path / "include/talus" / name).write_text("/* Nothing. */\n")
    (tmp_path / "include/talus/talus.h").write_text("""\
/* A header:
 *
 *   call(1);
 *
 * Rules.
 *  - One, which goes on
 *    below and
 *    below.
 *  - Two: talus_thing < 3.
 */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

/* ---- things ---- */

/* A thing. */
typedef struct talus_thing {
  int size; /* m */

  int weight;
} talus_thing;

/* Both. */
TALUS_API int talus_one(void);
TALUS_API int talus_two(const char *text,
                        int n); /* late */

#endif
""")
    page = reference(tmp_path)
    assert "A header:\n\n```c\ncall(1);\n```\n\nRules.\n\n- One, which goes on\n  below and\n  below.\n" in page
    assert "- Two: `talus_thing` \\< 3.\n" in page
    assert "### things\n\n#### `talus_thing`\n\nA thing.\n\n```c\ntypedef struct talus_thing {\n  int size; /* m */\n" in page
    assert "#### `talus_one`, `talus_two`\n\nBoth.\n\n```c\nint talus_one(void);\nint talus_two(const char *text,\n" \
           "              int n); /* late */\n```\n" in page
    assert "- [`talus_two`](#talus_one-talus_two)\n" in page


def anchors(page):
    """As GitHub makes them from headings, those in code blocks left out."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", text, flags=re.M)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        path, _, fragment = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{page.name} links to {target}"
        assert not fragment or there.suffix != ".md" or fragment in anchors(there), f"{page.name} links to {target}"
