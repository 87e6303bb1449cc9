/* Single pairs: nanoseconds of every test and solver, and errors of contact points. */
#include "ellipsoids.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "narrow/ellipsoid.h"

#define PAIRS 65536

static tl_ellipsoid random_body(double aspect, uint64_t *state, talus_quat *q) {
  tl_ellipsoid e;
  for (int k = 0; k < 3; ++k)
    e.half[k] = pow(aspect, ell_uniform(state) - 1);
  double v[4], length = 0;
  for (int k = 0; k < 4; ++k) {
    v[k] = 2 * ell_uniform(state) - 1;
    length += v[k] * v[k];
  }
  length = sqrt(length);
  *q = (talus_quat){TL_R(v[0] / length), TL_R(v[1] / length), TL_R(v[2] / length),
                    TL_R(v[3] / length)};
  e.frame = tl_frame_from_quat(*q);
  return e;
}

static talus_dvec3 random_place(const tl_ellipsoid *a, const tl_ellipsoid *b, double overlap,
                                uint64_t *state) {
  double v[3];
  for (int k = 0; k < 3; ++k)
    v[k] = 2 * ell_uniform(state) - 1;
  if (overlap > 0) {
    const talus_dvec3 c = tl_ell_unit(tl_dvec3(v[0], v[1], v[2]));
    const tl_ell_share sa = tl_ellipsoid_share(a, c), sb = tl_ellipsoid_share(b, c);
    const double least = fmin(tl_ellipsoid_least(a), tl_ellipsoid_least(b));
    return tl_dsub(tl_dadd(sa.point, sb.point), tl_dscale(c, overlap * least * ell_uniform(state)));
  }
  const tl_ell_sym m = tl_ellipsoid_matrix(a), n = tl_ellipsoid_matrix(b);
  return tl_dvec3(v[0] * (sqrt(m.xx) + sqrt(n.xx)), v[1] * (sqrt(m.yy) + sqrt(n.yy)),
                  v[2] * (sqrt(m.zz) + sqrt(n.zz)));
}

bool ell_pairs_make(ell_pairs *pairs, size_t count, double aspect, double overlap, uint64_t seed) {
  *pairs = (ell_pairs){.count = count,
                       .a = malloc(count * sizeof *pairs->a),
                       .b = malloc(count * sizeof *pairs->b),
                       .qa = malloc(count * sizeof *pairs->qa),
                       .qb = malloc(count * sizeof *pairs->qb),
                       .d = malloc(count * sizeof *pairs->d)};
  if (!pairs->a || !pairs->b || !pairs->qa || !pairs->qb || !pairs->d)
    return false;
  for (size_t i = 0; i < count; ++i) {
    pairs->a[i] = random_body(aspect, &seed, &pairs->qa[i]);
    pairs->b[i] = random_body(aspect, &seed, &pairs->qb[i]);
    pairs->d[i] = random_place(&pairs->a[i], &pairs->b[i], overlap, &seed);
  }
  return true;
}

void ell_pairs_free(ell_pairs *pairs) {
  free(pairs->a);
  free(pairs->b);
  free(pairs->qa);
  free(pairs->qb);
  free(pairs->d);
}

/* ---- one measurement each; the best of the repeats, s ---------------------------------------- */

/* Pairs in columns, as lanes read them. */
typedef struct columns {
  double *wide;
  float *narrow;
  uint8_t *touches;
  size_t stride;
} columns;

static bool columns_make(const ell_pairs *pairs, columns *c) {
  c->stride = pairs->count + 16;
  c->wide = calloc(15 * c->stride, sizeof *c->wide);
  c->narrow = calloc(15 * c->stride, sizeof *c->narrow);
  c->touches = malloc(pairs->count);
  for (size_t i = 0; c->wide && c->narrow && i < pairs->count; ++i) {
    const tl_ell_row a = tl_ellipsoid_row(&pairs->a[i]), b = tl_ellipsoid_row(&pairs->b[i]);
    const double v[3] = {pairs->d[i].x, pairs->d[i].y, pairs->d[i].z};
    for (size_t k = 0; k < 15; ++k) {
      c->wide[k * c->stride + i] = k < 6 ? a.m[k] : (k < 12 ? b.m[k - 6] : v[k - 12]);
      c->narrow[k * c->stride + i] = (float)c->wide[k * c->stride + i];
    }
  }
  return c->wide && c->narrow && c->touches;
}

static double time_overlap(const ell_pairs *pairs, const columns *c, bool narrow, int repeat) {
  double best = HUGE_VAL;
  for (int r = 0; r <= repeat; ++r) {
    const double begun = ell_cpu_now();
    if (narrow)
      tl_ell_overlap_float(c->narrow, c->stride, pairs->count, c->touches);
    else
      tl_ell_overlap(c->wide, c->stride, pairs->count, c->touches);
    best = fmin(best, ell_cpu_now() - begun);
  }
  return best;
}

/* Contacts by batches from rows of bodies, like the narrow phase. */
static double time_newton(const ell_pairs *pairs, int repeat, size_t *contacts) {
  static tl_ell_batch batch;
  tl_ell_row *rows = malloc(2 * pairs->count * sizeof *rows);
  double best = HUGE_VAL;
  for (size_t i = 0; rows && i < pairs->count; ++i) {
    rows[2 * i] = tl_ellipsoid_row(&pairs->a[i]);
    rows[2 * i + 1] = tl_ellipsoid_row(&pairs->b[i]);
  }
  for (int r = 0; rows && r <= repeat; ++r) {
    const double begun = ell_cpu_now();
    *contacts = 0;
    for (size_t i = 0; i < pairs->count; i += TL_ELL_BATCH) {
      const size_t left = pairs->count - i;
      batch.count = left < TL_ELL_BATCH ? left : TL_ELL_BATCH;
      for (size_t k = 0; k < batch.count; ++k)
        tl_ell_batch_set(&batch, k, &rows[2 * (i + k)], &rows[2 * (i + k) + 1], pairs->d[i + k], 0);
      tl_ell_batch_run(&batch);
      for (size_t k = 0; k < batch.count; ++k) {
        tl_ell_contact found;
        *contacts += batch.outcome[k] == TL_ELL_FOUND ||
                     (batch.outcome[k] == TL_ELL_UNSURE &&
                      tl_ellipsoids_contact_careful(&pairs->a[i + k], &pairs->b[i + k],
                                                    pairs->d[i + k], 0, &found));
      }
    }
    best = fmin(best, ell_cpu_now() - begun);
  }
  free(rows);
  return best;
}

/* method 0: ChM; 1: OpM; 2: ChM, then OpM; 3: Newton, pair by pair. */
static double time_alone(const ell_pairs *pairs, int method, size_t count, size_t *contacts) {
  const double begun = ell_cpu_now();
  *contacts = 0;
  for (size_t i = 0; i < count; ++i) {
    const tl_ellipsoid *a = &pairs->a[i], *b = &pairs->b[i];
    tl_point p;
    if (method == 0) {
      const tl_ell_pair pair = tl_ellipsoid_pair(a, b, pairs->d[i]);
      *contacts += tl_ellipsoids_overlap_chm(&pair);
    } else if (method == 3) {
      *contacts += (size_t)tl_collide_ellipsoids_newton(a, b, pairs->d[i], 0, &p);
    } else {
      *contacts += (size_t)tl_collide_ellipsoids_opm(a, b, pairs->d[i], 0, method == 2, &p);
    }
  }
  return ell_cpu_now() - begun;
}

/* Keeps the pairs that touch, at any depth. */
static void keep_touching(ell_pairs *pairs, const uint8_t *touches) {
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; ++i)
    if (touches[i]) {
      pairs->a[kept] = pairs->a[i];
      pairs->b[kept] = pairs->b[i];
      pairs->qa[kept] = pairs->qa[i];
      pairs->qb[kept] = pairs->qb[i];
      pairs->d[kept++] = pairs->d[i];
    }
  pairs->count = kept;
}

static void print_line(const ell_bench *bench, const char *what, double aspect, size_t pairs,
                       size_t contacts, double seconds) {
  const double ns = 1e9 * seconds / (double)pairs;
  const double each = contacts > 0 ? 1e9 * seconds / (double)contacts : 0;
  printf("  %-34s %7g %9.3f %10.1f %12.1f\n", what, aspect, (double)contacts / (double)pairs, ns,
         each);
  if (bench->csv)
    fprintf(bench->csv, "pairs,%s,%zu,1,%g,%zu,,,%.4g,\n", what, pairs, aspect, contacts, ns);
}

static int bench_aspect(ell_bench *bench, double aspect) {
  const int repeat = bench->options.repeat;
  ell_pairs loose, tight;
  columns c = {0};
  size_t contacts = 0;
  bool good = ell_pairs_make(&loose, PAIRS, aspect, 0, 7);
  good = ell_pairs_make(&tight, PAIRS, aspect, 0.05, 11) && good;
  if (good && columns_make(&loose, &c)) {
    for (int narrow = 1; narrow >= 0; --narrow) {
      const double s = time_overlap(&loose, &c, narrow, repeat);
      contacts = 0;
      for (size_t i = 0; i < loose.count; ++i)
        contacts += c.touches[i];
      print_line(bench, narrow ? "yes/no, float" : "yes/no, double", aspect, PAIRS, contacts, s);
    }
    static const char *const alone[4] = {"yes/no, ChM", "method 1: OpM", "method 2: ChM, then OpM",
                                         "newton, pair by pair"};
    const size_t few = PAIRS / 16;
    for (int m = 0; m < 4; ++m) {
      const double s = time_alone(&loose, m, few, &contacts);
      print_line(bench, alone[m], aspect, few, contacts, s);
    }
    double s = time_newton(&loose, repeat, &contacts);
    print_line(bench, "newton, in lanes", aspect, PAIRS, contacts, s);
    keep_touching(&loose, c.touches);
    s = time_newton(&loose, repeat, &contacts);
    print_line(bench, "newton, in lanes, all touching", aspect, loose.count, contacts, s);
    s = time_newton(&tight, repeat, &contacts);
    print_line(bench, "newton, in lanes, overlap <= 5 %", aspect, PAIRS, contacts, s);
    if (bench->options.peers)
      ell_bench_peers(bench, &tight, aspect);
  } else {
    fprintf(stderr, "talus bench ellipsoids: out of memory\n");
    good = false;
  }
  free(c.wide);
  free(c.narrow);
  free(c.touches);
  ell_pairs_free(&loose);
  ell_pairs_free(&tight);
  return good ? 0 : 1;
}

int ell_bench_pairs(ell_bench *bench) {
  static const double aspects[3] = {1.1, 2, 10};
  printf("\nsingle pairs whose boxes overlap, CPU time of one thread, %d repeats\n",
         bench->options.repeat);
  printf("  %-34s %7s %9s %10s %12s\n", "what", "aspect", "touching", "ns/pair", "ns/contact");
  int code = 0;
  for (int i = 0; i < 3 && code == 0; ++i)
    code = bench_aspect(bench, aspects[i]);
  return code;
}

/* ---- the paper's Figure 4 -------------------------------------------------------------------- */

#define DECADES 18

/* Error of the contact point over the smaller radius, equal radii (13): by decade. */
int ell_bench_errors(ell_bench *bench) {
  const size_t count = 105920; /* contacts of the paper's 262,144 bodies */
  size_t histogram[2][DECADES] = {{0}};
  double worst[2] = {0, 0};
  uint64_t state = 3;
  for (size_t i = 0; i < count; ++i) {
    const double ra = 101 * (1 - ell_uniform(&state)), rb = 101 * (1 - ell_uniform(&state));
    talus_quat q;
    tl_ellipsoid a = random_body(1, &state, &q), b = random_body(1, &state, &q);
    for (int k = 0; k < 3; ++k)
      a.half[k] = ra, b.half[k] = rb;
    const talus_dvec3 u = tl_ell_unit(tl_dvec3(
        2 * ell_uniform(&state) - 1, 2 * ell_uniform(&state) - 1, 2 * ell_uniform(&state) - 1));
    const talus_dvec3 d = tl_dscale(u, (ra + rb) * cbrt(ell_uniform(&state)));
    tl_point exact, p[2];
    const tl_ell_pair pair = tl_ellipsoid_pair(&a, &b, d);
    tl_ell_contact found;
    if (tl_collide_sphere_sphere(ra, rb, d, 0, &exact) == 0)
      continue;
    if (tl_ellipsoids_contact_quick(&pair, 0, &found) != TL_ELL_FOUND &&
        !tl_ellipsoids_contact_careful(&a, &b, d, 0, &found))
      continue;
    tl_ellipsoids_midpoint(d, &found, &p[0]);
    /* Starts 0.3 rad off the centre line, which is the solution itself for spheres. */
    const talus_dvec3 off = tl_ell_unit(tl_dadd(u, tl_dvec3(0.2, -0.15, 0.15)));
    tl_ellipsoids_opm(&pair, off, &found);
    tl_ellipsoids_midpoint(d, &found, &p[1]);
    for (int m = 0; m < 2; ++m) {
      const double error = tl_dlength(tl_dsub(p[m].point, exact.point)) / fmin(ra, rb);
      const int decade = error > 1e-17 ? (int)ceil(-log10(error)) : DECADES - 1;
      histogram[m][decade < 0 ? 0 : (decade >= DECADES ? DECADES - 1 : decade)]++;
      worst[m] = fmax(worst[m], error);
    }
  }
  printf("\nerror of the contact point over the smaller radius, %zu contacts, equal radii "
         "(Figure 4)\n  %-12s %10s %10s\n",
         count, "up to", "newton", "OpM, 16");
  for (int k = 0; k < DECADES; ++k)
    if (histogram[0][k] + histogram[1][k] > 0) {
      printf("  1e-%-9d %9.3f%% %9.3f%%\n", k - 1, 100.0 * (double)histogram[0][k] / (double)count,
             100.0 * (double)histogram[1][k] / (double)count);
      for (int m = 0; bench->csv && m < 2; ++m)
        fprintf(bench->csv, "error,%s,,,1,%zu,,,,1e-%d\n", m ? "opm" : "newton", histogram[m][k],
                k - 1);
    }
  printf("  %-12s %10.1e %10.1e\n", "worst", worst[0], worst[1]);
  return 0;
}
