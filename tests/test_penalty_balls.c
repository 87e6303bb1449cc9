/* The list of balls against the general way: the same bits for any threads, lanes, skin and owner;
 * what changes between steps; no allocations once warm. */
#include "penalty_heap.h"
#include "base/isa.h"

#include <dirent.h>

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
      CHECK_OK(talus_world_step(world, 1));
      if (k == 2)
        bring_home(world);
      if (i % 100 == 0) { /* counted by the step, whether or not anybody has them stored */
        const size_t found = world->last.pairs;
        CHECK_EQ_U64(report_of(world).contacts_near, found);
      }
      if (k == 2 && i % 100 == 0)
        CHECK_OK(tl_let_go(&world->where));
    }
    CHECK(world->penalty.are_balls && list_of(world)->renewals > 1);
    hash[k] = talus_world_hash(world);
    work[k] = report_of(world).damping_work;
    talus_world_destroy(world);
  }
  CHECK_EQ_U64(hash[1], hash[0]);
  CHECK_EQ_U64(hash[2], hash[0]);
  CHECK(work[1] == work[0] && work[2] == work[0]);
}

/* Rank of the ball that a candidate of a ball and a wall is of, or of those of two balls. */
static uint32_t rank_of(const tl_ball_list *list, size_t k, bool second) {
  const tl_ball_near *near = &list->near.data[k];
  return near->wall != TL_NONE ? list->flats.data[near->wall].ball
                               : list->rank.data[second ? near->b : near->a];
}

static uint32_t owner_of(const tl_ball_list *list, size_t k) {
  const uint32_t a = rank_of(list, k, false), b = rank_of(list, k, true);
  return a < b ? a : b;
}

/* Entries of a ball from *at on, one after the other. */
static void check_entries(const tl_ball_list *list, uint32_t rank, size_t *at) {
  CHECK_EQ_U64(list->entry_start.data[rank], *at);
  for (int kind = 0; kind < 3; ++kind) /* lower slots, walls, higher slots */
    for (size_t k = 0; k < list->near.count; ++k) {
      const bool wall = list->near.data[k].wall != TL_NONE;
      if (wall != (kind == 1) || rank_of(list, k, kind == 0) != rank)
        continue;
      CHECK_EQ_U64(list->entry.data[(*at)++],
                   2 * list->canonical.data[k] + (rank != owner_of(list, k)));
    }
  while (*at % TL_BALL_FOUR != 0)
    CHECK_EQ_U64(list->entry.data[(*at)++], 2 * list->near.count);
}

/* The sorts of a list against looking for each ball's candidates among all. */
TEST(candidates_lie_where_a_search_for_each_ball_puts_them) {
  static const int threads[] = {1, 2, 3, 7, 20};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; ++t) {
    talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads[t]);
    def.skin = 0.15;
    talus_world *world = heap(&def, 700, false);
    CHECK_OK(talus_world_step(world, 1));
    const tl_ball_list *list = list_of(world);
    const size_t n = list->rank.count, m = list->near.count;
    CHECK_MSG(m > 20000 && list->flats.count > 100, "%zu candidates, %zu at walls", m,
              list->flats.count);
    size_t at = 0, entry = 0;
    for (uint32_t rank = 0; rank < n; ++rank) {
      CHECK_EQ_U64(list->start.data[rank], at);
      for (size_t k = 0; k < m; ++k) {
        if (owner_of(list, k) != rank)
          continue;
        const uint32_t wall = list->near.data[k].wall, a = rank_of(list, k, false);
        const uint32_t other = wall != TL_NONE ? (uint32_t)n + wall
                               : a != rank     ? a
                                               : rank_of(list, k, true);
        CHECK_EQ_U64(list->canonical.data[k], at);
        CHECK(list->owner.data[at] == rank && list->other.data[at] == other);
        if (wall == TL_NONE)
          CHECK(list->first_owner.data[other / TL_BALL_LANES] <= rank);
        at++;
      }
      check_entries(list, rank, &entry);
    }
    CHECK(at == m && list->start.data[n] == m);
    CHECK(entry == list->entry.count && list->entry_start.data[n] == entry);
    for (uint32_t i = 0; i < list->first_owner.count; ++i) { /* one of them, or nobody's */
      bool is_one = list->first_owner.data[i] == i * TL_BALL_LANES;
      for (size_t c = 0; c < m; ++c)
        is_one |= list->other.data[c] / TL_BALL_LANES == i && list->other.data[c] < n &&
                  list->owner.data[c] == list->first_owner.data[i];
      CHECK(is_one);
    }
    talus_world_destroy(world);
  }
}

/* Numbers of the threads of the process, at most `capacity`; none where the system does not tell.
 */
static size_t list_threads(long *numbers, size_t capacity) {
  DIR *folder = opendir("/proc/self/task");
  size_t count = 0;
  for (struct dirent *entry; folder && count < capacity && (entry = readdir(folder));)
    if (entry->d_name[0] != '.')
      numbers[count++] = strtol(entry->d_name, NULL, 10);
  if (folder)
    closedir(folder);
  return count;
}

/* How many there are that were not there before; those of earlier tests may still be ending. */
static size_t count_new_threads(const long *before, size_t count) {
  long now[256];
  size_t fresh = 0;
  for (size_t i = list_threads(now, 256); i-- > 0;) {
    size_t k = 0;
    while (k < count && before[k] != now[i])
      k++;
    fresh += k == count;
  }
  return fresh;
}

/* A list too short to keep all of them busy is made by some: none is ended for that and created
 * anew for the step that follows. */
TEST(renewals_keep_their_threads) {
  talus_world_def def = springs(TALUS_HERTZ, 1e-4, 12);
  def.skin = 0.15;
  talus_world *world = heap(&def, 200, false);
  CHECK_OK(talus_world_step(world, 2));
  tl_ball_list *list = list_of(world);
  CHECK_MSG(list->near.count > 4096 && list->near.count < 20000, "%zu", list->near.count);
  const uint64_t renewals = list->renewals;
  long before[256];
  const size_t threads = list_threads(before, 256);
  for (int i = 0; i < 3; ++i) {
    list->has_left = true;
    CHECK_OK(talus_world_step(world, 1));
    CHECK_EQ_U64(count_new_threads(before, threads), 0);
  }
  CHECK_EQ_U64(list->renewals, renewals + 3);
  talus_world_destroy(world);
}

TEST(lanes_give_the_bits_of_the_scalar_code) {
  for (int law = 0; law < 2; ++law) {
    uint64_t hash[TL_ISA_COUNT + 1];
    double work[TL_ISA_COUNT + 1];
    for (int way = 0; way <= TL_ISA_COUNT; ++way) { /* the last: one by one */
      const bool scalar = way == TL_ISA_COUNT || !tl_isa_has((tl_isa)way);
      const tl_isa before = tl_isa_use(scalar ? TL_ISA_GENERIC : (tl_isa)way);
      tl_ball_use_scalar(scalar);
      const talus_world_def def = springs(law ? TALUS_HERTZ : TALUS_LINEAR, 1e-4, 1);
      talus_world *world = heap(&def, 200, false);
      CHECK_OK(talus_world_step(world, 900));
      hash[way] = talus_world_hash(world);
      work[way] = report_of(world).friction_work;
      talus_world_destroy(world);
      tl_ball_use_scalar(false);
      tl_isa_use(before);
      CHECK_EQ_U64(hash[way], hash[0]);
      CHECK(work[way] == work[0]);
    }
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
    bring_home(fast);
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
    bring_home(own);
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
    CHECK(list_of(fast)->flats.count > 20 && list_of(fast)->walls.count > 0);
    double most = 0;
    bring_home(fast);
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
 * that take other blocks, by lanes of any width or without. */
TEST(who_owns_a_contact_changes_no_bit) {
  enum { WAYS = 6 };
  uint64_t hash[WAYS];
  double work[WAYS];
  for (int k = 0; k < WAYS; ++k) {
    const tl_isa isa = k == 4 ? TL_ISA_GENERIC : k == 5 ? TL_ISA_AVX2 : tl_isa_now();
    const tl_isa best = tl_isa_use(tl_isa_has(isa) ? isa : TL_ISA_GENERIC);
    talus_world_def def = springs(TALUS_HERTZ, 1e-4, k == 1 ? 3 : 1);
    def.skin = k == 2 ? 0.02 : 0;
    tl_ball_use_scalar(k == 3);
    talus_world *world = walled(&def);
    for (int i = 0; i < 600; ++i) {
      CHECK_OK(talus_world_step(world, 1));
      if (k == 3 && i % 50 == 0)
        CHECK_OK(tl_let_go(&world->where));
    }
    tl_ball_use_scalar(false);
    tl_isa_use(best);
    hash[k] = talus_world_hash(world);
    work[k] = report_of(world).friction_work;
    talus_world_destroy(world);
  }
  for (int k = 1; k < WAYS; ++k) {
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
  SKIP_IF_SHORT_UNLESS_RACES_COUNT();
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
  const twins t = make_twins(&def, 100);
  talus_world *const fast = t.fast, *const slow = t.slow;
  for (int i = 0; i < 5; ++i) {
    const talus_vec3 g = {(talus_real)i, 0, (talus_real)-9.81};
    step_twins(t, 20);
    if (i % 2 == 0) { /* which also makes the list anew */
      CHECK_OK(talus_world_set_gravity(fast, g));
      CHECK_OK(talus_world_set_gravity(slow, g));
    } else {
      fast->model.gravity = slow->model.gravity = g;
      CHECK(list_of(fast)->is_started);
    }
  }
  step_twins(t, 20);
  const double most = twins_apart(t);
  CHECK_MSG(most < (TALUS_SINGLE ? 1e-5 : 1e-12), "they are up to %g m apart", most);
  destroy_twins(t);
}

/* Constant loads are no part of what contacts push with, and may come and change between steps. */
TEST(loads_that_change_between_steps_count_at_once) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 2);
  const twins t = make_twins(&def, 100);
  talus_world *const fast = t.fast, *const slow = t.slow;
  for (int i = 0; i < 5; ++i) {
    step_twins(t, 40);
    for (size_t slot = 1; slot < 100; slot += 3) {
      talus_body body;
      const talus_vec3 force = {(talus_real)0.1 * (talus_real)i, 0, 0}, torque = {0, 0, 0};
      CHECK_OK(talus_world_body_at(fast, slot, &body));
      CHECK_OK(talus_body_set_force(fast, body, force, torque));
      CHECK_OK(talus_world_body_at(slow, slot, &body));
      CHECK_OK(talus_body_set_force(slow, body, force, torque));
    }
  }
  step_twins(t, 100);
  const double most = twins_apart(t);
  CHECK_MSG(most < (TALUS_SINGLE ? 1e-4 : 1e-11), "they are up to %g m apart", most);
  const talus_report a = report_of(fast), b = report_of(slow);
  CHECK(a.load_work != 0 && a.contacts > 10);
  CHECK_NEAR(a.load_work, b.load_work, (TALUS_SINGLE ? 1e-3 : 1e-9) * fabs(b.load_work));
  CHECK_NEAR(a.contact_work, b.contact_work, (TALUS_SINGLE ? 1e-2 : 1e-8) * fabs(b.contact_work));
  destroy_twins(t);
}

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
  const uint64_t before = tl_memory_count().allocations, renewals = list_of(world)->renewals;
  CHECK_OK(talus_world_step(world, 600));
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  CHECK(list_of(world)->renewals - renewals >= 5);
  talus_world_destroy(world);
}

TEST_MAIN()
