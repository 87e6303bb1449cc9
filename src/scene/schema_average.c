/* Averaged fields: `averages`. */
#include "scene/schema_keys.h"

static const tl_words quantities = {
    WORDS({"density", TALUS_AVERAGE_DENSITY, "kg/m3, and bodies per m3"},
          {"velocity", TALUS_AVERAGE_VELOCITY, "m/s: mean, weighted with the mass"},
          {"angle", TALUS_AVERAGE_ANGLE,
           "rad: direction of that velocity in the plane; of a box two angles"},
          {"temperature", TALUS_AVERAGE_TEMPERATURE,
           "J: k_B T of the motion of centres about that velocity"},
          {"pressure", TALUS_AVERAGE_PRESSURE, "Pa: of motion, of contacts, and both"},
          {"curl", TALUS_AVERAGE_CURL, "1/s: of that velocity"},
          {"divergence", TALUS_AVERAGE_DIVERGENCE, "1/s: of that velocity"},
          {"wall-pressure", TALUS_AVERAGE_WALL, "Pa, N: on each segment of `wall`"}),
    NULL};

static const tl_words planes = {
    WORDS({"yz", 0, "across x"}, {"xz", 1, "across y"}, {"xy", 2, "across z"}), NULL};

static const tl_words samples = {
    WORDS(
        {"step", 0, "every body at the end of each step"},
        {"event", 1,
         "every flight of hard spheres from collision to collision, weighted with its duration, in "
         "the cell of its middle; with step: event or shell: soft"}),
    NULL};

#define OWNER tl_scene_grid
#define SPAN(axis)                                                                                 \
  KEY(OWNER, axis, NUMBERS), .count = 2, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,               \
                             .example = "[1, 64.4]"
const tl_map tl_schema_grid = {
    .title = "a grid",
    .size = sizeof(OWNER),
    .help = "`grid` of an average: rings about an axis parallel to z (`radius`, `z`, two `cells`), "
            "one layer of cells (`plane`, `x`, `y`, `z`, two `cells`) or a box (`box`, three "
            "`cells`).",
    .keys = (const tl_key[]){
        {KEY(OWNER, radius, NUMBER), POSITIVE, .unit = "m", .flags = TL_KEY_ONE_OF, .example = "10",
         .help = "outer radius of the rings"},
        {KEY(OWNER, plane, WORD), .words = &planes, .flags = TL_KEY_ONE_OF, .example = "yz",
         .help = "the plane in which the cells lie"},
        {KEY(OWNER, box, BOX), ANY, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[[0, 0, 0], [1, 1, 2]]", .help = "a box that is divided along all three axes"},
        {KEY(OWNER, at, NUMBERS), .count = 2, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "[0.5, 0.5]", .help = "of rings: x and y of the axis; otherwise 0"},
        {SPAN(x), .help = "of a plane: its range along x"},
        {SPAN(y), .help = "of a plane: its range along y"},
        {SPAN(z), .help = "of a plane and of rings: the range along z"},
        {KEY(OWNER, cells, COUNTS), .count = 3, .range = {1, 1 << 24, false},
         .example = "[20, 127]",
         .help = "number of cells: along r and z, along the two axes of the plane, or along x, y "
                 "and z"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_average
const tl_map tl_schema_average = {
    .title = "an average",
    .plural = "averages",
    .size = sizeof(OWNER),
    .help =
        "An entry of `averages`: fields on a grid. For each cell and interval: means over the free "
        "bodies whose centre is in the cell, written to `fields/NAME/NNNNNN.hdf`.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_FILE, .example = "rz",
         .expected = "a name of letters, digits, `_`, `-` and `.`, as of a file",
         .help = "name of the folder that it writes to"},
        {KEY(OWNER, grid, MAP), .map = &tl_schema_grid,
         .example = "{radius: 10, z: [1, 64.4], cells: [20, 127]}", .help = "the cells"},
        {KEY(OWNER, record, WORDS), .words = &quantities, .flags = TL_KEY_FULL,
         .example = "[density, velocity]", .help = "what is averaged"},
        {KEY(OWNER, wall, NAME), .flags = TL_KEY_OPTIONAL, .expected = "the name of a body",
         .example = "nozzle", .help = "a revolved body, for `wall-pressure`"},
        {KEY(OWNER, sample, WORD), .words = &samples, .fallback = "step", .example = "event",
         .help = "what is counted"},
        {KEY(OWNER, every, NUMBER), POSITIVE, .unit = "s", .flags = TL_KEY_OPTIONAL, .example = "1",
         .help = "length of an interval; otherwise that of `output`"},
        {0}}};
#undef OWNER
