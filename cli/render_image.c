/* Light comes from a wide sun and a bright sky. Each sample of a pixel sends one ray from the eye
 * and, from the surface that it meets, one to a random point of the sun and one into the sky
 * (cosine-weighted), so that shadows are soft and crevices dark. Directions are spread evenly and
 * differ from pixel to pixel, not from frame to frame, so that still things do not flicker in a
 * film. If the first few samples agree, the others are omitted. Rays are traced one by one: packets
 * of 16 gained a fifth, and only for rays from the eye. */
#include "render_image.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define TILE         32 /* pixels */
#define THREADS_MOST 256
#define LINES        12     /* most crossings of lines that one ray examines */
#define FIRST        4      /* samples that decide whether a pixel needs the others */
#define AGREES       0.012f /* difference of brightness that is hardly visible */
#define PI           3.14159265f

static const vec sun = {-0.3638f, -0.5213f, 0.7719f}; /* unit: from the left of the fitted view */
static const float sun_spread = 0.075f;               /* sine of its angular radius */
static const rgb sun_light = {1.00f, 0.97f, 0.92f};
static const rgb sky_zenith = {0.40f, 0.44f, 0.50f};
static const rgb sky_horizon = {0.46f, 0.47f, 0.49f};
static const rgb ground_light = {0.34f, 0.335f, 0.325f}; /* light that a plane reflects upwards */
static const rgb line_colour = {0.09f, 0.10f, 0.12f};
static const rgb ground_albedo = {0.70f, 0.70f, 0.70f};

/* ---- small tools ----------------------------------------------------------------------------- */

static rgb mix(rgb a, rgb b, float t) {
  return (rgb){a.r + t * (b.r - a.r), a.g + t * (b.g - a.g), a.b + t * (b.b - a.b)};
}
static rgb times(rgb a, rgb b) { return (rgb){a.r * b.r, a.g * b.g, a.b * b.b}; }
static rgb scaled(rgb a, float s) { return (rgb){s * a.r, s * a.g, s * a.b}; }
static rgb plus(rgb a, rgb b) { return (rgb){a.r + b.r, a.g + b.g, a.b + b.b}; }

static float smooth(float low, float high, float x) {
  float t = (x - low) / (high - low);
  t = t < 0 ? 0 : t > 1 ? 1 : t;
  return t * t * (3 - 2 * t);
}

static vec at_distance(vec from, vec along, float t) { return vec_add(from, vec_scale(along, t)); }

/* Two unit vectors across n: Duff et al. (2017), "Building an orthonormal basis, revisited". */
static void basis(vec n, vec *s, vec *t) {
  const float sign = n.z < 0 ? -1.0f : 1.0f, a = -1 / (sign + n.z), b = n.x * n.y * a;
  *s = (vec){1 + sign * n.x * n.x * a, sign * b, -sign * n.x};
  *t = (vec){b, sign + n.y * n.y * a, -n.y};
}

/* ---- light ----------------------------------------------------------------------------------- */

/* Mean light on a surface from the sky above and the ground below it. */
static rgb around_of(vec normal) {
  const rgb above = mix(sky_horizon, sky_zenith, 0.6f);
  return mix(ground_light, above, 0.5f + 0.5f * normal.z);
}

static rgb sky(vec direction) {
  return mix(sky_horizon, sky_zenith, smooth(-0.1f, 0.9f, direction.z));
}

/* The background: white at the horizon, slightly blue above. */
static rgb background(vec direction) {
  static const rgb low = {0.90f, 0.905f, 0.91f}, high = {0.62f, 0.70f, 0.80f};
  return mix(low, high, 0.9f * smooth(-0.05f, 0.9f, direction.z));
}

static vec sun_direction(const noise_sampler *s) {
  float u, v;
  noise_take(s, 1, &u, &v);
  vec a, b;
  basis(sun, &a, &b);
  const float r = sun_spread * sqrtf(u);
  return vec_unit(vec_add(
      sun, vec_add(vec_scale(a, r * cosf(2 * PI * v)), vec_scale(b, r * sinf(2 * PI * v)))));
}

static vec cosine_direction(const noise_sampler *s, vec normal) {
  float u, v;
  noise_take(s, 2, &u, &v);
  vec a, b;
  basis(normal, &a, &b);
  const float r = sqrtf(u), h = sqrtf(1 - u);
  return vec_add(vec_scale(normal, h),
                 vec_add(vec_scale(a, r * cosf(2 * PI * v)), vec_scale(b, r * sinf(2 * PI * v))));
}

/* Distance to the nearest plane along a ray that comes from its front; index in *found. */
static float plane_distance(const image *what, vec from, vec along, const image_plane **found) {
  float nearest = INFINITY;
  for (size_t i = 0; i < what->plane_count; ++i) {
    const image_plane *plane = &what->planes[i];
    const float speed = vec_dot(plane->normal, along);
    const float height = vec_dot(plane->normal, from) - plane->offset;
    if (speed < 0 && height > 0 && height < -speed * nearest) {
      nearest = -height / speed;
      *found = plane;
    }
  }
  return nearest;
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* The part of a ray in front of the cut; near > far: none. */
typedef struct stretch {
  float near, far;
} stretch;

static stretch kept(const image *what, vec from, vec along) {
  stretch part = {0, INFINITY};
  if (!what->has_cut)
    return part;
  const float height = vec_dot(what->cut_normal, from) - what->cut_offset;
  const float speed = vec_dot(what->cut_normal, along);
  if (height > 0)
    part.near = speed < 0 ? -height / speed : INFINITY;
  else if (speed > 0)
    part.far = -height / speed;
  if (part.near == INFINITY)
    part.far = 0;
  return part;
}

static bool is_blocked(const image *what, vec from, vec along, float far) {
  const stretch part = kept(what, from, along);
  const float end = fminf(part.far, far);
  return part.near <= end && render_scene_blocked(what->solid, from, along, part.near, end);
}

#define LAYERS 24 /* most surfaces that one ray examines */

/* A distance just behind a surface. */
static float behind(float distance) { return distance * (1 + 4e-7f); }

/* If the ray leaves a body behind the cut without having entered it, the cut shows a cap. */
static bool find_cap(const image *what, const render_scene *scene, vec from, vec along, float near,
                     scene_hit *hit) {
  scene_hit entered[LAYERS];
  int n = 0;
  float at = near;
  for (int k = 0; k < LAYERS && render_scene_hit(scene, from, along, at, INFINITY, hit); ++k) {
    bool is_known = !hit->is_leaving;
    for (int i = 0; i < n; ++i)
      is_known = is_known || (entered[i].kind == hit->kind && entered[i].item == hit->item);
    if (!is_known) {
      hit->distance = near;
      hit->normal = what->cut_normal;
      hit->u = hit->v = 0;
      return true;
    }
    if (!hit->is_leaving)
      entered[n++] = *hit;
    at = behind(hit->distance);
  }
  return false;
}

/* The nearest body up to a distance. */
static bool find_solid(const image *what, vec from, vec along, float far, scene_hit *hit) {
  const stretch part = kept(what, from, along);
  const float end = fminf(part.far, far);
  if (!(part.near <= end))
    return false;
  if (part.near > 0 && find_cap(what, what->solid, from, along, part.near, hit))
    return true;
  return render_scene_hit(what->solid, from, along, part.near, end, hit);
}

typedef struct surface {
  vec at, normal;
  rgb albedo;
  float gloss; /* 0: matt */
} surface;

/* Light from a surface towards an eye that looks along `view`. */
static rgb shade(const image *what, const surface *s, vec view, float eye,
                 const noise_sampler *random) {
  /* Rays start slightly off the surface: a few dozen last bits of its coordinates. */
  const float off = 6e-6f * (eye + sqrtf(vec_dot(s->at, s->at)));
  const vec start = at_distance(s->at, s->normal, off);
  const vec out = cosine_direction(random, s->normal), to_sun = sun_direction(random);

  const image_plane *plane = NULL;
  const float ground = plane_distance(what, start, out, &plane);
  const bool closed = is_blocked(what, start, out, ground);
  /* A blocked ray meets a neighbour of about the same colour in about this light. A free ray gets
   * the mean light of its hemisphere, not that of its own direction, which reduces noise. */
  const rgb around = closed ? scaled(s->albedo, 0.16f) : around_of(s->normal);
  rgb light = times(s->albedo, around);

  const float facing = vec_dot(s->normal, sun);
  const bool lit = facing > 0 && !is_blocked(what, start, to_sun, INFINITY);
  if (lit)
    light = plus(light, times(s->albedo, scaled(sun_light, facing)));
  if (s->gloss > 0) {
    const float cosine = -vec_dot(view, s->normal);
    const vec mirror = vec_add(view, vec_scale(s->normal, 2 * cosine));
    const float grazing = 1 - (cosine < 1 ? cosine : 1);
    const float fresnel = 0.04f + 0.5f * grazing * grazing * grazing * grazing * grazing;
    const rgb seen = mirror.z > 0 ? sky(mirror) : ground_light;
    light = plus(light, scaled(seen, s->gloss * fresnel * (closed ? 0.25f : 1)));
    const float glint = vec_dot(mirror, sun);
    if (lit && glint > 0)
      light = plus(light, scaled(sun_light, s->gloss * 0.45f * powf(glint, 60)));
  }
  return light;
}

/* ---- surfaces -------------------------------------------------------------------------------- */

/* Part of a pixel's footprint that a line of the grid covers, along one axis. */
static float grid_line(float x, float cell, float width, float footprint) {
  const float d = fabsf(x / cell - floorf(x / cell + 0.5f)) * cell;
  const float soft = 0.5f * (width + footprint);
  return (1 - smooth(soft - footprint, soft + footprint, d)) * width / (width + footprint);
}

static rgb plane_colour(const image *what, const image_plane *plane, vec at, float eye,
                        float slant) {
  if (!(plane->cell > 0))
    return ground_albedo;
  const vec from = vec_sub(at, plane->origin);
  const float x = vec_dot(from, plane->u), y = vec_dot(from, plane->v);
  const float footprint = 0.0015f * eye / (slant > 0.05f ? slant : 0.05f);
  const float width = 0.012f * plane->cell + 0.0006f * what->extent;
  const float line = fmaxf(grid_line(x, plane->cell, width, footprint),
                           grid_line(y, plane->cell, width, footprint));
  return scaled(ground_albedo, 1 - 0.30f * line);
}

static rgb see_plane(const image *what, const image_plane *plane, vec from, vec along, float t,
                     const noise_sampler *random) {
  const vec at = at_distance(from, along, t);
  const vec away = vec_sub(at, what->middle);
  const float far = sqrtf(vec_dot(away, away)) / what->extent;
  const rgb behind = background(along);
  const float fade = smooth(1.8f, 7.0f, far);
  if (fade >= 1)
    return behind;
  const surface s = {.at = at,
                     .normal = plane->normal,
                     .albedo = plane_colour(what, plane, at, t, -vec_dot(plane->normal, along))};
  return mix(shade(what, &s, along, t, random), behind, fade);
}

/* Flat sides are less glossy: otherwise a whole side would light up at once. */
static bool is_flat(const image *what, const scene_hit *hit) {
  return hit->kind == SCENE_BOX || hit->kind == SCENE_TRIANGLE ||
         (hit->kind == SCENE_SOLID && hit->is_flat) ||
         (what->has_cut && vec_dot(hit->normal, what->cut_normal) > 0.9999f);
}

static rgb see_surface(const image *what, const scene_hit *hit, rgb albedo, vec from, vec along,
                       const noise_sampler *random) {
  surface s = {.at = at_distance(from, along, hit->distance),
               .normal = hit->normal,
               .albedo = albedo,
               .gloss = is_flat(what, hit) ? 0.3f : 0.9f};
  if (hit->kind == SCENE_BOX) {
    /* Sides are darker towards the edges, like worn corners, so that sides of one colour are
     * distinct. */
    const float edge = fmaxf(fabsf(hit->u), fabsf(hit->v));
    s.albedo = scaled(s.albedo, 1 - 0.25f * smooth(0.93f, 1.0f, edge));
  }
  return shade(what, &s, along, hit->distance, random);
}

static rgb see_solid(const image *what, const scene_hit *hit, vec from, vec along,
                     const noise_sampler *random) {
  const rgb albedo = hit->kind == SCENE_SPHERE     ? what->sphere_colours[hit->item]
                     : hit->kind == SCENE_BOX      ? what->box_colours[hit->item]
                     : hit->kind == SCENE_SOLID    ? what->solid_colours[hit->item]
                     : hit->kind == SCENE_TRIANGLE ? what->triangle_colours[hit->item]
                                                   : what->rod_colours[hit->item];
  return see_surface(what, hit, albedo, from, along, random);
}

/* Adds translucent surfaces in front of what is seen, from the nearest on. They cast no shadow. */
static rgb through_veils(const image *what, vec from, vec along, float distance, rgb seen,
                         const noise_sampler *random) {
  const stretch part = kept(what, from, along);
  const float far = fminf(part.far, distance);
  float at = part.near, left = 1; /* left: part of the light from behind that comes through */
  rgb sum = {0, 0, 0};
  scene_hit hit;
  for (int k = 0; what->veils && k < LAYERS && left > 0.02f && at <= far &&
                  render_scene_hit(what->veils, from, along, at, far, &hit);
       ++k) {
    const image_paint *paint = hit.kind == SCENE_SPHERE     ? &what->veil_spheres[hit.item]
                               : hit.kind == SCENE_BOX      ? &what->veil_boxes[hit.item]
                               : hit.kind == SCENE_TRIANGLE ? &what->veil_triangles[hit.item]
                                                            : &what->veil_solids[hit.item];
    const rgb colour = see_surface(what, &hit, paint->colour, from, along, random);
    sum = plus(sum, scaled(colour, left * paint->alpha));
    left *= 1 - paint->alpha;
    at = behind(hit.distance);
  }
  return plus(sum, scaled(seen, left));
}

/* ---- glass and ghosts ------------------------------------------------------------------------ */

static float pane_distance(const image_pane *pane, vec from, vec along) {
  const float speed = vec_dot(pane->normal, along);
  const float t = vec_dot(pane->normal, vec_sub(pane->centre, from)) / speed;
  if (!(t > 0) || !(t < INFINITY))
    return INFINITY;
  const vec at = vec_sub(at_distance(from, along, t), pane->centre);
  const bool inside = fabsf(vec_dot(at, pane->u)) <= vec_dot(pane->u, pane->u) &&
                      fabsf(vec_dot(at, pane->v)) <= vec_dot(pane->v, pane->v);
  return inside ? t : INFINITY;
}

static rgb breathe(rgb seen, float cosine) {
  static const rgb tint = {0.80f, 0.86f, 0.90f};
  const float grazing = 1 - (cosine < 1 ? cosine : 1);
  return mix(seen, tint, 0.035f + 0.22f * grazing * grazing * grazing);
}

/* Solves |across + t across_way| = radius of the cone at height z + t climb: up to two solutions. A
 * ring is met at its height. Returns their number. */
static int cone_places(const image_cone *cone, vec across, vec across_way, float z, float climb,
                       float t[2]) {
  if (!(cone->length > 0)) {
    t[0] = -z / climb;
    return 1;
  }
  const float slope = (cone->radius[1] - cone->radius[0]) / cone->length;
  const float r = cone->radius[0] + slope * z, grows = slope * climb;
  const float a = vec_dot(across_way, across_way) - grows * grows;
  const float b = vec_dot(across, across_way) - r * grows, c = vec_dot(across, across) - r * r;
  const float root = b * b - a * c;
  if (!(root >= 0) || a == 0)
    return 0;
  t[0] = (-b - sqrtf(root)) / a, t[1] = (-b + sqrtf(root)) / a;
  return 2;
}

static rgb through_cone(const image_cone *cone, vec from, vec along, const stretch *part,
                        float distance, rgb seen) {
  const vec d = vec_sub(from, cone->low);
  const float z = vec_dot(d, cone->axis), climb = vec_dot(along, cone->axis);
  const vec across = vec_sub(d, vec_scale(cone->axis, z));
  const vec way = vec_sub(along, vec_scale(cone->axis, climb));
  float t[2];
  const int n = cone_places(cone, across, way, z, climb, t);
  for (int k = 0; k < n; ++k) {
    const float height = z + t[k] * climb;
    const vec out = vec_add(across, vec_scale(way, t[k]));
    const float r = sqrtf(vec_dot(out, out)), *ends = cone->radius;
    const float slope = cone->length > 0 ? (ends[1] - ends[0]) / cone->length : 0;
    const bool is_ring = !(cone->length > 0);
    if (!(t[k] > 0 && t[k] < distance) || t[k] < part->near || t[k] > part->far ||
        (is_ring ? r < fminf(ends[0], ends[1]) || r > fmaxf(ends[0], ends[1])
                 : height < 0 || height > cone->length || ends[0] + slope * height < 0))
      continue;
    const vec normal =
        is_ring
            ? cone->axis
            : vec_unit(vec_sub(vec_scale(out, 1 / fmaxf(r, 1e-12f)), vec_scale(cone->axis, slope)));
    seen = breathe(seen, fabsf(vec_dot(normal, along)));
  }
  return seen;
}

/* Each pane in front of what is seen adds a little light, more at a slant. Their order is hardly
 * visible, so they are not sorted. */
static rgb through_panes(const image *what, vec from, vec along, float distance, rgb seen) {
  const stretch part = kept(what, from, along);
  for (size_t i = 0; i < what->pane_count; ++i) {
    const image_pane *pane = &what->panes[i];
    const float at = pane_distance(pane, from, along);
    if (at >= distance || at < part.near || at > part.far)
      continue;
    seen = breathe(seen, fabsf(vec_dot(pane->normal, along)));
  }
  for (size_t i = 0; i < what->cone_count; ++i)
    seen = through_cone(&what->cones[i], from, along, &part, distance, seen);
  return seen;
}

static rgb through_ghosts(const image *what, vec from, vec along, float distance, rgb seen) {
  static const rgb ghost = {0.45f, 0.50f, 0.56f};
  const stretch part = kept(what, from, along);
  const float far = fminf(part.far, distance);
  scene_hit hit;
  if (!what->ghosts || !(part.near <= far) ||
      !render_scene_hit(what->ghosts, from, along, part.near, far, &hit))
    return seen;
  const float rim = 1 + vec_dot(hit.normal, along);
  return mix(seen, ghost, 0.04f + 0.32f * rim * rim);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* Distance between a ray and a rod's axis. */
static float gap_of(const scene_rod *rod, vec from, vec along) {
  const vec axis = vec_sub(rod->to, rod->from), start = vec_sub(rod->from, from);
  /* across the ray: from its point to the rod's begin, and along the rod */
  const vec s = vec_sub(start, vec_scale(along, vec_dot(start, along)));
  const vec a = vec_sub(axis, vec_scale(along, vec_dot(axis, along)));
  const float square = vec_dot(a, a);
  float share = square > 0 ? -vec_dot(s, a) / square : 0;
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  const vec gap = vec_add(s, vec_scale(a, share));
  return sqrtf(vec_dot(gap, gap));
}

/* The part of the light that lines in front of `end` take, and the distance of the nearest. */
static float line_cover(const image *what, vec from, vec along, float near, float end, float unit,
                        float *distance) {
  scene_hit hit;
  float most = 0, at = near;
  for (int k = 0; what->lines && k < LINES && at <= end && most < 1 &&
                  render_scene_hit(what->lines, from, along, at, end, &hit);
       ++k) {
    const scene_rod *rod = &what->line_rods[hit.item];
    const float soft = 0.6f * unit * hit.distance;
    const float cover = (rod->radius + soft - gap_of(rod, from, along)) / (2 * soft);
    if (cover > 0 && most <= 0)
      *distance = hit.distance;
    most = fmaxf(most, cover);
    at = behind(hit.distance);
  }
  return most < 1 ? most : 1;
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static float unit_of(const image *what, const canvas *to) {
  return 2 * what->camera.tangent / (float)to->height;
}

/* Solids and meshes have a number each, other things 0: see `outline`. */
static uint64_t number_of(const scene_hit *hit) {
  return hit->kind == SCENE_SOLID || hit->kind == SCENE_TRIANGLE
             ? ((uint64_t)hit->kind + 1) << 32 | hit->item
             : 0;
}

/* unit: width of a pixel at a distance of 1. *body: number of what is seen. */
static rgb look(const image *what, vec from, vec along, float unit, const noise_sampler *random,
                uint64_t *body) {
  const image_plane *plane = NULL;
  const float ground = plane_distance(what, from, along, &plane);
  const stretch part = kept(what, from, along);
  scene_hit hit;
  rgb seen;
  float distance = ground;
  *body = 0;
  /* Bodies in the plane of the ground are in front of it. */
  if (find_solid(what, from, along, ground * (1 + 3e-6f), &hit)) {
    seen = see_solid(what, &hit, from, along, random);
    *body = number_of(&hit);
    distance = hit.distance;
  } else if (plane)
    seen = see_plane(what, plane, from, along, ground, random);
  else
    seen = background(along);
  float line = distance;
  const float cover =
      line_cover(what, from, along, part.near, fminf(part.far, distance), unit, &line);
  seen = mix(seen, line_colour, cover);
  if (cover > 0.5f)
    distance = line;
  seen = through_veils(what, from, along, distance, seen, random);
  seen = through_ghosts(what, from, along, distance, seen);
  return through_panes(what, from, along, distance, seen);
}

/* Brightness above 0.8 is compressed, so that highlights keep their colour longer. */
static float shoulder(float x) {
  return x <= 0.8f ? x : 0.8f + 0.2f * (1 - expf(-(x - 0.8f) / 0.2f));
}

/* Position in a tent filter two pixels wide: smoother edges than with a box. */
static float tent(float u) { return u < 0.5f ? sqrtf(2 * u) - 1 : 1 - sqrtf(2 - 2 * u); }

/* Samples of a pixel. */
typedef struct samples {
  rgb sum;
  int count, bodies, same; /* of all; of solids and meshes; of the first of these */
  uint64_t first;
} samples;

typedef struct work {
  const image *what;
  canvas *to;
  samples *taken;   /* by pixel */
  bool *is_settled; /* the first samples agree with each other and with those of neighbours */
  bool is_second;   /* second pass */
  atomic_int next;  /* next tile */
} work;

static rgb look_through(const work *job, int x, int y, const noise_sampler *random,
                        samples *taken) {
  const image_camera *camera = &job->what->camera;
  const int width = job->to->width, height = job->to->height;
  const float unit = unit_of(job->what, job->to);
  float u, v;
  noise_take(random, 0, &u, &v);
  const float px = (float)x + 0.5f + tent(u) - 0.5f * (float)width;
  const float py = 0.5f * (float)height - ((float)y + 0.5f + tent(v));
  const vec along = vec_unit(vec_add(camera->forward, vec_add(vec_scale(camera->right, unit * px),
                                                              vec_scale(camera->up, unit * py))));
  uint64_t body;
  rgb seen = look(job->what, camera->at, along, unit, random, &body);
  /* Clamped before averaging: one bright sample must not dominate a pixel. */
  seen = (rgb){shoulder(seen.r), shoulder(seen.g), shoulder(seen.b)};
  taken->first = taken->first ? taken->first : body;
  taken->bodies += body != 0;
  taken->same += body != 0 && body == taken->first;
  taken->sum = plus(taken->sum, seen);
  taken->count++;
  return seen;
}

/* The mean of the samples, darker where two solids meet: those of one colour that lie side by side
 * are otherwise one. */
static rgb mean_of(const image *what, const samples *taken) {
  const float share = taken->bodies > 0 ? (float)taken->same / (float)taken->bodies : 1;
  const float part = (float)taken->bodies / (float)taken->count;
  return scaled(taken->sum,
                (1 - what->outline * part * 4 * share * (1 - share)) / (float)taken->count);
}

static float difference(rgb a, rgb b) {
  return fmaxf(fabsf(a.r - b.r), fmaxf(fabsf(a.g - b.g), fabsf(a.b - b.b)));
}

/* Takes the first samples of a pixel; checks whether they agree. */
static void sample_first(work *job, int x, int y, int n) {
  const size_t at = (size_t)y * (size_t)job->to->width + (size_t)x;
  noise_sampler random = noise_sampler_of(job->what->random, x, y);
  samples *taken = &job->taken[at];
  rgb first = {0, 0, 0};
  float apart = 0;
  *taken = (samples){0};
  for (; random.index < n; random.index++) {
    const rgb seen = look_through(job, x, y, &random, taken);
    first = random.index == 0 ? seen : first;
    apart = fmaxf(apart, difference(first, seen));
  }
  job->is_settled[at] = apart < AGREES && taken->same == taken->bodies;
}

/* True if a pixel needs the other samples: thin things may hide between the first ones, but then
 * those of a neighbour have met them. */
static bool is_busy(const work *job, int x, int y, int n) {
  const int width = job->to->width, height = job->to->height;
  const samples *own = &job->taken[(size_t)y * (size_t)width + (size_t)x];
  for (int j = y > 0 ? y - 1 : 0; j <= y + 1 && j < height; ++j)
    for (int i = x > 0 ? x - 1 : 0; i <= x + 1 && i < width; ++i) {
      const size_t at = (size_t)j * (size_t)width + (size_t)i;
      const samples *other = &job->taken[at];
      if (!job->is_settled[at] || other->first != own->first ||
          difference(other->sum, own->sum) > AGREES * (float)n)
        return true;
    }
  return false;
}

static void sample_more(work *job, int x, int y, int n) {
  const size_t at = (size_t)y * (size_t)job->to->width + (size_t)x;
  samples all = job->taken[at];
  if (job->what->samples > n && is_busy(job, x, y, n)) {
    noise_sampler random = noise_sampler_of(job->what->random, x, y);
    for (random.index = n; random.index < job->what->samples; random.index++)
      look_through(job, x, y, &random, &all);
  }
  unsigned char *pixel = job->to->rgb + 3 * at;
  const rgb mean = mean_of(job->what, &all);
  pixel[0] = colour_byte(mean.r);
  pixel[1] = colour_byte(mean.g);
  pixel[2] = colour_byte(mean.b);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void *draw_tiles(void *context) {
  work *job = context;
  const int across = (job->to->width + TILE - 1) / TILE, down = (job->to->height + TILE - 1) / TILE;
  const int n = job->what->samples < FIRST ? job->what->samples : FIRST;
  for (int tile; (tile = atomic_fetch_add(&job->next, 1)) < across * down;) {
    const int x0 = tile % across * TILE, y0 = tile / across * TILE;
    for (int y = y0; y < y0 + TILE && y < job->to->height; ++y)
      for (int x = x0; x < x0 + TILE && x < job->to->width; ++x)
        if (job->is_second)
          sample_more(job, x, y, n);
        else
          sample_first(job, x, y, n);
  }
  return NULL;
}

static void draw_pass(work *job, bool is_second) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = job->what->threads > 0 ? job->what->threads : cores > 0 ? (int)cores : 1;
  threads = threads < THREADS_MOST ? threads : THREADS_MOST;
  pthread_t others[THREADS_MOST];
  job->is_second = is_second;
  atomic_store(&job->next, 0);
  int started = 0;
  while (started < threads - 1 && pthread_create(&others[started], NULL, draw_tiles, job) == 0)
    started++;
  draw_tiles(job); /* with any number of threads all tiles are drawn */
  for (int i = 0; i < started; ++i)
    pthread_join(others[i], NULL);
}

bool image_draw(const image *what, canvas *to) {
  const size_t pixels = (size_t)to->width * (size_t)to->height;
  work *job = malloc(sizeof *job);
  samples *taken = malloc(pixels * sizeof *taken);
  bool *is_settled = malloc(pixels * sizeof *is_settled);
  const bool good = job && taken && is_settled;
  if (good) {
    job->what = what;
    job->to = to;
    job->taken = taken;
    job->is_settled = is_settled;
    atomic_init(&job->next, 0);
    draw_pass(job, false);
    draw_pass(job, true);
  }
  free(job);
  free(taken);
  free(is_settled);
  return good;
}
