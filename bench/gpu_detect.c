/* talus bench gpu-detect: contacts of random bodies on a device beside the CPU, in one run.
 *
 * Device times exclude copies, which are shown separately; minima of the repeats. The CPU finds the
 * same contacts from arrays in memory, on one thread and on all; its rows are compared with the
 * device's byte by byte. */
#include "bench.h"
#include "gpu_tables.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <talus/detect.h>

#include "backend/spheres.h"

#define PI   3.14159265358979323846
#define MOST 8

typedef struct options {
  const char *backend, *kind, *bodies, *densities, *ratios, *csv, *broad, *table;
  double most_cpu, most;
  int repeat;
} options;

typedef struct figures {
  double sort, search, write, upload, cpu_one, cpu_all; /* ms; CPU: 0 if not measured */
  size_t contacts, pairs, bytes;
  bool same;
} figures;

/* ---- bodies -----------------------------------------------------------------------------------
 */

/* Centres uniform in a cube; density: volume of the spheres over that of the cube, counting
 * overlaps twice; radii 1 to `ratio`. */
static void scatter(tl_thread_ball *rows, size_t n, double density, double ratio) {
  uint64_t state = 7;
  double volume = 0;
  for (size_t i = 0; i < n; ++i) {
    rows[i].radius = pow(ratio, bench_random(&state));
    volume += 4 * PI / 3 * rows[i].radius * rows[i].radius * rows[i].radius;
  }
  const double edge = cbrt(volume / density);
  for (size_t i = 0; i < n; ++i) {
    rows[i].x = edge * bench_random(&state);
    rows[i].y = edge * bench_random(&state);
    rows[i].z = edge * bench_random(&state);
  }
}

/* ---- one row ----------------------------------------------------------------------------------
 */

static talus_status measure_device(tl_device *device, const tl_thread_ball *rows, size_t n,
                                   const options *opt, tl_device_spheres *blocks, figures *f) {
  const tl_spheres_asked asked = {
      .rows = rows, .count = n, .by_cells = strcmp(opt->broad, "cells") == 0};
  double least = HUGE_VAL;
  for (int i = 0; i < opt->repeat; ++i) {
    tl_spheres_times times;
    const double before = device->count.upload_ms;
    const talus_status status =
        tl_device_find_contacts(device, blocks, &asked, &f->contacts, &times);
    if (status != TALUS_OK)
      return status;
    const double all = times.sort_ms + times.search_ms + times.write_ms;
    if (all > least)
      continue;
    least = all;
    f->sort = times.sort_ms, f->search = times.search_ms, f->write = times.write_ms;
    f->upload = device->count.upload_ms - before;
  }
  f->bytes = device->count.peak;
  return TALUS_OK;
}

static talus_status measure_cpu(const tl_thread_ball *rows, size_t n, int repeat, int threads,
                                talus_detector **detector, talus_contacts *found, double *least) {
  const talus_detect_bodies bodies = {.count = n,
                                      .position = &rows->x,
                                      .position_stride = 4,
                                      .radius = &rows->radius,
                                      .radius_stride = 4};
  talus_detect_def def = talus_detect_def_default();
  def.threads = threads;
  *least = HUGE_VAL;
  talus_status status = talus_detector_create(&def, detector);
  for (int i = 0; i < repeat && status == TALUS_OK; ++i) {
    talus_detect_stats stats = {0};
    status = talus_detector_find_contacts(*detector, &bodies, found, &stats);
    *least = fmin(*least, stats.bounds_ms + stats.broad_ms + stats.sort_ms + stats.narrow_ms);
  }
  return status;
}

static talus_status compare(tl_device *device, const tl_device_spheres *blocks,
                            const talus_contacts *cpu, figures *f) {
  const size_t bytes = cpu->count * sizeof *cpu->data;
  f->same = cpu->count == f->contacts;
  talus_row_contact *copy = f->same && bytes > 0 ? malloc(bytes) : NULL;
  if (!copy)
    return f->same && bytes > 0 ? TALUS_ERROR_MEMORY : TALUS_OK;
  const talus_status status = device->calls->download(device, copy, blocks->contacts.data, bytes);
  f->same = status == TALUS_OK && memcmp(copy, cpu->data, bytes) == 0;
  free(copy);
  return status;
}

static talus_status beside_cpu(tl_device *device, const tl_device_spheres *blocks,
                               const tl_thread_ball *rows, size_t n, int repeat, figures *f) {
  talus_detector *detector = NULL;
  talus_contacts found;
  talus_status status = measure_cpu(rows, n, 1, 1, &detector, &found, &f->cpu_one);
  talus_detector_destroy(detector);
  detector = NULL;
  if (status == TALUS_OK)
    status = measure_cpu(rows, n, repeat, 0, &detector, &found, &f->cpu_all);
  if (status == TALUS_OK)
    status = compare(device, blocks, &found, f);
  talus_detector_destroy(detector);
  return status;
}

/* ---- other shapes: through detectors, one of the device and one of the CPU --------------------
 */

/* With volume 4/3 pi, like a sphere of radius 1, and of similar size. */
static const double hull_points[] = {
    1.2, 0,    0,    -1.2, 0,   0,    0,   1.2,  0,   0,    -1.2, 0,    0,    0,
    1.2, 0,    0,    -1.2, 0.9, 0.9,  0.9, -0.9, 0.9, 0.9,  0.9,  -0.9, 0.9,  0.9,
    0.9, -0.9, -0.9, -0.9, 0.9, -0.9, 0.9, -0.9, 0.9, -0.9, -0.9, -0.9, -0.9, -0.9};
static const struct {
  const char *name;
  talus_shape_def def;
} kinds[] = {
    {"ellipsoid", {.kind = TALUS_ELLIPSOID, .size = {1.3, 1.0, 1 / 1.3}}},
    {"box", {.kind = TALUS_BOX, .size = {2.0, 1.6, 1.309}}},
    {"capsule", {.kind = TALUS_CAPSULE, .size = {0.8, 1.017}}},
    {"cylinder", {.kind = TALUS_CYLINDER, .size = {0.9, 1.646}}},
    {"hull",
     {.kind = TALUS_HULL,
      .points = hull_points,
      .point_count = sizeof hull_points / sizeof *hull_points / 3}},
};

static const talus_shape_def *find_kind(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    if (strcmp(kinds[i].name, name) == 0)
      return &kinds[i].def;
  return NULL;
}

typedef struct crowd {
  talus_detect_bodies bodies;
  double *rotation, *scale;
  uint32_t *shape;
} crowd;

static bool make_crowd(const talus_shape_def *def, const tl_thread_ball *rows, size_t n,
                       crowd *made) {
  uint64_t state = 11;
  *made = (crowd){.rotation = malloc(4 * n * sizeof(double)),
                  .scale = malloc(n * sizeof(double)),
                  .shape = calloc(n, sizeof(uint32_t))};
  if (!made->rotation || !made->scale || !made->shape)
    return false;
  for (size_t i = 0; i < n; ++i) {
    for (int k = 0; k < 4; ++k)
      made->rotation[4 * i + (size_t)k] = bench_random(&state) - 0.5;
    made->scale[i] = rows[i].radius;
  }
  made->bodies = (talus_detect_bodies){.count = n,
                                       .position = &rows->x,
                                       .position_stride = 4,
                                       .shapes = def,
                                       .shape_count = 1,
                                       .shape = made->shape,
                                       .scale = made->scale,
                                       .rotation = made->rotation};
  return true;
}

static void free_crowd(crowd *made) {
  free(made->rotation);
  free(made->scale);
  free(made->shape);
}

static talus_status measure_detector(talus_detect_def def, const talus_detect_bodies *bodies,
                                     int repeat, talus_detector **detector, talus_contacts *found,
                                     talus_detect_stats *best) {
  double least = HUGE_VAL;
  talus_status status = talus_detector_create(&def, detector);
  for (int i = 0; i < repeat && status == TALUS_OK; ++i) {
    talus_detect_stats stats = {0};
    status = talus_detector_find_contacts(*detector, bodies, found, &stats);
    const double all = stats.broad_ms + stats.sort_ms + stats.narrow_ms;
    if (all < least)
      *best = stats, least = all;
  }
  return status;
}

static talus_status measure_shapes(const options *opt, const crowd *made, figures *f) {
  talus_detector *gpu = NULL, *cpu = NULL;
  talus_contacts found, same;
  talus_detect_stats best = {0};
  talus_detect_def def = talus_detect_def_default();
  talus_status status = talus_backend_by_name(opt->backend, &def.backend);
  def.no_fallback = true;
  if (status == TALUS_OK)
    status = talus_broad_by_name(opt->broad, &def.broad);
  if (status == TALUS_OK)
    status = measure_detector(def, &made->bodies, opt->repeat, &gpu, &found, &best);
  *f = (figures){.sort = best.sort_ms,
                 .search = best.broad_ms,
                 .write = best.narrow_ms,
                 .upload = best.upload_ms,
                 .contacts = best.contacts,
                 .pairs = best.candidates,
                 .bytes = best.device_bytes,
                 .same = true};
  def.backend = TALUS_BACKEND_CPU;
  if (status == TALUS_OK && (double)made->bodies.count <= opt->most_cpu) {
    def.threads = 1;
    status = measure_detector(def, &made->bodies, 1, &cpu, &same, &best);
    f->cpu_one = best.bounds_ms + best.broad_ms + best.sort_ms + best.narrow_ms;
    talus_detector_destroy(cpu);
    cpu = NULL;
    def.threads = 0;
    if (status == TALUS_OK)
      status = measure_detector(def, &made->bodies, opt->repeat, &cpu, &same, &best);
    f->cpu_all = best.bounds_ms + best.broad_ms + best.sort_ms + best.narrow_ms;
    f->same = status == TALUS_OK && same.count == found.count &&
              memcmp(same.data, found.data, same.count * sizeof *same.data) == 0;
  }
  talus_detector_destroy(gpu);
  talus_detector_destroy(cpu);
  return status;
}

static void tell(size_t n, double density, double ratio, const figures *f, FILE *csv) {
  const double all = f->sort + f->search + f->write;
  printf("%10zu %7g %6g %10zu %10zu %9.3f %8.3f %8.3f %8.3f %9.2f %8.2f", n, density, ratio,
         f->pairs, f->contacts, all, f->sort, f->search, f->write, f->upload,
         1e-9 * (double)f->bytes);
  if (f->cpu_all > 0)
    printf(" %10.1f %10.1f %7.0f %7.0f  %s\n", f->cpu_one, f->cpu_all, f->cpu_one / all,
           f->cpu_all / all, f->same ? "same" : "DIFFERENT");
  else
    printf("\n");
  (void)fflush(stdout);
  if (csv)
    fprintf(csv, "%zu,%g,%g,%zu,%zu,%.4f,%.4f,%.4f,%.3f,%zu,", n, density, ratio, f->pairs,
            f->contacts, f->sort, f->search, f->write, f->upload, f->bytes);
  if (csv && f->cpu_all > 0)
    fprintf(csv, "%.2f,%.2f,%d\n", f->cpu_one, f->cpu_all, f->same);
  else if (csv)
    fputs(",,\n", csv);
}

static talus_status measure(tl_device *device, const options *opt, size_t n, double density,
                            double ratio, FILE *csv, bool *same) {
  tl_thread_ball *rows = malloc(n * sizeof *rows);
  tl_device_spheres blocks = {0};
  figures f = {0};
  if (!rows) {
    cli_error("bench gpu-detect: no memory for %zu spheres", n);
    return TALUS_ERROR_MEMORY;
  }
  scatter(rows, n, density, ratio);
  const talus_shape_def *def = find_kind(opt->kind);
  talus_status status = TALUS_OK;
  if (def) {
    crowd made;
    status = make_crowd(def, rows, n, &made) ? measure_shapes(opt, &made, &f) : TALUS_ERROR_MEMORY;
    free_crowd(&made);
    *same &= f.same;
  } else {
    status = measure_device(device, rows, n, opt, &blocks, &f);
    f.pairs = f.contacts;
    if (status == TALUS_OK && (double)n <= opt->most_cpu) {
      status = beside_cpu(device, &blocks, rows, n, opt->repeat, &f);
      *same &= f.same;
    }
  }
  if (status == TALUS_OK)
    tell(n, density, ratio, &f, csv);
  tl_device_spheres_free(device, &blocks);
  free(rows);
  return status;
}

/* ---- the benchmark ----------------------------------------------------------------------------
 */

static talus_status open_device(const options *opt, tl_device **device) {
  const talus_status status = strcmp(opt->backend, "check") == 0 ? tl_device_open_check(device)
                                                                 : tl_device_open_cuda(device);
  if (status == TALUS_OK)
    printf("talus %s (%s), %s: %s\n", talus_version(), talus_features(), opt->backend,
           (*device)->title);
  return status;
}

static int run_table(const options *opt) {
  gpu_tables job = {.table = opt->table, .repeat = opt->repeat, .most = opt->most};
  if (!gpu_tables_know(opt->table)) {
    cli_error("bench gpu-detect: '%s' is not a table: these are 000, 002, 002-lattice, 004",
              opt->table);
    return CLI_INPUT;
  }
  if (opt->csv && !(job.csv = bench_open(opt->csv)))
    return CLI_FAILED;
  talus_status status = talus_backend_by_name(opt->backend, &job.backend);
  if (status == TALUS_OK)
    status = open_device(opt, &job.device);
  if (status == TALUS_OK) {
    status = gpu_tables_run(&job);
    job.device->calls->close(job.device);
  }
  const bool written = !job.csv || bench_close(job.csv);
  if (status != TALUS_OK)
    cli_error("bench gpu-detect: %s", talus_last_error());
  else if (!job.same)
    cli_error("bench gpu-detect: device and CPU found different contacts");
  return status != TALUS_OK ? cli_exit_code(status) : job.same && written ? CLI_DONE : CLI_FAILED;
}

static talus_status run(const options *opt, const double *bodies, int sizes,
                        const double *densities, int fillings, const double *ratios, int spreads,
                        FILE *csv, bool *same) {
  tl_device *device;
  talus_status status = open_device(opt, &device);
  if (status != TALUS_OK)
    return status;
  printf("kind: %s, broad: %s\n", opt->kind, opt->broad);
  printf("%10s %7s %6s %10s %10s %9s %8s %8s %8s %9s %8s %10s %10s %7s %7s\n", "bodies", "density",
         "sizes", "pairs", "contacts", "ms", "sort", "search", "write", "upload", "GB", "CPU 1",
         "CPU all", "times", "times");
  for (int k = 0; k < sizes && status == TALUS_OK; ++k)
    for (int d = 0; d < fillings && status == TALUS_OK; ++d)
      for (int r = 0; r < spreads && status == TALUS_OK; ++r)
        status = measure(device, opt, (size_t)bodies[k], densities[d], ratios[r], csv, same);
  device->calls->close(device);
  return status;
}

int bench_gpu_detect(int argc, char **argv) {
  options opt = {.backend = "cuda",
                 .kind = "sphere",
                 .broad = "bins",
                 .most = 1e8,
                 .bodies = "1000000,10000000",
                 .densities = "0.1",
                 .ratios = "1",
                 .most_cpu = 1e7,
                 .repeat = 5};
  const cli_option list[] = {
      {"backend", 0, CLI_TEXT, "NAME", "cuda (default) or check", &opt.backend},
      {"kind", 0, CLI_TEXT, "NAME", "sphere (default), ellipsoid, box, capsule, cylinder, hull",
       &opt.kind},
      {"broad", 0, CLI_TEXT, "NAME", "bins (default) or cells", &opt.broad},
      {"table", 0, CLI_TEXT, "NAME", "of a paper: 000, 002, 002-lattice, 004", &opt.table},
      {"most", 0, CLI_NUMBER, "N", "leaves out larger rows of such a table (default 1e8)",
       &opt.most},
      {"bodies", 0, CLI_TEXT, "N,N", "how many (default 1000000,10000000)", &opt.bodies},
      {"density", 0, CLI_TEXT, "D,D", "share of the cube that they would fill (default 0.1)",
       &opt.densities},
      {"sizes", 0, CLI_TEXT, "R,R", "largest over smallest radius (default 1)", &opt.ratios},
      {"most-cpu", 0, CLI_NUMBER, "N", "with more spheres the CPU is left out (default 1e7)",
       &opt.most_cpu},
      {"repeat", 0, CLI_COUNT, "N", "least of so many (default 5)", &opt.repeat},
      {"csv", 0, CLI_TEXT, "FILE", "the table as a file", &opt.csv},
      {0}};
  const cli_usage usage = {.synopsis = "talus bench gpu-detect [options]",
                           .about = "Contacts of random bodies on a device, beside the CPU.",
                           .options = list};
  double bodies[MOST], densities[MOST], ratios[MOST];
  const int parsed = bench_parse(&usage, "bench gpu-detect", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  if (opt.table)
    return run_table(&opt);
  if (strcmp(opt.broad, "bins") != 0 && strcmp(opt.broad, "cells") != 0) {
    cli_error("bench gpu-detect: '%s' is not a broad phase of devices: these are bins, cells",
              opt.broad);
    return CLI_INPUT;
  }
  const int sizes = bench_list(opt.bodies, bodies, MOST);
  const int fillings = bench_list(opt.densities, densities, MOST);
  const int spreads = bench_list(opt.ratios, ratios, MOST);
  bool is_counted = true;
  if (strcmp(opt.kind, "sphere") != 0 && !find_kind(opt.kind)) {
    cli_error("bench gpu-detect: '%s' is not a kind: these are sphere, ellipsoid, box, capsule, "
              "cylinder, hull",
              opt.kind);
    return CLI_INPUT;
  }
  for (int k = 0; k < sizes; ++k)
    is_counted &= bodies[k] >= 1 && bodies[k] < 2147483648.0;
  if (sizes == 0 || !is_counted || fillings == 0 || spreads == 0 || opt.repeat < 1) {
    cli_error("bench gpu-detect: --bodies, --density and --sizes are up to 8 numbers above 0 with "
              "commas between them (bodies: 1 to 2^31 - 1), --repeat is 1 or more");
    return CLI_INPUT;
  }
  FILE *csv = opt.csv ? bench_open(opt.csv) : NULL;
  if (opt.csv && !csv)
    return CLI_FAILED;
  if (csv)
    fputs("bodies,density,sizes,pairs,contacts,sort_ms,search_ms,write_ms,upload_ms,device_bytes,"
          "cpu_one_ms,cpu_all_ms,same\n",
          csv);
  bool same = true;
  const talus_status status =
      run(&opt, bodies, sizes, densities, fillings, ratios, spreads, csv, &same);
  const bool written = !csv || bench_close(csv);
  if (status != TALUS_OK)
    cli_error("bench gpu-detect: %s", talus_last_error());
  else if (!same)
    cli_error("bench gpu-detect: device and CPU found different contacts");
  return status != TALUS_OK ? cli_exit_code(status) : same && written ? CLI_DONE : CLI_FAILED;
}
