/* What a run writes: `output`. */
#include "scene/schema_keys.h"

#include "output/output.h"

/* Every frame holds the fields without a bit; naming them is allowed. */
static const tl_words frame_fields = {
    WORDS({"quaternion", TL_FRAME_QUATERNION, "rotation"}, {"velocity", TL_FRAME_VELOCITY, "m/s"},
          {"spin", TL_FRAME_SPIN, "rad/s"},
          {"contacts", TL_FRAME_CONTACTS, "a file of contacts beside each frame"},
          {"surfaces", TL_FRAME_SURFACES, "a file of triangles beside each frame, for drawing"},
          {"id", 0, "always there"}, {"radius", 0, "always there"},
          {"half_axes", 0, "always there"}, {"shape", 0, "always there"},
          {"material", 0, "always there"}),
    NULL};

#define OWNER tl_scene_output
const tl_map tl_schema_output = {
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
