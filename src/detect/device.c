/* Detection on a device, and the names of backends. */
#include "detect/detect.h"

#include <stdio.h>

#include "broad/images.h"
#include "shape/shape.h"

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const names[] = {
    [TALUS_BACKEND_CPU] = "cpu", [TALUS_BACKEND_CHECK] = "check", [TALUS_BACKEND_CUDA] = "cuda"};

const char *talus_backend_name(talus_backend backend) {
  return (unsigned)backend <= TALUS_BACKEND_CUDA ? names[backend] : NULL;
}

talus_status talus_backend_by_name(const char *name, talus_backend *backend) {
  TL_NEED(name);
  TL_NEED(backend);
  for (int k = 0; k <= TALUS_BACKEND_CUDA; ++k)
    if (strcmp(names[k], name) == 0) {
      *backend = (talus_backend)k;
      return TALUS_OK;
    }
  return tl_fail(TALUS_ERROR_INVALID, "'%s' is not a backend: these are cpu, check, cuda", name);
}

/* Description of the GPU, or "". A missing GPU is no error of the call: the last error message is
 * kept. */
static void describe_gpu(char *text, size_t size) {
  char message[8192];
  (void)snprintf(message, sizeof message, "%s", tl_last_message());
  tl_device_describe_cuda(text, size);
  (void)tl_fail(TALUS_ERROR_DEVICE, "%s", message);
}

const char *talus_backends(void) {
  static _Thread_local char text[256];
  char found[160];
  if (!tl_device_has_cuda())
    return "cpu check";
  describe_gpu(found, sizeof found);
  (void)snprintf(text, sizeof text, "cpu check cuda (%s)", found[0] ? found : "no GPU found");
  return text;
}

/* ---- the device of a detector ---------------------------------------------------------------- */

talus_status tl_detect_open_device(talus_detector *detector) {
  if (detector->device)
    return TALUS_OK;
  return detector->def.backend == TALUS_BACKEND_CUDA ? tl_device_open_cuda(&detector->device)
                                                     : tl_device_open_check(&detector->device);
}

void tl_detect_close_device(talus_detector *detector) {
  if (!detector->device)
    return;
  for (size_t i = 0; i < detector->rooms.count; ++i)
    (void)detector->device->calls->resize(detector->device, &detector->rooms.data[i], 0);
  tl_array_free(&detector->rooms);
  tl_device_spheres_free(detector->device, &detector->blocks);
  tl_device_shapes_free(detector->device, &detector->shape_blocks);
  tl_device_boxes_free(detector->device, &detector->box_blocks);
  detector->device->calls->close(detector->device);
  detector->device = NULL;
}

/* ---- memory of the caller there ---------------------------------------------------------------
 */

static talus_status need_device(talus_detector *detector) {
  if (detector->def.backend == TALUS_BACKEND_CPU)
    return tl_fail(TALUS_ERROR_INVALID, "the backend cpu has no device: memory on one needs the "
                                        "backend check or cuda");
  return tl_detect_open_device(detector);
}

talus_status talus_detector_allocate(talus_detector *detector, size_t bytes, void **block) {
  TL_NEED(detector);
  TL_NEED(block);
  tl_device_block room = {0};
  *block = NULL;
  TL_TRY(need_device(detector));
  TL_TRY(tl_array_reserve(&detector->rooms, detector->rooms.count + 1));
  TL_TRY(detector->device->calls->resize(detector->device, &room, bytes > 0 ? bytes : 1));
  detector->rooms.data[detector->rooms.count++] = room;
  *block = room.data;
  return TALUS_OK;
}

void talus_detector_release(talus_detector *detector, void *block) {
  for (size_t i = 0; detector && block && i < detector->rooms.count; ++i)
    if (detector->rooms.data[i].data == block) {
      (void)detector->device->calls->resize(detector->device, &detector->rooms.data[i], 0);
      detector->rooms.data[i] = detector->rooms.data[--detector->rooms.count];
      return;
    }
}

talus_status talus_detector_upload(talus_detector *detector, void *to, const void *from,
                                   size_t bytes) {
  TL_NEED(detector);
  TL_NEED_SOME(to, bytes);
  TL_NEED_SOME(from, bytes);
  TL_TRY(need_device(detector));
  return bytes > 0 ? detector->device->calls->upload(detector->device, to, from, bytes) : TALUS_OK;
}

talus_status talus_detector_download(talus_detector *detector, void *to, const void *from,
                                     size_t bytes) {
  TL_NEED(detector);
  TL_NEED_SOME(to, bytes);
  TL_NEED_SOME(from, bytes);
  TL_TRY(need_device(detector));
  return bytes > 0 ? detector->device->calls->download(detector->device, to, from, bytes)
                   : TALUS_OK;
}

talus_status tl_detect_bring(talus_detector *detector, const void *from, size_t bytes, void **to) {
  TL_TRY(tl_arena_take(&detector->arena, bytes, 1, to));
  return talus_detector_download(detector, *to, from, bytes);
}

talus_status tl_detect_send(talus_detector *detector, const void *rows, size_t bytes,
                            tl_device_block *block) {
  TL_TRY(tl_device_reserve(detector->device, block, bytes, 1));
  return talus_detector_upload(detector, block->data, rows, bytes);
}

/* n rows of `width` elements, `stride` apart. */
static talus_status bring_column(talus_detector *detector, size_t n, size_t width, size_t stride,
                                 size_t size, const void *from, void *to) {
  void *copy = NULL;
  if (from && n > 0)
    TL_TRY(tl_detect_bring(detector, from, ((n - 1) * stride + width) * size, &copy));
  memcpy(to, &copy, sizeof copy); /* a pointer to whatever is const */
  return TALUS_OK;
}

talus_status tl_detect_bring_bodies(talus_detector *detector, const talus_detect_bodies *bodies,
                                    talus_detect_bodies *home) {
  const size_t n = bodies->count < TL_DETECT_MOST_ROWS ? bodies->count : 0;
  const size_t position_stride = bodies->position_stride ? bodies->position_stride : 3;
  const size_t radius_stride = bodies->radius_stride ? bodies->radius_stride : 1;
  *home = *bodies;
  TL_TRY(bring_column(detector, n, 3, position_stride, sizeof(double), bodies->position,
                      &home->position));
  TL_TRY(bring_column(detector, n, 1, 1, sizeof(uint8_t), bodies->fixed, &home->fixed));
  if (!bodies->shapes)
    return bring_column(detector, n, 1, radius_stride, sizeof(double), bodies->radius,
                        &home->radius);
  TL_TRY(bring_column(detector, n, 1, 1, sizeof(uint32_t), bodies->shape, &home->shape));
  TL_TRY(bring_column(detector, n, 1, 1, sizeof(double), bodies->scale, &home->scale));
  return bring_column(detector, n, 4, 4, sizeof(double), bodies->rotation, &home->rotation);
}

void tl_detect_count_moves(const talus_detector *detector, talus_detect_stats *stats) {
  const tl_device_counters *before = &detector->before, *after = &detector->device->count;
  stats->upload_ms = after->upload_ms - before->upload_ms;
  stats->download_ms = after->download_ms - before->download_ms;
  stats->moved_bytes = after->uploaded - before->uploaded + after->downloaded - before->downloaded;
  stats->device_bytes = after->peak;
}

/* ---- contacts -------------------------------------------------------------------------------- */

static bool as_published(const talus_detector *detector) {
  return detector->def.published && detector->def.broad == TALUS_BROAD_BINS;
}

static const char *broad_obstacle(const talus_detector *detector, size_t bodies) {
  if (as_published(detector) && bodies >= TL_CORNER_ROWS)
    return "the device has the published bins for fewer than 2^29 bodies";
  switch (detector->def.broad) {
  case TALUS_BROAD_AUTO:
  case TALUS_BROAD_BINS:
    return NULL;
  case TALUS_BROAD_CELLS:
    return bodies < TL_CORNER_ROWS ? NULL : "the device has cells for fewer than 2^29 bodies";
  default:
    return "the device finds pairs by bins and cells, by no other broad phase";
  }
}

/* Why the device cannot find these contacts; NULL: it can. */
static const char *find_obstacle(const talus_detector *detector) {
  for (size_t i = 0; as_published(detector) && i < detector->model.shapes.count; ++i)
    if (!detector->model.shapes.data[i].bounded)
      return "the published bins know no planes";
  for (size_t i = 0; i < detector->model.shapes.count; ++i)
    if (!tl_device_knows(detector->model.shapes.data[i].kind))
      return "the device finds no contacts of meshes and revolved walls in this version";
  return broad_obstacle(detector, detector->model.bodies);
}

static bool by_cells(const talus_detector *detector) {
  return detector->def.broad == TALUS_BROAD_CELLS;
}

typedef struct row_work {
  const talus_detector *detector;
  tl_thread_ball *rows;
  uint8_t *fixed; /* NULL: not needed */
  bool spheres;   /* all rows are spheres */
} row_work;

/* part of a bounding sphere by which it is enlarged: more than rounding errors of contacts */
#define WIDER 1e-6

/* Radius of a sphere, or of the bounding sphere. */
static double radius_of(const row_work *work, size_t i) {
  const tl_model *model = &work->detector->model;
  const tl_shape *shape = tl_body_shape(model, i);
  const talus_dvec3 x = work->detector->state.position[i];
  const double scale = (double)model->property.scale[i];
  if (work->spheres)
    return shape->size[0] * scale;
  if (!shape->bounded)
    return -1;
  return (double)shape->radius * scale * (1 + WIDER) +
         16 * DBL_EPSILON * fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
}

static void fill_rows(void *context, size_t begin, size_t end) {
  const row_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    const talus_dvec3 x = work->detector->state.position[i];
    work->rows[i] = (tl_thread_ball){x.x, x.y, x.z, radius_of(work, i)};
    if (work->fixed)
      work->fixed[i] = tl_body_is_static(&work->detector->model, i);
  }
}

static tl_thread_plane plane_of(const talus_detector *detector, size_t i) {
  const double *size = tl_body_shape(&detector->model, i)->size;
  const talus_dvec3 x = detector->state.position[i];
  const tl_frame frame = tl_frame_from_quat(detector->state.rotation[i]);
  const talus_dvec3 n = tl_frame_to_world(&frame, tl_dvec3(size[0], size[1], size[2]));
  const double offset = tl_ddot(n, x) + size[3] * (double)detector->model.property.scale[i];
  return (tl_thread_plane){{n.x, n.y, n.z}, offset};
}

static talus_status take_planes(talus_detector *detector, tl_spheres_asked *asked) {
  tl_thread_plane *planes;
  size_t count = 0;
  for (size_t i = 0; i < asked->count; ++i)
    count += asked->rows[i].radius < 0;
  TL_TAKE(&detector->arena, count, &planes);
  asked->planes = planes;
  for (size_t i = 0; i < asked->count; ++i)
    if (asked->rows[i].radius < 0)
      planes[asked->plane_count++] = plane_of(detector, i);
  return TALUS_OK;
}

static void set_periods(const tl_model *model, tl_spheres_asked *asked) {
  const tl_images images = tl_images_of(model);
  for (int k = 0; k < 3; ++k) {
    asked->low[k] = images.low[k];
    asked->period[k] = images.periodic[k] ? images.length[k] : 0;
  }
}

/* Appends contacts on the device to those of the detector. */
static talus_status bring(void *context, const talus_row_contact *contacts, size_t count) {
  talus_detector *detector = context;
  const size_t before = detector->contacts.count;
  TL_TRY(tl_array_resize(&detector->contacts, before + count));
  return talus_detector_download(detector, detector->contacts.data + before, contacts,
                                 count * sizeof *contacts);
}

static talus_status ask(talus_detector *detector, const talus_detect_bodies *bodies,
                        tl_spheres_asked *asked) {
  const talus_real half = TL_R(0.5 * detector->def.margin);
  row_work work = {.detector = detector, .spheres = !bodies->shapes};
  TL_TAKE(&detector->arena, bodies->count, &work.rows);
  if (bodies->fixed || bodies->shapes)
    TL_TAKE(&detector->arena, bodies->count, &work.fixed);
  tl_for(&detector->model.par, bodies->count, 4096, fill_rows, &work);
  *asked = (tl_spheres_asked){.rows = work.rows,
                              .fixed = work.fixed,
                              .count = bodies->count,
                              .margin = (double)(talus_real)(half + half),
                              .by_cells = by_cells(detector),
                              .as_published = as_published(detector),
                              .pieces = (size_t)detector->def.pieces,
                              .take = tl_detect_is_lent(detector) ? NULL : bring,
                              .context = detector};
  set_periods(&detector->model, asked);
  return bodies->shapes ? take_planes(detector, asked) : TALUS_OK;
}

/* Spheres directly; other shapes by pairs of bounding spheres. */
static talus_status find(talus_detector *detector, const talus_detect_bodies *bodies, size_t *pairs,
                         size_t *count, tl_spheres_times *times) {
  const tl_model *model = &detector->model;
  tl_spheres_asked spheres;
  TL_TRY(ask(detector, bodies, &spheres));
  if (bodies->shapes) {
    const tl_shapes_asked shapes = {.shapes = model->shapes.data,
                                    .shape_count = model->shapes.count,
                                    .shape = model->property.shape,
                                    .scale = model->property.scale,
                                    .rotation = detector->state.rotation,
                                    .method = model->narrow.ellipsoid,
                                    .arena = &detector->arena};
    return tl_device_find_shapes(detector->device, &detector->blocks, &detector->shape_blocks,
                                 &spheres, &shapes, pairs, count, times);
  }
  TL_TRY(tl_device_find_contacts(detector->device, &detector->blocks, &spheres, count, times));
  *pairs = *count;
  return TALUS_OK;
}

static talus_status refuse_fallback(const talus_detector *detector,
                                    const talus_detect_stats *stats) {
  if (!stats->fallback || !detector->def.no_fallback)
    return TALUS_OK;
  return tl_fail(TALUS_ERROR_UNSUPPORTED, "%s, and to fall back on the CPU was not allowed",
                 stats->fallback);
}

static void fill_stats(const talus_detector *detector, const tl_spheres_times *times,
                       talus_detect_stats *stats) {
  stats->broad = by_cells(detector) ? TALUS_BROAD_CELLS : TALUS_BROAD_BINS;
  stats->threads = detector->model.par.threads;
  stats->sort_ms = times->sort_ms;
  stats->broad_ms = times->search_ms;
  stats->narrow_ms = times->write_ms;
  stats->backend = detector->def.backend;
  stats->device = detector->device->title;
  memcpy(stats->stage_ms, times->stage_ms, sizeof stats->stage_ms);
  tl_detect_count_moves(detector, stats);
}

talus_status tl_detect_on_device(talus_detector *detector, const talus_detect_bodies *bodies,
                                 talus_detect_stats *stats, bool *done) {
  *done = false;
  if (detector->def.backend == TALUS_BACKEND_CPU)
    return TALUS_OK;
  stats->fallback = find_obstacle(detector);
  TL_TRY(refuse_fallback(detector, stats));
  if (stats->fallback)
    return TALUS_OK;
  TL_TRY(tl_detect_open_device(detector));
  tl_spheres_times times;
  size_t pairs, count;
  detector->contacts.count = 0;
  TL_TRY(find(detector, bodies, &pairs, &count, &times));
  if (!tl_detect_is_lent(detector) && detector->def.pieces <= 1)
    TL_TRY(bring(detector, detector->blocks.contacts.data, count));
  fill_stats(detector, &times, stats);
  stats->candidates = stats->pairs = pairs;
  stats->contacts = count;
  *done = true;
  return TALUS_OK;
}

/* Whether these are spheres whose arrays can be read as they are; of all others the host tells what
 * is wrong, or has more to do. */
static bool is_plain(const talus_detect_bodies *bodies) {
  return !bodies->shapes && bodies->count > 0 && bodies->count < TL_DETECT_MOST_ROWS &&
         bodies->position && bodies->radius &&
         (bodies->position_stride == 0 || bodies->position_stride >= 3);
}

talus_status tl_detect_lent_contacts(talus_detector *detector, const talus_detect_bodies *bodies,
                                     talus_detect_stats *stats, bool *done) {
  const talus_real half = TL_R(0.5 * detector->def.margin);
  const tl_lent_spheres lent = {.position = bodies->position,
                                .radius = bodies->radius,
                                .position_stride =
                                    bodies->position_stride ? bodies->position_stride : 3,
                                .radius_stride = bodies->radius_stride ? bodies->radius_stride : 1,
                                .fixed = bodies->fixed};
  tl_spheres_asked asked = {.lent = &lent,
                            .count = bodies->count,
                            .margin = (double)(talus_real)(half + half),
                            .by_cells = by_cells(detector),
                            .as_published = as_published(detector)};
  tl_spheres_times times;
  size_t count;
  *done = false;
  if (!is_plain(bodies) || broad_obstacle(detector, bodies->count))
    return TALUS_OK;
  set_periods(&detector->model, &asked);
  TL_TRY(tl_device_find_contacts(detector->device, &detector->blocks, &asked, &count, &times));
  if (times.is_odd)
    return TALUS_OK;
  fill_stats(detector, &times, stats);
  stats->candidates = stats->pairs = stats->contacts = count;
  *done = true;
  return TALUS_OK;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

typedef struct box_work {
  const talus_detector *detector;
  const talus_box *boxes;
  tl_images images;
  tl_thread_ball *rows;
  uint8_t *fixed;
} box_work;

/* The sphere around a box, enlarged by more than the rounding errors of its moves by periods. */
static tl_thread_ball sphere_around(const box_work *work, const talus_box *box) {
  const talus_dvec3 half = tl_dscale(tl_dsub(box->hi, box->lo), 0.5);
  const talus_dvec3 x = tl_dadd(box->lo, half);
  const double far = fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
  double longest = 0;
  for (int k = 0; k < 3; ++k)
    if (work->images.periodic[k])
      longest = fmax(longest, fabs(work->images.low[k]) + work->images.length[k]);
  return (tl_thread_ball){x.x, x.y, x.z,
                          tl_dlength(half) * (1 + WIDER) + 16 * DBL_EPSILON * (far + longest)};
}

static void surround(void *context, size_t begin, size_t end) {
  const box_work *work = context;
  for (size_t i = begin; i < end; ++i) {
    work->rows[i] = tl_box_is_finite(work->boxes[i]) ? sphere_around(work, &work->boxes[i])
                                                     : (tl_thread_ball){0, 0, 0, -1};
    work->fixed[i] = tl_body_is_static(&work->detector->model, i);
  }
}

#define FARTHEST 1e150 /* m: squares of more are not numbers */

static bool is_beyond(void *context, size_t i) {
  const tl_thread_ball row = ((const box_work *)context)->rows[i];
  return !(fmax(fmax(fabs(row.x), fabs(row.y)), fmax(fabs(row.z), row.radius)) < FARTHEST);
}

/* Boxes without end are planes of which all space is matter. */
static talus_status ask_pairs(talus_detector *detector, const talus_box *boxes,
                              tl_spheres_asked *asked, const char **obstacle) {
  const size_t n = detector->model.bodies;
  box_work work = {.detector = detector, .boxes = boxes, .images = tl_images_of(&detector->model)};
  tl_thread_plane *planes;
  TL_TAKE(&detector->arena, n, &work.rows);
  TL_TAKE(&detector->arena, n, &work.fixed);
  tl_for(&detector->model.par, n, 4096, surround, &work);
  if (tl_find_first(&detector->model.par, n, is_beyond, &work) != SIZE_MAX)
    *obstacle = "the device finds no pairs of boxes beyond 1e150 m";
  else
    *obstacle = broad_obstacle(detector, n);
  *asked = (tl_spheres_asked){
      .rows = work.rows, .fixed = work.fixed, .count = n, .by_cells = by_cells(detector)};
  set_periods(&detector->model, asked);
  for (size_t i = 0; i < n; ++i)
    asked->plane_count += work.rows[i].radius < 0;
  TL_TAKE(&detector->arena, asked->plane_count, &planes);
  for (size_t i = 0; i < asked->plane_count; ++i)
    planes[i] = (tl_thread_plane){.offset = DBL_MAX};
  asked->planes = planes;
  return TALUS_OK;
}

talus_status tl_detect_pairs_on_device(talus_detector *detector, const talus_box *boxes,
                                       tl_pairs *pairs, talus_detect_stats *stats, bool *done) {
  *done = false;
  if (detector->def.backend == TALUS_BACKEND_CPU)
    return TALUS_OK;
  const tl_boxes_asked asked = {.boxes = boxes, .images = tl_images_of(&detector->model)};
  tl_spheres_asked spheres;
  tl_spheres_times times;
  size_t count;
  TL_TRY(ask_pairs(detector, boxes, &spheres, &stats->fallback));
  TL_TRY(refuse_fallback(detector, stats));
  if (stats->fallback)
    return TALUS_OK;
  TL_TRY(tl_detect_open_device(detector));
  TL_TRY(tl_device_find_box_pairs(detector->device, &detector->blocks, &detector->box_blocks,
                                  &spheres, &asked, &count, &times));
  pairs->count = count;
  if (tl_detect_is_lent(detector))
    pairs->data = detector->box_blocks.pairs.data;
  else
    TL_TAKE(&detector->arena, count, &pairs->data);
  if (count > 0 && !tl_detect_is_lent(detector))
    TL_TRY(detector->device->calls->download(detector->device, pairs->data,
                                             detector->box_blocks.pairs.data,
                                             count * sizeof *pairs->data));
  fill_stats(detector, &times, stats);
  stats->candidates = stats->pairs = count;
  *done = true;
  return TALUS_OK;
}
