/* Revolved walls: where bodies touch them, against dense sampling in long double; what is refused;
 * that they hold what is in them. */
#include <talus/talus.h>

#include "kernels/revolved.h"
#include "test_collide.h"

#define MOST_POINTS 8

static tl_shape wall_of(const double *points, size_t n, talus_sides sides) {
  const talus_shape_def def = {
      .kind = TALUS_REVOLVED, .points = points, .point_count = n, .sides = sides};
  tl_shape shape;
  CHECK_MSG(tl_shape_make(&def, &shape) == TALUS_OK, "%s", tl_last_message());
  return shape;
}

/* Points that rise; some segments are plates, some tubes. */
static size_t random_profile(tl_random *random, double *p) {
  const size_t n = 2 + tl_random_u32(random) % (MOST_POINTS - 2);
  double z = uniform(random, -1, 0), r = uniform(random, 0.3, 1);
  for (size_t i = 0; i < n; ++i) {
    p[2 * i] = z, p[2 * i + 1] = r;
    const bool after_plate = i > 0 && p[2 * i - 2] == z;
    const uint32_t kind = i == 0 || after_plate ? 0 : tl_random_u32(random) % 4;
    z += kind == 1 ? 0 : uniform(random, 0.1, 0.6);
    r = kind == 2 ? r : uniform(random, 0.2, 1.2);
  }
  return n;
}

/* ---- the reference --------------------------------------------------------------------------- */

/* A place of segment k, in the wall's frame. */
static lvec place_at(const tl_posed *wall, uint32_t k, ld share, ld angle) {
  const double *p = wall->shape->points + 2 * k;
  const ld s = (ld)wall->scale, z = s * ((ld)p[0] + share * ((ld)p[2] - (ld)p[0]));
  const ld r = s * ((ld)p[1] + share * ((ld)p[3] - (ld)p[1]));
  return lv(r * cosl(angle), r * sinl(angle), z);
}

/* The nearest place of a segment by dense sampling, then by ever smaller steps from the best. */
static lvec nearest_on_segment(const tl_posed *wall, uint32_t k, lvec c) {
  enum { ACROSS = 24, AROUND = 48 };
  ld best[2] = {0, 0}, least = HUGE_VALL;
  for (int i = 0; i <= ACROSS; ++i)
    for (int j = 0; j < AROUND; ++j) {
      const ld share = (ld)i / ACROSS, angle = 2 * (ld)TL_PI * j / AROUND;
      const ld d = l_length(l_sub(place_at(wall, k, share, angle), c));
      if (d < least)
        least = d, best[0] = share, best[1] = angle;
    }
  for (ld step = 0.1L; step > 1e-17L; step *= 0.5L)
    for (bool found = true; found;) {
      found = false;
      for (int way = 0; way < 4; ++way) {
        ld next[2] = {best[0], best[1]};
        next[way / 2] += way % 2 ? step : -step;
        next[0] = fminl(1, fmaxl(0, next[0]));
        const ld d = l_length(l_sub(place_at(wall, k, next[0], next[1]), c));
        if (d < least)
          least = d, best[0] = next[0], best[1] = next[1], found = true;
      }
    }
  return place_at(wall, k, best[0], best[1]);
}

static lvec to_wall(const tl_posed *wall, lvec x) {
  const talus_quat back =
      tl_quat(wall->rotation.w, -wall->rotation.x, -wall->rotation.y, -wall->rotation.z);
  return l_rotate(back, l_sub(x, l_of(wall->position)));
}

/* The nearest place of the whole wall to the origin, in world axes. */
static lvec nearest_place(const tl_posed *wall) {
  const lvec c = to_wall(wall, lv(0, 0, 0));
  lvec best = {0};
  ld least = HUGE_VALL;
  for (uint32_t k = 0; k + 1 < wall->shape->point_count; ++k) {
    const lvec place = nearest_on_segment(wall, k, c);
    if (l_length(l_sub(place, c)) < least)
      least = l_length(l_sub(place, c)), best = place;
  }
  return l_add(l_of(wall->position), l_rotate(wall->rotation, best));
}

/* ---- spheres --------------------------------------------------------------------------------- */

TEST(sphere_touches_the_nearest_place_of_a_wall_of_both_sides) {
  const uint64_t cases = check_cases(1200);
  int touching = 0, corners = 0;
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(71, 0, serial);
    double points[2 * MOST_POINTS];
    tl_shape wall = wall_of(points, random_profile(&random, points), TALUS_SIDES_BOTH);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.1, 0.5), 0, 0, 0, 0);
    const tl_posed a = random_pose(&random, &ball, 0), b = random_pose(&random, &wall, 1.2);
    const ld radius = (ld)ball.size[0] * (ld)a.scale;
    const lvec place = nearest_place(&b);
    const ld distance = l_length(place);
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.05), p);
    int first = 0;
    for (int i = 1; i < count; ++i)
      first = p[i].gap < p[first].gap ? i : first;
    CHECK_MSG((count > 0) == (distance <= radius + 0.05L), "case %" PRIu64, serial);
    if (count > 0 && distance > 1e-3L) {
      CHECK_NEAR(p[first].gap, distance - radius, 1e-9 + REAL_TOLERANCE);
      CHECK_MSG(l_distance(l_of3(p[first].normal), l_scale(place, 1 / distance)) < 1e-7,
                "case %" PRIu64 ": normal off by %g", serial,
                l_distance(l_of3(p[first].normal), l_scale(place, 1 / distance)));
      corners += p[first].feature_b % 2 == 0;
    }
    touching += count > 0;
    tl_shape_release(&wall);
  }
  CHECK(touching > (int)cases / 4 && corners > (int)cases / 50);
}

/* Profiles that rise have an inside: rho < R(z). Every contact of a segment is at the distance of
 * that segment, unless it goes on behind its neighbour, where it is less. */
TEST(sphere_inside_touches_each_segment_at_its_distance) {
  const uint64_t cases = check_cases(800);
  int touching = 0;
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(72, 0, serial);
    double points[2 * MOST_POINTS];
    const size_t n = random_profile(&random, points);
    tl_shape wall = wall_of(points, n, TALUS_SIDES_IN);
    const tl_shape ball = make(TALUS_SPHERE, uniform(&random, 0.1, 0.4), 0, 0, 0, 0);
    const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
    const tl_posed b = random_pose(&random, &wall, 0.8);
    const lvec c = to_wall(&b, lv(0, 0, 0));
    const ld rho = hypotl(c.x, c.y), z = c.z / (ld)b.scale;
    bool inside = false;
    for (size_t k = 0; k + 1 < n; ++k) {
      const double *p = points + 2 * k;
      if (z >= p[0] && z < p[2])
        inside = rho < (ld)b.scale * (p[1] + (p[3] - p[1]) * (z - p[0]) / (p[2] - p[0]));
    }
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = inside ? tl_narrow_pair(&a, &b, 0, p) : 0;
    ld least = HUGE_VALL;
    for (int i = 0; i < count; ++i) {
      CHECK(p[i].feature_a == 0 && (i == 0 || p[i - 1].feature_b < p[i].feature_b));
      least = fminl(least, (ld)p[i].gap);
      if (p[i].feature_b % 2 == 0 || p[i].feature_b >= TL_REVOLVED_TURN)
        continue;
      const lvec place = nearest_on_segment(&b, p[i].feature_b / 2, c);
      const ld distance = l_length(l_sub(place, c));
      CHECK((ld)p[i].gap <= distance - (ld)ball.size[0] + 1e-9L + (ld)REAL_TOLERANCE);
    }
    if (inside) {
      const ld distance = l_length(nearest_place(&b));
      CHECK_MSG((count > 0) == (distance <= (ld)ball.size[0]), "case %" PRIu64, serial);
      if (count > 0)
        CHECK_NEAR(least, distance - (ld)ball.size[0], 1e-9 + REAL_TOLERANCE);
    }
    touching += count > 0;
    tl_shape_release(&wall);
  }
  CHECK(touching > (int)cases / 20);
}

/* ---- capsules, boxes and hulls --------------------------------------------------------------- */

/* The least distance between a segment x, y (in the wall's frame) and the wall, by sampling the
 * segment densely and minimising from the best places. */
static ld segment_distance(const tl_posed *wall, lvec x, lvec y) {
  enum { ALONG = 64 };
  ld least = HUGE_VALL, best = 0;
  for (int pass = 0; pass < 12; ++pass) {
    const ld half = pass == 0 ? 0.5L : powl(0.25L, pass), middle = pass == 0 ? 0.5L : best;
    for (int i = 0; i <= ALONG; ++i) {
      const ld u = fminl(1, fmaxl(0, middle + half * (2 * (ld)i / ALONG - 1)));
      const lvec c = l_madd(x, u, l_sub(y, x));
      const ld rho = hypotl(c.x, c.y), s = (ld)wall->scale;
      for (uint32_t k = 0; k + 1 < wall->shape->point_count; ++k) {
        const double *p = wall->shape->points + 2 * k;
        const ld dz = s * ((ld)p[2] - (ld)p[0]), dr = s * ((ld)p[3] - (ld)p[1]);
        const ld tz = c.z - s * (ld)p[0], tr = rho - s * (ld)p[1];
        const ld share = fminl(1, fmaxl(0, (tz * dz + tr * dr) / (dz * dz + dr * dr)));
        const ld d = hypotl(tz - share * dz, tr - share * dr);
        if (d < least)
          least = d, best = u;
      }
    }
  }
  return least;
}

static talus_real least_gap(const tl_point *p, int count) {
  talus_real least = TL_REAL_MAX;
  for (int i = 0; i < count; ++i)
    least = tl_min(least, p[i].gap);
  return least;
}

TEST(capsule_touches_where_its_axis_is_nearest) {
  const uint64_t cases = check_cases(2400);
  int touching = 0, within = 0;
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(73, 0, serial);
    double points[2 * MOST_POINTS];
    tl_shape wall = wall_of(points, random_profile(&random, points), TALUS_SIDES_BOTH);
    const double length = uniform(&random, 0.2, 1.5);
    const tl_shape pill = make(TALUS_CAPSULE, uniform(&random, 0.05, 0.2), length, 0, 0, 0);
    const tl_posed a = random_pose(&random, &pill, 0), b = random_pose(&random, &wall, 1.5);
    const lvec axis = l_rotate(a.rotation, lv(0, 0, 0.5L * (ld)length * (ld)a.scale));
    const ld radius = (ld)pill.size[0] * (ld)a.scale;
    const ld distance = segment_distance(&b, to_wall(&b, l_scale(axis, -1)), to_wall(&b, axis));
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.05), p);
    if (distance > 0.02L) { /* its axis does not pass through the wall */
      CHECK_MSG((count > 0) == (distance <= radius + 0.05L), "case %" PRIu64, serial);
      if (count > 0) {
        CHECK_NEAR(least_gap(p, count), distance - radius, 1e-7);
        for (int i = 0; i < count; ++i)
          within += p[i].feature_a > 1 && p[i].gap == least_gap(p, count);
      }
    }
    touching += count > 0;
    tl_shape_release(&wall);
  }
  CHECK_MSG(touching > (int)cases / 6 && within > (int)cases / 50, "%d and %d", touching, within);
}

/* Boxes that are apart from the wall touch it with a vertex, an edge or, on a rim, a face. */
TEST(box_touches_where_it_is_nearest) {
  const uint64_t cases = check_cases(2400);
  int near = 0, kinds[3] = {0};
  for (uint64_t serial = 0; serial < cases; ++serial) {
    tl_random random = tl_random_start(74, 0, serial);
    double points[2 * MOST_POINTS];
    tl_shape wall = wall_of(points, random_profile(&random, points), TALUS_SIDES_BOTH);
    const tl_shape box = make(TALUS_BOX, uniform(&random, 0.1, 1), uniform(&random, 0.1, 1),
                              uniform(&random, 0.1, 1), 0, 0);
    const tl_posed a = random_pose(&random, &box, 0), b = random_pose(&random, &wall, 2);
    static const int edge[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                    {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    ld distance = HUGE_VALL;
    for (int e = 0; e < 12; ++e)
      distance = fminl(distance, segment_distance(&b, to_wall(&b, box_vertex(&a, edge[e][0])),
                                                  to_wall(&b, box_vertex(&a, edge[e][1]))));
    tl_point p[TL_NARROW_MAX_POINTS];
    const int count = tl_narrow_pair(&a, &b, TL_R(0.2), p);
    int first = -1, rim = 0;
    for (int i = 0; i < count; ++i) {
      first = first < 0 || p[i].gap < p[first].gap ? i : first;
      rim += p[i].feature_a >= 0x20000;
    }
    /* Where a face lies on a rim the edges say nothing. */
    if (distance > 0.02L && distance < 0.19L && rim == 0 && first >= 0 && p[first].gap > 0) {
      CHECK_MSG(fabsl((ld)p[first].gap - distance) < 1e-7L, "case %" PRIu64 ": %g, not %g", serial,
                (double)p[first].gap, (double)distance);
      kinds[p[first].feature_a >> 16]++;
      near++;
    }
    kinds[2] += rim;
    tl_shape_release(&wall);
  }
  /* The few cases of a build with sanitizers need not have all kinds of places. */
  CHECK(near > (int)cases / 40 && (cases < 200 || (kinds[0] > 0 && kinds[1] > 0 && kinds[2] > 0)));
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* A ball of 0.1 m at (x, z) in the meridian plane of a wall. */
static int touch(const tl_shape *wall, double x, double z, talus_real margin, tl_point *p) {
  const tl_shape ball = make(TALUS_SPHERE, 0.1, 0, 0, 0, 0);
  const tl_posed a = posed(&ball, 1, tl_dvec3(0, 0, 0), tl_quat_identity());
  const tl_posed b = posed(wall, 1, tl_dvec3(-x, 0, -z), tl_quat_identity());
  return tl_narrow_pair(&a, &b, margin, p);
}

TEST(sphere_behind_a_wall_of_one_side_is_pushed_back_up_to_half_its_radius) {
  const double tube[] = {-1, 1, 1, 1};
  tl_point p[TL_NARROW_MAX_POINTS];
  for (int sides = TALUS_SIDES_OUT; sides <= TALUS_SIDES_IN; ++sides) {
    tl_shape wall = wall_of(tube, 2, (talus_sides)sides);
    const double out = sides == TALUS_SIDES_IN ? 1 : -1;
    CHECK_EQ_U64(touch(&wall, 1 + out * 0.04, 0, 0, p), 1);
    CHECK_NEAR(p[0].gap, -0.14, 1e-7);
    CHECK_NEAR(p[0].normal.x, out, 1e-7);
    CHECK_EQ_U64(touch(&wall, 1 + out * 0.06, 0, 0, p), 0);
    CHECK_EQ_U64(touch(&wall, 1 - out * 0.11, 0, 0, p), 0);
    tl_shape_release(&wall);
  }
}

/* The profile given from the top down is the same wall. */
TEST(inside_does_not_depend_on_the_direction_of_the_profile) {
  const double up[] = {0, 0.5, 1, 1, 1, 0.2}, down[] = {1, 0.2, 1, 1, 0, 0.5};
  tl_shape a = wall_of(up, 3, TALUS_SIDES_IN), b = wall_of(down, 3, TALUS_SIDES_IN);
  for (double x = 0; x < 1.2; x += 0.07)
    for (double z = -0.2; z < 1.3; z += 0.07) {
      tl_point p[TL_NARROW_MAX_POINTS], q[TL_NARROW_MAX_POINTS];
      const int n = touch(&a, x, z, TL_R(0.02), p), m = touch(&b, x, z, TL_R(0.02), q);
      talus_real least[2] = {TL_REAL_MAX, TL_REAL_MAX};
      for (int i = 0; i < n && n == m; ++i)
        least[0] = tl_min(least[0], p[i].gap), least[1] = tl_min(least[1], q[i].gap);
      CHECK_MSG(n == m, "%d and %d points at (%g, %g)", n, m, x, z);
      CHECK_NEAR(least[0], least[1], 1e-7);
    }
  tl_shape_release(&a);
  tl_shape_release(&b);
}

TEST(sphere_in_a_corner_stands_on_both_segments_even_when_pressed_into_one) {
  const double cup[] = {0, 0, 0, 1, 1, 1}; /* a plate and a tube */
  tl_shape wall = wall_of(cup, 3, TALUS_SIDES_IN);
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch(&wall, 0.91, 0.09, 0, p), 2);
  CHECK(p[0].feature_b == 1 && p[0].normal.z == -1 && p[1].feature_b == 3);
  CHECK_NEAR(p[0].gap, -0.01, 1e-7);
  CHECK_NEAR(p[1].gap, -0.01, 1e-7);
  CHECK_EQ_U64(touch(&wall, 1.02, 0.09, 0, p), 2); /* its centre behind the tube */
  CHECK_NEAR(p[0].gap, -0.01, 1e-7);
  CHECK_NEAR(p[1].gap, -0.12, 1e-7);
  CHECK_EQ_U64(touch(&wall, 1.02, -0.02, 0, p), 2); /* behind both */
  CHECK_EQ_U64(touch(&wall, 0.5, -0.3, 0, p), 0);
  tl_shape_release(&wall);
}

TEST(ends_are_open_and_their_circles_are_touched) {
  const double tube[] = {-1, 1, 1, 1};
  tl_shape wall = wall_of(tube, 2, TALUS_SIDES_IN);
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch(&wall, 0, 1, 0, p), 0);
  CHECK_EQ_U64(touch(&wall, 0.5, 1.05, 0, p), 0);
  CHECK_EQ_U64(touch(&wall, 1, 1.09, 0, p), 1);
  CHECK(p[0].feature_b == 2);
  CHECK_NEAR(p[0].normal.z, -1, 1e-7);
  CHECK_NEAR(p[0].gap, -0.01, 1e-7);
  tl_shape_release(&wall);
}

TEST(ball_in_a_throat_touches_it_all_around) {
  const double narrow[] = {-1, 0.101, 1, 0.101};
  tl_shape wall = wall_of(narrow, 2, TALUS_SIDES_IN);
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK_EQ_U64(touch(&wall, 0, 0, TL_R(0.01), p), 3);
  talus_vec3 sum = tl_vec3(0, 0, 0);
  for (int i = 0; i < 3; ++i) {
    CHECK_NEAR(p[i].gap, 0.001, 1e-8);
    sum = tl_add(sum, p[i].normal);
  }
  CHECK(tl_length(sum) < TL_R(1e-6));
  tl_shape_release(&wall);
}

TEST(profile_that_makes_no_wall_is_refused) {
  const double one[] = {0, 1}, minus[] = {0, 1, 1, -0.5}, twice[] = {0, 1, 0, 1, 1, 1};
  const double crossing[] = {0, 1, 1, 0.5, 1, 1, 0, 0.5}, axis[] = {0, 0, 1, 0, 1, 1};
  const double folded[] = {0, 1, 1, 1, 0.5, 1}, plate[] = {0, 0.5, 0, 1};
  const double touching[] = {0, 1, 1, 1, 1, 2, 0.5, 2, 0.5, 1};
  const struct {
    const double *points;
    size_t n;
    const char *says;
  } bad[] = {{one, 1, "has 1 point,"},
             {minus, 2, "radius -0.5"},
             {twice, 3, "again; leave it out"},
             {crossing, 4, "crosses or touches itself: segments 0 to 1 and 2 to 3"},
             {touching, 5, "crosses or touches itself"},
             {axis, 3, "both on the axis"},
             {folded, 3, "folds back"},
             {plate, 2, "sides must be both"}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    const talus_shape_def def = {
        .kind = TALUS_REVOLVED, .points = bad[i].points, .point_count = bad[i].n};
    talus_shape_info info;
    CHECK(talus_shape_measure(&def, &info) == TALUS_ERROR_INVALID);
    CHECK_MSG(strstr(talus_last_error(), bad[i].says), "'%s' has no '%s'", talus_last_error(),
              bad[i].says);
  }
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {1}, .sides = TALUS_SIDES_BOTH};
  talus_shape_info info;
  CHECK(talus_shape_measure(&ball, &info) == TALUS_ERROR_INVALID);
}

TEST(steps_plates_and_rings_are_walls) {
  const double step[] = {1, 10, 5, 10, 5, 8, 10, 8}, ring[] = {0, 1, 1, 1, 0.5, 2, 0, 1};
  talus_shape_info info;
  talus_shape_def def = {.kind = TALUS_REVOLVED, .points = step, .point_count = 4};
  CHECK_OK(talus_shape_measure(&def, &info));
  CHECK(info.volume == 0 && info.bounds.lo.z == 1 && info.bounds.hi.x == 10 && info.vertices == 4);
  def.points = ring;
  CHECK_OK(talus_shape_measure(&def, &info));
  tl_shape inside = wall_of(ring, 4, TALUS_SIDES_IN), outside = wall_of(ring, 4, TALUS_SIDES_OUT);
  tl_point p[TL_NARROW_MAX_POINTS];
  CHECK(touch(&inside, 1.3, 0.5, TL_R(0.3), p) == 3);
  CHECK(touch(&outside, 1.3, 0.5, TL_R(0.3), p) == 0);
  CHECK(touch(&outside, 0.95, -0.05, 0, p) == 1 && p[0].feature_b == 0);
  CHECK(touch(&outside, 0.95, 0.5, 0, p) == 1 && p[0].feature_b == 1);
  tl_shape_release(&inside);
  tl_shape_release(&outside);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static talus_material material;

static talus_world *new_world(double dt) {
  talus_world *world;
  talus_world_def def = talus_world_def_default();
  def.dt = dt;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def matter = talus_material_def_default();
  matter.friction = 0.2, matter.restitution = 0;
  CHECK_OK(talus_world_add_material(world, &matter, &material));
  return world;
}

static talus_body add_body(talus_world *world, const talus_shape_def *shape, talus_body_kind kind,
                           talus_dvec3 at, talus_vec3 velocity) {
  talus_body_def def = talus_body_def_default();
  talus_body body;
  CHECK_OK(talus_world_add_shape(world, shape, &def.shape));
  def.kind = kind, def.material = material, def.position = at, def.velocity = velocity;
  CHECK_OK(talus_world_add_body(world, &def, &body));
  return body;
}

TEST(fast_ball_does_not_leave_a_tube) {
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {0.05}};
  for (int sides = TALUS_SIDES_IN; sides <= TALUS_SIDES_BOTH; ++sides) {
    const talus_shape_def tube = {
        .kind = TALUS_REVOLVED, .size = {1, 1, 4}, .sides = (talus_sides)sides};
    talus_world *world = new_world(0.01);
    add_body(world, &tube, TALUS_FIXED, (talus_dvec3){0}, (talus_vec3){0});
    talus_body inside =
        add_body(world, &ball, TALUS_FREE, (talus_dvec3){0.3, 0, 0}, (talus_vec3){5, 7, 0});
    for (int i = 0; i < 20; ++i) {
      talus_body_info state;
      CHECK_OK(talus_world_step(world, 1));
      CHECK_OK(talus_world_get_body(world, inside, &state));
      CHECK_MSG(hypot(state.position.x, state.position.y) < 0.953,
                /* 0.95 + (v dt)^2 / 2 R */ "step %d: at radius %g", i,
                hypot(state.position.x, state.position.y));
    }
    talus_world_destroy(world);
  }
}

/* A ball wider than the outlet comes to rest on the ring: sqrt(R^2 - r^2) above it. */
TEST(ball_wider_than_the_outlet_rests_on_it) {
  const talus_shape_def funnel = {.kind = TALUS_REVOLVED, .size = {0.08, 0.5, 0.2}};
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {0.1}};
  talus_world *world = new_world(0.002);
  talus_body_info state;
  add_body(world, &funnel, TALUS_FIXED, (talus_dvec3){0, 0, 0.1}, (talus_vec3){0});
  talus_body grain =
      add_body(world, &ball, TALUS_FREE, (talus_dvec3){0.02, 0.01, 0.12}, (talus_vec3){0});
  CHECK_OK(talus_world_step(world, 1500));
  CHECK_OK(talus_world_get_body(world, grain, &state));
  CHECK_NEAR(hypot(state.position.x, state.position.y), 0, 1e-3);
  CHECK_NEAR(state.position.z, 0.06, 1e-3);
  CHECK(tl_length(state.velocity) < TL_R(1e-3));
  talus_world_destroy(world);
}

TEST(wall_is_never_free) {
  const talus_shape_def tube = {.kind = TALUS_REVOLVED, .size = {1, 1, 4}};
  talus_world *world = new_world(0.01);
  talus_body_def def = talus_body_def_default();
  talus_body body;
  CHECK_OK(talus_world_add_shape(world, &tube, &def.shape));
  def.material = material;
  CHECK(talus_world_add_body(world, &def, &body) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "cannot be free"));
  talus_world_destroy(world);
}

/* A box as a lid on a standing tube, a hull in a cone, a pill across a pipe. */
TEST(lid_rests_on_a_rim_and_a_gem_in_a_cone) {
  static const double gem[] = {0.1, 0, 0, -0.1, 0, 0, 0, 0.1, 0, 0, -0.1, 0, 0, 0, 0.1, 0, 0, -0.1};
  const talus_shape_def pipe = {
      .kind = TALUS_REVOLVED, .size = {0.3, 0.3, 1}, .sides = TALUS_SIDES_BOTH};
  const talus_shape_def cone = {.kind = TALUS_REVOLVED, .size = {0, 0.5, 1}};
  const talus_shape_def lid = {.kind = TALUS_BOX, .size = {1, 1, 0.1}};
  const talus_shape_def stone = {.kind = TALUS_HULL, .points = gem, .point_count = 6};
  const talus_shape_def pill = {.kind = TALUS_CAPSULE, .size = {0.05, 0.8}};
  talus_world *world = new_world(0.002);
  talus_body_info state;
  add_body(world, &pipe, TALUS_FIXED, (talus_dvec3){0, 0, 0}, (talus_vec3){0});
  add_body(world, &cone, TALUS_FIXED, (talus_dvec3){5, 0, 0}, (talus_vec3){0});
  add_body(world, &pipe, TALUS_FIXED, (talus_dvec3){10, 0, 0}, (talus_vec3){0});
  const talus_body top =
      add_body(world, &lid, TALUS_FREE, (talus_dvec3){0.02, 0.01, 0.551}, (talus_vec3){0});
  const talus_body diamond =
      add_body(world, &stone, TALUS_FREE, (talus_dvec3){5, 0, 0}, (talus_vec3){0});
  talus_body_def across = talus_body_def_default();
  talus_body bar;
  CHECK_OK(talus_world_add_shape(world, &pill, &across.shape));
  across.material = material, across.position = (talus_dvec3){10, 0, 0.551};
  across.rotation = (talus_quat){TL_R(0.7071067811865476), 0, TL_R(0.7071067811865476), 0};
  CHECK_OK(talus_world_add_body(world, &across, &bar));
  CHECK_OK(talus_world_step(world, 1000));
  CHECK_OK(talus_world_get_body(world, top, &state));
  CHECK_NEAR(state.position.z, 0.55, 2e-4);
  CHECK_NEAR(state.position.x, 0.02, 1e-3);
  CHECK_OK(talus_world_get_body(world, bar, &state));
  CHECK_NEAR(state.position.z, 0.55, 2e-4);
  CHECK_OK(talus_world_get_body(world, diamond, &state));
  CHECK(hypot(state.position.x - 5, state.position.y) < 0.1 && state.position.z < -0.1);
  CHECK_MSG(tl_length(state.velocity) < TL_R(5e-3), "the gem moves at %g m/s",
            (double)tl_length(state.velocity));
  talus_world_destroy(world);
}

/* Balls all over a nozzle: few are tested against it, and none that would touch it is left out. */
TEST(cells_of_a_wall_leave_out_none_that_touches) {
  static const double nozzle[] = {1, 10, 5, 10, 25, 8.1, 30, 8.1, 50, 10, 64.4, 10};
  const talus_shape_def wall = {.kind = TALUS_REVOLVED, .points = nozzle, .point_count = 6};
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {0.2}};
  const size_t many = check_cases(20000);
  size_t counts[2], tested = 0;
  for (int order = 0; order < 2; ++order) { /* the wall before its bodies, and behind: no cells */
    talus_world *world = new_world(0.001);
    talus_body_def def = talus_body_def_default();
    const talus_quat lie = {TL_R(0.8), TL_R(0.6), 0, 0};
    if (order == 0)
      add_body(world, &wall, TALUS_FIXED, (talus_dvec3){3, 0, 0}, (talus_vec3){0});
    CHECK_OK(talus_world_add_shape(world, &ball, &def.shape));
    def.material = material;
    uint32_t group;
    CHECK_OK(talus_world_group(world, "gas", &group));
    CHECK_OK(talus_world_ignore_groups(world, group, group));
    def.group = group;
    for (size_t i = 0; i < many; ++i) {
      tl_random random = tl_random_start(75, 0, i);
      const double r = 10 * sqrt(tl_random_unit(&random)), t = 2 * TL_PI * tl_random_unit(&random);
      def.position = (talus_dvec3){3 + r * cos(t), r * sin(t), uniform(&random, 0, 65)};
      def.rotation = lie;
      CHECK_OK(talus_world_add_body(world, &def, NULL));
    }
    if (order == 1)
      add_body(world, &wall, TALUS_FIXED, (talus_dvec3){3, 0, 0}, (talus_vec3){0});
    talus_report report;
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_world_contacts(world, NULL, 0, &counts[order]));
    CHECK_OK(talus_world_report(world, &report));
    if (order == 0) {
      tested = (size_t)report.wall_tests;
      CHECK(report.wall_pairs > many * 9 / 10);
    }
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(counts[0], counts[1]);
  CHECK_MSG(counts[0] > many / 40 && tested < many / 2, "%zu touch, %zu were tested", counts[0],
            tested);
}

/* Half a radius of the tube to a diameter in a step, along the wall and across: ten steps. */
TEST(a_fast_ball_does_not_leave_its_tube) {
  const talus_shape_def tube = {.kind = TALUS_REVOLVED, .size = {1, 1, 40}};
  const talus_shape_def ball = {.kind = TALUS_SPHERE, .size = {0.1}};
  static const talus_solve_kind kinds[] = {TALUS_SOLVE_CCP, TALUS_SOLVE_IMPULSE};
  for (int i = 0; i < 40; ++i) {
    talus_world_def def = talus_world_def_default();
    talus_world *world;
    talus_material steel;
    talus_material_def smooth = talus_material_def_default();
    smooth.friction = 0;
    def.dt = 0.1, def.gravity = (talus_vec3){0, 0, 0}, def.solve.kind = kinds[i % 2];
    CHECK_OK(talus_world_create(&def, &world));
    CHECK_OK(talus_world_add_material(world, &smooth, &steel));
    talus_body_def wall = talus_body_def_default(), body = talus_body_def_default();
    talus_body made;
    CHECK_OK(talus_world_add_shape(world, &tube, &wall.shape));
    CHECK_OK(talus_world_add_shape(world, &ball, &body.shape));
    wall.kind = TALUS_FIXED, wall.material = body.material = steel;
    CHECK_OK(talus_world_add_body(world, &wall, NULL));
    const double r = 0.85 * (i / 2 % 4) / 3.0, turn = 0.3 * i, speed = 5 + 5 * (i / 8 % 4);
    body.position = (talus_dvec3){r * cos(turn), r * sin(turn), 0};
    body.velocity = (talus_vec3){0, TL_R(speed), 1};
    CHECK_OK(talus_world_add_body(world, &body, &made));
    for (int step = 0; step < 10; ++step) {
      talus_body_info info;
      CHECK_OK(talus_world_step(world, 1));
      CHECK_OK(talus_world_get_body(world, made, &info));
      const double rho = hypot(info.position.x, info.position.y);
      /* Half a radius behind the wall it would be lost. */
      CHECK_MSG(rho < 1.05, "case %d, step %d: %g m from the axis", i, step, rho);
    }
    talus_world_destroy(world);
  }
}

/* A drum turns a clump with it; each sphere that touches is a contact. */
TEST(clump_touches_with_its_spheres_and_a_drum_turns_it) {
  const double spheres[] = {-0.1, 0, 0, 0.1, 0.1, 0, 0, 0.1};
  const talus_shape_def pair = {.kind = TALUS_CLUMP, .points = spheres, .point_count = 2};
  const talus_shape_def tube = {.kind = TALUS_REVOLVED, .size = {1, 1, 4}};
  talus_world *world = new_world(0.005);
  talus_body_def drum = talus_body_def_default();
  const talus_motion turn = {.spin = {0, TL_R(1), 0}};
  talus_body made;
  CHECK_OK(talus_world_add_shape(world, &tube, &drum.shape));
  drum.kind = TALUS_KINEMATIC, drum.material = material, drum.motion = turn;
  drum.rotation = (talus_quat){TL_R(0.7071067811865476), TL_R(0.7071067811865476), 0, 0};
  CHECK_OK(talus_world_add_body(world, &drum, &made));
  talus_body grain =
      add_body(world, &pair, TALUS_FREE, (talus_dvec3){0, 0, -0.89}, (talus_vec3){0});
  CHECK_OK(talus_world_step(world, 100));
  size_t contacts;
  CHECK_OK(talus_world_contacts(world, NULL, 0, &contacts));
  CHECK_EQ_U64(contacts, 2);
  talus_body_info state;
  CHECK_OK(talus_world_get_body(world, grain, &state));
  CHECK_MSG(state.position.x < -0.05, "it is at x = %g", state.position.x);
  talus_world_destroy(world);
}

TEST_MAIN()
