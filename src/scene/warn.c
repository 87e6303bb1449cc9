/* Likely mistakes that single values and their sums show: units, names nobody uses, crowding. */
#include "base/power.h"
#include "base/trig.h"
#include "scene/shapes.h"
#include "scene/warn.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define PI 3.14159265358979323846

#define LIGHTEST    30.0  /* kg/m3: below, only foams and numbers meant in g/cm3 */
#define LIGHTEST_CM 1e-5  /* below, also numbers meant in t/mm3 */
#define ROUGHEST    5.0   /* friction: tan(79 degrees); above, likely an angle */
#define DENSEST     0.6   /* share of space: beyond, spheres thrown together are in touch already */
#define CGS_LOW     900.0 /* m/s2: about Earth's gravity in cm/s2 */
#define CGS_HIGH    1100.0
#define MM_LOW      9000.0 /* likewise in mm/s2 */
#define MM_HIGH     11000.0
#define FEWEST      10.0 /* steps of a run worth the name */
#define NAMES_SHOWN 8
#define MORE        48 /* bytes */

/* ---- saying it ------------------------------------------------------------------------------- */

static const char *kind_name(uint32_t kind) {
  const tl_key *key = &tl_schema_scene.keys[tl_map_find(&tl_schema_scene, "quiet")];
  return tl_word_of(key->words, (int)kind);
}

void tl_warn_add_way_out(tl_text *text, uint32_t kind) {
  tl_text_add(text, "; if that is meant, add `quiet: [%s]`", kind_name(kind));
}

void tl_warn(tl_warner *warner, uint32_t kind, tl_mark mark, const char *fmt, ...) {
  if (warner->checker->scene->quiet & kind)
    return;
  char what[700];
  va_list args;
  va_start(args, fmt);
  vsnprintf(what, sizeof what, fmt, args);
  va_end(args);
  tl_text text = {0};
  tl_text_add(&text, "%s", what);
  tl_warn_add_way_out(&text, kind);
  if (text.status == TALUS_OK)
    tl_problem_add(&warner->found, mark, "%s", text.data);
  tl_text_drop(&text);
}

/* " (and 2 more like it)": a mistake that is made again and again is told once. */
static const char *and_more(size_t more, char text[MORE]) {
  if (more == 0)
    return "";
  snprintf(text, MORE, " (and %zu more like it)", more);
  return text;
}

/* ---- numbers that look like other units ------------------------------------------------------ */

static void warn_densities(tl_warner *w) {
  const talus_scene *scene = w->checker->scene;
  const tl_scene_material *materials = scene->materials.data, *first = NULL;
  tl_node_id key = tl_check_first(w->checker, "materials"), at = 0;
  size_t n = 0;
  for (size_t i = 0; i < scene->materials.count;
       ++i, key = tl_node_at(w->checker->document, key)->next) {
    if (materials[i].density >= LIGHTEST || n++ > 0)
      continue;
    first = &materials[i];
    at = tl_node_at(w->checker->document, key)->first;
  }
  char more[MORE];
  if (first)
    tl_warn(w, TL_WARN_LIGHT_DENSITY, tl_check_mark(w->checker, at, "density"),
            first->density < LIGHTEST_CM
                ? "materials.%s.density is %g kg/m3, lighter than air%s; a "
                  "density of %g t/mm3 is %g"
                : "materials.%s.density is %g kg/m3, lighter than foam%s; "
                  "a density of %g g/cm3 is %g",
            first->name, first->density, and_more(n - 1, more), first->density,
            (first->density < LIGHTEST_CM ? 1e12 : 1000) * first->density);
}

typedef struct rough_find {
  tl_mark mark;
  char path[96];
  double friction;
  size_t n;
} rough_find;

static void note_friction(rough_find *found, double friction, tl_mark mark, const char *list,
                          const char *name) {
  if (friction <= ROUGHEST || found->n++ > 0)
    return;
  found->mark = mark;
  found->friction = friction;
  snprintf(found->path, sizeof found->path, "%s.%.60s.friction", list, name);
}

static void warn_frictions(tl_warner *w) {
  const tl_checker *checker = w->checker;
  const tl_scene_material *materials = checker->scene->materials.data;
  const tl_scene_pair *pairs = checker->scene->pairs.data;
  rough_find found = {0};
  tl_node_id key = tl_check_first(checker, "materials");
  for (size_t i = 0; i < checker->scene->materials.count;
       ++i, key = tl_node_at(checker->document, key)->next)
    note_friction(&found, materials[i].friction,
                  tl_check_mark(checker, tl_node_at(checker->document, key)->first, "friction"),
                  "materials", materials[i].name);
  tl_node_id row = tl_check_first(checker, "pairs");
  for (size_t i = 0; i < checker->scene->pairs.count;
       ++i, row = tl_node_at(checker->document, row)->next) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    note_friction(&found, pairs[i].friction, tl_check_mark(checker, row, "friction"), "pairs",
                  number);
  }
  char more[MORE];
  if (found.n == 0)
    return;
  if (found.friction < 90)
    tl_warn(w, TL_WARN_HIGH_FRICTION, found.mark,
            "%s is %g%s; it is the tangent of the friction angle, and %g degrees are %.3g",
            found.path, found.friction, and_more(found.n - 1, more), found.friction,
            tl_tan_d(found.friction * PI / 180));
  else
    tl_warn(w, TL_WARN_HIGH_FRICTION, found.mark,
            "%s is %g%s; it is the tangent of the friction angle, and real ones are below 2",
            found.path, found.friction, and_more(found.n - 1, more));
}

/* The smallest body that is of a material: what resists its rolling is compared with it. */
typedef struct small_find {
  double radius; /* m */
  char who[96];
} small_find;

static void note_small(const tl_warner *w, small_find *found, const char *material, double radius,
                       const char *list, size_t i) {
  uint32_t row;
  if (!material || !tl_names_find(&w->checker->materials, material, &row) ||
      row >= w->checker->scene->materials.count || !(radius < found[row].radius))
    return;
  found[row].radius = radius;
  snprintf(found[row].who, sizeof found[row].who, "%s.%zu", list, i);
}

static void find_small(const tl_warner *w, small_find *found) {
  const talus_scene *scene = w->checker->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    const tl_scene_body *body = &bodies[i];
    const tl_scene_fill *fill = body->fill;
    if (fill && !fill->fixed) {
      const double scale =
          tl_warn_least_size(&fill->size, tl_object_has(&tl_schema_fill, fill, "size"));
      note_small(w, found, fill->material, tl_warn_radius(w->checker, &fill->shape, scale),
                 "bodies", i);
    } else if (tl_scene_is_one(body) && !body->fixed && body->motion.count == 0) {
      note_small(w, found, body->material, tl_warn_radius(w->checker, &body->shape, body->scale),
                 "bodies", i);
    }
  }
  for (size_t i = 0; i < scene->emit.count; ++i) {
    const double scale = tl_warn_least_size(
        &emitters[i].size, tl_object_has(&tl_schema_emitter, &emitters[i], "size"));
    note_small(w, found, emitters[i].material,
               tl_warn_radius(w->checker, &emitters[i].shape, scale), "emit", i);
  }
}

/* Rolling and spinning are lengths; others write them as numbers without a unit. */
static void warn_rolling(tl_warner *w) {
  const talus_scene *scene = w->checker->scene;
  const tl_scene_material *materials = scene->materials.data;
  TL_ARRAY(small_find) small = {0};
  if (tl_array_resize(&small, scene->materials.count) != TALUS_OK)
    return;
  for (size_t i = 0; i < small.count; ++i)
    small.data[i].radius = INFINITY;
  find_small(w, small.data);
  tl_node_id key = tl_check_first(w->checker, "materials");
  for (size_t i = 0; i < small.count; ++i, key = tl_node_at(w->checker->document, key)->next) {
    const bool rolls = materials[i].rolling > small.data[i].radius;
    const double value = rolls ? materials[i].rolling : materials[i].spinning;
    if (!(value > small.data[i].radius))
      continue;
    const char *name = rolls ? "rolling" : "spinning";
    tl_warn(w, TL_WARN_LARGE_ROLLING,
            tl_check_mark(w->checker, tl_node_at(w->checker->document, key)->first, name),
            "materials.%s.%s is %g m, more than the radius %g m of %s; it is a length, and a "
            "coefficient of %g is %.3g m there%s",
            materials[i].name, name, value, small.data[i].radius, small.data[i].who, value,
            value * small.data[i].radius, rolls ? " (or say `rolling_coefficient`)" : "");
    break;
  }
  tl_array_free(&small);
}

static void warn_gravity(tl_warner *w) {
  const double *g = w->checker->scene->gravity;
  const double size = tl_hypot_d(tl_hypot_d(g[0], g[1]), g[2]);
  const tl_mark mark = tl_check_mark(w->checker, w->checker->root, "gravity");
  if (size >= CGS_LOW && size <= CGS_HIGH)
    tl_warn(w, TL_WARN_ODD_GRAVITY, mark,
            "gravity is %g m/s2, a hundred times that of the Earth; in m/s2 that is 9.81", size);
  else if (size >= MM_LOW && size <= MM_HIGH)
    tl_warn(w, TL_WARN_ODD_GRAVITY, mark,
            "gravity is %g m/s2, a thousand times that of the Earth, as in mm/s2; lengths are in "
            "metres here, and gravity is 9.81",
            size);
  else if (g[2] > 0 && g[2] > 0.99 * size)
    tl_warn(w, TL_WARN_ODD_GRAVITY, mark,
            "gravity points up, along +z: bodies will fly off; down is [0, 0, %g]", -g[2]);
}

static void warn_short_run(tl_warner *w) {
  const tl_checker *checker = w->checker;
  const double time = checker->scene->until.time, dt = checker->scene->step.dt;
  const tl_node_id until = tl_check_value(checker, checker->root, "until");
  if (time < (FEWEST - 0.5) * dt)
    tl_warn(w, TL_WARN_SHORT_RUN, tl_check_mark(checker, until, "time"),
            "until is %g s, which is %.0f step%s of %g s; both are in seconds", time,
            floor(time / dt + 0.5), time < 1.5 * dt ? "" : "s", dt);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static const tl_map *size_map(void) {
  return tl_schema_fill.keys[tl_map_find(&tl_schema_fill, "size")].map;
}

/* Of a lognormal distribution: two sigmas below the median, where one in forty is smaller. */
double tl_warn_least_size(const tl_scene_size *size, bool is_given) {
  if (!is_given)
    return 1;
  if (tl_object_has(size_map(), size, "uniform"))
    return size->uniform[0];
  if (tl_object_has(size_map(), size, "lognormal"))
    return size->lognormal.median * tl_exp_d(-2 * size->lognormal.sigma);
  const double(*rows)[2] = size->table.data;
  double least = INFINITY;
  for (size_t i = 0; i < size->table.count; ++i)
    least = rows[i][1] > 0 ? fmin(least, rows[i][0]) : least;
  return least;
}

double tl_warn_most_size(const tl_scene_size *size, bool is_given) {
  if (!is_given)
    return 1;
  if (tl_object_has(size_map(), size, "uniform"))
    return size->uniform[1];
  if (tl_object_has(size_map(), size, "lognormal"))
    return size->lognormal.median * tl_exp_d(2 * size->lognormal.sigma);
  const double(*rows)[2] = size->table.data;
  double most = 0;
  for (size_t i = 0; i < size->table.count; ++i)
    most = rows[i][1] > 0 ? fmax(most, rows[i][0]) : most;
  return most;
}

/* The distributions are those of flow/size.c: shares w of mass are numbers w/s^3. */
double tl_warn_mean_cube(const tl_scene_size *size, bool is_given) {
  const bool by_mass = size->by == 1;
  if (!is_given)
    return 1;
  if (tl_object_has(size_map(), size, "uniform")) {
    const double a = size->uniform[0], b = size->uniform[1];
    if (b - a < 1e-9 * a)
      return a * a * a;
    return by_mass ? 2 * a * a * b * b / (a + b) : (a + b) * (a * a + b * b) / 4;
  }
  if (tl_object_has(size_map(), size, "lognormal")) {
    const double s2 = size->lognormal.sigma * size->lognormal.sigma;
    return tl_pow_d(size->lognormal.median, 3) * tl_exp_d(by_mass ? -4.5 * s2 : 4.5 * s2);
  }
  const double(*rows)[2] = size->table.data;
  double cubes = 0, weights = 0;
  for (size_t i = 0; i < size->table.count; ++i) {
    const double cube = tl_pow_d(rows[i][0], 3), weight = by_mass ? rows[i][1] / cube : rows[i][1];
    cubes += weight * cube;
    weights += weight;
  }
  return cubes / weights;
}

static double region_volume(const tl_scene_region *region) {
  const tl_map *map = tl_schema_fill.keys[tl_map_find(&tl_schema_fill, "in")].map;
  if (tl_object_has(map, region, "box"))
    return (region->box[3] - region->box[0]) * (region->box[4] - region->box[1]) *
           (region->box[5] - region->box[2]);
  if (tl_object_has(map, region, "sphere"))
    return 4.0 / 3.0 * PI * tl_pow_d(region->sphere.radius, 3);
  return PI * region->cylinder.radius * region->cylinder.radius * region->cylinder.length;
}

/* Share of the region that the bounding spheres of a fill take up; the fill places these. */
static double fill_share(const tl_checker *checker, const tl_scene_fill *fill) {
  const tl_scene_shape *shape = tl_check_shape(checker, &fill->shape);
  tl_scene_size_of size;
  if (!tl_scene_shape_size(shape, &size))
    return 0;
  const double r = size.radius, volume = size.volume;
  const double ball = 4.0 / 3.0 * PI * r * r * r;
  if (fill->fraction > 0)
    return fill->fraction * ball / volume;
  const bool has_size = tl_object_has(&tl_schema_fill, fill, "size");
  return (double)fill->count * ball * tl_warn_mean_cube(&fill->size, has_size) /
         region_volume(&fill->in);
}

static void warn_fills(tl_warner *w) {
  const tl_checker *checker = w->checker;
  const tl_scene_body *bodies = checker->scene->bodies.data;
  tl_node_id node = tl_check_first(checker, "bodies"), at = 0;
  double worst = DENSEST;
  size_t n = 0, row = 0;
  for (size_t i = 0; i < checker->scene->bodies.count;
       ++i, node = tl_node_at(checker->document, node)->next) {
    const double share = bodies[i].fill ? fill_share(checker, bodies[i].fill) : 0;
    n += share > DENSEST;
    if (share <= worst)
      continue;
    worst = share;
    row = i;
    at = tl_check_value(checker, node, "fill");
  }
  char more[MORE];
  if (n > 0)
    tl_warn(
        w, TL_WARN_DENSE_FILL,
        tl_check_mark(checker, at, bodies[row].fill->fraction > 0 ? "fraction" : "count"),
        "bodies.%zu.fill wants the spheres around its bodies to take %.2g times its volume%s, and "
        "spheres thrown together take 0.6 of it; expected fewer bodies or a larger region",
        row, worst, and_more(n - 1, more));
}

/* ---- names that nobody uses ------------------------------------------------------------------ */

/* Marks what bodies, fills and emitters name, then lists the others. */
typedef struct name_use {
  tl_text seen; /* a byte for each row of the table */
  const tl_names *names;
} name_use;

static void mark_used(name_use *use, const char *name) {
  uint32_t row;
  if (name && tl_names_find(use->names, name, &row) && row < use->seen.count)
    use->seen.data[row] = 1;
}

static void begin_use(name_use *use, const tl_names *names, size_t n) {
  *use = (name_use){.names = names};
  for (size_t i = 0; i < n; ++i)
    tl_text_add_bytes(&use->seen, "\0", 1);
}

static void warn_unused(tl_warner *w, uint32_t kind, const char *list, const tl_items *items,
                        size_t size, name_use *use) {
  tl_node_id key = tl_check_first(w->checker, list), at = 0;
  tl_text names = {0};
  size_t n = 0;
  for (size_t i = 0; i < items->count && use->seen.status == TALUS_OK;
       ++i, key = tl_node_at(w->checker->document, key)->next) {
    if (use->seen.data[i])
      continue;
    if (n == 0)
      at = key;
    if (n < NAMES_SHOWN)
      tl_text_add(&names, "%s`%.60s`", n == 0 ? "" : ", ",
                  *tl_item_name((char *)items->data + i * size));
    n++;
  }
  if (n > NAMES_SHOWN)
    tl_text_add(&names, ", ...");
  if (n > 0 && names.status == TALUS_OK)
    tl_warn(w, kind, tl_node_mark(w->checker->document, at), "no body is of the %s%s %s",
            kind == TL_WARN_UNUSED_SHAPE ? "shape" : "material", n == 1 ? "" : "s", names.data);
  tl_text_drop(&names);
  tl_text_drop(&use->seen);
}

static void warn_names(tl_warner *w) {
  const talus_scene *scene = w->checker->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  const tl_scene_emitter *emitters = scene->emit.data;
  name_use materials, shapes;
  begin_use(&materials, &w->checker->materials, scene->materials.count);
  begin_use(&shapes, &w->checker->shapes, scene->shapes.count);
  for (size_t i = 0; i < scene->bodies.count; ++i) {
    const tl_scene_fill *fill = bodies[i].fill;
    mark_used(&materials, bodies[i].table ? bodies[i].table->material
                          : fill          ? fill->material
                                          : bodies[i].material);
    mark_used(&shapes, fill ? fill->shape.name : bodies[i].shape.name);
  }
  for (size_t i = 0; i < scene->emit.count; ++i) {
    mark_used(&materials, emitters[i].material);
    mark_used(&shapes, emitters[i].shape.name);
  }
  /* Bodies of another run may be of materials that this scene describes anew. */
  if (w->checker->takes_from)
    tl_text_drop(&materials.seen);
  else
    warn_unused(w, TL_WARN_UNUSED_MATERIAL, "materials", &scene->materials,
                sizeof(tl_scene_material), &materials);
  warn_unused(w, TL_WARN_UNUSED_SHAPE, "shapes", &scene->shapes, sizeof(tl_scene_shape), &shapes);
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Kept as texts: the document goes with the end of reading. */
static talus_status keep(talus_scene *scene, tl_problems *found) {
  TL_TRY(found->status);
  tl_problems_sort(found);
  TL_TRY(tl_array_reserve(&scene->warnings, found->list.count));
  for (size_t i = 0; i < found->list.count; ++i) {
    char *text = NULL;
    TL_TRY(tl_problem_text(found, i, &text));
    scene->warnings.data[scene->warnings.count++] = text;
  }
  return TALUS_OK;
}

void tl_check_warn(tl_checker *checker) {
  tl_warner w = {.checker = checker};
  w.found.sources = checker->problems->sources;
  warn_densities(&w);
  warn_frictions(&w);
  warn_rolling(&w);
  warn_gravity(&w);
  warn_short_run(&w);
  warn_fills(&w);
  warn_names(&w);
  tl_warn_keys(&w);
  tl_warn_size(&w);
  tl_warn_throat(&w);
  tl_warn_step(&w);
  tl_warn_soft(&w);
  tl_warn_elastic(&w);
  if (checker->status == TALUS_OK)
    checker->status = keep(checker->scene, &w.found);
  memset(&w.found.sources, 0, sizeof w.found.sources); /* borrowed */
  tl_problems_free(&w.found);
}
