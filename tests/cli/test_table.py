"""Bodies of a table in a scene: CSV with and without a header, dumps of LAMMPS and LIGGGHTS, and what is wrong with them."""
import pytest

from conftest import history, run, talus

SCENE = """\
talus: 1
until: 0.02
materials: {rock: {density: 1000}, steel: {}}
bodies:
  - {shape: {plane: [0, 0, 1, 0]}, material: steel, fixed: true}
  - {table: packing.csv, material: rock}
"""
ROWS = [(0, 0, 0.1, 0.1), (0.3, 0, 0.12, 0.1), (0.6, 0.1, 0.3, 0.05)]
DUMP = """\
ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
1
ITEM: BOX BOUNDS pp pp ff
-1 1
-1 1
0 2
ITEM: ATOMS id type x y z radius
1 1 9 9 9 0.5
ITEM: TIMESTEP
100
ITEM: NUMBER OF ATOMS
3
ITEM: BOX BOUNDS pp pp ff
-1 1
-1 1
0 2
"""


def packing(tmp_path, table, scene=SCENE):
    (tmp_path / "packing.csv").write_text(table)
    (tmp_path / "scene.yaml").write_text(scene)
    return tmp_path / "scene.yaml"


def end_of(tmp_path, table, scene=SCENE):
    run(packing(tmp_path, table, scene), tmp_path / "out", "--force")
    return history(tmp_path / "out")[-1]


def test_headers_blanks_and_dumps_make_the_same_bodies(tmp_path):
    lines = [",".join(map(str, row)) for row in ROWS]
    wanted = end_of(tmp_path, "x,y,z,r\n" + "\n".join(lines) + "\n")
    assert wanted["bodies"] == "4"
    dump = DUMP + "ITEM: ATOMS id type type diameter z y x\n" + "".join(
        f"{i} 1 1 {2 * r} {z} {y} {x}\n" for i, (x, y, z, r) in enumerate(ROWS))
    ligg = DUMP + "ITEM: ATOMS id type x y z ix iy iz vx vy vz fx fy fz omegax omegay omegaz radius \n" + "".join(
        f"{i} 1 {x} {y} {z} 0 0 0 0 0 0 1 1 1 0 0 0 {r} \n" for i, (x, y, z, r) in enumerate(ROWS))
    for table in ("\n".join(lines), "\n".join(lines).replace(",", "  "),
                  "r z y x\n" + "\n".join(f"{r} {z} {y} {x}" for x, y, z, r in ROWS), dump, ligg,
                  "#format x_y_z_r\n# of YADE\n" + "\n".join(lines).replace(",", "\t"),
                  "\nId,X,Y,Z,Radius\n" + "\n# a remark\n".join(f"{i},{line}" for i, line in enumerate(lines))):
        assert end_of(tmp_path, table)["state_hash"] == wanted["state_hash"], table


def test_shapes_velocities_and_scale_are_those_of_bodies_written_out(tmp_path):
    table = ("shape,x,y,z,a,b,c,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n"
             "ellipsoid,0,0,200,30,20,10,0.6,0,0.8,0,100,0,0,0,0,3\nbox,500,0,300,100,50,20,,,,,,,,,,\n")
    scene = SCENE.replace("material: rock}", "material: rock, scale: 0.001, at: [0, 0, 1]}")
    written = SCENE.replace("  - {table: packing.csv, material: rock}", """\
  - {shape: {ellipsoid: [0.03, 0.02, 0.01]}, material: rock, at: [0, 0, 1.2], rotation: [0.6, 0, 0.8, 0], velocity: [0.1, 0, 0], spin: [0, 0, 3]}
  - {shape: {box: [0.2, 0.1, 0.04]}, material: rock, at: [0.5, 0, 1.3]}""")
    ours, theirs = end_of(tmp_path, table, scene), end_of(tmp_path, table, written)
    for column in ("bodies", "kinetic_energy", "potential_energy", "px", "pz", "lx", "ly", "lz", "rotational_energy"):
        assert float(ours[column]) == pytest.approx(float(theirs[column]), rel=1e-5, abs=1e-7), column


def test_a_scene_that_was_written_again_finds_its_table(tmp_path):
    scene = packing(tmp_path, "0,0,0.1,0.1\n")
    run(scene, tmp_path / "out")
    text = (tmp_path / "out/scene.yaml").read_text()
    assert f'{{table: "{tmp_path}/packing.csv", material: rock, at: [0, 0, 0], scale: 1, fixed: false}}' in text
    run(tmp_path / "out/scene.yaml", tmp_path / "again")
    assert history(tmp_path / "again")[-1]["state_hash"] == history(tmp_path / "out")[-1]["state_hash"]


@pytest.mark.parametrize("table, message", [
    ("1,2,3\n", "packing.csv:1:1: 3 numbers and no header; without one a table has 4 columns, x,y,z,r, or 7"),
    ("0,0,1,0.1\n0,0,x,0.1\n", "packing.csv:2:5: column 'z': 'x' is not a number"),
    ("0,0,1,0.1\n0,0,1\n", "packing.csv:2:6: 3 fields, but the first line has 4"),
    ("x,y,z,r,vx\n0,0,1,0.1,1\n", "packing.csv:1:11: of vx,vy,vz there are 1; expected all, or none"),
    ("x,y,z,r\n0,0,1,0\n", "packing.csv: row 1 of the table: its radius is 0; expected a radius above 0"),
    (DUMP + "ITEM: ATOMS id x y z\n1 0 0 1\n", "packing.csv:19:1: the dump has neither 'radius' nor 'diameter'"),
    (DUMP + "ITEM: ATOMS id xs y z radius\n1 0 0 1 1\n", "packing.csv:19:1: the dump lacks columns `x y z` or `xu yu zu`"),
    (DUMP + "ITEM: ATOMS x y z radius\n1 0 1 0.1\n", "packing.csv:21: 1 bodies, but 'ITEM: NUMBER OF ATOMS' says 3"),
    ("ITEM: TIMESTEP\n0\n", "without a good 'ITEM: NUMBER OF ATOMS'"),
])
def test_a_bad_table_is_refused_with_line_and_column(tmp_path, table, message):
    done = talus("check", packing(tmp_path, table))
    assert done.returncode != 0 and message in done.stderr and "scene.yaml:6:5: bodies.1.table" in done.stderr


def test_a_table_that_is_not_there_is_named(tmp_path):
    scene = packing(tmp_path, "")
    (tmp_path / "packing.csv").unlink()
    done = talus("check", scene)
    assert done.returncode != 0 and "packing.csv" in done.stderr and "paths in a scene begin at the scene's folder" in done.stderr


def test_a_table_in_millimetres_without_scale_is_warned_of(tmp_path):
    (tmp_path / "grains.csv").write_text("x,y,z,r\n0,0,6,5\n20,0,6,5\n")
    (tmp_path / "scene.yaml").write_text("talus: 1\nuntil: 0.01\nmaterials: {rock: {density: 2600}}\nbodies: [{table: grains.csv}]\n")
    said = talus("check", tmp_path / "scene.yaml").stderr
    assert "scene.yaml:4:10: a body of bodies.0.table has 1.4e+06 kg; sizes are in metres: a table in mm needs `scale: 0.001`" in said
    assert "kg" not in talus("check", tmp_path / "scene.yaml", "--set", "quiet=[heavy-body]").stderr


@pytest.mark.parametrize("column, factor", [("radius", 1), ("diameter", 2)])
def test_radius_and_diameter_stand_for_r(tmp_path, column, factor):
    (tmp_path / "a.csv").write_text("x,y,z,r\n0,0,0,0.05\n0.07,0,0,0.03\n")
    (tmp_path / "b.csv").write_text(f"x,y,z,{column}\n0,0,0,{0.05 * factor}\n0.07,0,0,{0.03 * factor}\n")
    one, other = (talus("contacts", tmp_path / name).stdout for name in ("a.csv", "b.csv"))
    assert one == other and one.count("\n") == 2


def test_a_table_without_rows_is_an_error(tmp_path):
    done = talus("check", packing(tmp_path, "x,y,z,r\n# nothing\n"))
    assert done.returncode == 2 and "packing.csv: the table has no rows" in done.stderr


@pytest.mark.parametrize("separator", [",", " "])
def test_files_that_a_table_names_are_watched(tmp_path, separator):
    for name, size in (("a.csv", 0.1), ("b.csv", 0.2)):
        (tmp_path / name).write_text("".join(f"{x},{y},{z}\n" for x, y, z in [(0, 0, 0), (size, 0, 0), (0, size, 0), (0, 0, size)]))
    table = "shape,file,x,y,z\nhull,a.csv,0,0,1\nhull,b.csv,1,0,1\n"
    scene = packing(tmp_path, table.replace(",", separator))
    run(scene, tmp_path / "out", "--until", 0.01)
    assert "has changed since" not in run(scene, tmp_path / "out", "--until", 0.012, "--resume").stderr
    (tmp_path / "b.csv").write_text("0,0,0\n0.3,0,0\n0,0.3,0\n0,0,0.3\n")
    done = run(scene, tmp_path / "out", "--resume")
    assert "packing.csv, or a file that it names, has changed since" in done.stderr


def test_rows_that_overlap_are_named_and_a_fill_in_a_plane_says_why(tmp_path):
    done = talus("run", packing(tmp_path, "x,y,z,r\n0,0,1,0.1\n0,0,3,0.1\n0,0,3.01,0.1\n"), "-o", tmp_path / "out", "--set", "until=2e-3")
    assert "row 3 of bodies.1.table and row 2 of bodies.1.table overlap" in done.stderr or "row 2 of bodies.1.table and row 3" in done.stderr
    assert "that needs bodies that do not overlap at the start, or a smaller step" in done.stderr
    (tmp_path / "fill.yaml").write_text("""\
talus: 1
until: 0.1
materials: {m: {}}
bodies:
  - {shape: {plane: [0, 0, -1, 0]}, fixed: true}
  - fill: {shape: {sphere: 0.1}, count: 3, in: {box: [[0, 0, 0], [1, 1, 1]]}}
""")
    assert "fill: only 0 of 3 bodies fit: other bodies, or the matter of a plane, fill the region" in talus("check", tmp_path / "fill.yaml").stderr
