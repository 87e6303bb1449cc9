/* Fill: what is placed is inside, touches nothing, is what was asked for, and is always the same.
 */
#include "flow/place.h"
#include "flow_fixture.h"
#include "kernels/morton.h"

/* ---- references ------------------------------------------------------------------------------ */

static double radius_of(const fixture *f, const talus_fill_def *def, const tl_placement *p) {
  return p->scale * (double)f->model.shapes.data[def->body.shape.index].radius;
}

/* Every pair, and every body against the region, by bounding spheres. */
static void check_spheres(const fixture *f, const talus_fill_def *def, const tl_placements *all) {
  static const bool no_spans[3] = {false, false, false};
  for (size_t i = 0; i < all->count; ++i) {
    const tl_placement *a = &all->data[i];
    const double r = radius_of(f, def, a);
    if (!f->model.domain.enabled) {
      talus_region inset;
      CHECK(tl_region_inset(&def->in, r * (1 - 1e-7), no_spans, &inset));
      CHECK(tl_region_contains(&inset, a->position));
    }
    for (size_t j = 0; j < i; ++j) {
      const tl_placement *b = &all->data[j];
      const talus_dvec3 d = tl_model_offset(&f->model, b->position, a->position);
      CHECK_MSG(tl_dlength(d) > r + radius_of(f, def, b), "%zu and %zu overlap by %g m", i, j,
                r + radius_of(f, def, b) - tl_dlength(d));
    }
  }
}

static talus_fill_def fill_def(talus_shape shape, talus_region in, uint64_t count) {
  return (talus_fill_def){.body = fixture_body_def(shape), .in = in, .count = count, .seed = 7};
}

static double total_volume(const fixture *f, const talus_fill_def *def, const tl_placements *all) {
  double sum = 0;
  for (size_t i = 0; i < all->count; ++i)
    sum += f->model.shapes.data[def->body.shape.index].volume * pow(all->data[i].scale, 3);
  return sum;
}

/* Fills and compares with the references; the caller frees. */
static tl_placements fill(const fixture *f, const talus_fill_def *def) {
  tl_placements all = {0};
  uint64_t wanted;
  CHECK_OK(tl_fill_plan(&f->model, &f->state, def, &all, &wanted));
  CHECK(all.count <= wanted);
  if (!def->allow_fewer)
    CHECK_EQ_U64(all.count, wanted);
  check_spheres(f, def, &all);
  return all;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

TEST(equal_spheres_fill_a_box_without_overlap) {
  fixture f = fixture_make(1);
  const talus_fill_def def =
      fill_def(fixture_sphere(&f, 0.05), fixture_box(-1, -1, 0, 1, 1, 2), 3000);
  tl_placements all = fill(&f, &def);
  CHECK_EQ_U64(all.count, 3000);
  for (size_t i = 0; i < all.count; ++i)
    CHECK(all.data[i].scale == 1 && all.data[i].rotation.w == 1);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(a_fraction_is_met_to_half_a_body) {
  fixture f = fixture_make(1);
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.05), fixture_box(-1, -1, 0, 1, 1, 1), 0);
  def.fraction = 0.2;
  tl_placements all = fill(&f, &def);
  const double body = 4.0 / 3.0 * TL_PI * 1.25e-4;
  CHECK_NEAR(total_volume(&f, &def, &all), 0.2 * 4, 0.5 * body * 1.0001);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(spheres_of_many_sizes_fill_a_cylinder_and_a_sphere) {
  fixture f = fixture_make(1);
  const talus_shape shape = fixture_sphere(&f, 0.1);
  const talus_region regions[] = {
      {.kind = TALUS_REGION_CYLINDER, .at = {5, 5, 5}, .axis = {1, 1, 0}, .radius = 1, .length = 2},
      {.kind = TALUS_REGION_SPHERE, .at = {-3, 0, 0}, .radius = 1.2}};
  for (int i = 0; i < 2; ++i) {
    talus_fill_def def = fill_def(shape, regions[i], 2500);
    def.size =
        (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.05, .high = 2, .by_mass = true};
    tl_placements all = fill(&f, &def);
    /* Sizes are those of the serials, whatever the order of placing. */
    double drawn = 0, placed = 0;
    for (size_t k = 0; k < all.count; ++k) {
      drawn += tl_size_draw(&def.size, def.seed, TL_STREAM_FILL_SIZE, k);
      placed += all.data[k].scale;
    }
    CHECK_NEAR(placed, drawn, 1e-9 * drawn);
    tl_array_free(&all);
  }
  fixture_free(&f);
}

TEST(random_places_reach_a_third_of_the_volume) {
  fixture f = fixture_make(1);
  int lines = 0;
  f.model.log = (tl_log){fixture_count_line, &lines, TL_LOG_INFO};
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.03), fixture_box(0, 0, 0, 1, 1, 1), 0);
  def.fraction = 0.3;
  tl_placements all = fill(&f, &def);
  CHECK(lines == 0);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(a_lattice_takes_over_where_random_places_end) {
  fixture f = fixture_make(1);
  int lines = 0;
  f.model.log = (tl_log){fixture_count_line, &lines, TL_LOG_INFO};
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.04), fixture_box(0, 0, 0, 1, 1, 1), 0);
  def.fraction = 0.5;
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.97, .high = 1};
  tl_placements all = fill(&f, &def);
  CHECK_NEAR(total_volume(&f, &def, &all), 0.5, 1e-3);
  CHECK(lines == 1); /* it says so */
  /* Spread over the whole region, not gathered at one side. */
  talus_dvec3 mean = {0, 0, 0};
  for (size_t i = 0; i < all.count; ++i)
    mean = tl_dadd(mean, tl_dscale(all.data[i].position, 1.0 / (double)all.count));
  CHECK_NEAR(mean.x, 0.5, 0.03);
  CHECK_NEAR(mean.y, 0.5, 0.03);
  CHECK_NEAR(mean.z, 0.5, 0.03);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(places_are_uniform_in_the_region) {
  fixture f = fixture_make(1);
  const talus_fill_def def =
      fill_def(fixture_sphere(&f, 0.01), fixture_box(0, 0, 0, 1.02, 1.02, 1.02), 4000);
  tl_placements all = fill(&f, &def);
  double count[64] = {0}, chi2 = 0;
  for (size_t i = 0; i < all.count; ++i) {
    const talus_dvec3 x = tl_dscale(tl_dsub(all.data[i].position, tl_dvec3(0.01, 0.01, 0.01)), 4);
    count[((int)fmin(x.x, 3) * 4 + (int)fmin(x.y, 3)) * 4 + (int)fmin(x.z, 3)]++;
  }
  for (int i = 0; i < 64; ++i)
    chi2 += (count[i] - 62.5) * (count[i] - 62.5) / 62.5;
  /* 63 degrees of freedom, deviation 11; bodies that keep apart spread a little more evenly. */
  CHECK_MSG(chi2 > 20 && chi2 < 63 + 4 * 11, "chi2 = %g", chi2);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(turned_boxes_do_not_touch) {
  fixture f = fixture_make(1);
  const talus_shape shape = fixture_shape(&f, TALUS_BOX, 0.2, 0.1, 0.05, 0);
  talus_fill_def def = fill_def(shape, fixture_box(-1, -1, 0, 1, 1, 2), 800);
  def.random_rotation = true;
  def.size = (talus_size_def){.kind = TALUS_SIZE_LOGNORMAL, .median = 0.7, .sigma = 0.2};
  tl_placements all = fill(&f, &def);
  const talus_dvec3 half = {0.1, 0.05, 0.025};
  for (size_t i = 0; i < all.count; ++i)
    for (size_t j = 0; j < i; ++j) {
      const tl_placement *a = &all.data[i], *b = &all.data[j];
      CHECK(boxes_are_apart(tl_dsub(b->position, a->position), a->rotation,
                            tl_dscale(half, a->scale), b->rotation, tl_dscale(half, b->scale)));
    }
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(random_rotations_are_uniform) {
  fixture f = fixture_make(1);
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.001), fixture_box(0, 0, 0, 1, 1, 1), 4000);
  def.random_rotation = true;
  tl_placements all = fill(&f, &def);
  talus_dvec3 mean = {0, 0, 0};
  double height2 = 0, w2 = 0;
  for (size_t i = 0; i < all.count; ++i) {
    const talus_quat q = all.data[i].rotation;
    CHECK_NEAR(tl_quat_dot(q, q), 1, 1e-6);
    const talus_dvec3 x = tl_widen(tl_quat_rotate(q, tl_vec3(1, 0, 0)));
    mean = tl_dadd(mean, tl_dscale(x, 1.0 / 4000));
    height2 += x.z * x.z / 4000;
    w2 += (double)(q.w * q.w) / 4000;
  }
  CHECK_NEAR(tl_dlength(mean), 0, 0.04);
  CHECK_NEAR(height2, 1.0 / 3, 0.02);
  CHECK_NEAR(w2, 0.25, 0.015); /* each component of a uniform unit quaternion */
  tl_array_free(&all);
  fixture_free(&f);
}

/* ---- what is in the way ---------------------------------------------------------------------- */

TEST(bodies_of_the_world_are_left_alone) {
  fixture f = fixture_make(2000);
  const talus_shape grain = fixture_sphere(&f, 0.06), pebble = fixture_sphere(&f, 0.01);
  const talus_shape rock = fixture_sphere(&f, 0.5);
  const talus_shape floor = fixture_shape(&f, TALUS_PLANE, 0, 0, 1, 0.1);
  const talus_shape block = fixture_shape(&f, TALUS_BOX, 1, 0.5, 0.5, 0);
  fixture_body(&f, floor, 0, 0, 0, TL_FLAG_FIXED);
  fixture_body(&f, rock, 0.5, 0.5, 1, 0);
  const uint32_t box = fixture_body(&f, block, -0.5, -0.4, 1, TL_FLAG_FIXED);
  f.state.rotation[box] = tl_quat_from_axis_angle(tl_vec3(0, 0, 1), TL_R(TL_PI / 4));
  for (int i = 0; i < 1000; ++i) {
    tl_random random = tl_random_start(3, 99, (uint64_t)i);
    const double x = 2 * tl_random_unit(&random) - 1, y = 2 * tl_random_unit(&random) - 1;
    fixture_body(&f, pebble, x, y, 2 * tl_random_unit(&random), 0);
  }
  talus_fill_def def = fill_def(grain, fixture_box(-1, -1, 0, 1, 1, 2), 500);
  tl_placements all = fill(&f, &def);
  size_t in_box_sphere = 0;
  for (size_t i = 0; i < all.count; ++i) {
    const talus_dvec3 x = all.data[i].position;
    CHECK(x.z > 0.1 + 0.06);
    for (uint32_t slot = 1; slot < f.model.bodies; ++slot) {
      const double r = (double)tl_body_shape(&f.model, slot)->radius;
      if (slot != box)
        CHECK(tl_dlength(tl_dsub(x, f.state.position[slot])) > r + 0.06 - 1e-9);
    }
    /* Distance to the turned block, in its own axes. */
    const talus_dvec3 d = tl_dsub(x, f.state.position[box]);
    const double u = fabs(d.x + d.y) * sqrt(0.5) - 0.5, v = fabs(d.y - d.x) * sqrt(0.5) - 0.25,
                 w = fabs(d.z) - 0.25;
    CHECK(hypot(hypot(fmax(u, 0), fmax(v, 0)), fmax(w, 0)) > 0.06 - 1e-6);
    in_box_sphere += tl_dlength(d) < (double)tl_body_shape(&f.model, box)->radius;
  }
  CHECK(in_box_sphere > 0); /* the block is asked exactly, not by its bounding sphere */
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(a_container_is_filled_from_inside_to_its_walls) {
  fixture f = fixture_make(2);
  const talus_shape tank = fixture_shape(&f, TALUS_CONTAINER, 1, 1, 1, 0);
  fixture_body(&f, tank, 0, 0, 0.5, TL_FLAG_FIXED);
  const talus_shape shapes[] = {fixture_sphere(&f, 0.05),
                                fixture_shape(&f, TALUS_BOX, 0.08, 0.06, 0.04, 0)};
  for (int i = 0; i < 2; ++i) {
    /* The region reaches through the walls; bodies may stand outside them, but not in them. */
    talus_fill_def def = fill_def(shapes[i], fixture_box(-1, -1, -0.5, 1, 1, 1.5), 1200);
    def.random_rotation = true;
    tl_placements all = fill(&f, &def);
    size_t inside = 0;
    for (size_t k = 0; k < all.count; ++k) {
      const talus_dvec3 d = tl_dsub(all.data[k].position, tl_dvec3(0, 0, 0.5));
      const double far = fmax(fmax(fabs(d.x), fabs(d.y)), fabs(d.z)), thick = i ? 0.02 : 0.05;
      CHECK_MSG(fabs(far - 0.5) > thick - 1e-9, "%g m from a wall", fabs(far - 0.5));
      inside += far < 0.5;
    }
    CHECK(inside > 50 && inside < 1100);
    tl_array_free(&all);
  }
  fixture_free(&f);
}

TEST(boxes_keep_clear_of_boxes_and_come_nearer_than_their_bounding_sphere) {
  fixture f = fixture_make(1);
  const talus_shape brick = fixture_shape(&f, TALUS_BOX, 0.1, 0.1, 0.1, 0);
  const talus_shape slab = fixture_shape(&f, TALUS_BOX, 2, 2, 0.2, 0);
  fixture_body(&f, slab, 0, 0, 0, TL_FLAG_FIXED);
  const talus_fill_def def = fill_def(brick, fixture_box(-1, -1, -0.1, 1, 1, 0.5), 100);
  tl_placements all = fill(&f, &def);
  double lowest = 1;
  for (size_t i = 0; i < all.count; ++i) {
    CHECK(all.data[i].position.z > 0.15 - 1e-7);
    lowest = fmin(lowest, all.data[i].position.z);
  }
  CHECK(lowest < 0.1 + 0.05 * sqrt(3));
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(groups_that_ignore_each_other_do_not_block) {
  fixture f = fixture_make(1);
  const talus_shape grain = fixture_sphere(&f, 0.1), rock = fixture_sphere(&f, 5);
  fixture_body(&f, rock, 0, 0, 0, TL_FLAG_FIXED);
  f.model.property.group[0] = 2;
  talus_fill_def def = fill_def(grain, fixture_box(-1, -1, -1, 1, 1, 1), 20);
  def.allow_fewer = true;
  tl_placements all = fill(&f, &def);
  CHECK_EQ_U64(all.count, 0);
  tl_array_free(&all);
  const tl_group_pair pair = {1, 2};
  CHECK_OK(tl_array_push(&f.model.ignored, pair));
  def.body.group = 1;
  all = fill(&f, &def);
  CHECK_EQ_U64(all.count, 20);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(a_periodic_domain_is_filled_across_its_border) {
  fixture f = fixture_make(1);
  fixture_periodic(&f, 1, true, true, false);
  const talus_shape grain = fixture_sphere(&f, 0.05);
  fixture_body(&f, fixture_sphere(&f, 0.2), 0, 0.5, 0.5, TL_FLAG_FIXED);
  talus_fill_def def = fill_def(grain, fixture_box(0.5, 0, 0, 1.5, 1, 1), 0);
  def.fraction = 0.25;
  tl_placements all = fill(&f, &def);
  size_t at_border = 0;
  for (size_t i = 0; i < all.count; ++i) {
    const talus_dvec3 x = all.data[i].position;
    CHECK(x.x >= 0 && x.x < 1 && x.y >= 0 && x.y < 1 && x.z >= 0.05 - 1e-9 && x.z <= 0.95 + 1e-9);
    const talus_dvec3 d = tl_model_offset(&f.model, tl_dvec3(0, 0.5, 0.5), x);
    CHECK(tl_dlength(d) > 0.25 - 1e-9);
    at_border += x.y < 0.05 || x.y > 0.95;
  }
  CHECK(at_border > 20);
  tl_array_free(&all);
  fixture_free(&f);
}

/* ---- what does not fit ----------------------------------------------------------------------- */

TEST(fewer_are_placed_where_not_all_fit) {
  fixture f = fixture_make(1);
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.1), fixture_box(0, 0, 0, 1, 1, 1), 170);
  tl_placements all = {0};
  uint64_t wanted;
  CHECK_OK(tl_fill_plan(&f.model, &f.state, &def, &all, &wanted)); /* 0.71 of the volume */
  CHECK_EQ_U64(wanted, 170);
  CHECK(all.count > 95 && all.count < 170);
  check_spheres(&f, &def, &all);
  def.allow_fewer = true;
  def.count = 1000000;
  CHECK_OK(tl_fill_plan(&f.model, &f.state, &def, &all, &wanted));
  CHECK_EQ_U64(wanted, 1000000);
  CHECK(all.count > 95 && all.count < 178);
  check_spheres(&f, &def, &all);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(a_hopeless_fill_of_a_vast_region_ends) {
  fixture f = fixture_make(1);
  fixture_body(&f, fixture_shape(&f, TALUS_PLANE, 0, 0, 1, 0), 0, 0, 0, TL_FLAG_FIXED);
  talus_fill_def def =
      fill_def(fixture_sphere(&f, 0.01), fixture_box(0, 0, -1e6, 1e6, 1e6, -1), 10);
  def.allow_fewer = true;
  tl_placements all = fill(&f, &def);
  CHECK_EQ_U64(all.count, 0);
  tl_array_free(&all);
  fixture_free(&f);
}

TEST(impossible_fills_are_refused_with_the_numbers) {
  fixture f = fixture_make(1);
  const talus_shape grain = fixture_sphere(&f, 0.1);
  const talus_shape floor = fixture_shape(&f, TALUS_PLANE, 0, 0, 1, 0);
  tl_placements all = {0};
  uint64_t wanted;
  talus_fill_def def = fill_def(grain, fixture_box(0, 0, 0, 1, 1, 1), 200);
#define CHECK_REFUSED(text)                                                                        \
  CHECK_FAILS(tl_fill_plan(&f.model, &f.state, &def, &all, &wanted), (text))
  CHECK_REFUSED("fill: 200 bodies have a volume of 0.8378 m3; the region has 1 m3");
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 1, .high = 1};
  CHECK_REFUSED("the first 177 of 200 bodies have a volume of 0.7414 m3; the region has 1 m3");
  def = fill_def(grain, fixture_box(0, 0, 0, 1, 1, 0.19), 3);
  CHECK_REFUSED("a body with a bounding radius of 0.1 m (scale 1) does not fit into the region");
  def = fill_def(grain, fixture_box(0, 0, 0, 1, 1, 0), 3);
  CHECK_REFUSED("the region has no volume");
  def = fill_def(grain, fixture_box(0, 0, 0, 1, 1, 1), 0);
  CHECK_REFUSED("give a count, or a fraction between 0 and 0.74");
  def.fraction = 0.8;
  CHECK_REFUSED("the fraction is 0.8");
  def.fraction = 1e-9;
  CHECK_REFUSED("less than half a body");
  def = fill_def(floor, fixture_box(0, 0, 0, 1, 1, 1), 3);
  CHECK_REFUSED("a plane has no volume of its own");
  def = fill_def((talus_shape){9}, fixture_box(0, 0, 0, 1, 1, 1), 3);
  CHECK_REFUSED("there is no shape 9 (2 were added)");
  def = fill_def(grain, fixture_box(0, 0, 0, 1, 1, 1), 3);
  def.body.material.index = 4;
  CHECK_REFUSED("there is no material 4");
  def.body.material.index = 0;
  def.body.rotation = tl_quat(0, 0, 0, 0);
  CHECK_REFUSED("no rotation is [1, 0, 0, 0]");
  def.body = fixture_body_def(grain);
  def.body.name = "one";
  CHECK_REFUSED("cannot share the name 'one'");
  fixture_periodic(&f, 0.9, true, true, false);
  def = fill_def(grain, fixture_box(0, 0, 0, 1, 0.9, 0.9), 3);
  CHECK_REFUSED("more than the period of the domain (0.9 m)");
  def = fill_def(grain, fixture_box(0, 0, 0, 0.9, 0.9, 1), 3);
  CHECK_REFUSED("reaches out of the domain (0 to 0.9)");
  def = fill_def(fixture_sphere(&f, 0.3), fixture_box(0, 0, 0, 0.9, 0.9, 0.9), 1);
  CHECK_REFUSED("longer than half the period");
#undef CHECK_REFUSED
  CHECK_EQ_U64(all.count, 0);
  tl_array_free(&all);
  fixture_free(&f);
}

/* ---- order and determinism ------------------------------------------------------------------- */

TEST(a_fill_is_the_same_for_any_number_of_threads_and_leaks_nothing) {
  fixture f = fixture_make(1);
  talus_fill_def def = fill_def(fixture_sphere(&f, 0.05), fixture_box(0, 0, 0, 2, 2, 2), 3000);
  def.random_rotation = true;
  def.size = (talus_size_def){.kind = TALUS_SIZE_UNIFORM, .low = 0.5, .high = 1};
  const size_t held = tl_memory_count().bytes;
  tl_placements one = {0}, two = {0}, other = {0};
  uint64_t wanted;
  CHECK_OK(tl_fill_plan(&f.model, &f.state, &def, &one, &wanted));
  f.model.par.threads = 3;
  CHECK_OK(tl_fill_plan(&f.model, &f.state, &def, &two, &wanted));
  def.seed++;
  CHECK_OK(tl_fill_plan(&f.model, &f.state, &def, &other, &wanted));
  CHECK_EQ_U64(one.count, two.count);
  size_t same = 0;
  for (size_t i = 0; i < one.count; ++i) {
    const tl_placement *a = &one.data[i], *b = &two.data[i], *c = &other.data[i];
    CHECK(a->position.x == b->position.x && a->position.y == b->position.y &&
          a->position.z == b->position.z && a->scale == b->scale);
    CHECK(a->rotation.w == b->rotation.w && a->rotation.z == b->rotation.z);
    same += a->position.x == c->position.x;
  }
  CHECK_EQ_U64(same, 0);
  tl_array_free(&one);
  tl_array_free(&two);
  tl_array_free(&other);
  CHECK_EQ_U64(tl_memory_count().bytes, held);
  fixture_free(&f);
}

TEST(neighbours_in_memory_are_neighbours_in_space) {
  fixture f = fixture_make(1);
  const talus_fill_def def =
      fill_def(fixture_sphere(&f, 0.01), fixture_box(0, 0, 0, 2, 2, 2), 4000);
  tl_placements all = fill(&f, &def);
  uint64_t last = 0;
  double jump = 0;
  for (size_t i = 0; i < all.count; ++i) {
    const talus_dvec3 x = tl_dscale(all.data[i].position, 0x1p20);
    const uint64_t code = tl_morton3((uint32_t)x.x, (uint32_t)x.y, (uint32_t)x.z);
    CHECK(code >= last);
    last = code;
    if (i > 0)
      jump += tl_dlength(tl_dsub(all.data[i].position, all.data[i - 1].position));
  }
  CHECK(jump / (double)all.count < 0.25); /* two random points are 1.3 m apart */
  tl_array_free(&all);
  fixture_free(&f);
}

TEST_MAIN()
