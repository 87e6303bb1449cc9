/* The tables. Order matters twice: it is the order of the written scene and of docs/scene.md. */
#include "scene/schema_keys.h"

#include "output/output.h"
#include "scene/warn.h"

/* ---- words ----------------------------------------------------------------------------------- */

static const tl_words random_word = {WORDS({"random", 0, "every rotation equally likely"}), NULL};

static const tl_words inflows = {
    WORDS({"volume", TALUS_INFLOW_VOLUME, "Maxwell's distribution in a gas"},
          {"flux", TALUS_INFLOW_FLUX,
           "Maxwell's distribution of the particles that cross the disc along its axis"}),
    NULL};

static const tl_words arrivals = {
    WORDS({"regular", TALUS_ARRIVAL_REGULAR, "at intervals of 1/rate"},
          {"poisson", TALUS_ARRIVAL_POISSON, "at random times, independently of each other"}),
    NULL};

static const tl_words locks = {WORDS({"x", TALUS_LOCK_X, "no motion along x"},
                                     {"y", TALUS_LOCK_Y, NULL}, {"z", TALUS_LOCK_Z, NULL},
                                     {"rx", TALUS_LOCK_RX, "no rotation about x"},
                                     {"ry", TALUS_LOCK_RY, NULL}, {"rz", TALUS_LOCK_RZ, NULL}),
                               NULL};

static const tl_words shares = {
    WORDS({"number", 0, "of the number of bodies"}, {"mass", 1, "of their mass"}), NULL};

static const tl_words records = {
    WORDS(
        {"force", TALUS_RECORD_FORCE, "N: mean contact force on the body"},
        {"torque", TALUS_RECORD_TORQUE, "N m: mean contact torque about the body's centre of mass"},
        {"mass-flow", TALUS_RECORD_MASS_FLOW, "kg/s along each axis, of a box"},
        {"count", TALUS_RECORD_COUNT, "mean number of free bodies in the region"},
        {"energy", TALUS_RECORD_ENERGY, "J: mean kinetic energy"},
        {"position", TALUS_RECORD_POSITION, "m: of the body's centre of mass, at the end"},
        {"rotation", TALUS_RECORD_ROTATION, "of the body's principal axes, at the end"},
        {"velocity", TALUS_RECORD_VELOCITY, "m/s: of the body, mean"},
        {"spin", TALUS_RECORD_SPIN, "rad/s: of the body, mean"},
        {"stress", TALUS_RECORD_STRESS,
         "Pa: mean stress in the region, from contacts and from motion; compression is positive"},
        {"solid-fraction", TALUS_RECORD_SOLID_FRACTION,
         "volume of free bodies in the region divided by that of the region"},
        {"coordination", TALUS_RECORD_COORDINATION,
         "mean number of bodies that press on a free body in the region"},
        {"sizes", TALUS_RECORD_SIZES,
         "mean number of free bodies in the region in each bin of `sizes`"}),
    NULL};

static const tl_words interpolations = {
    WORDS({"linear", 0, "linear from row to row"},
          {"smooth", 1, "cubic, so that the velocity is continuous"}),
    NULL};

/* The frame holds the words without a bit in any case; naming them is no mistake. */
static const tl_words frame_fields = {
    WORDS({"quaternion", TL_FRAME_QUATERNION, "rotation"}, {"velocity", TL_FRAME_VELOCITY, "m/s"},
          {"spin", TL_FRAME_SPIN, "rad/s"},
          {"contacts", TL_FRAME_CONTACTS, "a file of contacts beside each frame"},
          {"surfaces", TL_FRAME_SURFACES, "a file of triangles beside each frame, for drawing"},
          {"id", 0, "always there"}, {"radius", 0, "always there"},
          {"half_axes", 0, "always there"}, {"shape", 0, "always there"},
          {"material", 0, "always there"}),
    NULL};

static const tl_words warnings = {
    WORDS(
        {"large-step", TL_WARN_LARGE_STEP, "a body moves more than its radius in a step"},
        {"light-density", TL_WARN_LIGHT_DENSITY, "a density that looks like g/cm3"},
        {"high-friction", TL_WARN_HIGH_FRICTION, "a friction that looks like an angle"},
        {"odd-gravity", TL_WARN_ODD_GRAVITY, "gravity upwards, in cm/s2 or in mm/s2"},
        {"short-run", TL_WARN_SHORT_RUN, "less than ten steps"},
        {"dense-fill", TL_WARN_DENSE_FILL, "more bodies than a random packing can hold"},
        {"unused-material", TL_WARN_UNUSED_MATERIAL, "no body is made of it"},
        {"unused-shape", TL_WARN_UNUSED_SHAPE, "no body has it"},
        {"overlap", TL_WARN_OVERLAP, "bodies overlap at the start"},
        {"large-rolling", TL_WARN_LARGE_ROLLING, "a rolling resistance longer than a radius"},
        {"idle-key", TL_WARN_IDLE_KEY, "a key that does nothing for the kind or method chosen"},
        {"soft-springs", TL_WARN_SOFT_SPRINGS,
         "springs that let bodies sink by more than a hundredth of their radius"},
        {"narrow-throat", TL_WARN_NARROW_THROAT, "balls too large to pass a revolved wall"},
        {"heavy-body", TL_WARN_HEAVY_BODY, "a body above a thousand tonnes: its size may be in mm"},
        {"left-behind", TL_WARN_LEFT_BEHIND,
         "emitters and sinks of a run whose bodies are taken `from` it"}),
    NULL};

static const tl_words strict_words = {
    WORDS({"sinking", TALUS_STRICT_SINKING,
           "a body passes through a wall or sinks deeper than half its size"},
          {"unconverged", TALUS_STRICT_UNCONVERGED, "the solver did not converge in a step"}),
    NULL};

/* ---- what ------------------------------------------------------------------------------------ */

#define OWNER tl_scene_material
static const tl_map material_map = {
    .title = "a material",
    .plural = "materials",
    .size = sizeof(OWNER),
    .later = LATER("damping"),
    .help =
        "An entry of `materials`. Where two materials touch, the smaller of the two values counts, "
        "in every law, unless `pairs` says otherwise.",
    .keys = (const tl_key[]){
        {KEY(OWNER, density, NUMBER), POSITIVE, .unit = "kg/m3", .fallback = "2600",
         .example = "7800", .help = "mass over volume"},
        {KEY(OWNER, friction, NUMBER), NOT_NEGATIVE, .fallback = "0.5", .example = "0.3",
         .help = "Coulomb coefficient"},
        {KEY(OWNER, restitution, NUMBER), UNIT, .fallback = "0", .example = "0.8",
         .help = "speed after an impact over the speed before"},
        {KEY(OWNER, static_friction, NUMBER), NOT_NEGATIVE, .words = &tl_schema_automatic,
         .fallback = "auto", .example = "0.6",
         .help = "Coulomb coefficient while a contact sticks; at least `friction`; `auto`: equal "
                 "to it"},
        {KEY(OWNER, rolling, NUMBER), NOT_NEGATIVE, .unit = "m", .fallback = "0", .example = "1e-4",
         .help = "rolling resistance as a length: largest torque against rolling divided by the "
                 "normal force"},
        {KEY(OWNER, spinning, NUMBER), NOT_NEGATIVE, .unit = "m", .fallback = "0",
         .example = "1e-4",
         .help = "largest torque against spinning about the normal, divided by the normal force"},
        {KEY(OWNER, cohesion, NUMBER), NOT_NEGATIVE, .unit = "N", .fallback = "0",
         .example = "0.01",
         .help = "force needed to pull two touching bodies apart; ccp and impulse: it acts until "
                 "the gap is 1/100 of the smaller bounding radius"},
        {KEY(OWNER, rolling_coefficient, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.1",
         .help = "rolling friction coefficient: this times the reduced radius of the pair (1/R = "
                 "1/Ra + 1/Rb, of spheres of the same volume) is added to `rolling`"},
        {KEY(OWNER, surface_energy, NUMBER), NOT_NEGATIVE, .unit = "J/m2", .flags = TL_KEY_OPTIONAL,
         .example = "0.02",
         .help = "of each surface: this times 4 pi R is added to `cohesion` (Derjaguin, Muller and "
                 "Toporov; in the JKR model it would be 3 pi R)"},
        {KEY(OWNER, stiffness, NUMBER), POSITIVE, .unit = "N/m", .words = &tl_schema_automatic,
         .fallback = "auto", .example = "1e5",
         .help = "penalty, linear and noble: force divided by overlap (noble: N/sqrt(kg), and "
                 "required); `auto`: as stiff as the step allows"},
        {KEY(OWNER, young, NUMBER), POSITIVE, .unit = "Pa", .fallback = "1e7", .example = "7e10",
         .help = "penalty, hertz: Young's modulus; both materials deform"},
        {KEY(OWNER, poisson, NUMBER), .range = {-1, 0.5, true}, .fallback = "0.3",
         .example = "0.25", .help = "penalty, hertz: Poisson's ratio"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_pair
static const tl_map pair_map = {
    .title = "a pair of materials",
    .plural = "pairs of materials",
    .size = sizeof(OWNER),
    .help =
        "An entry of `pairs`: values for contacts between two materials (or of one with itself).",
    .keys = (const tl_key[]){
        {KEY(OWNER, materials, NAMES), .expected = "the names of two materials, [A, B]",
         .example = "[rock, steel]", .help = "the two"},
        {KEY(OWNER, friction, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL, .example = "0.2",
         .help = "Coulomb coefficient; otherwise the smaller of the two"},
        {KEY(OWNER, restitution, NUMBER), UNIT, .flags = TL_KEY_OPTIONAL, .example = "0.5",
         .help = "otherwise the smaller of the two"},
        {KEY(OWNER, static_friction, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.3", .help = "otherwise the smaller of the two, and not less than friction"},
        {KEY(OWNER, rolling, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1e-4", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, spinning, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1e-4", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, cohesion, NUMBER), NOT_NEGATIVE, .unit = "N", .flags = TL_KEY_OPTIONAL,
         .example = "0.01", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, rolling_coefficient, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.1", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, surface_energy, NUMBER), NOT_NEGATIVE, .unit = "J/m2", .flags = TL_KEY_OPTIONAL,
         .example = "0.02", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, stiffness, NUMBER), POSITIVE, .unit = "N/m", .words = &tl_schema_automatic,
         .flags = TL_KEY_OPTIONAL, .example = "1e5",
         .help = "otherwise the smaller of the two that are not `auto`"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_motion
const tl_map tl_schema_motion = {
    .title = "motion",
    .plural = "motions",
    .size = sizeof(OWNER),
    .help =
        "Prescribed motion of a body, which contacts do not change. With t counted from "
        "`from_time` and s = sin(2 pi frequency t + phase) - sin(phase), the body is shifted by "
        "velocity t + amplitude s + table and turned by spin t, then by swing s, then by the "
        "table: about its own centre of mass, or about an axis through `through`. A list of "
        "motions is combined: each one acts on the pose that the ones before it produce, so that "
        "its shifts move their axes too. A motion is constant before `from_time` and after "
        "`until`.\n\nA table is a CSV file whose first line names its columns: `time,x,y,z` or "
        "`time,x,y,z,qw,qx,qy,qz` (displacement and rotation relative to the start), "
        "`time,displacement` (needs `along`), `time,angle` (rad) or `time,degrees` (need `about`). "
        "Times must increase; the first row holds before it, the last row after it.",
    .keys = (const tl_key[]){
        {KEY(OWNER, velocity, NUMBERS), .count = 3, ANY, .unit = "m/s", .fallback = "[0, 0, 0]",
         .example = "[0.1, 0, 0]", .help = "constant part of the velocity"},
        {KEY(OWNER, spin, NUMBERS), .count = 3, ANY, .unit = "rad/s", .fallback = "[0, 0, 0]",
         .example = "[0, 0, 3.14]", .help = "angular velocity, world axes"},
        {KEY(OWNER, amplitude, NUMBERS), .count = 3, ANY, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0, 0, 0.01]", .help = "of the oscillation"},
        {KEY(OWNER, swing, NUMBERS), .count = 3, ANY, .unit = "rad", .fallback = "[0, 0, 0]",
         .example = "[0, 0.3, 0]", .help = "amplitude of an oscillating rotation about this axis"},
        {KEY(OWNER, frequency, NUMBER), NOT_NEGATIVE, .unit = "Hz", .fallback = "0",
         .example = "50", .help = "of the oscillation"},
        {KEY(OWNER, phase, NUMBER), ANY, .unit = "rad", .fallback = "0", .example = "1.57",
         .help = "of the oscillation"},
        {KEY(OWNER, through, NUMBERS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 0.5]",
         .help = "a point in world coordinates on the axes of all rotations; otherwise the body's "
                 "centre of mass"},
        {KEY(OWNER, table, TEXT), .flags = TL_KEY_OPTIONAL | TL_KEY_PATH,
         .expected = "the name of a CSV file", .example = "quake.csv",
         .help =
             "a table of displacements or rotations; the path is relative to the scene's folder"},
        {KEY(OWNER, along, NUMBERS), .count = 3, ANY, .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 1]", .help = "direction of a table of displacements"},
        {KEY(OWNER, about, NUMBERS), .count = 3, ANY, .flags = TL_KEY_OPTIONAL,
         .example = "[0, 1, 0]", .help = "axis of a table of angles"},
        {KEY(OWNER, interpolate, WORD), .words = &interpolations, .fallback = "linear",
         .example = "smooth", .help = "between the rows of the table"},
        {KEY(OWNER, from_time, NUMBER), NOT_NEGATIVE, .unit = "s", .fallback = "0",
         .example = "0.5", .help = "when it begins"},
        {KEY(OWNER, until, NUMBER), POSITIVE, .unit = "s", .flags = TL_KEY_OPTIONAL, .example = "2",
         .help = "when it ends, and the body stays where it is"},
        {0}}};
#undef OWNER

#define SHAPE_HELP                                                                                 \
  .expected = "the name of a shape, or a shape such as {sphere: 0.05}", .example = "grain",        \
  .help = "its shape"
#define MATERIAL_KEY                                                                               \
  KEY(OWNER, material, NAME), .flags = TL_KEY_OPTIONAL, .expected = "the name of a material",      \
                              .example = "rock",                                                   \
                              .help = "its material; may be left out where the scene has only one"
#define GROUP_KEY                                                                                  \
  KEY(OWNER, group, NAME), .flags = TL_KEY_OPTIONAL, .expected = "a label", .example = "walls",    \
                           .help = "a label that `ignore` can name"
#define VELOCITY_KEY                                                                               \
  KEY(OWNER, velocity, NUMBERS), .count = 3, ANY, .unit = "m/s", .fallback = "[0, 0, 0]",          \
                                 .example = "[0, 0, -1]",                                          \
                                 .help = "of the centre of mass, at the start"
#define SPIN_KEY                                                                                   \
  KEY(OWNER, spin, NUMBERS), .count = 3, ANY, .unit = "rad/s", .fallback = "[0, 0, 0]",            \
                             .example = "[0, 0, 6.28]",                                            \
                             .help = "angular velocity at the start, world axes"
#define ROTATIONS_KEY                                                                              \
  KEY(OWNER, rotation, ROTATION), .words = &random_word, .fallback = "[1, 0, 0, 0]",               \
                                  .example = "random",                                             \
                                  .help = "[w, x, y, z], {axis, degrees} or `random`"
#define SEED_KEY                                                                                   \
  KEY(OWNER, seed, INTEGER), .range = {0, 18446744073709551615.0, false}, .fallback = "1",         \
                             .example = "7", .help = "seed of its random numbers"

/* ---- regions and sizes ----------------------------------------------------------------------- */

#define OWNER tl_scene_round
#define AT_KEY(what)                                                                               \
  KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .example = "[0, 0, 1]", .help = what
#define AXIS_KEY                                                                                   \
  KEY(OWNER, axis, NUMBERS), .count = 3, ANY, .fallback = "[0, 0, 1]", .example = "[0, 1, 0]",     \
                             .help = "direction of its axis, of any length"
#define RADIUS_KEY                                                                                 \
  KEY(OWNER, radius, NUMBER), POSITIVE, .unit = "m", .example = "0.5", .help = "its radius"
static const tl_map ball_map = {.title = "sphere, as a region",
                                .size = sizeof(OWNER),
                                .help = "A region.",
                                .keys =
                                    (const tl_key[]){{AT_KEY("its centre")}, {RADIUS_KEY}, {0}}};
static const tl_map cylinder_map = {
    .title = "cylinder, as a region",
    .size = sizeof(OWNER),
    .help = "A region.",
    .keys = (const tl_key[]){{AT_KEY("the middle of its axis")},
                             {AXIS_KEY},
                             {RADIUS_KEY},
                             {KEY(OWNER, length, NUMBER), POSITIVE, .unit = "m", .example = "1",
                              .help = "its full length along the axis"},
                             {0}}};
static const tl_map disc_map = {
    .title = "disc, as a region",
    .size = sizeof(OWNER),
    .help = "A region, for emitters.",
    .keys = (const tl_key[]){{AT_KEY("its centre")}, {AXIS_KEY}, {RADIUS_KEY}, {0}}};
#undef OWNER

#define OWNER tl_scene_region
#define BOX_KEY                                                                                    \
  KEY(OWNER, box, BOX), ANY, .unit = "m", .example = "[[-1, -1, 1], [1, 1, 3]]",                   \
                             .help = "low corner and high corner"
#define BALL_KEY                                                                                   \
  KEY(OWNER, sphere, MAP), .map = &ball_map, .flags = TL_KEY_ONE_OF,                               \
                           .example = "{at: [0, 0, 1], radius: 0.5}", .help = "a ball"
#define CYLINDER_KEY                                                                               \
  KEY(OWNER, cylinder, MAP),                                                                       \
      .map = &cylinder_map, .flags = TL_KEY_ONE_OF,                                                \
      .example = "{at: [0, 0, 1], axis: [0, 0, 1], radius: 0.5, length: 2}", .help = "a cylinder"
const tl_map tl_schema_region = {
    .title = "a region",
    .size = sizeof(OWNER),
    .help = "A part of space: `in` of a fill or a sink, `region` of a probe or of a choice.",
    .keys = (const tl_key[]){{BOX_KEY, .flags = TL_KEY_ONE_OF}, {BALL_KEY}, {CYLINDER_KEY}, {0}}};
static const tl_map source_map = {
    .title = "a region of an emitter",
    .size = sizeof(OWNER),
    .help = "Where the centres of emitted bodies appear: `from` of an emitter.",
    .keys = (const tl_key[]){
        {BOX_KEY "; the box may be flat", .flags = TL_KEY_ONE_OF | TL_KEY_FLAT},
        {BALL_KEY},
        {CYLINDER_KEY},
        {KEY(OWNER, disc, MAP), .map = &disc_map, .flags = TL_KEY_ONE_OF,
         .example = "{at: [0, 0, 4], radius: 0.5}", .help = "a flat disc"},
        {KEY(OWNER, points, POINTS), .count = 3, ANY, .unit = "m",
         .flags = TL_KEY_ONE_OF | TL_KEY_FULL, .expected = "up to 64 points [[x, y, z], ...], in m",
         .example = "[[0, 1, 0], [0, -1, 0]]",
         .help = "points, one after the other, and again from the first"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_lognormal
static const tl_map lognormal_map = {
    .title = "lognormal",
    .size = sizeof(OWNER),
    .help = "A size whose logarithm is normally distributed.",
    .keys = (const tl_key[]){{KEY(OWNER, median, NUMBER), SCALE, .fallback = "1", .example = "1",
                              .help = "half of all are smaller"},
                             {KEY(OWNER, sigma, NUMBER), .range = {0, 3, false}, .example = "0.2",
                              .help = "standard deviation of ln(size)"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_size
static const tl_map size_map = {
    .title = "size",
    .size = sizeof(OWNER),
    .help = "Distribution of the scale of new bodies; at scale 1 a body has the size of its shape.",
    .keys = (const tl_key[]){
        {KEY(OWNER, uniform, NUMBERS), .count = 2, SCALE, .flags = TL_KEY_ONE_OF,
         .example = "[0.8, 1.2]", .help = "any size from the first to the second"},
        {KEY(OWNER, lognormal, MAP), .map = &lognormal_map, .flags = TL_KEY_ONE_OF,
         .example = "{median: 1, sigma: 0.2}", .help = "lognormal"},
        {KEY(OWNER, table, TABLE), .flags = TL_KEY_ONE_OF, .example = "[[0.5, 1], [1, 3]]",
         .help = "sizes, each with its share; shares need not add up to 1"},
        {KEY(OWNER, by, WORD), .words = &shares, .fallback = "number", .example = "mass",
         .help = "what the shares are of"},
        {0}}};
#undef OWNER
#define SIZE_KEY                                                                                   \
  KEY(OWNER, size, MAP), .map = &size_map, .flags = TL_KEY_OPTIONAL,                               \
                         .example = "{uniform: [0.8, 1.2]}",                                       \
                         .help = "the scale of each body; otherwise 1"

/* ---- bodies ---------------------------------------------------------------------------------- */

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
    .help = "An entry of `bodies`: one body; or many of them by `fill`, `from` or `table`, each "
            "with its own keys.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL | TL_KEY_LABEL, .example = "drum",
         .help = "its name in messages, probes and `--set bodies.NAME.key=value`; must be unique; "
                 "a fill or table also uses it as the group of its bodies if `group` is not given"},
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
             "of a cylinder, capsule or cone (about its axis) or of a plane (about its normal)"},
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
static const tl_map ignore_map = {
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

/* ---- flow and output ------------------------------------------------------------------------- */

#define OWNER tl_scene_emitter
const tl_map tl_schema_emitter = {
    .title = "an emitter",
    .plural = "emitters",
    .size = sizeof(OWNER),
    .help = "An entry of `emit`: bodies appear at a given rate. If there is no room for a body, "
            "the emitter waits and counts the attempt.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL, .example = "spout",
         .help = "what messages call it"},
        {KEY(OWNER, shape, SHAPE), SHAPE_HELP},
        {MATERIAL_KEY},
        {KEY(OWNER, rate, NUMBER), .range = {0, 1e12, false}, .unit = "1/s", .example = "500",
         .help = "bodies per second; 0: those alone that sinks `recycle`"},
        {KEY(OWNER, from, MAP), .map = &source_map,
         .example = "{disc: {at: [0, 0, 4], radius: 0.5}}", .help = "where their centres appear"},
        {VELOCITY_KEY},
        {SPIN_KEY},
        {KEY(OWNER, from_time, NUMBER), NOT_NEGATIVE, .unit = "s", .fallback = "0",
         .example = "0.5", .help = "when it begins"},
        {KEY(OWNER, until, NUMBER), POSITIVE, .unit = "s", .flags = TL_KEY_OPTIONAL,
         .example = "2.0", .help = "when it ends; otherwise at the end of the run"},
        {SIZE_KEY},
        {ROTATIONS_KEY},
        {GROUP_KEY},
        {SEED_KEY},
        {KEY(OWNER, thermal, NUMBER), NOT_NEGATIVE, .unit = "m/s", .fallback = "0",
         .example = "0.1",
         .help = "standard deviation of each velocity component about `velocity`: sqrt(kT/m)"},
        {KEY(OWNER, inflow, WORD), .words = &inflows, .fallback = "volume", .example = "flux",
         .help = "how thermal velocities are distributed"},
        {KEY(OWNER, arrival, WORD), .words = &arrivals, .fallback = "regular", .example = "poisson",
         .help = "times at which bodies appear"},
        {KEY(OWNER, burst, INTEGER), .range = {1, 100000, false}, .fallback = "1", .example = "12",
         .help = "this many bodies appear together, correspondingly less often"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_sink
static const tl_map sink_map = {
    .title = "a sink",
    .plural = "sinks",
    .size = sizeof(OWNER),
    .help =
        "An entry of `sinks`: free bodies whose centre is in it at the end of a step are removed.",
    .keys =
        (const tl_key[]){{KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL, .example = "drain",
                          .help = "what messages call it"},
                         {KEY(OWNER, in, MAP), .map = &tl_schema_region,
                          .example = "{box: [[-9, -9, -9], [9, 9, -1]]}", .help = "where"},
                         {KEY(OWNER, recycle, NAME), .flags = TL_KEY_OPTIONAL, .example = "inlet",
                          .help = "name of the emitter that emits the removed bodies again"},
                         {0}}};
#undef OWNER

#define OWNER tl_scene_probe
static const tl_map probe_map = {
    .title = "a probe",
    .plural = "probes",
    .size = sizeof(OWNER),
    .help = "An entry of `probes`: averages over intervals of time, written to `probes/NAME.csv`.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_FILE, .example = "outlet",
         .expected = "a name of letters, digits, `_`, `-` and `.`, as of a file",
         .help = "name of the file that it writes"},
        {KEY(OWNER, body, NAME), .flags = TL_KEY_ONE_OF, .expected = "the name of a body",
         .example = "drum", .help = "it measures a body"},
        {KEY(OWNER, joint, NAME), .flags = TL_KEY_ONE_OF, .expected = "the name of a joint",
         .example = "hinge", .help = "or a joint: the load on its second body"},
        {KEY(OWNER, region, MAP), .map = &tl_schema_region, .flags = TL_KEY_ONE_OF,
         .example = "{box: [[-1, -1, -0.1], [1, 1, 0]]}", .help = "or a region"},
        {KEY(OWNER, record, WORDS), .words = &records, .flags = TL_KEY_FULL,
         .example = "[mass-flow]", .help = "what it measures"},
        {KEY(OWNER, sizes, RISING), .count = TALUS_PROBE_SIZES, POSITIVE, .unit = "m",
         .flags = TL_KEY_OPTIONAL, .example = "[0.005, 0.01]",
         .help = "bin edges for `sizes`: radii of spheres of the same volume"},
        {KEY(OWNER, every, NUMBER), POSITIVE, .unit = "s", .flags = TL_KEY_OPTIONAL,
         .example = "0.05", .help = "length of an interval; otherwise `output.every`"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_output
static const tl_map output_map = {
    .title = "output",
    .size = sizeof(OWNER),
    .help = "What a run writes. Frames always hold position, id, radius, half axes, shape and "
            "material.",
    .keys = (const tl_key[]){{KEY(OWNER, frames, FLAG), .fallback = "true", .example = "false",
                              .help = "`false`: no frames, nor contacts or surfaces; history, "
                                      "probes, sinks and checkpoints are still written"},
                             {KEY(OWNER, every, NUMBER), POSITIVE, .unit = "s",
                              .flags = TL_KEY_OPTIONAL, .example = "0.02",
                              .help = "time between frames, and lines of history.csv; otherwise a "
                                      "hundredth of `until`, but at least one step"},
                             {KEY(OWNER, fields, WORDS), .words = &frame_fields,
                              .fallback = "[quaternion, velocity, spin]",
                              .example = "[velocity, contacts]",
                              .help = "what frames hold in addition"},
                             {0}}};
#undef OWNER

/* ---- the scene ------------------------------------------------------------------------------- */

#define OWNER talus_scene
const tl_map tl_schema_scene = {
    .title = "the scene",
    .size = sizeof(OWNER),
    .help = "The keys at the top of a scene file.",
    .keys = (const tl_key[]){
        {KEY(OWNER, talus, INTEGER), .range = {1, 1, false}, .example = "1",
         .help = "version of the format"},
        {KEY(OWNER, title, TEXT), .fallback = "\"\"", .example = "Rocks on a slope",
         .help = "one line on what this is"},
        {KEY(OWNER, gravity, NUMBERS), .count = 3, ANY, .unit = "m/s2", .fallback = "[0, 0, -9.81]",
         .example = "[0, 0, -1.62]", .help = "acceleration of free fall"},
        {KEY(OWNER, seed, INTEGER), .range = {0, 18446744073709551615.0, false}, .fallback = "0",
         .example = "2",
         .help = "changes the random numbers of every fill and emitter, to repeat an experiment; "
                 "0: each keeps its own seed"},
        {KEY(OWNER, until, MAP), .map = &tl_schema_until, .flags = TL_KEY_RUN, .example = "4.0",
         .help = "when the run ends"},
        {KEY(OWNER, step, MAP), .map = &tl_schema_step, .fallback = "{}",
         .example = "{kind: fixed, dt: 1e-3}", .help = "how time advances"},
        {KEY(OWNER, solve, MAP), .map = &tl_schema_solve, .fallback = "{}",
         .example = "{iterations: 100, tolerance: 1e-5}", .help = "how contacts become impulses"},
        {KEY(OWNER, broad, MAP), .map = &tl_schema_broad, .fallback = "{}", .example = "auto",
         .help = "how pairs are found"},
        {KEY(OWNER, narrow, MAP), .map = &tl_schema_narrow, .fallback = "{}",
         .example = "{ellipsoid: newton}", .help = "how pairs become contacts"},
        {KEY(OWNER, contact, MAP), .map = &tl_schema_contact, .fallback = "{}",
         .example = "{margin: 0.01}", .help = "how near bodies must be to make a contact"},
        {KEY(OWNER, sleep, MAP), .map = &tl_schema_sleep, .flags = TL_KEY_OPTIONAL,
         .example = "{speed: 1e-3, time: 0.5}",
         .help = "when bodies at rest are no longer computed"},
        {KEY(OWNER, domain, MAP), .map = &tl_schema_domain, .flags = TL_KEY_OPTIONAL,
         .example = "{box: [[0, 0, 0], [1, 1, 1]], periodic: [x]}",
         .help = "the part of space that is simulated"},
        {KEY(OWNER, materials, NAMED), .map = &material_map, .fallback = "{}",
         .example = "{rock: {density: 2600, friction: 0.6}}", .help = "materials by name"},
        {KEY(OWNER, pairs, LIST), .map = &pair_map, .fallback = "[]",
         .example = "[{materials: [rock, steel], friction: 0.2}]",
         .help = "values for two materials that touch"},
        {KEY(OWNER, shapes, NAMED), .map = &tl_schema_shape, .fallback = "{}",
         .example = "{grain: {sphere: 0.01}}", .help = "shapes by name"},
        {KEY(OWNER, bodies, LIST), .map = &tl_schema_body, .fallback = "[]",
         .example = "[{shape: grain, at: [0, 0, 1]}]", .help = "what is there at the start"},
        {KEY(OWNER, joints, LIST), .map = &tl_schema_joint, .fallback = "[]",
         .example = "[{kind: revolute, bodies: [ground, drum], at: [0, 0, 0], axis: [0, 1, 0]}]",
         .help = "joints between bodies"},
        {KEY(OWNER, ignore, LIST), .map = &ignore_map, .fallback = "[]",
         .example = "[[walls, gate]]", .help = "groups that do not collide"},
        {KEY(OWNER, emit, LIST), .map = &tl_schema_emitter, .fallback = "[]",
         .example = "[{shape: grain, rate: 100, from: {disc: {at: [0, 0, 2], radius: 0.2}}}]",
         .help = "bodies that appear"},
        {KEY(OWNER, sinks, LIST), .map = &sink_map, .fallback = "[]",
         .example = "[{in: {box: [[-9, -9, -9], [9, 9, -1]]}}]", .help = "where bodies disappear"},
        {KEY(OWNER, probes, LIST), .map = &probe_map, .flags = TL_KEY_RUN, .fallback = "[]",
         .example = "[{name: floor, body: floor, record: [force]}]", .help = "what is measured"},
        {KEY(OWNER, zones, LIST), .map = &tl_schema_zone, .flags = TL_KEY_OPTIONAL,
         .example = "[{name: pull, of: {group: gas}, radius: 1, force: {strength: -2, power: 2}}]",
         .help = "regions about places and bodies that push, reflect, count"},
        {KEY(OWNER, averages, LIST), .map = &tl_schema_average, .flags = TL_KEY_OPTIONAL,
         .example = "[{name: rz, grid: {radius: 10, z: [1, 64.4], cells: [20, 127]}, record: "
                    "[density, velocity], every: 1}]",
         .help = "fields that are averaged on grids"},
        {KEY(OWNER, output, MAP), .map = &output_map, .flags = TL_KEY_RUN, .fallback = "{}",
         .example = "{every: 0.02}", .help = "what the run writes"},
        {KEY(OWNER, quiet, WORDS), .words = &warnings, .flags = TL_KEY_RUN, .fallback = "[]",
         .example = "[overlap]",
         .help = "warnings to leave out, because what looks like a mistake is intended"},
        {KEY(OWNER, strict, WORDS), .words = &strict_words, .flags = TL_KEY_RUN, .fallback = "[]",
         .example = "[sinking]", .help = "warnings that become errors and end the run"},
        {0}}};
#undef OWNER

const tl_map *const tl_schema_maps[] = {&tl_schema_scene,
                                        &tl_schema_until,
                                        &tl_schema_step,
                                        &tl_schema_solve,
                                        &tl_schema_broad,
                                        &tl_schema_narrow,
                                        &tl_schema_contact,
                                        &tl_schema_sleep,
                                        &tl_schema_domain,
                                        &material_map,
                                        &pair_map,
                                        &tl_schema_shape,
                                        &tl_schema_superellipsoid,
                                        &tl_schema_turned,
                                        &tl_schema_funnel,
                                        &tl_schema_mesh,
                                        &tl_schema_body,
                                        &tl_schema_motion,
                                        &tl_schema_fill,
                                        &tl_schema_table,
                                        &tl_schema_press,
                                        &tl_schema_from,
                                        &tl_schema_selection,
                                        &tl_schema_change,
                                        &tl_schema_region,
                                        &ball_map,
                                        &cylinder_map,
                                        &size_map,
                                        &lognormal_map,
                                        &tl_schema_joint,
                                        &tl_schema_limits,
                                        &tl_schema_spring,
                                        &tl_schema_motor,
                                        &tl_schema_breaking,
                                        &ignore_map,
                                        &tl_schema_emitter,
                                        &source_map,
                                        &disc_map,
                                        &sink_map,
                                        &probe_map,
                                        &tl_schema_zone,
                                        &tl_schema_zone_of,
                                        &tl_schema_zone_force,
                                        &tl_schema_average,
                                        &tl_schema_grid,
                                        &output_map,
                                        NULL};
