/* Coefficients of friction and resistance of any size that a number can have, with every method. */
#include "physics/rig.h"
#include "world/world.h"

static const talus_ccp_method methods[4] = {TALUS_GAUSS_SEIDEL, TALUS_JACOBI, TALUS_APGD, TALUS_BB};

/* A ball or a box that slides and spins on a floor, after 100 steps. */
static talus_body_info slide(double friction, double resistance, talus_friction_model model,
                             talus_ccp_method method, bool is_box) {
  talus_world_def def = rig_def(1e-3);
  def.solve.friction = model, def.solve.method = method;
  def.solve.iterations = 2000, def.solve.tolerance = 1e-6;
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_material_def m = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  m.density = 1000, m.friction = friction, m.rolling = m.spinning = resistance;
  CHECK_OK(talus_world_add_material(world, &m, &body.material));
  body.kind = TALUS_FIXED, body.shape = rig_shape(world, TALUS_PLANE, 0, 0, 1, 0);
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.kind = TALUS_FREE;
  body.shape = rig_shape(world, is_box ? TALUS_BOX : TALUS_SPHERE, is_box ? 0.2 : 0.1, 0.2, 0.2, 0);
  body.position.z = 0.1, body.velocity = rig_vec(1, 0, 0), body.spin = rig_vec(0, 0, 3);
  talus_body it;
  CHECK_OK(talus_world_add_body(world, &body, &it));
  CHECK_OK(talus_world_step(world, 100));
  talus_body_info info;
  CHECK_OK(talus_world_get_body(world, it, &info));
  CHECK_MSG(world->last.solve.residual_rms < BY_PRECISION(2e-6, 1e-5),
            "friction %g, rolling %g: residual %g", friction, resistance,
            (double)world->last.solve.residual_rms);
  talus_world_destroy(world);
  return info;
}

static void check_alike(talus_body_info is, talus_body_info as, double eps, const char *what,
                        double value) {
  const double x = tl_dlength(tl_dsub(is.position, as.position)),
               v = (double)tl_length(tl_sub(is.velocity, as.velocity)),
               w = (double)tl_length(tl_sub(is.spin, as.spin));
  CHECK_MSG(x < eps && v < eps && 0.1 * w < eps, "%s %g: %g m, %g m/s, %g rad/s apart", what, value,
            x, v, w);
}

/* 1e-30 is nothing, and 1e30 is what 1000 is: also where a number cannot hold the square. */
TEST(coefficients_of_any_size_do_what_they_say) {
  const double most = TALUS_SINGLE ? 1e38 : 1e300, root = TALUS_SINGLE ? 1e21 : 1e160;
  const double large[] = {1e6, 1e10, 0.01 * root, root, 1e30, most};
  const double small[] = {1 / most, 1e-30, 1e-10};
  for (int k = 0; k < 16; ++k) {
    const talus_friction_model model = k % 2 ? TALUS_FRICTION_CCP : TALUS_FRICTION_NCP;
    const bool is_box = k / 2 % 2;
    const talus_ccp_method method = methods[k / 4];
    if (is_box && method != TALUS_GAUSS_SEIDEL) /* it tumbles, each method its own way */
      continue;
    /* A box tumbles, and with 1000 by and by another way than with more. */
    const talus_body_info rough = slide(is_box ? 1e7 : 1e3, 0.01, model, method, is_box);
    const talus_body_info sliding = slide(is_box ? 1e7 : 1e3, 0, model, method, is_box);
    const talus_body_info held = slide(0.5, 1e3, model, method, is_box);
    const talus_body_info bare = slide(0.5, 0, model, method, is_box);
    CHECK(rough.position.z > 0.0999 && held.position.z > 0.0999 && bare.position.z > 0.0999);
    for (size_t i = 0; i < sizeof large / sizeof *large; ++i) {
      check_alike(slide(large[i], 0.01, model, method, is_box), rough, is_box ? 1e-2 : 1e-3,
                  "friction", large[i]);
      check_alike(slide(large[i], 0, model, method, is_box), sliding, is_box ? 1e-2 : 1e-3,
                  "friction alone", large[i]);
      check_alike(slide(0.5, large[i], model, method, is_box), held, 1e-5, "rolling", large[i]);
      if (!is_box)
        CHECK(slide(large[i], large[i], model, method, false).position.z > 0.0999);
    }
    for (size_t i = 0; i < sizeof small / sizeof *small; ++i) {
      check_alike(slide(0.5, small[i], model, method, is_box), bare, is_box ? 1e-3 : 1e-4,
                  "rolling", small[i]);
      CHECK(slide(small[i], 0.01, model, method, is_box).position.z > 0.0999);
    }
  }
}

TEST_MAIN()
