/* Bodies of another run: the tables of `from`. */
#include "scene/schema_keys.h"

#define OWNER tl_scene_choice
#define CHOICE_KEYS                                                                                \
  {KEY(OWNER, names, LABELS), .flags = TL_KEY_OPTIONAL, .expected = "a list of names of bodies",   \
   .example = "[lid]", .help = "the bodies of these names"},                                       \
      {KEY(OWNER, groups, LABELS), .flags = TL_KEY_OPTIONAL, .expected = "a list of groups",       \
       .example = "[walls]", .help = "the bodies of these groups"},                                \
      {KEY(OWNER, materials, LABELS), .flags = TL_KEY_OPTIONAL,                                    \
       .expected = "a list of names of materials", .example = "[rock]",                            \
       .help = "the bodies of these materials, by their names in that run"},                       \
  {                                                                                                \
    KEY(OWNER, region, MAP), .map = &tl_schema_region, .flags = TL_KEY_OPTIONAL,                   \
                             .example = "{box: [[-1, -1, 0], [1, 1, 0.5]]}",                       \
                             .help = "the bodies whose centre is there"                            \
  }

const tl_map tl_schema_selection = {
    .title = "a choice of bodies",
    .plural = "choices of bodies",
    .size = sizeof(OWNER),
    .help = "`only` and `except` of bodies of another run. A body must match every key given, and "
            "one entry of each list. A name that no body of that run has is an error.",
    .keys = (const tl_key[]){CHOICE_KEYS, {0}}};

const tl_map tl_schema_change = {
    .title = "a change of bodies",
    .plural = "changes of bodies",
    .size = sizeof(OWNER),
    .help = "`change` of bodies of another run: which bodies, as in [a choice of "
            "bodies](#a-choice-of-bodies) (no key: all bodies), and their new values.",
    .keys = (const tl_key[]){
        CHOICE_KEYS,
        {KEY(OWNER, material, NAME), .flags = TL_KEY_OPTIONAL, .expected = "the name of a material",
         .example = "ice", .help = "a material of this scene; the mass stays as it was"},
        {KEY(OWNER, fixed, FLAG), .flags = TL_KEY_OPTIONAL, .example = "true",
         .help = "never moves; `false`: frees a body that was fixed or had a motion"},
        {KEY(OWNER, motion, LIST), .map = &tl_schema_motion,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "a motion {velocity, spin, amplitude, ...}, or a list of motions, which is "
                     "their sum",
         .example = "{velocity: [0, 0, 0.1]}", .help = "prescribed motion, from its present pose"},
        {KEY(OWNER, force, NUMBERS), .count = 3, ANY, .unit = "N", .flags = TL_KEY_OPTIONAL,
         .example = "[1, 0, 0]", .help = "constant force at the centre of mass"},
        {KEY(OWNER, torque, NUMBERS), .count = 3, ANY, .unit = "N m", .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 0.1]", .help = "constant torque, world axes"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_from
const tl_map tl_schema_from = {
    .title = "bodies of another run",
    .size = sizeof(OWNER),
    .help = "An entry of `bodies` with the key `from`: bodies, and the joints and contacts among "
            "them, as they are at the end of another run; time begins at 0. `materials` of the "
            "same name replace those of that run; a material that no body has is an error. "
            "Contacts keep their impulses and springs if the contact model is the same: a scene "
            "with the same settings and no change continues that run bit for bit. Emitters, sinks "
            "and probes are not taken over: copy `emit`, `sinks` and `probes` from that run's "
            "scene.yaml; emitters then start from their beginning.",
    .keys = (const tl_key[]){
        {KEY(OWNER, from, TEXT), .flags = TL_KEY_PATH, .expected = "a result folder",
         .example = "settled.out/", .help = "the folder, relative to the scene's"},
        {KEY(OWNER, name, NAME), .flags = TL_KEY_OPTIONAL, .example = "settled",
         .help = "what `--set bodies.NAME.key=value` calls this entry"},
        {KEY(OWNER, only, LIST), .map = &tl_schema_selection,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "a choice {names, groups, materials, region}, or a list of them",
         .example = "{groups: [grains]}", .help = "take only these bodies; a list is a union"},
        {KEY(OWNER, except, LIST), .map = &tl_schema_selection,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "a choice {names, groups, materials, region}, or a list of them",
         .example = "{names: [lid]}", .help = "leave out these bodies"},
        {KEY(OWNER, change, LIST), .map = &tl_schema_change,
         .flags = TL_KEY_OPTIONAL | TL_KEY_SINGLE,
         .expected = "a change {names, ..., material, fixed, motion, force, torque}, or a list of "
                     "them",
         .example = "{names: [gate], motion: {velocity: [0, 0, 0.1]}}",
         .help = "changes to some or all of them; a later change overrides an earlier one"},
        {0}}};
#undef OWNER
