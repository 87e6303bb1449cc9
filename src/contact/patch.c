#include "base/power.h"
#include "contact/patch.h"

#include "kernels/collide.h"

#include <math.h>

#define MOST_POINTS 8
#define MOST_GROUPS 24 /* most contacts of a pair that are examined */
#define AT_LIMIT    0.95
#define IN_PLANE    1e-6 /* most 1 - cosine between normals of a patch */
/* Part of the width of a patch by which its gaps may differ; if they differ more, only an edge
 * touches. */
#define FLAT 1e-3
/* Factor on the distance of the load from the middle that points keep: the load may move within the
 * step. */
#define ROOM 1.25

/* The points of a patch in its plane, relative to their middle, counter-clockwise. */
typedef struct patch {
  int count;
  const tl_contact *contact[MOST_POINTS];
  talus_vec3 normal;
  talus_dvec3 middle, u, v;
  double x[MOST_POINTS], y[MOST_POINTS];
} patch;

static talus_dvec3 wide(talus_vec3 v) { return tl_dvec3((double)v.x, (double)v.y, (double)v.z); }

/* ---- geometry -------------------------------------------------------------------------------- */

/* Orders angles of (x, y) in three classes: below 0, from 0 to less than pi, pi. */
static int side_of_angle(double x, double y) { return y < 0 ? 0 : y > 0 || x >= 0 ? 1 : 2; }

/* True if the angle of (x, y), between -pi and pi, is larger than that of (u, v). */
static bool is_larger_angle(double x, double y, double u, double v) {
  const int side = side_of_angle(x, y), other = side_of_angle(u, v);
  return side != other ? side > other : u * y > v * x;
}

static void put_in_order(patch *p) {
  for (int i = 1; i < p->count; ++i) {
    const double x = p->x[i], y = p->y[i];
    const tl_contact *c = p->contact[i];
    int j = i;
    for (; j > 0 && is_larger_angle(p->x[j - 1], p->y[j - 1], x, y); --j)
      p->x[j] = p->x[j - 1], p->y[j] = p->y[j - 1], p->contact[j] = p->contact[j - 1];
    p->x[j] = x, p->y[j] = y, p->contact[j] = c;
  }
}

static void measure(patch *p) {
  const talus_dvec3 first = p->contact[0]->point, n = wide(p->normal);
  p->middle = tl_dvec3(0, 0, 0);
  for (int i = 0; i < p->count; ++i) /* numbers stay small, wherever the patch is */
    p->middle = tl_dadd(p->middle, tl_dsub(p->contact[i]->point, first));
  p->middle = tl_dadd(first, tl_dscale(p->middle, 1.0 / p->count));
  p->u = wide(tl_any_orthogonal(p->normal));
  p->v = tl_dcross(n, p->u);
  for (int i = 0; i < p->count; ++i) {
    const talus_dvec3 d = tl_dsub(p->contact[i]->point, p->middle);
    p->x[i] = tl_ddot(d, p->u), p->y[i] = tl_ddot(d, p->v);
  }
  put_in_order(p);
}

static double mean_radius(const patch *p) {
  double sum = 0;
  for (int i = 0; i < p->count; ++i)
    sum += sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i]);
  return sum / p->count;
}

/* The integral of sec^3: mean distances along an edge need it. */
static double secant_cubed(double tangent) {
  return 0.5 * (tangent * sqrt(1 + tangent * tangent) + tl_asinh_d(tangent));
}

/* Mean distance from the middle over the area of the polygon. */
static double mean_distance(const patch *p) {
  double moment = 0, area = 0;
  for (int i = 0; i < p->count; ++i) {
    const int j = i + 1 < p->count ? i + 1 : 0;
    const double ex = p->x[j] - p->x[i], ey = p->y[j] - p->y[i], length = sqrt(ex * ex + ey * ey);
    const double twice = p->x[i] * p->y[j] - p->y[i] * p->x[j], height = twice / length;
    if (!(height > 1e-9 * length))
      continue;
    const double from = (p->x[i] * ex + p->y[i] * ey) / (length * height);
    const double to = (p->x[j] * ex + p->y[j] * ey) / (length * height);
    moment += height * height * height / 3 * (secant_cubed(to) - secant_cubed(from));
    area += 0.5 * twice;
  }
  return area > 0 ? moment / area : 0;
}

/* True if the face of the body at this feature is a disc (numbers of kernels/convex.h). */
static bool is_disc(const tl_model *model, uint32_t slot, uint32_t feature) {
  const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
  const uint32_t face = feature >> 8;
  return (kind == TALUS_CYLINDER && (face == 1 || face == 2)) || (kind == TALUS_CONE && face == 1);
}

/* Factor on the distance of points from the middle that gives the torque of uniform pressure: 1/2
 * for an edge, 2/3 for a disc (whose points are four of its rim). */
static double torque_share(const tl_model *model, const patch *p) {
  const tl_contact *c = p->contact[0];
  if (p->count == 2)
    return 0.5;
  if (is_disc(model, c->a, c->feature_a) || is_disc(model, c->b, c->feature_b))
    return 2.0 / 3;
  const double radius = mean_radius(p), share = radius > 0 ? mean_distance(p) / radius : 1;
  return share > 0 && share < 1 ? share : 1;
}

/* Smallest factor on the distances for which the point (x, y) is still between the points. */
static double load_share(const patch *p, double x, double y) {
  double most = 0;
  if (p->count == 2) {
    const double square = p->x[0] * p->x[0] + p->y[0] * p->y[0];
    return square > 0 ? fabs(x * p->x[0] + y * p->y[0]) / square : 1;
  }
  for (int i = 0; i < p->count; ++i) {
    const int j = i + 1 < p->count ? i + 1 : 0;
    const double mx = p->y[j] - p->y[i], my = p->x[i] - p->x[j]; /* outwards */
    const double reach = mx * p->x[i] + my * p->y[i];
    if (reach > 0)
      most = fmax(most, (mx * x + my * y) / reach);
  }
  return most;
}

/* ---- finding patches ------------------------------------------------------------------------- */

/* Collects those of `count` contacts of a pair, from number `first` on, that share its normal;
 * false if they are no patch, or were in one before (taken: bit of each). */
static bool gather(const tl_contact *c, size_t count, size_t first, uint32_t *taken, patch *p) {
  p->count = 0;
  if (*taken >> first & 1u)
    return false;
  p->normal = c[first].normal;
  for (size_t i = first; i < count && p->count < MOST_POINTS; ++i)
    if (tl_dot(c[i].normal, p->normal) > TL_R(1 - IN_PLANE)) {
      *taken |= 1u << i;
      p->contact[p->count++] = &c[i];
    }
  if (p->count < 2)
    return false;
  measure(p);
  return true;
}

/* Number of contacts of the pair that begins at number i; 0 if i is not its first contact. */
static size_t pair_count(const tl_contacts *contacts, size_t i) {
  const tl_contact *c = &contacts->data[i];
  if (i > 0 && c[-1].a == c->a && c[-1].b == c->b)
    return 0;
  size_t n = 1;
  while (i + n < contacts->count && c[n].a == c->a && c[n].b == c->b)
    ++n;
  return n;
}

static bool has_faces(const tl_model *model, uint32_t slot) {
  const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
  return kind != TALUS_SPHERE && kind != TALUS_ELLIPSOID && kind != TALUS_SUPERELLIPSOID &&
         kind != TALUS_CLUMP;
}

/* True if a pair can have patches; contacts of a clump belong to different spheres. */
static bool may_have_patches(const tl_model *model, const tl_contact *c, size_t count) {
  return count >= 2 && count <= MOST_GROUPS && has_faces(model, c->a) && has_faces(model, c->b);
}

/* ---- the last step --------------------------------------------------------------------------- */

/* True if friction was at the limit of the patch; *s gets its data. */
static bool was_sliding(const tl_model *model, const patch *p, tl_sliding *s) {
  const double friction = (double)tl_model_law(model, p->contact[0]->a, p->contact[0]->b)->friction;
  const talus_dvec3 n = wide(p->normal);
  double pressed = 0, along = 0, torque = 0, arm = 0, x = 0, y = 0;
  for (int i = 0; i < p->count; ++i) {
    const talus_dvec3 g = wide(p->contact[i]->impulse);
    const double normal = tl_ddot(g, n), gu = tl_ddot(g, p->u), gv = tl_ddot(g, p->v);
    pressed += normal;
    along += sqrt(gu * gu + gv * gv);
    torque += p->x[i] * gv - p->y[i] * gu;
    arm += normal * sqrt(p->x[i] * p->x[i] + p->y[i] * p->y[i]);
    x += normal * p->x[i], y += normal * p->y[i];
  }
  if (!(pressed > 0) || !(friction > 0))
    return false;
  s->a = p->contact[0]->a, s->b = p->contact[0]->b;
  s->normal = p->normal;
  s->load = tl_narrow(tl_dscale(tl_dadd(tl_dscale(p->u, x), tl_dscale(p->v, y)), 1 / pressed));
  s->everywhere = along >= AT_LIMIT * friction * pressed;
  /* The smallest factor of any patch is above 0.4. */
  s->twisted = fabs(torque) >= 0.4 * friction * arm &&
               fabs(torque) >= AT_LIMIT * torque_share(model, p) * friction * arm;
  return s->everywhere || s->twisted;
}

typedef struct take_job {
  const tl_model *model;
  const tl_contacts *contacts;
  uint8_t *sliding; /* by contact: number of patches of the pair that begins there */
} take_job;

static int find_slidings(const tl_model *model, const tl_contacts *contacts, size_t i,
                         tl_sliding *out) {
  const size_t count = pair_count(contacts, i);
  const tl_contact *c = &contacts->data[i];
  uint32_t taken = 0;
  int found = 0;
  if (!may_have_patches(model, c, count))
    return 0;
  for (size_t k = 0; k + 1 < count; ++k) {
    patch p;
    tl_sliding s;
    if (!gather(c, count, k, &taken, &p) || !was_sliding(model, &p, &s))
      continue;
    if (out)
      out[found] = s;
    found++;
  }
  return found;
}

static void count_range(void *context, size_t begin, size_t end) {
  const take_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->sliding[i] = (uint8_t)find_slidings(job->model, job->contacts, i, NULL);
}

/* Springs have a potential, which moving the points would change. */
static bool are_useful(const tl_model *model) {
  if (model->solve.kind == TALUS_SOLVE_PENALTY)
    return false;
  for (size_t i = 0; i < model->shapes.count; ++i) {
    const talus_shape_kind kind = model->shapes.data[i].kind;
    if (kind == TALUS_BOX || kind == TALUS_CYLINDER || kind == TALUS_CONE ||
        kind == TALUS_CAPSULE || kind == TALUS_HULL || kind == TALUS_MESH)
      return true;
  }
  return false;
}

talus_status tl_contact_take_slidings(const tl_crowd *crowd, const tl_contacts *contacts,
                                      tl_slidings *slidings) {
  const tl_model *model = crowd->model;
  *slidings = (tl_slidings){0};
  if (contacts->count == 0 || !are_useful(model))
    return TALUS_OK;
  take_job job = {.model = model, .contacts = contacts};
  TL_TAKE(crowd->arena, contacts->count, &job.sliding);
  tl_for(&model->par, contacts->count, 1024, count_range, &job);
  size_t count = 0;
  for (size_t i = 0; i < contacts->count; ++i)
    count += job.sliding[i];
  TL_TAKE(crowd->arena, count, &slidings->data);
  for (size_t i = 0; i < contacts->count; ++i)
    if (job.sliding[i] > 0)
      slidings->count +=
          (size_t)find_slidings(model, contacts, i, slidings->data + slidings->count);
  return TALUS_OK;
}

/* ---- this step ------------------------------------------------------------------------------- */

/* True if the two surfaces are parallel enough for uniform pressure. */
static bool is_flat(const patch *p, double radius) {
  talus_real least = p->contact[0]->gap, most = least;
  for (int i = 1; i < p->count; ++i) {
    least = tl_min(least, p->contact[i]->gap);
    most = tl_max(most, p->contact[i]->gap);
  }
  return (double)(most - least) <= FLAT * radius;
}

/* True if the patch turns rather than slides. A patch that hardly moves is judged by the
 * torque that it had to hold: where sweeps have not converged, friction is at its limit in many
 * places that do not slide. */
static bool is_spinning(const tl_crowd *crowd, const tl_sliding *s, const patch *p, double radius) {
  const tl_model *model = crowd->model;
  const tl_state *in = crowd->in;
  const talus_dvec3 n = wide(p->normal);
  const talus_dvec3 arm_a = tl_dsub(p->middle, in->position[s->a]);
  const talus_dvec3 arm_b =
      tl_dsub(arm_a, tl_body_shape(model, s->a)->bounded && tl_body_shape(model, s->b)->bounded
                         ? tl_model_offset(model, in->position[s->a], in->position[s->b])
                         : tl_dsub(in->position[s->b], in->position[s->a]));
  const talus_dvec3 wa = wide(in->spin[s->a]), wb = wide(in->spin[s->b]);
  const talus_dvec3 u = tl_dadd(tl_dsub(wide(in->velocity[s->b]), wide(in->velocity[s->a])),
                                tl_dsub(tl_dcross(wb, arm_b), tl_dcross(wa, arm_a)));
  const double turning = radius * fabs(tl_ddot(tl_dsub(wb, wa), n));
  const double slip = tl_dlength(tl_dsub(u, tl_dscale(n, tl_ddot(u, n))));
  const double slow = (double)tl_length(model->gravity) * crowd->dt;
  return turning > slow || slip > slow ? s->everywhere && turning >= slip : s->twisted;
}

static void draw_in(tl_contacts *contacts, const patch *p, double share) {
  double gap = 0;
  for (int i = 0; i < p->count; ++i)
    gap += (double)p->contact[i]->gap / p->count;
  for (int i = 0; i < p->count; ++i) {
    tl_contact *c = &contacts->data[p->contact[i] - contacts->data];
    c->point = tl_dadd(p->middle, tl_dscale(tl_dsub(c->point, p->middle), share));
    c->gap = TL_R(gap + share * ((double)c->gap - gap));
  }
}

static void lay(const tl_crowd *crowd, const tl_sliding *s, tl_contacts *contacts, size_t i,
                size_t count) {
  const tl_model *model = crowd->model;
  uint32_t taken = 0;
  for (size_t k = 0; k + 1 < count; ++k) {
    patch p;
    if (!gather(&contacts->data[i], count, k, &taken, &p) ||
        !(tl_dot(p.normal, s->normal) > TL_R(0.99)))
      continue;
    const double radius = mean_radius(&p);
    if (!is_flat(&p, radius) || !is_spinning(crowd, s, &p, radius))
      return;
    const talus_dvec3 load = wide(s->load);
    const double needed = load_share(&p, tl_ddot(load, p.u), tl_ddot(load, p.v));
    const double share = fmax(torque_share(model, &p), ROOM * needed);
    if (share < 1)
      draw_in(contacts, &p, share);
    return;
  }
}

void tl_contact_lay_slidings(const tl_crowd *crowd, const tl_slidings *slidings,
                             tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  size_t i = 0;
  for (size_t k = 0; k < slidings->count; ++k) {
    const tl_sliding *s = &slidings->data[k];
    while (i < contacts->count && tl_contact_compare(s->a, s->b, 0, 0, &contacts->data[i]) > 0)
      ++i;
    if (i == contacts->count)
      return;
    if (contacts->data[i].a != s->a || contacts->data[i].b != s->b)
      continue;
    const size_t count = pair_count(contacts, i);
    if (may_have_patches(model, &contacts->data[i], count))
      lay(crowd, s, contacts, i, count);
  }
}
