/* The tables of joints: see schema.c. */
#include "scene/schema_keys.h"

static const tl_words joint_kinds = {
    WORDS({"spherical", TALUS_JOINT_SPHERICAL, "one point: a ball joint"},
          {"revolute", TALUS_JOINT_REVOLUTE, "one point and the axis: a hinge"},
          {"prismatic", TALUS_JOINT_PRISMATIC, "all but sliding along the axis"},
          {"cylindrical", TALUS_JOINT_CYLINDRICAL, "the axis: slides along it, turns about it"},
          {"universal", TALUS_JOINT_UNIVERSAL, "one point, and two axes at right angles"},
          {"fixed", TALUS_JOINT_FIXED, "everything"},
          {"distance", TALUS_JOINT_DISTANCE, "the distance of two points: a rod, or a rope"},
          {"spring", TALUS_JOINT_SPRING, "nothing: a spring and damper between two points"},
          {"point-on-line", TALUS_JOINT_POINT_ON_LINE, "a point of b on a line of a"},
          {"point-on-plane", TALUS_JOINT_POINT_ON_PLANE, "a point of b in a plane of a"},
          {"gear", TALUS_JOINT_GEAR, "b turns `ratio` times as far as a"},
          {"rack", TALUS_JOINT_RACK, "b moves `ratio` metres for each radian of a"}),
    NULL};

#define OWNER tl_scene_limits
const tl_map tl_schema_limits = {
    .title = "limits",
    .size = sizeof(OWNER),
    .help = "Range of the free direction of a joint: the angle of a hinge in rad, the travel of a "
            "slider in m. 0 is the pose at the start (for a spring: distance 0). Values are of b "
            "relative to a: positive if b has turned about the axis by the right-hand rule, or "
            "moved along it.",
    .keys = (const tl_key[]){
        {KEY(OWNER, low, NUMBER), ANY, .unit = "rad or m", .flags = TL_KEY_OPTIONAL,
         .example = "-0.5", .help = "no less than this"},
        {KEY(OWNER, high, NUMBER), ANY, .unit = "rad or m", .flags = TL_KEY_OPTIONAL,
         .example = "0.5", .help = "no more than this"},
        {KEY(OWNER, restitution, NUMBER), .range = {0, 1, false}, .fallback = "0", .example = "0.3",
         .help = "speed after hitting a limit over the speed before"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_spring
const tl_map tl_schema_spring = {
    .title = "spring",
    .size = sizeof(OWNER),
    .help = "A spring and damper along or about the free direction. The scheme is of second order "
            "(without damping the amplitude stays) and stable for any stiffness; an oscillation "
            "that the step does not resolve (sqrt(stiffness/mass) dt > 2) is damped.",
    .keys = (const tl_key[]){
        {KEY(OWNER, stiffness, NUMBER), NOT_NEGATIVE, .unit = "N/m or N m/rad", .fallback = "0",
         .example = "1e4", .help = "force per length"},
        {KEY(OWNER, damping, NUMBER), NOT_NEGATIVE, .unit = "N s/m or N m s/rad", .fallback = "0",
         .example = "50", .help = "force over speed"},
        {KEY(OWNER, rest, NUMBER), ANY, .unit = "m or rad", .flags = TL_KEY_OPTIONAL,
         .example = "0.2", .help = "rest length or angle; otherwise that of the start"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_motor
const tl_map tl_schema_motor = {
    .title = "motor",
    .size = sizeof(OWNER),
    .help = "Drives b relative to a in the free direction. With a positive speed or torque b turns "
            "about the axis by the right-hand rule (or moves along it) as seen from a, and a the "
            "other way: `bodies: [ground, drum]` turns the drum about the axis, `[drum, ground]` "
            "turns it backwards.",
    .keys = (const tl_key[]){
        {KEY(OWNER, speed, COURSE), .count = 1, ANY, .unit = "rad/s or m/s", .flags = TL_KEY_ONE_OF,
         .example = "1.2", .help = "target speed: constant, or over time"},
        {KEY(OWNER, position, NUMBER), ANY, .unit = "rad or m", .flags = TL_KEY_ONE_OF,
         .example = "0.5", .help = "target angle or travel, reached by `stiffness` and `damping`"},
        {KEY(OWNER, force, COURSE), .count = 1, ANY, .unit = "N", .flags = TL_KEY_ONE_OF,
         .example = "200", .help = "with this force, likewise"},
        {KEY(OWNER, torque, COURSE), .count = 1, ANY, .unit = "N m", .flags = TL_KEY_ONE_OF,
         .example = "{ramp: [[0, 0], [2, 15]]}", .help = "with this torque, likewise"},
        {KEY(OWNER, max, NUMBER), POSITIVE, .unit = "N or N m", .flags = TL_KEY_OPTIONAL,
         .example = "40", .help = "largest torque or force of the motor; otherwise unlimited"},
        {KEY(OWNER, stiffness, NUMBER), POSITIVE, .unit = "N/m or N m/rad",
         .flags = TL_KEY_OPTIONAL, .example = "2000", .help = "of `position`, which needs it"},
        {KEY(OWNER, damping, NUMBER), NOT_NEGATIVE, .unit = "N s/m or N m s/rad", .fallback = "0",
         .example = "150", .help = "of `position`"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_breaking
const tl_map tl_schema_breaking = {
    .title = "break",
    .size = sizeof(OWNER),
    .help = "The largest load of a joint. With more it breaks, and is gone from the next step on; "
            "the log then has a line that begins with `event:`.",
    .keys = (const tl_key[]){{KEY(OWNER, force, NUMBER), POSITIVE, .unit = "N",
                              .flags = TL_KEY_OPTIONAL, .example = "500",
                              .help = "force at its "
                                      "anchor"},
                             {KEY(OWNER, torque, NUMBER), POSITIVE, .unit = "N m",
                              .flags = TL_KEY_OPTIONAL, .example = "20",
                              .help = "torque about its anchor"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_joint
const tl_map tl_schema_joint = {
    .title = "a joint",
    .plural = "joints",
    .size = sizeof(OWNER),
    .help = "An entry of `joints`: it connects two bodies, or a body and the ground. Points and "
            "directions are in world coordinates at the start. Joined bodies do not collide with "
            "each other.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL, .example = "hinge",
         .help = "its name in messages, probes and files; unique"},
        {KEY(OWNER, kind, WORD), .words = &joint_kinds, .example = "revolute",
         .help = "what it holds"},
        {KEY(OWNER, bodies, NAMES), .expected = "the names of two bodies, [A, B], or `ground`",
         .example = "[ground, drum]",
         .help = "a and b; the axis is attached to a; angles, travel and forces are those of b "
                 "relative to a"},
        {KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 1]", .help = "its anchor point; every kind but gear needs it"},
        {KEY(OWNER, to, NUMBERS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 2]",
         .help = "anchor on b, if it is another point: the far end of a rod or spring, or a point "
                 "to be moved to `at` (see assemble)"},
        {KEY(OWNER, axis, NUMBERS), .count = 3, ANY, .flags = TL_KEY_OPTIONAL,
         .example = "[0, 1, 0]",
         .help = "its direction, for kinds that have one: of the hinge, of the slide, normal to "
                 "the plane"},
        {KEY(OWNER, axis_b, NUMBERS), .count = 3, ANY, .flags = TL_KEY_OPTIONAL,
         .example = "[1, 0, 0]",
         .help = "direction on b: the second axis of a universal joint, the other gear's axis, the "
                 "direction of a rack; otherwise equal to `axis`"},
        {KEY(OWNER, length, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1.5", .help = "of a rod or rope; otherwise from `at` to `to`"},
        {KEY(OWNER, rope, FLAG), .fallback = "false", .example = "true",
         .help = "distance: may be shorter, not longer"},
        {KEY(OWNER, ratio, NUMBER), ANY, .flags = TL_KEY_OPTIONAL, .example = "-0.5",
         .help = "gear: turns of b per turn of a; rack: metres per radian"},
        {KEY(OWNER, about, FLAG), .fallback = "false", .example = "true",
         .help = "cylindrical: limits, spring and motor act on the angle, not on the travel"},
        {KEY(OWNER, limits, BOXED), .map = &tl_schema_limits, .flags = TL_KEY_OPTIONAL,
         .example = "{low: -0.5, high: 0.5}", .help = "range of the free direction"},
        {KEY(OWNER, spring, BOXED), .map = &tl_schema_spring, .flags = TL_KEY_OPTIONAL,
         .example = "{stiffness: 1e4, damping: 50}",
         .help = "spring and damper of the free direction"},
        {KEY(OWNER, motor, BOXED), .map = &tl_schema_motor, .flags = TL_KEY_OPTIONAL,
         .example = "{speed: 1.2, max: 40}", .help = "drives the free direction"},
        {.name = "break",
         .type = TL_TYPE_BOXED,
         .offset = offsetof(OWNER, breaking),
         .map = &tl_schema_breaking,
         .flags = TL_KEY_OPTIONAL,
         .example = "{force: 500}",
         .help = "load at which it breaks"},
        {KEY(OWNER, collide, FLAG), .fallback = "false", .example = "true",
         .help = "the two bodies may touch each other"},
        {KEY(OWNER, assemble, FLAG), .fallback = "false", .example = "true",
         .help = "anchors and axes need not coincide: bodies are moved together before the start"},
        {0}}};
#undef OWNER
