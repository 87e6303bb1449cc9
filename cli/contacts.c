/* talus contacts: collision detection without a simulation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bodies_read.h"
#include "cli.h"
#include "file_write.h"
#include "json.h"
#include "rows_write.h"

typedef struct options {
  const char *broad, *narrow, *triangle, *tree, *backend, *output;
  bool pairs, contacts, surfaces, stats, json, no_fallback;
  double margin;
  int threads, repeat, pieces;
} options;

/* Results and times. */
typedef struct findings {
  body_table table;
  talus_detect_def def;
  talus_detector *detector;
  talus_pairs pairs;
  talus_contacts contacts;
  talus_detect_stats stats; /* times: medians */
} findings;

/* ---- finding --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, compare);
  return 0.5 * (values[(n - 1) / 2] + values[n / 2]);
}

static talus_status find_once(const options *wanted, findings *found) {
  if (wanted->pairs)
    return talus_detector_find_pairs(found->detector, &found->table.bodies, &found->pairs,
                                     &found->stats);
  return talus_detector_find_contacts(found->detector, &found->table.bodies, &found->contacts,
                                      &found->stats);
}

/* Searches several times in the same memory; keeps the last results. */
static talus_status find(const options *wanted, findings *found) {
  const int n = wanted->repeat;
  double *times = malloc(4 * (size_t)n * sizeof *times);
  if (!times)
    return TALUS_ERROR_MEMORY;
  double *bounds = times, *broad = times + n, *sort = times + 2 * n, *narrow = times + 3 * n;
  size_t peak = 0;
  talus_status status = talus_detector_create(&found->def, &found->detector);
  for (int i = 0; i < n && status == TALUS_OK; ++i) {
    status = find_once(wanted, found);
    bounds[i] = found->stats.bounds_ms;
    broad[i] = found->stats.broad_ms;
    sort[i] = found->stats.sort_ms;
    narrow[i] = found->stats.narrow_ms;
    peak = found->stats.peak_bytes > peak ? found->stats.peak_bytes : peak;
  }
  if (status == TALUS_OK) {
    found->stats.bounds_ms = median(bounds, n);
    found->stats.broad_ms = median(broad, n);
    found->stats.sort_ms = median(sort, n);
    found->stats.narrow_ms = median(narrow, n);
    found->stats.peak_bytes = peak;
  }
  free(times);
  return status;
}

/* ---- output ---------------------------------------------------------------------------------- */

static void show_backend(const talus_detect_stats *stats) {
  char moved[CLI_DURATION_BYTES], held[CLI_DURATION_BYTES];
  printf("  %-12s %s%s%s\n", "backend", talus_backend_name(stats->backend),
         stats->fallback ? ": " : "", stats->fallback ? stats->fallback : "");
  if (stats->fallback)
    return;
  printf("  %-12s %s\n", "device", stats->device);
  printf("  %-12s %s in %.3f ms to it, %.3f ms from it; at most %s there\n", "moved",
         cli_bytes((double)stats->moved_bytes, moved), stats->upload_ms, stats->download_ms,
         cli_bytes((double)stats->device_bytes, held));
}

static void show_stats(const options *wanted, const findings *found, const char *path) {
  const talus_detect_stats *stats = &found->stats;
  char bytes[CLI_DURATION_BYTES];
  const double n = (double)found->table.bodies.count, per = n > 0 ? 1e6 / n : 0;
  printf("%s: %zu bodies\n\n", path, found->table.bodies.count);
  printf("  %-12s %s%s%s\n", "broad", talus_broad_name(stats->broad), stats->reason ? ": " : "",
         stats->reason ? stats->reason : "");
  printf("  %-12s %llu\n", "pairs", (unsigned long long)stats->pairs);
  if (!wanted->pairs) {
    printf("  %-12s %llu\n", "candidates", (unsigned long long)stats->candidates);
    printf("  %-12s %llu\n", "contacts", (unsigned long long)stats->contacts);
    if (stats->comparisons > 0)
      printf("  %-12s %llu (%llu again by comparison)\n", "triangles",
             (unsigned long long)stats->comparisons, (unsigned long long)stats->fallbacks);
  }
  printf("  %-12s %d\n", "threads", stats->threads);
  if (stats->backend != TALUS_BACKEND_CPU || stats->fallback)
    show_backend(stats);
  printf("  %-12s %s\n", "memory", cli_bytes((double)stats->peak_bytes, bytes));
  printf("\n  %-12s %12s %12s%s\n", "time", "ms", "ns/body",
         wanted->repeat > 1 ? "   (medians)" : "");
  const struct {
    const char *name;
    double ms;
  } rows[] = {{"boxes", stats->bounds_ms},
              {"broad", stats->broad_ms},
              {"sort", stats->sort_ms},
              {"narrow", stats->narrow_ms}};
  static const char *const stages[] = {"count", "scan",  "write", "sort", "active",
                                       "scan",  "loads", "count", "scan", "write"};
  for (size_t i = 0; i < sizeof rows / sizeof *rows - (wanted->pairs ? 1 : 0); ++i)
    printf("  %-12s %12.3f %12.1f\n", rows[i].name, rows[i].ms, per * rows[i].ms);
  const bool has_stages =
      found->def.published && stats->backend != TALUS_BACKEND_CPU && !wanted->pairs;
  for (size_t i = 0; i < 10 && has_stages; ++i)
    printf("  %2zu %-9s %12.3f %12.1f\n", i + 1, stages[i], stats->stage_ms[i],
           per * stats->stage_ms[i]);
}

static void show_json(const options *wanted, const findings *found, const char *path) {
  const talus_detect_stats *stats = &found->stats;
  json out = json_begin(stdout);
  json_open(&out, NULL, '{');
  json_text(&out, "file", path);
  json_text(&out, "talus", talus_version());
  json_number(&out, "bodies", (double)found->table.bodies.count);
  json_text(&out, "find", wanted->pairs ? "pairs" : "contacts");
  json_text(&out, "broad", talus_broad_name(stats->broad));
  json_text(&out, "reason", stats->reason ? stats->reason : "");
  json_number(&out, "margin", wanted->margin);
  json_number(&out, "threads", stats->threads);
  json_number(&out, "repeat", wanted->repeat);
  json_number(&out, "bounds_ms", stats->bounds_ms);
  json_number(&out, "broad_ms", stats->broad_ms);
  json_number(&out, "sort_ms", stats->sort_ms);
  json_number(&out, "narrow_ms", stats->narrow_ms);
  json_number(&out, "pairs", (double)stats->pairs);
  json_number(&out, "candidates", (double)stats->candidates);
  json_number(&out, "contacts", (double)stats->contacts);
  json_number(&out, "comparisons", (double)stats->comparisons);
  json_number(&out, "fallbacks", (double)stats->fallbacks);
  json_number(&out, "peak_bytes", (double)stats->peak_bytes);
  json_text(&out, "backend", talus_backend_name(stats->backend));
  json_text(&out, "fallback", stats->fallback ? stats->fallback : "");
  json_text(&out, "device", stats->device ? stats->device : "");
  json_number(&out, "upload_ms", stats->upload_ms);
  json_number(&out, "download_ms", stats->download_ms);
  json_number(&out, "moved_bytes", (double)stats->moved_bytes);
  json_number(&out, "device_bytes", (double)stats->device_bytes);
  json_close(&out, '}');
  json_end(&out);
}

static bool write_rows(const options *wanted, const findings *found, FILE *to) {
  return wanted->pairs ? rows_write_pairs(&found->pairs, to)
                       : rows_write_contacts(&found->contacts, wanted->surfaces, to);
}

/* Argument of cli_write_file. */
typedef struct result {
  const options *wanted;
  const findings *found;
} result;

static bool print_rows(FILE *to, const void *what) {
  const result *rows = what;
  return write_rows(rows->wanted, rows->found, to);
}

static int tell(const options *wanted, const findings *found, const char *path) {
  int code = CLI_DONE;
  if (wanted->output)
    code = cli_write_file(wanted->output, print_rows, &(result){wanted, found});
  if (code == CLI_DONE && wanted->json)
    show_json(wanted, found, path);
  else if (code == CLI_DONE && wanted->stats)
    show_stats(wanted, found, path);
  else if (code == CLI_DONE && !wanted->output)
    write_rows(wanted, found, stdout); /* main checks stdout for errors */
  return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int check(const options *wanted, talus_detect_def *def) {
  *def = talus_detect_def_default();
  def->margin = wanted->margin;
  def->threads = wanted->threads;
  def->no_fallback = wanted->no_fallback;
  def->pieces = wanted->pieces;
  def->published = strcmp(wanted->broad, "bins-published") == 0;
  if (wanted->pairs && wanted->contacts)
    cli_error("contacts: --pairs and --contacts are one or the other");
  else if (wanted->pairs && wanted->surfaces)
    cli_error("contacts: --surfaces is for contacts; leave --pairs out");
  else if (wanted->json && wanted->stats)
    cli_error("contacts: --stats and --json are one or the other");
  else if (wanted->margin < 0)
    cli_error("contacts: option '--margin': %g is negative", wanted->margin);
  else if (wanted->threads > 4096)
    cli_error("contacts: option '--threads': %d is more than 4096", wanted->threads);
  else if (wanted->repeat < 1 || wanted->repeat > 100000)
    cli_error("contacts: option '--repeat': %d is not 1 to 100000", wanted->repeat);
  else if (wanted->pieces < 1 || wanted->pieces > 1000000)
    cli_error("contacts: option '--pieces': %d is not 1 to 1000000", wanted->pieces);
  else if (talus_broad_by_name(def->published ? "bins" : wanted->broad, &def->broad) != TALUS_OK)
    cli_error("contacts: option '--broad': %s", talus_last_error());
  else if (talus_ellipsoid_method_by_name(wanted->narrow, &def->narrow.ellipsoid) != TALUS_OK)
    cli_error("contacts: option '--narrow': %s", talus_last_error());
  else if (talus_triangle_method_by_name(wanted->triangle, &def->narrow.triangle) != TALUS_OK)
    cli_error("contacts: option '--triangle': %s", talus_last_error());
  else if (talus_tree_kind_by_name(wanted->tree, &def->narrow.tree) != TALUS_OK)
    cli_error("contacts: option '--tree': %s", talus_last_error());
  else if (talus_backend_by_name(wanted->backend, &def->backend) != TALUS_OK)
    cli_error("contacts: option '--backend': %s", talus_last_error());
  else
    return CLI_DONE;
  return CLI_INPUT;
}

static int run(const options *wanted, const char *path) {
  findings found = {0};
  char why[8192 + 512];
  int code = check(wanted, &found.def);
  if (code != CLI_DONE)
    return code;
  if (!bodies_read(path, &found.table, why, sizeof why)) {
    cli_error("%s", why);
    return cli_exit_code_of(why);
  }
  const talus_status status = find(wanted, &found);
  if (status == TALUS_OK)
    code = tell(wanted, &found, path);
  else {
    cli_error("%s: %s", path,
              status == TALUS_ERROR_MEMORY && !*talus_last_error() ? "out of memory"
                                                                   : talus_last_error());
    code = cli_exit_code(status);
  }
  talus_detector_destroy(found.detector);
  bodies_free(&found.table);
  return code;
}

int cli_contacts(int argc, char **argv) {
  options wanted = {.broad = "auto",
                    .narrow = "newton",
                    .triangle = "comparison",
                    .tree = "bvh",
                    .backend = "cpu",
                    .repeat = 1,
                    .pieces = 1};
  const cli_option list[] = {
      {"broad", 0, CLI_TEXT, "NAME", "how: auto, bins, kdtree, cells, sweep, bvh or brute",
       &wanted.broad},
      {"narrow", 0, CLI_TEXT, "NAME", "how two ellipsoids meet: newton, opm or chm+opm",
       &wanted.narrow},
      {"triangle", 0, CLI_TEXT, "NAME", "two triangles: comparison, certified, iterative, hybrid",
       &wanted.triangle},
      {"tree", 0, CLI_TEXT, "NAME", "near triangles of meshes by bvh, flat or surrogate",
       &wanted.tree},
      {"backend", 0, CLI_TEXT, "NAME", "where: cpu, cuda (a GPU) or check (its code on the CPU)",
       &wanted.backend},
      {"no-fallback", 0, CLI_FLAG, NULL, "refuses what the backend cannot do", &wanted.no_fallback},
      {"pieces", 0, CLI_COUNT, "N", "a device hands over contacts in N turns: less memory",
       &wanted.pieces},
      {"pairs", 0, CLI_FLAG, NULL, "pairs whose axis-aligned boxes overlap", &wanted.pairs},
      {"contacts", 0, CLI_FLAG, NULL, "contact points with gap <= margin (the default)",
       &wanted.contacts},
      {"surfaces", 0, CLI_FLAG, NULL, "adds ax,ay,az,bx,by,bz: the points on a and on b",
       &wanted.surfaces},
      {"margin", 0, CLI_NUMBER, "D", "largest gap that counts, in metres (default 0)",
       &wanted.margin},
      {"threads", 0, CLI_COUNT, "N", "how many threads; 0: one per core (default)",
       &wanted.threads},
      {"repeat", 0, CLI_COUNT, "N", "finds them N times; times are medians", &wanted.repeat},
      {"stats", 0, CLI_FLAG, NULL, "shows counts, times and memory", &wanted.stats},
      {"json", 0, CLI_FLAG, NULL, "the same as JSON, for programs", &wanted.json},
      {"output", 'o', CLI_TEXT, "FILE", "writes the rows to FILE instead of showing them",
       &wanted.output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus contacts FILE [options]",
      .about = "Finds which bodies touch, without a simulation. FILE is one of\n"
               "  a table      bodies.csv with the header x,y,z,r: spheres, in metres; or\n"
               "               shape,x,y,z,qw,qx,qy,qz,a,b,c (all four q may be empty):\n"
               "               sphere a: radius; ellipsoid a,b,c: half axes; box, container\n"
               "               a,b,c: half edges (or lx,ly,lz: edges); capsule, cylinder, cone\n"
               "               a: radius, b: length; superellipsoid a,b,c,n1,n2; plane: normal\n"
               "               along z; hull, clump file: a mesh (a hull), or a scene (.yaml)\n"
               "               and name: of its shape; a: scale (may be empty)\n"
               "  binary       little-endian: uint64 N, then N records of 4 doubles x y z r\n"
               "  a frame      of a result folder: out/frames/000042.hdf",
      .options = list,
      .more = "Rows are sorted; bodies are numbered from 0 in the order of the file.\n"
              "  --pairs      body_a,body_b: boxes, each grown by half the margin, overlap\n"
              "  --contacts   body_a,body_b,px,py,pz,nx,ny,nz,gap: the point midway between the\n"
              "               surfaces, the normal from a to b, the gap: < 0 where they overlap\n"
              "They do not depend on --broad and --threads. Touching counts. Without -o they\n"
              "are shown, unless --stats or --json is given. A device has --broad auto, bins,\n"
              "cells, and bins-published, whose ten stages --stats shows (not with --pairs).\n",
      .least = 1,
      .most = 1,
      .wants = "a file of bodies"};
  const char *path = NULL;
  const int parsed = cli_parse(&usage, argc, argv, &path);
  return parsed < 0 ? cli_parse_exit(parsed) : run(&wanted, path);
}
