/* Emitters and sinks: bodies come when they are due, touch nothing, wait when they must, and go. */
#include <time.h>

#include "flow/place.h"
#include "flow_fixture.h"

static talus_emitter_def emitter_def(talus_shape shape, talus_region from, double rate) {
  return (talus_emitter_def){
      .body = fixture_body_def(shape), .from = from, .rate = rate, .until = INFINITY, .seed = 3};
}

/* What the world does with what an emitter hands out. */
static void add_fresh(fixture *f, tl_new_bodies *fresh) {
  for (size_t i = 0; i < fresh->count; ++i) {
    const talus_body_def *body = &fresh->data[i];
    CHECK(body->name == NULL && body->kind == TALUS_FREE);
    const uint32_t slot =
        fixture_body(f, body->shape, body->position.x, body->position.y, body->position.z, 0);
    f->state.rotation[slot] = body->rotation;
    f->state.velocity[slot] = body->velocity;
    f->model.property.scale[slot] = TL_R(body->scale);
  }
  fresh->count = 0;
}

/* Steps emit alone; bodies stay where they appear. Returns how many there are at the end. */
static size_t run(fixture *f, tl_flow *flow, int steps, double dt) {
  tl_new_bodies fresh = {0};
  for (int i = 1; i <= steps; ++i) {
    CHECK_OK(tl_flow_emit(flow, &f->model, &f->state, i * dt, &fresh));
    add_fresh(f, &fresh);
  }
  tl_array_free(&fresh);
  return f->model.bodies;
}

static double radius_of(const fixture *f, uint32_t slot) {
  return (double)(f->model.property.scale[slot] * tl_body_shape(&f->model, slot)->radius);
}

static void check_no_overlap(const fixture *f, uint32_t first) {
  for (uint32_t i = first; i < f->model.bodies; ++i)
    for (uint32_t j = first; j < i; ++j) {
      const talus_dvec3 d = tl_model_offset(&f->model, f->state.position[i], f->state.position[j]);
      CHECK(tl_dlength(d) > (radius_of(f, i) + radius_of(f, j)) * (1 - 1e-6));
    }
}

TEST(bodies_come_at_their_rate) {
  fixture f = fixture_make(2000);
  tl_flow flow = {0};
  const talus_shape grain = fixture_sphere(&f, 0.01);
  talus_emitter_def def = emitter_def(grain, fixture_box(0, 0, 0, 10, 10, 10), 49);
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  /* Due at k/rate, a step each, although i * (1.0/49) < i/49.0 for every other i: by the end of
   * step i, i + 1 bodies. */
  tl_new_bodies fresh = {0};
  for (int i = 1; i <= 500; ++i) {
    CHECK_OK(tl_flow_emit(&flow, &f.model, &f.state, i * (1.0 / 49), &fresh));
    CHECK_EQ_U64(fresh.count, i == 1 ? 2 : 1);
    add_fresh(&f, &fresh);
  }
  CHECK_EQ_U64(f.model.bodies, 501);
  CHECK_EQ_U64(flow.emitters.data[0].serial, 501);
  tl_array_free(&fresh);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(an_emitter_begins_and_ends_on_time) {
  fixture f = fixture_make(2000);
  tl_flow flow = {0};
  talus_emitter_def def =
      emitter_def(fixture_sphere(&f, 0.001), fixture_box(0, 0, 0, 10, 10, 10), 70);
  def.from_time = 1.0;
  def.until = 3.0;
  def.body.velocity = tl_vec3(0, 0, -2);
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  CHECK_EQ_U64(run(&f, &flow, 99, 0.01), 0);
  tl_new_bodies fresh = {0};
  CHECK_OK(tl_flow_emit(&flow, &f.model, &f.state, 1.0, &fresh)); /* the first at from_time */
  CHECK_EQ_U64(fresh.count, 1);
  CHECK(fresh.data[0].velocity.z == -2);
  add_fresh(&f, &fresh);
  tl_array_free(&fresh);
  /* 70/s for 2 s: bodies 0 ... 139; number 140 would be due at `until` itself. */
  CHECK_EQ_U64(run(&f, &flow, 500, 0.01), 140);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(emitted_bodies_never_overlap_even_in_one_step) {
  fixture f = fixture_make(3000);
  tl_flow flow = {0};
  const talus_region disc = {
      .kind = TALUS_REGION_CYLINDER, .at = {0, 0, 4}, .axis = {0, 0, 1}, .radius = 1, .length = 0};
  talus_emitter_def def = emitter_def(fixture_sphere(&f, 0.03), disc, 1e5);
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.3, .high = 1};
  def.random_rotation = true;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  def.seed = 4;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  const size_t n = run(&f, &flow, 3, 1e-3); /* 300 due of each, more than there is room for */
  CHECK(n > 100);
  check_no_overlap(&f, 0);
  for (uint32_t i = 0; i < n; ++i) {
    const talus_dvec3 x = f.state.position[i];
    CHECK(x.z == 4 && hypot(x.x, x.y) <= 1);
  }
  CHECK(flow.emitters.data[0].blocked > 0);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(a_blocked_emitter_waits_and_resumes) {
  fixture f = fixture_make(2000);
  tl_flow flow = {0};
  const talus_shape grain = fixture_sphere(&f, 0.1), rock = fixture_sphere(&f, 2);
  fixture_body(&f, rock, 0, 0, 0, TL_FLAG_FIXED);
  talus_emitter_def def = emitter_def(grain, fixture_box(-1, -1, -1, 1, 1, 1), 100);
  def.until = 0.1;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  const tl_emitter *emitter = &flow.emitters.data[0];
  CHECK_EQ_U64(run(&f, &flow, 20, 0.01), 1);
  CHECK_EQ_U64(emitter->serial, 0);
  CHECK_EQ_U64(emitter->blocked, 20 * 8);
  CHECK_EQ_U64(emitter->attempt, 20 * 8);
  /* The rock goes; all ten come, although `until` has passed. */
  f.state.position[0] = tl_dvec3(100, 0, 0);
  CHECK_EQ_U64(run(&f, &flow, 20, 0.01), 1 + 10);
  CHECK_EQ_U64(emitter->serial, 10);
  CHECK_EQ_U64(emitter->attempt, 0);
  CHECK(emitter->blocked >= 160);
  check_no_overlap(&f, 1);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(walls_and_floors_block_exactly) {
  fixture f = fixture_make(2000);
  tl_flow flow = {0};
  const talus_shape grain = fixture_sphere(&f, 0.1);
  fixture_body(&f, fixture_shape(&f, TALUS_PLANE, 0, 0, 1, 0), 0, 0, 0, TL_FLAG_FIXED);
  fixture_body(&f, fixture_shape(&f, TALUS_BOX, 1, 1, 4, 0), 0, 0, 0, TL_FLAG_FIXED);
  talus_emitter_def def = emitter_def(grain, fixture_box(-1, -1, -1, 1, 1, 1), 1000);
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  const size_t n = run(&f, &flow, 50, 1e-3);
  CHECK(n > 20);
  for (uint32_t i = 2; i < n; ++i) {
    const talus_dvec3 x = f.state.position[i];
    CHECK(x.z >= 0.1);
    CHECK(hypot(fmax(fabs(x.x) - 0.5, 0), fmax(fabs(x.y) - 0.5, 0)) >= 0.1 - 1e-6);
  }
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(emitted_boxes_keep_apart_and_periodic_images_block) {
  fixture f = fixture_make(2000);
  fixture_periodic(&f, 2, true, true, false);
  tl_flow flow = {0};
  const talus_shape brick = fixture_shape(&f, TALUS_BOX, 0.3, 0.2, 0.1, 0);
  talus_emitter_def def = emitter_def(brick, fixture_box(1, 0, 0.5, 3, 2, 1.5), 1000);
  def.random_rotation = true;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  const size_t n = run(&f, &flow, 100, 1e-3);
  CHECK(n > 20);
  const talus_dvec3 half = {0.15, 0.1, 0.05};
  const talus_quat *q = f.state.rotation;
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t j = 0; j < i; ++j) {
      const talus_dvec3 d = tl_model_offset(&f.model, f.state.position[i], f.state.position[j]);
      CHECK(boxes_are_apart(d, q[i], half, q[j], half));
    }
  for (uint32_t i = 0; i < n; ++i)
    CHECK(f.state.position[i].x >= 0 && f.state.position[i].x < 2);
  tl_flow_release(&flow);
  fixture_free(&f);
}

/* Stopping and going on with the two counters gives what an unbroken run gives. */
TEST(counters_are_the_whole_state) {
  fixture f = fixture_make(2000), g = fixture_make(2000);
  tl_flow one = {0}, two = {0};
  talus_emitter_def def = emitter_def(fixture_sphere(&f, 0.1), fixture_box(0, 0, 0, 1, 1, 1), 2000);
  fixture_sphere(&g, 0.1);
  def.size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = 0.8, .sigma = 0.2};
  CHECK_OK(tl_flow_add_emitter(&one, &f.model, &def));
  tl_new_bodies fresh = {0};
  for (int i = 1; i <= 60; ++i) {
    CHECK_OK(tl_flow_emit(&one, &f.model, &f.state, i * 1e-3, &fresh));
    add_fresh(&f, &fresh);
    const bool resumes = i % 7 == 1;
    const tl_emitter saved = resumes && i > 1 ? two.emitters.data[0] : (tl_emitter){0};
    if (resumes) {
      tl_flow fresh_flow = {0};
      CHECK_OK(tl_flow_add_emitter(&fresh_flow, &g.model, &def));
      fresh_flow.emitters.data[0].serial = saved.serial;
      fresh_flow.emitters.data[0].attempt = saved.attempt;
      tl_flow_release(&two);
      two = fresh_flow;
    }
    CHECK_OK(tl_flow_emit(&two, &g.model, &g.state, i * 1e-3, &fresh));
    add_fresh(&g, &fresh);
  }
  CHECK(f.model.bodies > 50);
  CHECK_EQ_U64(f.model.bodies, g.model.bodies);
  for (size_t i = 0; i < f.model.bodies; ++i)
    CHECK(f.state.position[i].x == g.state.position[i].x &&
          f.model.property.scale[i] == g.model.property.scale[i]);
  CHECK(one.emitters.data[0].attempt == two.emitters.data[0].attempt);
  tl_array_free(&fresh);
  tl_flow_release(&one);
  tl_flow_release(&two);
  fixture_free(&f);
  fixture_free(&g);
}

TEST(a_warm_emitter_allocates_nothing) {
  fixture f = fixture_make(10);
  tl_flow flow = {0};
  talus_emitter_def def =
      emitter_def(fixture_sphere(&f, 0.01), fixture_box(0, 0, 0, 10, 10, 10), 5000);
  def.random_rotation = true;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  tl_new_bodies fresh = {0};
  CHECK_OK(tl_flow_emit(&flow, &f.model, &f.state, 2e-3, &fresh)); /* 11 bodies */
  const uint64_t before = tl_memory_count().allocations;
  for (int i = 2; i < 50; ++i) {
    fresh.count = 0;
    CHECK_OK(tl_flow_emit(&flow, &f.model, &f.state, i * 1e-3, &fresh));
  }
  CHECK_EQ_U64(tl_memory_count().allocations, before);
  tl_array_free(&fresh);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(definitions_are_copied_and_released) {
  fixture f = fixture_make(1);
  const size_t held = tl_memory_count().bytes;
  tl_flow flow = {0};
  char name[] = "top";
  double table[] = {0.5, 1};
  const talus_shape grain = {0};
  fixture_sphere(&f, 0.1);
  const size_t with_shape = tl_memory_count().bytes;
  talus_emitter_def def = emitter_def(grain, fixture_box(0, 0, 0, 1, 1, 1), 10);
  def.name = name;
  def.body.name = name;
  def.size = (talus_size_def){.kind = TALUS_SIZE_TABLE, .table = table, .rows = 1};
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  name[0] = '!';
  table[0] = 7;
  CHECK_STR(flow.emitters.data[0].def.name, "top");
  CHECK(flow.emitters.data[0].def.body.name == NULL);
  tl_new_bodies fresh = {0};
  CHECK_OK(tl_flow_emit(&flow, &f.model, &f.state, 0, &fresh));
  CHECK_NEAR(fresh.data[0].scale, 0.5, 0);
  tl_array_free(&fresh);
  tl_flow_release(&flow);
  CHECK_EQ_U64(tl_memory_count().bytes, with_shape);
  CHECK(held < with_shape);
  fixture_free(&f);
}

TEST(impossible_emitters_are_refused_by_name) {
  fixture f = fixture_make(1);
  tl_flow flow = {0};
  const talus_shape grain = fixture_sphere(&f, 0.1);
  const talus_shape tank = fixture_shape(&f, TALUS_CONTAINER, 1, 1, 1, 0);
  const talus_emitter_def good = emitter_def(grain, fixture_box(0, 0, 0, 1, 1, 1), 10);
  talus_emitter_def def = good;
#define CHECK_REFUSED(text) CHECK_FAILS(tl_flow_add_emitter(&flow, &f.model, &def), (text))
  def.name = "top", def.rate = -1;
  CHECK_REFUSED("emitter 'top': the rate is -1 bodies per second");
  def = good, def.point_count = TALUS_EMITTER_POINTS + 1;
  CHECK_REFUSED("65 points are more than 64");
  def = good, def.point_count = 2, def.points[1].y = NAN;
  CHECK_REFUSED("point 1 is not finite");
  def = good, def.rate = INFINITY;
  CHECK_REFUSED("emitter 0: the rate");
  def = good, def.from_time = 2, def.until = 2;
  CHECK_REFUSED("it would end (2 s) before it begins (2 s)");
  def = good, def.until = NAN;
  CHECK_REFUSED("emit nothing");
  def = good, def.body.shape = tank;
  CHECK_REFUSED("a container has no volume of its own");
  def = good, def.body.kind = TALUS_FIXED;
  CHECK_REFUSED("only free bodies can be emitted");
  def = good, def.body.velocity.x = TL_R(NAN);
  CHECK_REFUSED("velocity, spin, force or torque is not finite");
  def = good, def.size = (talus_size_def){.kind = TALUS_SIZE_TABLE};
  CHECK_REFUSED("table of sizes is empty");
  def = good, def.from.box.hi.x = -1;
  CHECK_REFUSED("inside out along x");
  f.model.domain = (talus_domain_def){.enabled = true, .box = {{0, 0, 0}, {1, 1, 0.5}}};
  def = good;
  CHECK_REFUSED("reaches out of the domain (0 to 0.5)");
  fixture_periodic(&f, 1, true, false, false);
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 1, .high = 3};
  CHECK_REFUSED("longer than half the period");
#undef CHECK_REFUSED
  CHECK_EQ_U64(flow.emitters.count, 0);
  tl_flow_release(&flow);
  fixture_free(&f);
}

/* ---- many at once ---------------------------------------------------------------------------- */

/* Where the emitter's bodies go by the rules of flow/emitter.c, everybody asked about everybody:
 * spheres alone. Returns how many, and the blocked tries. */
static size_t emit_slowly(const fixture *f, const talus_emitter_def *def, double t1,
                          talus_dvec3 *centre, double *radius, uint64_t *blocked) {
  size_t n = 0;
  const double unit = (double)f->model.shapes.data[def->body.shape.index].radius;
  *blocked = 0;
  for (uint64_t serial = 0; (double)serial / def->rate <= t1; ++serial) {
    bool is_free = false;
    radius[n] = unit * tl_size_draw(&def->size, def->seed, TL_STREAM_EMIT_SIZE, serial);
    for (uint32_t attempt = 0; attempt < 8 && !is_free; ++attempt) {
      tl_random random = tl_random_start(def->seed, TL_STREAM_EMIT_POSITION, serial);
      random.block = attempt * TL_REGION_POINT_BLOCKS;
      const talus_dvec3 x = tl_region_point(&def->from, &random);
      is_free = x.z >= radius[n]; /* the floor */
      for (size_t i = 1; i < f->model.bodies; ++i)
        is_free = is_free && tl_dlength(tl_dsub(f->state.position[i], x)) >
                                 radius_of(f, (uint32_t)i) + radius[n];
      for (size_t i = 0; i < n; ++i)
        is_free = is_free && tl_dlength(tl_dsub(centre[i], x)) > radius[i] + radius[n];
      *blocked += !is_free;
      centre[n] = x;
    }
    if (!is_free)
      break;
    n++;
  }
  return n;
}

TEST(many_bodies_in_a_step_come_where_they_would_if_each_asked_everybody) {
  const talus_size_def sizes[] = {{.kind = TALUS_SIZE_ONE},
                                  {.kind = TALUS_SIZE_UNIFORM, .low = 0.1, .high = 1},
                                  {.kind = TALUS_SIZE_LOGNORMAL, .median = 0.5, .sigma = 0.4}};
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
    fixture f = fixture_make(1000);
    tl_flow flow = {0};
    static talus_dvec3 centre[1000];
    static double radius[1000];
    uint64_t blocked;
    fixture_body(&f, fixture_shape(&f, TALUS_PLANE, 0, 0, 1, 0), 0, 0, 0, TL_FLAG_FIXED);
    fixture_body(&f, fixture_sphere(&f, 0.3), 0.5, 0.5, 0.5, TL_FLAG_FIXED);
    talus_emitter_def def =
        emitter_def(fixture_sphere(&f, 0.04), fixture_box(0, 0, 0, 1, 1, 1), 4e5);
    def.size = sizes[k];
    const size_t n = emit_slowly(&f, &def, 1e-3, centre, radius, &blocked);
    CHECK(n > 100 && blocked > 8);
    CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
    CHECK_EQ_U64(run(&f, &flow, 1, 1e-3), n + 2);
    CHECK_EQ_U64(flow.emitters.data[0].blocked, blocked);
    for (size_t i = 0; i < n; ++i)
      CHECK(memcmp(&f.state.position[i + 2], &centre[i], sizeof *centre) == 0);
    tl_flow_release(&flow);
    fixture_free(&f);
  }
}

/* 20,000 in one step, which asked 200 million times. */
TEST(time_grows_with_the_bodies_of_a_step_and_not_with_their_square) {
  fixture f = fixture_make(40000);
  tl_flow flow = {0};
  struct timespec begin, end;
  const talus_emitter_def def =
      emitter_def(fixture_sphere(&f, 0.002), fixture_box(0, 0, 0, 1, 1, 1), 2e7);
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  CHECK_EQ_U64(run(&f, &flow, 1, 1e-3), 20001);
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  const double took =
      (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
  CHECK_MSG(took < 2, "%g s", took);
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(rate_that_cannot_be_kept_is_refused_with_one_that_can) {
  fixture f = fixture_make(1);
  tl_flow flow = {0};
  talus_emitter_def def = emitter_def(fixture_sphere(&f, 0.1), fixture_box(0, 0, 0, 1, 1, 1), 1e12);
  f.model.dt = 1e-3;
  def.name = "tap";
  /* 1.2^3 m3 for balls of 0.00419 m3: 412 of them. */
  CHECK_FAILS(tl_flow_add_emitter(&flow, &f.model, &def),
              "emitter 'tap': 1e+12 bodies per second are 1e+09 in a step of 0.001 s, and no more "
              "than 412 have room where they come from; a rate of up to 4.12e+05 can be kept");
  def.rate = 1e300;
  CHECK_FAILS(tl_flow_add_emitter(&flow, &f.model, &def), "4.12e+05 can be kept");
  def.rate = 4.12e5;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  /* A few at once, which come as soon as there is room. */
  def.rate = 1e12, def.until = 1e-10;
  CHECK_OK(tl_flow_add_emitter(&flow, &f.model, &def));
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST(sinks_take_free_bodies_and_count_them_once) {
  fixture f = fixture_make(8);
  tl_flow flow = {0};
  const talus_shape grain = fixture_sphere(&f, 0.1);
  const talus_region low = fixture_box(-1, -1, -1, 1, 1, 0),
                     wide = fixture_box(-2, -2, -1, 2, 2, 0.5);
  CHECK_OK(tl_flow_add_sink(&flow, "low", &low));
  CHECK_OK(tl_flow_add_sink(&flow, NULL, &wide));
  fixture_body(&f, grain, 0, 0, -0.5, 0);             /* in both: the first has it */
  fixture_body(&f, grain, 0, 0, 0.05, 0);             /* its edge is in low, its centre is not */
  fixture_body(&f, grain, 0, 0, -0.5, TL_FLAG_FIXED); /* not free */
  fixture_body(&f, grain, 0, 0, -0.5, TL_FLAG_KINEMATIC); /* not free */
  fixture_body(&f, grain, 0, 0, -0.5, 0);                 /* leaves already */
  fixture_body(&f, grain, 0, 0, 3, 0);
  uint8_t remove[6] = {0, 0, 0, 0, 1, 0};
  CHECK_EQ_U64(tl_flow_sink(&flow, &f.model, &f.state, remove), 2);
  const uint8_t expected[6] = {1, 1, 0, 0, 1, 0};
  CHECK(memcmp(remove, expected, sizeof expected) == 0);
  CHECK_EQ_U64(flow.sinks.data[0].removed, 1);
  CHECK_EQ_U64(flow.sinks.data[1].removed, 1);
  CHECK_EQ_U64(tl_flow_sink(&flow, &f.model, &f.state, remove), 0);
  CHECK_EQ_U64(flow.sinks.data[0].removed, 1);
  const talus_region flat = fixture_box(0, 0, 0, 1, 1, 0);
  CHECK_FAILS(tl_flow_add_sink(&flow, "floor", &flat), "sink 'floor': the region is flat");
  tl_flow_release(&flow);
  fixture_free(&f);
}

TEST_MAIN()
