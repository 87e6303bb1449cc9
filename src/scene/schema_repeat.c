/* Copies of a body. */
#include "scene/schema_keys.h"

#define OWNER tl_scene_repeat
const tl_map tl_schema_repeat = {
    .title = "repeat",
    .plural = "repeats",
    .size = sizeof(OWNER),
    .help =
        "Copies of a body. Copy k (0: the body itself) is turned k times by `turn` about an "
        "axis through `through`, with its velocity and spin, and then shifted by k times "
        "`shift`. Each entry of a list copies all that the ones before it made: rows, then "
        "layers of rows. A `name` is the group of all copies, if `group` is not given, and what "
        "`--set bodies.NAME.repeat.count=20` (in a list `repeat.0.count`) calls the entry; joints "
        "and probes cannot name a copy.",
    .keys = (const tl_key[]){
        {KEY(OWNER, count, INTEGER), .range = {1, 2e9, false}, .example = "20",
         .help = "how many there are, the body itself included"},
        {KEY(OWNER, shift, NUMBERS), .count = 3, ANY, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0.2, 0, 0]", .help = "from one to the next"},
        {KEY(OWNER, turn, ROTATION), .fallback = "[1, 0, 0, 0]",
         .example = "{axis: [0, 0, 1], degrees: 22.5}",
         .help = "[w, x, y, z] or {axis, degrees}: from one to the next"},
        {KEY(OWNER, through, NUMBERS), .count = 3, ANY, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0, 0.4, 0]", .help = "a point on the axis of `turn`"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_spread
const tl_map tl_schema_spread = {
    .title = "spread",
    .plural = "spreads",
    .size = sizeof(OWNER),
    .help =
        "Random differences between the copies of a body, along world axes: each component is "
        "shifted by a number between minus and plus this, uniformly. Entries with the same `seed` "
        "have the same numbers.",
    .keys = (const tl_key[]){
        {KEY(OWNER, at, NUMBERS), .count = 3, NOT_NEGATIVE, .unit = "m", .fallback = "[0, 0, 0]",
         .example = "[0, 0, 0.1]", .help = "of the position"},
        {KEY(OWNER, velocity, NUMBERS), .count = 3, NOT_NEGATIVE, .unit = "m/s",
         .fallback = "[0, 0, 0]", .example = "[0.5, 0, 0]", .help = "of the velocity"},
        {KEY(OWNER, spin, NUMBERS), .count = 3, NOT_NEGATIVE, .unit = "rad/s",
         .fallback = "[0, 0, 0]", .example = "[5, 5, 5]", .help = "of the angular velocity"},
        {SEED_KEY},
        {0}}};
#undef OWNER
