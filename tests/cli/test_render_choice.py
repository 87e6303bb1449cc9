"""talus render: which bodies are shown, how they are cut, and what the colours span."""
import math
import pathlib
import shutil

import pytest
from conftest import long_test, run, talus
from test_render import SMALL, coloured, read_png, render

pytestmark = pytest.mark.skipif("embree" not in talus("--version").stdout.split(),
                                reason="this command was built without Embree and libpng")

# Three balls in a row across the picture, each of its own name, group and material; they do not move.
ROW = """\
talus: 1
until: 0.01
gravity: [0, 0, 0]
materials: {red: {density: 1000}, green: {density: 1000}, blue: {density: 1000}}
shapes: {ball: {sphere: 0.1}}
bodies:
  - {name: a, shape: ball, material: red, group: ends, at: [-0.5, 0, 0]}
  - {name: b, shape: ball, material: green, at: [0, 0, 0], scale: 0.5}
  - {name: c, shape: ball, material: blue, group: ends, at: [0.5, 0, 0]}
output: {every: 0.01, fields: [velocity]}
"""
VIEW = ["--bare", "--colour", "id", "--camera", "0,-3,0,0,0,0", "--fov", 24, *SMALL]


def make(tmp_path, text):
    (tmp_path / "scene.yaml").write_text(text)
    run(tmp_path / "scene.yaml", tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture(scope="module")
def row(tmp_path_factory):
    return make(tmp_path_factory.mktemp("row"), ROW)


def seen(folder, picture, *arguments):
    """Which of the three thirds of the picture have something in them."""
    render(folder, picture, *VIEW, *arguments)
    return {"abc"[x * 3 // 160] for x, _ in coloured(read_png(picture)[2])}


@pytest.mark.parametrize("arguments, expected", [
    ([], "abc"), (["--hide", "a"], "bc"), (["--hide", "a,c"], "b"), (["--hide", "ends"], "b"), (["--hide", "green"], "ac"),
    (["--hide", "2"], "ac"), (["--only", "a"], "a"), (["--only", "ends"], "ac"), (["--only", "a", "--only", "green"], "ab"),
    (["--only", "ends", "--hide", "3"], "a"),
])
def test_bodies_are_chosen_by_name_group_material_and_uid(row, tmp_path, arguments, expected):
    assert seen(row, tmp_path / "a.png", *arguments) == set(expected)


@pytest.mark.parametrize("arguments, message", [
    (["--hide", "gren"], "no body, group or material is called 'gren'; did you mean 'green'?"),
    (["--only", ""], "is called ''"),
    (["--translucent", "a=2"], "is not NAME or NAME=A"),
    (["--translucent", "a="], "is not NAME or NAME=A"),
    (["--view", "fornt"], "is not corner, front, back, left, right or top"),
])
def test_words_that_mean_nothing_are_refused(row, tmp_path, arguments, message):
    assert message in render(row, tmp_path / "a.png", *arguments, code=2).stderr


def test_one_looks_through_a_translucent_body(tmp_path):
    """A red ball behind a blue one: hidden, seen through it, or alone."""
    folder = make(tmp_path, ROW.replace("[-0.5, 0, 0]", "[0, 1, 0]").replace("[0, 0, 0], scale: 0.5", "[9, 0, 0]").replace("[0.5, 0, 0]", "[0, 0, 0]"))
    def middle(*arguments):
        render(folder, tmp_path / "a.png", "--bare", "--colour", "material", "--camera", "0,-3,0,0,0,0", "--fov", 24, *SMALL, *arguments)
        return read_png(tmp_path / "a.png")[2][45][80]
    solid, thin, thinner, alone = middle(), middle("--translucent", "c=0.6"), middle("--translucent", "c=0.2"), middle("--hide", "c")
    assert solid != alone
    for k in range(3):
        low, high = sorted((solid[k], alone[k]))
        assert low - 25 <= thin[k] <= high + 25
    far = [sum(abs(p[k] - alone[k]) for k in range(3)) for p in (solid, thin, thinner)]
    assert far[0] > far[1] > far[2] > 0


@long_test
@pytest.mark.parametrize("offset", [0, 0.06, -0.06])
@pytest.mark.parametrize("shape, across", [("{sphere: 0.1}", None), ("{box: [0.2, 0.2, 0.2]}", 0.2),
                                           ("{cylinder: {radius: 0.1, length: 0.2}}", 0.2)])
def test_a_slice_cuts_bodies_and_closes_them_with_a_cap(tmp_path, shape, across, offset):
    """Seen straight from the cut side, the cap covers what geometry says."""
    folder = make(tmp_path, ROW.replace("{sphere: 0.1}", shape))
    # y > offset is kept; the camera is at y = -40: parallel rays, or nearly.
    render(folder, tmp_path / "a.png", "--bare", "--colour", "id", "--only", "a", "--camera", "-0.5,-40,0,-0.5,0,0", "--fov", 1, "--size",
           "200x200", "--samples", 4, "-q", "--slice", f"0,-1,0,{-offset}")
    rows = read_png(tmp_path / "a.png")[2]
    pixels = coloured(rows)
    metre = 100 / math.tan(math.radians(0.5)) / 40
    radius = math.sqrt(0.01 - offset**2 if offset > 0 else 0.01)
    area = math.pi * radius**2 if across is None else across * (2 * radius if "cylinder" in shape else across)
    assert len(pixels) == pytest.approx(area * metre**2, rel=0.04)
    # A cap is flat: one colour all over, where a ball would go from light to dark.
    inner = [rows[y][x] for x, y in pixels if math.hypot(x - 99.5, y - 99.5) < 0.6 * radius * metre]
    spread = max(max(p[k] for p in inner) - min(p[k] for p in inner) for k in range(3))
    assert spread < 40


def test_sizes_span_what_is_free(tmp_path):
    """Beside a wall of a hundred times their size, the larger ball is at the top of the colours."""
    folder = make(tmp_path, ROW.replace("output:", "  - {shape: {sphere: 10}, material: red, fixed: true, at: [0, 0, -30]}\noutput:"))
    render(folder, tmp_path / "a.png", "--bare", "--colour", "size", "--camera", "0,-3,0,0,0,0", "--fov", 24, *SMALL)
    left = read_png(tmp_path / "a.png")[2][45][160 // 2 - int(0.5 / 3 * 45 / math.tan(math.radians(12)))]
    assert left[0] > 150 and left[1] > 130 and left[2] < 120, left


@long_test
def test_coplanar_sides_do_not_speckle(tmp_path):
    folder = make(tmp_path, ROW.replace("{sphere: 0.1}", "{box: [0.7, 0.1, 0.4]}").replace(
        "material: green, at: [0, 0, 0], scale: 0.5", "material: green, at: [0, 0, 0], fixed: true").replace("group: ends,", "group: ends, fixed: true,"))
    # Three boxes in a row that overlap, their fronts in one plane, which is turned against the pixels.
    render(folder, tmp_path / "a.png", "--bare", "--colour", "material", "--camera", "0.7,-3,0.9,0,0,0", "--fov", 20, "--size", "240x135",
           "--samples", 4, "-q")
    rows = read_png(tmp_path / "a.png")[2]
    changes = [sum(abs(a - b) > 60 for p, q in zip(row, row[1:]) for a, b in zip(p[:1], q[:1])) for row in rows]
    inside = sorted(n for n in changes if n)  # half of the rows do not follow an edge
    assert 0 < inside[len(inside) // 2] <= 6


def test_nothing_is_behind_title_and_time(tmp_path):
    """A tall pile: its fitted picture leaves the lines of words free."""
    folder = make(tmp_path, ROW.replace("[-0.5, 0, 0]", "[0, 0, 0.7]").replace("[0.5, 0, 0]", "[0, 0, -0.7]"))
    for size in ("320x180", "640x360"):
        render(folder, tmp_path / "a.png", "--colour", "material", "--view", "front", "--size", size, "--samples", 1, "-q")
        width, height, rows = read_png(tmp_path / "a.png")
        ys = [y for x, y in coloured(rows) if x < 0.75 * width]
        unit = max(min(height, 0.65 * width), 400) / 1000
        assert min(ys) > 56 * unit and max(ys) < height - 56 * unit and max(ys) - min(ys) > 0.5 * height


@long_test
def test_gears_have_teeth_that_mesh(tmp_path):
    """Around the rim of the wheel there are as many teeth as its radius says, and none where a gear is missing."""
    text = (pathlib.Path(__file__).parents[2] / "docs/howto/gears.md").read_text().split("```yaml gears.yaml\n")[1].split("```")[0]

    def runs(scene):
        folder = make(tmp_path, scene.replace("until: 1.0", "until: 0.1"))
        render(folder, tmp_path / "a.png", "--bare", "--colour", "id", "--camera", "0.1,-0.0001,1,0.1,0,0", "--fov", 14, "--size", "480x480",
               "--samples", 4, "-q", "--only", "wheel")
        rows = read_png(tmp_path / "a.png")[2]
        metre = 240 / math.tan(math.radians(7)) / 0.99
        there = [(lambda p: max(p) - min(p) > 60)(rows[int(239.5 - 0.0815 * metre * math.sin(a))][int(239.5 + 0.0815 * metre * math.cos(a))])
                 for a in (2 * math.pi * k / 2000 for k in range(2000))]
        shutil.rmtree(folder)
        return sum(there[k] and not there[k - 1] for k in range(2000))
    assert runs(text) == pytest.approx(48, abs=2)
    assert runs("\n".join(line for line in text.splitlines() if "kind: gear" not in line) + "\n") == 0


def test_a_fitted_view_that_leaves_bodies_out_has_paper_behind_its_legend(tmp_path):
    grid = "".join(f"  - {{shape: ball, at: [{0.3 * (i % 20)}, {0.3 * (i // 20)}, 0]}}\n" for i in range(400))
    scene = "talus: 1\nuntil: 0.01\ngravity: [0, 0, 0]\nmaterials: {m: {density: 1000}}\nshapes: {ball: {sphere: 0.1}}\nbodies:\n" + grid
    white = []
    for name, text in (("alone", scene), ("stray", scene + "  - {shape: ball, at: [40, 0, 0]}\n")):
        (tmp_path / f"{name}.yaml").write_text(text)
        run(tmp_path / f"{name}.yaml", tmp_path / name)
        render(tmp_path / name, tmp_path / f"{name}.png", "--size", "320x240", "--samples", 1)
        width, height, pixels = read_png(tmp_path / f"{name}.png")
        white.append(sum(min(pixels[y][x]) > 248 for y in range(height) for x in range(3 * width // 4, width)))
    assert white[0] < 100 and white[1] > 1000


def shaded(rows):
    """Grey pixels that are darker than any background."""
    return sum(max(p) - min(p) < 30 and max(p) < 190 for row in rows for p in row)


def test_bodies_that_were_chosen_get_no_floor(row, tmp_path):
    """The balls' shadows are on a floor that is added where the scene has none; `--only` and `--hide` show no more than what there is."""
    shades = {}
    for name, arguments in {"all": [], "only": ["--only", "a,b,c"], "hide": ["--hide", "b"]}.items():
        render(row, tmp_path / "a.png", "--bare", "--colour", "id", *SMALL, *arguments)
        shades[name] = shaded(read_png(tmp_path / "a.png")[2])
    assert shades["all"] > 100 and shades["only"] == shades["hide"] == 0, shades


def test_forces_alone_are_enough_for_their_picture(tmp_path):
    """With --contacts bodies are clear, so frames need no velocities; what has no values has no bar."""
    folder = make(tmp_path, ROW.replace("[velocity]", "[contacts]"))
    render(folder, tmp_path / "a.png", "--contacts", *SMALL)
    assert not coloured(read_png(tmp_path / "a.png")[2])


def test_without_a_title_there_is_no_paper_for_it(row, tmp_path):
    render(row, tmp_path / "a.png", "--colour", "material", "--camera", "0,-3,0,0,0,0", "--size", "320x180", "--samples", 1, "-q")
    rows = read_png(tmp_path / "a.png")[2]
    assert not any(min(p) > 248 for row in rows[:60] for p in row[:160])


def test_lines_are_not_dotted(tmp_path):
    """An upright edge of a tank, seen from afar: every row of pixels has about the same amount of it."""
    tank = "  - {shape: {container: [1, 1, 2]}, material: red, fixed: true, at: [0, 0, 0.3]}\n"
    folder = make(tmp_path, ROW.replace("output:", tank + "output:"))
    render(folder, tmp_path / "a.png", "--bare", "--only", "red", "--camera", "9,-12,0.3,0,0,0.3", "--fov", 10, "--size", "240x240", "-q")
    rows = read_png(tmp_path / "a.png")[2]
    left = []
    for line in rows[60:180]:
        x = min(k for k in range(240) if sum(line[k]) < sum(line[0]) - 30)
        left.append(sum(sum(line[0]) - sum(p) for p in line[max(0, x - 3):x + 5]))
    mean = sum(left) / len(left)
    spread = math.sqrt(sum((v - mean)**2 for v in left) / len(left)) / mean
    assert len(left) == 120 and spread < 0.12, spread


@pytest.mark.parametrize("shape", ["{superellipsoid: {half: [0.25, 0.1, 0.2], n1: 30, n2: 30}}",
                                   "{hull: [[-.25, -.1, -.2], [.25, -.1, -.2], [-.25, .1, -.2], [.25, .1, -.2], [-.25, -.1, .2], [.25, -.1, .2], [-.25, .1, .2], [.25, .1, .2]]}"])
def test_one_sees_where_bodies_of_one_colour_meet(tmp_path, shape):
    folder = make(tmp_path, ROW.replace("{sphere: 0.1}", shape).replace(", scale: 0.5", "").replace("-0.5, 0", "-0.502, 0").replace("0.5, 0, 0]", "0.502, 0, 0]"))
    render(folder, tmp_path / "a.png", "--bare", "--colour", "speed", "--camera", "0.05,-5,0,0.05,0,0", "--fov", 12, "--size", "240x120", "-q")
    rows = read_png(tmp_path / "a.png")[2]
    row = [sum(p) for p in rows[60]]
    metre = 60 / math.tan(math.radians(6)) / 4.9
    for meeting in (-0.251, 0.251):
        x = 120 + (meeting - 0.05) * metre
        seam = min(row[int(x) - 2:int(x) + 3])
        assert seam < 0.85 * row[int(x) - 12] and seam < 0.85 * row[int(x) + 12], row


def test_force_rods_end_at_the_contact_of_a_wall(tmp_path):
    """A ball on a board: the rod goes from the contact, at z = 0, to the ball's centre, and not on to the middle of the board."""
    (tmp_path / "scene.yaml").write_text("""\
talus: 1
until: 0.02
materials: {stone: {density: 2600}}
bodies:
  - {shape: {box: [1, 1, 0.2]}, material: stone, fixed: true, at: [0, 0, -0.1]}
  - {shape: {sphere: 0.1}, material: stone, at: [0, 0, 0.1]}
output: {every: 0.01, fields: [contacts]}
""")
    run(tmp_path / "scene.yaml", tmp_path / "out")
    render(tmp_path / "out", tmp_path / "a.png", "--contacts", "--bare", "--camera", "0,-3,0,0,0,0", "--fov", 24, "--size", "320x180", "-q")
    ys = [y for y, row in enumerate(read_png(tmp_path / "a.png")[2]) for p in row if p[0] - p[2] > 25]  # rods are warm
    metre = 90 / math.tan(math.radians(12)) / 3
    thick = 0.042 * metre + 2  # round ends
    assert len(ys) > 40 and 90 - 0.1 * metre - thick < min(ys) and max(ys) < 90 + thick, (min(ys), max(ys), metre)
