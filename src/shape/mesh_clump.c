/* A clump of spheres instead of a mesh: balls that touch the surface from within, found by
 * shrinking (Ma, Bae and Choi 2012), chosen greedily so that every place of the surface is near
 * one. */
#include "base/random.h"
#include "kernels/vec3.h"
#include "shape/mesh_tools.h"

#define PLACES  6000 /* places of the surface, about; each is compared with each */
#define SHRINKS 40

typedef struct surface_place {
  talus_dvec3 at, inwards; /* unit */
} surface_place;

typedef struct ball {
  talus_dvec3 centre;
  double radius;
} ball;

typedef struct clumping {
  TL_ARRAY(surface_place) place;
  TL_ARRAY(ball) ball;          /* one for each place */
  TL_ARRAY(uint32_t) gain;      /* places that a ball would cover and none does yet */
  TL_ARRAY(unsigned char) done; /* by place: covered */
  double error;
} clumping;

/* ---- places ---------------------------------------------------------------------------------- */

static talus_dvec3 corner(const tl_mesh *mesh, size_t t, int k) {
  const double *p = mesh->vertex[mesh->triangle[t][k]];
  return tl_dvec3(p[0], p[1], p[2]);
}

/* Chooses about PLACES places, spread by area: a whole number for each triangle, the remainder by
 * random numbers that are always the same. */
static talus_status find_places(const tl_mesh *mesh, double area, clumping *c) {
  for (size_t t = 0; t < mesh->triangles; ++t) {
    const talus_dvec3 a = corner(mesh, t, 0), u = tl_dsub(corner(mesh, t, 1), a);
    const talus_dvec3 v = tl_dsub(corner(mesh, t, 2), a), n = tl_dcross(u, v);
    const double length = tl_dlength(n);
    if (!(length > 0))
      continue;
    tl_random random = tl_random_start(0, TL_STREAM_MESH_CLUMP, t);
    const double share = PLACES * length / 2 / area;
    const size_t many = (size_t)(share + tl_random_unit(&random));
    for (size_t i = 0; i < many; ++i) {
      const double root = sqrt(tl_random_unit(&random)), q = tl_random_unit(&random);
      const talus_dvec3 at = tl_dadd(a, tl_dadd(tl_dscale(u, 1 - root), tl_dscale(v, root * q)));
      const surface_place place = {at, tl_dscale(n, -1 / length)};
      TL_TRY(tl_array_push(&c->place, place));
    }
  }
  return c->place.count > 0
             ? TALUS_OK
             : tl_fail(TALUS_ERROR_INVALID, "the mesh has no surface that spheres could cover");
}

/* ---- balls ----------------------------------------------------------------------------------- */

/* The place nearest to a centre, other than `self`. */
static size_t nearest(const clumping *c, talus_dvec3 centre, size_t self, double *square) {
  size_t best = self;
  *square = DBL_MAX;
  for (size_t i = 0; i < c->place.count; ++i) {
    const talus_dvec3 d = tl_dsub(c->place.data[i].at, centre);
    const double dd = tl_ddot(d, d);
    if (dd < *square && i != self)
      *square = dd, best = i;
  }
  return best;
}

/* The largest ball that touches the surface at a place from within: shrinks until no other place is
 * within it. Its radius through place q: |q - p|^2 / (2 n.(q - p)). */
static ball shrink(const clumping *c, size_t i, double radius) {
  const surface_place p = c->place.data[i];
  for (int k = 0; k < SHRINKS; ++k) {
    const talus_dvec3 centre = tl_dadd(p.at, tl_dscale(p.inwards, radius));
    double square;
    const size_t j = nearest(c, centre, i, &square);
    if (sqrt(square) >= radius * (1 - 1e-6))
      break;
    const talus_dvec3 d = tl_dsub(c->place.data[j].at, p.at);
    const double ahead = 2 * tl_ddot(p.inwards, d);
    if (!(ahead > 0))
      break;
    radius = tl_ddot(d, d) / ahead;
  }
  return (ball){tl_dadd(p.at, tl_dscale(p.inwards, radius)), radius};
}

/* Whether the surface of a ball, grown by the error, is within the error of a place. */
static bool covers(const clumping *c, const ball *b, size_t place) {
  return tl_dlength(tl_dsub(c->place.data[place].at, b->centre)) <= b->radius + 2 * c->error;
}

/* ---- choice ---------------------------------------------------------------------------------- */

static talus_status find_balls(const tl_mesh *mesh, clumping *c) {
  double extent = 0;
  for (size_t i = 0; i < mesh->vertices; ++i)
    for (int k = 0; k < 3; ++k)
      extent = fmax(extent, fabs(mesh->vertex[i][k] - mesh->vertex[0][k]));
  const size_t n = c->place.count;
  TL_TRY(tl_array_resize(&c->ball, n));
  TL_TRY(tl_array_resize(&c->gain, n));
  TL_TRY(tl_array_resize(&c->done, n));
  memset(c->done.data, 0, n);
  for (size_t i = 0; i < n; ++i)
    c->ball.data[i] = shrink(c, i, extent);
  for (size_t i = 0; i < n; ++i) {
    c->gain.data[i] = 0;
    for (size_t j = 0; j < n; ++j)
      c->gain.data[i] += covers(c, &c->ball.data[i], j);
  }
  return TALUS_OK;
}

static void take(clumping *c, size_t chosen) {
  for (size_t j = 0; j < c->place.count; ++j) {
    if (c->done.data[j] || !covers(c, &c->ball.data[chosen], j))
      continue;
    c->done.data[j] = 1;
    for (size_t i = 0; i < c->ball.count; ++i)
      c->gain.data[i] -= covers(c, &c->ball.data[i], j);
  }
}

static talus_status choose(clumping *c, size_t most, tl_spheres *spheres) {
  for (;;) {
    size_t best = 0;
    for (size_t i = 1; i < c->gain.count; ++i)
      if (c->gain.data[i] > c->gain.data[best])
        best = i;
    if (c->gain.data[best] == 0)
      return TALUS_OK;
    if (spheres->count / 4 == most)
      return tl_fail(TALUS_ERROR_INVALID,
                     "more than %zu spheres would be needed for an error of %g m; allow more", most,
                     c->error);
    const ball b = c->ball.data[best];
    const double row[4] = {b.centre.x, b.centre.y, b.centre.z, b.radius + c->error};
    for (int k = 0; k < 4; ++k)
      TL_TRY(tl_array_push(spheres, row[k]));
    take(c, best);
  }
}

/* The largest distance between a place of the mesh and the surface of the union. */
static double measure(const clumping *c, const tl_spheres *spheres) {
  double worst = 0;
  for (size_t i = 0; i < c->place.count; ++i) {
    double least = DBL_MAX;
    for (size_t k = 0; k < spheres->count; k += 4) {
      const double *s = spheres->data + k;
      const talus_dvec3 centre = tl_dvec3(s[0], s[1], s[2]);
      least = fmin(least, tl_dlength(tl_dsub(c->place.data[i].at, centre)) - s[3]);
    }
    worst = fmax(worst, fabs(least));
  }
  return worst;
}

talus_status tl_mesh_to_clump(const tl_mesh *mesh, double error, size_t most, tl_spheres *spheres,
                              double *measured) {
  tl_mesh_report report;
  TL_TRY(tl_mesh_check(mesh, &report));
  if (!report.closed || !report.oriented || !(report.volume > 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "spheres fill a closed mesh, but this one %s; `talus shape repair` may help",
                   report.closed ? "is inside out or has flipped edges" : "is open");
  if (!(error > 0 && tl_is_finite_d(error)))
    return tl_fail(TALUS_ERROR_INVALID, "the error is %g m, but must be above 0", error);
  clumping c = {.error = error};
  talus_status status = find_places(mesh, report.area, &c);
  if (status == TALUS_OK)
    status = find_balls(mesh, &c);
  if (status == TALUS_OK)
    status = choose(&c, most, spheres);
  *measured = status == TALUS_OK ? measure(&c, spheres) : 0;
  tl_array_free(&c.place);
  tl_array_free(&c.ball);
  tl_array_free(&c.gain);
  tl_array_free(&c.done);
  return status;
}
