#include "contact/ride.h"

#include "crowd/asleep.h"

#define GRAIN 512

/* ---- one body -------------------------------------------------------------------------------- */

static tl_ridden motion_of(const tl_ride *ride, const tl_state *now, uint32_t slot) {
  const tl_model *model = ride->crowd->model;
  const talus_quat q = ride->rotation[slot];
  tl_ridden m = {.way = tl_model_offset(model, ride->position[slot], now->position[slot]),
                 .turn = tl_quat_mul(now->rotation[slot], tl_quat_conj(q)),
                 .from = ride->position[slot],
                 .to = now->position[slot]};
  if (!tl_body_shape(model, slot)->bounded)
    m.way = tl_dsub(now->position[slot], ride->position[slot]);
  return m;
}

/* turn(v) - v, without the rounding of v: 2w (u x v) + 2 u x (u x v). */
static inline talus_vec3 turn_shift(talus_quat turn, talus_vec3 v) {
  const talus_vec3 u = tl_vec3(turn.x, turn.y, turn.z);
  const talus_vec3 t = tl_scale(tl_cross(u, v), 2);
  return tl_add(tl_scale(t, turn.w), tl_cross(u, t));
}

/* The point of an ellipsoid that is farthest along the world vector n, from its centre. */
static talus_vec3 farthest(const tl_shape *shape, talus_real scale, talus_quat q, talus_vec3 n) {
  const talus_vec3 half = tl_vec3(scale * TL_R(shape->size[0]), scale * TL_R(shape->size[1]),
                                  scale * TL_R(shape->size[2]));
  const talus_vec3 d = tl_mul(half, tl_quat_unrotate(q, n));
  return tl_quat_rotate(q, tl_scale(tl_mul(half, d), 1 / tl_length(d)));
}

/* The rotation without its part about the body's own z axis (`axis` before it): the shortest
 * rotation that takes the axis to its new direction. */
static talus_quat without_roll(talus_quat turn, talus_vec3 axis) {
  const talus_vec3 to = tl_add(axis, turn_shift(turn, axis));
  const talus_vec3 cross = tl_cross(axis, to);
  return tl_quat_normalize(tl_quat(1 + tl_dot(axis, to), cross.x, cross.y, cross.z));
}

/* A body of a pair: data common to all contacts of the pair. */
typedef struct rider {
  const tl_shape *shape;
  talus_real scale;
  talus_real radius; /* m: of shapes round in all directions; for clumps of the touching part */
  talus_quat turn;   /* without the part about an axis of symmetry */
  uint32_t slot;
  bool is_glued; /* its surface points turn with it */
} rider;

static bool is_glued(talus_shape_kind kind) {
  return kind != TALUS_SPHERE && kind != TALUS_ELLIPSOID && kind != TALUS_CAPSULE &&
         kind != TALUS_CLUMP;
}

bool tl_ride_is_rigid(const tl_model *model, uint32_t slot) {
  const talus_shape_kind kind = tl_body_shape(model, slot)->kind;
  return is_glued(kind) && kind != TALUS_CYLINDER && kind != TALUS_CONE;
}

static rider rider_of(const tl_ride *ride, uint32_t slot) {
  const tl_model *model = ride->crowd->model;
  rider r = {.shape = tl_body_shape(model, slot),
             .scale = model->property.scale[slot],
             .turn = ride->ridden[slot].turn,
             .slot = slot};
  const talus_shape_kind kind = r.shape->kind;
  if (kind == TALUS_CAPSULE)
    r.radius = r.scale * TL_R(r.shape->size[0]);
  if (kind == TALUS_CYLINDER || kind == TALUS_CONE)
    r.turn = without_roll(r.turn, tl_quat_rotate(ride->rotation[slot], tl_vec3(0, 0, 1)));
  r.is_glued = is_glued(kind);
  return r;
}

/* Displacement of the surface point at this arm by rotation, for a body that is not glued.
 * outwards: from the body to the other one. */
static talus_vec3 round_shift(const tl_ride *ride, const tl_state *now, const rider *r,
                              uint32_t feature, talus_vec3 arm, talus_vec3 outwards) {
  talus_real radius = r->radius;
  if (r->shape->kind == TALUS_SPHERE)
    return tl_vec3(0, 0, 0);
  if (r->shape->kind == TALUS_ELLIPSOID)
    return tl_sub(farthest(r->shape, r->scale, now->rotation[r->slot], outwards),
                  farthest(r->shape, r->scale, ride->rotation[r->slot], outwards));
  if (r->shape->kind == TALUS_CLUMP && feature < r->shape->point_count)
    radius = r->scale * TL_R(r->shape->points[4 * feature + 3]);
  return turn_shift(r->turn, tl_madd(arm, -radius, outwards));
}

static inline talus_vec3 shift_of(const tl_ride *ride, const tl_state *now, const rider *r,
                                  uint32_t feature, talus_vec3 arm, talus_vec3 outwards) {
  return r->is_glued ? turn_shift(r->turn, arm) : round_shift(ride, now, r, feature, arm, outwards);
}

/* ---- one contact ----------------------------------------------------------------------------- */

static bool can_move(const tl_model *model, uint32_t slot) {
  return !tl_body_is_static(model, slot);
}

static bool is_ball(const tl_model *model, uint32_t slot) {
  return tl_body_shape(model, slot)->kind == TALUS_SPHERE;
}

/* Share of b in the displacement of the point: half if both can move. Next to a body that cannot be
 * moved only the other one's arm matters; that of a sphere stays along the normal. */
static double share_of_b(const tl_model *model, const tl_contact *c) {
  if (can_move(model, c->a) != can_move(model, c->b))
    return can_move(model, c->b) ? 1 : 0;
  if (is_ball(model, c->a) == is_ball(model, c->b))
    return 0.5;
  return is_ball(model, c->b) ? 1 : 0;
}

/* Two spheres: their normal is that of their centres. before, between: vectors from a to b, at the
 * search and now. */
static void ride_balls(const tl_ride *ride, const tl_state *now, size_t i, talus_dvec3 before,
                       talus_dvec3 between) {
  const tl_model *model = ride->crowd->model;
  tl_contact *c = &ride->contacts->data[i];
  const talus_real distance = tl_length(tl_narrow(between));
  const talus_real radius = tl_body_shape(model, c->a)->radius * model->property.scale[c->a];
  if (distance > 0)
    c->normal = tl_scale(tl_narrow(between), 1 / distance);
  c->gap = ride->found[i].gap + (distance - tl_length(tl_narrow(before)));
  c->point = tl_dmadd(now->position[c->a], (double)(radius + TL_R(0.5) * c->gap), c->normal);
}

/* A pair of bodies: data common to all of its contacts. */
typedef struct couple {
  rider a, b;
  talus_dvec3 centre_a, between; /* when contacts were found */
  talus_dvec3 way_a;             /* displacement of a */
  talus_dvec3 moved;             /* displacement of a, including periods */
  double share;                  /* share of b in the displacement of the point */
  bool are_balls, is_dormant;
} couple;

static couple couple_of(const tl_ride *ride, const tl_state *now, const tl_contact *c) {
  const tl_model *model = ride->crowd->model;
  const talus_dvec3 centre_a = ride->position[c->a], centre_b = ride->position[c->b];
  const bool has_images =
      tl_body_shape(model, c->a)->bounded && tl_body_shape(model, c->b)->bounded;
  couple r = {.centre_a = centre_a, .is_dormant = tl_pair_is_dormant(model, now, c->a, c->b)};
  if (r.is_dormant)
    return r;
  r.a = rider_of(ride, c->a);
  r.b = rider_of(ride, c->b);
  r.between = has_images ? tl_model_offset(model, centre_a, centre_b) : tl_dsub(centre_b, centre_a);
  r.way_a = ride->ridden[c->a].way;
  r.moved = tl_dsub(now->position[c->a], centre_a);
  r.share = share_of_b(model, c);
  r.are_balls = is_ball(model, c->a) && is_ball(model, c->b);
  return r;
}

static inline void ride_one(const tl_ride *ride, const tl_state *now, const couple *of, size_t i) {
  const tl_found *found = &ride->found[i];
  tl_contact *c = &ride->contacts->data[i];
  const talus_vec3 n = found->normal;
  const talus_dvec3 to_point = tl_dsub(found->point, of->centre_a);
  const talus_vec3 arm_a = tl_narrow(to_point);
  const talus_vec3 arm_b = tl_narrow(tl_dsub(to_point, of->between));
  const talus_real half = TL_R(0.5) * found->gap;
  const talus_vec3 shift_a = shift_of(ride, now, &of->a, c->feature_a, tl_madd(arm_a, -half, n), n);
  const talus_vec3 shift_b =
      shift_of(ride, now, &of->b, c->feature_b, tl_madd(arm_b, half, n), tl_neg(n));
  const talus_dvec3 to_a = tl_dadd(of->way_a, tl_widen(shift_a));
  const talus_dvec3 apart = tl_dsub(tl_dadd(ride->ridden[c->b].way, tl_widen(shift_b)), to_a);
  c->normal = n;
  c->gap = found->gap + tl_dot(tl_narrow(apart), n);
  if (of->are_balls) {
    ride_balls(ride, now, i, of->between, tl_dadd(of->between, apart));
    return;
  }
  /* In the image of a at its present place; half of the change of the gap belongs to a. */
  const double opened = (double)(c->gap - found->gap);
  talus_dvec3 to = tl_dadd(to_a, tl_dscale(apart, of->share));
  to = tl_dadd(to, tl_dscale(tl_widen(n), (0.5 - of->share) * opened));
  c->point = tl_dadd(tl_dadd(found->point, of->moved), tl_dsub(to, of->way_a));
}

/* ---- all contacts ---------------------------------------------------------------------------- */

static void note_bodies(void *context, size_t begin, size_t end) {
  const tl_ride *ride = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(ride->crowd, i);
    ride->position[slot] = ride->crowd->in->position[slot];
    ride->rotation[slot] = ride->crowd->in->rotation[slot];
  }
}

static void note_contacts(void *context, size_t begin, size_t end) {
  const tl_ride *ride = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &ride->contacts->data[i];
    ride->found[i] = (tl_found){c->point, c->normal, c->gap};
  }
}

talus_status tl_ride_begin(tl_ride *ride, const tl_crowd *crowd, tl_contacts *contacts) {
  const tl_model *model = crowd->model;
  *ride = (tl_ride){.crowd = crowd, .contacts = contacts};
  TL_TAKE(crowd->arena, contacts->count, &ride->found);
  TL_TAKE(crowd->arena, model->bodies, &ride->position);
  TL_TAKE(crowd->arena, model->bodies, &ride->rotation);
  TL_TAKE(crowd->arena, model->bodies, &ride->ridden);
  tl_for(&model->par, crowd->count, GRAIN, note_bodies, ride);
  tl_for(&model->par, contacts->count, GRAIN, note_contacts, ride);
  return TALUS_OK;
}

/* Computed once for each body, which may have many contacts. */
static void ride_bodies(void *context, size_t begin, size_t end) {
  const tl_ride *ride = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(ride->crowd, i);
    ride->ridden[slot] = motion_of(ride, ride->now, slot);
  }
}

static void ride_range(void *context, size_t begin, size_t end) {
  const tl_ride *ride = context;
  couple of = {.is_dormant = true};
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &ride->contacts->data[i];
    if (i == begin || c[-1].a != c->a || c[-1].b != c->b)
      of = couple_of(ride, ride->now, c);
    if (!of.is_dormant)
      ride_one(ride, ride->now, &of, i);
  }
}

void tl_ride_bodies(tl_ride *ride, const tl_state *now) {
  ride->now = now;
  ride->is_behind = true;
  tl_for(&ride->crowd->model->par, ride->crowd->count, GRAIN, ride_bodies, ride);
}

void tl_ride_settle(tl_ride *ride) {
  if (!ride || !ride->is_behind)
    return;
  ride->is_behind = false;
  tl_for(&ride->crowd->model->par, ride->contacts->count, GRAIN, ride_range, ride);
}

void tl_ride_one(const tl_ride *ride, size_t contact) {
  const couple of = couple_of(ride, ride->now, &ride->contacts->data[contact]);
  if (!of.is_dormant)
    ride_one(ride, ride->now, &of, contact);
}

void tl_ride_to(tl_ride *ride, const tl_state *now) {
  tl_ride_bodies(ride, now);
  tl_ride_settle(ride);
}

static void back_range(void *context, size_t begin, size_t end) {
  const tl_ride *ride = context;
  for (size_t i = begin; i < end; ++i) {
    tl_contact *c = &ride->contacts->data[i];
    c->point = ride->found[i].point;
    c->normal = ride->found[i].normal;
    c->gap = ride->found[i].gap;
  }
}

void tl_ride_back(const tl_ride *ride) {
  tl_ride own = *ride;
  tl_for(&ride->crowd->model->par, ride->contacts->count, GRAIN, back_range, &own);
}
