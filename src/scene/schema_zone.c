/* Zones: `zones`. */
#include "scene/schema_keys.h"

static const tl_words shells = {
    WORDS({"open", TALUS_ZONE_OPEN, "bodies pass"},
          {"hard", TALUS_ZONE_HARD,
           "a body that is inside at the end of a step and approaches is reflected"},
          {"soft", TALUS_ZONE_SOFT, "the same, from the moment at which it entered"}),
    NULL};

#define OWNER tl_scene_zone_of
const tl_map tl_schema_zone_of = {
    .title = "the centres of a zone",
    .size = sizeof(OWNER),
    .help = "`of` of a zone: there is a ball about each of its centres.",
    .keys = (const tl_key[]){
        {KEY(OWNER, group, NAME), .flags = TL_KEY_ONE_OF, .expected = "the name of a group",
         .example = "gas", .help = "every free body of the group"},
        {KEY(OWNER, body, NAME), .flags = TL_KEY_ONE_OF, .expected = "the name of a body",
         .example = "planet", .help = "a body, until it is removed"},
        {KEY(OWNER, at, NUMBERS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[0, 0, 1]", .help = "a place"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_zone_force
const tl_map tl_schema_zone_force = {
    .title = "the force of a zone",
    .size = sizeof(OWNER),
    .help =
        "`force` of a zone: strength (1 - r/radius)^power at the distance r, on the body, and the "
        "opposite force on the centre. Its potential is `zone_energy` of history.csv.",
    .keys = (const tl_key[]){{KEY(OWNER, strength, NUMBER), ANY, .unit = "N", .example = "-2",
                              .help = "at the centre; positive pushes away, negative pulls"},
                             {KEY(OWNER, power, NUMBER), .range = {0, 1000, false}, .fallback = "1",
                              .example = "2", .help = "how fast it falls to 0 at the radius"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_zone
const tl_map tl_schema_zone = {
    .title = "a zone",
    .plural = "zones",
    .size = sizeof(OWNER),
    .help =
        "An entry of `zones`: a ball about each centre. At the end of every step it acts on free "
        "bodies whose centre is in it, with every solver. `probes/NAME.csv` has the bodies that "
        "are inside, enter and leave.",
    .keys = (const tl_key[]){
        {KEY(OWNER, name, NAME), .flags = TL_KEY_FILE, .example = "pull",
         .expected = "a name of letters, digits, `_`, `-` and `.`, as of a file",
         .help = "name of the file that it writes; no probe may have it"},
        {KEY(OWNER, of, MAP), .map = &tl_schema_zone_of, .example = "{group: gas}",
         .help = "its centres"},
        {KEY(OWNER, with, NAME), .flags = TL_KEY_OPTIONAL, .expected = "the name of a group",
         .example = "gas",
         .help = "the group that it acts on; otherwise that of its centres, or all free bodies"},
        {KEY(OWNER, radius, NUMBER), POSITIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1",
         .help =
             "required: of the ball, where its force ends; at most half a period of the domain"},
        {KEY(OWNER, force, MAP), .map = &tl_schema_zone_force, .flags = TL_KEY_OPTIONAL,
         .example = "{strength: -2, power: 2}", .help = "pulls or pushes"},
        {KEY(OWNER, shell, WORD), .words = &shells, .fallback = "open", .example = "soft",
         .help = "whether bodies bounce off, without loss"},
        {KEY(OWNER, boundary, FLAG), .fallback = "false", .example = "true",
         .help = "of a place or a body: bodies inside stay inside"},
        {KEY(OWNER, trigger, FLAG), .fallback = "false", .example = "true",
         .help = "counts bodies that enter and leave, and measures how long they stay"},
        {KEY(OWNER, every, NUMBER), POSITIVE, .unit = "s", .flags = TL_KEY_OPTIONAL,
         .example = "0.1", .help = "length of an interval; otherwise that of `output`"},
        {0}}};
#undef OWNER
