/* Prescribed motion: `motion` of a body. */
#include "scene/schema_keys.h"

static const tl_words interpolations = {
    WORDS({"linear", 0, "linear from row to row"},
          {"smooth", 1, "cubic, so that the velocity is continuous"}),
    NULL};

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
