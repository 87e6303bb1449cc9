/* What appears, disappears and is measured: `emit`, `sinks`, `probes`. */
#include "scene/schema_keys.h"

static const tl_words inflows = {
    WORDS({"volume", TALUS_INFLOW_VOLUME, "Maxwell's distribution in a gas"},
          {"flux", TALUS_INFLOW_FLUX,
           "Maxwell's distribution of the particles that cross the disc along its axis"}),
    NULL};

static const tl_words arrivals = {
    WORDS({"regular", TALUS_ARRIVAL_REGULAR, "at intervals of 1/rate"},
          {"poisson", TALUS_ARRIVAL_POISSON, "at random times, independently of each other"}),
    NULL};

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
        {KEY(OWNER, from, MAP), .map = &tl_schema_source,
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
const tl_map tl_schema_sink = {
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
const tl_map tl_schema_probe = {
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
