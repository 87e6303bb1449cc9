/* Joints one at a time: rows against finite differences, laws, the envelope. */
#include "check.h"
#include "joint/link.h"
#include "kernels/rotation.h"

#include "base/random.h"

static double random_at(uint64_t *serial) {
  *serial = *serial * 6364136223846793005u + 1442695040888963407u;
  return (double)(*serial >> 11) / 9007199254740992.0 * 2 - 1;
}

static talus_vec3 random_vec(uint64_t *s) {
  const double x = random_at(s), y = random_at(s), z = random_at(s);
  return tl_vec3((talus_real)x, (talus_real)y, (talus_real)z);
}

static talus_quat random_quat(uint64_t *s) {
  const talus_vec3 v = random_vec(s);
  return tl_quat_normalize(tl_quat((talus_real)random_at(s), v.x, v.y, v.z));
}

#if TALUS_SINGLE
#define STEP      1e-2
#define TOLERANCE 5e-3
#else
#define STEP      1e-5
#define TOLERANCE 1e-8
#endif

static tl_joint_body moved_by(const tl_joint_body *body, double t) {
  tl_joint_body there = *body;
  there.position = tl_dmadd(body->position, t, body->v);
  there.rotation =
      tl_quat_mul(tl_quat_from_rotation_vector(tl_scale(body->w, (talus_real)t)), body->rotation);
  return there;
}

static double speed_of(const tl_joint_row *row, const tl_joint_body *a, const tl_joint_body *b) {
  return (double)(tl_dot(row->la, a->v) + tl_dot(row->aa, a->w) + tl_dot(row->lb, b->v) +
                  tl_dot(row->ab, b->w));
}

/* Two bodies anywhere, so that frames do not meet: rows are exact derivatives all the same. */
static void make_pair(uint64_t *seed, uint32_t kind, tl_joint *joint, tl_joint_body *a,
                      tl_joint_body *b) {
  *joint = (tl_joint){.kind = kind, .a = 0, .b = 1, .ratio = -2.5, .length = 0.3};
  joint->anchor_a = tl_widen(random_vec(seed)), joint->anchor_b = tl_widen(random_vec(seed));
  joint->frame_a = random_quat(seed), joint->frame_b = random_quat(seed);
  joint->start_frame_a = random_quat(seed), joint->start_frame_b = random_quat(seed);
  *a = (tl_joint_body){.position = {0.1, -0.4, 0.3}, .rotation = random_quat(seed)};
  *b = (tl_joint_body){.position = {1.1, 0.2, -0.8}, .rotation = random_quat(seed)};
  a->v = random_vec(seed), a->w = random_vec(seed);
  b->v = random_vec(seed), b->w = random_vec(seed);
}

TEST(hard_rows_are_derivatives_of_what_they_hold) {
  static const tl_model model;
  for (uint32_t kind = 0; kind < TALUS_JOINT_KINDS; ++kind)
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      uint64_t s = seed;
      tl_joint joint;
      tl_joint_body a, b;
      make_pair(&s, kind, &joint, &a, &b);
      if (kind == TALUS_JOINT_GEAR || kind == TALUS_JOINT_RACK) {
        /* Angles are those of bodies that turn about their axes: let them. */
        joint.start_frame_a = tl_quat_mul(a.rotation, joint.frame_a);
        joint.start_frame_b = tl_quat_mul(b.rotation, joint.frame_b);
        a.w = tl_scale(tl_quat_rotate(joint.start_frame_a, tl_vec3(0, 0, 1)), 0.7f);
        if (kind == TALUS_JOINT_GEAR)
          b.w = tl_scale(tl_quat_rotate(joint.start_frame_b, tl_vec3(0, 0, 1)), -0.4f);
      }
      const tl_joint_body a0 = moved_by(&a, -STEP), b0 = moved_by(&b, -STEP);
      const tl_joint_body a1 = moved_by(&a, STEP), b1 = moved_by(&b, STEP);
      const tl_joint_place p0 = tl_joint_find_place(&model, &joint, &a0, &b0);
      const tl_joint_place p = tl_joint_find_place(&model, &joint, &a, &b);
      const tl_joint_place p1 = tl_joint_find_place(&model, &joint, &a1, &b1);
      tl_joint_row r0[TL_JOINT_HARD], r[TL_JOINT_HARD], r1[TL_JOINT_HARD];
      const int n = tl_joint_hold(&joint, &p, r);
      CHECK(tl_joint_hold(&joint, &p0, r0) == n && tl_joint_hold(&joint, &p1, r1) == n);
      for (int i = 0; i < n; ++i) {
        const double slope = ((double)r1[i].psi - (double)r0[i].psi) / (2 * STEP);
        CHECK_MSG(fabs(speed_of(&r[i], &a, &b) - slope) < TOLERANCE * (1 + fabs(slope)),
                  "%s, row %d, seed %d: %.10g, by differences %.10g", tl_joint_kind_name(kind), i,
                  (int)seed, speed_of(&r[i], &a, &b), slope);
      }
    }
}

TEST(free_rows_are_derivatives_where_axes_are_aligned) {
  static const tl_model model;
  const uint32_t kinds[] = {TALUS_JOINT_REVOLUTE, TALUS_JOINT_PRISMATIC, TALUS_JOINT_CYLINDRICAL,
                            TALUS_JOINT_DISTANCE, TALUS_JOINT_SPRING,    TALUS_JOINT_POINT_ON_LINE};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k)
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      uint64_t s = seed;
      tl_joint joint;
      tl_joint_body a, b;
      make_pair(&s, kinds[k], &joint, &a, &b);
      if (kinds[k] == TALUS_JOINT_REVOLUTE) { /* b turned about the axis of a, and turning so */
        const talus_quat frame = tl_quat_mul(a.rotation, joint.frame_a);
        const talus_vec3 z = tl_quat_rotate(frame, tl_vec3(0, 0, 1));
        const talus_quat on = tl_quat_mul(tl_quat_from_axis_angle(z, 0.9f), frame);
        joint.frame_b = tl_quat_mul(tl_quat_conj(b.rotation), on);
        b.w = tl_madd(a.w, 0.6f, z);
      }
      const tl_joint_body a0 = moved_by(&a, -STEP), b0 = moved_by(&b, -STEP);
      const tl_joint_body a1 = moved_by(&a, STEP), b1 = moved_by(&b, STEP);
      const tl_joint_place p0 = tl_joint_find_place(&model, &joint, &a0, &b0);
      const tl_joint_place p = tl_joint_find_place(&model, &joint, &a, &b);
      const tl_joint_place p1 = tl_joint_find_place(&model, &joint, &a1, &b1);
      tl_joint_row r0, r, r1;
      CHECK(tl_joint_free_row((int)kinds[k], false, &p0, &r0));
      CHECK(tl_joint_free_row((int)kinds[k], false, &p, &r));
      CHECK(tl_joint_free_row((int)kinds[k], false, &p1, &r1));
      const double slope = ((double)r1.psi - (double)r0.psi) / (2 * STEP);
      CHECK_MSG(fabs(speed_of(&r, &a, &b) - slope) < TOLERANCE * (1 + fabs(slope)),
                "%s, seed %d: %.10g, by differences %.10g", tl_joint_kind_name(kinds[k]), (int)seed,
                speed_of(&r, &a, &b), slope);
    }
}

/* Impulses of a row push the two bodies oppositely, and turn them oppositely about any point. */
TEST(rows_conserve_momentum_though_frames_do_not_meet) {
  static const tl_model model;
  for (uint32_t kind = 0; kind < TALUS_JOINT_GEAR; ++kind) {
    uint64_t s = 5;
    tl_joint joint;
    tl_joint_body a, b;
    make_pair(&s, kind, &joint, &a, &b);
    const tl_joint_place p = tl_joint_find_place(&model, &joint, &a, &b);
    tl_joint_row r[TL_JOINT_HARD];
    const int n = tl_joint_hold(&joint, &p, r);
    const talus_vec3 way = tl_between(a.position, b.position);
    for (int i = 0; i < n; ++i) {
      const talus_vec3 push = tl_add(r[i].la, r[i].lb);
      const talus_vec3 turn = tl_add(tl_add(r[i].aa, r[i].ab), tl_cross(way, r[i].lb));
      CHECK_NEAR(tl_length(push), 0, 1e-30);
      CHECK_NEAR(tl_length(turn), 0, sizeof(talus_real) == 4 ? 2e-6 : 1e-14);
    }
  }
}

/* ---- laws ------------------------------------------------------------------------------------ */

/* By bisection: the crossing of the line with spring, motor and limits. */
static double crossing(const tl_joint_law *law, double u0, double p0, double s) {
  double lo = -1e6, hi = 1e6;
  for (int i = 0; i < 200; ++i) {
    const double u = (lo + hi) / 2;
    double p = -(double)law->slope * (u + (double)law->offset) + (double)law->push;
    if (law->motor_rigid)
      p += u < -(double)law->motor_offset ? (double)law->cap : -(double)law->cap;
    else
      p +=
          fmin(fmax(-(double)law->motor_slope * (u + (double)law->motor_offset), -(double)law->cap),
               (double)law->cap);
    if (u < (double)law->low || (u <= (double)law->high && p > p0 + (u - u0) / s))
      lo = u;
    else
      hi = u;
  }
  return p0 + (lo - u0) / s;
}

TEST(law_meets_the_line_where_bisection_says) {
  uint64_t seed = 3;
  for (int i = 0; i < 3000; ++i) {
    tl_joint_law law = {.cap = TL_REAL_MAX, .low = -TL_REAL_MAX, .high = TL_REAL_MAX};
    if (i & 1)
      law.slope = (talus_real)fabs(3 * random_at(&seed)), law.offset = (talus_real)random_at(&seed);
    if (i & 2) {
      law.motor_rigid = (i & 4) != 0;
      law.motor_slope = law.motor_rigid ? 0 : (talus_real)fabs(random_at(&seed));
      law.motor_offset = (talus_real)random_at(&seed);
      law.cap = (talus_real)fabs(random_at(&seed));
    } else if (i & 8) {
      law.push = (talus_real)random_at(&seed);
    }
    if (i & 16)
      law.low = (talus_real)(random_at(&seed) - 1);
    if (i & 32)
      law.high = (talus_real)(random_at(&seed) + 1);
    const double u0 = 3 * random_at(&seed), p0 = random_at(&seed);
    const double s = 0.1 + fabs(random_at(&seed));
    const double got =
        (double)tl_joint_law_impulse(&law, (talus_real)u0, (talus_real)p0, (talus_real)s);
    CHECK_NEAR(got, crossing(&law, u0, p0, s), sizeof(talus_real) == 4 ? 1e-4 : 1e-8);
  }
}

/* ---- two problems at once -------------------------------------------------------------------- */

/* Random joints of every kind between bodies with and without tensors, one that cannot move among
 * them, against the two visits one after the other. */
TEST(visits_of_two_problems_at_once_have_the_bits_of_two_visits) {
  static const tl_model model;
  uint64_t seed = 5;
  for (int k = 0; k < 200; ++k) {
    tl_joint joint;
    tl_joint_body a, b;
    make_pair(&seed, (uint32_t)(k % TALUS_JOINT_KINDS), &joint, &a, &b);
    tl_joint_rows made = {.length = (talus_real)0.7};
    const tl_joint_place place = tl_joint_find_place(&model, &joint, &a, &b);
    made.hard = tl_joint_hold(&joint, &place, made.row);
    for (int r = 0; r < made.hard; ++r)
      made.bias[r] = (talus_real)random_at(&seed), made.drift[r] = (talus_real)random_at(&seed);
    tl_ccp_tensor tensors[2];
    tl_ccp_body body[2][2], twin[2][2]; /* by problem, then body */
    for (int i = 0; i < 2; ++i) {
      const talus_vec3 d = random_vec(&seed);
      tensors[i] = (tl_ccp_tensor){
          .inv_mass = {1, 1, k % 5 ? 1 : 0},
          .inv_inertia = {.xx = 2, .yy = 3, .zz = 4, .xy = d.x / 2, .xz = d.y / 2, .yz = d.z / 2}};
      const bool moves = !(i == 0 && k % 7 == 0);
      for (int p = 0; p < 2; ++p)
        body[p][i] = twin[p][i] = (tl_ccp_body){.v = random_vec(&seed),
                                                .w = random_vec(&seed),
                                                .inv_mass = moves ? 1 : 0,
                                                .inv_inertia = k % 2 ? 2 : -1};
    }
    tl_link_row rows[2][TL_JOINT_ROWS];
    tl_link link = {.a = 0, .b = 1, .row = rows[0]};
    tl_link_load(&link, &made);
    tl_link_factor(&link, body[0], tensors);
    memcpy(rows[1], rows[0], sizeof rows[1]);
    tl_link other = link;
    other.row = rows[1];
    for (int visit = 0; visit < 3; ++visit) {
      double recovered;
      const double change = tl_link_visit_both(&link, body[0], body[1], tensors, &recovered);
      CHECK(tl_link_recover(&other, twin[1], tensors) == recovered);
      CHECK(tl_link_visit(&other, twin[0], tensors) == change);
      CHECK_MSG(memcmp(body, twin, sizeof body) == 0, "case %d: other velocities", k);
      CHECK_MSG(memcmp(rows[0], rows[1], (size_t)made.hard * sizeof rows[0][0]) == 0,
                "case %d: other impulses", k);
    }
  }
}

/* ---- all rows at once ------------------------------------------------------------------------ */

/* A ladder of bodies joined along both rails and rungs: loops, so that the envelope fills. */
TEST(envelope_solves_what_dense_elimination_solves) {
  enum { BODIES = 12, LINKS = 22 };
  static tl_ccp_body bodies[BODIES + 1];
  static tl_link links[LINKS];
  static tl_link_row rows[LINKS][TL_JOINT_ROWS];
  static const tl_model model;
  tl_arena arena = {0};
  uint64_t seed = 11;
  for (int i = 0; i < BODIES; ++i)
    bodies[i] = (tl_ccp_body){.inv_mass = (talus_real)(0.5 + fabs(random_at(&seed))),
                              .inv_inertia = (talus_real)(0.5 + fabs(random_at(&seed)))};
  bodies[BODIES] = (tl_ccp_body){.inv_mass = 0};
  for (uint32_t i = 0; i < LINKS; ++i) {
    tl_joint joint;
    tl_joint_body a, b;
    make_pair(&seed, i % 3 == 0 ? TALUS_JOINT_REVOLUTE : TALUS_JOINT_DISTANCE, &joint, &a, &b);
    links[i].a = i % BODIES;
    links[i].b = i == 0 ? BODIES : (i * 5 + 1) % BODIES;
    if (links[i].a == links[i].b)
      links[i].b = BODIES;
    const tl_joint_place p = tl_joint_find_place(&model, &joint, &a, &b);
    tl_joint_rows made = {.length = 1};
    made.hard = tl_joint_hold(&joint, &p, made.row);
    links[i].row = rows[i];
    tl_link_load(&links[i], &made);
    tl_link_factor(&links[i], bodies, NULL);
  }
  tl_link_system system;
  bool fits;
  tl_link_graph graph;
  CHECK_OK(tl_link_graph_make(&graph, links, LINKS, BODIES + 1, &arena));
  CHECK_OK(
      tl_link_system_make(&system, links, &graph, 0, LINKS, bodies, NULL, SIZE_MAX, &arena, &fits));
  CHECK(fits);
  double want[LINKS * TL_JOINT_HARD];
  for (size_t i = 0; i < system.n; ++i)
    want[i] = random_at(&seed);
  /* Right-hand side = K want, by pushing and looking. */
  for (uint32_t i = 0; i < LINKS; ++i) {
    double p[TL_JOINT_ROWS] = {0};
    for (int r = 0; r < links[i].hard; ++r)
      p[r] = want[links[i].first + (uint32_t)r];
    tl_link_push(&links[i], bodies, NULL, p);
  }
  for (uint32_t i = 0; i < LINKS; ++i) {
    double u[TL_JOINT_ROWS];
    tl_link_speeds(&links[i], bodies, u);
    for (int r = 0; r < links[i].hard; ++r)
      system.x[system.place[links[i].first + (uint32_t)r]] =
          u[r] + links[i].row[r].soft * want[links[i].first + (uint32_t)r];
  }
  tl_link_system_solve(&system);
  /* 12 bodies cannot follow 40 rows: what must agree is what the impulses do. */
  for (uint32_t i = 0; i < LINKS; ++i) {
    double p[TL_JOINT_ROWS] = {0};
    for (int r = 0; r < links[i].hard; ++r)
      p[r] = -system.x[system.place[links[i].first + (uint32_t)r]];
    tl_link_push(&links[i], bodies, NULL, p);
  }
  for (int i = 0; i < BODIES; ++i) {
    CHECK_NEAR(tl_length(bodies[i].v), 0, sizeof(talus_real) == 4 ? 1e-2 : 1e-7);
    CHECK_NEAR(tl_length(bodies[i].w), 0, sizeof(talus_real) == 4 ? 1e-2 : 1e-7);
  }
  tl_arena_free(&arena);
}

TEST_MAIN()
