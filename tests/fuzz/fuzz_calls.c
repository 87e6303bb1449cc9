/* Any sequence of calls of the library on one world, with any numbers: each returns a status and,
 * where it fails, a message; after a step that went well all is finite; what is saved is loaded to
 * the same state.
 *
 * A byte says which call, those behind it its numbers. Left out is what takes time by itself:
 * emitters of more than a few bodies a step, more than a few iterations. */
#include "fuzz.h"

#include <math.h>
#include <unistd.h>

#include <talus/talus.h>

#define MOST_BODIES 40
#define MOST_CALLS  60

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef struct source {
  const uint8_t *data;
  size_t left;
} source;

static unsigned take(source *from) {
  if (from->left == 0)
    return 0;
  from->left--;
  return *from->data++;
}

/* Mostly such as make sense. */
static double number(source *from) {
  static const double odd[] = {0,     -0.0,   1,     -1,    NAN,    INFINITY, -INFINITY, 1e300,
                               -1e30, 1e-300, 1e-30, 1e18,  -1e-12, 1e-6,     1e6,       3.3e38,
                               1e30,  0.5,    2,     1e-40, 1e9,    -0.5,     0.1,       0.01};
  const unsigned byte = take(from);
  if (byte >= 232)
    return odd[byte - 232];
  return ((int)byte - 80) * 0.02;
}

static double positive(source *from) {
  const unsigned byte = take(from);
  return byte < 240 ? 0.02 + 0.01 * (byte % 64) : number(from);
}

static talus_dvec3 place(source *from) {
  const double x = number(from), y = number(from), z = number(from);
  return (talus_dvec3){x, y, z};
}

static talus_vec3 vector(source *from) {
  const talus_dvec3 v = place(from);
  return (talus_vec3){(talus_real)v.x, (talus_real)v.y, (talus_real)v.z};
}

static talus_quat turn(source *from) {
  const talus_vec3 v = vector(from);
  return (talus_quat){1, v.x, v.y, v.z};
}

/* ---- the world ------------------------------------------------------------------------------- */

typedef struct bench {
  talus_world *world;
  talus_body bodies[256]; /* handles given out, also of bodies that are gone */
  unsigned count;
  talus_joint joint;
  talus_view view;
  bool is_mapped;
  double dt;
} bench;

static talus_body some_body(const bench *b, source *from) {
  const unsigned byte = take(from);
  if (byte >= 250 || b->count == 0)
    return (talus_body){byte, take(from)};
  return b->bodies[byte % b->count];
}

static talus_status make_world(source *from, bench *b) {
  talus_world_def def = talus_world_def_default();
  const unsigned byte = take(from), more = take(from);
  def.threads = 1;
  def.solve.kind = (talus_solve_kind)(byte % 4);
  def.solve.law = (talus_spring_law)(byte / 4 % 4);
  def.solve.method = (talus_ccp_method)(byte / 16 % 5);
  def.solve.iterations = (int)(more % 12);
  def.solve.iterations_max = def.solve.iterations;
  def.broad = (talus_broad_kind)(more / 12 % 9);
  if (take(from) % 4 == 0)
    def.gravity = vector(from);
  if (take(from) % 4 == 0)
    def.dt = positive(from);
  if (take(from) % 4 == 0)
    def.margin = number(from), def.skin = number(from), def.sleep.speed = number(from);
  if (take(from) % 4 == 0) {
    def.domain.enabled = true;
    def.domain.box = (talus_box){place(from), place(from)};
    const unsigned flags = take(from);
    def.domain.periodic[0] = flags & 1, def.domain.periodic[1] = flags & 2;
    def.domain.outside = (talus_outside)(flags / 4 % 3);
  }
  b->dt = def.dt;
  return talus_world_create(&def, &b->world);
}

static talus_status add_shape(source *from, bench *b) {
  static const double points[] = {0, 0, 0, 0.1, 0.2, 0, 0, 0.1, 0, 0.2, 0, 0.1, 0, 0, 0.2, 0.1};
  talus_shape_def def = talus_shape_def_default();
  talus_shape shape;
  def.kind = (talus_shape_kind)(take(from) % (TALUS_SHAPE_KINDS + 1));
  for (int i = 0; i < 5; ++i)
    def.size[i] = positive(from);
  def.open = take(from);
  def.points = points;
  def.point_count = take(from) % (def.kind == TALUS_HULL ? 6 : 5);
  return talus_world_add_shape(b->world, &def, &shape);
}

static talus_status add_material(source *from, bench *b) {
  talus_material_def def = talus_material_def_default();
  talus_material material;
  const unsigned flags = take(from);
  if (flags & 1)
    def.density = positive(from);
  if (flags & 2)
    def.friction = number(from), def.restitution = number(from);
  if (flags & 4)
    def.rolling = number(from), def.spinning = number(from), def.cohesion = number(from);
  if (flags & 8)
    def.stiffness = positive(from), def.young = positive(from), def.poisson = number(from);
  return talus_world_add_material(b->world, &def, &material);
}

static talus_body_def describe(source *from) {
  static const char *const names[] = {NULL, NULL, NULL, "a", "b", ""};
  talus_body_def def = talus_body_def_default();
  const unsigned byte = take(from), flags = take(from);
  def.name = names[byte % 6];
  def.kind = (talus_body_kind)(byte / 6 % 4);
  def.shape.index = byte / 24 % 4;
  def.material.index = byte / 96 % 3;
  def.position = place(from);
  if (flags & 1)
    def.rotation = turn(from), def.scale = positive(from);
  if (flags & 2)
    def.velocity = vector(from), def.spin = vector(from);
  if (flags & 4)
    def.mass = positive(from), def.lock = take(from), def.group = take(from) % 4;
  if (flags & 8)
    def.force = vector(from), def.torque = vector(from);
  if (flags & 16)
    def.motion.velocity = vector(from), def.motion.amplitude = vector(from),
    def.motion.frequency = number(from), def.motion.spin = vector(from);
  return def;
}

static talus_status add_body(source *from, bench *b) {
  const talus_body_def def = describe(from);
  talus_body body;
  if (talus_world_body_count(b->world) >= MOST_BODIES)
    return TALUS_OK;
  const talus_status status = talus_world_add_body(b->world, &def, &body);
  if (status == TALUS_OK)
    b->bodies[b->count++ % 256] = body;
  b->count = b->count < 256 ? b->count : 256;
  return status;
}

static talus_status add_joint(source *from, bench *b) {
  talus_joint_def def = talus_joint_def_default();
  const unsigned flags = take(from);
  def.kind = (talus_joint_kind)(take(from) % 14);
  def.a = some_body(b, from);
  if (flags & 1)
    def.b = some_body(b, from);
  def.at = place(from);
  def.to = flags & 2 ? place(from) : def.at;
  def.assemble = flags & 4;
  if (flags & 8)
    def.low = number(from), def.high = number(from), def.restitution = number(from);
  if (flags & 16)
    def.stiffness = number(from), def.damping = number(from), def.length = number(from);
  if (flags & 32)
    def.motor = (talus_motor_kind)(take(from) % 4), def.motor_target = number(from),
    def.motor_max = positive(from);
  if (flags & 64)
    def.axis = vector(from), def.ratio = number(from), def.break_force = number(from);
  return talus_world_add_joint(b->world, &def, &b->joint);
}

static talus_region some_region(source *from) {
  return (talus_region){.kind = (talus_region_kind)(take(from) % 4),
                        .box = {place(from), place(from)},
                        .at = place(from),
                        .axis = vector(from),
                        .radius = positive(from),
                        .length = positive(from)};
}

static talus_status add_flow(source *from, bench *b) {
  const unsigned byte = take(from);
  const talus_region region = some_region(from);
  if (byte % 4 == 0)
    return talus_world_add_sink(b->world, "drain", &region);
  if (byte % 4 == 1) {
    const talus_probe_def def = {.name = "probe",
                                 .on_body = byte & 8,
                                 .body = some_body(b, from),
                                 .region = region,
                                 .record = take(from)};
    return talus_world_add_probe(b->world, &def, NULL);
  }
  if (byte % 4 == 2) {
    talus_fill_def def = talus_fill_def_default();
    def.body = describe(from);
    def.in = region;
    def.count = take(from) % 8;
    def.allow_fewer = byte & 8;
    return talus_world_body_count(b->world) < MOST_BODIES ? talus_world_fill(b->world, &def, NULL)
                                                          : TALUS_OK;
  }
  talus_emitter_def def = talus_emitter_def_default();
  def.body = describe(from);
  def.from = region;
  def.rate = 3 / (b->dt > 0 ? b->dt : 1);
  return talus_world_add_emitter(b->world, &def);
}

/* ---- steps and files ------------------------------------------------------------------------- */

static void promise_finite(bench *b) {
  talus_view view;
  if (b->is_mapped || talus_view_map(b->world, TALUS_FIELD_POSITION, TALUS_READ, &view) != TALUS_OK)
    return;
  const double *x = view.data;
  for (size_t i = 0; i < 3 * view.rows; ++i)
    PROMISE(isfinite(x[i]), "coordinate %zu is %g after a step", i, x[i]);
  PROMISE(talus_view_unmap(b->world, &view) == TALUS_OK, "%s", talus_last_error());
}

static talus_status step(source *from, bench *b) {
  if (talus_world_body_count(b->world) > 4 * MOST_BODIES)
    return TALUS_OK;
  const talus_status status = talus_world_step(b->world, take(from) % 4);
  if (status == TALUS_OK)
    promise_finite(b);
  return status;
}

static talus_status save(bench *b) {
  char path[64];
  snprintf(path, sizeof path, "fuzz-calls-%ld.hdf", (long)getpid());
  const talus_status status = talus_world_save(b->world, path);
  talus_world *again = NULL;
  if (status == TALUS_OK) {
    PROMISE(talus_world_load(path, &again) == TALUS_OK, "%s", talus_last_error());
    PROMISE(talus_world_hash(again) == talus_world_hash(b->world), "another state is loaded");
  }
  talus_world_destroy(again);
  remove(path);
  return status;
}

static talus_status map(source *from, bench *b) {
  const unsigned byte = take(from);
  if (b->is_mapped) {
    const talus_status status = talus_view_unmap(b->world, &b->view);
    b->is_mapped = status != TALUS_OK && b->view.data != NULL;
    return status;
  }
  const int access = (int)(byte / 16 % 4);
  const talus_status status =
      talus_view_map(b->world, (talus_field)(byte % (TALUS_FIELDS + 1)), access, &b->view);
  b->is_mapped = status == TALUS_OK;
  if (b->is_mapped && (access & TALUS_WRITE) && b->view.scalar == TALUS_FLOAT64 && b->view.rows > 0)
    ((double *)b->view.data)[byte % (3 * b->view.rows)] = number(from);
  return status;
}

static talus_status look(source *from, bench *b) {
  talus_report report;
  talus_body_info info;
  talus_joint_info joint;
  talus_contact contacts[8];
  size_t n;
  const talus_body body = some_body(b, from);
  (void)talus_world_get_body(b->world, body, &info);
  (void)talus_world_get_joint(b->world, b->joint, &joint);
  (void)talus_world_hash(b->world);
  (void)talus_world_contacts(b->world, contacts, 8, &n);
  return talus_world_report(b->world, &report);
}

static talus_status set(source *from, bench *b) {
  const talus_body body = some_body(b, from);
  switch (take(from) % 8) {
  case 0:
    return talus_body_set_pose(b->world, body, place(from), turn(from));
  case 1:
    return talus_body_set_velocity(b->world, body, vector(from), vector(from));
  case 2:
    return talus_body_set_force(b->world, body, vector(from), vector(from));
  case 3:
    return talus_body_wake(b->world, body);
  case 4:
    return talus_world_set_gravity(b->world, vector(from));
  case 5:
    return talus_world_set_sleep(b->world, (talus_sleep_def){number(from), number(from)});
  case 6:
    return talus_joint_set_motor(b->world, b->joint, number(from), number(from));
  default:
    return talus_world_set_material_pair(b->world, (talus_material){take(from) % 4},
                                         (talus_material){take(from) % 4}, number(from),
                                         number(from));
  }
}

static talus_status call(source *from, bench *b) {
  switch (take(from) % 16) {
  case 0:
    return add_shape(from, b);
  case 1:
    return add_material(from, b);
  case 2:
  case 3:
  case 4:
    return add_body(from, b);
  case 5:
    return talus_world_remove_body(b->world, some_body(b, from));
  case 6:
    return add_joint(from, b);
  case 7:
    return talus_world_remove_joint(b->world, b->joint);
  case 8:
    return add_flow(from, b);
  case 9:
    return set(from, b);
  case 10:
    return map(from, b);
  case 11:
    return look(from, b);
  case 12:
    return talus_world_assemble(b->world, NULL);
  case 13:
    return save(b);
  default:
    return step(from, b);
  }
}

static void promise_told(talus_status status) {
  if (status == TALUS_OK)
    return;
  PROMISE(talus_last_error()[0] != '\0', "status %d without a word", (int)status);
  for (const unsigned char *c = (const unsigned char *)talus_last_error(); *c; ++c)
    PROMISE(*c >= ' ' || *c == '\n', "byte %u in a message", *c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  source from = {data, size};
  bench b = {0};
  talus_status status = make_world(&from, &b);
  promise_told(status);
  PROMISE((status == TALUS_OK) == (b.world != NULL), "a world, or none");
  if (status != TALUS_OK)
    return 0;
  talus_shape shape;
  talus_material material;
  const talus_shape_def ball = talus_shape_def_default();
  const talus_material_def stone = talus_material_def_default();
  PROMISE(talus_world_add_shape(b.world, &ball, &shape) == TALUS_OK &&
              talus_world_add_material(b.world, &stone, &material) == TALUS_OK,
          "%s", talus_last_error());
  for (int i = 0; i < MOST_CALLS && from.left > 0; ++i)
    promise_told(call(&from, &b));
  talus_world_destroy(b.world);
  return 0;
}
