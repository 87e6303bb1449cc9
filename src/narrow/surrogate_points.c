/* Contacts of one pair from a list of its near triangles, without scratch: does for one pair what
 * narrow/parts_mesh.c does for many at once. */
#include "narrow/mesh_contour.h"
#include "narrow/surrogate.h"

typedef struct meeting {
  const tl_mesh_pair *pair;
  tl_mesh_points points;
  tl_mesh_points here; /* of the block of triangles being visited */
  uint32_t block;
  bool is_deep;
} meeting;

static void end_block(meeting *m) {
  tl_mesh_points_close(&m->here);
  for (int i = 0; i < m->here.count; ++i)
    tl_mesh_points_add(&m->points, &m->here.list[i]);
  m->here.count = 0;
}

static void begin_triangle(meeting *m, uint32_t triangle) {
  if (triangle / TL_MESH_BLOCK != m->block)
    end_block(m);
  m->block = triangle / TL_MESH_BLOCK;
}

static void meet_run(meeting *m, const tl_mesh_run *run) {
  begin_triangle(m, run->triangle);
  if (!m->pair->thesis)
    m->is_deep = tl_mesh_pair_meet(m->pair, run, &m->here) || m->is_deep;
  else if (run->is_a)
    for (size_t i = 0; i < run->count; ++i)
      tl_mesh_pair_meet_near(m->pair, run->triangle, tl_mesh_key_other(run->keys[i]), &m->here);
}

static void meet_keys(meeting *m, bool is_a, const tl_mesh_key *keys, size_t count) {
  m->block = 0;
  for (size_t i = 0; i < count;) {
    tl_mesh_run run = {.is_a = is_a, .triangle = tl_mesh_key_own(keys[i]), .keys = keys + i};
    while (i < count && tl_mesh_key_own(keys[i]) == run.triangle)
      ++i, ++run.count;
    meet_run(m, &run);
  }
  end_block(m);
}

static void meet_deep(meeting *m) {
  for (int side = 0; side < 2; ++side) {
    const tl_facets *f = side == 0 ? m->pair->a.f : m->pair->b.f;
    m->block = 0;
    for (uint32_t t = 0; t < f->triangles; ++t) {
      begin_triangle(m, t);
      tl_mesh_pair_meet_deep(m->pair, side == 0, t, &m->here);
    }
    end_block(m);
  }
}

int tl_surrogates_points(const tl_mesh_pair *pair, bool is_first, tl_mesh_key *of_a,
                         tl_mesh_key *of_b, tl_mesh_key *scratch, size_t count,
                         tl_point out[TL_MESH_MOST]) {
  meeting m;
  tl_mesh_contours contours;
  m.pair = pair, m.is_deep = false;
  tl_mesh_points_start(&m.points, pair), tl_mesh_points_start(&m.here, pair);
  for (size_t i = 0; i < count; ++i)
    of_b[i] = tl_mesh_key_make(tl_mesh_key_other(of_a[i]), tl_mesh_key_own(of_a[i]),
                               tl_mesh_key_crosses(of_a[i]));
  tl_front_sort_keys(of_a, scratch, count);
  tl_front_sort_keys(of_b, scratch, count);
  meet_keys(&m, true, of_a, count);
  meet_keys(&m, false, of_b, count);
  const tl_mesh_crossings crossings = {.pair = pair, .keys = of_a, .count = count};
  const tl_mesh_depth depth =
      tl_mesh_contours_judge(&crossings, is_first, m.is_deep, &m.points, &contours);
  if (depth == TL_MESH_AGAIN)
    return -1;
  if (depth == TL_MESH_BY_VERTICES)
    meet_deep(&m);
  if (depth == TL_MESH_BY_CONTOURS) {
    tl_mesh_contours_reach_all(pair, &contours);
    tl_mesh_contours_finish(pair, &contours, &m.points);
  }
  tl_mesh_contours_part(&crossings, &contours, &m.points);
  return tl_mesh_points_take(&m.points, out);
}
