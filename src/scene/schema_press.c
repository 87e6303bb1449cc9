/* A plate that presses. */
#include "scene/schema_keys.h"

#define OWNER tl_scene_press
const tl_map tl_schema_press = {
    .title = "press",
    .plural = "presses",
    .size = sizeof(OWNER),
    .help = "`press` makes a free body a loading plate. It moves along the axis, at `max_speed` at "
            "most, until the bodies it touches push back with the given force; then it holds that "
            "force and moves as needed. Its own weight does not count. It neither rotates nor "
            "moves sideways. With ccp and impulse it is a prismatic joint with a motor (and "
            "without a name); with penalty it is a force, limited so that `max_speed` holds.",
    .keys = (const tl_key[]){
        {KEY(OWNER, axis, NUMBERS), .count = 3, ANY, .example = "[0, 0, -1]",
         .help = "direction in which it presses; penalty: along x, y or z"},
        {KEY(OWNER, force, COURSE), .count = 1, NOT_NEGATIVE, .unit = "N", .flags = TL_KEY_ONE_OF,
         .example = "500", .help = "with this force: constant, or over time"},
        {KEY(OWNER, pressure, COURSE), .count = 1, NOT_NEGATIVE, .unit = "Pa",
         .flags = TL_KEY_ONE_OF, .example = "{ramp: [[0, 0], [1, 1e5]]}",
         .help = "or with this pressure on `area`"},
        {KEY(OWNER, area, NUMBER), POSITIVE, .unit = "m2", .flags = TL_KEY_OPTIONAL,
         .example = "0.04",
         .help =
             "that `pressure` acts on; otherwise that of the box or cylinder, seen along the axis"},
        {KEY(OWNER, max_speed, NUMBER), POSITIVE, .unit = "m/s", .example = "0.1",
         .help = "its largest speed"},
        {0}}};
#undef OWNER
