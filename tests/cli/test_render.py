"""talus render: pictures are right where geometry says what they must show, and nothing crashes it."""
import math
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import zlib

import pytest
from conftest import BALL, SHORT, run, start, talus, wait_for

pytestmark = pytest.mark.skipif("embree" not in talus("--version").stdout.split(),
                                reason="this command was built without Embree and libpng")

COLOURS = ["speed", "id", "material", "size", "force", "angle"]
SMALL = ["--size", "160x90", "--samples", 1, "--threads", 1, "--quiet"]

# Some grains above a floor, pushed apart; a plate that stands on its edge, turned by 45 degrees.
GRAINS = """\
talus: 1
title: Grains & a plate
until: 0.05
materials:
  glass: {density: 2500, friction: 0.4}
  wood: {density: 600}
shapes: {grain: {sphere: 0.05}}
bodies:
  - {name: ground, shape: {plane: [0, 0, 1, 0]}, material: wood, fixed: true}
  - {name: left, shape: grain, material: glass, at: [-0.5, 0, 0.05], velocity: [-1, 0, 0]}
  - {name: right, shape: grain, material: wood, at: [0.5, 0, 0.05], velocity: [2, 0, 0], scale: 0.9}
  - {name: plate, shape: {box: [0.4, 0.02, 0.4]}, material: wood, fixed: true, at: [0, 0, 1.2],
     rotation: {axis: [0, 1, 0], degrees: 45}}
output: {every: 0.01, fields: [quaternion, velocity, contacts]}
"""


def read_png(path):
    """Width, height and rows of (r, g, b): 8 bits, no interlacing, every checksum checked."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed, head = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length)[0] == zlib.crc32(kind + body)
        head = struct.unpack(">IIBBBBB", body) if kind == b"IHDR" else head
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    width, height, depth, colour, _, _, interlace = head
    assert (depth, colour, interlace) == (8, 2, 0)
    raw, rows, before = zlib.decompress(packed), [], bytes(3 * width)
    for y in range(height):
        kind, line = raw[y * (3 * width + 1)], bytearray(raw[y * (3 * width + 1) + 1:(y + 1) * (3 * width + 1)])
        for i in range(3 * width):
            a, b, c = line[i - 3] if i >= 3 else 0, before[i], before[i - 3] if i >= 3 else 0
            nearest = min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]
            line[i] = (line[i] + (0, a, b, (a + b) // 2, nearest)[kind]) & 255
        rows.append([tuple(line[3 * x:3 * x + 3]) for x in range(width)])
        before = bytes(line)
    return width, height, rows


def coloured(rows):
    """Pixels of bodies: ground, sky and words are grey, or nearly."""
    return [(x, y) for y, row in enumerate(rows) for x, p in enumerate(row) if max(p) - min(p) > 60]


def render(folder, output, *arguments, code=0, **options):
    done = talus("render", folder, "-o", output, *arguments, **options)
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture(scope="module")
def grains(tmp_path_factory):
    folder = tmp_path_factory.mktemp("grains")
    (folder / "grains.yaml").write_text(GRAINS)
    run(folder / "grains.yaml", folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def one_ball(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ball")
    (folder / "ball.yaml").write_text(BALL)
    run(folder / "ball.yaml", folder / "out")
    return folder / "out"


# ---- pictures ----------------------------------------------------------------------------------


def test_help_fits_on_one_screen():
    lines = talus("render", "--help").stdout.splitlines()
    assert lines[0].startswith("talus render") and len(lines) <= 40 and max(map(len, lines)) <= 80


def test_picture_has_the_asked_size_and_is_not_blank(grains, tmp_path):
    done = render(grains, tmp_path / "a.png", "--size", "240x136")
    width, height, rows = read_png(tmp_path / "a.png")
    assert (width, height) == (240, 136) and "frame 5, t = 0.05 s" in done.stderr
    assert len({p for row in rows for p in row}) > 500 and len(coloured(rows)) > 100
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.parametrize("camera", ["3,0,0.8,0,0,0.5", "9,0,4.6,0,0,0.6"])
def test_pictures_are_upright_near_and_far(grains, tmp_path, camera):
    """Seen along x the two grains are one above the other, however far below the camera they are."""
    render(grains, tmp_path / "a.png", "--size", "240x240", "--samples", 1, "--bare", "-q", "--colour", "id",
           "--camera", camera)
    pixels = coloured(read_png(tmp_path / "a.png")[2])
    assert len(pixels) > 10 and all(abs(x - 120) < 12 for x, _ in pixels)


def test_every_colour_gives_another_picture(grains, tmp_path):
    pictures = set()
    for colour in COLOURS:
        render(grains, tmp_path / "a.png", "--colour", colour, *SMALL)
        pictures.add((tmp_path / "a.png").read_bytes())
    assert len(pictures) == len(COLOURS)


def test_picture_does_not_depend_on_threads(grains, tmp_path):
    for n in (1, 3):
        render(grains, tmp_path / f"{n}.png", "--size", "160x90", "--threads", n, "-q")
    assert (tmp_path / "1.png").read_bytes() == (tmp_path / "3.png").read_bytes()


def test_frame_and_time_choose_the_same_picture(grains, tmp_path):
    for name, arguments in {"a": ["--frame", 2], "b": ["--time", 0.021], "c": ["--frame", -4], "d": []}.items():
        render(grains, tmp_path / f"{name}.png", *arguments, *SMALL)
    a, b, c, d = ((tmp_path / f"{name}.png").read_bytes() for name in "abcd")
    assert a == b == c != d


def test_ball_covers_the_disc_that_perspective_says(one_ball, tmp_path):
    # From 3 m away: a cone of half angle asin(0.1 / 3) in a field of view of 10 degrees up and down.
    render(one_ball, tmp_path / "a.png", "--frame", 0, "--bare", "--colour", "id", "--size", "200x200",
           "--camera", "0,-3,0.5,0,0,0.5", "--fov", 20, "-q")
    pixels = coloured(read_png(tmp_path / "a.png")[2])
    radius = 100 * math.tan(math.asin(0.1 / 3)) / math.tan(math.radians(10))
    xs, ys = zip(*pixels)
    assert len(pixels) == pytest.approx(math.pi * radius**2, rel=0.06)
    assert sum(xs) / len(xs) == pytest.approx(99.5, abs=0.5) and sum(ys) / len(ys) == pytest.approx(99.5, abs=0.5)
    assert max(xs) - min(xs) + 1 == pytest.approx(2 * radius, abs=2)


def test_turned_box_is_drawn_turned(grains, tmp_path):
    # The plate's front side is 4 m less half its thickness away; its diagonal is upright.
    render(grains, tmp_path / "a.png", "--bare", "--colour", "material", "--size", "200x200", "--camera",
           "0,-4,1.2,0,0,1.2", "--fov", 10, "-q")
    pixels = coloured(read_png(tmp_path / "a.png")[2])
    unit = 100 / math.tan(math.radians(5)) / 3.99
    half = 0.2 * math.sqrt(2) * unit
    xs, ys = zip(*pixels)
    assert max(xs) - min(xs) + 1 == pytest.approx(2 * half, abs=3)
    assert max(ys) - min(ys) + 1 == pytest.approx(2 * half, abs=3)
    assert len(pixels) == pytest.approx((0.4 * unit)**2, rel=0.05)


def test_fitted_view_holds_every_body(grains, tmp_path):
    for size in ("200x100", "100x200"):
        render(grains, tmp_path / "a.png", "--bare", "--colour", "material", "--size", size, "-q")
        width, height, rows = read_png(tmp_path / "a.png")
        xs, ys = zip(*coloured(rows))
        assert 0 < min(xs) and max(xs) < width - 1 and 0 < min(ys) and max(ys) < height - 1
        # Close to the edges in one direction at least: not lost in the middle.
        assert max(xs) - min(xs) > 0.8 * width or max(ys) - min(ys) > 0.8 * height


def test_slice_leaves_bodies_out(grains, tmp_path):
    view = ["--bare", "--colour", "id", "--camera", "0,-4,0.3,0,0,0.3", "--fov", 30, *SMALL]
    sides = {}
    for name, plane in {"all": "1,0,0,9", "left": "1,0,0,0.3", "right": "-1,0,0,0.3", "none": "0,0,1,-1"}.items():
        render(grains, tmp_path / "a.png", "--slice", plane, *view)
        sides[name] = {x > 80 for x, _ in coloured(read_png(tmp_path / "a.png")[2])}
    assert sides == {"all": {False, True}, "left": {False}, "right": {True}, "none": set()}


def test_range_moves_the_colours(grains, tmp_path):
    for name, arguments in {"a": [], "b": ["--range", "0,100"]}.items():
        render(grains, tmp_path / f"{name}.png", "--bare", *arguments, *SMALL)
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()


def test_force_chains_are_drawn(busy, tmp_path):
    run(busy, tmp_path / "out")
    render(tmp_path / "out", tmp_path / "a.png", "--contacts", *SMALL)
    assert len(coloured(read_png(tmp_path / "a.png")[2])) > 20


def test_folder_without_checkpoint_and_scene_is_drawn(grains, tmp_path):
    shutil.copytree(grains / "frames", tmp_path / "out/frames")
    render(tmp_path / "out", tmp_path / "a.png", *SMALL)
    assert len(coloured(read_png(tmp_path / "a.png")[2])) > 20


# ---- what is wrong -----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, message", [
    ([], "render: say where to: -o x.png for a picture, -o x.mp4 for a film"),
    (["-o", "a.jpg"], "render: say where to"),
    (["-o", "a.png", "--frame", "7"], "there is no frame 7: the folder has 6, from 0 to 5"),
    (["-o", "a.png", "--frame", "-7"], "there is no frame -7"),
    (["-o", "a.png", "--frame", "x"], "'x' is not a whole number"),
    (["-o", "a.png", "--time", "9"], "there is no frame at t = 9 s: the folder goes from 0 s to 0.05 s"),
    (["-o", "a.png", "--colour", "sped"], "did you mean 'speed'?"),
    (["-o", "a.png", "--color", "sped"], "did you mean 'speed'?"),
    (["-o", "a.png", "--color=sped"], "did you mean 'speed'?"),
    (["-o", "a.png", "--size", "12"], "'12' is not a size in pixels, such as 1280x720"),
    (["-o", "a.png", "--size", "0x99"], "is not a size in pixels"),
    (["-o", "a.png", "--camera", "1,2"], "'1,2' is not x,y,z of the camera"),
    (["-o", "a.png", "--camera", "1,2,3,1,2,3"], "the camera is where it looks at"),
    (["-o", "a.png", "--slice", "0,0,0,1"], "n not zero"),
    (["-o", "a.png", "--range", "2,1"], "two growing numbers"),
    (["-o", "a.png", "--fov", "0"], "--fov is from 1 to 150 degrees"),
    (["-o", "a.png", "--contacts", "--colour", "id"], "leave --colour out"),
    (["-o", "a.mp4", "--frame", "1"], "a film has all"),
    (["-o", "a.mp4", "--size", "161x90"], "must be even: --size 162x90"),
])
def test_wrong_options_are_refused_with_a_way_out(grains, tmp_path, arguments, message):
    done = talus("render", grains, *arguments, cwd=tmp_path)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_wrong_folders_are_refused(grains, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "none/frames").mkdir(parents=True)
    for folder, message in {"nowhere": "No such file or directory", "empty": "has no frames: not a result folder",
                            "none": "holds no frame yet", grains / "scene.yaml": "is a file"}.items():
        done = render(folder, "a.png", code=2, cwd=tmp_path)
        assert message in done.stderr and done.stderr.count("\n") == 1


def test_what_a_folder_does_not_hold_is_named(one_ball, tmp_path):
    for arguments in (["--contacts"], ["--colour", "force"]):
        assert "fields: [..., contacts]" in render(one_ball, tmp_path / "a.png", *arguments, code=2).stderr
    (tmp_path / "still.yaml").write_text(BALL.replace("{every: 0.01}", "{every: 0.01, fields: [quaternion]}"))
    run(tmp_path / "still.yaml", tmp_path / "out")
    assert "holds no velocities" in render(tmp_path / "out", tmp_path / "a.png", code=2).stderr
    render(tmp_path / "out", tmp_path / "a.png", "--colour", "size", *SMALL)


def test_picture_that_cannot_be_written_is_an_error(grains, tmp_path):
    done = render(grains, tmp_path / "no/a.png", *SMALL, code=1)
    assert "no/a.png: could not be written: there is no folder" in done.stderr


def test_damaged_frames_are_refused_and_never_crash_it(grains, tmp_path):
    """Cut, and with random bytes: some such files crash the HDF5 library itself."""
    chance = random.Random(7)
    for name in ("frames", "contacts"):
        (tmp_path / "out" / name).mkdir(parents=True)
    whole = {name: (grains / name / "000005.hdf").read_bytes() for name in ("frames", "contacts")}
    codes = set()
    for attempt in range(20 if SHORT else 60):
        for name, data in whole.items():
            data = bytearray(data)
            if attempt % 4 == 0:
                data = data[:chance.randrange(len(data))]
            else:
                filled = [i for i, byte in enumerate(data) if byte]
                for _ in range(chance.choice([1, 4, 16])):
                    data[chance.choice(filled)] = chance.choice([0, 1, 0x7f, 0xff, chance.randrange(256)])
            (tmp_path / "out" / name / "000000.hdf").write_bytes(data)
        done = talus("render", tmp_path / "out", "-o", tmp_path / "a.png", "--colour", "force", "--size", "16x16",
                     "--samples", 1, "--threads", 1, errors="replace")
        assert done.returncode in (0, 2), (attempt, done.returncode, done.stderr)
        assert done.returncode == 0 or "000000.hdf" in done.stderr
        codes.add(done.returncode)
    assert codes == {0, 2}


def test_frame_of_another_program_is_refused(tmp_path):
    (tmp_path / "out/frames").mkdir(parents=True)
    (tmp_path / "out/frames/000000.hdf").write_text("not HDF5\n")
    assert "not a readable HDF5 file" in render(tmp_path / "out", tmp_path / "a.png", code=2).stderr


# ---- films -------------------------------------------------------------------------------------

needs_ffmpeg = pytest.mark.skipif(not shutil.which("ffmpeg"), reason="ffmpeg is not installed")


@needs_ffmpeg
def test_film_has_every_frame_at_the_asked_size_and_rate(grains, tmp_path):
    film = tmp_path / "a.mp4"
    done = render(grains, film, "--size", "160x90", "--samples", 1, "--fps", 12)
    assert "6 frames, 12 per second" in done.stderr and "frame 6 of 6" in done.stderr
    if shutil.which("ffprobe"):
        probe = subprocess.run(["ffprobe", "-v", "error", "-count_frames", "-select_streams", "v", "-of", "csv=p=0",
                                "-show_entries", "stream=width,height,r_frame_rate,nb_read_frames", film],
                               capture_output=True, text=True, check=True)
        assert probe.stdout.strip() == "160,90,12/1,6"
    assert [p.name for p in tmp_path.iterdir()] == ["a.mp4"]


@needs_ffmpeg
def test_interrupted_film_leaves_nothing(grains, tmp_path):
    process = start("render", grains, "-o", tmp_path / "a.mp4", "--size", "480x270", "--samples", 24)
    assert wait_for(lambda: (tmp_path / "a.mp4.part").exists(), process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 130 and "no film was written" in err
    assert list(tmp_path.iterdir()) == []


def test_without_ffmpeg_the_package_is_named(grains, tmp_path):
    done = render(grains, tmp_path / "a.mp4", *SMALL, code=2, env={"PATH": str(tmp_path)})
    assert "install the package ffmpeg" in done.stderr and list(tmp_path.iterdir()) == []


def test_films_that_ffmpeg_cannot_write_are_errors(grains, tmp_path):
    fake = tmp_path / "ffmpeg"
    fake.write_text("#!/bin/sh\nread -r _\nexit 3\n")
    fake.chmod(0o755)
    done = render(grains, tmp_path / "a.mp4", *SMALL, code=1, env={"PATH": f"{tmp_path}:/bin:/usr/bin"})
    assert re.search("ffmpeg (failed|stopped)", done.stderr) and not (tmp_path / "a.mp4").exists()
