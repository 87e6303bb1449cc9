/* Worlds through the public header: identity, tables, views, loads, failures, memory. */
#include "base/memory.h"
#include "physics/rig.h"

/* Counts every allocation of the process, not only talus's own. */
static unsigned long long malloc_calls;
#if defined(__has_feature) /* clang, which has no __SANITIZE_THREAD__ */
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_MALLOC 1
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t n) {
  __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
  return __libc_malloc(n);
}
void *calloc(size_t n, size_t size) {
  __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
  return __libc_calloc(n, size);
}
void *realloc(void *p, size_t n) {
  __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
  return __libc_realloc(p, n);
}
void *aligned_alloc(size_t alignment, size_t n) {
  __atomic_add_fetch(&malloc_calls, 1, __ATOMIC_RELAXED);
  return __libc_memalign(alignment, n);
}
#else
#define COUNTS_MALLOC 0
#endif

static talus_world *make_default(talus_material *material, talus_shape *ball) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1;
  talus_world *world = rig_world(&def);
  *material = rig_material(world, 0.5, 0);
  *ball = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  return world;
}

TEST(handles_of_removed_bodies_are_refused_and_uids_not_reused) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  talus_body bodies[5];
  for (int i = 0; i < 5; ++i)
    bodies[i] = rig_body(world, TALUS_FREE, ball, m, i, 0, 0);
  const uint64_t uid = rig_info(world, bodies[4]).uid;
  CHECK_OK(talus_world_remove_body(world, bodies[1]));
  talus_body_info info;
  CHECK(talus_world_get_body(world, bodies[1], &info) == TALUS_ERROR_STALE);
  CHECK(strstr(talus_last_error(), "removed"));
  CHECK(talus_world_remove_body(world, bodies[1]) == TALUS_ERROR_STALE);
  const talus_body again = rig_body(world, TALUS_FREE, ball, m, 9, 0, 0);
  CHECK(again.index == bodies[1].index && again.generation != bodies[1].generation);
  CHECK_EQ_U64(rig_info(world, again).uid, uid + 1);
  CHECK_NEAR(rig_info(world, bodies[4]).position.x, 4, 0);
  CHECK_NEAR(rig_info(world, bodies[2]).position.x, 2, 0);
  CHECK_EQ_U64(talus_world_body_count(world), 5);
  CHECK(talus_world_get_body(world, (talus_body){0, 0}, &info) == TALUS_ERROR_STALE);
  CHECK(talus_world_get_body(world, (talus_body){77, 1}, &info) == TALUS_ERROR_STALE);
  talus_world_destroy(world);
}

TEST(names_find_bodies_and_must_be_unique) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  talus_body_def def = talus_body_def_default();
  def.shape = ball, def.material = m, def.name = "anna";
  talus_body anna, found;
  CHECK_OK(talus_world_add_body(world, &def, &anna));
  CHECK(talus_world_add_body(world, &def, NULL) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "anna"));
  CHECK_OK(talus_world_find_body(world, "anna", &found));
  CHECK(found.index == anna.index);
  CHECK_STR(rig_info(world, found).name, "anna");
  CHECK_OK(talus_world_remove_body(world, anna));
  CHECK(talus_world_find_body(world, "anna", &found) == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  talus_world_destroy(world);
}

TEST(thousands_of_names_are_found_through_removals) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  talus_body bodies[3000];
  char name[32];
  talus_body_def def = talus_body_def_default();
  def.shape = ball, def.material = m, def.name = name;
  for (int i = 0; i < 3000; ++i) {
    snprintf(name, sizeof name, "grain-%d", i);
    CHECK_OK(talus_world_add_body(world, &def, &bodies[i]));
  }
  for (int i = 0; i < 3000; i += 37)
    CHECK_OK(talus_world_remove_body(world, bodies[i]));
  for (int i = 0; i < 3000; ++i) {
    talus_body found;
    snprintf(name, sizeof name, "grain-%d", i);
    const talus_status status = talus_world_find_body(world, name, &found);
    CHECK(status == (i % 37 == 0 ? TALUS_ERROR_INVALID : TALUS_OK));
    if (status == TALUS_OK) {
      CHECK(found.index == bodies[i].index);
      CHECK_STR(rig_info(world, found).name, name);
    }
  }
  talus_world_destroy(world);
}

TEST(bad_definitions_are_refused_with_the_culprit_named) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  const talus_shape plane = rig_shape(world, TALUS_PLANE, 0, 0, 1, 0);
  talus_body_def good = talus_body_def_default(), bad;
  good.shape = ball, good.material = m, good.name = "bob";
#define REFUSED(change, word)                                                                      \
  do {                                                                                             \
    bad = good;                                                                                    \
    change;                                                                                        \
    CHECK(talus_world_add_body(world, &bad, NULL) == TALUS_ERROR_INVALID);                         \
    CHECK_MSG(strstr(talus_last_error(), "bob"), "%s", talus_last_error());                        \
    CHECK_MSG(strstr(talus_last_error(), word), "%s", talus_last_error());                         \
    CHECK_EQ_U64(talus_world_body_count(world), 0);                                                \
  } while (0)
  REFUSED(bad.position.x = NAN, "position");
  REFUSED(bad.rotation = ((talus_quat){0, 0, 0, 0}), "rotation");
  REFUSED(bad.velocity.y = (talus_real)INFINITY, "velocity");
  REFUSED(bad.mass = -1, "mass");
  REFUSED(bad.mass = NAN, "mass");
  REFUSED(bad.scale = 0, "scale");
  REFUSED(bad.shape.index = 99, "shape");
  REFUSED(bad.material.index = 99, "material");
  REFUSED(bad.group = 5, "group");
  REFUSED(bad.lock = 1u << 20, "lock");
  REFUSED(bad.shape = plane, "free");
  REFUSED(bad.scale = 1e-150, "range");
#undef REFUSED
  CHECK_OK(talus_world_add_body(world, &good, NULL));
  talus_material_def material = talus_material_def_default();
  material.density = 0;
  CHECK(talus_world_add_material(world, &material, &m) == TALUS_ERROR_INVALID);
  material.density = 1, material.friction = -1;
  CHECK(talus_world_add_material(world, &material, &m) == TALUS_ERROR_INVALID);
  material.friction = 0, material.restitution = 1.5;
  CHECK(talus_world_add_material(world, &material, &m) == TALUS_ERROR_INVALID);
  talus_world_destroy(world);

  talus_world_def def = talus_world_def_default();
  def.dt = 0;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID && world == NULL);
  def = talus_world_def_default();
  def.domain.enabled = true;
  CHECK(talus_world_create(&def, &world) == TALUS_ERROR_INVALID);
}

/* A free box must keep within half a period when it turns, too. */
TEST(body_longer_than_half_a_period_is_refused_however_it_lies) {
  talus_world_def def = talus_world_def_default();
  def.domain = (talus_domain_def){
      .enabled = true, .box = {{0, 0, 0}, {1, 1, 1}}, .periodic = {true, false, false}};
  talus_world *world = rig_world(&def);
  talus_body_def body = talus_body_def_default();
  body.material = rig_material(world, 0.5, 0);
  body.shape = rig_shape(world, TALUS_BOX, 0.1, 0.1, 0.6, 0); /* short on the periodic axis */
  CHECK(talus_world_add_body(world, &body, NULL) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "periodic axis x"), "%s", talus_last_error());
  body.lock = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.lock = 0, body.scale = 0.8; /* a diagonal of 0.493 */
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  talus_world_destroy(world);
}

TEST(views_show_and_change_the_state_and_block_the_step) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  for (int i = 0; i < 3; ++i)
    rig_body(world, TALUS_FREE, ball, m, i, 0, 0);
  talus_view position, velocity;
  CHECK_OK(talus_view_map(world, TALUS_FIELD_POSITION, TALUS_READ, &position));
  CHECK(position.rows == 3 && position.columns == 3 && position.scalar == TALUS_FLOAT64);
  CHECK_NEAR(((const double *)position.data)[6], 2, 0);
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_BUSY);
  CHECK_OK(talus_view_unmap(world, &position));
  CHECK_OK(talus_view_map(world, TALUS_FIELD_VELOCITY, TALUS_READ | TALUS_WRITE, &velocity));
  ((talus_real *)velocity.data)[3] = (talus_real)NAN;
  CHECK(talus_view_unmap(world, &velocity) == TALUS_ERROR_INVALID);
  CHECK(strstr(talus_last_error(), "body 2"));
  ((talus_real *)velocity.data)[3] = 7;
  CHECK_OK(talus_view_unmap(world, &velocity));
  CHECK_OK(talus_world_step(world, 1));
  talus_body body;
  CHECK_OK(talus_world_body_at(world, 1, &body));
  CHECK_NEAR(rig_info(world, body).velocity.x, 7, 0);
  CHECK(talus_view_map(world, TALUS_FIELD_MASS, TALUS_WRITE, &velocity) == TALUS_ERROR_INVALID);
  talus_world_destroy(world);
}

TEST(ignored_groups_pass_through_each_other) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  uint32_t ghosts, again;
  CHECK_OK(talus_world_group(world, "ghosts", &ghosts));
  CHECK_OK(talus_world_group(world, "ghosts", &again));
  CHECK(ghosts == again);
  CHECK_OK(talus_world_ignore_groups(world, ghosts, ghosts));
  talus_body_def def = talus_body_def_default();
  def.shape = ball, def.material = m, def.group = ghosts;
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  def.position.x = 0.05;
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK_EQ_U64(rig_report(world).contacts_near, 0);
  def.group = 0;
  def.position.x = 0.1;
  CHECK_OK(talus_world_add_body(world, &def, NULL));
  CHECK_OK(talus_world_step(world, 1));
  CHECK_EQ_U64(rig_report(world).contacts_near, 2);
  talus_world_destroy(world);
}

TEST(body_leaving_a_stop_domain_is_named_with_time_and_contacts) {
  talus_world_def def = talus_world_def_default();
  def.domain.enabled = true;
  def.domain.box = (talus_box){{-1, -1, -1}, {1, 1, 1}};
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  talus_body_def ball = talus_body_def_default();
  ball.shape = rig_shape(world, TALUS_SPHERE, 0.1, 0, 0, 0);
  ball.material = m, ball.name = "runaway";
  ball.velocity = rig_vec(5, 0, 0);
  CHECK_OK(talus_world_add_body(world, &ball, NULL));
  ball.name = "pusher", ball.position.x = -0.2;
  CHECK_OK(talus_world_add_body(world, &ball, NULL));
  const talus_status status = talus_world_step(world, 1000);
  CHECK(status == TALUS_ERROR_DOMAIN);
  CHECK_MSG(strstr(talus_last_error(), "'runaway'") && strstr(talus_last_error(), "t = 0.19") &&
                strstr(talus_last_error(), "'pusher'"),
            "%s", talus_last_error());
  talus_body body;
  CHECK_OK(talus_world_find_body(world, "runaway", &body));
  CHECK(rig_info(world, body).position.x <= 1);
  talus_world_destroy(world);
}

TEST(diverging_body_is_named_and_the_last_good_state_kept) {
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  talus_body_def def = talus_body_def_default();
  def.shape = ball, def.material = m, def.name = "rocket";
  talus_body rocket;
  CHECK_OK(talus_world_add_body(world, &def, &rocket));
  CHECK_OK(talus_world_step(world, 10));
  const uint64_t hash = talus_world_hash(world);
  CHECK_OK(talus_body_set_force(world, rocket, rig_vec(BY_PRECISION(1e308, 1e38), 0, 0),
                                rig_vec(0, 0, 0)));
  CHECK(talus_world_step(world, 5) == TALUS_ERROR_DIVERGED);
  CHECK_MSG(strstr(talus_last_error(), "'rocket'") && strstr(talus_last_error(), "t = 0.01"), "%s",
            talus_last_error());
  CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_EQ_U64(talus_world_steps(world), 10);
  talus_world_destroy(world);
}

TEST(bodies_outside_a_remove_domain_and_in_sinks_go) {
  talus_world_def def = talus_world_def_default();
  def.gravity = rig_vec(0, 0, 0);
  def.domain.enabled = true;
  def.domain.box = (talus_box){{-1, -1, -1}, {1, 1, 1}};
  def.domain.outside = TALUS_OUTSIDE_REMOVE;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0, 0);
  const talus_shape ball = rig_shape(world, TALUS_SPHERE, 0.05, 0, 0, 0);
  const talus_body leaves = rig_body(world, TALUS_FREE, ball, m, 0.9, 0, 0);
  const talus_body sinks = rig_body(world, TALUS_FREE, ball, m, 0, 0.3, 0);
  const talus_body stays = rig_body(world, TALUS_FREE, ball, m, 0, 0, 0);
  CHECK_OK(talus_body_set_velocity(world, leaves, rig_vec(2, 0, 0), rig_vec(0, 0, 0)));
  CHECK_OK(talus_body_set_velocity(world, sinks, rig_vec(0, 1, 0), rig_vec(0, 0, 0)));
  const talus_region drain = {.kind = TALUS_REGION_SPHERE, .at = {0, 0.6, 0}, .radius = 0.1};
  CHECK_OK(talus_world_add_sink(world, "drain", &drain));
  CHECK_OK(talus_world_step(world, 1000));
  CHECK_EQ_U64(talus_world_body_count(world), 1);
  CHECK_EQ_U64(rig_report(world).removed, 2);
  CHECK_NEAR(rig_info(world, stays).position.x, 0, 0);
  talus_body_info info;
  CHECK(talus_world_get_body(world, leaves, &info) == TALUS_ERROR_STALE);
  talus_world_destroy(world);
}

TEST(warm_step_loop_allocates_nothing) {
  talus_world_def def = talus_world_def_default();
  def.threads = 2;
  def.dt = 2e-3;
  talus_world *world = rig_world(&def);
  const talus_material m = rig_material(world, 0.5, 0);
  rig_body(world, TALUS_FIXED, rig_shape(world, TALUS_CONTAINER, 1, 1, 4, 0), m, 0, 0, 2);
  talus_fill_def fill = talus_fill_def_default();
  fill.body.shape = rig_shape(world, TALUS_SPHERE, 0.045, 0, 0, 0);
  fill.body.material = m;
  fill.in.kind = TALUS_REGION_BOX;
  fill.in.box = (talus_box){{-0.5, -0.5, 0}, {0.5, 0.5, 1.5}};
  fill.count = 500;
  CHECK_OK(talus_world_fill(world, &fill, NULL));
  CHECK_OK(talus_world_step(world, 1000));
  const uint64_t ours = tl_memory_count().allocations;
  const unsigned long long all = malloc_calls;
  CHECK_OK(talus_world_step(world, 200));
  CHECK_EQ_U64(tl_memory_count().allocations, ours);
#if COUNTS_MALLOC
  CHECK(all > 0);
  CHECK_EQ_U64(malloc_calls, all);
#else
  (void)all;
#endif
  talus_world_destroy(world);
}

TEST(destroyed_worlds_give_everything_back) {
  const size_t before = tl_memory_count().bytes;
  talus_material m;
  talus_shape ball;
  talus_world *world = make_default(&m, &ball);
  rig_floor(world, m);
  rig_body(world, TALUS_FREE, ball, m, 0, 0, 0.1);
  uint32_t group;
  CHECK_OK(talus_world_group(world, "some", &group));
  CHECK_OK(talus_world_step(world, 10));
  talus_world_destroy(world);
  CHECK_EQ_U64(tl_memory_count().bytes, before);
}

TEST_MAIN()
