/* Careless callers: whatever the public calls are handed, they answer with a status and a message.
 */
#include <pthread.h>
#include <talus/average.h>
#include <talus/zone.h>
#include <talus/detect.h>
#include <talus/mesh.h>
#include <talus/scene.h>

#include "check.h"

static talus_world *make_world(talus_log_fn *log, void *context) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.threads = 2, def.log = log, def.log_context = context;
  CHECK_OK(talus_world_create(&def, &world));
  return world;
}

/* n balls side by side on a floor. */
static void fill_world(talus_world *world, int n) {
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def stone = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  shape.size[0] = 0.1;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_material(world, &stone, &body.material));
  for (int i = 0; i < n; ++i) {
    body.position = (talus_dvec3){0.19 * (i % 20), 0.19 * (i / 20), 0.1};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  shape.kind = TALUS_PLANE;
  shape.size[0] = shape.size[1] = shape.size[3] = 0, shape.size[2] = 1;
  body.kind = TALUS_FIXED, body.position = (talus_dvec3){0, 0, 0};
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
}

/* ---- NULL ------------------------------------------------------------------------------------ */

/* Whether the last message is "CALL: `argument` is NULL", of the call that was made. */
static bool names(const char *call, const char *argument) {
  char wanted[200];
  snprintf(wanted, sizeof wanted, "%.*s: `%s` is NULL", (int)strcspn(call, "("), call, argument);
  return strcmp(talus_last_error(), wanted) == 0;
}

#define REFUSED(call, argument)                                                                    \
  do {                                                                                             \
    CHECK((call) == TALUS_ERROR_INVALID);                                                          \
    CHECK_MSG(names(#call, argument), "%s", talus_last_error());                                   \
  } while (0)

TEST(calls_on_a_world_that_is_null_are_refused_by_name) {
  const talus_body body = {1, 0};
  const talus_vec3 v = {0, 0, 0};
  const talus_joint joint = {1};
  const talus_material m = {0};
  talus_view view = {0};
  REFUSED(talus_world_ignore_groups(NULL, 1, 1), "world");
  REFUSED(talus_world_remove_body(NULL, body), "world");
  REFUSED(talus_body_set_pose(NULL, body, (talus_dvec3){0, 0, 0}, (talus_quat){1, 0, 0, 0}),
          "world");
  REFUSED(talus_body_set_velocity(NULL, body, v, v), "world");
  REFUSED(talus_body_set_force(NULL, body, v, v), "world");
  REFUSED(talus_body_wake(NULL, body), "world");
  REFUSED(talus_world_set_strict(NULL, 0), "world");
  REFUSED(talus_world_set_gravity(NULL, v), "world");
  REFUSED(talus_world_set_sleep(NULL, (talus_sleep_def){0, 0}), "world");
  REFUSED(talus_world_remove_joint(NULL, joint), "world");
  REFUSED(talus_joint_set_motor(NULL, joint, 1, 1), "world");
  REFUSED(talus_world_assemble(NULL, NULL), "world");
  REFUSED(talus_world_step(NULL, 1), "world");
  REFUSED(talus_world_set_material_pair(NULL, m, m, 0, 0), "world");
  REFUSED(talus_world_save(NULL, "x"), "world");
  REFUSED(talus_world_write_frame(NULL, "x"), "world");
  REFUSED(talus_world_write_contacts(NULL, "x"), "world");
  REFUSED(talus_world_write_surfaces(NULL, "x"), "world");
  REFUSED(talus_view_unmap(NULL, &view), "world");
  talus_world_destroy(NULL);
}

TEST(questions_about_no_world_are_answered_with_0) {
  CHECK(talus_world_time(NULL) == 0 && talus_world_steps(NULL) == 0);
  CHECK(talus_world_body_count(NULL) == 0 && talus_world_hash(NULL) == 0);
  CHECK(talus_world_shape_count(NULL) == 0 && talus_world_joint_count(NULL) == 0);
  CHECK(strstr(talus_last_error(), "`world` is NULL"));
}

/* Both with a world that is there and what it should read or fill missing, and without one. */
#define REFUSED_BOTH(call, given, argument, ...)                                                   \
  do {                                                                                             \
    REFUSED(call(NULL, given), "world");                                                           \
    REFUSED(call(world, __VA_ARGS__), argument);                                                   \
  } while (0)
#define TWO(a, b)      a, b
#define THREE(a, b, c) a, b, c

TEST(what_a_call_should_read_or_fill_must_be_there) {
  talus_world *world = make_world(NULL, NULL);
  fill_world(world, 1);
  const talus_shape_def shape = talus_shape_def_default();
  const talus_material_def stone = talus_material_def_default();
  const talus_body_def body = talus_body_def_default();
  const talus_joint_def joint = talus_joint_def_default();
  const talus_fill_def fill = talus_fill_def_default();
  const talus_emitter_def emitter = talus_emitter_def_default();
  const talus_probe_def probe = {0};
  const talus_region region = {0};
  const talus_material m = {0};
  const talus_joint j = {1};
  talus_body b;
  talus_shape s;
  talus_material made;
  talus_material_law law;
  talus_joint joined;
  talus_body_info info;
  talus_joint_info jinfo;
  talus_shape_info sinfo;
  talus_report report;
  talus_probe_values values;
  const talus_average_def average = talus_average_def_default();
  talus_average_values means;
  const talus_zone_def zone = talus_zone_def_default();
  talus_zone_values zone_values;
  talus_view view;
  uint32_t row;
  size_t count;
  CHECK_OK(talus_world_body_at(world, 0, &b));
  REFUSED_BOTH(talus_world_add_shape, TWO(&shape, &s), "def", TWO(NULL, &s));
  REFUSED(talus_world_add_shape(world, &shape, NULL), "shape");
  REFUSED_BOTH(talus_world_get_shape, TWO(0, &sinfo), "info", TWO(0, NULL));
  REFUSED_BOTH(talus_world_add_material, TWO(&stone, &made), "def", TWO(NULL, &made));
  REFUSED(talus_world_add_material(world, &stone, NULL), "material");
  REFUSED_BOTH(talus_world_set_material_law, THREE(m, m, &law), "law", THREE(m, m, NULL));
  REFUSED_BOTH(talus_world_get_material_law, THREE(m, m, &law), "law", THREE(m, m, NULL));
  REFUSED_BOTH(talus_world_group, TWO("a", &row), "group", TWO("a", NULL));
  CHECK(talus_world_group(world, NULL, &row) == TALUS_ERROR_INVALID);
  REFUSED_BOTH(talus_world_add_body, TWO(&body, NULL), "def", TWO(NULL, NULL));
  REFUSED_BOTH(talus_world_get_body, TWO(b, &info), "info", TWO(b, NULL));
  REFUSED_BOTH(talus_world_find_body, TWO("a", &b), "name", TWO(NULL, &b));
  REFUSED(talus_world_find_body(world, "a", NULL), "body");
  REFUSED_BOTH(talus_world_body_at, TWO(0, &b), "body", TWO(0, NULL));
  REFUSED_BOTH(talus_world_add_joint, TWO(&joint, NULL), "def", TWO(NULL, NULL));
  REFUSED_BOTH(talus_world_find_joint, TWO("a", &joined), "name", TWO(NULL, &joined));
  REFUSED(talus_world_find_joint(world, "a", NULL), "joint");
  REFUSED_BOTH(talus_world_joint_at, TWO(0, &joined), "joint", TWO(0, NULL));
  REFUSED_BOTH(talus_world_get_joint, TWO(j, &jinfo), "info", TWO(j, NULL));
  REFUSED(talus_world_report(NULL, &report), "world");
  REFUSED(talus_world_report(world, NULL), "report");
  REFUSED_BOTH(talus_world_contacts, THREE(NULL, 0, &count), "count", THREE(NULL, 0, NULL));
  REFUSED_BOTH(talus_view_map, THREE(TALUS_FIELD_MASS, TALUS_READ, &view), "view",
               THREE(TALUS_FIELD_MASS, TALUS_READ, NULL));
  REFUSED(talus_view_unmap(world, NULL), "view");
  REFUSED_BOTH(talus_world_fill, TWO(&fill, NULL), "def", TWO(NULL, NULL));
  REFUSED(talus_world_add_emitter(NULL, &emitter), "world");
  REFUSED(talus_world_add_emitter(world, NULL), "def");
  REFUSED_BOTH(talus_world_add_sink, TWO("a", &region), "region", TWO("a", NULL));
  REFUSED_BOTH(talus_world_add_probe, TWO(&probe, &row), "def", TWO(NULL, &row));
  REFUSED_BOTH(talus_probe_read, TWO(0, &values), "values", TWO(0, NULL));
  REFUSED_BOTH(talus_world_add_average, TWO(&average, &row), "def", TWO(NULL, &row));
  REFUSED_BOTH(talus_average_read, TWO(0, &means), "values", TWO(0, NULL));
  CHECK(talus_average_write(world, 0, NULL) == TALUS_ERROR_INVALID);
  REFUSED_BOTH(talus_world_add_zone, TWO(&zone, &row), "def", TWO(NULL, &row));
  REFUSED_BOTH(talus_zone_read, TWO(0, &zone_values), "values", TWO(0, NULL));
  REFUSED_BOTH(talus_world_zone_events, THREE(NULL, 0, &count), "count", THREE(NULL, 0, NULL));
  CHECK(talus_world_save(world, NULL) == TALUS_ERROR_INVALID);
  CHECK(talus_world_write_frame(world, NULL) == TALUS_ERROR_INVALID);
  CHECK(talus_world_write_contacts(world, NULL) == TALUS_ERROR_INVALID);
  CHECK(talus_world_write_surfaces(world, NULL) == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_step(world, 2)); /* and nothing of that did it any harm */
  talus_world_destroy(world);
}

TEST(calls_without_a_world_name_what_is_null) {
  const talus_world_def def = talus_world_def_default();
  const talus_shape_def shape = talus_shape_def_default();
  talus_world *world;
  talus_shape_info info;
  talus_points points;
  talus_mesh mesh = {0};
  talus_mesh_clump clump;
  talus_table table;
  talus_broad_kind kind;
  talus_ellipsoid_method method;
  REFUSED(talus_world_create(NULL, &world), "def");
  REFUSED(talus_world_create(&def, NULL), "world");
  REFUSED(talus_world_load("x", NULL), "world");
  CHECK(talus_world_load(NULL, &world) == TALUS_ERROR_INVALID);
  REFUSED(talus_shape_measure(NULL, &info), "def");
  REFUSED(talus_shape_measure(&shape, NULL), "info");
  REFUSED(talus_points_read(NULL, 1, &points), "path");
  REFUSED(talus_points_read("x", 1, NULL), "points");
  REFUSED(talus_mesh_read(NULL, 1, &mesh), "path");
  REFUSED(talus_mesh_read("x", 1, NULL), "mesh");
  REFUSED(talus_mesh_make(NULL, &mesh), "recipe");
  REFUSED(talus_mesh_write(&mesh, NULL), "path");
  REFUSED(talus_mesh_measure(&mesh, NULL), "info");
  REFUSED(talus_mesh_find_crossings(&mesh, NULL, NULL), "count");
  REFUSED(talus_mesh_repair(&mesh, NULL, NULL), "def");
  REFUSED(talus_mesh_to_clump(&mesh, 1, NULL), "clump");
  CHECK(talus_mesh_to_clump(&mesh, 1, &clump) == TALUS_ERROR_INVALID); /* no triangles */
  REFUSED(talus_table_read(NULL, &table), "path");
  REFUSED(talus_table_read("x", NULL), "table");
  REFUSED(talus_broad_by_name(NULL, &kind), "name");
  REFUSED(talus_broad_by_name("bins", NULL), "kind");
  REFUSED(talus_ellipsoid_method_by_name(NULL, &method), "name");
  REFUSED(talus_ellipsoid_method_by_name("opm", NULL), "method");
  talus_points_free(NULL);
  talus_mesh_free(NULL);
  talus_mesh_clump_free(NULL);
  talus_table_free(NULL);
  talus_memory(NULL, NULL);
}

TEST(detection_names_what_is_null) {
  const talus_detect_bodies none = {0}, bare = {.count = 3};
  talus_detector *detector;
  talus_body_table table;
  talus_pairs pairs;
  talus_contacts contacts;
  REFUSED(talus_body_table_read(NULL, &table), "path");
  REFUSED(talus_body_table_read("x", NULL), "table");
  REFUSED(talus_body_table_parse(NULL, 3, "x", &table), "text");
  REFUSED(talus_body_table_parse("", 0, NULL, &table), "path");
  REFUSED(talus_body_table_parse("", 0, "x", NULL), "table");
  REFUSED(talus_find_pairs(NULL, NULL, &pairs, NULL), "bodies");
  REFUSED(talus_find_pairs(NULL, &none, NULL, NULL), "pairs");
  REFUSED(talus_find_box_pairs(NULL, NULL, 3, &pairs, NULL), "boxes");
  REFUSED(talus_find_box_pairs(NULL, NULL, 0, NULL, NULL), "pairs");
  REFUSED(talus_find_contacts(NULL, NULL, &contacts, NULL), "bodies");
  REFUSED(talus_find_contacts(NULL, &none, NULL, NULL), "contacts");
  CHECK(talus_find_pairs(NULL, &bare, &pairs, NULL) == TALUS_ERROR_INVALID);
  CHECK(talus_find_contacts(NULL, &bare, &contacts, NULL) == TALUS_ERROR_INVALID);
  REFUSED(talus_detector_create(NULL, NULL), "detector");
  REFUSED(talus_detector_find_pairs(NULL, &none, &pairs, NULL), "detector");
  REFUSED(talus_detector_find_box_pairs(NULL, NULL, 0, &pairs, NULL), "detector");
  REFUSED(talus_detector_find_contacts(NULL, &none, &contacts, NULL), "detector");
  CHECK_OK(talus_detector_create(NULL, &detector));
  REFUSED(talus_detector_find_pairs(detector, NULL, &pairs, NULL), "bodies");
  REFUSED(talus_detector_find_pairs(detector, &none, NULL, NULL), "pairs");
  REFUSED(talus_detector_find_box_pairs(detector, NULL, 1, &pairs, NULL), "boxes");
  REFUSED(talus_detector_find_box_pairs(detector, NULL, 0, NULL, NULL), "pairs");
  REFUSED(talus_detector_find_contacts(detector, NULL, &contacts, NULL), "bodies");
  REFUSED(talus_detector_find_contacts(detector, &none, NULL, NULL), "contacts");
  talus_detector_destroy(detector);
  talus_detector_destroy(NULL);
  talus_body_table_free(NULL);
  talus_pairs_free(NULL);
  talus_contacts_free(NULL);
}

TEST(scenes_and_runs_name_what_is_null) {
  if (!strstr(talus_features(), "yaml"))
    SKIP("built without yaml");
  static const char text[] = "bodies: []\n";
  const char *const gap[] = {"step.dt=1e-3", NULL};
  const talus_run_def def = talus_run_def_default();
  const char *name;
  talus_scene *scene;
  talus_world *world;
  talus_scene_info info;
  char *written;
  REFUSED(talus_scene_load(NULL, NULL, 0, &scene, NULL), "path");
  REFUSED(talus_scene_load("pour", NULL, 0, NULL, NULL), "scene");
  REFUSED(talus_scene_load("pour", NULL, 2, &scene, NULL), "settings");
  CHECK(talus_scene_load("pour", gap, 2, &scene, NULL) == TALUS_ERROR_INVALID);
  REFUSED(talus_scene_parse(NULL, 3, NULL, NULL, NULL, 0, &scene, NULL), "text");
  REFUSED(talus_scene_parse(text, sizeof text - 1, NULL, NULL, NULL, 0, NULL, NULL), "scene");
  REFUSED(talus_scene_parse(text, sizeof text - 1, NULL, NULL, NULL, 1, &scene, NULL), "settings");
  CHECK_OK(talus_scene_load("pour", NULL, 0, &scene, NULL));
  REFUSED(talus_scene_write(NULL, &written), "scene");
  REFUSED(talus_scene_write(scene, NULL), "text");
  REFUSED(talus_scene_build(NULL, 1, NULL, NULL, &world), "scene");
  REFUSED(talus_scene_build(scene, 1, NULL, NULL, NULL), "world");
  REFUSED(talus_scene_build_shapes(NULL, &world), "scene");
  REFUSED(talus_scene_build_shapes(scene, NULL), "world");
  REFUSED(talus_scene_schema(NULL), "text");
  if (strstr(talus_features(), "hdf5")) {
    REFUSED(talus_run(NULL, &def, NULL), "scene");
    REFUSED(talus_run(scene, NULL, NULL), "def");
    CHECK(talus_run(scene, &def, NULL) == TALUS_ERROR_INVALID); /* no folder */
  }
  talus_scene_get_info(scene, NULL);
  talus_scene_get_info(NULL, &info);
  CHECK(info.steps == 0 && !info.title);
  talus_builtin_get(talus_builtin_count(), &name, NULL, NULL);
  CHECK(!name && strstr(talus_last_error(), "no built-in scene"));
  talus_scene_free(scene);
  talus_scene_free(NULL);
  talus_text_free(NULL);
}

/* ---- views ----------------------------------------------------------------------------------- */

TEST(view_is_unmapped_once_and_only_where_it_was_mapped) {
  talus_world *world = make_world(NULL, NULL), *other = make_world(NULL, NULL);
  fill_world(world, 3), fill_world(other, 3);
  talus_view first, second, copy, foreign, never;
  memset(&never, 0x55, sizeof never);
  CHECK_OK(talus_view_map(world, TALUS_FIELD_VELOCITY, TALUS_READ | TALUS_WRITE, &first));
  CHECK_OK(talus_view_map(world, TALUS_FIELD_VELOCITY, TALUS_READ | TALUS_WRITE, &second));
  CHECK_OK(talus_view_map(other, TALUS_FIELD_VELOCITY, TALUS_READ | TALUS_WRITE, &foreign));
  copy = first;
  CHECK(talus_view_unmap(world, &foreign) == TALUS_ERROR_STALE);
  CHECK(talus_view_unmap(world, &never) == TALUS_ERROR_STALE);
  CHECK(strstr(talus_last_error(), "another world"));
  CHECK_OK(talus_view_unmap(world, &first));
  CHECK(talus_view_unmap(world, &first) == TALUS_ERROR_STALE);
  CHECK(talus_view_unmap(world, &copy) == TALUS_ERROR_STALE); /* `second` is still mapped */
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_BUSY);
  second.data = NULL, second.rows = 1u << 30, second.columns = 99; /* nobody asks what it says */
  CHECK_OK(talus_view_unmap(world, &second));
  CHECK_OK(talus_world_step(world, 1));
  CHECK(talus_world_step(other, 1) == TALUS_ERROR_BUSY);
  CHECK_OK(talus_view_unmap(other, &foreign));
  CHECK_OK(talus_world_step(other, 1));
  talus_world_destroy(world);
  talus_world_destroy(other);
}

TEST(view_of_a_world_without_bodies_is_mapped_and_unmapped_like_any_other) {
  talus_world *world = make_world(NULL, NULL);
  talus_view view;
  CHECK_OK(talus_view_map(world, TALUS_FIELD_POSITION, TALUS_READ | TALUS_WRITE, &view));
  CHECK_OK(talus_view_unmap(world, &view));
  CHECK(talus_view_unmap(world, &view) == TALUS_ERROR_STALE);
  talus_world_destroy(world);
}

/* ---- from a log callback --------------------------------------------------------------------- */

typedef struct meddler {
  talus_world *world;
  int told, refused, tried;
  size_t bodies;
} meddler;

static void try_one(meddler *m, talus_status status) {
  m->tried++;
  m->refused += status == TALUS_ERROR_BUSY && strstr(talus_last_error(), "log callback") != NULL;
}

static void meddle(void *context, int level, const char *line) {
  meddler *m = context;
  (void)level, (void)line;
  m->told++;
  if (!m->world)
    return;
  const talus_body_def body = talus_body_def_default();
  const talus_vec3 v = {0, 0, 1};
  talus_body first;
  talus_report report;
  talus_view view;
  if (talus_world_body_at(m->world, 0, &first) != TALUS_OK) /* looking is fine */
    return;
  m->bodies = talus_world_body_count(m->world);
  try_one(m, talus_world_add_body(m->world, &body, NULL));
  try_one(m, talus_world_remove_body(m->world, first));
  try_one(m, talus_body_set_velocity(m->world, first, v, v));
  try_one(m, talus_body_set_force(m->world, first, v, v));
  try_one(m, talus_body_wake(m->world, first));
  try_one(m, talus_world_set_gravity(m->world, v));
  try_one(m, talus_world_set_strict(m->world, 0));
  try_one(m, talus_world_step(m->world, 1));
  try_one(m, talus_world_report(m->world, &report));
  try_one(m, talus_view_map(m->world, TALUS_FIELD_SPIN, TALUS_WRITE, &view));
  talus_world_destroy(m->world);
}

/* The choice of the broad phase is told in the middle of the first step. */
TEST(world_cannot_be_changed_from_its_log_callback) {
  meddler m = {0};
  talus_world *world = make_world(meddle, &m), *calm = make_world(NULL, NULL);
  fill_world(world, 200), fill_world(calm, 200);
  m.world = world;
  CHECK_OK(talus_world_step(world, 20));
  CHECK_OK(talus_world_step(calm, 20));
  CHECK_MSG(m.told > 0 && m.tried >= 10 && m.refused == m.tried, "%d lines, %d of %d refused",
            m.told, m.refused, m.tried);
  CHECK(m.bodies == 201);
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(calm));
  m.world = NULL;
  CHECK_OK(talus_world_set_strict(world, 0)); /* and afterwards it can */
  talus_world_destroy(world);
  talus_world_destroy(calm);
}

/* ---- absurd worlds --------------------------------------------------------------------------- */

static talus_world *pile(int n, double spread, uint32_t lock_group, int threads) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.threads = threads;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def stone = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  CHECK_OK(talus_world_add_material(world, &stone, &body.material));
  if (lock_group) {
    CHECK_OK(talus_world_group(world, "ghosts", &body.group));
    CHECK_OK(talus_world_ignore_groups(world, body.group, body.group));
  }
  for (int i = 0; i < n; ++i) {
    body.position.x = 3.01 + spread * i;
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  return world;
}

/* 3,000 took 12 s a step, 100,000 all memory. */
TEST(bodies_that_all_lie_at_one_place_are_refused_by_name) {
  talus_world *world = pile(3000, 0, 0, 2);
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "body 1 and 2999 others lie at one place, (3.01, 0, 0)"),
            "%s", talus_last_error());
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID); /* and again */
  CHECK_EQ_U64(talus_world_steps(world), 0);
  talus_world_destroy(world);
  world = pile(2000, 1e-6, 0, 1); /* nearly at one place */
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  talus_world_destroy(world);
  world = pile(2000, 0, 1, 2); /* they do not know of each other */
  CHECK_OK(talus_world_step(world, 1));
  talus_world_destroy(world);
  world = pile(2000, 1.01, 0, 2); /* side by side */
  CHECK_OK(talus_world_step(world, 1));
  talus_view view;
  CHECK_OK(talus_view_map(world, TALUS_FIELD_POSITION, TALUS_WRITE, &view));
  memset(view.data, 0, view.rows * 3 * sizeof(double));
  CHECK_OK(talus_view_unmap(world, &view));
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_INVALID);
  talus_world_destroy(world);
}

TEST(absurd_rate_is_refused) {
  talus_world *world = make_world(NULL, NULL);
  fill_world(world, 1);
  talus_emitter_def def = talus_emitter_def_default();
  def.rate = 1e300;
  def.from = (talus_region){.kind = TALUS_REGION_SPHERE, .at = {0, 0, 5}, .radius = 1};
  CHECK(talus_world_add_emitter(world, &def) == TALUS_ERROR_INVALID);
  CHECK_MSG(strstr(talus_last_error(), "can be kept"), "%s", talus_last_error());
  talus_world_destroy(world);
}

/* ---- two threads ----------------------------------------------------------------------------- */

typedef struct job {
  int bodies;
  uint64_t hash;
  talus_status status;
} job;

static void *work(void *context) {
  job *j = context;
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  def.threads = 2;
  j->status = talus_world_create(&def, &world);
  if (j->status != TALUS_OK)
    return NULL;
  fill_world(world, j->bodies);
  j->status = talus_world_step(world, 30);
  (void)talus_world_step(NULL, 1); /* a message of its own for each thread */
  j->hash = talus_world_hash(world);
  talus_world_destroy(world);
  return NULL;
}

/* Each with two threads of its own; `make tsan` looks for races between them. */
TEST(two_worlds_in_two_threads_do_not_know_of_each_other) {
  job alone[2] = {{.bodies = 150}, {.bodies = 260}}, beside[2] = {{.bodies = 150}, {.bodies = 260}};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    work(&alone[i]);
  for (int i = 0; i < 2; ++i)
    CHECK(pthread_create(&threads[i], NULL, work, &beside[i]) == 0);
  for (int i = 0; i < 2; ++i)
    CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < 2; ++i) {
    CHECK(alone[i].status == TALUS_OK && beside[i].status == TALUS_OK);
    CHECK_EQ_U64(beside[i].hash, alone[i].hash);
  }
}

TEST_MAIN()
