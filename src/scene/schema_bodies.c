/* What is there at the start: `bodies` (one, a fill, a table), and `ignore`. */
#include "scene/schema_keys.h"

static const tl_words locks = {WORDS({"x", TALUS_LOCK_X, "no motion along x"},
                                     {"y", TALUS_LOCK_Y, NULL}, {"z", TALUS_LOCK_Z, NULL},
                                     {"rx", TALUS_LOCK_RX, "no rotation about x"},
                                     {"ry", TALUS_LOCK_RY, NULL}, {"rz", TALUS_LOCK_RZ, NULL}),
                               NULL};

#define OWNER tl_scene_fill
const tl_map tl_schema_fill = {
    .title = "fill",
    .size = sizeof(OWNER),
    .help = "Many bodies at random positions in a region. They touch neither each other nor bodies "
            "listed before them.",
    .keys = (const tl_key[]){
        {KEY(OWNER, shape, SHAPE), SHAPE_HELP},
        {MATERIAL_KEY},
        {KEY(OWNER, count, INTEGER), .range = {1, 2e9, false}, .flags = TL_KEY_ONE_OF,
         .example = "20000", .help = "how many"},
        {KEY(OWNER, fraction, NUMBER), .range = {0, 1, true}, .flags = TL_KEY_ONE_OF,
         .example = "0.3",
         .help = "or: solid fraction, the volume of the bodies divided by that of the region"},
        {KEY(OWNER, in, MAP), .map = &tl_schema_region,
         .example = "{box: [[-1, -1, 1], [1, 1, 3]]}",
         .help = "the region; bodies lie entirely inside it"},
        {SIZE_KEY},
        {ROTATIONS_KEY},
        {VELOCITY_KEY},
        {SPIN_KEY},
        {KEY(OWNER, fixed, FLAG), .fallback = "false", .example = "true",
         .help = "none of them moves, as in a rough bed"},
        {GROUP_KEY},
        {SEED_KEY},
        {KEY(OWNER, allow_fewer, FLAG), .fallback = "false", .example = "true",
         .help = "continue if not all of them fit"},
        {KEY(OWNER, thermal, NUMBER), NOT_NEGATIVE, .unit = "m/s", .flags = TL_KEY_OPTIONAL,
         .example = "0.1",
         .help = "standard deviation of each velocity component about `velocity`: sqrt(kT/m)"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_table
const tl_map tl_schema_table = {
    .title = "bodies of a table",
    .size = sizeof(OWNER),
    .help = "An entry of `bodies` with the key `table`: one body for each line of a file. The "
            "columns are `x,y,z,r`, or `shape` and its half axes `a,b,c`, rotation `qw,qx,qy,qz`, "
            "velocity `vx,vy,vz` and spin `wx,wy,wz`, as the first line says; without such a line "
            "they are `x,y,z,r` or `x,y,z,r,vx,vy,vz`. Commas or blanks separate them. Text dumps "
            "of LAMMPS and LIGGGHTS with `x y z radius` (and velocities) are read too: their last "
            "time step. Details: [Tables of bodies](formats.md#tables-of-bodies).",
    .keys = (const tl_key[]){
        {KEY(OWNER, table, TEXT), .flags = TL_KEY_PATH, .expected = "the name of a file",
         .example = "packing.csv", .help = "the file, relative to the scene's folder"},
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL, .example = "sand",
         .help = "its name, as for a body; also the group of the bodies if `group` is not given"},
        {MATERIAL_KEY},
        {KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0, 0, 1]", .help = "position of the table's origin"},
        {KEY(OWNER, scale, NUMBER), SCALE, .fallback = "1", .example = "0.001",
         .help = "multiplies positions, sizes and velocities: 0.001 for millimetres"},
        {KEY(OWNER, fixed, FLAG), .fallback = "false", .example = "true",
         .help = "none of them moves"},
        {GROUP_KEY},
        {0}}};
#undef OWNER

#define OWNER tl_scene_body
const tl_map tl_schema_body = {
    .title = "a body",
    .plural = "bodies",
    .size = sizeof(OWNER),
    .help =
        "An entry of `bodies`: one body, or copies of it by `repeat`; or many of them by `fill`, "
        "`from` or `table`, each with its own keys.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL | TL_KEY_LABEL, .example = "drum",
         .help = "its name in messages, probes and `--set bodies.NAME.key=value`; must be unique; "
                 "a fill, a table and a body with copies also use it as the group of its bodies if "
                 "`group` is not given"},
        {KEY(OWNER, shape, SHAPE), SHAPE_HELP},
        {MATERIAL_KEY},
        {KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0, 0, 1]", .help = "where the shape's own origin is"},
        {KEY(OWNER, rotation, ROTATION), .fallback = "[1, 0, 0, 0]",
         .example = "{axis: [0, 1, 0], degrees: 30}",
         .help = "[w, x, y, z] or {axis, degrees}: how the shape's own frame is turned"},
        {VELOCITY_KEY},
        {SPIN_KEY},
        {KEY(OWNER, scale, NUMBER), SCALE, .fallback = "1", .example = "2",
         .help = "multiplies every length of the shape"},
        {KEY(OWNER, mass, NUMBER), POSITIVE, .unit = "kg", .flags = TL_KEY_OPTIONAL,
         .example = "1.5", .help = "otherwise density times volume"},
        {KEY(OWNER, fixed, FLAG), .fallback = "false", .example = "true", .help = "never moves"},
        {KEY(OWNER, motion, LIST), .map = &tl_schema_motion,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "a motion {velocity, spin, amplitude, "
                     "...}, or a list of motions, which is their sum",
         .example = "{spin: [0, 1, 0]}", .help = "prescribed motion; contacts do not change it"},
        {KEY(OWNER, lock, WORDS), .words = &locks, .fallback = "[]", .example = "[y, rx, rz]",
         .help = "world axes along which it may not move, or about which it may not turn"},
        {GROUP_KEY},
        {KEY(OWNER, force, COURSE), .count = 3, ANY, .unit = "N", .fallback = "[0, 0, 0]",
         .example = "[1, 0, 0]",
         .help = "force at the centre of mass: constant, or over time (linear between rows, "
                 "constant beyond the ends)"},
        {KEY(OWNER, torque, COURSE), .count = 3, ANY, .unit = "N m", .fallback = "[0, 0, 0]",
         .example = "{ramp: [[0, 0, 0, 0], [1, 0, 0, 0.1]]}",
         .help = "torque, world axes, likewise"},
        {KEY(OWNER, press, BOXED), .map = &tl_schema_press, .flags = TL_KEY_OPTIONAL,
         .example = "{axis: [0, 0, -1], pressure: 1e5, max_speed: 0.1}",
         .help = "makes it a plate that presses with a given force"},
        {KEY(OWNER, surface_velocity, NUMBERS), .count = 3, ANY, .unit = "m/s",
         .flags = TL_KEY_OPTIONAL, .example = "[0.5, 0, 0]",
         .help =
             "a conveyor belt: velocity of the surface of a plane that is fixed or has `motion`"},
        {KEY(OWNER, surface_spin, NUMBERS), .count = 3, ANY, .unit = "rad/s",
         .flags = TL_KEY_OPTIONAL, .example = "[0, 6.28, 0]",
         .help =
             "a roller or turntable: angular velocity, in world axes, of the surface of a sphere, "
             "of a cylinder, capsule, cone or revolved wall (about its axis) or of a plane (about "
             "its normal)"},
        {KEY(OWNER, repeat, LIST), .map = &tl_schema_repeat,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "{count, shift, turn, through}, or a list of these",
         .example = "{count: 20, shift: [0.2, 0, 0]}", .help = "copies of it"},
        {KEY(OWNER, spread, BOXED), .map = &tl_schema_spread, .flags = TL_KEY_OPTIONAL,
         .example = "{velocity: [0.5, 0, 0]}", .help = "random differences between its copies"},
        {KEY(OWNER, fill, BOXED), .map = &tl_schema_fill, .flags = TL_KEY_OPTIONAL | TL_KEY_ALONE,
         .example = "{shape: grain, count: 1000, in: {box: [[0, 0, 0], [1, 1, 1]]}}",
         .help = "instead of a body: many bodies in a region"},
        {KEY(OWNER, from, BOXED), .map = &tl_schema_from, .flags = TL_KEY_OPTIONAL | TL_KEY_WHOLE,
         .example = "settled.out/",
         .help =
             "instead of a body: the bodies at the end of another run, with the keys listed there"},
        {KEY(OWNER, table, BOXED), .map = &tl_schema_table, .flags = TL_KEY_OPTIONAL | TL_KEY_WHOLE,
         .example = "packing.csv",
         .help = "instead of a body: the bodies listed in a file, with the keys listed there"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_ignore
const tl_map tl_schema_ignore = {
    .title = "two groups",
    .plural = "pairs of groups, [A, B]",
    .size = sizeof(OWNER),
    .bare = "groups",
    .is_bare = true,
    .help = "An entry of `ignore`: bodies of these groups do not collide.",
    .keys = (const tl_key[]){
        {KEY(OWNER, groups, NAMES), .expected = "two groups, [A, B]", .example = "[walls, gate]",
         .help = "the same group twice: its bodies do not collide with each other"},
        {0}}};
#undef OWNER
