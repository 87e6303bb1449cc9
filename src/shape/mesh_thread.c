/* Bolts and nuts: surfaces whose edges are helices.
 *
 * A column of vertices for each direction about the axis z, with a vertex at both ends and wherever
 * the thread has an edge; columns side by side are joined along the helices. */
#include "base/trig.h"
#include "kernels/vec3.h"
#include "shape/mesh_make.h"

#define TURN (2 * TL_PI)

/* Of the pitch: an edge of the thread nearer to an end is left out. */
#define NEAR_END 0.01

/* ISO 68-1: a crest of p/8, flanks of 5p/16 at 30 degrees, a root of p/4. Where its edges are, in
 * parts of the pitch from the middle of the crest. */
static const double edges[4] = {1.0 / 16, 6.0 / 16, 10.0 / 16, 15.0 / 16};

static double profile(const tl_mesh_thread *thread, double phase) {
  const double depth = thread->pitch * 5 / 16 * sqrt(3.0);
  const double from_crest = fmin(phase, 1 - phase) - 1.0 / 16;
  const double along = fmin(fmax(from_crest / (5.0 / 16), 0), 1);
  return thread->diameter / 2 - depth * along;
}

typedef struct columns {
  const tl_mesh_thread *thread;
  TL_ARRAY(uint32_t) start; /* vertices of column i: from start[i] to start[i + 1] */
  TL_ARRAY(double) z;
} columns;

static talus_status find_columns(const tl_mesh_thread *thread, columns *c) {
  c->thread = thread;
  const double pitch = thread->pitch, length = thread->length;
  for (size_t i = 0; i < thread->sides; ++i) {
    TL_TRY(tl_array_push(&c->start, (uint32_t)c->z.count));
    TL_TRY(tl_array_push(&c->z, 0));
    const double turned = (double)i / (double)thread->sides;
    for (int m = -1; m * pitch < length; ++m)
      for (int k = 0; k < 4; ++k) {
        const double z = pitch * (m + edges[k] + turned);
        if (z > NEAR_END * pitch && z < length - NEAR_END * pitch)
          TL_TRY(tl_array_push(&c->z, z));
      }
    TL_TRY(tl_array_push(&c->z, length));
  }
  return tl_array_push(&c->start, (uint32_t)c->z.count);
}

static void free_columns(columns *c) {
  tl_array_free(&c->start);
  tl_array_free(&c->z);
}

static double direction(const columns *c, size_t i) {
  return TURN * (double)i / (double)c->thread->sides;
}

static void place_columns(const columns *c, double wider, tl_mesh *mesh) {
  const size_t n = c->thread->sides;
  for (size_t i = 0; i < n; ++i)
    for (uint32_t v = c->start.data[i]; v < c->start.data[i + 1]; ++v) {
      const double turns = c->z.data[v] / c->thread->pitch - (double)i / (double)n;
      const double r = profile(c->thread, turns - floor(turns)) + wider, u = direction(c, i);
      mesh->vertex[v][0] = r * tl_cos_d(u);
      mesh->vertex[v][1] = r * tl_sin_d(u);
      mesh->vertex[v][2] = c->z.data[v];
    }
}

static size_t put(tl_mesh *mesh, size_t t, uint32_t a, uint32_t b, uint32_t c, bool outwards) {
  mesh->triangle[t][0] = a;
  mesh->triangle[t][1] = outwards ? b : c;
  mesh->triangle[t][2] = outwards ? c : b;
  return t + 1;
}

/* Column i and the next, from the bottom up: whoever is behind along the helix goes on, so that
 * vertices of one edge of the thread are joined. */
static size_t join_columns(const columns *c, size_t i, bool outwards, tl_mesh *mesh, size_t t) {
  const size_t n = c->thread->sides, next = (i + 1) % n;
  const double step = c->thread->pitch / (double)n, tie = 1e-6 * c->thread->pitch;
  uint32_t a = c->start.data[i], b = c->start.data[next];
  const uint32_t last_a = c->start.data[i + 1] - 1, last_b = c->start.data[next + 1] - 1;
  while (a < last_a || b < last_b) {
    const bool is_a =
        b == last_b || (a < last_a && c->z.data[a + 1] <= c->z.data[b + 1] - step + tie);
    t = put(mesh, t, a, b, is_a ? a + 1 : b + 1, outwards);
    a += is_a;
    b += !is_a;
  }
  return t;
}

/* 2 (z - sides): each column with the next, one triangle for each vertex above the lowest of
 * either. */
static size_t wall_of(const columns *c) { return 2 * (c->z.count - c->thread->sides); }

static size_t put_wall(const columns *c, bool outwards, tl_mesh *mesh) {
  size_t t = 0;
  for (size_t i = 0; i < c->thread->sides; ++i)
    t = join_columns(c, i, outwards, mesh, t);
  return t;
}

/* ---- bolt ------------------------------------------------------------------------------------ */

static talus_status make_bolt(const columns *c, tl_mesh *mesh) {
  const size_t n = c->thread->sides, wall = c->z.count;
  TL_TRY(tl_mesh_reserve(wall + 2, wall_of(c) + 2 * n, mesh));
  place_columns(c, 0, mesh);
  const double ends[2] = {0, c->thread->length};
  for (size_t k = 0; k < 2; ++k)
    memcpy(mesh->vertex[wall + k], (const double[]){0, 0, ends[k]}, sizeof *mesh->vertex);
  size_t t = put_wall(c, true, mesh);
  for (size_t i = 0; i < n; ++i) {
    const size_t next = (i + 1) % n;
    t = put(mesh, t, (uint32_t)wall, c->start.data[next], c->start.data[i], true);
    t = put(mesh, t, (uint32_t)wall + 1, c->start.data[i + 1] - 1, c->start.data[next + 1] - 1,
            true);
  }
  return TALUS_OK;
}

talus_status tl_mesh_make_bolt(const tl_mesh_thread *thread, tl_mesh *mesh) {
  columns c = {0};
  talus_status status = find_columns(thread, &c);
  if (status == TALUS_OK)
    status = make_bolt(&c, mesh);
  free_columns(&c);
  return status;
}

/* ---- nut ------------------------------------------------------------------------------------- */

/* The hexagon in direction u, of width 1 across flats. */
static double hexagon(double u) {
  const double sixth = TURN / 6;
  const double from_flat = u - sixth * floor(u / sixth + 0.5);
  return 0.5 / tl_cos_d(from_flat);
}

static void place_hexagon(const columns *c, size_t first, double z, tl_mesh *mesh) {
  for (size_t i = 0; i < c->thread->sides; ++i) {
    const double u = direction(c, i), r = c->thread->width * hexagon(u);
    const double at[3] = {r * tl_cos_d(u), r * tl_sin_d(u), z};
    memcpy(mesh->vertex[first + i], at, sizeof at);
  }
}

static size_t put_quad(tl_mesh *mesh, size_t t, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return put(mesh, put(mesh, t, a, b, c, true), a, c, d, true);
}

static talus_status make_nut(const columns *c, tl_mesh *mesh) {
  const uint32_t n = (uint32_t)c->thread->sides, low = (uint32_t)c->z.count, high = low + n;
  TL_TRY(tl_mesh_reserve(high + n, wall_of(c) + 6 * (size_t)n, mesh));
  place_columns(c, c->thread->clearance, mesh);
  place_hexagon(c, low, 0, mesh);
  place_hexagon(c, high, c->thread->length, mesh);
  size_t t = put_wall(c, false, mesh);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t next = (i + 1) % n, *start = c->start.data;
    t = put_quad(mesh, t, low + i, low + next, high + next, high + i);
    t = put_quad(mesh, t, start[i], start[next], low + next, low + i);
    t = put_quad(mesh, t, start[next + 1] - 1, start[i + 1] - 1, high + i, high + next);
  }
  return TALUS_OK;
}

talus_status tl_mesh_make_nut(const tl_mesh_thread *thread, tl_mesh *mesh) {
  columns c = {0};
  talus_status status = find_columns(thread, &c);
  if (status == TALUS_OK)
    status = make_nut(&c, mesh);
  free_columns(&c);
  return status;
}
