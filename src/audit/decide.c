/* Flat bodies at a moment: whoever shares a place, though the narrow phase says that the two are
 * apart, overlaps. */
#include "audit/audit.h"
#include "audit/flat.h"

#include "narrow/advance.h"

#include <stdatomic.h>

/* Bodies share a place only if they still do when either is so much smaller or larger: what touches
 * is on either side by a rounding. */
#define SLACK (TALUS_SINGLE ? 1e-5 : 1e-6)

typedef struct decision {
  const tl_crowd *crowd;
  const tl_surface *surfaces; /* by shape */
  const tl_pairs *pairs;
  uint8_t *is_denied; /* by pair */
  _Atomic uint64_t decided;
  _Atomic int failed;            /* memory was missing */
  const volatile int *interrupt; /* NULL, or non-zero to stop */
} decision;

static bool is_flat(const tl_crowd *crowd, uint32_t slot) {
  return tl_flat_is(tl_body_shape(crowd->model, slot));
}

static talus_status place(const decision *job, uint32_t slot, talus_dvec3 at, double larger,
                          tl_flat *flat) {
  const tl_model *model = job->crowd->model;
  return tl_flat_place(
      flat, tl_body_shape(model, slot), &job->surfaces[model->property.shape[slot]],
      larger * (double)model->property.scale[slot], at, job->crowd->in->rotation[slot]);
}

/* The narrow phase's word. */
static bool overlap(const decision *job, tl_pair pair, talus_dvec3 apart) {
  const tl_model *model = job->crowd->model;
  const talus_quat *q = job->crowd->in->rotation;
  const tl_advance advance = {.a = {tl_body_shape(model, pair.a),
                                    model->property.scale[pair.a],
                                    {.rotation = tl_dquat_widen(q[pair.a])}},
                              .b = {tl_body_shape(model, pair.b),
                                    model->property.scale[pair.b],
                                    {.position = apart, .rotation = tl_dquat_widen(q[pair.b])}},
                              .h = 1};
  return tl_advance_gap(&advance, 0, 0) < 0;
}

static talus_status decide(const decision *job, tl_pair pair, tl_flat flats[2], bool *is_denied) {
  const talus_dvec3 *x = job->crowd->in->position, origin = {0, 0, 0},
                    apart = tl_model_offset(job->crowd->model, x[pair.a], x[pair.b]);
  *is_denied = true;
  for (int i = 0; i < 5 && *is_denied; ++i) {
    const double a = i == 0  ? 1
                     : i & 1 ? 1 - SLACK
                             : 1 + SLACK,
                 b = i == 0  ? 1
                     : i & 2 ? 1 - SLACK
                             : 1 + SLACK;
    TL_TRY(place(job, pair.a, origin, a, &flats[0]));
    TL_TRY(place(job, pair.b, apart, b, &flats[1]));
    *is_denied = tl_flats_share(&flats[0], &flats[1], job->interrupt) &&
                 (i > 0 || !overlap(job, pair, apart));
  }
  return TALUS_OK;
}

static void decide_range(void *context, size_t begin, size_t end) {
  decision *job = context;
  tl_flat flats[2] = {{0}, {0}};
  for (size_t i = begin; i < end && !(job->interrupt && *job->interrupt); ++i) {
    const tl_pair pair = job->pairs->data[i];
    bool is_denied = false;
    if (is_flat(job->crowd, pair.a) && is_flat(job->crowd, pair.b)) {
      if (decide(job, pair, flats, &is_denied) != TALUS_OK)
        atomic_store(&job->failed, 1);
      atomic_fetch_add(&job->decided, 1);
    }
    job->is_denied[i] = is_denied;
  }
  tl_flat_release(&flats[0]);
  tl_flat_release(&flats[1]);
}

static talus_status find_pairs(const tl_backend *backend, tl_crowd *crowd, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  talus_box *boxes;
  TL_TAKE(crowd->arena, crowd->count, &boxes);
  for (size_t i = 0; i < crowd->count; ++i)
    boxes[i] = tl_shape_bounds(tl_body_shape(model, i), (double)model->property.scale[i],
                               crowd->in->position[i], crowd->in->rotation[i]);
  const char *reason;
  const talus_broad_kind broad =
      model->broad == TALUS_BROAD_AUTO ? tl_broad_choose(crowd, boxes, &reason) : model->broad;
  TL_TRY(backend->find_pairs(broad, crowd, boxes, pairs));
  if (crowd->joints)
    tl_joints_keep_apart(crowd->joints, pairs);
  return TALUS_OK;
}

static talus_status run(decision *job, tl_surface *surfaces) {
  const tl_model *model = job->crowd->model;
  for (size_t i = 0; i < model->shapes.count; ++i)
    if (tl_flat_is(&model->shapes.data[i]))
      TL_TRY(tl_surface_make(&model->shapes.data[i], &surfaces[i]));
  tl_for(&model->par, job->pairs->count, 4, decide_range, job);
  return job->failed ? tl_fail(TALUS_ERROR_MEMORY, "out of memory for the corners of two bodies")
                     : TALUS_OK;
}

talus_status tl_audit_decide(tl_audit *audit, tl_crowd *crowd) {
  const tl_model *model = crowd->model;
  tl_pairs pairs = {0};
  decision job = {.crowd = crowd, .pairs = &pairs, .interrupt = audit->def->interrupt};
  tl_surface *surfaces;
  TL_TRY(find_pairs(audit->world->backend, crowd, &pairs));
  TL_TAKE(crowd->arena, pairs.count, &job.is_denied);
  TL_TAKE(crowd->arena, model->shapes.count, &surfaces);
  for (size_t i = 0; i < model->shapes.count; ++i)
    surfaces[i] = (tl_surface){0};
  job.surfaces = surfaces;
  const talus_status status = run(&job, surfaces);
  for (size_t i = 0; i < model->shapes.count; ++i)
    tl_surface_release(&surfaces[i]);
  TL_TRY(status);
  if (job.interrupt && *job.interrupt)
    return tl_fail(TALUS_INTERRUPTED, "stopped on request");
  audit->result->decided += job.decided;
  for (size_t i = 0; i < pairs.count; ++i)
    if (job.is_denied[i])
      tl_audit_note_overlap(audit, model, pairs.data[i], crowd->t0, 0);
  return TALUS_OK;
}
