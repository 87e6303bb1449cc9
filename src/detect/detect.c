/* Pairs and contacts of plain arrays: runs the stages of a world without a world. */
#include "detect/detect.h"
#include "base/clock.h"

#include <math.h>

#include "broad/broad.h"
#include "broad/images.h"
#include "narrow/narrow.h"
#include "shape/shape.h"

#define GRAIN ((size_t)4096) /* rows for which a thread is woken */

/* ---- names --------------------------------------------------------------------------------- */

const char *talus_broad_name(talus_broad_kind kind) {
  const char *name = tl_broad_name(kind);
  return strcmp(name, "unknown") == 0 ? NULL : name;
}

talus_status talus_broad_by_name(const char *name, talus_broad_kind *kind) {
  TL_NEED(name);
  TL_NEED(kind);
  char names[160] = "";
  for (int k = 0; talus_broad_name((talus_broad_kind)k); ++k) {
    const char *candidate = talus_broad_name((talus_broad_kind)k);
    if (strcmp(candidate, name) == 0) {
      *kind = (talus_broad_kind)k;
      return TALUS_OK;
    }
    if (strlen(names) + strlen(candidate) + 3 < sizeof names) {
      strcat(names, k > 0 ? ", " : "");
      strcat(names, candidate);
    }
  }
  return tl_fail(TALUS_ERROR_INVALID, "'%s' is not a broad phase: these are %s", name, names);
}

static const char *const ellipsoid_methods[] = {[TALUS_ELLIPSOID_NEWTON] = "newton",
                                                [TALUS_ELLIPSOID_OPM] = "opm",
                                                [TALUS_ELLIPSOID_CHM_OPM] = "chm+opm"};

const char *talus_ellipsoid_method_name(talus_ellipsoid_method method) {
  return (unsigned)method <= TALUS_ELLIPSOID_CHM_OPM ? ellipsoid_methods[method] : NULL;
}

talus_status talus_ellipsoid_method_by_name(const char *name, talus_ellipsoid_method *method) {
  TL_NEED(name);
  TL_NEED(method);
  for (int k = 0; k <= TALUS_ELLIPSOID_CHM_OPM; ++k)
    if (strcmp(ellipsoid_methods[k], name) == 0) {
      *method = (talus_ellipsoid_method)k;
      return TALUS_OK;
    }
  return tl_fail(TALUS_ERROR_INVALID,
                 "'%s' is not a method for ellipsoids: these are newton, opm, chm+opm", name);
}

static const char *const triangle_methods[] = {[TALUS_TRIANGLE_COMPARISON] = "comparison",
                                               [TALUS_TRIANGLE_CERTIFIED] = "certified",
                                               [TALUS_TRIANGLE_ITERATIVE] = "iterative",
                                               [TALUS_TRIANGLE_HYBRID] = "hybrid"};
static const char *const tree_kinds[] = {
    [TALUS_TREE_BVH] = "bvh", [TALUS_TREE_FLAT] = "flat", [TALUS_TREE_SURROGATE] = "surrogate"};

/* Row of a name; `count` if there is none. */
static int find_name(const char *const *names, int count, const char *name) {
  int k = 0;
  while (k < count && strcmp(names[k], name) != 0)
    ++k;
  return k;
}

const char *talus_triangle_method_name(talus_triangle_method method) {
  return (unsigned)method <= TALUS_TRIANGLE_HYBRID ? triangle_methods[method] : NULL;
}

talus_status talus_triangle_method_by_name(const char *name, talus_triangle_method *method) {
  TL_NEED(name);
  TL_NEED(method);
  const int k = find_name(triangle_methods, TALUS_TRIANGLE_HYBRID + 1, name);
  if (k > TALUS_TRIANGLE_HYBRID)
    return tl_fail(TALUS_ERROR_INVALID,
                   "'%s' is not a method for triangles: these are comparison, certified, "
                   "iterative, hybrid",
                   name);
  *method = (talus_triangle_method)k;
  return TALUS_OK;
}

const char *talus_tree_kind_name(talus_tree_kind kind) {
  return (unsigned)kind <= TALUS_TREE_SURROGATE ? tree_kinds[kind] : NULL;
}

talus_status talus_tree_kind_by_name(const char *name, talus_tree_kind *kind) {
  TL_NEED(name);
  TL_NEED(kind);
  const int k = find_name(tree_kinds, TALUS_TREE_SURROGATE + 1, name);
  if (k > TALUS_TREE_SURROGATE)
    return tl_fail(TALUS_ERROR_INVALID, "'%s' is not a tree: these are bvh, flat, surrogate", name);
  *kind = (talus_tree_kind)k;
  return TALUS_OK;
}

/* ---- a detector ---------------------------------------------------------------------------- */

talus_detect_def talus_detect_def_default(void) {
  return (talus_detect_def){.broad = TALUS_BROAD_AUTO};
}

static talus_status check_domain(const talus_domain_def *domain) {
  const talus_box *box = &domain->box;
  const double lo[3] = {box->lo.x, box->lo.y, box->lo.z};
  const double hi[3] = {box->hi.x, box->hi.y, box->hi.z};
  for (int k = 0; k < 3; ++k)
    if (domain->enabled && domain->periodic[k] &&
        !(tl_is_finite_d(lo[k]) && tl_is_finite_d(hi[k] - lo[k]) && lo[k] < hi[k]))
      return tl_fail(TALUS_ERROR_INVALID,
                     "the domain goes from %g to %g along %c; a period is finite and more than 0",
                     lo[k], hi[k], "xyz"[k]);
  return TALUS_OK;
}

static talus_status check_def(const talus_detect_def *def) {
  if (!talus_broad_name(def->broad))
    return tl_fail(TALUS_ERROR_INVALID, "broad phase %d does not exist", (int)def->broad);
  if (!(def->margin >= 0) || !tl_is_finite_d(def->margin))
    return tl_fail(TALUS_ERROR_INVALID, "the margin is %g; it must be finite and 0 or more",
                   def->margin);
  if (!talus_ellipsoid_method_name(def->narrow.ellipsoid))
    return tl_fail(TALUS_ERROR_INVALID, "method %d for ellipsoids does not exist",
                   (int)def->narrow.ellipsoid);
  if ((unsigned)def->narrow.tree > TALUS_TREE_SURROGATE ||
      (unsigned)def->narrow.triangle > TALUS_TRIANGLE_HYBRID ||
      (unsigned)def->narrow.fusion > TALUS_FUSION_THESIS)
    return tl_fail(TALUS_ERROR_INVALID,
                   "narrow.tree, triangle and fusion are %d, %d and %d; expected a TALUS_TREE_..., "
                   "TALUS_TRIANGLE_... and TALUS_FUSION_...",
                   (int)def->narrow.tree, (int)def->narrow.triangle, (int)def->narrow.fusion);
  if (!talus_backend_name(def->backend))
    return tl_fail(TALUS_ERROR_INVALID, "backend %d does not exist", (int)def->backend);
  if (def->threads < 0 || def->threads > 4096)
    return tl_fail(TALUS_ERROR_INVALID, "threads is %d; expected 0 (all cores) to 4096",
                   def->threads);
  if (def->pieces < 0 || def->pieces > 1000000)
    return tl_fail(TALUS_ERROR_INVALID, "pieces is %d; expected 0 or 1 (all at once) to 1000000",
                   def->pieces);
  if (def->pieces > 1 && def->memory == TALUS_ON_DEVICE)
    return tl_fail(TALUS_ERROR_INVALID,
                   "pieces come home: memory is TALUS_ON_DEVICE, where pieces is 0 or 1");
  if ((unsigned)def->memory > TALUS_ON_DEVICE)
    return tl_fail(TALUS_ERROR_INVALID, "memory %d does not exist", (int)def->memory);
  if (def->memory == TALUS_ON_DEVICE && def->backend == TALUS_BACKEND_CPU)
    return tl_fail(TALUS_ERROR_INVALID, "memory is TALUS_ON_DEVICE, and the backend cpu has no "
                                        "device: use check or cuda");
  return check_domain(&def->domain);
}

static talus_status set_up(const talus_detect_def *def, talus_detector *detector) {
  *detector = (talus_detector){.def = def ? *def : talus_detect_def_default()};
  TL_TRY(check_def(&detector->def));
  detector->model.broad = detector->def.broad;
  detector->model.narrow = detector->def.narrow;
  detector->model.domain = detector->def.domain;
  detector->model.par.threads =
      detector->def.threads > 0 ? detector->def.threads : tl_par_default_threads();
  return TALUS_OK;
}

static void tear_down(talus_detector *detector) {
  tl_detect_close_device(detector);
  for (size_t i = 0; i < detector->model.shapes.count; ++i)
    tl_shape_release(&detector->model.shapes.data[i]);
  tl_array_free(&detector->model.shapes);
  tl_array_free(&detector->found);
  tl_array_free(&detector->contacts);
  tl_array_free(&detector->prints);
  tl_arena_free(&detector->arena);
}

talus_status talus_detector_create(const talus_detect_def *def, talus_detector **detector) {
  TL_NEED(detector);
  talus_detector made;
  void *block = NULL;
  *detector = NULL;
  TL_TRY(set_up(def, &made));
  TL_TRY(tl_resize(&block, 0, sizeof made));
  *detector = memcpy(block, &made, sizeof made);
  return TALUS_OK;
}

void talus_detector_destroy(talus_detector *detector) {
  if (!detector)
    return;
  tear_down(detector);
  void *block = detector;
  (void)tl_resize(&block, sizeof *detector, 0);
}

/* ---- pairs --------------------------------------------------------------------------------- */

/* One call in progress. */
typedef struct search {
  talus_detector *detector;
  tl_crowd crowd;
  const talus_box *boxes;
  tl_pairs pairs;
  talus_detect_stats stats;
} search;

static talus_status begin(talus_detector *detector, size_t n, search *job) {
  *job = (search){.detector = detector};
  TL_TRY(tl_arena_reset(&detector->arena));
  job->crowd = (tl_crowd){.model = &detector->model,
                          .count = n,
                          .in = &detector->state,
                          .out = &detector->state,
                          .arena = &detector->arena,
                          .counts = &detector->counts};
  detector->counts = (tl_narrow_counts){0};
  detector->before = (tl_device_counters){0};
  if (tl_detect_is_lent(detector))
    TL_TRY(tl_detect_open_device(detector));
  if (detector->device)
    detector->before = detector->device->count;
  return TALUS_OK;
}

/* Finds the pairs of job->boxes, in order. */
static talus_status find_pairs(search *job) {
  const tl_model *model = &job->detector->model;
  const double begun = 1e3 * tl_clock();
  job->stats.broad = model->broad;
  job->stats.threads = model->par.threads;
  if (model->broad == TALUS_BROAD_AUTO)
    job->stats.broad = tl_broad_choose(&job->crowd, job->boxes, &job->stats.reason);
  TL_TRY(tl_broad_find_unsorted(job->stats.broad, &job->crowd, job->boxes, &job->pairs));
  const double found = 1e3 * tl_clock();
  TL_TRY(tl_broad_sort_pairs(model, job->crowd.arena, &job->pairs));
  job->stats.broad_ms = found - begun;
  job->stats.sort_ms = 1e3 * tl_clock() - found;
  job->stats.pairs = job->stats.candidates = job->pairs.count;
  return TALUS_OK;
}

static talus_status find_pairs_anywhere(search *job) {
  talus_detector *detector = job->detector;
  bool done;
  TL_TRY(tl_detect_pairs_on_device(detector, job->boxes, &job->pairs, &job->stats, &done));
  if (done)
    return TALUS_OK;
  TL_TRY(find_pairs(job));
  if (!tl_detect_is_lent(detector))
    return TALUS_OK;
  TL_TRY(tl_detect_send(detector, job->pairs.data, job->pairs.count * sizeof *job->pairs.data,
                        &detector->box_blocks.pairs));
  job->pairs.data = detector->box_blocks.pairs.data;
  tl_detect_count_moves(detector, &job->stats);
  return TALUS_OK;
}

static void hand_out_pairs(const search *job, talus_pairs *pairs, talus_detect_stats *stats) {
  _Static_assert(sizeof(tl_pair) == sizeof(talus_row_pair) &&
                     offsetof(tl_pair, b) == offsetof(talus_row_pair, b),
                 "slots are rows");
  *pairs = (talus_pairs){(talus_row_pair *)(void *)job->pairs.data, job->pairs.count};
  if (stats) {
    *stats = job->stats;
    stats->peak_bytes = job->detector->arena.peak;
  }
}

talus_status talus_detector_find_pairs(talus_detector *detector, const talus_detect_bodies *bodies,
                                       talus_pairs *pairs, talus_detect_stats *stats) {
  TL_NEED(detector);
  TL_NEED(bodies);
  TL_NEED(pairs);
  search job;
  talus_box *boxes;
  talus_detect_bodies home;
  *pairs = (talus_pairs){0};
  TL_TRY(begin(detector, bodies->count, &job));
  if (tl_detect_is_lent(detector)) {
    TL_TRY(tl_detect_bring_bodies(detector, bodies, &home));
    bodies = &home;
  }
  const double begun = 1e3 * tl_clock();
  TL_TRY(tl_detect_load(detector, bodies, false));
  TL_TAKE(&detector->arena, bodies->count, &boxes);
  TL_TRY(tl_detect_find_boxes(detector, bodies, false, boxes));
  job.boxes = boxes;
  job.stats.bounds_ms = 1e3 * tl_clock() - begun;
  TL_TRY(find_pairs_anywhere(&job));
  hand_out_pairs(&job, pairs, stats);
  return TALUS_OK;
}

/* ---- boxes of the caller ------------------------------------------------------------------- */

typedef struct box_work {
  const talus_box *from;
  double by;
  talus_box *to;
} box_work;

static bool is_no_box(void *context, size_t row) {
  const talus_box *box = &((const box_work *)context)->from[row];
  return !tl_box_is_finite(*box) || box->lo.x > box->hi.x || box->lo.y > box->hi.y ||
         box->lo.z > box->hi.z;
}

static bool is_beyond(void *context, size_t row) {
  return !tl_box_is_finite(((const box_work *)context)->to[row]);
}

static void grow_boxes(void *context, size_t begin, size_t end) {
  const box_work *work = context;
  for (size_t i = begin; i < end; ++i)
    work->to[i] = tl_box_grow(work->from[i], work->by);
}

static talus_status refuse_box(const talus_box *box, size_t row) {
  return tl_fail(TALUS_ERROR_INVALID,
                 "row %zu: (%g, %g, %g) to (%g, %g, %g) is not a finite box with its low corner "
                 "first",
                 row, box->lo.x, box->lo.y, box->lo.z, box->hi.x, box->hi.y, box->hi.z);
}

/* Makes bodies that are bounded and free, with no other properties. */
static talus_status load_boxes(search *job, const talus_box *boxes, size_t n) {
  talus_detector *detector = job->detector;
  const tl_par *par = &detector->model.par;
  box_work work = {boxes, 0.5 * detector->def.margin, NULL};
  if (n >= TL_DETECT_MOST_ROWS)
    return tl_fail(TALUS_ERROR_INVALID, "%zu rows are more than 2^31 - 1", n);
  const size_t bad = tl_find_first(par, n, is_no_box, &work);
  if (bad != SIZE_MAX)
    return refuse_box(&boxes[bad], bad);
  TL_TRY(tl_detect_load(detector, &(talus_detect_bodies){0}, false));
  detector->model.bodies = n;
  TL_TAKE(&detector->arena, n, &detector->model.property.flags);
  TL_TAKE(&detector->arena, n, &detector->model.property.shape);
  memset(detector->model.property.flags, 0, n * sizeof *detector->model.property.flags);
  memset(detector->model.property.shape, 0, n * sizeof *detector->model.property.shape);
  job->boxes = boxes;
  if (!(work.by > 0))
    return TALUS_OK;
  TL_TAKE(&detector->arena, n, &work.to);
  tl_for(par, n, GRAIN, grow_boxes, &work);
  job->boxes = work.to;
  const size_t far = tl_find_first(par, n, is_beyond, &work);
  return far == SIZE_MAX ? TALUS_OK : refuse_box(&work.to[far], far);
}

talus_status talus_detector_find_box_pairs(talus_detector *detector, const talus_box *boxes,
                                           size_t n, talus_pairs *pairs,
                                           talus_detect_stats *stats) {
  TL_NEED(detector);
  TL_NEED(pairs);
  TL_NEED_SOME(boxes, n);
  search job;
  void *home;
  *pairs = (talus_pairs){0};
  TL_TRY(begin(detector, n, &job));
  if (tl_detect_is_lent(detector) && n < TL_DETECT_MOST_ROWS) {
    TL_TRY(tl_detect_bring(detector, boxes, n * sizeof *boxes, &home));
    boxes = home;
  }
  const double begun = 1e3 * tl_clock();
  TL_TRY(load_boxes(&job, boxes, n));
  job.stats.bounds_ms = 1e3 * tl_clock() - begun;
  TL_TRY(find_pairs_anywhere(&job));
  hand_out_pairs(&job, pairs, stats);
  return TALUS_OK;
}

/* ---- contacts ------------------------------------------------------------------------------ */

/* Counts the candidates, found with enlarged boxes, whose own boxes overlap. */
typedef struct count_work {
  const search *job;
  const talus_detect_bodies *bodies;
  tl_images images;
} count_work;

static double count_overlaps(void *context, size_t begin, size_t end) {
  const count_work *work = context;
  const talus_detector *detector = work->job->detector;
  size_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    const tl_pair pair = work->job->pairs.data[i];
    const talus_box a = tl_detect_box(detector, work->bodies, pair.a);
    const talus_box b = tl_detect_box(detector, work->bodies, pair.b);
    const tl_span3 home_a = tl_images_home(&work->images, &a);
    const tl_span3 home_b = tl_images_home(&work->images, &b);
    count += tl_images_overlap(&work->images, &home_a, &home_b);
  }
  return (double)count;
}

static talus_status count_pairs(search *job, const talus_detect_bodies *bodies) {
  const tl_model *model = &job->detector->model;
  count_work work = {job, bodies, tl_images_of(model)};
  double count;
  TL_TRY(tl_sum(&model->par, job->crowd.arena, job->pairs.count, count_overlaps, &work, &count));
  job->stats.pairs = (uint64_t)count;
  return TALUS_OK;
}

static void copy_contacts(void *context, size_t begin, size_t end) {
  const talus_detector *detector = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *from = &detector->found.data[i];
    detector->contacts.data[i] = (talus_row_contact){.a = from->a,
                                                     .b = from->b,
                                                     .feature_a = from->feature_a,
                                                     .feature_b = from->feature_b,
                                                     .point = from->point,
                                                     .normal = from->normal,
                                                     .gap = from->gap};
  }
}

static talus_status find_contacts(search *job) {
  talus_detector *detector = job->detector;
  const double begun = 1e3 * tl_clock();
  talus_real *margins;
  TL_TAKE(&detector->arena, job->crowd.count, &margins);
  for (size_t i = 0; i < job->crowd.count; ++i)
    margins[i] = TL_R(0.5 * detector->def.margin);
  TL_TRY(tl_narrow_find_contacts(&job->crowd, &job->pairs, margins, &detector->found));
  TL_TRY(tl_array_resize(&detector->contacts, detector->found.count));
  tl_for(&detector->model.par, detector->found.count, GRAIN, copy_contacts, detector);
  job->stats.narrow_ms = 1e3 * tl_clock() - begun;
  job->stats.comparisons = detector->counts.comparisons;
  job->stats.fallbacks = detector->counts.fallbacks;
  job->stats.contacts = detector->found.count;
  return TALUS_OK;
}

static void hand_out_contacts(const search *job, talus_contacts *contacts,
                              talus_detect_stats *stats) {
  const talus_detector *detector = job->detector;
  contacts->count = (size_t)job->stats.contacts;
  contacts->data =
      tl_detect_is_lent(detector) ? detector->blocks.contacts.data : detector->contacts.data;
  if (stats)
    *stats = job->stats;
}

talus_status talus_detector_find_contacts(talus_detector *detector,
                                          const talus_detect_bodies *bodies,
                                          talus_contacts *contacts, talus_detect_stats *stats) {
  TL_NEED(detector);
  TL_NEED(bodies);
  TL_NEED(contacts);
  search job;
  talus_box *boxes;
  talus_detect_bodies home;
  bool done;
  *contacts = (talus_contacts){0};
  TL_TRY(begin(detector, bodies->count, &job));
  if (tl_detect_is_lent(detector)) {
    TL_TRY(tl_detect_lent_contacts(detector, bodies, &job.stats, &done));
    if (done) {
      hand_out_contacts(&job, contacts, stats);
      return TALUS_OK;
    }
    TL_TRY(tl_detect_bring_bodies(detector, bodies, &home));
    bodies = &home;
  }
  const double begun = 1e3 * tl_clock();
  TL_TRY(tl_detect_load(detector, bodies, true));
  TL_TAKE(&detector->arena, bodies->count, &boxes);
  TL_TRY(tl_detect_find_boxes(detector, bodies, true, boxes));
  TL_TRY(tl_detect_check_period(detector, boxes));
  job.boxes = boxes;
  job.stats.bounds_ms = 1e3 * tl_clock() - begun;
  TL_TRY(tl_detect_on_device(detector, bodies, &job.stats, &done));
  if (done) {
    hand_out_contacts(&job, contacts, stats);
    return TALUS_OK;
  }
  TL_TRY(find_pairs(&job));
  TL_TRY(find_contacts(&job));
  if (tl_detect_is_lent(detector)) {
    TL_TRY(tl_detect_send(detector, detector->contacts.data,
                          detector->contacts.count * sizeof *detector->contacts.data,
                          &detector->blocks.contacts));
    tl_detect_count_moves(detector, &job.stats);
  }
  if (stats)
    TL_TRY(count_pairs(&job, bodies));
  hand_out_contacts(&job, contacts, stats);
  if (!stats)
    return TALUS_OK;
  stats->peak_bytes = detector->arena.peak +
                      detector->found.capacity * sizeof *detector->found.data +
                      detector->contacts.capacity * sizeof *detector->contacts.data;
  return TALUS_OK;
}

/* ---- one call ------------------------------------------------------------------------------ */

/* A copy that outlives the detector; *rows may be NULL if n is 0. */
static talus_status keep(const void *rows, size_t n, size_t size, void **copy) {
  *copy = NULL;
  if (n == 0)
    return TALUS_OK;
  TL_TRY(tl_resize(copy, 0, n * size));
  memcpy(*copy, rows, n * size);
  return TALUS_OK;
}

/* Results of one call are freed without a detector, whose device they would be on. */
static talus_status set_up_once(const talus_detect_def *def, talus_detector *detector) {
  if (def && def->memory == TALUS_ON_DEVICE)
    return tl_fail(TALUS_ERROR_INVALID,
                   "memory is TALUS_ON_DEVICE: make a detector, to which the results belong");
  return set_up(def, detector);
}

static talus_status keep_pairs(talus_status status, talus_detector *detector, talus_pairs *pairs,
                               talus_detect_stats *stats) {
  void *copy = NULL;
  if (status == TALUS_OK)
    status = keep(pairs->data, pairs->count, sizeof *pairs->data, &copy);
  if (status == TALUS_OK && stats)
    stats->peak_bytes += pairs->count * sizeof *pairs->data;
  *pairs = status == TALUS_OK ? (talus_pairs){copy, pairs->count} : (talus_pairs){0};
  tear_down(detector);
  return status;
}

talus_status talus_find_pairs(const talus_detect_def *def, const talus_detect_bodies *bodies,
                              talus_pairs *pairs, talus_detect_stats *stats) {
  TL_NEED(bodies);
  TL_NEED(pairs);
  talus_detector detector;
  *pairs = (talus_pairs){0};
  TL_TRY(set_up_once(def, &detector));
  return keep_pairs(talus_detector_find_pairs(&detector, bodies, pairs, stats), &detector, pairs,
                    stats);
}

talus_status talus_find_box_pairs(const talus_detect_def *def, const talus_box *boxes, size_t n,
                                  talus_pairs *pairs, talus_detect_stats *stats) {
  TL_NEED(pairs);
  TL_NEED_SOME(boxes, n);
  talus_detector detector;
  *pairs = (talus_pairs){0};
  TL_TRY(set_up_once(def, &detector));
  return keep_pairs(talus_detector_find_box_pairs(&detector, boxes, n, pairs, stats), &detector,
                    pairs, stats);
}

talus_status talus_find_contacts(const talus_detect_def *def, const talus_detect_bodies *bodies,
                                 talus_contacts *contacts, talus_detect_stats *stats) {
  TL_NEED(bodies);
  TL_NEED(contacts);
  talus_detector detector;
  void *copy = NULL;
  *contacts = (talus_contacts){0};
  TL_TRY(set_up_once(def, &detector));
  talus_status status = talus_detector_find_contacts(&detector, bodies, contacts, stats);
  if (status == TALUS_OK)
    status = keep(contacts->data, contacts->count, sizeof *contacts->data, &copy);
  if (status == TALUS_OK && stats)
    stats->peak_bytes += contacts->count * sizeof *contacts->data;
  *contacts = status == TALUS_OK ? (talus_contacts){copy, contacts->count} : (talus_contacts){0};
  if (stats)
    stats->device = NULL; /* its name is freed with the detector */
  tear_down(&detector);
  return status;
}

void talus_pairs_free(talus_pairs *pairs) {
  if (!pairs)
    return;
  void *block = pairs->data;
  (void)tl_resize(&block, pairs->count * sizeof *pairs->data, 0);
  *pairs = (talus_pairs){0};
}

void talus_contacts_free(talus_contacts *contacts) {
  if (!contacts)
    return;
  void *block = contacts->data;
  (void)tl_resize(&block, contacts->count * sizeof *contacts->data, 0);
  *contacts = (talus_contacts){0};
}
