/* The broad phases find the same pairs as a naive double loop, on scenes of every kind. */
#include "check.h"

#include "base/random.h"
#include "broad/broad.h"

/* ---- scenes --------------------------------------------------------------------------------- */

enum { BOUNDED, UNBOUNDED };

typedef struct scene {
  tl_model model;
  tl_shape shapes[2];
  tl_arena arena;
  talus_box *boxes;  /* one per member */
  uint32_t *members; /* NULL: all */
  size_t count;      /* of members */
} scene;

static void *zeros(size_t n, size_t size) {
  void *block = calloc(n + 1, size);
  if (!block)
    abort();
  return block;
}

/* n bodies with empty boxes at the origin, uids from 1000 on in steps of 3. */
static scene *new_scene(size_t n) {
  scene *s = zeros(1, sizeof *s);
  tl_properties *p = &s->model.property;
  s->shapes[BOUNDED].bounded = true;
  s->model.shapes.data = s->shapes;
  s->model.shapes.count = 2;
  s->model.bodies = n;
  s->model.par.threads = 1;
  p->uid = zeros(n, sizeof *p->uid);
  p->shape = zeros(n, sizeof *p->shape);
  p->flags = zeros(n, sizeof *p->flags);
  p->group = zeros(n, sizeof *p->group);
  for (size_t i = 0; i < n; ++i)
    p->uid[i] = 1000 + 3 * i;
  s->boxes = zeros(n, sizeof *s->boxes);
  s->count = n;
  return s;
}

static void free_scene(scene *s) {
  tl_properties *p = &s->model.property;
  free(p->uid);
  free(p->shape);
  free(p->flags);
  free(p->group);
  free(s->model.ignored.data);
  free(s->boxes);
  free(s->members);
  tl_arena_free(&s->arena);
  free(s);
}

static tl_scope scope_of(scene *s) {
  return (tl_scope){.members = s->members, .count = s->count, .arena = &s->arena};
}

static uint32_t slot_of(const scene *s, size_t i) {
  return s->members ? s->members[i] : (uint32_t)i;
}

static talus_box box_at(double x, double y, double z, double dx, double dy, double dz) {
  return (talus_box){{x, y, z}, {x + dx, y + dy, z + dz}};
}

static talus_box everywhere(void) {
  return (talus_box){{-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, {HUGE_VAL, HUGE_VAL, HUGE_VAL}};
}

static void make_plane(scene *s, size_t i) {
  const uint32_t slot = slot_of(s, i);
  s->boxes[i] = everywhere();
  s->model.property.shape[slot] = UNBOUNDED;
  s->model.property.flags[slot] = TL_FLAG_FIXED;
}

/* a <= b; in ascending order of calls. */
static void ignore(scene *s, uint32_t a, uint32_t b) {
  const size_t n = s->model.ignored.count;
  s->model.ignored.data = realloc(s->model.ignored.data, (n + 1) * sizeof *s->model.ignored.data);
  if (!s->model.ignored.data)
    abort();
  s->model.ignored.data[n] = (tl_group_pair){a, b};
  s->model.ignored.count = s->model.ignored.capacity = n + 1;
}

static void make_periodic(scene *s, bool x, bool y, bool z, talus_dvec3 lo, talus_dvec3 hi) {
  s->model.domain = (talus_domain_def){.enabled = true, .box = {lo, hi}, .periodic = {x, y, z}};
}

/* ---- the reference -------------------------------------------------------------------------- */

/* Any shift by whole periods, written as plainly as possible. */
static bool naive_axis(double alo, double ahi, double blo, double bhi, bool periodic,
                       double length) {
  const int most = periodic ? 16 : 0;
  for (int k = -most; k <= most; ++k)
    if (alo + k * (periodic ? length : 0) <= bhi && blo <= ahi + k * (periodic ? length : 0))
      return true;
  return false;
}

static bool naive_overlap(const scene *s, talus_box a, talus_box b) {
  const talus_domain_def *d = &s->model.domain;
  return naive_axis(a.lo.x, a.hi.x, b.lo.x, b.hi.x, d->periodic[0], d->box.hi.x - d->box.lo.x) &&
         naive_axis(a.lo.y, a.hi.y, b.lo.y, b.hi.y, d->periodic[1], d->box.hi.y - d->box.lo.y) &&
         naive_axis(a.lo.z, a.hi.z, b.lo.z, b.hi.z, d->periodic[2], d->box.hi.z - d->box.lo.z);
}

static bool naive_allows(const scene *s, uint32_t a, uint32_t b) {
  const tl_properties *p = &s->model.property;
  if ((p->flags[a] & (TL_FLAG_FIXED | TL_FLAG_KINEMATIC)) &&
      (p->flags[b] & (TL_FLAG_FIXED | TL_FLAG_KINEMATIC)))
    return false;
  for (size_t i = 0; i < s->model.ignored.count; ++i) {
    const tl_group_pair g = s->model.ignored.data[i];
    if ((g.a == p->group[a] && g.b == p->group[b]) || (g.a == p->group[b] && g.b == p->group[a]))
      return false;
  }
  return true;
}

typedef struct pair_list {
  tl_pair *data;
  size_t count, capacity;
} pair_list;

static pair_list naive_pairs(const scene *s) {
  pair_list list = {0};
  for (size_t i = 0; i < s->count; ++i)
    for (size_t j = i + 1; j < s->count; ++j) {
      const uint32_t a = slot_of(s, i), b = slot_of(s, j);
      if (!naive_overlap(s, s->boxes[i], s->boxes[j]) || !naive_allows(s, a, b))
        continue;
      if (list.count == list.capacity) {
        list.capacity = 2 * list.capacity + 64;
        list.data = realloc(list.data, list.capacity * sizeof *list.data);
        if (!list.data)
          abort();
      }
      list.data[list.count++] = (tl_pair){a, b};
    }
  return list;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static bool same_pairs(const tl_pairs *got, const pair_list *want) {
  return got->count == want->count &&
         (want->count == 0 || memcmp(got->data, want->data, want->count * sizeof *want->data) == 0);
}

/* NULL, or what is wrong. Both algorithms, 1, 2 and 4 threads: byte for byte the naive pairs. */
static const char *disagreement(scene *s, size_t *pairs) {
  static char text[256];
  const tl_scope scope = scope_of(s);
  pair_list want = naive_pairs(s);
  const char *problem = NULL;
  const struct {
    talus_broad_kind kind;
    int threads;
  } runs[] = {{TALUS_BROAD_BRUTE, 1}, {TALUS_BROAD_BRUTE, 2}, {TALUS_BROAD_BRUTE, 4},
              {TALUS_BROAD_BINS, 1},  {TALUS_BROAD_BINS, 2},  {TALUS_BROAD_BINS, 4}};
  for (size_t r = 0; r < sizeof runs / sizeof runs[0] && !problem; ++r) {
    tl_pairs got;
    s->model.par.threads = runs[r].threads;
    if (tl_broad_find_pairs(runs[r].kind, &s->model, &scope, s->boxes, &got) != TALUS_OK) {
      problem = talus_last_error();
    } else if (!same_pairs(&got, &want)) {
      snprintf(text, sizeof text, "%s with %d threads: %zu pairs, naive %zu",
               tl_broad_name(runs[r].kind), runs[r].threads, got.count, want.count);
      problem = text;
    }
    tl_arena_reset(&s->arena);
  }
  if (pairs)
    *pairs = want.count;
  free(want.data);
  return problem;
}

/* Frees the scene; the number of pairs. */
static size_t check_scene(scene *s) {
  size_t pairs;
  const char *problem = disagreement(s, &pairs);
  free_scene(s);
  CHECK_MSG(problem == NULL, "%s", problem);
  return pairs;
}

/* ---- random numbers ------------------------------------------------------------------------- */

static double uniform(tl_random *r, double lo, double hi) {
  return lo + (hi - lo) * tl_random_unit(r);
}

static size_t below(tl_random *r, size_t n) { return (size_t)(tl_random_unit(r) * (double)n); }

static tl_random random_for(uint64_t seed) { return tl_random_start(seed, 77, 0); }

static void fill_uniform(scene *s, tl_random *r, double lo, double hi, double edge) {
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] =
        box_at(uniform(r, lo, hi), uniform(r, lo, hi), uniform(r, lo, hi), edge, edge, edge);
}

/* ---- none, one, few ------------------------------------------------------------------------- */

TEST(no_body_makes_no_pair) { CHECK_EQ_U64(check_scene(new_scene(0)), 0); }

TEST(one_body_makes_no_pair) {
  scene *s = new_scene(1);
  s->boxes[0] = box_at(1, 2, 3, 1, 1, 1);
  CHECK_EQ_U64(check_scene(s), 0);
}

TEST(touching_counts_and_a_gap_does_not) {
  scene *s = new_scene(4);
  s->boxes[0] = box_at(0, 0, 0, 1, 1, 1);
  s->boxes[1] = box_at(1, 1, 1, 1, 1, 1);                  /* a corner of 0 */
  s->boxes[2] = box_at(nextafter(2, 3), 1, 1, 1, 1, 1);    /* a hair away from 1 */
  s->boxes[3] = box_at(-1, nextafter(-1, -2), 0, 1, 1, 1); /* a hair away from 0 */
  s->boxes[3].hi.y = nextafter(0, -1);
  CHECK_EQ_U64(check_scene(s), 1);
}

/* ---- even scenes ---------------------------------------------------------------------------- */

TEST(uniform_equal_boxes_agree) {
  tl_random r = random_for(1);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, -7, 7, 1.0);
  CHECK(check_scene(s) > 5000);
}

TEST(thin_spread_boxes_agree) {
  tl_random r = random_for(2);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, -100, 100, 1.0);
  CHECK(check_scene(s) > 0);
}

TEST(clustered_boxes_agree) {
  tl_random r = random_for(3);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i) {
    const double centre = 50.0 * (double)(i % 7), far = centre * centre;
    s->boxes[i] = box_at(centre + tl_random_normal(&r), far + tl_random_normal(&r),
                         -centre + tl_random_normal(&r), 0.4, 0.4, 0.4);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(two_far_heaps_agree) {
  tl_random r = random_for(4);
  scene *s = new_scene(2000);
  fill_uniform(s, &r, 0, 10, 1.0);
  for (size_t i = 0; i < s->count; i += 2) {
    s->boxes[i].lo.x += 1e5;
    s->boxes[i].hi.x += 1e5;
  }
  CHECK(check_scene(s) > 1000);
}

TEST(lattice_of_exactly_touching_boxes_agrees) {
  const double edges[] = {1.0, 0.1, 1.0 / 3.0, 1e-3};
  for (size_t e = 0; e < sizeof edges / sizeof edges[0]; ++e) {
    const size_t m = 10;
    scene *s = new_scene(m * m * m);
    for (size_t i = 0; i < s->count; ++i) {
      const double x = (double)(i % m), y = (double)(i / m % m), z = (double)(i / m / m);
      /* lo of a box is bit for bit hi of the one before */
      s->boxes[i] = (talus_box){{x * edges[e], y * edges[e], z * edges[e]},
                                {(x + 1) * edges[e], (y + 1) * edges[e], (z + 1) * edges[e]}};
    }
    /* 26 neighbours each, less the border: ((3m-2)^3 - m^3) / 2 */
    CHECK_EQ_U64(check_scene(s), ((3 * m - 2) * (3 * m - 2) * (3 * m - 2) - m * m * m) / 2);
  }
}

TEST(boxes_on_cell_boundaries_agree) {
  tl_random r = random_for(5);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = below(&r, 2) ? 1.0 : 0.5;
    s->boxes[i] = box_at((double)below(&r, 12), 0.5 * (double)below(&r, 24), (double)below(&r, 12),
                         edge, edge, edge);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(boxes_far_from_the_origin_and_at_negative_coordinates_agree) {
  const double offsets[] = {-1e3, 1e6, -1e9, 1e15};
  for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; ++o) {
    tl_random r = random_for(6);
    scene *s = new_scene(1000);
    fill_uniform(s, &r, offsets[o] - 5, offsets[o] + 5, 1.0);
    CHECK(check_scene(s) > 1000);
  }
}

/* ---- degenerate scenes ---------------------------------------------------------------------- */

TEST(coincident_boxes_all_pair) {
  scene *s = new_scene(500);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at(3, -2, 1, 0.25, 0.25, 0.25);
  CHECK_EQ_U64(check_scene(s), 500 * 499 / 2);
}

TEST(everything_in_one_cell_agrees) {
  tl_random r = random_for(7);
  scene *s = new_scene(600);
  fill_uniform(s, &r, 0, 1, 0.02);
  s->boxes[17] = box_at(0, 0, 0, 1, 1, 1);
  s->boxes[18] = box_at(0.1, 0, 0, 1, 1, 1);
  CHECK(check_scene(s) > 600);
}

TEST(points_agree) {
  tl_random r = random_for(8);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at((double)below(&r, 9), (double)below(&r, 9), (double)below(&r, 9), 0, 0, 0);
  CHECK(check_scene(s) > 100);
}

TEST(points_spread_out_and_coincident_points_agree) {
  tl_random r = random_for(9);
  scene *s = new_scene(700);
  fill_uniform(s, &r, -3, 3, 0.0);
  CHECK_EQ_U64(check_scene(s), 0);
  s = new_scene(200);
  CHECK_EQ_U64(check_scene(s), 200 * 199 / 2);
}

TEST(size_ratio_of_ten_thousand_agrees) {
  tl_random r = random_for(10);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = pow(10, uniform(&r, -3, 1));
    s->boxes[i] =
        box_at(uniform(&r, 0, 30), uniform(&r, 0, 30), uniform(&r, 0, 30), edge, edge, edge);
  }
  CHECK(check_scene(s) > 1000);
}

TEST(few_large_among_many_small_agree) {
  tl_random r = random_for(11);
  scene *s = new_scene(3000);
  fill_uniform(s, &r, 0, 12, 0.5);
  for (size_t i = 0; i < s->count; i += 60) {
    const double edge = uniform(&r, 2, 5);
    s->boxes[i] =
        box_at(uniform(&r, -1, 12), uniform(&r, -1, 12), uniform(&r, -1, 12), edge, edge, edge);
  }
  s->boxes[1] = box_at(-20, -20, -1, 50, 50, 1); /* a floor */
  s->boxes[2] = box_at(-20, -20, -20, 1e6, 1e6, 1e6);
  CHECK(check_scene(s) > 5000);
}

TEST(many_large_among_small_agree) {
  tl_random r = random_for(50);
  scene *s = new_scene(1000);
  fill_uniform(s, &r, 0, 12, 0.05);
  for (size_t i = 0; i < s->count; i += 10) {
    const double edge = uniform(&r, 8, 9);
    s->boxes[i] =
        box_at(uniform(&r, -9, 12), uniform(&r, -9, 12), uniform(&r, -9, 12), edge, edge, edge);
  }
  CHECK(check_scene(s) > 5000);
}

TEST(flat_and_needle_boxes_agree) {
  tl_random r = random_for(12);
  scene *s = new_scene(1200);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge[3] = {3.0, 1e-4, 0.05};
    const size_t k = below(&r, 3);
    const double u = i % 2 ? 3.0 : 1e-4;
    s->boxes[i] = box_at(uniform(&r, 0, 9), uniform(&r, 0, 9), uniform(&r, 0, 9), edge[k],
                         edge[(k + 1) % 3], k == 0 ? u : edge[(k + 2) % 3]);
  }
  CHECK(check_scene(s) > 500);
}

TEST(sheet_and_line_of_boxes_agree) {
  tl_random r = random_for(13);
  scene *s = new_scene(2000);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = i % 2 ? box_at(uniform(&r, 0, 40), uniform(&r, 0, 40), 5, 1, 1, 1)
                        : box_at(-3, uniform(&r, -900, 900), 7, 1, 1, 1);
  CHECK(check_scene(s) > 500);
}

TEST(far_outliers_do_not_hide_pairs) {
  const double distances[] = {1e3, 1e8, 1e200, 1.7e308};
  for (size_t d = 0; d < sizeof distances / sizeof distances[0]; ++d) {
    tl_random r = random_for(14);
    scene *s = new_scene(1500);
    const double x = distances[d];
    fill_uniform(s, &r, 0, 8, 1.0);
    s->boxes[100] = (talus_box){{x, 1, 1}, {x, 2, 2}};
    s->boxes[101] = (talus_box){{x, 1.5, 1}, {x, 2, 2}};
    s->boxes[102] = (talus_box){{-x, -x, -x}, {-x, -x, -x}};
    CHECK(check_scene(s) > 1000);
  }
}

TEST(boxes_at_the_ends_of_the_number_line_agree) {
  tl_random r = random_for(51);
  scene *s = new_scene(600);
  fill_uniform(s, &r, 0, 5, 1.0);
  for (size_t i = 0; i < s->count; i += 5) {
    const double x = i % 2 ? 1.7e308 : -1.7e308;
    s->boxes[i] = (talus_box){{x, x, -x}, {x, x, -x}};
  }
  s->boxes[0] = (talus_box){{-1.7e308, 0, 0}, {1.7e308, 1, 1}};
  s->boxes[1] = (talus_box){{0, 0, 0}, {1.7e308, 1.7e308, 1.7e308}};
  s->boxes[2] = (talus_box){{0, -0.5e308, 0}, {1, 1, 1}};
  CHECK(check_scene(s) > 500);
}

/* ---- unbounded ------------------------------------------------------------------------------ */

TEST(planes_pair_with_everything_that_moves) {
  tl_random r = random_for(15);
  scene *s = new_scene(300);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at(2.0 * (double)i, uniform(&r, 0, 1), 0, 1, 1, 1);
  make_plane(s, 0);
  make_plane(s, 150);
  make_plane(s, 299);
  CHECK_EQ_U64(check_scene(s), 3 * 297);
  s = new_scene(3);
  for (size_t i = 0; i < 3; ++i) {
    make_plane(s, i);
    s->model.property.flags[i] = 0;
  }
  CHECK_EQ_U64(check_scene(s), 3);
}

/* ---- periodic axes -------------------------------------------------------------------------- */

TEST(boxes_straddling_a_periodic_edge_meet_the_other_side) {
  for (int axis = 0; axis < 3; ++axis) {
    scene *s = new_scene(200);
    for (size_t i = 0; i < s->count; ++i) {
      /* a row along the axis: alternating gaps of 0 and 0.25, closed over the edge by a touch */
      const double x = (double)(i / 2) * 2.25 + (double)(i % 2);
      s->boxes[i] = box_at(axis == 0 ? x : 0, axis == 1 ? x : 0, axis == 2 ? x : 0, 1, 1, 1);
    }
    const talus_dvec3 lo = {0.5, 0.5, 0.5}, hi = {225.5, 225.5, 225.5};
    make_periodic(s, axis == 0, axis == 1, axis == 2, lo, hi);
    CHECK_EQ_U64(check_scene(s), 100);
  }
}

TEST(uniform_boxes_agree_in_every_periodic_combination) {
  for (unsigned axes = 1; axes < 8; ++axes) {
    tl_random r = random_for(16 + axes);
    scene *s = new_scene(900);
    fill_uniform(s, &r, -3, 11, 1.0);
    const talus_dvec3 lo = {-2, -2, -2}, hi = {9, 10, 11.5};
    make_periodic(s, axes & 1, axes & 2, axes & 4, lo, hi);
    CHECK(check_scene(s) > 500);
  }
}

TEST(short_periods_agree) {
  const double lengths[] = {1.0, 1.5, 2.0, 2.5, 3.0, 3.25, 4.0};
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; ++l) {
    tl_random r = random_for(30 + l);
    scene *s = new_scene(300);
    fill_uniform(s, &r, 0, 8, 1.0);
    for (size_t i = 0; i < s->count; i += 3)
      s->boxes[i].hi.x = s->boxes[i].lo.x + uniform(&r, 0, 5);
    const talus_dvec3 lo = {0, 0, 0}, hi = {lengths[l], 8, lengths[l]};
    make_periodic(s, true, true, l % 2, lo, hi);
    CHECK(check_scene(s) > 500);
  }
}

TEST(periodic_lattice_touches_across_the_edge) {
  const size_t m = 6;
  scene *s = new_scene(m * m * m);
  for (size_t i = 0; i < s->count; ++i)
    s->boxes[i] = box_at((double)(i % m), (double)(i / m % m), (double)(i / m / m), 1, 1, 1);
  const talus_dvec3 lo = {0, 0, 0}, hi = {(double)m, (double)m, (double)m};
  make_periodic(s, true, true, true, lo, hi);
  CHECK_EQ_U64(check_scene(s), 13 * m * m * m);
}

TEST(periodic_boxes_of_many_sizes_agree) {
  tl_random r = random_for(40);
  scene *s = new_scene(1500);
  for (size_t i = 0; i < s->count; ++i) {
    const double edge = pow(10, uniform(&r, -2, 1.2));
    s->boxes[i] =
        box_at(uniform(&r, 0, 40), uniform(&r, 0, 40), uniform(&r, 0, 40), edge, edge, edge);
  }
  make_plane(s, 3);
  s->boxes[4] = box_at(-100, -100, -1, 300, 300, 1); /* a floor longer than the domain */
  const talus_dvec3 lo = {0, 0, 0}, hi = {40, 40, 40};
  make_periodic(s, true, true, false, lo, hi);
  CHECK(check_scene(s) > 1000);
}

TEST(large_and_small_touch_across_the_edge_to_the_last_bit) {
  const double lengths[] = {100.3, 99.7, 123.456, 77.7};
  for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; ++l) {
    const size_t columns = 100, rows = 30, large = 50;
    const double length = lengths[l], pitch = length / (double)columns;
    scene *s = new_scene(columns * rows + large);
    for (size_t i = 0; i < columns * rows; ++i) /* one to a cell, at its very edge */
      s->boxes[i] = box_at(pitch * (double)(i % columns), 1.3 * (double)(i / columns), 0,
                           0.995 * pitch, 1, 1);
    for (size_t i = 0; i < large; ++i) {
      const double touched = s->boxes[i % 25].lo.x + length, edge = 0.3 * length;
      s->boxes[columns * rows + i] = (talus_box){{touched - edge, 0, 0}, {touched, edge, 1}};
    }
    const talus_dvec3 lo = {0, 0, 0}, hi = {length, 1, 1};
    make_periodic(s, true, false, false, lo, hi);
    CHECK(check_scene(s) > 1000);
  }
}

/* ---- masks ---------------------------------------------------------------------------------- */

TEST(static_bodies_do_not_pair_with_each_other) {
  tl_random r = random_for(41);
  scene *s = new_scene(800);
  fill_uniform(s, &r, 0, 6, 1.0);
  for (size_t i = 0; i < s->count; ++i)
    s->model.property.flags[i] = i % 3 == 0   ? TL_FLAG_FIXED
                                 : i % 3 == 1 ? TL_FLAG_KINEMATIC
                                              : TL_FLAG_LOCKS;
  CHECK(check_scene(s) > 500);
}

TEST(ignored_groups_do_not_pair) {
  tl_random r = random_for(42);
  scene *s = new_scene(800);
  fill_uniform(s, &r, 0, 6, 1.0);
  for (size_t i = 0; i < s->count; ++i)
    s->model.property.group[i] = (uint32_t)below(&r, 5);
  s->model.property.group[5] = UINT32_MAX;
  CHECK(!tl_model_ignores(&s->model, 0, 3));
  ignore(s, 0, 3);
  ignore(s, 1, 1);
  ignore(s, 1, 4);
  ignore(s, 2, UINT32_MAX);
  CHECK(!tl_model_ignores(&s->model, 0, 0) && tl_model_ignores(&s->model, 3, 0));
  CHECK(tl_model_ignores(&s->model, 1, 1) && tl_model_ignores(&s->model, 4, 1));
  CHECK(tl_model_ignores(&s->model, UINT32_MAX, 2) && !tl_model_ignores(&s->model, 4, 4));
  CHECK(check_scene(s) > 500);
}

TEST(allows_says_what_the_mask_is) {
  scene *s = new_scene(3);
  s->model.property.flags[0] = TL_FLAG_FIXED;
  s->model.property.flags[1] = TL_FLAG_KINEMATIC;
  s->model.property.group[2] = 9;
  CHECK(!tl_broad_allows(&s->model, 0, 1));
  CHECK(tl_broad_allows(&s->model, 0, 2) && tl_broad_allows(&s->model, 2, 1));
  ignore(s, 0, 9);
  CHECK(!tl_broad_allows(&s->model, 0, 2) && !tl_broad_allows(&s->model, 2, 1));
  free_scene(s);
}

/* ---- scopes --------------------------------------------------------------------------------- */

/* Keeps the members i for which keep[i] is set; boxes are by member then. */
static void restrict_to(scene *s, const bool *keep) {
  s->members = zeros(s->count, sizeof *s->members);
  size_t n = 0;
  for (size_t i = 0; i < s->count; ++i)
    if (keep[i]) {
      s->members[n] = (uint32_t)i;
      s->boxes[n++] = s->boxes[i];
    }
  s->count = n;
}

TEST(members_of_a_scope_pair_by_slot) {
  tl_random r = random_for(43);
  bool keep[900];
  scene *s = new_scene(900);
  fill_uniform(s, &r, 0, 5, 1.0);
  make_plane(s, 450);
  for (size_t i = 0; i < s->count; ++i) {
    keep[i] = i == 450 || below(&r, 2);
    s->model.property.flags[i] |= i % 5 == 0 ? TL_FLAG_FIXED : 0;
    s->model.property.group[i] = i % 4;
  }
  ignore(s, 1, 2);
  restrict_to(s, keep);
  CHECK(check_scene(s) > 500);
}

/* ---- errors and choice ---------------------------------------------------------------------- */

TEST(a_box_that_is_not_finite_is_an_error_naming_the_body) {
  const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
  for (int kind = 0; kind < 2; ++kind)
    for (size_t v = 0; v < sizeof bad / sizeof bad[0]; ++v) {
      tl_random r = random_for(44);
      scene *s = new_scene(5000);
      fill_uniform(s, &r, 0, 50, 1.0);
      s->boxes[4321].lo.z = bad[v];
      s->boxes[4500].lo.z = NAN;
      s->model.par.threads = 2;
      const tl_scope scope = scope_of(s);
      tl_pairs pairs;
      const talus_status status = tl_broad_find_pairs(kind ? TALUS_BROAD_BRUTE : TALUS_BROAD_BINS,
                                                      &s->model, &scope, s->boxes, &pairs);
      free_scene(s);
      CHECK_EQ_U64(status, TALUS_ERROR_DIVERGED);
      CHECK_MSG(strstr(talus_last_error(), "body 13963:"), "%s", talus_last_error());
    }
}

TEST(not_a_number_is_an_error_for_an_unbounded_body_too) {
  scene *s = new_scene(2);
  make_plane(s, 1);
  s->boxes[1].hi.y = NAN;
  const tl_scope scope = scope_of(s);
  tl_pairs pairs;
  const talus_status status =
      tl_broad_find_pairs(TALUS_BROAD_BINS, &s->model, &scope, s->boxes, &pairs);
  free_scene(s);
  CHECK_EQ_U64(status, TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "body 1003:"), "%s", talus_last_error());
}

TEST(more_bodies_than_bins_can_number_is_an_error) {
  scene *s = new_scene(2);
  tl_scope scope = scope_of(s);
  tl_pairs pairs;
  scope.count = 0;
  s->model.bodies = (size_t)1 << 31;
  const talus_status status =
      tl_broad_find_pairs(TALUS_BROAD_BINS, &s->model, &scope, s->boxes, &pairs);
  free_scene(s);
  CHECK_EQ_U64(status, TALUS_ERROR_UNSUPPORTED);
  CHECK_MSG(strstr(talus_last_error(), "2147483648 bodies"), "%s", talus_last_error());
}

TEST(auto_is_not_an_algorithm_and_choose_names_one) {
  scene *s = new_scene(2);
  const tl_scope scope = scope_of(s);
  tl_pairs pairs;
  const char *reason = NULL;
  CHECK_EQ_U64(tl_broad_find_pairs(TALUS_BROAD_AUTO, &s->model, &scope, s->boxes, &pairs),
               TALUS_ERROR_INVALID);
  CHECK_EQ_U64(tl_broad_choose(&s->model, 10, &reason), TALUS_BROAD_BRUTE);
  CHECK(reason && strlen(reason) > 10);
  CHECK_EQ_U64(tl_broad_choose(&s->model, 1000, &reason), TALUS_BROAD_BINS);
  CHECK(reason && strlen(reason) > 10);
  CHECK_STR(tl_broad_name(TALUS_BROAD_BINS), "bins");
  CHECK_STR(tl_broad_name(TALUS_BROAD_BRUTE), "brute");
  CHECK_STR(tl_broad_name(TALUS_BROAD_AUTO), "auto");
  free_scene(s);
}

/* ---- memory --------------------------------------------------------------------------------- */

TEST(bins_take_little_memory_and_none_once_warm) {
  tl_random r = random_for(45);
  scene *s = new_scene(20000);
  fill_uniform(s, &r, 0, 26, 1.0); /* as crowded as a settled heap */
  s->boxes[0] = box_at(1e7, -1e9, 1e8, 1, 1, 1);
  s->model.par.threads = 2;
  const tl_scope scope = scope_of(s);
  tl_pairs pairs;
  CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &s->model, &scope, s->boxes, &pairs));
  const double per_body = (double)s->arena.peak / 20000;
  CHECK(pairs.count > 4 * 20000);
  CHECK_MSG(per_body < 300, "%g bytes per body", per_body);
  tl_arena_reset(&s->arena);
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(tl_broad_find_pairs(TALUS_BROAD_BINS, &s->model, &scope, s->boxes, &pairs));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  free_scene(s);
}

/* ---- random scenes of every kind ------------------------------------------------------------ */

typedef struct recipe {
  size_t n;
  int places, sizes;
  double width, edge, offset, snap; /* snap: everything is a multiple of it; 0: not snapped */
} recipe;

static double snapped(double x, double snap) { return snap > 0 ? snap * floor(x / snap) : x; }

static double random_edge(tl_random *r, const recipe *c) {
  switch (c->sizes) {
  case 0:
    return c->edge;
  case 1:
    return 0;
  case 2:
    return uniform(r, 0, 2 * c->edge);
  case 3:
    return c->edge * pow(10, uniform(r, -3, 1));
  case 4:
    return below(r, 40) ? c->edge : 20 * c->edge;
  default:
    return below(r, 3) ? 0.01 * c->edge : 4 * c->edge; /* each axis: flat ones and needles */
  }
}

static double random_place(tl_random *r, const recipe *c, size_t i, int axis) {
  switch (c->places) {
  case 0:
    return uniform(r, 0, c->width);
  case 1:
    return 0.3 * c->width * (double)(i % 4) + 0.02 * c->width * tl_random_normal(r);
  case 2:
    return axis == 2 ? 0 : uniform(r, 0, c->width);
  case 3:
    return axis == 0 ? uniform(r, -c->width, c->width) * 10 : 0;
  case 4:
    return c->edge * (double)below(r, 8);
  default:
    return 0.5 * c->width;
  }
}

static recipe random_recipe(tl_random *r) {
  const size_t most = below(r, 8) == 0 ? 700 : 200;
  recipe c = {.n = below(r, most), .places = (int)below(r, 6), .sizes = (int)below(r, 6)};
  c.edge = below(r, 2) ? 1.0 : pow(10, uniform(r, -4, 3));
  c.width = c.edge * pow((double)(c.n + 1), 1.0 / 3.0) * uniform(r, 0.3, 3);
  if (below(r, 2)) { /* dyadic: every sum below is exact, so that touching is exact too */
    c.edge = 1.0;
    c.snap = 0.125;
    c.offset = below(r, 2) ? 0 : below(r, 2) ? -1073741824.0 : 1e6;
    c.width = ceil(c.width);
  } else if (below(r, 3) == 0) {
    c.offset = uniform(r, -100, 100) * c.edge;
  }
  return c;
}

static void place_random(scene *s, tl_random *r, const recipe *c) {
  for (size_t i = 0; i < s->count; ++i) {
    double at[3], edge[3], one = random_edge(r, c);
    for (int k = 0; k < 3; ++k) {
      at[k] = snapped(c->offset + random_place(r, c, i, k), c->snap);
      edge[k] = snapped(c->sizes == 5 ? random_edge(r, c) : one, c->snap);
    }
    s->boxes[i] = box_at(at[0], at[1], at[2], edge[0], edge[1], edge[2]);
  }
}

static void add_oddities(scene *s, tl_random *r, const recipe *c) {
  tl_properties *p = &s->model.property;
  const bool groups = below(r, 3) == 0;
  for (size_t i = 0; i < s->count; ++i) {
    p->flags[i] = below(r, 6) == 0 ? TL_FLAG_FIXED : 0;
    p->group[i] = groups ? (uint32_t)below(r, 4) : 0;
    if (below(r, 150) == 0)
      make_plane(s, i);
    if (below(r, 150) == 0)
      s->boxes[i] = box_at(1e6 * c->edge, -1e7 * c->edge, 0, c->edge, c->edge, c->edge);
    if (below(r, 150) == 0)
      s->boxes[i] = box_at(snapped(c->offset - c->width, c->snap), c->offset, c->offset,
                           16 * c->width, 16 * c->width, c->edge);
  }
  if (groups) {
    ignore(s, 0, 1);
    ignore(s, 2, 2);
  }
  if (below(r, 2)) {
    const double length = snapped(c->width * uniform(r, 0.2, 1.2), c->snap) + c->edge;
    const talus_dvec3 lo = {c->offset, c->offset, c->offset};
    const talus_dvec3 hi = {c->offset + length, c->offset + 2 * length, c->offset + length};
    make_periodic(s, below(r, 2), below(r, 2), below(r, 2), lo, hi);
  }
}

/* The reference above tries sixteen periods to either side. */
static void keep_near(scene *s) {
  const talus_domain_def *d = &s->model.domain;
  const double length[3] = {d->box.hi.x - d->box.lo.x, d->box.hi.y - d->box.lo.y,
                            d->box.hi.z - d->box.lo.z};
  for (size_t i = 0; i < s->count; ++i) {
    double *lo[3] = {&s->boxes[i].lo.x, &s->boxes[i].lo.y, &s->boxes[i].lo.z};
    double *hi[3] = {&s->boxes[i].hi.x, &s->boxes[i].hi.y, &s->boxes[i].hi.z};
    const double low[3] = {d->box.lo.x, d->box.lo.y, d->box.lo.z};
    for (int k = 0; k < 3; ++k) {
      if (!d->periodic[k] || !isfinite(*lo[k]))
        continue;
      while (*lo[k] < low[k] - length[k])
        *lo[k] += length[k] * ceil((low[k] - *lo[k]) / length[k]),
            *hi[k] = *lo[k] + 0.5 * length[k];
      while (*lo[k] > low[k] + 2 * length[k])
        *lo[k] -= length[k] * floor((*lo[k] - low[k]) / length[k]),
            *hi[k] = *lo[k] + 0.5 * length[k];
      if (*hi[k] > *lo[k] + 2 * length[k])
        *hi[k] = *lo[k] + 2 * length[k];
    }
  }
}

TEST(random_scenes_of_every_kind_agree) {
  size_t pairs_in_all = 0;
  for (uint64_t seed = 1; seed <= 800; ++seed) {
    tl_random r = random_for(1000 + seed);
    const recipe c = random_recipe(&r);
    scene *s = new_scene(c.n);
    place_random(s, &r, &c);
    if (below(&r, 2)) {
      add_oddities(s, &r, &c);
      keep_near(s);
    }
    if (below(&r, 4) == 0) {
      bool keep[1024];
      for (size_t i = 0; i < s->count; ++i)
        keep[i] = below(&r, 3) > 0;
      restrict_to(s, keep);
    }
    size_t pairs;
    const char *problem = disagreement(s, &pairs);
    free_scene(s);
    CHECK_MSG(problem == NULL, "seed %llu: %s", (unsigned long long)seed, problem);
    pairs_in_all += pairs;
  }
  CHECK(pairs_in_all > 100000);
}

TEST_MAIN()
