/* Detection on a device, and the names of backends. */
#include "detect/detect.h"

#include <stdio.h>

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

static talus_status open_device(talus_detector *detector) {
  if (detector->device)
    return TALUS_OK;
  return detector->def.backend == TALUS_BACKEND_CUDA ? tl_device_open_cuda(&detector->device)
                                                     : tl_device_open_check(&detector->device);
}

void tl_detect_close_device(talus_detector *detector) {
  if (!detector->device)
    return;
  tl_device_spheres_free(detector->device, &detector->blocks);
  tl_device_shapes_free(detector->device, &detector->shape_blocks);
  detector->device->calls->close(detector->device);
  detector->device = NULL;
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Why the device cannot find these contacts; NULL: it can. */
static const char *find_obstacle(const talus_detector *detector) {
  for (size_t i = 0; i < detector->model.shapes.count; ++i)
    if (!tl_device_knows(detector->model.shapes.data[i].kind))
      return "the device finds no contacts of meshes and revolved walls in this version";
  return NULL;
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

static talus_status ask(talus_detector *detector, const talus_detect_bodies *bodies,
                        tl_spheres_asked *asked) {
  const talus_domain_def *domain = &detector->model.domain;
  const talus_real half = TL_R(0.5 * detector->def.margin);
  row_work work = {.detector = detector, .spheres = !bodies->shapes};
  TL_TAKE(&detector->arena, bodies->count, &work.rows);
  if (bodies->fixed || bodies->shapes)
    TL_TAKE(&detector->arena, bodies->count, &work.fixed);
  tl_for(&detector->model.par, bodies->count, 4096, fill_rows, &work);
  *asked = (tl_spheres_asked){.rows = work.rows,
                              .fixed = work.fixed,
                              .count = bodies->count,
                              .margin = (double)(talus_real)(half + half)};
  const double low[3] = {domain->box.lo.x, domain->box.lo.y, domain->box.lo.z};
  const double high[3] = {domain->box.hi.x, domain->box.hi.y, domain->box.hi.z};
  for (int k = 0; k < 3; ++k) {
    asked->low[k] = low[k];
    asked->period[k] = domain->enabled && domain->periodic[k] ? high[k] - low[k] : 0;
  }
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

static talus_status bring(talus_detector *detector, size_t count) {
  TL_TRY(tl_array_resize(&detector->contacts, count));
  if (count == 0)
    return TALUS_OK;
  return detector->device->calls->download(detector->device, detector->contacts.data,
                                           detector->blocks.contacts.data,
                                           count * sizeof *detector->contacts.data);
}

talus_status tl_detect_on_device(talus_detector *detector, const talus_detect_bodies *bodies,
                                 talus_detect_stats *stats, bool *done) {
  *done = false;
  if (detector->def.backend == TALUS_BACKEND_CPU)
    return TALUS_OK;
  stats->fallback = find_obstacle(detector);
  if (stats->fallback && detector->def.no_fallback)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "%s, and to fall back on the CPU was not allowed",
                   stats->fallback);
  if (stats->fallback)
    return TALUS_OK;
  TL_TRY(open_device(detector));
  const tl_device_counters before = detector->device->count;
  tl_spheres_times times;
  size_t pairs, count;
  TL_TRY(find(detector, bodies, &pairs, &count, &times));
  TL_TRY(bring(detector, count));
  const tl_device_counters *after = &detector->device->count;
  stats->broad = TALUS_BROAD_BINS;
  stats->threads = detector->model.par.threads;
  stats->sort_ms = times.sort_ms;
  stats->broad_ms = times.search_ms;
  stats->narrow_ms = times.write_ms;
  stats->candidates = stats->pairs = pairs;
  stats->contacts = count;
  stats->backend = detector->def.backend;
  stats->device = detector->device->title;
  stats->upload_ms = after->upload_ms - before.upload_ms;
  stats->download_ms = after->download_ms - before.download_ms;
  stats->moved_bytes = after->uploaded - before.uploaded + after->downloaded - before.downloaded;
  stats->device_bytes = after->peak;
  *done = true;
  return TALUS_OK;
}
