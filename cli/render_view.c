/* Fits the camera and the range of colours to one frame, or to all frames of a film.
 *
 * The fitted camera looks in a fixed direction. For a sphere (x, y, z; r) in coordinates (right,
 * up, forward) about an origin, a camera at (a, b, -t) sees it within the tangents (left, right)
 * when
 *
 *    a + t right >=  x - z right + r sqrt(1 + right^2)
 *   -a + t left  >= -x - z left  + r sqrt(1 + left^2)
 *
 * and likewise up and down. So only the largest right-hand sides of all bodies and frames are
 * needed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render.h"

#define STRAYS_FAR  1.25f /* strays are left out if the picture of all would be smaller by this */
#define STATICS     4096  /* most containers and fixed boxes that the fit examines */
#define STATIC_MOST 4.0f  /* a static body wider than the others by this factor is not fitted */

/* right, left, up, down of the frustum; then +x, -x, +y, -y, +z, -z of the world. */
enum { SUPPORTS = 10 };

typedef struct supports {
  float at[SUPPORTS];
} supports;

typedef struct view_finder {
  const render_options *options;
  const render_folder *folder;
  double origin[3];
  bool has_origin;
  vec right, up, forward;
  float tangent[4]; /* right, left, up, down */
  supports all;     /* of bodies */
  supports bodies;  /* without strays */
  supports statics[STATICS];
  size_t static_count;
  render_span values;
  float typical; /* m: median radius of the last frame with bodies */
  bool has_bodies;
  float *scratch;
  size_t scratch_size;
} view_finder;

static supports supports_of(const view_finder *s, vec p, float r) {
  const float x = vec_dot(p, s->right), y = vec_dot(p, s->up), z = vec_dot(p, s->forward);
  const float side[4] = {x, -x, y, -y};
  supports found;
  for (int k = 0; k < 4; ++k)
    found.at[k] = side[k] - z * s->tangent[k] + r * sqrtf(1 + s->tangent[k] * s->tangent[k]);
  const float world[6] = {p.x, -p.x, p.y, -p.y, p.z, -p.z};
  for (int k = 0; k < 6; ++k)
    found.at[4 + k] = world[k] + r;
  return found;
}

static void join(supports *to, const supports *from) {
  for (int k = 0; k < SUPPORTS; ++k)
    to->at[k] = fmaxf(to->at[k], from->at[k]);
}

static const supports nothing = {{-INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY,
                                  -INFINITY, -INFINITY, -INFINITY, -INFINITY}};

static vec local(const view_finder *s, const double *p) {
  return (vec){(float)(p[0] - s->origin[0]), (float)(p[1] - s->origin[1]),
               (float)(p[2] - s->origin[2])};
}

/* ---- one frame ------------------------------------------------------------------------------- */

/* Containers, revolved walls and fixed boxes: they hold the bodies. */
static bool is_static(const view_finder *s, const frame *bodies, size_t i) {
  const frame_kind kind = bodies->shape_table[bodies->shape[i]].kind;
  return (kind == FRAME_CONTAINER || kind == FRAME_REVOLVED ||
          (kind == FRAME_BOX && render_folder_is_fixed(s->folder, bodies->id[i]))) &&
         render_choice_shows(&s->options->choice, bodies, i);
}

static bool is_body(const view_finder *s, const frame *bodies, size_t i) {
  return bodies->radius[i] > 0 && !is_static(s, bodies, i) &&
         render_is_shown(s->options, bodies, i);
}

/* Corners of the bounding box of a static body in its own frame, m: low, high. */
static void box_of(const frame *bodies, size_t i, float box[2][3]) {
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const float scale = bodies->scale[i];
  for (int k = 0; k < 3; ++k)
    box[1][k] = 0.5f * scale * (float)shape->size[k], box[0][k] = -box[1][k];
  if (shape->kind != FRAME_REVOLVED)
    return;
  double most = 0, low = INFINITY, high = -INFINITY;
  for (uint32_t k = 0; k < shape->points; ++k) {
    const double *p = bodies->point + 4 * ((size_t)shape->point + k);
    low = fmin(low, p[2]), high = fmax(high, p[2]), most = fmax(most, p[3]);
  }
  for (int k = 0; k < 2; ++k)
    box[1][k] = scale * (float)most, box[0][k] = -box[1][k];
  box[0][2] = scale * (float)low, box[1][2] = scale * (float)high;
}

static void add_static(view_finder *s, const frame *bodies, size_t i) {
  float box[2][3];
  box_of(bodies, i, box);
  const vec centre = local(s, bodies->position + 3 * i);
  const float still[4] = {1, 0, 0, 0}, *q = bodies->quaternion ? bodies->quaternion + 4 * i : still;
  supports all = nothing;
  for (int c = 0; c < 8 && s->static_count < STATICS; ++c) {
    const vec corner = {box[c & 1][0], box[c >> 1 & 1][1], box[c >> 2][2]};
    const supports one = supports_of(s, vec_add(centre, render_turn(q, corner)), 0);
    join(&all, &one);
  }
  if (s->static_count < STATICS)
    s->statics[s->static_count++] = all;
}

/* Positions are relative to the first drawable body: floats then suffice. */
static void set_origin(view_finder *s, const frame *bodies) {
  for (int pass = 0; pass < 2 && !s->has_origin; ++pass)
    for (size_t i = 0; i < bodies->bodies && !s->has_origin; ++i)
      if (pass == 1 || is_body(s, bodies, i) || is_static(s, bodies, i)) {
        memcpy(s->origin, bodies->position + 3 * i, sizeof s->origin);
        s->has_origin = true;
      }
}

static bool reserve(view_finder *s, size_t n) {
  if (n <= s->scratch_size)
    return true;
  float *more = realloc(s->scratch, n * sizeof *more);
  if (!more)
    return false;
  s->scratch = more;
  s->scratch_size = n;
  return true;
}

/* Adds the extents of a frame's bodies; rows: the bodies that count. */
static void add_bodies(view_finder *s, const render_data *data, const uint32_t *rows, size_t n) {
  const frame *bodies = &data->bodies;
  const size_t strays = (size_t)(RENDER_STRAYS * (float)n);
  float *column = s->scratch, *rest = s->scratch + n; /* rest: SUPPORTS columns of n */
  for (size_t i = 0; i < n; ++i) {
    const supports one =
        supports_of(s, local(s, bodies->position + 3 * rows[i]), bodies->radius[rows[i]]);
    for (size_t k = 0; k < SUPPORTS; ++k)
      rest[k * n + i] = one.at[k];
  }
  for (size_t k = 0; k < SUPPORTS; ++k) {
    s->all.at[k] = fmaxf(s->all.at[k], render_select(rest + k * n, n, 0));
    s->bodies.at[k] = fmaxf(s->bodies.at[k], render_select(rest + k * n, n, strays));
  }
  for (size_t i = 0; i < n; ++i)
    column[i] = bodies->radius[rows[i]];
  s->typical = render_select(column, n, n / 2);
  if (data->value) {
    /* colours cover the range of free bodies: a wide wall would leave them one colour */
    size_t m = 0;
    for (size_t i = 0; i < n; ++i)
      if (!render_folder_is_fixed(s->folder, bodies->id[rows[i]]))
        rest[m++] = data->value[rows[i]];
    render_span_add(&s->values, rest, m);
  }
  s->has_bodies = true;
}

static void add_contacts(view_finder *s, const frame_contacts *contacts) {
  const size_t n = contacts->count;
  for (size_t i = 0; i < n; ++i)
    s->scratch[i] = render_contact_force(contacts, i);
  render_span_add(&s->values, s->scratch, n);
}

static bool add_frame(view_finder *s, const render_data *data) {
  const frame *bodies = &data->bodies;
  set_origin(s, bodies);
  uint32_t *rows = malloc((bodies->bodies + 1) * sizeof *rows);
  bool good = rows && reserve(s, (SUPPORTS + 1) * (bodies->bodies + 1)) &&
              reserve(s, data->contacts.count + 1);
  size_t n = 0;
  for (size_t i = 0; good && i < bodies->bodies; ++i) {
    if (is_body(s, bodies, i))
      rows[n++] = (uint32_t)i;
    else if (is_static(s, bodies, i))
      add_static(s, bodies, i);
  }
  if (good && n > 0)
    add_bodies(s, data, rows, n);
  if (good && s->options->with_contacts)
    add_contacts(s, &data->contacts);
  free(rows);
  return good;
}

/* ---- the camera ------------------------------------------------------------------------------ */

static float width_of(const supports *s) {
  return fmaxf(s->at[4] + s->at[5], fmaxf(s->at[6] + s->at[7], s->at[8] + s->at[9]));
}

/* Distance of the camera. */
static float distance_of(const view_finder *s, const supports *all) {
  const float *t = s->tangent, *most = all->at;
  return fmaxf((most[0] + most[1]) / (t[0] + t[1]), (most[2] + most[3]) / (t[2] + t[3]));
}

/* Bodies and their containers, unless these are much larger. *has_strays: some are left out. */
static supports all_of(const view_finder *s, bool *has_strays) {
  supports all = s->has_bodies ? s->bodies : nothing;
  *has_strays = false;
  for (size_t i = 0; i < s->static_count; ++i)
    if (!s->has_bodies || width_of(&s->statics[i]) <= STATIC_MOST * width_of(&s->bodies))
      join(&all, &s->statics[i]);
    else
      *has_strays = true;
  supports with_strays = all;
  join(&with_strays, &s->all);
  if (s->has_bodies && distance_of(s, &with_strays) <= STRAYS_FAR * distance_of(s, &all))
    all = with_strays;
  else if (s->has_bodies)
    *has_strays = true;
  const bool finite = isfinite(all.at[0]) && isfinite(width_of(&all)) && width_of(&all) > 0;
  if (!finite) /* only planes: a metre around the origin */
    all = supports_of(s, (vec){0, 0, 0}, 1);
  return all;
}

static vec fitted_place(const view_finder *s, const supports *all) {
  const float *t = s->tangent, *most = all->at;
  const float back = distance_of(s, all);
  /* If one pair of sides leaves room, the middle of it. */
  const float a = 0.5f * (most[0] - most[1] + back * (t[1] - t[0]));
  const float b = 0.5f * (most[2] - most[3] + back * (t[3] - t[2]));
  return vec_add(vec_add(vec_scale(s->right, a), vec_scale(s->up, b)),
                 vec_scale(s->forward, -back));
}

static void point_camera(image_camera *camera, vec forward) {
  camera->forward = vec_unit(forward);
  const vec above = fabsf(camera->forward.z) > 0.999f ? (vec){0, 1, 0} : (vec){0, 0, 1};
  camera->right = vec_unit(vec_cross(camera->forward, above));
  camera->up = vec_cross(camera->right, camera->forward);
}

static int place_camera(const view_finder *s, const supports *all, render_view *view) {
  const render_options *options = s->options;
  view->camera.at = fitted_place(s, all);
  if (options->has_camera) {
    view->camera.at = local(s, options->camera);
    const vec target = options->has_target ? local(s, options->target) : view->middle;
    const vec forward = vec_sub(target, view->camera.at);
    if (!(vec_dot(forward, forward) > 0)) {
      cli_error("render: --camera: the camera is where it looks at; move one of the two");
      return CLI_INPUT;
    }
    point_camera(&view->camera, forward);
  }
  return CLI_DONE;
}

const char *const render_views[] = {"corner", "front", "back", "left", "right", "top"};
const size_t render_view_count = sizeof render_views / sizeof *render_views;

/* Directions of the views: from the right, in front and above; then along an axis, slightly from
 * above. */
static const vec directions[] = {{-0.50f, 0.76f, -0.42f}, {0, 1, -0.06f},  {0, -1, -0.06f},
                                 {1, 0, -0.06f},          {-1, 0, -0.06f}, {0, 0, -1}};

static void begin(view_finder *s, const render_options *options, const render_folder *folder,
                  image_camera *camera) {
  const float tangent = tanf((float)(options->fov * 0.00872664626));
  const float aspect = (float)options->width / (float)options->height;
  camera->tangent = tangent;
  point_camera(camera, directions[options->view]);
  const float room = options->is_bare ? 0.06f : 0.10f;
  const float unit = render_unit(options->width, options->height);
  const float legend = 2 * RENDER_LEGEND * unit / (float)options->width;
  const float bar = options->is_bare ? room : fminf(legend, 0.5f);
  /* Title above, time below: no body is behind them. */
  const float words = 2 * RENDER_WORDS * unit / (float)options->height;
  const float lines = options->is_bare ? room : fmaxf(room, fminf(words, 0.5f));
  *s = (view_finder){.options = options,
                     .folder = folder,
                     .right = camera->right,
                     .up = camera->up,
                     .forward = camera->forward,
                     .tangent = {(1 - bar) * tangent * aspect, (1 - room) * tangent * aspect,
                                 (1 - lines) * tangent, (1 - lines) * tangent},
                     .all = nothing,
                     .bodies = nothing,
                     .values = render_span_none};
}

static int finish(view_finder *s, render_view *view) {
  const supports all = all_of(s, &view->has_strays);
  const float *b = all.at + 4;
  memcpy(view->origin, s->origin, sizeof view->origin);
  view->middle = (vec){0.5f * (b[0] - b[1]), 0.5f * (b[2] - b[3]), 0.5f * (b[4] - b[5])};
  const vec size = {b[0] + b[1], b[2] + b[3], b[4] + b[5]};
  view->extent = 0.5f * sqrtf(vec_dot(size, size));
  view->lowest = -b[5];
  view->typical = s->has_bodies ? s->typical : 0.05f * view->extent;
  view->colours = render_colours_of(s->options, &s->values);
  const int code = place_camera(s, &all, view);
  const vec away = vec_sub(view->middle, view->camera.at);
  view->pixel = 2 * view->camera.tangent * sqrtf(vec_dot(away, away)) / (float)s->options->height;
  return code;
}

int render_find_view(const render_options *options, const render_folder *folder, size_t first,
                     size_t last, render_view *view) {
  view_finder *s = malloc(sizeof *s); /* too large for a stack */
  *view = (render_view){0};
  int code = s ? CLI_DONE : CLI_FAILED;
  if (s)
    begin(s, options, folder, &view->camera);
  bool good = s != NULL;
  for (size_t i = first; good && code == CLI_DONE && i <= last; ++i) {
    render_data data;
    code = render_data_read(options, &folder->frames[i], &data);
    if (code == CLI_DONE)
      good = add_frame(s, &data);
    render_data_free(&data);
  }
  if (!good) {
    cli_error("out of memory");
    code = CLI_FAILED;
  }
  if (code == CLI_DONE)
    code = finish(s, view);
  if (s)
    free(s->scratch);
  free(s);
  return code;
}
