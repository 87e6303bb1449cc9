/* talus bench implicit, Tables 6.2 and 6.3: every triangle against every other, by comparison and
 * by the hybrid as published and with proofs; number of fallbacks, and near pairs missed. */
#include <math.h>
#include <stdlib.h>

#include "implicit.h"
#include "narrow/iterative.h"
#include "narrow/mesh_pair.h"

#define CHUNK 4096 /* pairs that are made at a time */

typedef struct pair_counts {
  double pairs, near;             /* near: by exact comparison */
  double printed, missed_printed; /* J changed too much; near, but called apart */
  double open, missed;            /* the same with the length of the last step (D3) */
  double missed_alone;            /* by the four steps without a limiter */
  double unproven;                /* ours: neither proven near nor apart */
  double worst;                   /* m: largest excess of the distance of a near pair */
  double compare_s, hybrid_s;     /* CPU time of all pairs */
} pair_counts;

typedef struct chunk {
  tl_triangle_pair pairs[CHUNK];
  tl_triangle_near found[CHUNK];
  uint32_t which[CHUNK];
  bool is_near[CHUNK];
  double distance[CHUNK];
  size_t count;
} chunk;

typedef struct meeting {
  tl_triangle_corners *a, *b; /* in one frame */
  size_t of_a, of_b;
} meeting;

static void look_closely(const meeting *m, chunk *c, pair_counts *to) {
  const tl_iterative_loops *loops = tl_iterative_loops_now();
  tl_triangle_batch batch;
  tl_guesses guesses;
  for (size_t begin = 0; begin < c->count; begin += TL_TRIANGLE_BLOCK) {
    batch.count = 0;
    for (size_t i = begin; i < c->count && batch.count < TL_TRIANGLE_BLOCK; ++i)
      tl_triangle_batch_add(&batch, &m->a[c->pairs[i].a], &m->b[c->pairs[i].b]);
    tl_triangle_batch_close(&batch);
    loops->iterate(&batch.a, &batch.b, &guesses);
    for (int k = 0; k < batch.count; ++k) {
      const size_t i = begin + (size_t)k;
      const tl_guess_verdict v = tl_guess_publish(&batch, &guesses, k, IMPLICIT_REACH);
      const bool found = tl_guess_is_near(&batch, &guesses, k, IMPLICIT_REACH);
      const tl_guess_verdict printed = tl_guess_print(&batch, &guesses, k, IMPLICIT_REACH, 1);
      to->printed += printed == TL_GUESS_OPEN;
      to->missed_printed += printed == TL_GUESS_APART && c->is_near[i];
      to->open += v == TL_GUESS_OPEN;
      to->missed += v == TL_GUESS_APART && c->is_near[i];
      to->missed_alone += !found && c->is_near[i];
      to->unproven += tl_guess_prove(&batch, &guesses, k, IMPLICIT_REACH) == TL_GUESS_OPEN;
      if (c->is_near[i])
        to->worst =
            fmax(to->worst, sqrt((double)guesses.square[k]) * batch.unit[k] - c->distance[i]);
    }
  }
}

static void do_chunk(const meeting *m, chunk *c, pair_counts *to) {
  uint64_t asked = 0;
  double begun = implicit_cpu();
  const size_t near =
      tl_triangles_find(m->a, m->b, c->pairs, c->count, IMPLICIT_REACH, c->found, c->which, NULL);
  to->compare_s += implicit_cpu() - begun;
  for (size_t i = 0; i < c->count; ++i)
    c->is_near[i] = false;
  for (size_t i = 0; i < near; ++i) {
    c->is_near[c->which[i]] = true;
    c->distance[c->which[i]] = sqrt(c->found[i].square);
  }
  begun = implicit_cpu();
  tl_triangles_iterate(m->a, m->b, c->pairs, c->count, IMPLICIT_REACH, true, c->found, c->which,
                       &asked);
  to->hybrid_s += implicit_cpu() - begun;
  to->pairs += (double)c->count, to->near += (double)near;
  look_closely(m, c, to);
  c->count = 0;
}

static void meet_all(const meeting *m, chunk *c, pair_counts *to) {
  c->count = 0;
  for (uint32_t i = 0; i < m->of_a; ++i)
    for (uint32_t j = 0; j < m->of_b; ++j) {
      c->pairs[c->count++] = (tl_triangle_pair){i, j};
      if (c->count == CHUNK)
        do_chunk(m, c, to);
    }
  if (c->count > 0)
    do_chunk(m, c, to);
}

static bool meet_shapes(const implicit_bench *bench, const tl_shape *a, const tl_shape *b,
                        implicit_pose (*pose)(int, int), pair_counts *out) {
  meeting m = {malloc(a->face_count * sizeof *m.a), malloc(b->face_count * sizeof *m.b),
               a->face_count, b->face_count};
  chunk *c = malloc(sizeof *c);
  const bool good = m.a && m.b && c;
  *out = (pair_counts){0};
  for (int step = 0; step < bench->steps && good; ++step) {
    const implicit_pose at = pose(step, bench->steps);
    const tl_posed first = {.shape = a, .scale = 1, .rotation = {1, 0, 0, 0}};
    const tl_posed second = {
        .shape = b, .scale = 1, .position = at.position, .rotation = at.rotation};
    const tl_mesh_pair pair = tl_mesh_pair_make(&first, &second, (talus_real)IMPLICIT_REACH, true);
    for (uint32_t t = 0; t < m.of_a; ++t)
      m.a[t] = tl_mesh_pair_first(&pair, t);
    for (uint32_t t = 0; t < m.of_b; ++t)
      m.b[t] = tl_mesh_pair_second(&pair, t);
    meet_all(&m, c, out);
  }
  free(m.a);
  free(m.b);
  free(c);
  if (!good)
    cli_error("bench implicit: out of memory");
  return good;
}

/* Results of the thesis for 12, 36, 140 and 1224 triangles. */
static const size_t sizes[4] = {12, 36, 140, 1224};

static void print_row(const implicit_bench *bench, const char *table, size_t triangles,
                      double thesis, const pair_counts *c) {
  const double percent = 100 / c->pairs, of_near = c->near > 0 ? 100 / c->near : 0;
  char row[32];
  printf("  %6zu %9.3g   %9.3g %9.3g   %9.3g %9.3g   %9.3g %9.3g   %10.2e   %8.1f %8.1f\n",
         triangles, thesis, percent * c->printed, of_near * c->missed_printed, percent * c->open,
         of_near * c->missed, percent * c->unproven, of_near * c->missed_alone, c->worst,
         1e9 * c->compare_s / c->pairs, 1e9 * c->hybrid_s / c->pairs);
  snprintf(row, sizeof row, "%zu triangles", triangles);
  implicit_put(bench, table, row, "fallback as printed, %", thesis, percent * c->printed);
  implicit_put(bench, table, row, "missed as printed, % of near", NAN, of_near * c->missed_printed);
  implicit_put(bench, table, row, "fallback by length, %", thesis, percent * c->open);
  implicit_put(bench, table, row, "missed by length, % of near", NAN, of_near * c->missed);
  implicit_put(bench, table, row, "missed without fallback, % of near", NAN,
               of_near * c->missed_alone);
  implicit_put(bench, table, row, "fallback with proofs, %", NAN, percent * c->unproven);
  implicit_put(bench, table, row, "distance too long, m", NAN, c->worst);
  implicit_put(bench, table, row, "comparison, ns a pair", NAN, 1e9 * c->compare_s / c->pairs);
  implicit_put(bench, table, row, "hybrid, ns a pair", NAN, 1e9 * c->hybrid_s / c->pairs);
}

static bool meet_table(const implicit_bench *bench, const char *table, const double thesis[4],
                       bool on_plane) {
  printf(
      "  fallback: share of pairs, %%; missed: share of near pairs, %%; reach %g of the diameter; "
      "as printed: J may\n  change by eps in the last step, by length: the places may; too long: "
      "worst distance of a near pair, diameters\n\n"
      "  %6s %9s   %-19s   %-19s   %-9s %9s   %10s   %-17s\n"
      "  %6s %9s   %9s %9s   %9s %9s   %9s %9s   %10s   %8s %8s\n",
      IMPLICIT_REACH, "", "thesis", "as printed", "by length", "proofs", "4 steps", "4 steps",
      "ns a pair", "tri.", "fallback", "fallback", "missed", "fallback", "missed", "fallback",
      "missed", "too long", "compar.", "hybrid");
  for (int k = 0; k < (bench->quick ? 2 : 4); ++k) {
    tl_shape a, b;
    pair_counts c;
    if (!implicit_make_sphere(sizes[k], &a))
      return false;
    if (!(on_plane ? implicit_make_plate(&b) : implicit_make_sphere(sizes[k], &b))) {
      tl_shape_release(&a);
      return false;
    }
    const bool good = on_plane ? meet_shapes(bench, &b, &a, implicit_pose_plane, &c)
                               : meet_shapes(bench, &a, &b, implicit_pose_two, &c);
    tl_shape_release(&a);
    tl_shape_release(&b);
    if (!good)
      return false;
    print_row(bench, table, sizes[k], thesis[k], &c);
  }
  return true;
}

bool implicit_two(const implicit_bench *bench) {
  static const double thesis[4] = {7.7, 4.5, 1.2, 0.028};
  return meet_table(bench, "6.2", thesis, false);
}

bool implicit_plane(const implicit_bench *bench) {
  static const double thesis[4] = {6.3, 5.1, 4.8, 3.6};
  return meet_table(bench, "6.3", thesis, true);
}
