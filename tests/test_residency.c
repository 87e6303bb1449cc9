/* Where data is: sets of fields, who is fresh and who is lost, and that nobody touches rows without
 * asking: worlds whose rows are taken away after every call, and in the middle of every step, give
 * the same bits and files. */
#include "far_memory.h"
#include "penalty_heap.h"
#include "scene/from.h"
#include "scene/warn.h"

#include <talus/scene.h>
#include <unistd.h>

/* ---- the rule -------------------------------------------------------------------------------- */

TEST(sets_of_fields_follow_the_lists) {
  tl_field_set all = 0;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    all |= tl_field_bit(&tl_state_fields[i]);
  CHECK_EQ_U64(all, TL_THE_STATE);
  for (int i = 0; i < TL_PROPERTY_FIELD_COUNT; ++i) {
    CHECK(!(all & tl_field_bit(&tl_property_fields[i])));
    all |= tl_field_bit(&tl_property_fields[i]);
  }
  CHECK_EQ_U64(all, TL_THE_BODIES);
  CHECK(!(TL_THE_BODIES & TL_THE_CONTACTS));
  CHECK_EQ_U64(TL_THE_BODIES | TL_THE_CONTACTS | TL_THE(joints) | TL_THE(tables), TL_THE_WHOLE);
  CHECK(strcmp(tl_contact_records[0].name, "contacts") == 0);
  for (int r = 1; r < TL_CONTACT_RECORD_COUNT; ++r)
    CHECK(TL_THE(contacts) << r & TL_THE_CONTACTS & ~TL_THE(hits));
  const tl_field_set device = tl_fields_with(TL_DEVICE);
  CHECK(device & TL_THE(position) && device & TL_THE(springs) && device & TL_THE(mass));
  CHECK(!(device & TL_THE(handle)));
  CHECK(tl_fields_with(TL_HASHED) == (TL_THE_POSE | TL_THE_MOTION));
}

typedef struct note_book {
  tl_field_set asked, written; /* of all calls */
  tl_field_set refuses;        /* cannot be brought */
  int gone, ended;
} note_book;

static talus_status book_bring(void *context, tl_field_set *fields) {
  note_book *book = context;
  book->asked |= *fields;
  const tl_field_set not = *fields & book->refuses;
  *fields &= ~book->refuses;
  return not ? tl_fail(TALUS_ERROR_MEMORY, "no") : TALUS_OK;
}
static tl_field_set book_written(void *context, tl_field_set fields) {
  note_book *book = context;
  book->written |= fields;
  return fields;
}
static void book_let_go(void *context) { ((note_book *)context)->gone++; }
static void book_end(void *context) { ((note_book *)context)->ended++; }
static const tl_holder book_holder = {"book", book_bring, book_written, book_let_go, book_end};

TEST(a_field_is_fresh_at_home_or_elsewhere_or_in_both_places) {
  tl_residency where = {0};
  note_book book = {0};
  const tl_field_set x = TL_THE(position), v = TL_THE(velocity);
  CHECK_OK(tl_need(&where, TL_THE_WHOLE, TL_READ | TL_WRITE)); /* all is at home */
  tl_hold(&where, &book_holder, &book);
  tl_copied(&where, x | v);
  CHECK(tl_is_home(&where, TL_THE_WHOLE));
  CHECK_OK(tl_need(&where, x, TL_READ)); /* in both places: nothing to do */
  CHECK(book.asked == 0 && where.away == (x | v));
  tl_made_away(&where, x);
  CHECK(!tl_is_home(&where, x) && tl_is_home(&where, v));
  CHECK_OK(tl_need(&where, x | v, TL_READ));
  CHECK(book.asked == x && tl_is_home(&where, x) && where.away == (x | v));
  CHECK_OK(tl_need(&where, x, TL_READ | TL_WRITE)); /* at home alone */
  CHECK(book.written == x && where.away == v && book.gone == 0);
  tl_made_home(&where, v);
  CHECK(where.away == 0 && book.gone == 1);
  tl_residency_free(&where);
  CHECK(book.ended == 1 && !where.holder);
}

TEST(what_cannot_be_brought_stays_and_what_goes_without_it_is_lost) {
  tl_residency where = {0};
  note_book book = {.refuses = TL_THE(contacts)};
  const tl_field_set x = TL_THE(position), c = TL_THE(contacts);
  tl_hold(&where, &book_holder, &book);
  tl_made_away(&where, x | c);
  CHECK(tl_need(&where, x | c, TL_READ) == TALUS_ERROR_MEMORY);
  CHECK(tl_is_home(&where, x) && !tl_is_home(&where, c) && !tl_lost(&where));
  CHECK(tl_need(&where, c, TL_WRITE) == TALUS_ERROR_MEMORY); /* and nothing has changed */
  CHECK(where.away == (x | c));
  CHECK(tl_let_go(&where) == TALUS_ERROR_MEMORY && where.away == (x | c));
  tl_lose(&where, TL_THE_WHOLE);
  CHECK(tl_lost(&where) == c && book.gone == 1);
  CHECK(tl_need(&where, c, TL_READ) == TALUS_ERROR_MEMORY);
  CHECK_MSG(strstr(talus_last_error(), "contacts of the last step are lost"), "%s",
            talus_last_error());
  CHECK_OK(tl_need(&where, c, TL_READ | TL_WRITE | TL_OR_NONE));
  CHECK(tl_lost(&where) == c); /* until it is made anew */
  tl_made_home(&where, c);
  CHECK(!tl_lost(&where));
  CHECK_OK(tl_need(&where, TL_THE_WHOLE, TL_READ));
  tl_residency_free(&where);
}

/* ---- what calls tell ------------------------------------------------------------------------- */

/* Takes rows away after a call, where there is a far memory. */
static far_memory *takes;
static void take(void) {
  if (takes)
    far_take(takes);
}
#define CALL(call)                                                                                 \
  do {                                                                                             \
    CHECK_OK(call);                                                                                \
    take();                                                                                        \
  } while (0)

/* Everything that a world says, byte by byte. */
typedef struct diary {
  TL_ARRAY(unsigned char) text;
} diary;

static void note(diary *d, const void *data, size_t bytes) {
  const size_t at = d->text.count;
  CHECK_OK(tl_array_resize(&d->text, at + bytes));
  if (bytes > 0)
    memcpy(d->text.data + at, data, bytes);
}
#define NOTE(d, value) note((d), &(value), sizeof(value))

static void note_report(diary *d, talus_world *world) {
  const talus_report r = report_of(world);
  take();
  const double numbers[] = {r.kinetic_energy,      r.potential_energy,    r.rotational_energy,
                            r.momentum[0],         r.momentum[1],         r.momentum[2],
                            r.angular_momentum[0], r.angular_momentum[1], r.angular_momentum[2],
                            r.spring_energy,       r.joint_work,          r.joint_drift,
                            r.joint_force,         r.joint_torque,        r.contact_work,
                            r.overlap_max,         r.flow_energy,         r.elastic_energy};
  const uint64_t counts[] = {r.bodies,  r.pairs,   r.contacts, r.contacts_near, r.asleep,
                             r.emitted, r.removed, r.sunk,     r.worst_body};
  NOTE(d, numbers);
  NOTE(d, counts);
  const uint64_t hash = talus_world_hash(world);
  NOTE(d, hash);
}

static void note_contacts(diary *d, const talus_world *world) {
  size_t n;
  CALL(talus_world_contacts(world, NULL, 0, &n));
  talus_contact *all = calloc(n + 1, sizeof *all);
  CHECK(all);
  CALL(talus_world_contacts(world, all, n, &n));
  for (size_t i = 0; i < n; ++i) {
    NOTE(d, all[i].body_a);
    NOTE(d, all[i].body_b);
    NOTE(d, all[i].gap);
    NOTE(d, all[i].impulse);
  }
  free(all);
}

static void note_body(diary *d, const talus_world *world, size_t slot) {
  talus_body body, same;
  talus_body_info info;
  CALL(talus_world_body_at(world, slot, &body));
  CALL(talus_world_get_body(world, body, &info));
  NOTE(d, info.uid);
  NOTE(d, info.position);
  NOTE(d, info.rotation);
  NOTE(d, info.spin);
  NOTE(d, info.mass);
  NOTE(d, info.inertia);
  NOTE(d, info.asleep);
  if (!info.name)
    return;
  note(d, info.name, strlen(info.name));
  CALL(talus_world_find_body(world, info.name, &same));
  CHECK(same.index == body.index && same.generation == body.generation);
}

static void note_joints(diary *d, const talus_world *world) {
  for (size_t i = 0; i < talus_world_joint_count(world); ++i) {
    talus_joint joint;
    talus_joint_info info;
    CALL(talus_world_joint_at(world, i, &joint));
    CALL(talus_world_get_joint(world, joint, &info));
    NOTE(d, info.body_a);
    NOTE(d, info.anchor);
    NOTE(d, info.value);
    NOTE(d, info.force);
    NOTE(d, info.broken);
  }
}

#if TALUS_HAVE_HDF5
static void note_file(diary *d, const char *path) {
  FILE *file = fopen(path, "rb");
  unsigned char some[4096];
  CHECK(file);
  for (size_t n; (n = fread(some, 1, sizeof some, file)) > 0;)
    note(d, some, n);
  fclose(file);
  unlink(path);
}

/* Wall clocks are no part of a result. */
static void stop_clocks(talus_world *world) {
  memset(world->wall, 0, sizeof world->wall);
  world->last.wall_broad = world->last.wall_narrow = 0;
  world->last.wall_solve = world->last.wall_step = 0;
}

static void note_files(diary *d, talus_world *world, int what) {
  talus_world *loaded;
  stop_clocks(world);
  if (what == 0)
    CALL(talus_world_write_frame(world, "far.hdf"));
  else if (what == 1)
    CALL(talus_world_write_contacts(world, "far.hdf"));
  else if (what == 2)
    CALL(talus_world_write_surfaces(world, "far.hdf"));
  else {
    CALL(talus_world_save(world, "far.hdf"));
    CALL(talus_world_load("far.hdf", &loaded));
    const uint64_t hash = talus_world_hash(loaded);
    NOTE(d, hash);
    talus_world_destroy(loaded);
  }
  note_file(d, "far.hdf");
}
#else
static void note_files(diary *d, talus_world *world, int what) { (void)d, (void)world, (void)what; }
#endif

static void note_view(diary *d, talus_world *world, talus_field field, bool writes) {
  talus_view view;
  take();
  CHECK_OK(talus_view_map(world, field, writes ? TALUS_READ | TALUS_WRITE : TALUS_READ, &view));
  const size_t scalar = view.scalar == TALUS_FLOAT64 || view.scalar == TALUS_UINT64 ? 8 : 4;
  note(d, view.data, view.rows * (size_t)view.columns * scalar);
  if (writes && field == TALUS_FIELD_VELOCITY)
    for (size_t i = 0; i < view.rows; ++i)
      ((talus_vec3 *)view.data)[i].x *= TL_R(0.5);
  CALL(talus_view_unmap(world, &view));
}

/* ---- what is done by hand -------------------------------------------------------------------- */

/* A free body at or behind a slot. */
static bool find_free(const talus_world *world, size_t from, talus_body *body) {
  for (size_t i = 0; i < talus_world_body_count(world); ++i) {
    talus_body_info info;
    CHECK_OK(talus_world_body_at(world, (from + i) % talus_world_body_count(world), body));
    CHECK_OK(talus_world_get_body(world, *body, &info));
    if (info.kind != TALUS_FREE)
      continue;
    take();
    return true;
  }
  take();
  return false;
}

static void change_body(talus_world *world, int how, size_t slot) {
  talus_body body;
  talus_body_info info;
  if (!find_free(world, slot, &body))
    return;
  CALL(talus_world_get_body(world, body, &info));
  const talus_vec3 spin = {0, 1, 0}, push = {0, 0, TL_R(0.01)}, none = {0, 0, 0};
  info.position.z += 1e-4;
  if (how == 0)
    CALL(talus_body_set_velocity(world, body, info.velocity, spin));
  else if (how == 1)
    CALL(talus_body_set_pose(world, body, info.position, info.rotation));
  else if (how == 2)
    CALL(talus_body_set_force(world, body, push, none));
  else if (how == 3)
    CALL(talus_body_wake(world, body));
  else if (talus_world_joint_count(world) == 0) /* who holds others stays */
    CALL(talus_world_remove_body(world, body));
}

/* What is refused names the body. */
static void be_refused(diary *d, talus_world *world, size_t slot) {
  talus_body body;
  const talus_vec3 nowhere = {(talus_real)NAN, 0, 0};
  CALL(talus_world_body_at(world, slot % talus_world_body_count(world), &body));
  CHECK(talus_body_set_velocity(world, body, nowhere, nowhere) == TALUS_ERROR_INVALID);
  take();
  note(d, talus_last_error(), strlen(talus_last_error()));
}

static void fill(talus_world *world) {
  talus_fill_def def = talus_fill_def_default();
  uint64_t placed;
  if (talus_world_shape_count(world) == 0)
    return;
  def.body.shape.index = (uint32_t)talus_world_shape_count(world) - 1;
  def.count = 3, def.allow_fewer = true;
  def.in.kind = TALUS_REGION_BOX;
  def.in.box = (talus_box){{-0.5, -0.5, 20}, {0.5, 0.5, 25}};
  if (talus_world_fill(world, &def, &placed) != TALUS_OK) /* a shape without matter */
    CHECK(strlen(talus_last_error()) > 0);
  take();
}

static void add_body(talus_world *world) {
  talus_body_def def = talus_body_def_default();
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def material = talus_material_def_default();
  shape.size[0] = 0.04;
  CALL(talus_world_add_shape(world, &shape, &def.shape));
  CALL(talus_world_add_material(world, &material, &def.material));
  def.material.index = 0;                     /* another one may want another step */
  def.position = (talus_dvec3){0.3, 0.2, 30}; /* above everything */
  CALL(talus_world_add_body(world, &def, NULL));
}

static void change_world(talus_world *world, int how) {
  const talus_material first = {0};
  const talus_vec3 g = {0, TL_R(0.1), TL_R(-9.8)};
  uint32_t group;
  if (how == 0)
    CALL(talus_world_set_gravity(world, g));
  else if (how == 1)
    CALL(talus_world_set_material_pair(world, first, first, 0.3, 0.1));
  else if (how == 2) {
    CALL(talus_world_group(world, "nobody", &group));
    CALL(talus_world_ignore_groups(world, group, group));
  } else if (how == 3)
    add_body(world);
  else if (talus_world_joint_count(world) > 0)
    (void)talus_world_assemble(world, NULL);
}

static void change_joints(talus_world *world) {
  talus_joint joint;
  talus_joint_def def = talus_joint_def_default();
  def.kind = TALUS_JOINT_REVOLUTE;
  def.motor = TALUS_MOTOR_SPEED;
  const talus_solve_kind kind = world->model.solve.kind;
  if (kind == TALUS_SOLVE_PENALTY || kind == TALUS_SOLVE_ELASTIC || !find_free(world, 1, &def.a))
    return;
  talus_body_info info;
  CALL(talus_world_get_body(world, def.a, &info));
  def.at = def.to = info.position;
  CALL(talus_world_add_joint(world, &def, &joint));
  CALL(talus_joint_set_motor(world, joint, 0.1, 1));
  CALL(talus_world_step(world, 1));
  CALL(talus_world_remove_joint(world, joint));
}

/* One of the calls. */
enum { CALLS = 28 };
static void call(diary *d, talus_world *world, int which, size_t slot) {
  if (which < 4)
    note_files(d, world, which);
  else if (which < 9)
    change_body(world, which - 4, slot);
  else if (which < 14)
    change_world(world, which - 9);
  else if (which == 14)
    change_joints(world);
  else if (which == 15)
    note_view(d, world, TALUS_FIELD_VELOCITY, true);
  else if (which == 16)
    note_view(d, world, TALUS_FIELD_POSITION, false);
  else if (which == 17)
    note_view(d, world, TALUS_FIELD_ROTATION, true);
  else if (which == 18)
    note_view(d, world, TALUS_FIELD_UID, false);
  else if (which == 19)
    note_contacts(d, world);
  else if (which == 20)
    note_joints(d, world);
  else if (which == 21 && world->flow.probes.count > 0) {
    talus_probe_values values;
    CALL(talus_probe_read(world, 0, &values));
    NOTE(d, values);
  } else if (which == 22)
    be_refused(d, world, slot);
  else if (which == 23)
    fill(world);
  else if (which == 24)
    note_view(d, world, TALUS_FIELD_FORCE, true);
  else if (which == 25 && world->model.sleep.speed > 0)
    CALL(talus_world_set_sleep(world, world->model.sleep));
  else if (which == 26)
    note_body(d, world, slot % talus_world_body_count(world));
  else
    note_report(d, world);
}

/* ---- near and far ---------------------------------------------------------------------------- */

static size_t most_asleep; /* at any time */

/* The same calls on two worlds, of which one has all rows far away whenever nobody asks. */
static talus_report live_two_lives(talus_world *near, talus_world *far, const char *name,
                                   int rounds) {
  talus_world *const world[2] = {near, far};
  diary diaries[2] = {{{0}}, {{0}}};
  far_memory memory;
  most_asleep = 0;
  near->penalty.is_general = true; /* as it is where somebody else has the rows */
  far_begin(&memory, far);
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < 2; ++k) {
      rng r = {(uint64_t)round};
      const int which = (round * 11 + (int)strlen(name)) % CALLS;
      takes = k == 1 ? &memory : NULL;
      CALL(talus_world_step(world[k], round % 3 == 0 ? 2 : 1));
      call(&diaries[k], world[k], which, (size_t)(1000 * next(&r)));
      take();
      const size_t asleep = report_of(world[k]).asleep;
      most_asleep = asleep > most_asleep ? asleep : most_asleep;
      const uint64_t hash = talus_world_hash(world[k]);
      note(&diaries[k], &hash, sizeof hash);
    }
    CHECK_MSG(diaries[0].text.count == diaries[1].text.count &&
                  memcmp(diaries[0].text.data, diaries[1].text.data, diaries[0].text.count) == 0,
              "%s: other words after round %d, call %d", name, round,
              (round * 11 + (int)strlen(name)) % CALLS);
  }
  CHECK(memory.taken > (uint64_t)rounds && memory.brought > (uint64_t)rounds);
  const talus_report end = report_of(far);
  takes = NULL;
  for (int k = 0; k < 2; ++k) {
    tl_array_free(&diaries[k].text);
    talus_world_destroy(world[k]);
  }
  CHECK(memory.is_ended);
  return end;
}

static talus_world *build(const char *name, const char *text) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  const talus_status status =
      text ? talus_scene_parse(text, strlen(text), name, NULL, NULL, 0, &scene, NULL)
           : talus_scene_load(name, NULL, 0, &scene, NULL);
  CHECK_MSG(status == TALUS_OK, "%s", talus_last_error());
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  talus_scene_free(scene);
  return world;
}

TEST(built_in_scenes_do_not_care_where_rows_are) {
  if (!TALUS_HAVE_YAML)
    SKIP("built without libyaml-dev");
  for (size_t i = 0; i < talus_builtin_count(); ++i) {
    const char *name, *about, *text;
    talus_builtin_get(i, &name, &about, &text);
    talus_world *near = build(name, NULL);
    const bool is_small = talus_world_body_count(near) < 100;
    if (!is_small && check_is_short()) { /* where it would take too long */
      talus_world_destroy(near);
      continue;
    }
    /* A quarter of the calls by each scene, another one by the length of its name; all where there
     * is time. */
    const int rounds = check_is_short() ? CALLS / 4 : CALLS;
    (void)live_two_lives(near, build(name, NULL), name, is_small ? rounds : 6);
  }
}

/* Everything that comes and goes: emitters, sinks, an edge of the world, sleep, joints that break,
 * motions, probes; by every solver. */
#define BUSY                                                                                       \
  "talus: 1\nuntil: 1\nmaterials: {glass: {density: 1000, stiffness: 1e4}}\n"                      \
  "shapes: {ball: {sphere: 0.05}, brick: {box: [0.2, 0.1, 0.05]}}\n"                               \
  "domain: {box: [[-1, -1, -1], [1, 1, 2]], outside: remove}\n"                                    \
  "bodies:\n"                                                                                      \
  "  - {name: floor, shape: {plane: [0, 0, 1, 0]}, fixed: true}\n"                                 \
  "  - {name: rotor, shape: brick, at: [0.5, 0, 0.1], motion: {spin: [0, 0, 5]}}\n"                \
  "  - {name: one, shape: brick, at: [-0.5, 0, 0.0249]}\n"                                         \
  "  - {name: two, shape: brick, at: [-0.5, 0, 0.0747]}\n"                                         \
  "  - {shape: ball, at: [-0.5, 0.5, 0.0499]}\n"                                                   \
  "  - {shape: ball, at: [0.9, 0.9, 0.2], velocity: [9, 0, 0]}\n"                                  \
  "emit:\n"                                                                                        \
  "  - {shape: ball, rate: 400, from: {box: [[-0.2, -0.2, 0.3], [0.2, 0.2, 0.6]]}}\n"              \
  "sinks: [{name: drain, in: {box: [[-0.1, -0.1, 0], [0.1, 0.1, 0.2]]}}]\n"                        \
  "probes:\n"                                                                                      \
  "  - {name: load, body: floor, record: [force, torque], every: 0.1}\n"                           \
  "  - {name: gate, region: {box: [[-1, -1, 0], [1, 1, 1]]}, record: [count, energy], every: "     \
  "0.1}\n"
#define HELD                                                                                       \
  "joints:\n"                                                                                      \
  "  - {kind: spherical, bodies: [one, two], at: [-0.5, 0, 0.05], break: {force: 1e-6}}\n"

TEST(worlds_where_much_happens_do_not_care_where_rows_are) {
  if (!TALUS_HAVE_YAML)
    SKIP("built without libyaml-dev");
  static const char *const scenes[] = {
      BUSY HELD "step: {dt: 2e-3}\nsleep: {speed: 0.05, time: 0.004}\n",
      BUSY HELD "step: {dt: 2e-3}\nsolve: {kind: impulse}\nsleep: {speed: 0.05, time: 0.004}\n",
      BUSY "step: {dt: 1e-4}\nsolve: penalty\n"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; ++i) {
    const talus_report end =
        live_two_lives(build("busy", scenes[i]), build("busy", scenes[i]), "busy", 3 * CALLS);
    CHECK_MSG(end.emitted > 0 && end.removed > 0 && end.contacts > 0, "%d: %d came, %d went, %d",
              (int)i, (int)end.emitted, (int)end.removed, (int)end.contacts);
    CHECK(i == 2 || (end.joints_broken > 0 && most_asleep > 0));
  }
}

/* ---- quiet places ---------------------------------------------------------------------------- */

static void hear(void *context, int level, const char *line) {
  (void)level;
  note(context, line, strlen(line));
}

/* Two balls that sleep, one in free flight, a fixed one in its way, and a lift whose table ends. */
static talus_world *quiet_world(diary *log) {
  talus_world_def def = talus_world_def_default();
  def.threads = 1, def.dt = 1e-3, def.log = hear, def.log_context = log;
  def.sleep = (talus_sleep_def){0.05, 0.01};
  talus_world *world;
  CHECK_OK(talus_world_create(&def, &world));
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def material = talus_material_def_default();
  talus_body_def body = talus_body_def_default(), floor = body, lift = body;
  const double rows[] = {0, 0, 0, 0, 0.05, 0, 0, 0.1}; /* s, m */
  CHECK_OK(talus_world_add_material(world, &material, &body.material));
  shape.size[0] = 0.1;
  CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
  shape.kind = TALUS_PLANE, shape.size[0] = shape.size[1] = 0, shape.size[2] = 1;
  CHECK_OK(talus_world_add_shape(world, &shape, &floor.shape));
  floor.kind = TALUS_FIXED, floor.name = "floor";
  CHECK_OK(talus_world_add_body(world, &floor, NULL));
  for (int i = 0; i < 2; ++i) {
    body.position = (talus_dvec3){0.5 * i, 0, 0.1};
    CHECK_OK(talus_world_add_body(world, &body, NULL));
  }
  lift.shape = body.shape, lift.kind = TALUS_KINEMATIC, lift.name = "lift", lift.position.x = 5;
  lift.motion = (talus_motion){.table_kind = TALUS_TABLE_PLACES, .table = rows, .rows = 2};
  CHECK_OK(talus_world_add_body(world, &lift, NULL));
  body.position = (talus_dvec3){0, 3, 1}, body.name = "flier";
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK_OK(talus_world_step(world, 40));
  CHECK_EQ_U64(report_of(world).asleep, 2);
  return world;
}

static void wake_two(diary *d, talus_world *world, int how) {
  for (size_t slot = 1; slot < 3; ++slot) {
    talus_body body;
    const talus_vec3 none = {0, 0, 0}, push = {0, 0, TL_R(1e-3)};
    CALL(talus_world_body_at(world, slot, &body));
    if (how == 0)
      CALL(talus_body_wake(world, body));
    else if (how == 1)
      CALL(talus_body_set_force(world, body, push, none));
    else
      CALL(talus_body_set_velocity(world, body, none, none));
    CHECK_EQ_U64(report_of(world).asleep, 2 - slot);
    take();
  }
  CALL(talus_world_step(world, 20)); /* and the table has ended */
  note_report(d, world);
}

/* A step that fails names the body, where it is and what it touched. */
static void fail(diary *d, talus_world *world) {
  talus_body body;
  const talus_vec3 fast = {TALUS_SINGLE ? TL_R(1e30) : TL_R(1e200), 0, 0}, none = {0, 0, 0};
  CALL(talus_world_find_body(world, "flier", &body));
  CALL(talus_body_set_velocity(world, body, fast, none));
  CHECK(talus_world_step(world, 1) != TALUS_OK);
  note(d, talus_last_error(), strlen(talus_last_error()));
  take();
  note_report(d, world);
}

/* What a scene takes from another run. */
static void borrow(diary *d, talus_world *old) {
  tl_from_names seen = {0};
  tl_overlap overlap;
  talus_world_def def = talus_world_def_default();
  talus_world *made;
  far_memory memory, *const before = takes;
  def.threads = 1;
  CHECK_OK(talus_world_create(&def, &made));
  if (before)
    far_begin(&memory, made);
  const talus_take_def all = {0};
  CALL(tl_world_borrow(made, old, &all, 0, &seen));
  takes = before ? &memory : NULL;
  take();
  CALL(tl_world_find_overlap(made, &overlap));
  NOTE(d, overlap.count);
  CALL(talus_world_step(made, 3));
  note_report(d, made);
  note_joints(d, made);
  takes = before;
  tl_from_names_free(&seen);
  talus_world_destroy(made);
}

TEST(quiet_worlds_do_not_care_where_rows_are) {
  for (int how = 0; how < 3; ++how) {
    diary diaries[2] = {{{0}}, {{0}}};
    for (int k = 0; k < 2; ++k) {
      talus_world *world = quiet_world(&diaries[k]);
      far_memory memory;
      if (k == 1)
        far_begin(&memory, world);
      takes = k == 1 ? &memory : NULL;
      wake_two(&diaries[k], world, how);
      borrow(&diaries[k], world);
      change_joints(world);
      fail(&diaries[k], world);
      takes = NULL;
      talus_world_destroy(world);
    }
    CHECK(diaries[0].text.count == diaries[1].text.count &&
          memcmp(diaries[0].text.data, diaries[1].text.data, diaries[0].text.count) == 0);
    tl_array_free(&diaries[0].text);
    tl_array_free(&diaries[1].text);
  }
}

/* ---- the list of balls ----------------------------------------------------------------------- */

/* What the list holds is old at home: no number at all. Fixed bodies are not in it. */
static void spoil(void *watcher, tl_field_set fields, bool at_home) {
  talus_world *world = watcher;
  if (at_home)
    return;
  for (int i = 0; i < TL_STATE_FIELD_COUNT; ++i)
    for (size_t slot = 0; slot < world->model.bodies; ++slot)
      if ((fields & tl_field_bit(&tl_state_fields[i])) && !tl_body_is_static(&world->model, slot))
        memset(tl_field_rows(&world->state, &tl_state_fields[i]) + slot * tl_state_fields[i].bytes,
               0xff, tl_state_fields[i].bytes);
  if (fields & TL_THE(contacts))
    for (size_t i = 0; i < world->contacts.count; ++i)
      memset(&world->contacts.data[i], 0xff, sizeof world->contacts.data[i]);
}

TEST(nobody_meets_what_balls_left_at_home) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 2);
  talus_world *const world[2] = {heap(&def, 100, false), heap(&def, 100, false)};
  diary diaries[2] = {{{0}}, {{0}}};
  world[1]->where.told = spoil;
  world[1]->where.watcher = world[1];
  for (int k = 0; k < 2; ++k) {
    talus_probe_def probe = {.name = "floor", .on_body = true, .record = TALUS_RECORD_FORCE};
    CHECK_OK(talus_world_step(world[k], 300));
    for (int round = 0; round < 2 * CALLS; ++round) {
      if (round == CALLS) {
        CHECK_OK(talus_world_body_at(world[k], 0, &probe.body));
        CHECK_OK(talus_world_add_probe(world[k], &probe, NULL));
      }
      if (round == CALLS / 2) {
        const talus_region drain = {.kind = TALUS_REGION_BOX,
                                    .box = {{-0.1, -0.1, 0}, {0, 0, 0.05}}};
        CHECK_OK(talus_world_add_sink(world[k], "drain", &drain));
      }
      CHECK_OK(talus_world_step(world[k], 10));
      CHECK(!tl_is_home(&world[k]->where, TL_THE(position)) || round >= CALLS / 2);
      call(&diaries[k], world[k], round % CALLS, (size_t)round);
    }
    CHECK(world[k]->penalty.are_balls);
    note_report(&diaries[k], world[k]);
  }
  CHECK(diaries[0].text.count == diaries[1].text.count &&
        memcmp(diaries[0].text.data, diaries[1].text.data, diaries[0].text.count) == 0);
  for (int k = 0; k < 2; ++k) {
    tl_array_free(&diaries[k].text);
    talus_world_destroy(world[k]);
  }
}

/* Who changes a table has to say so: what is made of it is made anew. */
TEST(tables_that_change_end_the_list_of_balls) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 50, false);
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def material = talus_material_def_default();
  const talus_vec3 g = {0, 0, -1};
  talus_shape one;
  talus_material two;
  for (int how = 0; how < 5; ++how) {
    CHECK_OK(talus_world_step(world, 3));
    CHECK(tl_balls_hold(tl_balls_of(&world->where)));
    if (how == 0)
      CHECK_OK(talus_world_add_shape(world, &shape, &one));
    else if (how == 1)
      CHECK_OK(talus_world_add_material(world, &material, &two));
    else if (how == 2)
      CHECK_OK(talus_world_set_material_pair(world, two, two, 0.1, 0.1));
    else if (how == 3)
      CHECK_OK(talus_world_set_gravity(world, g));
    else
      change_world(world, 2);
    CHECK(!tl_balls_hold(tl_balls_of(&world->where)) && tl_is_home(&world->where, TL_THE_WHOLE));
  }
  talus_world_destroy(world);
}

TEST_MAIN()
