/* Light is a wide sun and a bright sky. Each sample of a pixel sends one ray from the eye and, from
 * what it meets, one to a random place of the sun and one into the sky (cosine-weighted), so that
 * shadows are soft and crevices dark. Directions are low-discrepancy and differ from pixel to
 * pixel, not from frame to frame: still things do not flicker in a film. */
#include "render_image.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define TILE 32 /* pixels */
#define PI   3.14159265f

static const vec sun = {-0.3638f, -0.5213f, 0.7719f}; /* unit: from the left of the fitted view */
static const float sun_spread = 0.075f;               /* sine of its angular radius */
static const rgb sun_light = {1.00f, 0.97f, 0.92f};
static const rgb sky_zenith = {0.40f, 0.44f, 0.50f};
static const rgb sky_horizon = {0.46f, 0.47f, 0.49f};
static const rgb ground_light = {0.34f, 0.335f, 0.325f}; /* what a plane sends back up */
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

/* ---- numbers that look random ---------------------------------------------------------------- */

typedef struct sampler {
  float offset[6]; /* of this pixel */
  int index;       /* of the sample */
} sampler;

static uint32_t scramble(uint32_t x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

static sampler sampler_of(int x, int y) {
  sampler s = {.index = 0};
  const uint32_t seed = scramble((uint32_t)x + 0x9e3779b9u * (uint32_t)y);
  for (uint32_t k = 0; k < 6; ++k)
    s.offset[k] = (float)(scramble(seed + k) >> 8) * 0x1p-24f;
  return s;
}

/* Pair k of a sample: points of the plane by the generalised golden ratio (Roberts 2018). */
static void take(const sampler *s, int k, float *u, float *v) {
  const float i = (float)s->index;
  *u = s->offset[2 * k] + 0.75487767f * i;
  *v = s->offset[2 * k + 1] + 0.56984029f * i;
  *u -= (float)(int)*u;
  *v -= (float)(int)*v;
}

/* ---- light ----------------------------------------------------------------------------------- */

static rgb sky(vec direction) {
  return mix(sky_horizon, sky_zenith, smooth(-0.1f, 0.9f, direction.z));
}

/* What is behind everything: white at the horizon, a little blue above. */
static rgb background(vec direction) {
  static const rgb low = {0.90f, 0.905f, 0.91f}, high = {0.62f, 0.70f, 0.80f};
  return mix(low, high, 0.9f * smooth(-0.05f, 0.9f, direction.z));
}

static vec sun_direction(const sampler *s) {
  float u, v;
  take(s, 1, &u, &v);
  vec a, b;
  basis(sun, &a, &b);
  const float r = sun_spread * sqrtf(u);
  return vec_unit(vec_add(
      sun, vec_add(vec_scale(a, r * cosf(2 * PI * v)), vec_scale(b, r * sinf(2 * PI * v)))));
}

static vec cosine_direction(const sampler *s, vec normal) {
  float u, v;
  take(s, 2, &u, &v);
  vec a, b;
  basis(normal, &a, &b);
  const float r = sqrtf(u), h = sqrtf(1 - u);
  return vec_add(vec_scale(normal, h),
                 vec_add(vec_scale(a, r * cosf(2 * PI * v)), vec_scale(b, r * sinf(2 * PI * v))));
}

/* Distance to the nearest plane along a ray that is in front of it; which one in *found. */
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

typedef struct surface {
  vec at, normal;
  rgb albedo;
  float gloss; /* 0: matt */
} surface;

/* What a surface sends to the eye that looks along `view`. */
static rgb shade(const image *what, const surface *s, vec view, float eye, const sampler *random) {
  /* Rays start a little off the surface: some dozens of the last bits of its coordinates. */
  const float off = 6e-6f * (eye + sqrtf(vec_dot(s->at, s->at)));
  const vec start = at_distance(s->at, s->normal, off);
  const vec out = cosine_direction(random, s->normal), to_sun = sun_direction(random);

  const image_plane *plane = NULL;
  const float ground = plane_distance(what, start, out, &plane);
  const bool closed = render_scene_blocked(what->solid, start, out, 0, ground);
  /* A blocked ray meets a neighbour of about the same colour in about this light. */
  const rgb around = closed ? scaled(s->albedo, 0.16f) : plane ? ground_light : sky(out);
  rgb light = times(s->albedo, around);

  const float facing = vec_dot(s->normal, to_sun);
  const bool lit = facing > 0 && !render_scene_blocked(what->solid, start, to_sun, 0, INFINITY);
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

/* Share of a line of the grid in a pixel's footprint, along one axis. */
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
                     const sampler *random) {
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

static rgb see_solid(const image *what, const scene_hit *hit, vec from, vec along,
                     const sampler *random) {
  if (hit->kind == SCENE_ROD && hit->item < what->flat_rods)
    return what->rod_colours[hit->item];
  surface s = {.at = at_distance(from, along, hit->distance),
               .normal = hit->normal,
               .albedo = hit->kind == SCENE_SPHERE ? what->sphere_colours[hit->item]
                         : hit->kind == SCENE_BOX  ? what->box_colours[hit->item]
                                                   : what->rod_colours[hit->item],
               .gloss = hit->kind == SCENE_BOX ? 0.3f : 0.9f};
  if (hit->kind == SCENE_BOX) {
    /* Darker towards the edges, as worn corners are: sides of one colour stay apart. */
    const float edge = fmaxf(fabsf(hit->u), fabsf(hit->v));
    s.albedo = scaled(s.albedo, 1 - 0.25f * smooth(0.93f, 1.0f, edge));
  }
  return shade(what, &s, along, hit->distance, random);
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

/* Each pane in front of what is seen adds a breath of light, more where it is seen at a slant.
 * Their order hardly shows in so thin a veil, so they are not sorted. */
static rgb through_panes(const image *what, vec from, vec along, float distance, rgb seen) {
  static const rgb tint = {0.80f, 0.86f, 0.90f};
  for (size_t i = 0; i < what->pane_count; ++i) {
    const image_pane *pane = &what->panes[i];
    if (pane_distance(pane, from, along) >= distance)
      continue;
    const float cosine = fabsf(vec_dot(pane->normal, along));
    const float grazing = 1 - (cosine < 1 ? cosine : 1);
    seen = mix(seen, tint, 0.05f + 0.35f * grazing * grazing * grazing);
  }
  return seen;
}

static rgb through_ghosts(const image *what, vec from, vec along, float distance, rgb seen) {
  static const rgb ghost = {0.45f, 0.50f, 0.56f};
  scene_hit hit;
  if (!what->ghosts || !render_scene_hit(what->ghosts, from, along, 0, distance, &hit))
    return seen;
  const float rim = 1 + vec_dot(hit.normal, along);
  return mix(seen, ghost, 0.07f + 0.40f * rim * rim);
}

/* ---- pixels ---------------------------------------------------------------------------------- */

static rgb look(const image *what, vec from, vec along, const sampler *random) {
  const image_plane *plane = NULL;
  const float ground = plane_distance(what, from, along, &plane);
  scene_hit hit;
  rgb seen;
  float distance = ground;
  if (render_scene_hit(what->solid, from, along, 0, ground, &hit)) {
    seen = see_solid(what, &hit, from, along, random);
    distance = hit.distance;
  } else if (plane)
    seen = see_plane(what, plane, from, along, ground, random);
  else
    seen = background(along);
  seen = through_ghosts(what, from, along, distance, seen);
  return through_panes(what, from, along, distance, seen);
}

/* Above 0.8 brightness is compressed, so that highlights keep their colour for longer. */
static float shoulder(float x) {
  return x <= 0.8f ? x : 0.8f + 0.2f * (1 - expf(-(x - 0.8f) / 0.2f));
}

/* Position within a tent two pixels wide: smoother edges than a box. */
static float tent(float u) { return u < 0.5f ? sqrtf(2 * u) - 1 : 1 - sqrtf(2 - 2 * u); }

static void draw_pixel(const image *what, const canvas *to, int x, int y) {
  const image_camera *camera = &what->camera;
  const float unit = 2 * camera->tangent / (float)to->height;
  sampler random = sampler_of(x, y);
  rgb sum = {0, 0, 0};
  for (; random.index < what->samples; random.index++) {
    float u, v;
    take(&random, 0, &u, &v);
    const float px = (float)x + 0.5f + tent(u) - 0.5f * (float)to->width;
    const float py = 0.5f * (float)to->height - ((float)y + 0.5f + tent(v));
    const vec along = vec_unit(vec_add(camera->forward, vec_add(vec_scale(camera->right, unit * px),
                                                                vec_scale(camera->up, unit * py))));
    const rgb seen = look(what, camera->at, along, &random);
    /* Cut before averaging: one bright sample must not win over a whole pixel. */
    sum = plus(sum, (rgb){shoulder(seen.r), shoulder(seen.g), shoulder(seen.b)});
  }
  unsigned char *pixel = to->rgb + 3 * ((size_t)y * (size_t)to->width + (size_t)x);
  const float share = 1 / (float)what->samples;
  pixel[0] = colour_byte(share * sum.r);
  pixel[1] = colour_byte(share * sum.g);
  pixel[2] = colour_byte(share * sum.b);
}

/* ---- threads --------------------------------------------------------------------------------- */

typedef struct work {
  const image *what;
  canvas *to;
  atomic_int next; /* tile */
} work;

static void *draw_tiles(void *context) {
  work *job = context;
  const int across = (job->to->width + TILE - 1) / TILE, down = (job->to->height + TILE - 1) / TILE;
  for (int tile; (tile = atomic_fetch_add(&job->next, 1)) < across * down;) {
    const int x0 = tile % across * TILE, y0 = tile / across * TILE;
    for (int y = y0; y < y0 + TILE && y < job->to->height; ++y)
      for (int x = x0; x < x0 + TILE && x < job->to->width; ++x)
        draw_pixel(job->what, job->to, x, y);
  }
  return NULL;
}

void image_draw(const image *what, canvas *to) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  int threads = what->threads > 0 ? what->threads : cores > 0 ? (int)cores : 1;
  threads = threads < 256 ? threads : 256;
  pthread_t others[256];
  work job = {.what = what, .to = to};
  atomic_init(&job.next, 0);
  int started = 0;
  while (started < threads - 1 && pthread_create(&others[started], NULL, draw_tiles, &job) == 0)
    started++;
  draw_tiles(&job); /* however few threads there are, all tiles get drawn */
  for (int i = 0; i < started; ++i)
    pthread_join(others[i], NULL);
}
