"""Results do not depend on the machine: not on which variants of sin, exp and the like the C library has for it."""
import platform

import pytest
from conftest import assert_same_folder, hash_of, run

# What glibc looks at when it chooses a variant of a function; on other systems the variable means nothing.
PLAIN = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F"}

# Joints that turn, motions by sine, shapes with powers, grains drawn at random and emitted.
SCENES = [("clock", 0.2), ("shaker", 0.01), ("shapes", 0.02), ("mixer", 0.01), ("rain", 0.1), ("pendulum", 0.2)]

DRAWN = """\
talus: 1
until: 0.02
materials: {rock: {density: 2600, friction: 0.5}}
shapes:
  grain: {superellipsoid: {half: [0.02, 0.03, 0.025], n1: 3, n2: 4.5}}
  pair: {clump: [[0, 0, 0, 0.02], [0.02, 0.01, 0, 0.015]]}
bodies:
  - fill: {shape: grain, material: rock, count: 30, in: {sphere: {at: [0, 0, 1], radius: 0.4}}, rotation: random, seed: 3,
           size: {lognormal: {median: 1, sigma: 0.3}}, spin: [3, 5, 7]}
  - fill: {shape: pair, material: rock, count: 20, in: {cylinder: {at: [0, 0, 2], radius: 0.4, length: 0.5}},
           rotation: random, seed: 4}
output: {every: 0.01, fields: [quaternion, velocity, spin]}
"""


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc can be told to choose others")


@pytest.mark.parametrize("name, until", SCENES)
def test_bits_of_scenes_do_not_depend_on_the_c_library(tmp_path, name, until):
    mine = hash_of(run(name, tmp_path / "a", "--until", until))
    assert hash_of(run(name, tmp_path / "b", "--until", until, env=PLAIN)) == mine


def test_bits_of_what_is_drawn_do_not_depend_on_the_c_library(tmp_path):
    scene = tmp_path / "drawn.yaml"
    scene.write_text(DRAWN)
    mine = hash_of(run(scene, tmp_path / "a"))
    assert hash_of(run(scene, tmp_path / "b", env=PLAIN)) == mine
    assert_same_folder(tmp_path / "a", tmp_path / "b")
