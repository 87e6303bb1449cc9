/* Kernels: joints. What each kind asks of two bodies, as scalar rows.
 *
 * A row is a function Psi of the two poses [m or rad] and its Jacobian in world axes:
 *
 *   dPsi/dt = la.va + aa.wa + lb.vb + ab.wb
 *
 * v of the centre of mass, w the spin in WORLD axes. An impulse p of the row pushes body b by p lb,
 * turns it by p ab, and so for a. docs/sources.md C6 has the same rows for spin in body axes.
 *
 * Every row is an exact derivative, also where the frames do not quite meet. Rows that hold a point
 * measure along axes that turn with body a ("dot2" of Haug 1989): their exact derivative lets the
 * impulse act on both bodies at the SAME point, that of b, so that angular momentum is conserved
 * exactly whatever the drift. */
#ifndef TL_KERNELS_JOINT_H
#define TL_KERNELS_JOINT_H

#include "kernels/quat.h"
#include "kernels/vec3.h"

#define TL_JOINT_HARD 6 /* most rows that always hold */
#define TL_JOINT_ROWS 7 /* and one for the direction left free: limits, spring, motor */

/* The same numbers as talus_joint_kind (talus.h); a test compares. */
enum {
  TL_JOINT_SPHERICAL,
  TL_JOINT_REVOLUTE,
  TL_JOINT_PRISMATIC,
  TL_JOINT_CYLINDRICAL,
  TL_JOINT_UNIVERSAL,
  TL_JOINT_FIXED,
  TL_JOINT_DISTANCE,
  TL_JOINT_SPRING,
  TL_JOINT_POINT_ON_LINE,
  TL_JOINT_POINT_ON_PLANE,
  TL_JOINT_GEAR,
  TL_JOINT_RACK,
  TL_JOINT_KINDS
};

/* Where a joint's two frames are. z is the joint's axis. */
typedef struct tl_joint_place {
  talus_vec3 arm_a, arm_b; /* from the centres of mass to the anchors */
  talus_vec3 d;            /* from the anchor on a to the anchor on b */
  talus_vec3 ax, ay, az;   /* frame on a */
  talus_vec3 bx, by, bz;   /* frame on b */
  double turn_a, turn_b;   /* gear, rack: how far a and b have turned about their axes, rad */
  talus_real way_b;        /* rack: how far the anchor of b has come along `rail`, m */
  talus_vec3 rail;         /* unit, fixed in the world */
} tl_joint_place;

typedef struct tl_joint_row {
  talus_vec3 la, aa, lb, ab;
  talus_real psi;
  bool turning; /* psi is in rad */
} tl_joint_row;

/* n fixed in a; psi = n.d: the anchor of b stays in the plane of a across n. */
TL_FN tl_joint_row tl_joint_dot2(const tl_joint_place *p, talus_vec3 n) {
  tl_joint_row r;
  r.la = tl_neg(n);
  r.aa = tl_cross(n, tl_add(p->arm_a, p->d));
  r.lb = n;
  r.ab = tl_cross(p->arm_b, n);
  r.psi = tl_dot(n, p->d);
  r.turning = false;
  return r;
}

/* s fixed in a, t in b; psi = s.t: they stay at right angles. */
TL_FN tl_joint_row tl_joint_dot1(talus_vec3 s, talus_vec3 t) {
  tl_joint_row r;
  r.la = r.lb = tl_vec3(0, 0, 0);
  r.aa = tl_cross(s, t);
  r.ab = tl_neg(r.aa);
  r.psi = tl_dot(s, t);
  r.turning = true;
  return r;
}

/* psi = |d|. If the anchors are in one place the direction is the axis. */
TL_FN tl_joint_row tl_joint_length(const tl_joint_place *p) {
  const talus_real length = tl_length(p->d);
  const talus_vec3 n = length > 0 ? tl_normalize(p->d) : p->az;
  tl_joint_row r;
  r.la = tl_neg(n);
  r.aa = tl_cross(n, p->arm_a);
  r.lb = n;
  r.ab = tl_cross(p->arm_b, n);
  r.psi = length;
  r.turning = false;
  return r;
}

/* psi = the angle from frame a to frame b about their common axis, -pi ... pi. The Jacobian is that
 * of aligned axes, which the rows of the joint itself hold. */
TL_FN tl_joint_row tl_joint_angle(const tl_joint_place *p) {
  tl_joint_row r;
  r.la = r.lb = tl_vec3(0, 0, 0);
  r.aa = tl_neg(p->az);
  r.ab = p->az;
  r.psi =
      TL_R(tl_atan2_d((double)tl_dot(p->az, tl_cross(p->ax, p->bx)), (double)tl_dot(p->ax, p->bx)));
  r.turning = true;
  return r;
}

/* psi = angle of b - ratio * angle of a, each about its own axis. */
TL_FN tl_joint_row tl_joint_gear(const tl_joint_place *p, talus_real ratio) {
  tl_joint_row r;
  r.la = r.lb = tl_vec3(0, 0, 0);
  r.aa = tl_scale(p->az, -ratio);
  r.ab = p->bz;
  r.psi = TL_R(p->turn_b - (double)ratio * p->turn_a);
  r.turning = true;
  return r;
}

/* psi = way of b along the rail - ratio * angle of a; ratio in m/rad: the pitch radius. */
TL_FN tl_joint_row tl_joint_rack(const tl_joint_place *p, talus_real ratio) {
  tl_joint_row r;
  r.la = tl_vec3(0, 0, 0);
  r.aa = tl_scale(p->az, -ratio);
  r.lb = p->rail;
  r.ab = tl_cross(p->arm_b, p->rail);
  r.psi = TL_R((double)p->way_b - (double)ratio * p->turn_a);
  r.turning = false;
  return r;
}

/* The rows that always hold, except that of a rod, which is tl_joint_length less the rod's length.
 * Returns how many. */
TL_FN int tl_joint_hard_rows(int kind, const tl_joint_place *p, talus_real ratio,
                             tl_joint_row rows[TL_JOINT_HARD]) {
  int n = 0;
  switch (kind) {
  case TL_JOINT_SPHERICAL:
  case TL_JOINT_REVOLUTE:
  case TL_JOINT_UNIVERSAL:
  case TL_JOINT_FIXED:
    rows[n++] = tl_joint_dot2(p, p->ax);
    rows[n++] = tl_joint_dot2(p, p->ay);
    rows[n++] = tl_joint_dot2(p, p->az);
    break;
  case TL_JOINT_PRISMATIC:
  case TL_JOINT_CYLINDRICAL:
  case TL_JOINT_POINT_ON_LINE:
    rows[n++] = tl_joint_dot2(p, p->ax);
    rows[n++] = tl_joint_dot2(p, p->ay);
    break;
  case TL_JOINT_POINT_ON_PLANE:
    rows[n++] = tl_joint_dot2(p, p->az);
    break;
  case TL_JOINT_GEAR:
    rows[n++] = tl_joint_gear(p, ratio);
    break;
  case TL_JOINT_RACK:
    rows[n++] = tl_joint_rack(p, ratio);
    break;
  default:
    break;
  }
  if (kind == TL_JOINT_REVOLUTE || kind == TL_JOINT_CYLINDRICAL) {
    rows[n++] = tl_joint_dot1(p->ax, p->bz);
    rows[n++] = tl_joint_dot1(p->ay, p->bz);
  } else if (kind == TL_JOINT_PRISMATIC || kind == TL_JOINT_FIXED) {
    rows[n++] = tl_joint_dot1(p->ax, p->by);
    rows[n++] = tl_joint_dot1(p->ay, p->bz);
    rows[n++] = tl_joint_dot1(p->az, p->bx);
  } else if (kind == TL_JOINT_UNIVERSAL) {
    rows[n++] = tl_joint_dot1(p->az, p->bx); /* the cross: z of a, x of b */
  }
  return n;
}

/* The direction along which, or about which, limits, springs and motors act; false if there is
 * none. `about`: the angle of a cylindrical joint instead of its way. */
TL_FN bool tl_joint_free_row(int kind, bool about, const tl_joint_place *p, tl_joint_row *row) {
  switch (kind) {
  case TL_JOINT_REVOLUTE:
    *row = tl_joint_angle(p);
    return true;
  case TL_JOINT_CYLINDRICAL:
    *row = about ? tl_joint_angle(p) : tl_joint_dot2(p, p->az);
    return true;
  case TL_JOINT_PRISMATIC:
  case TL_JOINT_POINT_ON_LINE:
    *row = tl_joint_dot2(p, p->az);
    return true;
  case TL_JOINT_DISTANCE:
  case TL_JOINT_SPRING:
    *row = tl_joint_length(p);
    return true;
  default:
    return false;
  }
}

/* ---- what acts along the free direction ------------------------------------------------------ */

/* A spring k and damper c over a step: with x now (less the length at rest), u the speed of this
 * step (x moves by h u) and v that of the step before, the impulse is
 *
 *   p = -h k (x + h (ahead u - behind v)) - h c (damping u + (1 - damping) v)
 *
 * ahead = behind = 1/4 is the mean of x before, twice now, and then: Newmark's method of average
 * acceleration (1959), of second order, without any damping of its own and stable for every step.
 * An oscillation that the steps do not resolve, q = h^2 k answer > 4 (h w > 2), would ring at full
 * energy for ever, so from there on the weights go over to those of the end of the step (1 and 0):
 * the oscillation then turns by a quarter in every step and falls by sqrt(2/(q - 2)).
 * damping = 1/2 is the trapezoidal rule; 1/(1 - exp(-z)) - 1/z with z = h c answer is 1/2 to second
 * order and, alone, gives exp(-z) exactly, so that no damper however strong turns a motion round
 * (exponential fitting, Liniger and Willoughby 1970). answer: speed per impulse. */
typedef struct tl_spring_weights {
  double ahead, behind, damping;
} tl_spring_weights;

TL_FN tl_spring_weights tl_find_spring_weights(double q, double z) {
  const double share = q > 4 ? 1 - 4 / q : 0;
  tl_spring_weights w;
  w.ahead = 0.25 + 0.75 * share;
  w.behind = 0.25 * (1 - share);
  w.damping = z > 1e-3 ? -1 / tl_expm1_d(-z) - 1 / z : 0.5 + z / 12;
  return w;
}

/* Impulse as a function of the speed u at the end of the step: the sum of
 *   spring   -slope (u + offset): tl_spring_weights
 *   motor    -motor_slope (u + motor_offset), or u = -motor_offset exactly (motor_rigid), within
 *            +-cap; motor_push is a given impulse
 *   limits   low <= u <= high, whatever impulse that takes
 * It falls with u, so that one crossing with a rising line can be found in closed form. */
typedef struct tl_joint_law {
  talus_real slope, offset;
  talus_real motor_slope, motor_offset, cap, push;
  bool motor_rigid;
  talus_real low, high; /* m/s or rad/s; -+TL_REAL_MAX: none */
} tl_joint_law;

/* The impulse p at which p = (u - u0)/s + p0 and p = law(u) meet: the next impulse of a row whose
 * speed is u0 with the impulse p0, and answers with s (speed per impulse, > 0). */
TL_FN talus_real tl_joint_law_impulse(const tl_joint_law *law, talus_real u0, talus_real p0,
                                      talus_real s) {
  const talus_real y = p0 - u0 / s; /* p = u/s + y */
  const talus_real stiff = 1 / s + law->slope, load = y + law->slope * law->offset - law->push;
  talus_real u, motor = 0;
  bool given = false; /* the impulse is known without u */
  if (law->motor_rigid) {
    u = -law->motor_offset;
    motor = u * stiff + load;
    given = tl_abs(motor) > law->cap;
  } else {
    u = -(load + law->motor_slope * law->motor_offset) / (stiff + law->motor_slope);
    motor = -law->motor_slope * (u + law->motor_offset);
    given = tl_abs(motor) > law->cap || law->motor_slope == 0;
  }
  if (given) {
    motor = tl_clamp(motor, -law->cap, law->cap);
    u = (motor - load) / stiff;
  }
  if (given && law->slope == 0 && u >= law->low && u <= law->high)
    return motor + law->push; /* exactly 0, without rounding, if nothing pushes */
  u = tl_clamp(u, law->low, law->high);
  return u / s + y;
}

#endif
