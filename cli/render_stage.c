/* Converts the bodies of a frame to things for the ray tracer, each with its colour. */
#include <stdlib.h>
#include <string.h>

#include "render.h"

#define PI 3.14159265f
/* half the height of a tooth, in radii over the number of teeth: nearly a module */
#define TOOTH 1.9f
#define FAR   1e12f /* m from the origin: bodies farther away are not drawn */

static const rgb fixed_colour = {0.42f, 0.41f, 0.40f};
static const rgb slab_colour = {0.62f, 0.61f, 0.59f};

/* ---- lists ----------------------------------------------------------------------------------- */

static void add(render_stage *stage, render_list *list, const void *item, size_t size) {
  if (list->count == list->capacity) {
    const size_t wanted = list->capacity ? 2 * list->capacity : 256;
    void *data = realloc(list->data, wanted * size);
    if (!data) {
      stage->is_short_of_memory = true;
      return;
    }
    list->data = data;
    list->capacity = wanted;
  }
  memcpy((char *)list->data + list->count++ * size, item, size);
}

#define ADD(stage, list, item) add(stage, &(stage)->list, &(item), sizeof(item))

static void add_box(render_stage *stage, scene_box box, rgb colour) {
  ADD(stage, boxes, box);
  ADD(stage, box_colours, colour);
}

static void add_rod(render_stage *stage, vec from, vec to, float radius, rgb colour) {
  const scene_rod rod = {from, to, radius};
  ADD(stage, rods, rod);
  ADD(stage, rod_colours, colour);
}

void render_stage_free(render_stage *stage) {
  render_list *const lists[] = {&stage->spheres,
                                &stage->sphere_colours,
                                &stage->boxes,
                                &stage->box_colours,
                                &stage->rods,
                                &stage->rod_colours,
                                &stage->lines,
                                &stage->ghosts,
                                &stage->wide_lines,
                                &stage->ghost_boxes,
                                &stage->planes,
                                &stage->panes,
                                &stage->cones,
                                &stage->solids,
                                &stage->solid_colours,
                                &stage->faces,
                                &stage->shape_faces,
                                &stage->veil_spheres,
                                &stage->veil_boxes,
                                &stage->veil_solids,
                                &stage->sphere_paints,
                                &stage->box_paints,
                                &stage->solid_paints,
                                &stage->triangles,
                                &stage->triangle_colours,
                                &stage->veil_triangles,
                                &stage->triangle_paints};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i)
    free(lists[i]->data);
  *stage = (render_stage){0};
}

/* Sides of a mesh in a frame (docs/formats.md). */
enum { SIDES_OUT = 1, SIDES_IN = 2 };

/* ---- bodies ---------------------------------------------------------------------------------- */

typedef struct staging {
  const render_options *options;
  const render_folder *folder;
  const render_view *view;
  const render_data *data;
  render_stage *stage;
} staging;

static const float *turn_of(const staging *s, size_t i) {
  static const float still[4] = {1, 0, 0, 0};
  return s->data->bodies.quaternion ? s->data->bodies.quaternion + 4 * i : still;
}

static vec place_of(const staging *s, const double *p) {
  const double *o = s->view->origin;
  return (vec){(float)(p[0] - o[0]), (float)(p[1] - o[1]), (float)(p[2] - o[2])};
}

/* The origin of a body's shape; positions of bodies are those of their centres of mass. */
static vec shape_origin(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const double *c = bodies->shape_table[bodies->shape[i]].centre;
  const float k = bodies->scale[i];
  const vec arm = {k * (float)c[0], k * (float)c[1], k * (float)c[2]};
  return vec_sub(place_of(s, bodies->position + 3 * i), render_turn(turn_of(s, i), arm));
}

static rgb colour_of_body(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const image_camera *camera = &s->view->camera;
  if (s->options->with_contacts) /* clear */
    return fixed_colour;
  if (s->options->colour == BY_MATERIAL)
    return colour_of_row(bodies->material[i]);
  if (render_folder_is_fixed(s->folder, bodies->id[i]))
    return fixed_colour;
  switch (s->options->colour) {
  case BY_ID:
    return colour_of_number(bodies->id[i]);
  case BY_ANGLE: {
    const float *v = bodies->velocity + 3 * i;
    const vec velocity = {v[0], v[1], v[2]};
    const float angle = atan2f(vec_dot(velocity, camera->up), vec_dot(velocity, camera->right));
    return colour_of_angle(angle,
                           0.1f + 0.9f * sqrtf(render_share(&s->view->colours, s->data->value[i])));
  }
  default:
    return colour_of(s->options->colour == BY_FORCE ? COLOUR_WARM : COLOUR_COOL,
                     render_share(&s->view->colours, s->data->value[i]));
  }
}

static image_paint paint_of(const staging *s, size_t i) {
  return (image_paint){colour_of_body(s, i),
                       render_choice_alpha(&s->options->choice, &s->data->bodies, i)};
}

/* A sphere of body i: a ghost if force chains are drawn, otherwise solid or translucent. */
static void put_sphere(const staging *s, const scene_sphere *sphere, const image_paint *paint) {
  if (s->options->with_contacts)
    ADD(s->stage, ghosts, *sphere);
  else if (paint->alpha < 1) {
    ADD(s->stage, veil_spheres, *sphere);
    ADD(s->stage, sphere_paints, *paint);
  } else {
    ADD(s->stage, spheres, *sphere);
    ADD(s->stage, sphere_colours, paint->colour);
  }
}

static void stage_sphere(const staging *s, size_t i) {
  const vec p = place_of(s, s->data->bodies.position + 3 * i);
  const scene_sphere sphere = {p.x, p.y, p.z, s->data->bodies.radius[i]};
  const image_paint paint = paint_of(s, i);
  put_sphere(s, &sphere, &paint);
}

/* A clump: its spheres, all of one colour. */
static void stage_clump(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const vec origin = shape_origin(s, i);
  const float scale = bodies->scale[i];
  const image_paint paint = paint_of(s, i);
  for (size_t k = 0; k < shape->points; ++k) {
    const double *p = bodies->point + 4 * (shape->point + k);
    const vec own = {scale * (float)p[0], scale * (float)p[1], scale * (float)p[2]};
    const vec at = vec_add(origin, render_turn(turn_of(s, i), own));
    const scene_sphere sphere = {at.x, at.y, at.z, scale * (float)p[3]};
    put_sphere(s, &sphere, &paint);
  }
}

/* The planes of a hull's triangles, in its own frame. Triangles of one face repeat a plane up to
 * rounding, which does no harm. */
static void add_faces(render_stage *stage, const frame *bodies, const frame_shape *shape) {
  for (size_t t = 0; t < shape->triangles; ++t) {
    const uint32_t *v = bodies->triangle + 3 * (shape->triangle + t);
    const double *a = bodies->point + 4 * (shape->point + v[0]);
    const double *b = bodies->point + 4 * (shape->point + v[1]);
    const double *c = bodies->point + 4 * (shape->point + v[2]);
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double w[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    double n[4] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0],
                   0};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(length > 0))
      continue;
    for (int k = 0; k < 3; ++k)
      n[k] /= length;
    /* a plane of a needle-like triangle must not cut off a vertex */
    for (size_t k = 0; k < shape->points; ++k) {
      const double *p = bodies->point + 4 * (shape->point + k);
      const double height = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
      n[3] = k == 0 || height > n[3] ? height : n[3];
    }
    add(stage, &stage->faces, n, sizeof n);
  }
}

static void stage_faces(const staging *s) {
  const frame *bodies = &s->data->bodies;
  for (size_t i = 0; i < bodies->shapes; ++i) {
    unsigned rows[2] = {(unsigned)s->stage->faces.count, 0};
    if (bodies->shape_table[i].kind == FRAME_HULL)
      add_faces(s->stage, bodies, &bodies->shape_table[i]);
    rows[1] = (unsigned)s->stage->faces.count - rows[0];
    add(s->stage, &s->stage->shape_faces, rows, sizeof rows);
  }
}

/* If two bodies have sides in one plane, rounding would choose between them pixel by pixel. So
 * every body with flat sides is enlarged by its own few thousandths of a pixel, which is ten times
 * the rounding error. */
static float puff(const staging *s, size_t i) {
  return 0.005f * s->view->pixel * (float)(1 + i % 29);
}

/* thin: multiplies the radius of a cylinder. */
static void stage_solid(const staging *s, size_t i, float thin) {
  const frame *bodies = &s->data->bodies;
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const unsigned *rows = (const unsigned *)s->stage->shape_faces.data + 2 * bodies->shape[i];
  if (s->stage->is_short_of_memory)
    return;
  scene_solid solid = {.origin = shape_origin(s, i),
                       .scale = bodies->scale[i] * (1 + puff(s, i) / bodies->radius[i]),
                       .centre = place_of(s, bodies->position + 3 * i),
                       .radius = bodies->radius[i] + puff(s, i),
                       .kind = shape->kind,
                       .plane = rows[0],
                       .plane_count = rows[1]};
  memcpy(solid.turn, turn_of(s, i), sizeof solid.turn);
  memcpy(solid.size, shape->size, sizeof solid.size);
  solid.size[0] *= (double)thin;
  const image_paint paint = paint_of(s, i);
  if (paint.alpha < 1 && !s->options->with_contacts) {
    ADD(s->stage, veil_solids, solid);
    ADD(s->stage, solid_paints, paint);
    return;
  }
  ADD(s->stage, solids, solid);
  ADD(s->stage, solid_colours, paint.colour);
}

/* True if the camera sees the outer side. */
static bool faces_camera(const staging *s, const scene_triangle *t) {
  const vec n = vec_cross(vec_sub(t->corner[1], t->corner[0]), vec_sub(t->corner[2], t->corner[0]));
  return vec_dot(n, vec_sub(s->view->camera.at, t->corner[0])) > 0;
}

/* Draws the triangles with flat shading. Triangles of a container that face the camera are omitted,
 * so that its content is visible. */
static void stage_mesh(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const vec origin = shape_origin(s, i);
  const float scale = bodies->scale[i], *q = turn_of(s, i);
  const image_paint paint = paint_of(s, i);
  const bool is_veil = paint.alpha < 1;
  render_list *list = is_veil ? &s->stage->veil_triangles : &s->stage->triangles;
  scene_triangle triangle = {.is_solid = shape->open == SIDES_OUT};
  triangle.item =
      (unsigned)(is_veil ? s->stage->triangle_paints.count : s->stage->triangle_colours.count);
  for (size_t t = 0; t < shape->triangles; ++t) {
    const uint32_t *v = bodies->triangle + 3 * (shape->triangle + t);
    for (int k = 0; k < 3; ++k) {
      const double *p = bodies->point + 4 * (shape->point + v[k]);
      const vec own = {scale * (float)p[0], scale * (float)p[1], scale * (float)p[2]};
      triangle.corner[k] = vec_add(origin, render_turn(q, own));
    }
    if (shape->open != SIDES_IN || !faces_camera(s, &triangle))
      add(s->stage, list, &triangle, sizeof triangle);
  }
  if (is_veil)
    ADD(s->stage, triangle_paints, paint);
  else
    ADD(s->stage, triangle_colours, paint.colour);
}

static scene_box box_at(const staging *s, size_t i, vec half) {
  const float *q = turn_of(s, i);
  return (scene_box){.centre = shape_origin(s, i),
                     .half = {render_turn(q, (vec){half.x, 0, 0}),
                              render_turn(q, (vec){0, half.y, 0}),
                              render_turn(q, (vec){0, 0, half.z})}};
}

static vec half_edges(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const double *size = bodies->shape_table[bodies->shape[i]].size;
  const float k = 0.5f * bodies->scale[i];
  return (vec){k * (float)size[0], k * (float)size[1], k * (float)size[2]};
}

static void put_box(const staging *s, const scene_box *box, const image_paint *paint) {
  if (s->options->with_contacts)
    ADD(s->stage, ghost_boxes, *box);
  else if (paint->alpha < 1) {
    ADD(s->stage, veil_boxes, *box);
    ADD(s->stage, box_paints, *paint);
  } else
    add_box(s->stage, *box, paint->colour);
}

static void stage_box(const staging *s, size_t i) {
  const float more = puff(s, i);
  const scene_box box = box_at(s, i, vec_add(half_edges(s, i), (vec){more, more, more}));
  const image_paint paint = paint_of(s, i);
  put_box(s, &box, &paint);
}

/* Teeth of a gear: boxes around the pitch circle, which is the rim of the cylinder. */
static void stage_teeth(const staging *s, size_t i, const render_gear *gear) {
  const frame *bodies = &s->data->bodies;
  const double *size = bodies->shape_table[bodies->shape[i]].size;
  const float radius = (float)size[0] * bodies->scale[i], step = 2 * PI / (float)gear->teeth;
  const float high = TOOTH * radius / (float)gear->teeth, wide = 0.21f * step * radius;
  const float *q = turn_of(s, i);
  const image_paint paint = paint_of(s, i);
  for (int k = 0; k < gear->teeth; ++k) {
    const float angle = (float)gear->phase + (float)k * step;
    const vec out = {cosf(angle), sinf(angle), 0}, around = {-out.y, out.x, 0};
    const vec up = {0, 0, 0.5f * (float)size[1] * bodies->scale[i]};
    const scene_box tooth = {
        .centre = vec_add(shape_origin(s, i), render_turn(q, vec_scale(out, radius))),
        .half = {render_turn(q, vec_scale(out, high)), render_turn(q, vec_scale(around, wide)),
                 render_turn(q, up)}};
    put_box(s, &tooth, &paint);
  }
}

/* The cylinder of a gear ends at the roots of its teeth. */
static void stage_cylinder(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const render_gear *gear = render_gears_of(s->folder->gears, s->folder->gear_count, bodies->id[i]);
  if (!gear || s->options->with_contacts) {
    stage_solid(s, i, 1);
    return;
  }
  stage_solid(s, i, 1 - 0.9f * TOOTH / (float)gear->teeth);
  stage_teeth(s, i, gear);
}

/* ---- walls and containers -------------------------------------------------------------------- */

/* Largest 1, 2 or 5 times a power of ten, at most x. */
static float round_length(float x) {
  const float power = powf(10, floorf(log10f(x))), digit = x / power;
  return power * (digit >= 5 ? 5.0f : digit >= 2 ? 2.0f : 1.0f);
}

static void stage_plane(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const double *size = bodies->shape_table[bodies->shape[i]].size;
  const float *q = turn_of(s, i);
  const vec given = {(float)size[0], (float)size[1], (float)size[2]};
  const float length = sqrtf(vec_dot(given, given));
  if (!(length > 0))
    return;
  image_plane plane = {.normal = render_turn(q, vec_scale(given, 1 / length)),
                       .origin = place_of(s, bodies->position + 3 * i),
                       .cell = round_length(0.4f * s->view->extent)};
  plane.offset =
      vec_dot(plane.normal, shape_origin(s, i)) + (float)size[3] / length * bodies->scale[i];
  /* The grid runs as nearly as possible along the plane's own axes: with x if that is in the
   * plane. */
  const vec x = render_turn(q, fabsf(given.x) < 0.9f * length ? (vec){1, 0, 0} : (vec){0, 1, 0});
  plane.u = vec_unit(vec_sub(x, vec_scale(plane.normal, vec_dot(x, plane.normal))));
  plane.v = vec_cross(plane.normal, plane.u);
  ADD(s->stage, planes, plane);
}

static void put_line(const staging *s, vec from, vec to, float radius) {
  const scene_rod rod = {from, to, radius}, wide = {from, to, radius + 2 * s->view->pixel};
  ADD(s->stage, lines, rod);
  ADD(s->stage, wide_lines, wide);
}

/* Sides in the order of TALUS_SIDE_...: -x, +x, -y, +y, -z, +z. */
static bool is_side_closed(uint32_t open, int axis, int positive) {
  return (open >> (2 * axis + positive) & 1u) == 0;
}

/* The glass is a little outside of the wall: bodies that are pressed into it by a hundredth of
 * their size would break through in specks. */
static void stage_pane(const staging *s, const scene_box *box, int axis, int positive) {
  const float away = s->view->pixel + 0.03f * s->view->typical;
  const float half = sqrtf(vec_dot(box->half[axis], box->half[axis]));
  const vec out = vec_scale(box->half[axis], (positive ? 1.0f : -1.0f) * (1 + away / half));
  const vec u = box->half[(axis + 1) % 3], v = box->half[(axis + 2) % 3];
  const image_pane pane = {vec_add(box->centre, out), u, v, vec_unit(vec_cross(u, v))};
  ADD(s->stage, panes, pane);
}

/* The edge along `axis` where the two other axes have these signs. */
static void stage_edge(const staging *s, const scene_box *box, int axis, int b_sign, int c_sign,
                       float radius) {
  const vec middle =
      vec_add(box->centre, vec_add(vec_scale(box->half[(axis + 1) % 3], b_sign ? 1.0f : -1.0f),
                                   vec_scale(box->half[(axis + 2) % 3], c_sign ? 1.0f : -1.0f)));
  put_line(s, vec_sub(middle, box->half[axis]), vec_add(middle, box->half[axis]), radius);
}

/* A container: a solid floor, glass walls, thin edges, so that its content is visible. */
static void stage_container(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const uint32_t open = bodies->shape_table[bodies->shape[i]].open;
  const vec half = half_edges(s, i);
  const scene_box box = box_at(s, i, half);
  const float radius = fmaxf(0.003f * sqrtf(vec_dot(half, half)), 0.75f * s->view->pixel);
  for (int axis = 0; axis < 3; ++axis) {
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    for (int k = 0; k < 4; ++k)
      if (is_side_closed(open, b, k & 1) || is_side_closed(open, c, k >> 1))
        stage_edge(s, &box, axis, k & 1, k >> 1, radius);
    for (int positive = 0; positive < 2; ++positive)
      if (is_side_closed(open, axis, positive) && !(axis == 2 && positive == 0))
        stage_pane(s, &box, axis, positive);
  }
  if (is_side_closed(open, 2, 0)) {
    scene_box slab = box;
    const float thin = 2.5f * radius / half.z; /* part of the half height */
    slab.centre = vec_sub(box.centre, vec_scale(box.half[2], 1 + thin));
    slab.half[2] = vec_scale(box.half[2], thin);
    add_box(s->stage, slab, slab_colour);
  }
}

static void stage_circle(const staging *s, size_t i, float z, float r, float radius) {
  enum { AROUND = 64 };
  const float *q = turn_of(s, i);
  const vec at = shape_origin(s, i);
  vec last = vec_add(at, render_turn(q, (vec){r, 0, z}));
  for (int k = 1; k <= AROUND; ++k) {
    const float angle = 6.2831853f * (float)k / AROUND;
    const vec next = vec_add(at, render_turn(q, (vec){r * cosf(angle), r * sinf(angle), z}));
    put_line(s, last, next, radius);
    last = next;
  }
}

/* Lines along its segments, an eighth of a turn apart. */
static void stage_meridians(const staging *s, size_t i, const double *p, const double *q,
                            float radius) {
  const float *turn = turn_of(s, i), scale = s->data->bodies.scale[i];
  const vec at = shape_origin(s, i);
  for (int k = 0; k < 8; ++k) {
    const float c = cosf(0.78539816f * (float)k), n = sinf(0.78539816f * (float)k);
    const float r0 = scale * (float)p[3], r1 = scale * (float)q[3];
    const vec from = {r0 * c, r0 * n, scale * (float)p[2]},
              to = {r1 * c, r1 * n, scale * (float)q[2]};
    put_line(s, vec_add(at, render_turn(turn, from)), vec_add(at, render_turn(turn, to)), radius);
  }
}

/* A revolved wall: glass, with its circles and eight meridians as thin lines. */
static void stage_revolved(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const frame_shape *shape = &bodies->shape_table[bodies->shape[i]];
  const float scale = bodies->scale[i];
  const float thin = fmaxf(0.002f * bodies->radius[i], 0.75f * s->view->pixel);
  const vec axis = render_turn(turn_of(s, i), (vec){0, 0, 1}), at = shape_origin(s, i);
  for (uint32_t k = 0; k < shape->points; ++k) {
    const double *p = bodies->point + 4 * ((size_t)shape->point + k), *q = p + 4;
    const bool is_end = k == 0 || k + 1 == shape->points;
    /* A curve has too many points for lines at each. */
    if (p[3] > 0 && (is_end || shape->points <= 32))
      stage_circle(s, i, scale * (float)p[2], scale * (float)p[3], thin);
    if (k + 1 == shape->points)
      continue;
    const bool up = q[2] >= p[2];
    const double *low = up ? p : q, *high = up ? q : p;
    const image_cone cone = {.low = vec_add(at, vec_scale(axis, scale * (float)low[2])),
                             .axis = axis,
                             .length = scale * (float)(high[2] - low[2]),
                             .radius = {scale * (float)low[3], scale * (float)high[3]}};
    ADD(s->stage, cones, cone);
    stage_meridians(s, i, p, q, 0.5f * thin);
  }
}

/* If no plane carries the scene, draws a floor below everything: shadows then show positions. Not
 * where bodies are left out: the floor would seem to be theirs. */
static void stage_floor(const staging *s) {
  const image_plane *planes = s->stage->planes.data;
  if (s->options->choice.has_only || s->options->choice.has_hide)
    return;
  for (size_t i = 0; i < s->stage->planes.count; ++i)
    if (planes[i].normal.z > 0.3f)
      return;
  float z = s->view->lowest;
  const scene_box *boxes = s->stage->boxes.data;
  for (size_t i = 0; i < s->stage->boxes.count; ++i)
    if (boxes[i].centre.z > z - 0.1f * s->view->extent) {
      const vec *h = boxes[i].half;
      z = fminf(z, boxes[i].centre.z - fabsf(h[0].z) - fabsf(h[1].z) - fabsf(h[2].z));
    }
  const image_plane plane = {
      .normal = {0, 0, 1}, .u = {1, 0, 0}, .v = {0, 1, 0}, .offset = z - 0.002f * s->view->extent};
  ADD(s->stage, planes, plane);
}

/* ---- force chains ---------------------------------------------------------------------------- */

/* From centre to centre through the contact; only to the contact if a body is a wall or fixed: the
 * centre of a board is no place where its forces meet. */
static bool stage_chains(const staging *s) {
  const frame *bodies = &s->data->bodies;
  const frame_contacts *contacts = &s->data->contacts;
  render_index index;
  if (!render_index_make(bodies, &index))
    return false;
  for (size_t i = 0; i < contacts->count; ++i) {
    const float share = render_share(&s->view->colours, render_contact_force(contacts, i));
    /* Rods below a fiftieth of the range would not be legible. */
    if (!(share > 0.02f))
      continue;
    const float radius = 0.42f * s->view->typical * sqrtf(share < 1 ? share : 1);
    const rgb colour = colour_of(COLOUR_WARM, share);
    const vec point = place_of(s, contacts->point + 3 * i);
    const uint64_t uids[2] = {contacts->body_a[i], contacts->body_b[i]};
    for (int k = 0; k < 2; ++k) {
      const size_t row = render_index_find(&index, uids[k]);
      if (row == SIZE_MAX || !render_is_shown(s->options, bodies, row))
        continue;
      const frame_kind kind = bodies->shape_table[bodies->shape[row]].kind;
      if (kind != FRAME_PLANE && kind != FRAME_CONTAINER && kind != FRAME_REVOLVED &&
          !render_folder_is_fixed(s->folder, uids[k]))
        add_rod(s->stage, point, place_of(s, bodies->position + 3 * row), radius, colour);
    }
  }
  render_index_free(&index);
  return true;
}

/* ---- the whole frame ------------------------------------------------------------------------- */

static void stage_body(const staging *s, size_t i) {
  const frame *bodies = &s->data->bodies;
  const vec p = place_of(s, bodies->position + 3 * i);
  if (!(fabsf(p.x) < FAR && fabsf(p.y) < FAR && fabsf(p.z) < FAR && bodies->radius[i] < FAR) ||
      !render_is_met(s->options, bodies, i))
    return;
  switch (bodies->shape_table[bodies->shape[i]].kind) {
  case FRAME_PLANE:
    stage_plane(s, i);
    break;
  case FRAME_CONTAINER:
    stage_container(s, i);
    break;
  case FRAME_REVOLVED:
    stage_revolved(s, i);
    break;
  case FRAME_BOX:
    stage_box(s, i);
    break;
  case FRAME_CLUMP:
    stage_clump(s, i);
    break;
  case FRAME_MESH:
    stage_mesh(s, i);
    break;
  case FRAME_ELLIPSOID:
  case FRAME_CAPSULE:
  case FRAME_CONE:
  case FRAME_SUPERELLIPSOID:
  case FRAME_HULL:
    stage_solid(s, i, 1);
    break;
  case FRAME_CYLINDER:
    stage_cylinder(s, i);
    break;
  case FRAME_SPHERE:
  case FRAME_OTHER:
    stage_sphere(s, i);
    break;
  }
}

bool render_stage_make(const render_options *options, const render_folder *folder,
                       const render_view *view, const render_data *data, render_stage *stage) {
  *stage = (render_stage){0};
  const staging s = {options, folder, view, data, stage};
  stage_faces(&s);
  for (size_t i = 0; i < data->bodies.bodies; ++i)
    stage_body(&s, i);
  stage_floor(&s);
  if (options->with_contacts && !stage_chains(&s))
    stage->is_short_of_memory = true;
  if (stage->is_short_of_memory)
    render_stage_free(stage);
  return !stage->is_short_of_memory;
}
