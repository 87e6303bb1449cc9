/* Probes: probes/NAME.csv, one line per interval with the means over it. */
#include <math.h>
#include <unistd.h>

#include "base/hash.h"
#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

/* ---- what is recorded ------------------------------------------------------------------------ */

typedef struct column {
  uint32_t record;
  const char *head;
  size_t offset; /* of the first number within talus_probe_values */
  int count;
} column;

#define COLUMN(bit, head, member, count)                                                           \
  { TALUS_RECORD_##bit, head, offsetof(talus_probe_values, member), count }
static const column columns[] = {
    COLUMN(FORCE, ",fx,fy,fz", force, 3),
    COLUMN(TORQUE, ",tx,ty,tz", torque, 3),
    COLUMN(MASS_FLOW, ",mass_flow_x,mass_flow_y,mass_flow_z", mass_flow, 3),
    COLUMN(COUNT, ",count", count, 1),
    COLUMN(ENERGY, ",energy", energy, 1),
    COLUMN(POSITION, ",x,y,z", position, 3),
    COLUMN(ROTATION, ",qw,qx,qy,qz", rotation, 4),
    COLUMN(VELOCITY, ",vx,vy,vz", velocity, 3),
    COLUMN(SPIN, ",wx,wy,wz", spin, 3),
    COLUMN(STRESS, ",sxx,syy,szz,sxy,sxz,syz", stress, 6),
    COLUMN(STRESS, ",kxx,kyy,kzz,kxy,kxz,kyz", kinetic_stress, 6),
    COLUMN(SOLID_FRACTION, ",solid_fraction", solid_fraction, 1),
    COLUMN(COORDINATION, ",coordination", coordination, 1),
};
#undef COLUMN
#define COLUMNS (sizeof columns / sizeof *columns)

/* count_below_0.01,count_0.01_0.02,count_from_0.02 */
static void format_sizes(const tl_scene_probe_plan *plan, tl_text *text) {
  for (size_t i = 0; plan->size_count > 0 && i <= plan->size_count; ++i) {
    tl_text_add(text, i == 0 ? ",count_below_" : i < plan->size_count ? ",count_" : ",count_from_");
    tl_text_add_number(text, plan->sizes[i == 0 ? 0 : i - 1]);
    if (i > 0 && i < plan->size_count) {
      tl_text_add(text, "_");
      tl_text_add_number(text, plan->sizes[i]);
    }
  }
}

static void format_head(const tl_run_probe *probe, tl_text *text) {
  tl_text_add(text, "from,to");
  for (size_t i = 0; i < COLUMNS; ++i)
    if (probe->plan.record & columns[i].record)
      tl_text_add(text, "%s", columns[i].head);
  format_sizes(&probe->plan, text);
  tl_text_add(text, "\n");
}

/* Times of the grid, steps x dt, have a rounding error in their last digits: 35 x 0.01 is
 * 0.35000000000000003. */
void tl_run_probe_edges(tl_text *text, double from, double to) {
  tl_text_add(text, "%.15g,%.15g", from, to);
}

static void format_line(const tl_run_probe *probe, const talus_probe_values *values,
                        tl_text *text) {
  tl_run_probe_edges(text, values->from, values->to);
  for (size_t i = 0; i < COLUMNS; ++i)
    for (int k = 0; (probe->plan.record & columns[i].record) && k < columns[i].count; ++k) {
      double value;
      memcpy(&value, (const char *)values + columns[i].offset + (size_t)k * sizeof value,
             sizeof value);
      tl_text_add(text, ",");
      tl_text_add_number(text, value);
    }
  for (size_t i = 0; probe->plan.size_count > 0 && i <= probe->plan.size_count; ++i) {
    tl_text_add(text, ",");
    tl_text_add_number(text, values->counts[i]);
  }
  tl_text_add(text, "\n");
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void add_round(tl_text *text, const tl_scene_round *round) {
  for (int k = 0; k < 3; ++k) {
    tl_text_add_number(text, round->at[k]);
    tl_text_add(text, " ");
    tl_text_add_number(text, round->axis[k]);
    tl_text_add(text, " ");
  }
  tl_text_add_number(text, round->radius);
  tl_text_add(text, " ");
  tl_text_add_number(text, round->length);
  tl_text_add(text, ";");
}

/* A probe continues its file only if all of these are unchanged. The interval may change, as each
 * line has its own; `is_old`: runs of before that could not. */
static talus_status define(const tl_scene_probe *probe, const tl_scene_probe_plan *plan,
                           bool is_old, uint64_t *hash) {
  tl_text text = {0};
  tl_text_add(&text, "%s;%s;%u;", plan->name, probe->body ? probe->body : "",
              (unsigned)plan->record);
  if (probe->joint)
    tl_text_add(&text, "joint %s;", probe->joint);
  if (is_old)
    tl_text_add_number(&text, plan->every);
  tl_text_add(&text, ";");
  for (size_t i = 0; i < plan->size_count; ++i) {
    tl_text_add_number(&text, plan->sizes[i]);
    tl_text_add(&text, " ");
  }
  if (!probe->body) {
    for (int k = 0; k < 6; ++k) {
      tl_text_add_number(&text, probe->region.box[k]);
      tl_text_add(&text, " ");
    }
    add_round(&text, &probe->region.sphere);
    add_round(&text, &probe->region.cylinder);
    add_round(&text, &probe->region.disc);
  }
  const talus_status status = text.status;
  if (status == TALUS_OK)
    *hash = tl_xxh64(text.data, text.count, 0);
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_probes_plan(tl_run *run) {
  const size_t n = tl_scene_probe_count(run->scene);
  TL_TRY(tl_array_reserve(&run->probes, n));
  const tl_scene_probe *told = run->scene->probes.data;
  for (size_t i = 0; i < n; ++i) {
    tl_run_probe probe = {.plan = tl_scene_get_probe(run->scene, i), .lines = {.fd = -1}};
    TL_TRY(define(&told[i], &probe.plan, false, &probe.definition));
    TL_TRY(define(&told[i], &probe.plan, true, &probe.old_definition));
    run->probes.data[run->probes.count++] = probe;
  }
  return TALUS_OK;
}

/* ---- files ----------------------------------------------------------------------------------- */

static talus_status open_one(tl_run *run, tl_run_probe *probe, uint64_t keep) {
  TL_TRY(tl_lines_open(&probe->lines, run->folder, run->folder_bytes + 1,
                       tl_run_path(run, "probes/%s.csv", probe->plan.name), keep));
  if (keep > 0)
    return TALUS_OK;
  tl_text text = {0};
  format_head(probe, &text);
  talus_status status = text.status;
  if (status == TALUS_OK)
    status = tl_lines_add(&probe->lines, text.data, text.count);
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_probes_open(tl_run *run, const uint64_t *keep) {
  if (run->probes.count == 0)
    return TALUS_OK;
  int folder;
  TL_TRY(tl_run_make_folder(run, "probes", &folder));
  talus_status status = TALUS_OK;
  for (size_t i = 0; status == TALUS_OK && i < run->probes.count; ++i)
    status = open_one(run, &run->probes.data[i], keep ? keep[i] : 0);
  if (status == TALUS_OK)
    status = tl_folder_sync(folder, tl_run_path(run, "probes"));
  close(folder);
  return status;
}

/* Adaptive and local steps end on k * every itself, others at the step nearest to it. */
static bool is_due(const tl_run *run, size_t i) {
  const talus_world *world = run->world;
  return tl_step_is_free(&world->model)
             ? tl_world_probe_is_due(world, i, world->flow.probes.data[i].from)
             : tl_run_is_due(run->probes.data[i].plan.every, run->dt, talus_world_steps(world));
}

talus_status tl_run_probes_add(tl_run *run, bool all) {
  for (size_t i = 0; i < run->probes.count; ++i) {
    tl_run_probe *probe = &run->probes.data[i];
    if (run->world->flow.probes.data[i].weight <= 0 || !(all || is_due(run, i)))
      continue;
    talus_probe_values values;
    TL_TRY(talus_probe_read(run->world, (uint32_t)i, &values));
    tl_text text = {0};
    format_line(probe, &values, &text);
    talus_status status = text.status;
    if (status == TALUS_OK)
      status = tl_lines_add(&probe->lines, text.data, text.count);
    tl_text_drop(&text);
    TL_TRY(status);
  }
  return TALUS_OK;
}

talus_status tl_run_probes_sync(tl_run *run) {
  for (size_t i = 0; i < run->probes.count; ++i)
    TL_TRY(tl_lines_sync(&run->probes.data[i].lines));
  return TALUS_OK;
}

/* ---- going on with other probes -------------------------------------------------------------- */

/* Whether adaptive steps end at other times with this interval than without it. */
static bool cuts_steps(const tl_run *run, double every) {
  const double ratio = every / run->dt;
  return every > 0 && fabs(ratio - floor(ratio + 0.5)) > 1e-9 * ratio;
}

/* A run with adaptive steps is repeated from its scene (audits): what decides how long steps are
 * cannot change on the way. */
static talus_status check_ends(tl_run *run) {
  const tl_flow *flow = &run->world->flow;
  size_t now = 0, kept = 0, before = 0;
  if (!tl_step_is_free(&run->world->model))
    return TALUS_OK;
  for (size_t i = 0; i < flow->probes.count; ++i)
    before += cuts_steps(run, flow->probes.data[i].every);
  for (size_t i = 0; i < run->probes.count; ++i) {
    const double every = run->probes.data[i].plan.every;
    bool found = false;
    for (size_t k = 0; k < flow->probes.count; ++k)
      found = found || flow->probes.data[k].every == every;
    now += cuts_steps(run, every);
    kept += found && cuts_steps(run, every);
  }
  return now == kept && now == before
             ? TALUS_OK
             : tl_fail(TALUS_ERROR_INVALID,
                       "%s: adaptive steps end where intervals of probes do, and these changed; "
                       "leave those that are no multiple of %g s as they were",
                       tl_run_folder(run), run->dt);
}

talus_status tl_run_probes_adopt(tl_run *run, const size_t *old) {
  for (int pass = 0; pass < 2; ++pass) {
    for (size_t i = 0; i < run->world->flow.probes.count; ++i)
      for (size_t k = 0; k < run->probes.count; ++k) {
        double *every = &run->world->flow.probes.data[i].every;
        if (old[k] == i && (pass > 0 || *every == 0)) /* 0: a file of before format 12 */
          *every = run->probes.data[k].plan.every;
      }
    if (pass == 0)
      TL_TRY(check_ends(run));
  }
  bool same = run->world->flow.probes.count == run->probes.count;
  for (size_t i = 0; i < run->probes.count; ++i)
    same = same && old[i] == i;
  if (same)
    return TALUS_OK;
  /* Only the scene knows how a probe is defined. Uids are the same in every world built from one
   * scene. */
  talus_world *made;
  TL_TRY(talus_scene_build(run->scene, run->def->threads, NULL, NULL, &made));
  tl_flow *flow = &run->world->flow, *fresh = &made->flow;
  const double now = talus_world_time(run->world);
  for (size_t i = 0; i < fresh->probes.count; ++i) {
    tl_probe *probe = &fresh->probes.data[i];
    probe->from = now;
    if (old[i] < flow->probes.count) {
      const tl_probe swapped = *probe;
      *probe = flow->probes.data[old[i]];
      flow->probes.data[old[i]] = swapped;
    }
  }
  const tl_flow before = *flow;
  flow->probes = fresh->probes;
  fresh->probes = before.probes;
  talus_world_destroy(made);
  return TALUS_OK;
}

#endif
