/* talus bench gpu-detect --table: the tables and figures of the papers on one device.
 *
 *   000          ellipsoids of the paper's sizes by its two methods and by ours, and the same scene
 *                as spheres: Table 2's numbers of bodies, Figures 5 to 10
 *   002          spheres: Table 2's numbers of bodies with the errors of single precision;
 *                Figure 25 (22 million contacts)
 *   002-lattice  Figure 26 (more than a billion contacts), in pieces, hashed on the device
 *   004          rounded cells beside bins for the particles of the nozzle
 *
 * Device times exclude copies; least of the repeats. Times of the CPU, with all threads, are of the
 * same call; its rows are compared with the device's byte by byte. `floor` is the time in which the
 * bytes that must pass (32 a sphere, 76 more of other shapes, 72 a contact, in double) would be
 * copied at 4.29 TB/s. */
#include "gpu_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/spheres.h"
#include "backend/thread/tasks.h"
#include "bench.h"
#include "ellipsoids.h"
#include "tools.h"

#define COPIED      4.29e9 /* bytes a ms */
#define BALL_BYTES  32.0
#define SHAPE_BYTES 76.0
#define DIGESTERS   ((size_t)1 << 18)
#define BILLION     ((size_t)100000000) /* bodies of the lattice: 1.6e9 contacts */
#define PIECES      16

static const char *const names[] = {"000", "002", "002-lattice", "004"};

bool gpu_tables_know(const char *table) {
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (strcmp(names[i], table) == 0)
      return true;
  return false;
}

/* ---- one search, on the device and on the CPU --------------------------------------------------
 */

typedef struct outcome {
  double ms, cpu_ms, copies_ms;
  uint64_t contacts;
  bool same;
} outcome;

static talus_status repeat(const talus_detect_def *def, const talus_detect_bodies *bodies,
                           int times, talus_detector **detector, talus_contacts *found,
                           outcome *out) {
  const bool is_cpu = def->backend == TALUS_BACKEND_CPU;
  double *ms = is_cpu ? &out->cpu_ms : &out->ms;
  *ms = HUGE_VAL;
  talus_status status = talus_detector_create(def, detector);
  for (int i = 0; i <= times && status == TALUS_OK; ++i) { /* the first one allocates */
    talus_detect_stats stats = {0};
    status = talus_detector_find_contacts(*detector, bodies, found, &stats);
    const double all =
        stats.broad_ms + stats.sort_ms + stats.narrow_ms + (is_cpu ? stats.bounds_ms : 0);
    if (all >= *ms)
      continue;
    *ms = all;
    out->contacts = stats.contacts;
    if (!is_cpu)
      out->copies_ms = stats.upload_ms + stats.download_ms;
  }
  return status;
}

static talus_status measure(const gpu_tables *job, talus_detect_def def,
                            const talus_detect_bodies *bodies, outcome *out) {
  talus_detector *gpu = NULL, *cpu = NULL;
  talus_contacts found, wanted;
  *out = (outcome){0};
  def.backend = TALUS_BACKEND_CPU;
  talus_status status = repeat(&def, bodies, 1, &cpu, &wanted, out);
  def.backend = job->backend;
  def.no_fallback = true;
  if (status == TALUS_OK)
    status = repeat(&def, bodies, job->repeat, &gpu, &found, out);
  out->same =
      status == TALUS_OK && found.count == wanted.count &&
      (found.count == 0 || memcmp(found.data, wanted.data, found.count * sizeof *found.data) == 0);
  talus_detector_destroy(gpu);
  talus_detector_destroy(cpu);
  return status;
}

static double floor_ms(size_t bodies, double each, uint64_t contacts) {
  return ((double)bodies * each + (double)contacts * sizeof(talus_row_contact)) / COPIED;
}

static void tell_head(gpu_tables *job, const char *what) {
  printf("\n%s\n%10s %-18s %11s %10s %10s %7s %10s %8s\n", what, "bodies", "how", "contacts",
         "device ms", "CPU ms", "times", "copies ms", "floor");
  if (job->csv)
    fputs("table,bodies,how,contacts,device_ms,cpu_ms,copies_ms,floor_ms,same\n", job->csv);
}

static void tell(gpu_tables *job, size_t n, const char *how, double each, const outcome *o) {
  const double least = floor_ms(n, each, o->contacts);
  job->same = job->same && o->same;
  printf("%10zu %-18s %11llu %10.3f %10.2f %7.1f %10.2f %8.4f%s\n", n, how,
         (unsigned long long)o->contacts, o->ms, o->cpu_ms, o->cpu_ms / o->ms, o->copies_ms, least,
         o->same ? "" : "  DIFFERENT");
  (void)fflush(stdout);
  if (job->csv)
    fprintf(job->csv, "%s,%zu,%s,%llu,%.4f,%.3f,%.3f,%.4f,%d\n", job->table, n, how,
            (unsigned long long)o->contacts, o->ms, o->cpu_ms, o->copies_ms, least, o->same);
}

/* ---- 000: ellipsoids ---------------------------------------------------------------------------
 */

static talus_status measure_ellipsoids(gpu_tables *job, size_t n) {
  static const struct {
    const char *name;
    talus_ellipsoid_method method;
  } ways[] = {{"spheres", TALUS_ELLIPSOID_NEWTON},
              {"newton", TALUS_ELLIPSOID_NEWTON},
              {"method 1: opm", TALUS_ELLIPSOID_OPM},
              {"method 2: chm+opm", TALUS_ELLIPSOID_CHM_OPM}};
  const talus_shape_def shape = {.kind = TALUS_ELLIPSOID, .size = {1, 0.8, 0.6}};
  ell_scene scene;
  talus_status status = ell_scene_make(&scene, n) ? TALUS_OK : TALUS_ERROR_MEMORY;
  for (size_t k = 0; k < sizeof ways / sizeof *ways && status == TALUS_OK; ++k) {
    talus_detect_def def = talus_detect_def_default();
    talus_detect_bodies bodies = {.count = n, .position = scene.position, .radius = scene.radius};
    outcome out;
    if (k > 0) {
      bodies.shapes = &shape, bodies.shape_count = 1, bodies.shape = scene.shape;
      bodies.scale = scene.radius, bodies.rotation = scene.rotation;
    }
    def.narrow.ellipsoid = ways[k].method;
    status = measure(job, def, &bodies, &out);
    if (status == TALUS_OK)
      tell(job, n, ways[k].name, BALL_BYTES + (k > 0 ? SHAPE_BYTES : 0), &out);
  }
  ell_scene_free(&scene);
  return status;
}

static talus_status run_000(gpu_tables *job) {
  talus_status status = TALUS_OK;
  tell_head(job, "000: half axes 1 : 0.8 : 0.6 of radii in [0, 101], 1.25e-7 per unit volume");
  for (size_t n = 1024; n <= 2097152 && (double)n <= job->most && status == TALUS_OK; n *= 2)
    status = measure_ellipsoids(job, n);
  return status;
}

/* ---- 002 and 004: spheres ----------------------------------------------------------------------
 */

/* Equal spheres of radius 1, x y z r; density as in gpu_detect.c. */
static double *scatter(size_t n, double density) {
  uint64_t state = 7;
  const double edge = cbrt((double)n * 4 / 3 * 3.14159265358979323846 / density);
  double *rows = malloc(4 * n * sizeof *rows);
  for (size_t i = 0; rows && i < n; ++i) {
    for (size_t k = 0; k < 3; ++k)
      rows[4 * i + k] = edge * bench_random(&state);
    rows[4 * i + 3] = 1;
  }
  return rows;
}

static talus_detect_bodies spheres_of(const double *rows, size_t n) {
  return (talus_detect_bodies){
      .count = n, .position = rows, .position_stride = 4, .radius = rows + 3, .radius_stride = 4};
}

static talus_status measure_spheres(gpu_tables *job, size_t n, double density,
                                    talus_broad_kind broad, const char *how) {
  double *rows = scatter(n, density);
  if (!rows)
    return TALUS_ERROR_MEMORY;
  talus_detect_def def = talus_detect_def_default();
  const talus_detect_bodies bodies = spheres_of(rows, n);
  outcome out;
  def.broad = broad;
  const talus_status status = measure(job, def, &bodies, &out);
  if (status == TALUS_OK)
    tell(job, n, how, BALL_BYTES, &out);
  free(rows);
  return status;
}

typedef struct errors {
  size_t gained, lost; /* pairs that only rounded coordinates have; that they do not have */
  double gap, most_gap, most_normal; /* of the common ones: root mean square, largest; radii, rad */
} errors;

static errors compare_rounded(const talus_contacts *exact, const talus_contacts *rounded) {
  errors e = {0};
  size_t i = 0, j = 0, both = 0;
  while (i < exact->count || j < rounded->count) {
    const talus_row_contact *a = i < exact->count ? &exact->data[i] : NULL;
    const talus_row_contact *b = j < rounded->count ? &rounded->data[j] : NULL;
    if (!b || (a && (a->a < b->a || (a->a == b->a && a->b < b->b)))) {
      e.lost++, i++;
    } else if (!a || a->a != b->a || a->b != b->b) {
      e.gained++, j++;
    } else {
      const double gap = (double)(b->gap - a->gap);
      const double x = (double)(b->normal.x - a->normal.x), y = (double)(b->normal.y - a->normal.y),
                   z = (double)(b->normal.z - a->normal.z);
      e.gap += gap * gap;
      e.most_gap = fmax(e.most_gap, fabs(gap));
      e.most_normal = fmax(e.most_normal, sqrt(x * x + y * y + z * z));
      both++, i++, j++;
    }
  }
  e.gap = both > 0 ? sqrt(e.gap / (double)both) : 0;
  return e;
}

/* The same spheres with coordinates in single precision, as the paper's. */
static talus_status measure_errors(gpu_tables *job, size_t n) {
  double *rows = scatter(n, 0.1);
  if (!rows)
    return TALUS_ERROR_MEMORY;
  talus_detect_def def = talus_detect_def_default();
  const talus_detect_bodies bodies = spheres_of(rows, n);
  talus_detector *exact = NULL, *rounded = NULL;
  talus_contacts all, some;
  def.backend = job->backend;
  talus_status status = talus_detector_create(&def, &exact);
  if (status == TALUS_OK)
    status = talus_detector_find_contacts(exact, &bodies, &all, NULL);
  for (size_t i = 0; i < 4 * n; ++i)
    rows[i] = (double)(float)rows[i];
  if (status == TALUS_OK)
    status = talus_detector_create(&def, &rounded);
  if (status == TALUS_OK)
    status = talus_detector_find_contacts(rounded, &bodies, &some, NULL);
  if (status == TALUS_OK) {
    const errors e = compare_rounded(&all, &some);
    printf(
        "%10zu in single: %zu pairs more, %zu less; gap %.2e (largest %.2e) radii, normal at most "
        "%.2e\n",
        n, e.gained, e.lost, e.gap, e.most_gap, e.most_normal);
    if (job->csv)
      fprintf(job->csv, "002,%zu,single: %zu more %zu less gap %.3e %.3e normal %.3e,%zu,,,,,\n", n,
              e.gained, e.lost, e.gap, e.most_gap, e.most_normal, all.count);
  }
  talus_detector_destroy(exact);
  talus_detector_destroy(rounded);
  free(rows);
  return status;
}

static talus_status run_002(gpu_tables *job) {
  talus_status status = TALUS_OK;
  tell_head(job, "002: equal spheres, a tenth of the cube");
  for (size_t n = 1000000; n <= 5000000 && (double)n <= job->most && status == TALUS_OK;
       n += 1000000) {
    status = measure_spheres(job, n, 0.1, TALUS_BROAD_BINS, "bins");
    if (status == TALUS_OK)
      status = measure_errors(job, n);
  }
  if (status == TALUS_OK && job->most >= 11e6) /* Figure 25 */
    status = measure_spheres(job, 11000000, 0.5, TALUS_BROAD_BINS, "half of the cube");
  return status;
}

static talus_status run_004(gpu_tables *job) {
  static const size_t sizes[] = {115712, 161508, 246784};
  talus_status status = TALUS_OK;
  tell_head(job, "004: equal spheres, a tenth of the cube");
  for (size_t k = 0; k < 3 && (double)sizes[k] <= job->most && status == TALUS_OK; ++k) {
    status = measure_spheres(job, sizes[k], 0.1, TALUS_BROAD_BINS, "bins");
    if (status == TALUS_OK)
      status = measure_spheres(job, sizes[k], 0.1, TALUS_BROAD_CELLS, "cells");
  }
  return status;
}

/* ---- 002: more contacts than fit ---------------------------------------------------------------
 */

/* A cubic lattice of edge 1, in order; centres are moved by up to 0.05 along each axis. Spheres
 * with about 32 neighbours each. */
static void make_lattice(tl_thread_ball *rows, size_t n) {
  const size_t across = (size_t)ceil(cbrt((double)n));
  uint64_t state = 7;
  for (size_t i = 0; i < n; ++i) {
    rows[i].x = (double)(i % across) + 0.1 * (bench_random(&state) - 0.5);
    rows[i].y = (double)(i / across % across) + 0.1 * (bench_random(&state) - 0.5);
    rows[i].z = (double)(i / across / across) + 0.1 * (bench_random(&state) - 0.5);
    rows[i].radius = 0.985;
  }
}

typedef struct digest {
  tl_device *device;
  uint64_t *sum; /* on the device */
  uint64_t before;
} digest;

static talus_status add_piece(void *context, const talus_row_contact *contacts, size_t count) {
  digest *to = context;
  const tl_digest_task task = {.rows = contacts,
                               .count = count,
                               .threads = count < DIGESTERS ? count : DIGESTERS,
                               .before = to->before,
                               .sum = to->sum};
  to->before += count;
  return to->device->calls->launch(to->device, TL_TASK_digest, &task, task.threads);
}

static talus_status measure_pieces(gpu_tables *job, const tl_thread_ball *rows, size_t n,
                                   size_t pieces, tl_device_block *sum) {
  const tl_device_calls *calls = job->device->calls;
  tl_device_spheres blocks = {0};
  digest to = {.device = job->device, .sum = sum->data};
  const tl_spheres_asked asked = {
      .rows = rows, .count = n, .pieces = pieces, .take = add_piece, .context = &to};
  double least = HUGE_VAL;
  size_t count = 0;
  uint64_t all = 0;
  talus_status status = TALUS_OK;
  job->device->count.peak = job->device->count.held;
  for (int i = 0; i <= job->repeat && status == TALUS_OK; ++i) {
    tl_spheres_times times;
    to.before = 0;
    status = calls->clear(job->device, to.sum, sizeof all);
    if (status == TALUS_OK)
      status = tl_device_find_contacts(job->device, &blocks, &asked, &count, &times);
    if (status == TALUS_OK)
      status = calls->download(job->device, &all, to.sum, sizeof all);
    least = fmin(least, times.sort_ms + times.search_ms + times.write_ms);
  }
  const double held = 1e-9 * (double)job->device->count.peak;
  tl_device_spheres_free(job->device, &blocks);
  if (status != TALUS_OK)
    return status;
  printf("%10zu %4zu pieces %12zu contacts %10.2f ms, %.1f GB, sum %016llx\n", n, pieces, count,
         least, held, (unsigned long long)all);
  (void)fflush(stdout);
  if (job->csv)
    fprintf(job->csv, "002-lattice,%zu,%zu pieces,%zu,%.3f,,,%.4f,%016llx\n", n, pieces, count,
            least, floor_ms(n, BALL_BYTES, count), (unsigned long long)all);
  return TALUS_OK;
}

/* Fewer bodies in different pieces give the same sum; the most in as many as needed. */
static talus_status run_lattice(gpu_tables *job) {
  static const size_t few[] = {2, 7, 64};
  const size_t most = job->most < (double)BILLION ? (size_t)job->most : BILLION;
  tl_thread_ball *rows = malloc(most * sizeof *rows);
  tl_device_block sum = {0};
  if (!rows)
    return TALUS_ERROR_MEMORY;
  make_lattice(rows, most);
  printf("\n002: a jittered lattice, hashed on the device\n");
  talus_status status = job->device->calls->resize(job->device, &sum, sizeof(uint64_t));
  for (size_t k = 0; k < 3 && status == TALUS_OK; ++k)
    status = measure_pieces(job, rows, most / 100 + 1, few[k], &sum);
  if (status == TALUS_OK)
    status = measure_pieces(job, rows, most, PIECES, &sum);
  (void)job->device->calls->resize(job->device, &sum, 0);
  free(rows);
  return status;
}

talus_status gpu_tables_run(gpu_tables *job) {
  job->same = true;
  if (strcmp(job->table, "000") == 0)
    return run_000(job);
  if (strcmp(job->table, "002") == 0)
    return run_002(job);
  return strcmp(job->table, "004") == 0 ? run_004(job) : run_lattice(job);
}
