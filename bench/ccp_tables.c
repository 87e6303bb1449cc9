/* Tables 1 and 3 of Tasora, Negrut and Anitescu 2011 (docs/sources.md 002) beside our measurements.
 * The paper does not state the number of iterations, the residual or the step; ours are shown. */
#include <math.h>

#include "ccp.h"

#define DIAMETER (2 * CCP_RADIUS)

/* Measures every method in turn while the flow goes on. */
static bool measure_methods(ccp_bench *bench, ccp_heap *heap, long steps,
                            void (*print)(const ccp_times *, const char *, size_t, FILE *),
                            FILE *csv) {
  const ccp_options *options = &bench->options;
  bool good = true;
  for (int method = 0; method < CCP_METHODS && good; ++method) {
    ccp_times times;
    if (!options->method[method])
      continue;
    ccp_heap_solve_with(heap, method, options->iterations, true);
    good = ccp_measure(heap, 1, &times); /* the first step of a method maps its memory */
    good = good && ccp_measure(heap, steps, &times);
    if (good)
      print(&times, ccp_method_name(method), heap->bodies, csv);
    fflush(stdout);
  }
  ccp_heap_solve_with(heap, TALUS_GAUSS_SEIDEL, options->iterations, true);
  return good;
}

static bool settle(ccp_heap *heap, long steps) {
  return talus_world_step(heap->world, (uint64_t)steps) == TALUS_OK || ccp_fail("settling");
}

static long either(long wanted, long otherwise) { return wanted > 0 ? wanted : otherwise; }

/* Prints a number of the paper; NAN (a size of --quick) is `-` in tables and empty in CSV. */
static void print_paper(double value, int width, int digits) {
  if (isnan(value))
    printf(" %*s", width, "-");
  else
    printf(" %*.*f", width, digits, value);
}

static void write_paper(FILE *csv, double value) {
  if (isnan(value))
    fputc(',', csv);
  else
    fprintf(csv, ",%g", value);
}

/* ---- Table 1 --------------------------------------------------------------------------------- */

/* Seconds of the solver: serial on a Xeon of 2.66 GHz, and on a Tesla C1060. For collision
 * detection the paper has only the ratio of the two. */
static const struct {
  size_t bodies;
  double cpu, gpu, collision_ratio;
} table1[] = {{16000, 7.11, 0.57, 4.67},
              {32000, 16.01, 1.00, 6.14},
              {64000, 34.60, 1.97, 10.35},
              {128000, 76.82, 4.55, 21.71}};
#define TABLE1 (sizeof table1 / sizeof *table1)

static void print_silo(const ccp_times *times, const char *method, size_t bodies, FILE *csv) {
  double cpu = NAN, gpu = NAN;
  for (size_t i = 0; i < TABLE1; ++i)
    if (table1[i].bodies == bodies) {
      cpu = table1[i].cpu;
      gpu = table1[i].gpu;
    }
  printf("%8zu  %-12s %9.4f %9.4f %9.0f %5d %9.2e %9.2e", bodies, method, times->solve,
         times->collision, times->contacts, times->iterations, times->residual_rms,
         times->residual_max);
  print_paper(cpu, 8, 2);
  print_paper(gpu, 8, 2);
  print_paper(cpu / times->solve, 8, 0);
  print_paper(gpu / times->solve, 8, 0);
  putchar('\n');
  if (!csv)
    return;
  fprintf(csv, "%zu,%s,%g,%g,%g,%g,%d,%g,%g", bodies, method, times->total, times->solve,
          times->collision, times->contacts, times->iterations, times->residual_rms,
          times->residual_max);
  write_paper(csv, cpu);
  write_paper(csv, gpu);
  fputc('\n', csv);
}

/* Twice as high as wide, the hole a third of its width. */
static bool run_silo(ccp_bench *bench, size_t bodies, FILE *csv) {
  const ccp_options *options = &bench->options;
  const double side = 1.03 * DIAMETER * cbrt(0.5 * (double)bodies);
  const ccp_recipe recipe = {.bodies = bodies,
                             .side = side,
                             .hole = side / 3,
                             .dt = 1e-3,
                             .iterations = options->quick ? 10 : 20,
                             .threads = options->threads};
  ccp_heap heap;
  if (!ccp_heap_make(&recipe, &heap))
    return false;
  const bool good = settle(&heap, either(options->settle, options->quick ? 30 : 200)) &&
                    measure_methods(bench, &heap, either(options->steps, options->quick ? 3 : 20),
                                    print_silo, csv);
  ccp_heap_free(&heap);
  return good;
}

bool ccp_table_silo(ccp_bench *bench) {
  FILE *csv;
  if (!bench_csv_open(bench->folder, "silo",
                      "bodies,method,total_s,solve_s,collision_s,contacts,iterations,residual_rms,"
                      "residual_max,paper_cpu_solve_s,paper_gpu_solve_s",
                      &csv))
    return false;
  printf(
      "Spheres leave a silo (Tasora et al. 2011, Table 1). Seconds per step; g dt = 9.8e-3 m/s.\n"
      "paper: its solver on one core of a Xeon 2.66 GHz and on a Tesla C1060, iterations and\n"
      "residual not given; x: times as long as ours.\n");
  printf("%8s  %-12s %9s %9s %9s %5s %9s %9s %8s %8s %8s %8s\n", "bodies", "method", "solver",
         "collision", "contacts", "iter", "res rms", "res max", "paper c", "paper g", "x cpu",
         "x gpu");
  bool good = true, any = false;
  for (size_t i = 0; i < TABLE1 && good; ++i)
    if (table1[i].bodies <= bench->options.max) {
      good = run_silo(bench, table1[i].bodies, csv);
      any = true;
    }
  if (!any)
    good = run_silo(bench, bench->options.max, csv);
  return bench_csv_close(csv) && good;
}

/* ---- Table 3 --------------------------------------------------------------------------------- */

static const struct {
  double total, collision, solve; /* s per step on a Tesla C1060 */
  double contacts;
} table3[] = {{6.1972, 0.5436, 5.4243, 361440},    {12.1190, 1.0758, 10.5881, 718377},
              {18.2708, 1.6183, 15.9482, 1080069}, {23.2806, 1.9746, 20.4606, 1403784},
              {29.2565, 2.4568, 25.7773, 1765772}, {35.0433, 2.9785, 30.7971, 2124639},
              {40.5938, 3.4695, 35.6405, 2439241}, {46.9516, 4.0234, 41.2297, 2838832},
              {52.6227, 4.5272, 46.1909, 3178228}, {58.1518, 4.9473, 51.1686, 3548594}};
#define TABLE3 (sizeof table3 / sizeof *table3)

static void print_tank(const ccp_times *times, const char *method, size_t bodies, FILE *csv) {
  const size_t row = bodies / 100000;
  const bool known = row >= 1 && row <= TABLE3 && row * 100000 == bodies;
  const double total = known ? table3[row - 1].total : NAN;
  const double collision = known ? table3[row - 1].collision : NAN;
  const double solve = known ? table3[row - 1].solve : NAN;
  const double contacts = known ? table3[row - 1].contacts : NAN;
  printf("%8zu  %-12s %8.4f %9.4f %8.4f %9.0f %5d %9.2e %9.2e", bodies, method, times->total,
         times->collision, times->solve, times->contacts, times->iterations, times->residual_rms,
         times->residual_max);
  print_paper(total, 8, 3);
  print_paper(collision, 8, 4);
  print_paper(solve, 8, 3);
  print_paper(contacts, 9, 0);
  print_paper(total / times->total, 7, 0);
  putchar('\n');
  if (!csv)
    return;
  fprintf(csv, "%zu,%s,%g,%g,%g,%g,%d,%g,%g", bodies, method, times->total, times->collision,
          times->solve, times->contacts, times->iterations, times->residual_rms,
          times->residual_max);
  const double paper[] = {total, collision, solve, contacts};
  for (size_t i = 0; i < sizeof paper / sizeof *paper; ++i)
    write_paper(csv, paper[i]);
  fputc('\n', csv);
}

/* Of constant depth, 20 spheres; the hole is a fifth of its width and is opened when they have
 * settled. */
static bool run_tank(ccp_bench *bench, size_t bodies, FILE *csv) {
  const ccp_options *options = &bench->options;
  const double side = 1.03 * DIAMETER * sqrt((double)bodies / 20);
  const ccp_recipe recipe = {.bodies = bodies,
                             .side = side,
                             .hole = side / 5,
                             .plugged = true,
                             .dt = 1e-3,
                             .iterations = options->quick ? 5 : 10,
                             .threads = options->threads};
  const long steps = either(options->settle, options->quick ? 20 : 120);
  ccp_heap heap;
  if (!ccp_heap_make(&recipe, &heap))
    return false;
  const bool good = settle(&heap, steps) && ccp_heap_unplug(&heap) && settle(&heap, steps / 2) &&
                    measure_methods(bench, &heap, either(options->steps, options->quick ? 2 : 5),
                                    print_tank, csv);
  ccp_heap_free(&heap);
  return good;
}

bool ccp_table_tank(ccp_bench *bench) {
  FILE *csv;
  if (!bench_csv_open(bench->folder, "tank",
                      "bodies,method,total_s,collision_s,solve_s,contacts,iterations,residual_rms,"
                      "residual_max,paper_total_s,paper_collision_s,paper_solve_s,paper_contacts",
                      &csv))
    return false;
  printf("Spheres in a tank of constant depth with a hole in its floor (Tasora et al. 2011, Table "
         "3), which\n"
         "is square here and round there. Seconds per step; g dt = 9.8e-3 m/s. paper: on a Tesla\n"
         "C1060, iterations and residual not given; x: its total over ours.\n");
  printf("%8s  %-12s %8s %9s %8s %9s %5s %9s %9s %8s %8s %8s %9s %7s\n", "bodies", "method",
         "total", "collision", "solver", "contacts", "iter", "res rms", "res max", "paper t",
         "paper c", "paper s", "contacts", "x");
  bool good = true;
  for (size_t i = 1; i <= TABLE3 && good && i * 100000 <= bench->options.max; ++i)
    good = run_tank(bench, i * 100000, csv);
  if (bench->options.max < 100000)
    good = run_tank(bench, bench->options.max, csv);
  return bench_csv_close(csv) && good;
}
