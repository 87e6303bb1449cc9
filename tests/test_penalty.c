/* Springs as the world sees them: threads, restart, the list of balls against the general way, the
 * critical step, refusals. */
#include "check.h"
#include "refuse.h"
#include "world.h"

#include <unistd.h>

static talus_world_def springs(talus_spring_law law, double dt, int threads) {
  talus_world_def def = talus_world_def_default();
  def.solve.kind = TALUS_SOLVE_PENALTY;
  def.solve.law = law;
  def.dt = dt;
  def.threads = threads;
  return def;
}

typedef struct rng {
  uint64_t state;
} rng;

static double next(rng *r) {
  r->state = r->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(r->state >> 11) * 0x1p-53;
}

/* Balls of two materials and three sizes in a box, on top of each other, with some spin; `mixed`
 * adds other shapes. */
static talus_world *heap(const talus_world_def *def, int count, bool mixed) {
  talus_world *world;
  CHECK_OK(talus_world_create(def, &world));
  talus_material_def m = talus_material_def_default();
  talus_material material[2];
  m.friction = 0.4, m.restitution = 0.5, m.stiffness = 3e4, m.young = 2e6;
  CHECK_OK(talus_world_add_material(world, &m, &material[0]));
  m.friction = 0.7, m.restitution = 0.8, m.stiffness = 2e4, m.young = 1e6;
  m.cohesion = 0.01;
  CHECK_OK(talus_world_add_material(world, &m, &material[1]));
  talus_shape_def shape = talus_shape_def_default();
  talus_shape ball, tank, cube;
  shape.size[0] = 0.02;
  CHECK_OK(talus_world_add_shape(world, &shape, &ball));
  shape.kind = TALUS_CONTAINER, shape.size[0] = shape.size[1] = 0.3, shape.size[2] = 2;
  CHECK_OK(talus_world_add_shape(world, &shape, &tank));
  shape.kind = TALUS_BOX, shape.size[0] = 0.04, shape.size[1] = 0.03, shape.size[2] = 0.03;
  CHECK_OK(talus_world_add_shape(world, &shape, &cube));
  talus_body_def body = talus_body_def_default();
  body.kind = TALUS_FIXED, body.shape = tank, body.material = material[0], body.position.z = 1;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  rng r = {7};
  for (int i = 0; i < count; ++i) {
    body = talus_body_def_default();
    body.shape = mixed && i % 5 == 0 ? cube : ball;
    body.material = material[i % 2];
    body.scale = 0.8 + 0.2 * (i % 3);
    body.position =
        (talus_dvec3){-0.12 + 0.06 * (i % 5) + 0.004 * next(&r),
                      -0.12 + 0.06 * (i / 5 % 5) + 0.004 * next(&r), 0.04 + 0.056 * (i / 25)};
    body.velocity = (talus_vec3){(talus_real)(next(&r) - 0.5), 0, (talus_real)-next(&r)};
    body.spin = (talus_vec3){0, (talus_real)(10 * next(&r)), 0};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

static talus_report report_of(talus_world *world) {
  talus_report report;
  CHECK_OK(talus_world_report(world, &report));
  return report;
}

TEST(results_do_not_depend_on_threads) {
  for (int k = 0; k < 4; ++k) {
    uint64_t hash[2];
    double work[2];
    for (int threads = 1; threads <= 2; ++threads) {
      const talus_world_def def = springs(k & 1 ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, threads);
      talus_world *world = heap(&def, 150, k >= 2);
      CHECK_OK(talus_world_step(world, 900));
      hash[threads - 1] = talus_world_hash(world);
      work[threads - 1] = report_of(world).friction_work;
      CHECK(report_of(world).contacts > 20);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
    CHECK(work[1] == work[0]);
  }
}

/* Nothing depends on when the list was made, nor on the skin, nor on how steps are grouped. */
TEST(list_changes_no_bit) {
  uint64_t hash[3];
  double work[3];
  for (int k = 0; k < 3; ++k) {
    talus_world_def def = springs(TALUS_HERTZ, 1e-4, 2);
    def.skin = k == 1 ? 0.02 : 0;
    talus_world *world = heap(&def, 200, false);
    for (int i = 0; i < 900; ++i) {
      CHECK_OK(k == 2 ? talus_world_step(world, 1) : tl_world_step_on(world, 1));
      if (k == 2 && i % 100 == 0)
        world->penalty.list.is_valid = false;
    }
    CHECK_OK(tl_world_store_contacts(world));
    CHECK(world->penalty.are_balls && world->penalty.list.renewals > 1);
    hash[k] = talus_world_hash(world);
    work[k] = report_of(world).damping_work;
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
  CHECK(work[1] == work[0] && work[2] == work[0]);
}

TEST(lanes_give_the_bits_of_the_scalar_code) {
  if (!tl_ball_has_avx512()) {
    printf("  no AVX-512 here\n");
    return;
  }
  for (int law = 0; law < 2; ++law) {
    uint64_t hash[2];
    double work[2];
    for (int scalar = 0; scalar < 2; ++scalar) {
      tl_ball_use_scalar(scalar);
      const talus_world_def def = springs(law ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 1);
      talus_world *world = heap(&def, 200, false);
      CHECK_OK(talus_world_step(world, 900));
      hash[scalar] = talus_world_hash(world);
      work[scalar] = report_of(world).friction_work;
      talus_world_destroy(world);
    }
    tl_ball_use_scalar(false);
    CHECK_EQ_U64(hash[1], hash[0]);
    CHECK(work[1] == work[0]);
  }
}

/* The reference of the fast way is the general one: the same but for rounding, which a heap of
 * colliding balls soon blows up; so a short time. */
TEST(balls_move_as_the_general_way_moves_them) {
  for (int law = 0; law < 2; ++law) {
    const talus_world_def def = springs(law ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 1);
    talus_world *fast = heap(&def, 200, false), *slow = heap(&def, 200, false);
    slow->penalty.is_general = true;
    CHECK_OK(talus_world_step(fast, 700));
    CHECK_OK(talus_world_step(slow, 700));
    CHECK(fast->penalty.are_balls && !slow->penalty.are_balls);
    double most = 0;
    for (size_t i = 0; i < fast->model.bodies; ++i)
      most = fmax(most, tl_dlength(tl_dsub(fast->state.position[i], slow->state.position[i])));
    CHECK_MSG(most < (TALUS_SINGLE ? 2e-3 : 1e-9), "they are up to %g m apart", most);
    const talus_report a = report_of(fast), b = report_of(slow);
    CHECK_EQ_U64(a.contacts, b.contacts);
    CHECK_MSG(a.contacts > 20, "%zu contacts", a.contacts);
    CHECK_NEAR(a.friction_work, b.friction_work, (TALUS_SINGLE ? 1e-2 : 1e-8) * b.friction_work);
    CHECK_NEAR(a.elastic_energy, b.elastic_energy, (TALUS_SINGLE ? 0.1 : 1e-6) * b.elastic_energy);
    CHECK_NEAR(a.contact_work, b.contact_work, (TALUS_SINGLE ? 1e-2 : 1e-8) * fabs(b.contact_work));
    CHECK_EQ_U64(fast->contacts.count, slow->contacts.count);
    for (size_t i = 0; i < fast->contacts.count; ++i) {
      const tl_contact *p = &fast->contacts.data[i], *q = &slow->contacts.data[i];
      CHECK(tl_contact_compare(p->a, p->b, p->feature_a, p->feature_b, q) == 0);
      CHECK(tl_dot(p->normal, q->normal) > TL_R(0.999));
    }
    talus_world_destroy(fast);
    talus_world_destroy(slow);
  }
}

/* A ball that flies through a row of balls of a tenth of its size, by many of their radii in a
 * step.
 */
static talus_world *shot(double speed, double skin) {
  talus_world_def def = springs(TALUS_LINEAR, 1e-4, 1);
  def.skin = skin;
  def.gravity = (talus_vec3){0, 0, 0};
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  m.friction = 0.4, m.restitution = 0.5, m.stiffness = 1e4;
  shape.size[0] = 0.01;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.scale = 10, body.velocity.x = (talus_real)speed;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.scale = 1, body.velocity.x = 0;
  for (int i = 0; i < 60; ++i) {
    body.position = (talus_dvec3){0.3 + 0.021 * i, 0.03 * (i % 3 - 1), 0.002 * (i % 7)};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

TEST(fast_large_ball_misses_no_small_one) {
  for (int k = 0; k < 3; ++k) {
    const double speed = k == 0 ? 300 : k == 1 ? 600 : 1500; /* m/s: 0.3, 0.6, 1.5 of its radii */
    talus_world *own = shot(speed, 0), *wide = shot(speed, 1), *slow = shot(speed, 0);
    slow->penalty.is_general = true;
    CHECK_OK(talus_world_step(own, 10));
    CHECK_OK(talus_world_step(wide, 10));
    CHECK_OK(talus_world_step(slow, 10));
    CHECK(own->penalty.are_balls && !slow->penalty.are_balls);
    CHECK_EQ_U64(talus_world_hash(own), talus_world_hash(wide));
    double fastest = 0, most = 0;
    for (size_t i = 1; i < own->model.bodies; ++i) {
      const talus_vec3 v = own->state.velocity[i], d = tl_sub(v, slow->state.velocity[i]);
      fastest = fmax(fastest, (double)tl_length(v));
      most = fmax(most, (double)tl_length(d));
    }
    CHECK_MSG(fastest > 1, "the fastest small ball has %g m/s", fastest);
    CHECK_MSG(most < (TALUS_SINGLE ? 1e-3 : 1e-9) * fastest, "%g of %g m/s apart", most, fastest);
    talus_world_destroy(own);
    talus_world_destroy(wide);
    talus_world_destroy(slow);
  }
}

#if TALUS_HAVE_HDF5
/* Balls that roll about between all kinds of walls: a tilted tank without a lid, full to the rim,
 * on a sloping plane, beside a block that the list does not know as flat. */
static talus_world *walled(const talus_world_def *def) {
  talus_world *world;
  CHECK_OK(talus_world_create(def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  m.friction = 0.4, m.restitution = 0.5, m.stiffness = 3e4, m.young = 2e6;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  talus_shape_def shape = talus_shape_def_default();
  talus_shape ball, tank, plane, block;
  shape.size[0] = 0.02;
  CHECK_OK(talus_world_add_shape(world, &shape, &ball));
  shape.kind = TALUS_CONTAINER, shape.open = TALUS_SIDE_TOP;
  shape.size[0] = shape.size[1] = 0.2, shape.size[2] = 0.15;
  CHECK_OK(talus_world_add_shape(world, &shape, &tank));
  shape = talus_shape_def_default();
  shape.kind = TALUS_PLANE, shape.size[0] = 0.1, shape.size[2] = sqrt(0.99), shape.size[3] = -0.1;
  CHECK_OK(talus_world_add_shape(world, &shape, &plane));
  shape.kind = TALUS_BOX, shape.size[0] = shape.size[1] = shape.size[2] = 0.1, shape.size[3] = 0;
  CHECK_OK(talus_world_add_shape(world, &shape, &block));
  body.kind = TALUS_FIXED, body.shape = plane;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.kind = TALUS_FREE, body.shape = ball;
  rng r = {11};
  for (int i = 0; i < 200; ++i) {
    if (i == 100) { /* walls of lower and of higher slots than the ball's */
      body.kind = TALUS_FIXED, body.shape = tank, body.position = (talus_dvec3){0, 0, 0.05};
      body.rotation = (talus_quat){1, (talus_real)0.05, (talus_real)0.03, 0};
      CHECK_OK(talus_world_add_body(world, &body, NULL));
      body.shape = block, body.position = (talus_dvec3){-0.2, 0, 0};
      CHECK_OK(talus_world_add_body(world, &body, NULL));
      body.kind = TALUS_FREE, body.shape = ball, body.rotation = (talus_quat){1, 0, 0, 0};
    }
    body.position =
        (talus_dvec3){-0.24 + 0.06 * (i % 8) + 0.004 * next(&r),
                      -0.12 + 0.06 * (i / 8 % 5) + 0.004 * next(&r), 0.15 + 0.05 * (i / 40)};
    body.velocity = (talus_vec3){(talus_real)(next(&r) - 0.5), 0, (talus_real)(-1 - next(&r))};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

TEST(flat_walls_are_those_of_the_general_way) {
  for (int law = 0; law < 2; ++law) {
    const talus_world_def def = springs(law ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 2);
    talus_world *fast = walled(&def), *slow = walled(&def);
    slow->penalty.is_general = true;
    CHECK_OK(talus_world_step(fast, 600));
    CHECK_OK(talus_world_step(slow, 600));
    CHECK(fast->penalty.list.flats.count > 20 && fast->penalty.list.walls.count > 0);
    double most = 0;
    for (size_t i = 0; i < fast->model.bodies; ++i)
      most = fmax(most, tl_dlength(tl_dsub(fast->state.position[i], slow->state.position[i])));
    CHECK_MSG(most < (TALUS_SINGLE ? 2e-3 : 1e-9), "they are up to %g m apart", most);
    CHECK_EQ_U64(fast->contacts.count, slow->contacts.count);
    CHECK_MSG(fast->contacts.count > 20, "%zu contacts", fast->contacts.count);
    for (size_t i = 0; !TALUS_SINGLE && i < fast->contacts.count; ++i) {
      const tl_contact *a = &fast->contacts.data[i], *b = &slow->contacts.data[i];
      CHECK(a->a == b->a && a->b == b->b && a->feature_a == b->feature_a &&
            a->feature_b == b->feature_b);
      CHECK_NEAR(tl_dlength(tl_dsub(a->point, b->point)), 0, 1e-9);
      CHECK_NEAR((double)tl_length(tl_sub(a->normal, b->normal)), 0, 1e-6);
      CHECK_NEAR((double)tl_length(tl_sub(a->impulse, b->impulse)), 0, 1e-6);
    }
    talus_world_destroy(fast);
    talus_world_destroy(slow);
  }
}

/* Candidates change hands when the order of balls changes: by renewals at other times, by threads
 * that take other blocks, by lanes or without. */
TEST(who_owns_a_contact_changes_no_bit) {
  uint64_t hash[4];
  double work[4];
  for (int k = 0; k < 4; ++k) {
    talus_world_def def = springs(TALUS_HERTZ, 1e-4, k == 1 ? 3 : 1);
    def.skin = k == 2 ? 0.02 : 0;
    tl_ball_use_scalar(k == 3);
    talus_world *world = walled(&def);
    for (int i = 0; i < 600; ++i) {
      CHECK_OK(talus_world_step(world, 1));
      if (k == 3 && i % 50 == 0)
        world->penalty.list.is_valid = false;
    }
    tl_ball_use_scalar(false);
    hash[k] = talus_world_hash(world);
    work[k] = report_of(world).friction_work;
    talus_world_destroy(world);
  }
  for (int k = 1; k < 4; ++k) {
    CHECK_EQ_U64(hash[k], hash[0]);
    CHECK(work[k] == work[0]);
  }
}

/* So many, and so close from the beginning, that threads wait for each other and take each other's
 * blocks over, while candidates change hands. */
static talus_world *crowd(const talus_world_def *def) {
  const int count = 4500;
  talus_world *world = heap(def, count, false);
  for (int i = 0; i < count; ++i) {
    const int x = i % 15, y = i / 15 % 15, z = i / 225;
    rng r = {(uint64_t)i * 7919 + 3};
    const double a = next(&r), b = next(&r);
    world->state.position[i + 1] =
        (talus_dvec3){-0.133 + 0.019 * x + 0.001 * a, -0.133 + 0.019 * y + 0.001 * b,
                      0.02 + 0.0325 * z + (x + y) % 2 * 0.016};
  }
  return world;
}

TEST(crowd_does_not_depend_on_threads_either) {
  const int threads[] = {1, 1, 3, 2, 3, 8}; /* the second and third without lanes */
  uint64_t hash = 0;
  talus_report first = {0};
  for (int k = 0; k < 6; ++k) {
    tl_ball_use_scalar(k == 1 || k == 2);
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads[k]);
    talus_world *world = crowd(&def);
    for (int i = 0; i < 5; ++i)
      CHECK_OK(talus_world_step(world, 12));
    const talus_report r = report_of(world);
    if (k == 0)
      hash = talus_world_hash(world), first = r;
    CHECK_MSG(r.contacts > 10000, "%zu contacts", (size_t)r.contacts);
    CHECK_EQ_U64(talus_world_hash(world), hash);
    CHECK(r.friction_work == first.friction_work && r.contact_work == first.contact_work &&
          r.elastic_energy == first.elastic_energy && r.damping_work == first.damping_work);
    talus_world_destroy(world);
  }
  tl_ball_use_scalar(false);
}

/* The next step is started at the end of the last: with another gravity it is not that one. */
TEST(gravity_that_changes_between_steps_counts_at_once) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *fast = heap(&def, 100, false), *slow = heap(&def, 100, false);
  slow->penalty.is_general = true;
  for (int i = 0; i < 5; ++i) {
    const talus_vec3 g = {(talus_real)i, 0, (talus_real)-9.81};
    CHECK_OK(talus_world_step(fast, 20));
    CHECK_OK(talus_world_step(slow, 20));
    if (i % 2 == 0) { /* which also makes the list anew */
      CHECK_OK(talus_world_set_gravity(fast, g));
      CHECK_OK(talus_world_set_gravity(slow, g));
    } else {
      fast->model.gravity = slow->model.gravity = g;
      CHECK(fast->penalty.list.is_started);
    }
  }
  CHECK_OK(talus_world_step(fast, 20));
  CHECK_OK(talus_world_step(slow, 20));
  double most = 0;
  for (size_t i = 0; i < fast->model.bodies; ++i)
    most = fmax(most, tl_dlength(tl_dsub(fast->state.position[i], slow->state.position[i])));
  CHECK_MSG(most < (TALUS_SINGLE ? 1e-5 : 1e-12), "they are up to %g m apart", most);
  talus_world_destroy(fast);
  talus_world_destroy(slow);
}

TEST(restart_is_exact) {
  for (int k = 0; k < 4; ++k) {
    const talus_world_def def = springs(k & 1 ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 2);
    talus_world *world = heap(&def, 150, k >= 2), *again;
    CHECK_OK(talus_world_step(world, 500));
    CHECK_OK(talus_world_save(world, "springs.h5"));
    CHECK_OK(talus_world_load("springs.h5", &again));
    CHECK_OK(talus_world_step(world, 500));
    CHECK_OK(talus_world_step(again, 500));
    CHECK_EQ_U64(talus_world_hash(again), talus_world_hash(world));
    const talus_report a = report_of(world), b = report_of(again);
    CHECK(a.friction_work == b.friction_work && a.damping_work == b.damping_work &&
          a.elastic_energy == b.elastic_energy && a.contact_work == b.contact_work);
    CHECK(a.contacts > 20);
    talus_world_destroy(world);
    talus_world_destroy(again);
    unlink("springs.h5");
  }
}
#endif

/* A heap that lies: lists and contacts do not grow any more. The arena gives back what one unusual
 * step took after 64 steps, so renewals must not be rarer than that or none. */
TEST(warm_steps_allocate_nothing) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 2);
  talus_world *world = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 15000));
  const uint64_t before = tl_memory_count().allocations;
  CHECK_OK(talus_world_step(world, 50));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  talus_world_destroy(world);
}

/* Balls that drift side by side: renewals are rarer than what the arena remembers, and all alike.
 */
TEST(rare_renewals_allocate_nothing_once_warm) {
  talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  def.gravity = (talus_vec3){0, 0, 0};
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  m.young = 2e6;
  shape.size[0] = 0.02;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.velocity.x = (talus_real)(0.2 * 0.02 / (100 * 1e-4)); /* as far as its skin in 100 steps */
  for (int i = 0; i < 1000; ++i) {
    body.position = (talus_dvec3){0.05 * (i % 10), 0.05 * (i / 10 % 10), 0.05 * (i / 100)};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  CHECK_OK(talus_world_step(world, 600));
  const uint64_t before = tl_memory_count().allocations, renewals = world->penalty.list.renewals;
  CHECK_OK(talus_world_step(world, 600));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  CHECK(world->penalty.list.renewals - renewals >= 5);
  talus_world_destroy(world);
}

/* Between steps the state is in the list alone; where the next one cannot even begin, because the
 * arena was to be made smaller and there is no memory for that, it is handed over all the same. */
TEST(state_is_there_when_memory_runs_out_between_steps) {
  if (!REFUSES_MEMORY)
    return;
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 10));
  void *large;
  CHECK_OK(tl_arena_take(&world->arena, (size_t)1 << 24, 1, &large));
  CHECK_OK(tl_arena_reset(&world->arena));
  world->arena.recent = 0;
  world->arena.resets = TL_ARENA_MEMORY - 4;
  refuses = true;
  CHECK(talus_world_step(world, 10) == TALUS_ERROR_MEMORY);
  refuses = false;
  const uint64_t steps = talus_world_steps(world);
  CHECK_MSG(steps > 11 && steps < 20, "%llu steps", (unsigned long long)steps);
  CHECK_OK(talus_world_step(other, steps));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  CHECK_OK(talus_world_step(world, 10));
  CHECK_OK(talus_world_step(other, 10));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
}

/* Walls that go the general way are found again in every step, with scratch of their own; forces
 * are not known then, where the list has just been renewed. */
TEST(state_is_there_when_memory_runs_out_within_a_step) {
  if (!REFUSES_MEMORY)
    return;
  for (int renews = 0; renews < 2; ++renews) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world = heap(&def, 100, false);
    talus_shape_def shape = talus_shape_def_default();
    talus_body_def body = talus_body_def_default();
    shape.kind = TALUS_BOX, shape.size[0] = shape.size[1] = 0.2, shape.size[2] = 0.02;
    body.kind = TALUS_FIXED;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    CHECK_OK(talus_world_add_body(world, &body, NULL));
    CHECK_OK(talus_world_step(world, 300));
    tl_ball_list *list = &world->penalty.list;
    list->has_left = renews; /* so that the next renewal finds all that it needs */
    CHECK_OK(talus_world_step(world, 1));
    const uint64_t hash = talus_world_hash(world), renewals = list->renewals;
    const size_t contacts = world->contacts.count;
    CHECK(list->walls.count > 0 && contacts > 20 && list->is_started);
    list->has_left = renews;
    tl_array_free(&list->wall_contacts); /* has to be taken anew, and cannot be */
    refuses = true;
    CHECK(talus_world_step(world, 1) == TALUS_ERROR_MEMORY);
    refuses = false;
    CHECK_EQ_U64(list->renewals, renewals + (renews ? 1 : 0));
    CHECK_EQ_U64(talus_world_hash(world), hash);
    CHECK_MSG(world->contacts.count > contacts / 2, "%zu of %zu contacts", world->contacts.count,
              contacts);
    for (size_t i = 0; i < world->contacts.count; ++i)
      CHECK(tl_length2(world->contacts.data[i].impulse) < 1);
    CHECK_OK(talus_world_step(world, 100));
    talus_world_destroy(world);
  }
}

/* Steps went well and their contacts could not be stored: who changes a body then must not meet the
 * springs of steps ago. They are stored late, or where that is not possible there are none. */
TEST(springs_are_never_those_of_steps_ago) {
  if (!REFUSES_MEMORY)
    return;
  for (int k = 0; k < 4; ++k) {
    const bool late = k % 2 == 0, removes = k >= 2;
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world[2] = {heap(&def, 100, false), heap(&def, 100, false)};
    for (int i = 0; i < 2; ++i) {
      CHECK_OK(talus_world_step(world[i], 700));
      CHECK(world[i]->contacts.count > 20);
      CHECK_OK(tl_world_step_on(world[i], 300));
    }
    tl_array_free(&world[0]->contacts.springs); /* has to be taken anew, and cannot be */
    CHECK_OK(tl_world_store_contacts(world[1]));
    refuses = true;
    CHECK(tl_world_store_contacts(world[0]) == TALUS_ERROR_MEMORY);
    refuses = !late;
    for (int i = 0; i < 2; ++i) {
      talus_body body;
      const talus_vec3 velocity = {TL_R(0.01), 0, 0}, spin = {0, 0, 0};
      CHECK_OK(talus_world_body_at(world[i], 50, &body));
      CHECK_OK(removes ? talus_world_remove_body(world[i], body)
                       : talus_body_set_velocity(world[i], body, velocity, spin));
    }
    refuses = false;
    CHECK(late == (world[0]->contacts.count > 0));
    CHECK(late == tl_contacts_have_springs(&world[0]->contacts));
    for (int i = 0; i < 2; ++i)
      CHECK_OK(talus_world_step(world[i], 1));
    CHECK(!late || talus_world_hash(world[0]) == talus_world_hash(world[1]));
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
  }
}

/* A renewal without memory: nothing of the old list is gone yet, and contacts are those of the last
 * step; or something is, and there are none. */
TEST(contacts_are_there_when_memory_runs_out_for_a_renewal) {
  if (!REFUSES_MEMORY)
    return;
  for (int early = 0; early < 2; ++early) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false);
    CHECK_OK(talus_world_step(world, 700));
    CHECK_OK(talus_world_step(other, 1000));
    CHECK_OK(tl_world_step_on(world, 300));
    CHECK(world->contacts.count > 20 && world->contacts.count != other->contacts.count);
    tl_ball_list *list = &world->penalty.list;
    CHECK_OK(tl_array_reserve(&world->contacts, other->contacts.count));
    CHECK_OK(tl_array_reserve(&world->contacts.springs, other->contacts.count));
    list->has_left = true;
    if (early)
      tl_array_free(&list->skin); /* has to be taken anew, and cannot be */
    else
      tl_array_free(&list->material);
    refuses = true;
    CHECK(tl_world_step_on(world, 1) == TALUS_ERROR_MEMORY);
    refuses = false;
    CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
    CHECK_EQ_U64(world->contacts.count, early ? other->contacts.count : 0);
    for (size_t i = 0; i < world->contacts.count; ++i) {
      const tl_contact *p = &world->contacts.data[i], *q = &other->contacts.data[i];
      CHECK(p->a == q->a && p->b == q->b && p->gap == q->gap && p->impulse.z == q->impulse.z);
    }
    CHECK_OK(talus_world_step(world, 100));
    talus_world_destroy(world);
    talus_world_destroy(other);
  }
}

/* Constant loads are no part of what contacts push with, and may come and change between steps. */
TEST(loads_that_change_between_steps_count_at_once) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 2);
  talus_world *fast = heap(&def, 100, false), *slow = heap(&def, 100, false);
  slow->penalty.is_general = true;
  for (int i = 0; i < 5; ++i) {
    CHECK_OK(talus_world_step(fast, 40));
    CHECK_OK(talus_world_step(slow, 40));
    for (size_t slot = 1; slot < 100; slot += 3) {
      talus_body body;
      const talus_vec3 force = {(talus_real)0.1 * (talus_real)i, 0, 0}, torque = {0, 0, 0};
      CHECK_OK(talus_world_body_at(fast, slot, &body));
      CHECK_OK(talus_body_set_force(fast, body, force, torque));
      CHECK_OK(talus_world_body_at(slow, slot, &body));
      CHECK_OK(talus_body_set_force(slow, body, force, torque));
    }
  }
  CHECK_OK(talus_world_step(fast, 100));
  CHECK_OK(talus_world_step(slow, 100));
  double most = 0;
  for (size_t i = 0; i < fast->model.bodies; ++i)
    most = fmax(most, tl_dlength(tl_dsub(fast->state.position[i], slow->state.position[i])));
  CHECK_MSG(most < (TALUS_SINGLE ? 1e-4 : 1e-11), "they are up to %g m apart", most);
  const talus_report a = report_of(fast), b = report_of(slow);
  CHECK(a.load_work != 0 && a.contacts > 10);
  CHECK_NEAR(a.load_work, b.load_work, (TALUS_SINGLE ? 1e-3 : 1e-9) * fabs(b.load_work));
  CHECK_NEAR(a.contact_work, b.contact_work, (TALUS_SINGLE ? 1e-2 : 1e-8) * fabs(b.contact_work));
  talus_world_destroy(fast);
  talus_world_destroy(slow);
}

/* What holds balls together becomes more than a velocity can hold, within a step that began well.
 */
TEST(step_that_breaks_on_its_way_changes_nothing) {
  for (int threads = 1; threads <= 2; ++threads) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads);
    talus_world *world = heap(&def, 300, false);
    CHECK_OK(talus_world_step(world, 300));
    CHECK(world->penalty.list.is_calm && world->penalty.list.is_started);
    for (size_t i = 0; i < world->penalty.laws.count; ++i)
      world->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
    world->penalty.list.is_calm = false; /* as in a world that had such laws from the beginning */
    const uint64_t hash = talus_world_hash(world);
    CHECK(talus_world_step(world, 100) == TALUS_ERROR_DIVERGED);
    CHECK_MSG(strstr(talus_last_error(), "not finite"), "%s", talus_last_error());
    CHECK_EQ_U64(talus_world_steps(world), 300);
    CHECK_EQ_U64(talus_world_hash(world), hash);
    talus_world_destroy(world);
  }
}

/* In a call of many steps the state is in the list alone: what is handed over when one of them
 * breaks is that of all the steps before. */
TEST(call_that_breaks_in_its_middle_leaves_the_steps_before) {
  for (int threads = 1; threads <= 2; ++threads) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads);
    talus_world *world[2] = {heap(&def, 300, false), heap(&def, 300, false)};
    for (int k = 0; k < 2; ++k) {
      CHECK_OK(talus_world_step(world[k], 1));
      for (size_t i = 0; i < world[k]->penalty.laws.count; ++i)
        world[k]->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
      world[k]->penalty.list.is_calm = false; /* as if it had such laws from the beginning */
    }
    CHECK(talus_world_step(world[0], 500) == TALUS_ERROR_DIVERGED);
    const uint64_t steps = talus_world_steps(world[0]);
    CHECK_MSG(steps > 3, "%llu steps", (unsigned long long)steps);
    for (uint64_t i = 1; i < steps; ++i)
      CHECK_OK(talus_world_step(world[1], 1));
    CHECK_EQ_U64(talus_world_hash(world[0]), talus_world_hash(world[1]));
    CHECK(talus_world_step(world[1], 1) == TALUS_ERROR_DIVERGED);
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
  }
}

/* Balls that cannot feel each other yet, and will: it was never calm. */
TEST(balls_with_wild_springs_are_never_calm) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(world->penalty.list.is_calm);
  for (size_t i = 0; i < world->penalty.laws.count; ++i)
    world->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
  talus_status status = TALUS_OK;
  uint64_t hash = 0, steps = 0;
  for (int i = 0; i < 500 && status == TALUS_OK; ++i) {
    CHECK(i == 0 || !world->penalty.list.is_calm);
    hash = talus_world_hash(world);
    steps = talus_world_steps(world);
    status = talus_world_step(world, 1);
  }
  CHECK(status == TALUS_ERROR_DIVERGED);
  CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_EQ_U64(talus_world_steps(world), steps);
  talus_world_destroy(world);
}

/* ---- the critical step ----------------------------------------------------------------------- */

static char said[512];
static void hear(void *context, int level, const char *line) {
  (void)context;
  if (level <= 1)
    snprintf(said, sizeof said, "%s", line);
}

/* One ball of 1 kg on springs of 1e4 N/m: 2 sqrt(m / k) with the reduced mass is 14.1 ms. */
static talus_world *one_ball(double dt) {
  talus_world_def def = springs(TALUS_LINEAR, dt, 1);
  def.log = hear;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def shape = talus_shape_def_default();
  m.name = "rubber", m.stiffness = 1e4, m.restitution = 1;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.mass = 1;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  said[0] = 0;
  return world;
}

TEST(step_above_the_critical_one_is_refused_with_the_number) {
  talus_world *world = one_ball(0.02);
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "critical step of 0.0141421 s") &&
                strstr(talus_last_error(), "rubber") &&
                strstr(talus_last_error(), "step: {dt: 0.0035}"),
            "%s", talus_last_error());
  CHECK_EQ_U64(talus_world_steps(world), 0);
  talus_world_destroy(world);
}

TEST(step_near_the_critical_one_is_warned_about_once) {
  talus_world *world = one_ball(0.008);
  CHECK_OK(talus_world_step(world, 1));
  CHECK_MSG(strstr(said, "57 % of the critical step") && strstr(said, "step: {dt: 0.0035}"), "%s",
            said);
  CHECK_NEAR(report_of(world).critical_dt, 0.0141421, 1e-6);
  said[0] = 0;
  CHECK_OK(talus_world_step(world, 10));
  CHECK_STR(said, "");
  talus_world_destroy(world);
  world = one_ball(0.001);
  CHECK_OK(talus_world_step(world, 10));
  CHECK_STR(said, "");
  talus_world_destroy(world);
}

/* K h^2/4 + C h = 1, for normal springs of a pair or of 12 neighbours, and tangential ones of a
 * pair. */
TEST(dashpots_and_neighbours_shorten_the_critical_step) {
  for (int many = 0; many < 2; ++many) {
    const talus_world_def def = springs(TALUS_LINEAR, 1e-5, 1);
    talus_world *world;
    CHECK_OK(talus_world_create(&def, &world));
    talus_material_def m = talus_material_def_default();
    talus_body_def body = talus_body_def_default();
    talus_shape_def shape = talus_shape_def_default();
    m.stiffness = 1e4, m.restitution = 0.5;
    CHECK_OK(talus_world_add_material(world, &m, &body.material));
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    body.mass = 1;
    for (int i = 0; i < (many ? 20 : 2); ++i) {
      body.position.x = 3 * i;
      CHECK_OK(talus_world_add_body(world, &body, NULL));
    }
    CHECK_OK(talus_world_step(world, 1));
    const double mass = 0.5, k = 1e4, kt = k * def.solve.tangential, heap = many ? 4 : 1;
    const double b = tl_spring_damping(0.5, false), h = report_of(world).critical_dt;
    const double along = heap * (k * h * h / 4 + b * sqrt(k * mass) * h) / mass;
    const double across = 3.5 * (kt * h * h / 4 + b * sqrt(kt * mass) * h) / mass;
    CHECK_NEAR(fmax(along, across), 1, 1e-6);
    talus_world_destroy(world);
  }
}

TEST(stiffness_is_chosen_for_the_step_where_none_is_given) {
  const talus_world_def def = springs(TALUS_LINEAR, 1e-3, 1);
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  talus_shape_def shape = talus_shape_def_default();
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  body.mass = 2;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK(report_of(world).critical_dt * 0.4 >= 0.999e-3); /* restitution 0 made it softer */
  talus_world_destroy(world);
  CHECK_OK(talus_world_create(&def, &world));
  m.restitution = 1;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK_NEAR(world->penalty.auto_stiffness, 0.5 * 2 * 200.0 * 200.0, 1);
  CHECK_NEAR(report_of(world).critical_dt, 0.01, 1e-6);
  talus_world_destroy(world);
}

/* ---- refusals -------------------------------------------------------------------------------- */

TEST(what_springs_cannot_do_is_refused) {
  talus_world_def def = springs(TALUS_LINEAR, 1e-3, 1);
  talus_world *world;
  def.sleep.speed = 0.01;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "sleep does not go with penalty"));
  def.sleep.speed = 0;
  def.solve.tangential = 0;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "solve.tangential"));
  def = springs((talus_spring_law)7, 1e-3, 1);
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
  def = springs(TALUS_LINEAR, 1e-3, 1);
  world = heap(&def, 2, false);
  CHECK(talus_world_set_sleep(world, (talus_sleep_def){0.01, 1}) == TALUS_ERROR_INVALID);
  talus_joint_def joint = talus_joint_def_default();
  joint.kind = TALUS_JOINT_SPRING;
  CHECK_OK(talus_world_body_at(world, 1, &joint.a));
  CHECK_OK(talus_world_body_at(world, 2, &joint.b));
  joint.to.x = 0.1, joint.stiffness = 1;
  CHECK_OK(talus_world_add_joint(world, &joint, NULL));
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_UNSUPPORTED);
  CHECK_MSG(strstr(talus_last_error(), "use solve: {kind: ccp}"), "%s", talus_last_error());
  talus_world_destroy(world);
}

TEST(materials_that_no_spring_is_made_of_are_refused) {
  talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_material material;
  m.poisson = 0.7;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "poisson is 0.7"));
  m.poisson = 0.3, m.young = -1;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  m.young = 1e7, m.stiffness = NAN;
  CHECK(talus_world_add_material(world, &m, &material) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "stiffness"));
  m.stiffness = 0, m.young = 0, m.name = "air";
  CHECK_OK(talus_world_add_material(world, &m, &material));
  talus_shape_def shape = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "'air' has no young"), "%s", talus_last_error());
  talus_world_destroy(world);
}

/* Laws are by pairs of materials: a material that comes later changes nothing for the others. */
TEST(material_that_comes_later_changes_nothing) {
  for (int mixed = 0; mixed < 2; ++mixed) {
    uint64_t hash[2];
    for (int late = 0; late < 2; ++late) {
      const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
      talus_world *world = heap(&def, 60, mixed);
      talus_material_def m = talus_material_def_default();
      talus_material third;
      m.young = 5e6;
      if (!late)
        CHECK_OK(talus_world_add_material(world, &m, &third));
      CHECK_OK(talus_world_step(world, 100));
      if (late)
        CHECK_OK(talus_world_add_material(world, &m, &third));
      CHECK_OK(talus_world_step(world, 100));
      hash[late] = talus_world_hash(world);
      talus_world_destroy(world);
    }
    CHECK_EQ_U64(hash[1], hash[0]);
  }
}

/* Every impact begins with an overlap that single precision does not see. */
/* A body that an emitter lets go of within the reach of another is pushed from its first kick on,
 * as one that was put there by hand. */
TEST(emitted_body_feels_what_is_within_reach_at_once) {
  talus_world_def def = springs(TALUS_NOBLE, 1e-4, 1);
  def.solve.reach = 0.02;
  talus_world *world[2];
  talus_body_def body = talus_body_def_default();
  for (int k = 0; k < 2; ++k) {
    talus_material_def m = talus_material_def_default();
    talus_shape_def shape = talus_shape_def_default();
    CHECK_OK(talus_world_create(&def, &world[k]));
    m.stiffness = 100;
    CHECK_OK(talus_world_add_material(world[k], &m, &body.material));
    shape.size[0] = 0.05;
    CHECK_OK(talus_world_add_shape(world[k], &shape, &body.shape));
    body.kind = TALUS_FIXED;
    CHECK_OK(talus_world_add_body(world[k], &body, NULL));
    body.kind = TALUS_FREE;
  }
  talus_emitter_def emitter = talus_emitter_def_default();
  emitter.body = body;
  emitter.rate = 100, emitter.until = 0.0101;
  emitter.from.kind = TALUS_REGION_BOX;
  emitter.from.box = (talus_box){{0, 0, 0.105}, {1e-6, 1e-6, 0.105001}};
  CHECK_OK(talus_world_add_emitter(world[0], &emitter));
  int steps = 0;
  for (; steps < 200 && talus_world_body_count(world[0]) == 1; ++steps)
    CHECK_OK(talus_world_step(world[0], 1));
  CHECK_EQ_U64(talus_world_body_count(world[0]), 2);
  CHECK_OK(talus_world_step(world[1], (uint64_t)steps));
  body.position = world[0]->state.position[1];
  CHECK_OK(talus_world_add_body(world[1], &body, NULL));
  for (int k = 0; k < 2; ++k)
    CHECK_OK(talus_world_step(world[k], 20));
  const double v[2] = {(double)world[0]->state.velocity[1].z,
                       (double)world[1]->state.velocity[1].z};
  CHECK(v[1] > 0.1); /* gravity alone: -0.02 */
  CHECK_NEAR(v[0], v[1], 0);
  talus_world_destroy(world[0]);
  talus_world_destroy(world[1]);
}

TEST(first_touch_is_never_below_zero) {
  for (int i = 0; i < 200; ++i) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-5, 1);
    talus_world *world = heap(&def, 0, false);
    talus_body_def body = talus_body_def_default();
    talus_shape_def shape = talus_shape_def_default();
    shape.size[0] = 0.02;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    talus_dvec3 at = {0, 0, 1};
    for (int k = 0; k < 2; ++k) {
      body.position = at;
      CHECK_OK(talus_world_add_body(world, &body, NULL));
      at.x += 0.04 * cos(0.01 * i) * (1 - 1e-10 * i),
          at.y += 0.04 * sin(0.01 * i) * (1 - 1e-10 * i);
    }
    CHECK_OK(talus_world_step(world, 3));
    talus_world_destroy(world);
  }
}

TEST_MAIN()
