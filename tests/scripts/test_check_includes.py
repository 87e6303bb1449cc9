"""scripts/check-includes finds planted violations and accepts what the rule allows."""
import os
import pathlib
import shutil
import subprocess

import pytest

SOURCE = pathlib.Path(os.environ.get("TALUS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
HEADERS = """include/talus/talus.h include/talus/types.h src/crowd/fields.h src/crowd/model.h src/crowd/crowd.h src/world/world.h src/run/run.h
    src/base/status.h src/base/sort.h src/kernels/vec3.h src/shape/shape.h src/contact/contact.h src/solve/solve.h
    src/backend/backend.h cli/options.h bench/bench.h""".split()


@pytest.fixture
def tree(tmp_path):
    for header in HEADERS:
        (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / header).write_text("")
    return tmp_path


def check(tree):
    return subprocess.run([SOURCE / "scripts/check-includes", tree], capture_output=True, text=True)


def plant(tree, file, include):
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"/* planted */\n#include {include}\n")


def test_a_violation_planted_in_a_copy_of_this_tree_is_found(tmp_path):
    for folder in ("include", "src"):
        shutil.copytree(SOURCE / folder, tmp_path / folder)
    before = check(tmp_path).stdout
    plant(tmp_path, "src/base/planted.c", "<talus/talus.h>")
    result = check(tmp_path)
    assert result.returncode == 1
    assert "planted" not in before
    assert "src/base/planted.c:2: talus/talus.h: " in result.stdout


@pytest.mark.parametrize("file, include", [
    ("src/base/planted.c", '"kernels/vec3.h"'),
    ("src/base/planted.h", "<talus/talus.h>"),
    ("src/kernels/planted.h", '"shape/shape.h"'),
    ("src/kernels/planted.h", '"crowd/model.h"'),
    ("src/broad/planted.c", '"world/world.h"'),
    ("src/solve/planted.c", '"../world/world.h"'),
    ("src/step/planted.c", '"world/world.h"'),
    ("src/output/planted.c", '"run/run.h"'),
    ("src/narrow/planted.c", '"backend/cuda/device.h"'),
    ("src/backend/planted.c", '"world/world.h"'),
    ("src/planted.c", '"world/world.h"'),
    ("src/broad/planted.c", '"contact/contact.h"'),
    ("src/broad/planted.c", "<yaml.h>"),
    ("src/solve/planted.c", "<hdf5.h>"),
    ("src/solve/planted.c", "<omp.h>"),
    ("include/talus/planted.h", '"base/status.h"'),
    ("cli/planted.c", '"base/status.h"'),
    ("cli/planted.c", '"../src/world/world.h"'),
    ("examples/planted.c", '"crowd/crowd.h"'),
    ("src/solve/impulse/planted.c", '"solve/ccp/rows.h"'),
    ("src/solve/system/planted.c", '"solve/impact/impact.h"'),
])
def test_a_planted_violation_is_named_with_its_line(tree, file, include):
    plant(tree, file, include)
    result = check(tree)
    assert result.returncode == 1
    assert f"{file}:2: {include[1:-1]}: " in result.stdout


@pytest.mark.parametrize("file, include", [
    ("src/base/planted.c", '"base/status.h"'),
    ("src/base/planted.c", "<stdio.h>"),
    ("src/kernels/planted.h", "<talus/types.h>"),
    ("src/broad/planted.c", '"base/sort.h"'),
    ("src/broad/planted.c", '"crowd/crowd.h"'),
    ("src/narrow/planted.c", '"contact/contact.h"'),
    ("src/step/planted.c", '"backend/backend.h"'),
    ("src/world/planted.c", '"world/world.h"'),
    ("src/solve/ccp/planted.c", '"solve/system/links.h"'),
    ("src/solve/impulse/planted.c", '"solve/system/system.h"'),
    ("cli/planted.c", "<talus/talus.h>"),
    ("cli/planted.c", '"options.h"'),
    ("cli/planted.c", '"bench.h"'),
    ("bench/planted.c", '"base/sort.h"'),
    ("examples/planted.c", "<talus/talus.h>"),
])
def test_an_allowed_include_passes(tree, file, include):
    plant(tree, file, include)
    result = check(tree)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize("file, text", [
    ("src/world/planted.c", "talus_status tl_look(talus_world *world) {\n  return world->state.position[0].x > 0;\n}\n"),
    ("src/output/planted.c", "int tl_count(const talus_world *world,\n             int n) {\n  f(world->contacts.data[n]);\n}\n"),
    ("src/run/planted.c", "double tl_mass(tl_run *run) {\n  return run->world->model.property.mass[0];\n}\n"),
    ("src/world/planted.c", "static void f(talus_world *world) {\n  tl_broad_forget(&world->broad_cache);\n}\n"),
    ("src/output/planted.c", "static void f(talus_world *world) {\n  world->penalty.is_pushed = false;\n}\n"),
    ("src/world/planted.c", "static void f(talus_world *world) {\n  tl_balls_of(&world->where);\n}\n"),
    ("include/talus/planted.h", "void tl_ball_f(void);\n"),
])
def test_who_touches_rows_without_asking_is_named(tree, file, text):
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    result = check(tree)
    assert result.returncode == 1 and f"{file}:" in result.stdout, result.stdout


@pytest.mark.parametrize("file, text", [
    ("src/world/planted.c", "int tl_look(talus_world *world) {\n  TL_TRY(tl_need(&world->where, TL_THE(position), TL_READ));\n"
                            "  return world->state.position[0].x > 0;\n}\n"),
    ("src/world/planted.c", "static int look(talus_world *world) {\n  return world->state.position[0].x > 0;\n}\n"),
    ("src/solve/planted.c", "int tl_look(const tl_model *model) {\n  return model->property.mass[0] > 0;\n}\n"),
])
def test_who_asks_or_is_a_stage_passes(tree, file, text):
    path = tree / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert check(tree).returncode == 0
