/* What concerns the library and no world: version, features, errors, defaults. */
#include "base/isa.h"
#include "base/memory.h"
#include <math.h>
#include <talus/talus.h>

#if TALUS_SINGLE
#define PRECISION "single"
#else
#define PRECISION "double"
#endif
#if TALUS_HAVE_OPENMP
#define OPENMP " openmp"
#else
#define OPENMP ""
#endif
#if TALUS_HAVE_YAML
#define YAML " yaml"
#else
#define YAML ""
#endif
#if TALUS_HAVE_HDF5
#define HDF5 " hdf5"
#else
#define HDF5 ""
#endif

const char *talus_version(void) { return TALUS_VERSION; }

const char *talus_features(void) { return PRECISION OPENMP YAML HDF5; }

const char *talus_instruction_set(void) { return tl_isa_name(tl_isa_now()); }

const char *talus_last_error(void) { return tl_last_message(); }

const char *talus_status_text(talus_status status) {
  static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
      TALUS_STATUS_LIST(STATUS_TEXT)
#undef STATUS_TEXT
  };
  return (unsigned)status < TALUS_STATUS_COUNT ? texts[status] : "unknown status";
}

void talus_memory(size_t *now, size_t *peak) {
  const tl_memory_counters counters = tl_memory_count();
  if (now)
    *now = counters.bytes;
  if (peak)
    *peak = counters.peak_bytes;
}

talus_shape_def talus_shape_def_default(void) {
  return (talus_shape_def){.kind = TALUS_SPHERE, .size = {0.5}};
}

talus_material_def talus_material_def_default(void) {
  return (talus_material_def){.density = 2600, .friction = 0.5, .young = 1e7, .poisson = 0.3};
}

talus_body_def talus_body_def_default(void) {
  return (talus_body_def){.rotation = {1, 0, 0, 0}, .scale = 1};
}

talus_world_def talus_world_def_default(void) {
  return (talus_world_def){
      .gravity = {0, 0, (talus_real)-9.81},
      .dt = 1e-3,
      .substeps = 1,
      .solve = {.reach = 1e-3,
                .tangential = 2.0 / 7.0,
                .slop = -1,
                .correction = 0.2,
                .friction = TALUS_FRICTION_NCP,
                .iterations = 50,
                .iterations_max = -1,
                .tolerance = -1,
                .warm_start = true,
                .recovery = 1,
                .recovery_speed = -1,
                .bounce_speed = -1,
                .omega = 0.3,
                .lambda = 1,
                .islands = true},
      .margin = -1,
      .sweep = true,
      .dt_min = 1e-8,
      .growth = 2,
      .implicit = {.iterations = 50, .tolerance = 0.01, .damping = TALUS_DAMPING_AUTO},
      .halo = -1,
      .sleep = {.time = 0.5},
  };
}

talus_fill_def talus_fill_def_default(void) {
  return (talus_fill_def){.body = talus_body_def_default()};
}

talus_emitter_def talus_emitter_def_default(void) {
  return (talus_emitter_def){.body = talus_body_def_default(), .until = INFINITY};
}
