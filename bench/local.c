/* talus bench local: one step length for all bodies (adaptive) against steps of clusters (local),
 * in the scenes of Noble's thesis, section 4.8; spheres and boxes replace meshes except in `meshes`
 * and `hopper`. Body-steps do not depend on the machine; every step that was computed counts,
 * whether it was kept or not. */
#include "bench.h"
#include "local.h"
#include "tools.h"

#include "world/world.h"

#include <talus/mesh.h>

#include <math.h>
#include <string.h>

typedef struct setup {
  const char *name, *what;
  double gravity, restitution, until, max;
  bool (*fill)(talus_world *world, talus_material m, int bodies);
  int sizes[3];
} setup;

static const talus_vec3 still = {0, 0, 0};

/* ---- setups ---------------------------------------------------------------------------------- */

static bool add(talus_world *world, talus_shape_kind kind, const double size[3], talus_material m,
                talus_dvec3 at, talus_vec3 v, talus_vec3 w, talus_body_kind how) {
  talus_shape_def def = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  def.kind = kind;
  def.size[0] = size[0], def.size[1] = size[1], def.size[2] = size[2], def.size[3] = 0;
  body.material = m, body.position = at, body.velocity = v, body.spin = w, body.kind = how;
  return talus_world_add_shape(world, &def, &body.shape) == TALUS_OK &&
         talus_world_add_body(world, &body, NULL) == TALUS_OK;
}

static bool add_floor(talus_world *world, talus_material m) {
  const double up[3] = {0, 0, 1};
  return add(world, TALUS_PLANE, up, m, (talus_dvec3){0, 0, 0}, still, still, TALUS_FIXED);
}

static talus_real some(uint64_t *state, double most) {
  return TL_R(most * (2 * bench_random(state) - 1));
}

/* Pairs that collide at different times, far from other pairs. */
static bool fill_pairs(talus_world *world, talus_material m, int bodies) {
  const double size[3] = {0.3, 0.2, 0.2};
  uint64_t state = 24;
  bool good = true;
  for (int i = 0; good && i < bodies / 2; ++i) {
    const double x = 4.0 * (i % 10), y = 4.0 * (i / 10), apart = 0.4 + 0.8 * bench_random(&state);
    const talus_real v = TL_R(0.5 + bench_random(&state));
    const talus_vec3 w = {some(&state, 5), some(&state, 5), some(&state, 5)};
    good = add(world, TALUS_BOX, size, m, (talus_dvec3){x, y, 0}, (talus_vec3){v, 0, 0}, w,
               TALUS_FREE) &&
           add(world, TALUS_BOX, size, m, (talus_dvec3){x + apart, y, 0}, (talus_vec3){-v, 0, 0},
               still, TALUS_FREE);
  }
  return good;
}

static bool add_mesh(talus_world *world, const talus_mesh_recipe *recipe, talus_shape *shape) {
  talus_mesh mesh;
  talus_shape_def def = talus_shape_def_default();
  if (talus_mesh_make(recipe, &mesh) != TALUS_OK)
    return false;
  def.kind = TALUS_MESH;
  def.points = mesh.vertex[0], def.point_count = mesh.vertices;
  def.triangles = mesh.triangle[0], def.triangle_count = mesh.triangles;
  const bool good = talus_world_add_shape(world, &def, shape) == TALUS_OK;
  talus_mesh_free(&mesh);
  return good;
}

static bool put(talus_world *world, talus_shape shape, talus_material m, double scale,
                talus_dvec3 at, talus_vec3 v, talus_vec3 w, talus_body_kind how) {
  talus_body_def body = talus_body_def_default();
  body.shape = shape, body.material = m, body.scale = TL_R(scale);
  body.position = at, body.velocity = v, body.spin = w, body.kind = how;
  return talus_world_add_body(world, &body, NULL) == TALUS_OK;
}

/* The same with cylinders of 48 triangles. */
static bool fill_meshes(talus_world *world, talus_material m, int bodies) {
  const talus_mesh_recipe recipe = {.kind = "cylinder", .size = {0.12, 0.3}, .triangles = 48};
  talus_shape shape;
  uint64_t state = 24;
  bool good = add_mesh(world, &recipe, &shape);
  for (int i = 0; good && i < bodies / 2; ++i) {
    const double x = 4.0 * (i % 10), y = 4.0 * (i / 10), apart = 0.45 + 0.8 * bench_random(&state);
    const talus_real v = TL_R(0.5 + bench_random(&state));
    const talus_vec3 w = {some(&state, 5), some(&state, 5), some(&state, 5)};
    good = put(world, shape, m, 1, (talus_dvec3){x, y, 0}, (talus_vec3){v, 0, 0}, w, TALUS_FREE) &&
           put(world, shape, m, 1, (talus_dvec3){x + apart, y, 0}, (talus_vec3){-v, 0, 0}, still,
               TALUS_FREE);
  }
  return good;
}

/* Stones of 320 and 80 triangles, the smaller ones higher, above a hopper of 1,856. */
static bool fill_hopper(talus_world *world, talus_material m, int bodies) {
  const talus_mesh_recipe funnel = {.kind = "funnel", .size = {12, 2.125, 8}, .triangles = 1856};
  const talus_mesh_recipe large = {
      .kind = "noisy-sphere", .size = {1}, .triangles = 320, .noise = 1.4, .seed = 3};
  const talus_mesh_recipe little = {
      .kind = "noisy-sphere", .size = {1}, .triangles = 80, .noise = 1.4, .seed = 8};
  talus_shape hopper, stone, grain;
  uint64_t state = 24;
  bool good = add_mesh(world, &funnel, &hopper) && add_mesh(world, &large, &stone) &&
              add_mesh(world, &little, &grain) &&
              put(world, hopper, m, 1, (talus_dvec3){0, 0, 0}, still, still, TALUS_FIXED);
  for (int i = 0; good && i < bodies; ++i) {
    const double size = 0.7 * pow(0.036, (double)i / bodies); /* 0.7 to 0.025 m */
    const int at = i % 16, layer = i / 16;
    const talus_dvec3 x = {2.4 * (at % 4 - 1.5) + 0.2 * bench_random(&state),
                           2.4 * (at / 4 - 1.5) + 0.2 * bench_random(&state),
                           5.5 + 2.4 * layer + 0.3 * bench_random(&state)};
    const talus_vec3 w = {some(&state, 1), some(&state, 1), some(&state, 1)};
    good = put(world, size > 0.3 ? stone : grain, m, size, x, (talus_vec3){0, 0, TL_R(-4)}, w,
               TALUS_FREE);
  }
  return good;
}

/* Stacks of five cubes; the top one of each falls from its own height. */
static bool fill_stacks(talus_world *world, talus_material m, int bodies) {
  const double size[3] = {0.2, 0.2, 0.2};
  uint64_t state = 24;
  bool good = add_floor(world, m);
  for (int i = 0; good && i < bodies; ++i) {
    const int stack = i / 5, level = i % 5;
    const double drop = level == 4 ? 0.02 + 0.3 * bench_random(&state) : 0;
    good = add(world, TALUS_BOX, size, m,
               (talus_dvec3){1.0 * (stack % 4), 1.0 * (stack / 4), 0.1 + 0.200012 * level + drop},
               still, still, TALUS_FREE);
  }
  return good;
}

/* Rings of bricks on each other: one cluster. */
bool local_fill_tower(talus_world *world, talus_material m, int bodies) {
  const int around = 16;
  const double size[3] = {0.3, 0.16, 0.1};
  bool good = add_floor(world, m);
  for (int i = 0; good && i < bodies; ++i) {
    const int ring = i / around;
    const double angle = 2 * 3.14159265358979323846 * (i % around + 0.5 * (ring % 2)) / around;
    talus_shape_def def = talus_shape_def_default();
    talus_body_def body = talus_body_def_default();
    def.kind = TALUS_BOX;
    def.size[0] = size[1], def.size[1] = size[0], def.size[2] = size[2];
    body.material = m;
    body.position = (talus_dvec3){cos(angle), sin(angle), 0.05 + 0.100008 * ring};
    body.rotation = (talus_quat){TL_R(cos(angle / 2)), 0, 0, TL_R(sin(angle / 2))};
    good = talus_world_add_shape(world, &def, &body.shape) == TALUS_OK &&
           talus_world_add_body(world, &body, NULL) == TALUS_OK;
  }
  return good;
}

/* Balls that hop down flights of stairs, one ball to a flight. */
static bool fill_stairs(talus_world *world, talus_material m, int bodies) {
  const double step[3] = {0.4, 0.8, 0.2}, ball[3] = {0.08, 0, 0};
  uint64_t state = 24;
  bool good = true;
  for (int i = 0; good && i < bodies; ++i) {
    const double y = 1.0 * i;
    for (int s = 0; good && s < 8; ++s)
      good = add(world, TALUS_BOX, step, m, (talus_dvec3){0.4 * s, y, -0.2 * s - 0.1}, still, still,
                 TALUS_FIXED);
    good = good &&
           add(world, TALUS_SPHERE, ball, m, (talus_dvec3){0, y, 0.1 + 0.2 * bench_random(&state)},
               (talus_vec3){TL_R(0.8 + 0.4 * bench_random(&state)), 0, 0}, still, TALUS_FREE);
  }
  return good;
}

/* Rows of eight dominoes; the first of each falls. */
static bool fill_dominoes(talus_world *world, talus_material m, int bodies) {
  const double size[3] = {0.015, 0.05, 0.1};
  uint64_t state = 24;
  bool good = add_floor(world, m);
  for (int i = 0; good && i < bodies; ++i) {
    const bool is_first = i % 8 == 0;
    const talus_real w = is_first ? TL_R(2 + 2 * bench_random(&state)) : 0;
    good = add(world, TALUS_BOX, size, m, (talus_dvec3){0.05 * (i % 8), 0.3 * (i / 8), 0.05},
               (talus_vec3){TL_R(0.05) * w, 0, 0}, (talus_vec3){0, w, 0}, TALUS_FREE);
  }
  return good;
}

static const setup setups[] = {
    {"pairs", "boxes that collide in pairs", 0, 0.5, 1, 0.05, fill_pairs, {60, 200, 600}},
    {"meshes", "meshes that collide in pairs", 0, 0.5, 1, 0.05, fill_meshes, {20, 60, 200}},
    {"stacks", "stacks of five cubes", 9.81, 0.1, 0.5, 0.01, fill_stacks, {20, 80, 320}},
    {"staircase", "balls on stairs", 9.81, 0.5, 1, 0.02, fill_stairs, {4, 16, 64}},
    {"hopper", "stones in a hopper", 9.81, 0.1, 1.2, 0.01, fill_hopper, {8, 16, 32}},
    {"dominoes", "rows of eight dominoes", 9.81, 0, 0.4, 0.01, fill_dominoes, {24, 48, 96}},
    {"tower", "rings of bricks, one cluster", 9.81, 0, 1, 0.01, local_fill_tower, {32, 64, 96}},
};
#define SETUPS (sizeof setups / sizeof *setups)

/* ---- runs ------------------------------------------------------------------------------------ */

#define HALVES 10 /* times that the step of fixed ones is halved, at most */

typedef struct watched {
  uint64_t steps;
  double overlap; /* of a halo: the deepest at the begin of a step */
} watched;

static talus_status watch(void *context, const tl_crowd *crowd) {
  watched *w = context;
  const tl_contacts *contacts = crowd->contacts_after;
  w->steps++;
  if (crowd->model->step != TALUS_STEP_FIXED)
    return TALUS_OK;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact *c = &contacts->data[i];
    const double halo =
        (double)tl_halo_of(crowd->model, c->a) + (double)tl_halo_of(crowd->model, c->b);
    w->overlap = fmax(w->overlap, -(double)c->gap / halo);
  }
  return TALUS_OK;
}

static void note_steps(const talus_world *world, const watched *w, int bodies, local_kind kind,
                       local_outcome *out) {
  const tl_local_counts *counts = &world->local.counts;
  double phases = 0;
  for (int k = 0; k < LOCAL_PHASES - 1; ++k)
    out->phase[k] = world->wall[k], phases += world->wall[k];
  out->phase[LOCAL_PHASES - 1] = fmax(out->wall - phases, 0);
  out->body_steps = kind == LOCAL_LOCAL ? (double)counts->body_steps : (double)w->steps * bodies;
  out->overlap = w->overlap;
  out->window = counts->window;
  out->held = counts->body_steps > 0 ? (double)counts->held / (double)counts->body_steps : 0;
  out->clusters = counts->clusters, out->rounds = counts->rounds;
  out->rollbacks = counts->rollbacks, out->rendezvous = counts->rendezvous;
  out->most = counts->most_members, out->contacts = counts->most_contacts;
  out->hash = talus_world_hash(world);
  if (kind == LOCAL_FIXED) {
    out->steps[0] = w->steps, out->lengths[0] = w->steps * (uint64_t)bodies;
    return;
  }
  const bool is_local = kind == LOCAL_LOCAL;
  memcpy(out->steps, is_local ? counts->steps : world->adaptive.steps, sizeof out->steps);
  memcpy(out->lengths, is_local ? counts->histogram : world->adaptive.body_steps,
         sizeof out->lengths);
  if (is_local)
    memcpy(out->dropped, counts->dropped, sizeof out->dropped);
}

static talus_world *make(const setup *s, int bodies, local_kind kind, double dt, int threads) {
  static const talus_step_kind steps[] = {TALUS_STEP_FIXED, TALUS_STEP_ADAPTIVE, TALUS_STEP_LOCAL};
  talus_world_def def = talus_world_def_default();
  talus_material_def stuff = talus_material_def_default();
  talus_material m;
  talus_world *world;
  def.gravity = (talus_vec3){0, 0, TL_R(-s->gravity)};
  def.dt = dt, def.step = steps[kind], def.threads = threads;
  stuff.density = 1000, stuff.friction = 0.4, stuff.restitution = TL_R(s->restitution);
  if (talus_world_create(&def, &world) != TALUS_OK)
    return NULL;
  if (talus_world_add_material(world, &stuff, &m) == TALUS_OK && s->fill(world, m, bodies))
    return world;
  talus_world_destroy(world);
  return NULL;
}

static bool tell_failed(const setup *s, int bodies) {
  cli_error("bench local: %s of %d: %s", s->name, bodies, talus_last_error());
  return false;
}

static bool measure(const setup *s, int bodies, local_kind kind, double dt, int threads,
                    double until, local_outcome *out) {
  talus_world *world = make(s, bodies, kind, dt, threads);
  watched seen = {0};
  *out = (local_outcome){.dt = dt};
  if (!world)
    return tell_failed(s, bodies);
  if (kind != LOCAL_LOCAL) /* local steps would record all paths for this check */
    world->watch = watch, world->watch_context = &seen;
  const double cpu = bench_cpu(), now = bench_now();
  const bool good = talus_world_step(world, (uint64_t)(until / dt + 0.5)) == TALUS_OK;
  out->seconds = bench_cpu() - cpu, out->wall = bench_now() - now;
  if (good)
    note_steps(world, &seen, bodies, kind, out);
  else
    tell_failed(s, bodies);
  talus_world_destroy(world);
  return good;
}

/* What a loop without rounds could gain, in every setup at its largest size. */
static bool run_loop(bool quick, const char *folder) {
  local_loop_files files = {.folder = folder};
  bool good = bench_csv_open(folder, "local-loop",
                             "setup,bodies,rounds,steps,seconds_steps,seconds_rest,workers,"
                             "rounds_rest_alone,rounds_rest_shared,no_loop,no_loop_other_hash",
                             &files.ways) &&
              bench_csv_open(folder, "local-costs", "setup,bodies,of,at_most,steps,seconds_mean",
                             &files.costs);
  if (good)
    local_loop_head();
  for (size_t i = 0; good && i < SETUPS; ++i) {
    const setup *s = &setups[i];
    const int bodies = s->sizes[quick ? 0 : 2];
    const double until = quick ? fmin(s->until, 4 * s->max) : s->until;
    talus_world *world = make(s, bodies, LOCAL_LOCAL, s->max, 1);
    if (!world)
      good = tell_failed(s, bodies);
    if (!world)
      break;
    local_loop *loop = local_loop_begin(world);
    const double begun = bench_cpu();
    good = talus_world_step(world, (uint64_t)(until / s->max + 0.5)) == TALUS_OK ||
           tell_failed(s, bodies);
    const double seconds = bench_cpu() - begun;
    good = local_loop_end(loop, s->name, bodies, seconds, &files) && good;
    talus_world_destroy(world);
  }
  const bool closed[] = {bench_csv_close(files.ways), bench_csv_close(files.costs)};
  return closed[0] && closed[1] && good;
}

/* Fixed steps of the same error: the longest, of the grid's length halved again and again, with
 * which no two bodies overlap by more than the halo that the others keep. Not sought where it would
 * take ten times as long as adaptive steps. */
static bool measure_fixed(const setup *s, int bodies, int threads, double until, double most,
                          local_outcome *out) {
  double dt = s->max;
  for (int i = 0; i < HALVES; ++i, dt *= 0.5) {
    if (!measure(s, bodies, LOCAL_FIXED, dt, threads, until, out))
      return false;
    if (out->overlap <= 1)
      return true;
    if (out->seconds > most)
      break;
  }
  const double overlap = out->overlap;
  *out = (local_outcome){.overlap = overlap};
  return true;
}

static bool measure_threads(const setup *s, int threads, double until, local_figures *f) {
  const local_outcome *one = &f->of[f->count - 1][LOCAL_LOCAL];
  for (f->threads = 0; f->threads < LOCAL_THREADS && 1 << f->threads <= threads; ++f->threads) {
    local_outcome out;
    if (!measure(s, f->bodies[f->count - 1], LOCAL_LOCAL, s->max, 1 << f->threads, until, &out))
      return false;
    f->wall[f->threads] = out.wall;
    if (out.hash != one->hash) {
      cli_error("bench local: %s: %d threads gave another state", s->name, 1 << f->threads);
      return false;
    }
  }
  return true;
}

static void print_row(const char *name, int bodies, const local_outcome *of) {
  const local_outcome *x = &of[LOCAL_FIXED], *a = &of[LOCAL_ADAPTIVE], *l = &of[LOCAL_LOCAL];
  char fixed[40] = "-";
  if (x->body_steps > 0)
    snprintf(fixed, sizeof fixed, "%.3g", x->dt);
  printf(
      "%-10s %6d %12.0f %12.0f %8.2f %9.3f %9.3f %8.2f %8zu %9llu %9llu %6.1f %9s %12.0f %9.3f\n",
      name, bodies, a->body_steps, l->body_steps, a->body_steps / l->body_steps, a->seconds,
      l->seconds, a->seconds / l->seconds, l->most, (unsigned long long)l->rollbacks,
      (unsigned long long)l->rendezvous, 100 * l->held, fixed, x->body_steps, x->seconds);
  fflush(stdout);
}

static bool run_setup(const setup *s, int threads, bool quick, const char *folder,
                      const local_tables *tables) {
  static local_figures f;
  const double until = quick ? fmin(s->until, 4 * s->max) : s->until;
  memset(&f, 0, sizeof f);
  f.name = s->name, f.max = s->max;
  for (int i = 0; i < (quick ? 1 : LOCAL_SIZES); ++i) {
    const int bodies = f.bodies[i] = s->sizes[i];
    local_outcome *of = f.of[i];
    if (!measure(s, bodies, LOCAL_ADAPTIVE, s->max, threads, until, &of[LOCAL_ADAPTIVE]) ||
        !measure(s, bodies, LOCAL_LOCAL, s->max, threads, until, &of[LOCAL_LOCAL]) ||
        !measure_fixed(s, bodies, threads, until, 10 * of[LOCAL_ADAPTIVE].seconds,
                       &of[LOCAL_FIXED]))
      return false;
    f.count++;
    print_row(s->name, bodies, of);
  }
  if (threads > 1 && !measure_threads(s, threads, until, &f))
    return false;
  for (int k = 0; k < f.threads; ++k)
    printf("%-10s %6d bodies, %d threads: %.3f s\n", s->name, f.bodies[f.count - 1], 1 << k,
           f.wall[k]);
  return local_tables_add(tables, &f) && (!folder || local_draw(folder, &f));
}

int bench_local(int argc, char **argv) {
  const char *table = NULL, *output = NULL;
  int threads = 1;
  bool quick = false;
  const cli_option list[] = {
      {"table", 0, CLI_TEXT, "NAME", "one setup alone, below", &table},
      {"threads", 0, CLI_COUNT, "N", "(default 1); above 1 the largest size with 1, 2, 4, ...",
       &threads},
      {"quick", 0, CLI_FLAG, NULL, "few bodies and steps: to see that it works", &quick},
      {"output", 'o', CLI_TEXT, "FOLDER", "tables as CSV, figures as SVG", &output},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus bench local [options]",
      .about = "Steps of clusters (step: local) against one step for all (adaptive, fixed).",
      .options = list,
      .more = "Setups: pairs, meshes, stacks, staircase, hopper, dominoes, tower; clusters: how\n"
              "they are found, by the thesis' Algorithm 2 and by union-find; sweeps: whether\n"
              "sweeps that leave out contacts which hardly change would pay in large clusters;\n"
              "loop: what rounds take, and a loop without them at least, with 2, 4, 8 workers.\n"
              "CPU seconds are of this process. held: share of steps that the grid cut short.\n"
              "fixed: the longest step with which no overlap is deeper than a halo; -: none was\n"
              "found within ten times the time of adaptive steps. Figures, for each setup: time\n"
              "and steps of bodies against size, lengths of steps, phases, clusters, threads.\n",
      .most = 0};
  const int parsed = bench_parse(&usage, "bench local", argc, argv);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  const char *names[SETUPS + 3];
  for (size_t i = 0; i < SETUPS; ++i)
    names[i] = setups[i].name;
  names[SETUPS] = "clusters", names[SETUPS + 1] = "sweeps", names[SETUPS + 2] = "loop";
  if (!bench_has_table("local", table, names, SETUPS + 3))
    return CLI_INPUT;
  if (table && strcmp(table, "sweeps") == 0)
    return bench_local_sweeps(quick) ? CLI_DONE : CLI_FAILED;
  if (table && strcmp(table, "loop") == 0)
    return run_loop(quick, output) ? CLI_DONE : CLI_FAILED;
  if (table && strcmp(table, "clusters") == 0)
    return bench_local_clusters(quick) ? CLI_DONE : CLI_FAILED;
  local_tables tables;
  if (!local_tables_open(output, &tables))
    return CLI_FAILED;
  printf("talus %s (%s), %d threads\n", talus_version(), talus_features(), threads);
  printf("%-10s %6s %12s %12s %8s %9s %9s %8s %8s %9s %9s %6s %9s %12s %9s\n", "setup", "bodies",
         "adaptive", "local", "ratio", "CPU s", "CPU s", "ratio", "largest", "rollbacks",
         "meetings", "held %", "fixed dt", "fixed", "CPU s");
  bool good = true;
  for (size_t i = 0; good && i < SETUPS; ++i)
    if (!table || strcmp(table, setups[i].name) == 0)
      good = run_setup(&setups[i], threads, quick, output, &tables);
  return local_tables_close(&tables) && good ? CLI_DONE : CLI_FAILED;
}
