/* The state of a body at a time, and whether two bodies stay apart. */
#include "crowd/free.h"
#include "step/local/local.h"
#include "step/paths.h"

#include <math.h>

#define RESOLVED (TALUS_SINGLE ? 0.05 : 1e-3) /* of a halo, as in step/adaptive.c */

tl_path tl_path_later(const tl_path *path, double t) {
  tl_path later = *path;
  if (t == 0)
    return later;
  later.position = tl_path_position(path, t);
  later.velocity = tl_dadd(path->velocity, tl_dscale(path->acceleration, t));
  if (tl_ddot(path->spin, path->spin) > 0)
    later.rotation = tl_path_rotation(path, t);
  return later;
}

static talus_dvec3 unlocked(talus_dvec3 v, uint32_t lock) {
  return tl_dvec3(lock & TALUS_LOCK_X ? 0 : v.x, lock & TALUS_LOCK_Y ? 0 : v.y,
                  lock & TALUS_LOCK_Z ? 0 : v.z);
}

tl_path tl_local_guess(const tl_local *local, uint32_t slot) {
  const tl_model *model = local->crowd->model;
  const tl_properties *property = &model->property;
  const tl_local_row *row = &local->bodies.data[slot].current;
  const uint32_t lock = property->flags[slot] & TL_FLAG_LOCKS;
  talus_dvec3 a = tl_widen(model->gravity);
  if (property->force)
    a = tl_dadd(a, tl_dscale(tl_widen(property->force[slot]), 1 / (double)property->mass[slot]));
  tl_path path = {.position = row->position,
                  .velocity = unlocked(tl_widen(row->velocity), lock),
                  .acceleration = unlocked(a, lock),
                  .rotation = tl_dquat_widen(row->rotation)};
  if (tl_body_shape(model, slot)->kind != TALUS_SPHERE)
    path.spin = tl_widen(row->spin);
  return path;
}

/* ---- states ---------------------------------------------------------------------------------- */

/* Angular momentum of a row with these moments of inertia; with moments of 1 its spin. */
static talus_vec3 momentum_of(const tl_local_row *row, talus_vec3 inertia) {
  return tl_sym3_mul_vec(tl_sym3_rotated(row->rotation, inertia), row->spin);
}

static talus_vec3 spin_of(talus_vec3 momentum, talus_quat rotation, talus_vec3 inertia) {
  const talus_vec3 inverse = tl_vec3(1 / inertia.x, 1 / inertia.y, 1 / inertia.z);
  return tl_sym3_mul_vec(tl_sym3_rotated(rotation, inverse), momentum);
}

/* True if spin stands for angular momentum: moments of inertia are equal, or rotation is locked. */
static bool is_simple(const tl_model *model, uint32_t slot) {
  const uint32_t turns = TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ;
  return tl_body_shape(model, slot)->isotropic || (model->property.flags[slot] & turns);
}

void tl_local_kick(const tl_local *local, uint32_t slot, talus_quat rotation, talus_vec3 arm,
                   talus_vec3 impulse, tl_kick *kick) {
  const tl_model *model = local->crowd->model;
  const uint32_t lock = model->property.flags[slot] & TL_FLAG_LOCKS;
  talus_vec3 turn = tl_cross(arm, impulse);
  if (is_simple(model, slot))
    turn = tl_sym3_mul_vec(tl_free_inverse_inertia(rotation, tl_body_inertia(model, slot),
                                                   lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY,
                                                   lock & TALUS_LOCK_RZ),
                           turn);
  const talus_vec3 gain =
      tl_free_unlocked(tl_scale(impulse, 1 / model->property.mass[slot]), lock & TALUS_LOCK_X,
                       lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
  kick->velocity = tl_add(kick->velocity, gain);
  kick->turn = tl_add(kick->turn, turn);
}

static talus_vec3 between(talus_vec3 a, talus_vec3 b, double s) {
  return tl_madd(a, TL_R(s), tl_sub(b, a));
}

/* In flight: the velocity at c minus what loads change from t to c, and constant angular momentum.
 * Otherwise impacts change both at o, and pressing contacts and joints at a constant rate over the
 * step (docs/theory/local.md). */
tl_local_row tl_local_at(const tl_local *local, uint32_t slot, double t) {
  const tl_model *model = local->crowd->model;
  const tl_local_body *body = &local->bodies.data[slot];
  if (!(t < body->c))
    return body->current;
  if (!(t > body->o))
    return body->final;
  const double s = (t - body->o) / (body->c - body->o);
  const tl_shape *shape = tl_body_shape(model, slot);
  const talus_vec3 inertia =
      is_simple(model, slot) ? tl_vec3(1, 1, 1) : tl_body_inertia(model, slot);
  const talus_dvec3 x = tl_path_position(&body->law, t - body->o);
  tl_local_row row = {.position = model->domain.enabled ? tl_step_wrap(&model->domain, x) : x};
  if (shape->kind == TALUS_SPHERE) { /* the law of a sphere has no rotation */
    const double h = t - body->o;
    row.rotation = tl_quat_normalize(tl_quat_mul(
        tl_quat_from_rotation_vector(tl_scale(body->current.spin, TL_R(h))), body->final.rotation));
  } else {
    row.rotation = tl_dquat_narrow(tl_path_rotation(&body->law, t - body->o));
  }
  const talus_vec3 last = momentum_of(&body->current, inertia);
  if (body->flies) {
    const talus_dvec3 gain = tl_dscale(body->law.acceleration, body->c - t);
    row.velocity = tl_narrow(tl_dsub(tl_widen(body->current.velocity), gain));
    row.spin = spin_of(last, row.rotation, inertia);
    return row;
  }
  const talus_vec3 first = tl_add(momentum_of(&body->final, inertia), body->kick.turn);
  row.velocity =
      between(tl_add(body->final.velocity, body->kick.velocity), body->current.velocity, s);
  row.spin = spin_of(between(first, last, s), row.rotation, inertia);
  return row;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static void add_stretch(tl_track *track, double from, double to, const tl_path *path) {
  if (to > from)
    track->part[track->count++] = (tl_stretch){from, to, *path};
}

tl_track tl_local_expected(const tl_local *local, uint32_t slot) {
  const tl_local_body *body = &local->bodies.data[slot];
  tl_track track = {.count = 0};
  add_stretch(&track, body->o, body->c, &body->law);
  add_stretch(&track, body->c, body->ahead, &body->guess);
  return track;
}

tl_track tl_local_actual(const tl_local *local, uint32_t slot) {
  const tl_local_body *body = &local->bodies.data[slot];
  const tl_cluster *cluster =
      body->cluster == TL_NONE ? NULL : &local->clusters.data[body->cluster];
  tl_track track = {.count = 0};
  if (!cluster || !cluster->commits) {
    add_stretch(&track, body->o, body->c, &body->law);
    return track;
  }
  add_stretch(&track, body->o, cluster->t0, &body->law);
  add_stretch(&track, cluster->t0, cluster->t1, &body->draft);
  return track;
}

/* The stretch that is valid just after t; NULL: there is none. */
static const tl_stretch *part_at(const tl_track *track, double t) {
  for (int i = 0; i < track->count; ++i)
    if (track->part[i].to > t)
      return &track->part[i];
  return NULL;
}

static double radius_of(const tl_model *model, uint32_t slot) {
  return (double)tl_body_shape(model, slot)->radius * (double)model->property.scale[slot];
}

/* True if the bounding spheres of both bodies stay further apart than `floor` within h. */
static bool are_far(const tl_model *model, uint32_t a, const tl_path *pa, uint32_t b,
                    const tl_path *pb, talus_dvec3 apart, double h, double floor) {
  const talus_dvec3 v = tl_dsub(pb->velocity, pa->velocity),
                    g = tl_dsub(pb->acceleration, pa->acceleration);
  const double way = h * (tl_dlength(v) + 0.5 * h * tl_dlength(g));
  const double reach = radius_of(model, a) + radius_of(model, b) + floor + way;
  return tl_ddot(apart, apart) > reach * reach * (1 + 1e-6);
}

bool tl_local_keep_apart(const tl_model *model, uint32_t a, const tl_track *ta, uint32_t b,
                         const tl_track *tb, double s, double u, double halos, uint64_t *looks) {
  const double halo = (double)tl_halo_of(model, a) + (double)tl_halo_of(model, b);
  for (double x = s; x < u;) {
    const tl_stretch *sa = part_at(ta, x), *sb = part_at(tb, x);
    if (!sa || !sb)
      return true;
    const double y = fmin(u, fmin(sa->to, sb->to));
    tl_path pa = tl_path_later(&sa->path, x - sa->from),
            pb = tl_path_later(&sb->path, x - sb->from);
    const talus_dvec3 apart = tl_model_offset(model, pa.position, pb.position);
    if (!are_far(model, a, &pa, b, &pb, apart, y - x, halos * halo)) {
      pa.position = tl_dvec3(0, 0, 0), pb.position = apart;
      const tl_advance advance = {.a = {tl_body_shape(model, a), model->property.scale[a], pa},
                                  .b = {tl_body_shape(model, b), model->property.scale[b], pb},
                                  .h = y - x,
                                  .floor = halos * halo,
                                  .fine = RESOLVED * halo};
      const tl_advanced found = tl_advance_pair(&advance);
      *looks += (uint64_t)found.looks;
      if (!found.is_clear)
        return false;
    }
    x = y;
  }
  return true;
}

/* ---- boxes ----------------------------------------------------------------------------------- */

talus_box tl_local_box(const tl_model *model, uint32_t slot, const tl_path *path, double h) {
  const tl_shape *shape = tl_body_shape(model, slot);
  const double scale = (double)model->property.scale[slot];
  talus_box box = tl_shape_bounds(shape, scale, path->position, tl_dquat_narrow(path->rotation));
  const double r = (double)shape->radius * scale * (1 + 4 * (double)TL_REAL_EPS);
  double turn =
      h * tl_dlength(path->spin); /* rad: rotation moves no point by more than this times r */
  if (turn > 0.5) {               /* use the bounding sphere */
    const talus_dvec3 reach = tl_dvec3(r, r, r);
    box.lo = tl_dsub(path->position, reach), box.hi = tl_dadd(path->position, reach);
    turn = 0;
  }
  const talus_dvec3 moved = tl_dsub(tl_path_position(path, h), path->position);
  const talus_box after = {tl_dadd(box.lo, moved), tl_dadd(box.hi, moved)};
  const double rounding = 1e-12 * (1 + tl_dlength(path->position));
  return tl_box_grow(tl_box_union(box, after), (double)tl_halo_of(model, slot) +
                                                   tl_path_bulge(path, 0, h) + turn * r + rounding);
}
