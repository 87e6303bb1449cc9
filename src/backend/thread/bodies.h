/* Bodies in a step on a device: what one thread does in each task.
 *
 *   ready   the velocity with which a body ends the step if nothing touches it, and the sphere
 *           around all that it may reach
 *   judge   checks the velocities of the solution
 *   move    poses at the end of the step
 *   worth   sums the work of contacts and loads
 *
 * Formulas are those of the CPU's stages: solve/system/bodies.c, energy.c, shape/bounds.c,
 * step/fixed.c, step/move.c. */
#ifndef TL_THREAD_BODIES_H
#define TL_THREAD_BODIES_H

#include "backend/thread/spheres.h"
#include "kernels/ccp.h"
#include "kernels/rotation.h"
#include "narrow/posed.h"

/* A state of all bodies, by slot. */
typedef struct tl_thread_state {
  talus_dvec3 *position;
  talus_quat *rotation;
  talus_vec3 *velocity, *spin;
} tl_thread_state;

/* Flags of a body on a device. */
enum {
  TL_THREAD_STATIC = 0x100, /* contacts do not move it; lower bits are locks (TALUS_LOCK_...) */
  TL_THREAD_GUIDED = 0x200, /* it follows a motion */
  TL_THREAD_SUNK = 0x400,   /* it sank or passed through a wall before */
  TL_THREAD_HOLLOW = 0x800, /* its centre is not within it */
  TL_THREAD_LOCKS = 0x3f
};

/* The bodies at the begin of a step. */
typedef struct tl_thread_crowd {
  size_t count;
  tl_thread_state in, out;
  const tl_shape *shapes;
  const uint32_t *shape, *flags, *material; /* by slot */
  const talus_real *mass, *scale;
  const talus_vec3 *force, *torque; /* NULL: no constant loads */
  talus_vec3 gravity;
  double dt;
  double low[3], high[3]; /* m: of the domain */
  double period[3];       /* m: of its axes; 0: not periodic */
  bool stops[3];          /* axes with `stop` */
} tl_thread_crowd;

TL_FN const tl_shape *tl_thread_shape(const tl_thread_crowd *crowd, size_t i) {
  return &crowd->shapes[crowd->shape[i]];
}

TL_FN bool tl_thread_is_static(const tl_thread_crowd *crowd, size_t i) {
  return (crowd->flags[i] & TL_THREAD_STATIC) != 0;
}

TL_FN talus_vec3 tl_thread_inertia(const tl_thread_crowd *crowd, size_t i) {
  const talus_real scale = crowd->scale[i];
  return tl_scale(tl_thread_shape(crowd, i)->gyration, crowd->mass[i] * scale * scale);
}

/* ---- before ---------------------------------------------------------------------------------- */

typedef struct tl_ready_task {
  tl_thread_crowd crowd;
  talus_real spare; /* m: part of a margin in addition to the displacement */
  /* m: >= 0: half of the scene's margin; < 0: margins follow from speeds */
  talus_real fixed_margin;
  const talus_real *inner; /* m, at scale 1: inner radii of shapes */
  /* a body that moves farther than its inner radius gets a larger margin */
  bool sweeps;
  tl_ccp_body *bodies;
  tl_ccp_tensor *tensors; /* NULL: every body is isotropic */
  talus_real *margins;
  tl_thread_ball *rows;
  uint8_t *fixed;
} tl_ready_task;

TL_FN talus_vec3 tl_thread_unlocked(talus_vec3 v, uint32_t x, uint32_t y, uint32_t z) {
  return tl_vec3(x ? 0 : v.x, y ? 0 : v.y, z ? 0 : v.z);
}

TL_FN tl_ccp_tensor tl_thread_tensor(const tl_thread_crowd *crowd, size_t i) {
  const uint32_t lock = crowd->flags[i] & TL_THREAD_LOCKS;
  const talus_real inverse = 1 / crowd->mass[i];
  const talus_vec3 inertia = tl_thread_inertia(crowd, i);
  tl_ccp_tensor tensor;
  tensor.inv_mass = tl_vec3(inverse, inverse, inverse);
  if (lock == 0 && tl_thread_shape(crowd, i)->isotropic) {
    tensor.inv_inertia = tl_sym3_diagonal(tl_vec3(1 / inertia.x, 1 / inertia.x, 1 / inertia.x));
    return tensor;
  }
  tensor.inv_inertia =
      tl_free_inverse_inertia(crowd->in.rotation[i], inertia, (lock & TALUS_LOCK_RX) != 0,
                              (lock & TALUS_LOCK_RY) != 0, (lock & TALUS_LOCK_RZ) != 0);
  tensor.inv_mass = tl_thread_unlocked(tensor.inv_mass, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y,
                                       lock & TALUS_LOCK_Z);
  return tensor;
}

/* The body at the end of the step without contacts. */
TL_FN tl_ccp_body tl_thread_free(const tl_thread_crowd *crowd, size_t i, tl_ccp_tensor *kept) {
  const uint32_t lock = crowd->flags[i] & TL_THREAD_LOCKS;
  const talus_real h = (talus_real)crowd->dt;
  const tl_ccp_tensor tensor = tl_thread_tensor(crowd, i);
  tl_ccp_body body;
  body.inv_mass = 1 / crowd->mass[i];
  body.inv_inertia =
      lock == 0 && tl_thread_shape(crowd, i)->isotropic ? 1 / tl_thread_inertia(crowd, i).x : -1;
  body.v = tl_madd(crowd->in.velocity[i], h, crowd->gravity);
  body.w = crowd->in.spin[i];
  if (crowd->force)
    body.v = tl_madd(body.v, h, tl_mul(tensor.inv_mass, crowd->force[i]));
  if (crowd->torque)
    body.w = tl_madd(body.w, h, tl_sym3_mul_vec(tensor.inv_inertia, crowd->torque[i]));
  if (lock) {
    body.v =
        tl_thread_unlocked(body.v, lock & TALUS_LOCK_X, lock & TALUS_LOCK_Y, lock & TALUS_LOCK_Z);
    body.w = tl_thread_unlocked(body.w, lock & TALUS_LOCK_RX, lock & TALUS_LOCK_RY,
                                lock & TALUS_LOCK_RZ);
  }
  if (kept)
    *kept = tensor;
  return body;
}

TL_FN tl_ccp_body tl_thread_nobody(void) {
  tl_ccp_body body;
  body.v = body.w = tl_vec3(0, 0, 0);
  body.inv_mass = body.inv_inertia = 0;
  return body;
}

TL_FN tl_ccp_tensor tl_thread_no_tensor(void) {
  tl_ccp_tensor tensor;
  tensor.inv_mass = tl_vec3(0, 0, 0);
  tensor.inv_inertia = tl_sym3_diagonal(tl_vec3(0, 0, 0));
  return tensor;
}

/* Margin of the body: how far it may move within the step, m. */
TL_FN talus_real tl_thread_margin(const tl_ready_task *task, size_t i, const tl_ccp_body *body) {
  const tl_thread_crowd *crowd = &task->crowd;
  const tl_shape *shape = tl_thread_shape(crowd, i);
  const talus_real reach = shape->radius * crowd->scale[i], h = (talus_real)crowd->dt;
  talus_real way = task->spare;
  if (!tl_thread_is_static(crowd, i) || (crowd->flags[i] & TL_THREAD_GUIDED)) {
    way += h * tl_length(body->v);
    if (shape->kind != TALUS_SPHERE)
      way += h * reach * tl_length(body->w);
  }
  if (task->fixed_margin < 0)
    return way;
  return task->sweeps && way > task->inner[crowd->shape[i]] * crowd->scale[i]
             ? tl_max(way, task->fixed_margin)
             : task->fixed_margin;
}

#define TL_THREAD_WIDER                                                                            \
  1e-6 /* of a bounding sphere: more than the arithmetic of contacts loses                         \
        */

TL_FN void tl_ready_at(const tl_ready_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  const tl_shape *shape = tl_thread_shape(crowd, i);
  const talus_dvec3 x = crowd->in.position[i];
  const bool is_static = tl_thread_is_static(crowd, i);
  tl_ccp_tensor tensor = tl_thread_no_tensor();
  const tl_ccp_body body = crowd->flags[i] & TL_THREAD_GUIDED ? task->bodies[i]
                           : is_static                        ? tl_thread_nobody()
                                                              : tl_thread_free(crowd, i, &tensor);
  task->bodies[i] = body;
  if (task->tensors)
    task->tensors[i] = tensor;
  task->fixed[i] = is_static;
  const talus_real margin = tl_thread_margin(task, i, &body);
  tl_thread_ball row;
  task->margins[i] = margin;
  row.x = x.x;
  row.y = x.y;
  row.z = x.z;
  row.radius = -1;
  if (shape->bounded)
    row.radius = (double)shape->radius * (double)crowd->scale[i] * (1 + TL_THREAD_WIDER) +
                 (double)margin + 16 * DBL_EPSILON * fmax(fabs(x.x), fmax(fabs(x.y), fabs(x.z)));
  task->rows[i] = row;
}

/* ---- after ----------------------------------------------------------------------------------- */

/* Errors of a body, in the order in which they are reported. */
typedef enum tl_wrong_kind {
  TL_WRONG_NUMBER,
  TL_WRONG_FAR,
  TL_WRONG_OUTSIDE,
  TL_WRONGS
} tl_wrong_kind;

typedef struct tl_judge_task {
  tl_thread_crowd crowd;
  const tl_ccp_body *bodies, *shifts; /* shifts: NULL: none */
  double most;                        /* sizes, and rad, that a body may move in a step */
  uint32_t *culprits;                 /* by error: count - slot of the first such body; 0: none */
} tl_judge_task;

TL_FN void tl_judge_at(const tl_judge_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  if (tl_thread_is_static(crowd, i))
    return;
  const uint32_t name = (uint32_t)(crowd->count - i);
  const talus_vec3 v = task->bodies[i].v, w = task->bodies[i].w;
  talus_vec3 shift = tl_vec3(0, 0, 0), turn = tl_vec3(0, 0, 0);
  if (task->shifts)
    shift = task->shifts[i].v, turn = task->shifts[i].w;
  if (!tl_is_finite(tl_length2(v)) || !tl_is_finite(tl_length2(w)) ||
      !tl_is_finite(tl_length2(shift)) || !tl_is_finite(tl_length2(turn))) {
    tl_thread_raise(&task->culprits[TL_WRONG_NUMBER], name);
    return;
  }
  const double size = (double)(tl_thread_shape(crowd, i)->radius * crowd->scale[i]);
  if (crowd->dt * fmax((double)tl_length(v) / size, (double)tl_length(w)) > task->most)
    tl_thread_raise(&task->culprits[TL_WRONG_FAR], name);
  const talus_dvec3 x = tl_dmadd(crowd->in.position[i], crowd->dt, tl_add(v, shift));
  const double at[3] = {x.x, x.y, x.z};
  for (int k = 0; k < 3; ++k)
    if (crowd->stops[k] && (at[k] < crowd->low[k] || at[k] > crowd->high[k]))
      tl_thread_raise(&task->culprits[TL_WRONG_OUTSIDE], name);
}

typedef struct tl_move_task {
  tl_thread_crowd crowd;
  const tl_ccp_body *bodies, *shifts; /* shifts: NULL: none */
} tl_move_task;

TL_FN double tl_thread_wrap(double x, double low, double high, double period) {
  if (!(period > 0) || (x >= low && x < high))
    return x;
  const double wrapped = x - period * floor((x - low) / period);
  return wrapped < high ? wrapped : low;
}

TL_FN void tl_thread_turn(talus_vec3 spin, talus_real h, bool is_isotropic, talus_quat *q,
                          talus_vec3 *w) {
  if (spin.x != 0 || spin.y != 0 || spin.z != 0) {
    const talus_quat turn = tl_quat_from_rotation_vector(tl_scale(spin, h));
    *q = tl_quat_mul(turn, *q);
    if (!is_isotropic)
      *w = tl_quat_rotate(turn, *w);
  }
  *q = tl_quat_renormalize(*q);
}

TL_FN void tl_move_at(const tl_move_task *task, size_t i) {
  const tl_thread_crowd *crowd = &task->crowd;
  talus_quat q = crowd->in.rotation[i];
  talus_dvec3 x = crowd->in.position[i];
  talus_vec3 v = tl_vec3(0, 0, 0), w = v;
  if (!tl_thread_is_static(crowd, i)) {
    const talus_real h = (talus_real)crowd->dt;
    talus_vec3 inertia = tl_thread_inertia(crowd, i);
    if (crowd->flags[i] & (TALUS_LOCK_RX | TALUS_LOCK_RY | TALUS_LOCK_RZ))
      inertia = tl_vec3(1, 1, 1);
    v = task->bodies[i].v;
    w = task->bodies[i].w;
    tl_free_rotation(&q, &w, inertia, h);
    x = tl_dmadd(x, crowd->dt, v);
    if (task->shifts) {
      x = tl_dmadd(x, crowd->dt, task->shifts[i].v);
      tl_thread_turn(task->shifts[i].w, h, tl_thread_shape(crowd, i)->isotropic, &q, &w);
    }
    x = tl_dvec3(tl_thread_wrap(x.x, crowd->low[0], crowd->high[0], crowd->period[0]),
                 tl_thread_wrap(x.y, crowd->low[1], crowd->high[1], crowd->period[1]),
                 tl_thread_wrap(x.z, crowd->low[2], crowd->high[2], crowd->period[2]));
  }
  crowd->out.position[i] = x;
  crowd->out.rotation[i] = q;
  crowd->out.velocity[i] = v;
  crowd->out.spin[i] = w;
}

/* ---- energy ---------------------------------------------------------------------------------- */

/* Sums in `threads` strips: thread t adds bodies t, t + threads, ... in this order. */
enum { TL_WORTH_CONTACT, TL_WORTH_LOAD, TL_WORTH_OBJECTIVE, TL_WORTH_LIFT, TL_WORTHS };

/* What impacts did to a body. */
typedef struct tl_thread_struck {
  talus_vec3 kick_v, kick_w;     /* m/s, rad/s: changes by all of them */
  talus_vec3 before_v, before_w; /* before those of this round */
  talus_real clock;              /* s: when it was last hit */
  talus_real fastest; /* m/s: of the impacts in which it took part, or that led to these */
} tl_thread_struck;

typedef struct tl_worth_task {
  tl_thread_crowd crowd;
  const tl_ccp_body *bodies, *shifts;
  const tl_thread_struck *struck; /* by impacts; NULL: none */
  size_t threads;
  double *sums; /* TL_WORTHS of each thread */
} tl_worth_task;

TL_FN double tl_thread_dot(talus_vec3 a, talus_vec3 b) {
  return (double)a.x * (double)b.x + (double)a.y * (double)b.y + (double)a.z * (double)b.z;
}

TL_FN void tl_thread_momentum(const tl_thread_crowd *crowd, size_t i, talus_vec3 v, talus_vec3 w,
                              talus_vec3 *p, talus_vec3 *l) {
  const talus_vec3 inertia = tl_thread_inertia(crowd, i);
  *p = tl_scale(v, crowd->mass[i]);
  *l = tl_thread_shape(crowd, i)->isotropic
           ? tl_scale(w, inertia.x)
           : tl_sym3_mul_vec(tl_sym3_rotated(crowd->in.rotation[i], inertia), w);
}

TL_FN void tl_worth_add(const tl_worth_task *task, size_t i, double sums[TL_WORTHS]) {
  const tl_thread_crowd *crowd = &task->crowd;
  if (tl_thread_is_static(crowd, i))
    return;
  const tl_ccp_body now = task->bodies[i], free = tl_thread_free(crowd, i, 0);
  const talus_vec3 v0 = crowd->in.velocity[i], w0 = crowd->in.spin[i];
  talus_vec3 p, l;
  tl_thread_momentum(crowd, i, tl_sub(now.v, free.v), tl_sub(now.w, free.w), &p, &l);
  const double own = 0.5 * (tl_thread_dot(now.v, p) + tl_thread_dot(now.w, l));
  sums[TL_WORTH_CONTACT] += own + 0.5 * (tl_thread_dot(v0, p) + tl_thread_dot(w0, l));
  if (task->struck) { /* impacts changed what the solver began with */
    const talus_vec3 v = tl_add(free.v, task->struck[i].kick_v),
                     w = tl_add(free.w, task->struck[i].kick_w);
    tl_thread_momentum(crowd, i, tl_sub(now.v, v), tl_sub(now.w, w), &p, &l);
    sums[TL_WORTH_OBJECTIVE] +=
        0.5 * (tl_thread_dot(tl_add(now.v, v), p) + tl_thread_dot(tl_add(now.w, w), l));
  } else
    sums[TL_WORTH_OBJECTIVE] += own + 0.5 * (tl_thread_dot(free.v, p) + tl_thread_dot(free.w, l));
  if (task->shifts) /* work against gravity */
    sums[TL_WORTH_LIFT] -=
        (double)crowd->mass[i] * crowd->dt * tl_thread_dot(crowd->gravity, task->shifts[i].v);
  if (!crowd->force && !crowd->torque)
    return;
  const talus_vec3 fallen = tl_scale(crowd->gravity, (talus_real)crowd->dt);
  tl_thread_momentum(crowd, i, tl_sub(tl_sub(free.v, v0), fallen), tl_sub(free.w, w0), &p, &l);
  sums[TL_WORTH_LOAD] +=
      0.5 * (tl_thread_dot(tl_add(v0, now.v), p) + tl_thread_dot(tl_add(w0, now.w), l));
}

TL_FN void tl_worth_at(const tl_worth_task *task, size_t thread) {
  double sums[TL_WORTHS] = {0};
  for (size_t i = thread; i < task->crowd.count; i += task->threads)
    tl_worth_add(task, i, sums);
  for (int k = 0; k < TL_WORTHS; ++k)
    task->sums[thread * TL_WORTHS + (size_t)k] = sums[k];
}

/* Adds in place: thread t adds elements t, t + threads, ... */
typedef struct tl_add_task {
  size_t count, threads;
  double *sums;
} tl_add_task;

TL_FN void tl_add_at(const tl_add_task *task, size_t thread) {
  double sum = task->sums[thread];
  for (size_t i = thread + task->threads; i < task->count; i += task->threads)
    sum += task->sums[i];
  task->sums[thread] = sum;
}

#endif
