/* The arithmetic of one spring, for a NUMBER that is a real or a vector of reals.
 *
 * No include guard: it is included once for each NUMBER (ccp_visit.h says what must be defined). No
 * branch depends on a number, so that the lanes of a vector can go different ways and give the bits
 * of the scalar code. */
#ifndef NUMBER
/* If an editor or the compile check opens this file alone: the variant with a real. */
#include "kernels/penalty.h"
#else

typedef struct VISIT(vec) {
  NUMBER x, y, z;
} VISIT(vec);

TL_FN NUMBER VISIT(dot)(VISIT(vec) a, VISIT(vec) b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

/* a + s b. */
TL_FN VISIT(vec) VISIT(madd)(VISIT(vec) a, NUMBER s, VISIT(vec) b) {
  VISIT(vec) r;
  r.x = a.x + s * b.x;
  r.y = a.y + s * b.y;
  r.z = a.z + s * b.z;
  return r;
}

TL_FN VISIT(vec) VISIT(times)(NUMBER s, VISIT(vec) a) {
  VISIT(vec) r;
  r.x = s * a.x;
  r.y = s * a.y;
  r.z = s * a.z;
  return r;
}

TL_FN VISIT(vec) VISIT(cross)(VISIT(vec) a, VISIT(vec) b) {
  VISIT(vec) r;
  r.x = a.y * b.z - a.z * b.y;
  r.y = a.z * b.x - a.x * b.z;
  r.z = a.x * b.y - a.y * b.x;
  return r;
}

/* The part of a at right angles to the unit vector n. */
TL_FN VISIT(vec) VISIT(across)(VISIT(vec) a, VISIT(vec) n) {
  return VISIT(madd)(a, -VISIT(dot)(a, n), n);
}

/* The constants of the spring, and where the two bodies are and how they move. */
typedef struct VISIT(contact) {
  NUMBER normal, tangent;    /* linear: N/m; hertz: 4/3 E* and 8 G*, Pa */
  NUMBER damping;            /* of tl_spring_damping */
  NUMBER tangent_damping;    /* the same times sqrt(k_t/k_n), stiffnesses as they are felt */
  NUMBER friction, cohesion; /* N */
  NUMBER mass, radius;       /* reduced, kg and m */
  NUMBER overlap;            /* m, > 0 */
  VISIT(vec) n;              /* unit, from a to b */
  VISIT(vec) velocity;       /* of b against a at the point, where the force acts, m/s */
  VISIT(vec) drift;          /* the same in the middle of the step before: what moved them */
  NUMBER twirl;              /* rad/s about n, mean of both bodies, likewise */
} VISIT(contact);

typedef struct VISIT(pushed) {
  VISIT(vec) force;                       /* N, on b */
  NUMBER press;                           /* N, along n, without cohesion */
  NUMBER elastic, stored;                 /* J, now: normal and tangential */
  NUMBER damping, friction;               /* W: what dashpots and friction take */
  NUMBER tangent_stiffness, tangent_drag; /* N/m, N s/m */
  NUMBER normal_stiffness, normal_drag;   /* the same along n */
  NUMBER cut;                             /* share of the stretch that friction held */
  TRUTH slides;
} VISIT(pushed);

/* Linear (stiffness does not depend on the overlap) or Hertz and Mindlin.
 *
 *   normal    F = k d - c u_n              k d: 4/3 E* sqrt(R*) d^1.5 (Hertz 1882)
 *   dashpot   c = damping sqrt(S m*)       S = dF/dd: k, or 2 E* sqrt(R* d) (Tsuji 1992)
 *   tangent   F = -k_t s - c_t u_t         k_t: a share of k, or 8 G* sqrt(R* d) (Mindlin 1949)
 *   Coulomb   |F_t| <= mu (F + cohesion)   and s is then what holds that force
 *   cohesion  a constant pull while they overlap: DMT (Derjaguin, Muller and Toporov 1975)
 *
 * *slip, the tangential stretch s, turns with the contact: it is laid into the new tangent plane
 * and turned about the normal as the two bodies do on average, without changing its length. Where
 * the tangential spring became stiffer since (more load), its force is kept and the stretch
 * shrinks; where it became softer the stretch is kept: in neither case is energy made (Thornton,
 * Cummins and Cleary 2013). */
TL_FN VISIT(pushed) VISIT(push)(const VISIT(contact) * t, const int is_hertz, NUMBER h,
                                NUMBER old_stiffness, VISIT(vec) * slip) {
  const NUMBER zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const NUMBER a = is_hertz ? NUMBER_SQRT(t->radius * t->overlap) : one;
  const NUMBER secant = t->normal * a, kt = t->tangent * a;
  const NUMBER kn = is_hertz ? TL_R(1.5) * secant : secant;
  const NUMBER root = NUMBER_SQRT(kn * t->mass);
  const NUMBER cn = t->damping * root, ct = t->tangent_damping * root;
  const NUMBER un = VISIT(dot)(t->velocity, t->n);
  const VISIT(vec) ut = VISIT(madd)(t->velocity, -un, t->n);
  const NUMBER pressed = secant * t->overlap, press = pressed - cn * un;

  /* The stretch in the present frame. */
  const NUMBER old2 = VISIT(dot)(*slip, *slip);
  const VISIT(vec) turned =
      VISIT(across)(VISIT(madd)(*slip, h * t->twirl, VISIT(cross)(t->n, *slip)), t->n);
  const NUMBER turned2 = VISIT(dot)(turned, turned);
  const NUMBER length = SELECT(turned2 > zero, NUMBER_SQRT(old2 / turned2), zero);
  const NUMBER keep = length * SELECT(old_stiffness < kt, old_stiffness / kt, one);
  const VISIT(vec) stretch =
      VISIT(madd)(VISIT(times)(keep, turned), h, VISIT(across)(t->drift, t->n));

  /* A stretch that friction cannot hold is let go of: sliding. The dashpot comes on top, as far as
   * friction holds that too; were it part of the test, it would stretch the spring by itself. */
  const NUMBER most = t->friction * SELECT(press > zero, press, zero);
  const VISIT(vec) pull = VISIT(times)(-kt, stretch);
  const NUMBER pull2 = VISIT(dot)(pull, pull);
  const TRUTH slides = pull2 > most * most;
  const NUMBER cut = SELECT(slides, most / NUMBER_SQRT(pull2), one);
  const VISIT(vec) held = VISIT(times)(cut, pull);
  *slip = VISIT(times)(cut, stretch);
  const VISIT(vec) tried = VISIT(madd)(held, -ct, ut);
  const NUMBER tried2 = VISIT(dot)(tried, tried);
  const NUMBER share = SELECT(tried2 > most * most, most / NUMBER_SQRT(tried2), one);
  const VISIT(vec) ft = VISIT(times)(share, tried);

  const NUMBER given = VISIT(dot)(held, ut);
  VISIT(pushed) r;
  r.force = VISIT(madd)(ft, press - t->cohesion, t->n);
  r.press = press;
  r.elastic = ((is_hertz ? TL_R(0.4) : TL_R(0.5)) * pressed - t->cohesion) * t->overlap;
  r.stored = half * kt * VISIT(dot)(*slip, *slip);
  r.damping = cn * un * un - (VISIT(dot)(ft, ut) - given);
  r.friction = -given; /* goes into the stretch first; less what that stores */
  r.tangent_stiffness = kt;
  r.tangent_drag = ct;
  r.normal_stiffness = kn;
  r.normal_drag = cn;
  r.cut = cut;
  r.slides = slides;
  return r;
}

/* A ball: its velocities in the middle of the last step, and the change since then by half a step
 * of forces. */
typedef struct VISIT(ball) {
  VISIT(vec) v, w;
  NUMBER radius, inv_mass;
  VISIT(vec) velocity_kick, spin_kick;
  NUMBER curvature; /* 1/m; 0: flat */
} VISIT(ball);

/* Velocity of b against a where they touch: arms are along the normal. */
TL_FN VISIT(vec) VISIT(meeting)(VISIT(vec) va, VISIT(vec) wa, NUMBER arm_a, VISIT(vec) vb,
                                VISIT(vec) wb, NUMBER arm_b, VISIT(vec) n) {
  VISIT(vec) s, r;
  s.x = wa.x * arm_a + wb.x * arm_b;
  s.y = wa.y * arm_a + wb.y * arm_b;
  s.z = wa.z * arm_a + wb.z * arm_b;
  const VISIT(vec) c = VISIT(cross)(s, n);
  r.x = (vb.x - va.x) - c.x;
  r.y = (vb.y - va.y) - c.y;
  r.z = (vb.z - va.z) - c.z;
  return r;
}

/* Fills *t, which has the law already, for VISIT(push): two balls whose centres are d apart. */
TL_FN void VISIT(balls)(const VISIT(ball) * a, const VISIT(ball) * b, VISIT(vec) d,
                        VISIT(contact) * t) {
  const NUMBER zero = {0}, one = zero + 1, half = zero + TL_R(0.5);
  const NUMBER square = VISIT(dot)(d, d), distance = NUMBER_SQRT(square);
  const TRUTH apart = square > zero; /* centres in one place: along z, as everywhere */
  const NUMBER sum = a->radius + b->radius;
  const NUMBER inverse = one / distance;
  t->n.x = SELECT(apart, d.x * inverse, zero);
  t->n.y = SELECT(apart, d.y * inverse, zero);
  t->n.z = SELECT(apart, d.z * inverse, SELECT(d.z < zero, -one, one));
  /* The caller tested in double that they touch; in single precision the difference may round to
   * less than 0. */
  const NUMBER deep = sum - distance;
  t->overlap = SELECT(deep > zero, deep, zero);
  t->mass = one / (a->inv_mass + b->inv_mass);
  t->radius = one / (a->curvature + b->curvature);
  const NUMBER arm_a = a->radius - half * t->overlap, arm_b = b->radius - half * t->overlap;
  t->drift = VISIT(meeting)(a->v, a->w, arm_a, b->v, b->w, arm_b, t->n);
  const VISIT(vec) velocity_kick = VISIT(meeting)(a->velocity_kick, a->spin_kick, arm_a,
                                                  b->velocity_kick, b->spin_kick, arm_b, t->n);
  t->velocity = VISIT(madd)(t->drift, one, velocity_kick);
  t->twirl = half * (VISIT(dot)(t->n, a->w) + VISIT(dot)(t->n, b->w));
}

#endif
