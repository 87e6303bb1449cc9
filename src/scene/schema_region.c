/* Regions, and distributions of sizes, of fills, emitters, sinks and probes. */
#include "scene/schema_keys.h"

const tl_words tl_schema_random = {WORDS({"random", 0, "every rotation equally likely"}), NULL};

static const tl_words shares = {
    WORDS({"number", 0, "of the number of bodies"}, {"mass", 1, "of their mass"}), NULL};

#define OWNER tl_scene_round
#define AT_KEY(what)                                                                               \
  KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .example = "[0, 0, 1]", .help = what
#define AXIS_KEY                                                                                   \
  KEY(OWNER, axis, NUMBERS), .count = 3, ANY, .fallback = "[0, 0, 1]", .example = "[0, 1, 0]",     \
                             .help = "direction of its axis, of any length"
#define RADIUS_KEY                                                                                 \
  KEY(OWNER, radius, NUMBER), POSITIVE, .unit = "m", .example = "0.5", .help = "its radius"
const tl_map tl_schema_ball = {.title = "sphere, as a region",
                               .size = sizeof(OWNER),
                               .help = "A region.",
                               .keys = (const tl_key[]){{AT_KEY("its centre")}, {RADIUS_KEY}, {0}}};
const tl_map tl_schema_cylinder = {
    .title = "cylinder, as a region",
    .size = sizeof(OWNER),
    .help = "A region.",
    .keys = (const tl_key[]){{AT_KEY("the middle of its axis")},
                             {AXIS_KEY},
                             {RADIUS_KEY},
                             {KEY(OWNER, length, NUMBER), POSITIVE, .unit = "m", .example = "1",
                              .help = "its full length along the axis"},
                             {0}}};
const tl_map tl_schema_disc = {
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
  KEY(OWNER, sphere, MAP), .map = &tl_schema_ball, .flags = TL_KEY_ONE_OF,                         \
                           .example = "{at: [0, 0, 1], radius: 0.5}", .help = "a ball"
#define CYLINDER_KEY                                                                               \
  KEY(OWNER, cylinder, MAP),                                                                       \
      .map = &tl_schema_cylinder, .flags = TL_KEY_ONE_OF,                                          \
      .example = "{at: [0, 0, 1], axis: [0, 0, 1], radius: 0.5, length: 2}", .help = "a cylinder"
const tl_map tl_schema_region = {
    .title = "a region",
    .size = sizeof(OWNER),
    .help = "A part of space: `in` of a fill or a sink, `region` of a probe or of a choice.",
    .keys = (const tl_key[]){{BOX_KEY, .flags = TL_KEY_ONE_OF}, {BALL_KEY}, {CYLINDER_KEY}, {0}}};
const tl_map tl_schema_source = {
    .title = "a region of an emitter",
    .size = sizeof(OWNER),
    .help = "Where the centres of emitted bodies appear: `from` of an emitter.",
    .keys = (const tl_key[]){
        {BOX_KEY "; the box may be flat", .flags = TL_KEY_ONE_OF | TL_KEY_FLAT},
        {BALL_KEY},
        {CYLINDER_KEY},
        {KEY(OWNER, disc, MAP), .map = &tl_schema_disc, .flags = TL_KEY_ONE_OF,
         .example = "{at: [0, 0, 4], radius: 0.5}", .help = "a flat disc"},
        {KEY(OWNER, points, POINTS), .count = 3, ANY, .unit = "m",
         .flags = TL_KEY_ONE_OF | TL_KEY_FULL, .expected = "up to 64 points [[x, y, z], ...], in m",
         .example = "[[0, 1, 0], [0, -1, 0]]",
         .help = "points, one after the other, and again from the first"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_lognormal
const tl_map tl_schema_lognormal = {
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
const tl_map tl_schema_size = {
    .title = "size",
    .size = sizeof(OWNER),
    .help = "Distribution of the scale of new bodies; at scale 1 a body has the size of its shape.",
    .keys = (const tl_key[]){
        {KEY(OWNER, uniform, NUMBERS), .count = 2, SCALE, .flags = TL_KEY_ONE_OF,
         .example = "[0.8, 1.2]", .help = "any size from the first to the second"},
        {KEY(OWNER, lognormal, MAP), .map = &tl_schema_lognormal, .flags = TL_KEY_ONE_OF,
         .example = "{median: 1, sigma: 0.2}", .help = "lognormal"},
        {KEY(OWNER, table, TABLE), .flags = TL_KEY_ONE_OF, .example = "[[0.5, 1], [1, 3]]",
         .help = "sizes, each with its share; shares need not add up to 1"},
        {KEY(OWNER, by, WORD), .words = &shares, .fallback = "number", .example = "mass",
         .help = "what the shares are of"},
        {0}}};
#undef OWNER
