/* Springs of joints without damping keep their amplitude, however stiff they are and however long
 * they swing. Default settings; no gravity. */
#include "validation_cases.h"

#define DT    1e-3
#define STIFF 1e4 /* N/m on 1 kg: 100 rad/s, 63 steps a period */

typedef enum spring_kind { BETWEEN_POINTS, ON_A_SLIDER, ON_A_HINGE } spring_kind;

typedef struct swing {
  talus_body body;
  spring_kind kind;
  double rate;  /* rad/s of the exact motion */
  double start; /* m or rad */
} swing;

/* A body of 1 kg that is let go `start` away from where its spring is without force; of a hinge, 1
 * kg m2 and an angle. */
static swing let_go(val_run *run, spring_kind kind, double stiffness, double ratio) {
  talus_world_def def = val_default_def(run, DT);
  def.gravity = val_vec(0, 0, 0);
  val_world_from(run, &def);
  swing s = {.kind = kind, .start = 0.1};
  talus_body_def body = talus_body_def_default();
  body.material = val_material(run, 0, 0);
  body.shape = val_shape(run, TALUS_BOX, 0.2, 0.2, 0.2, 0);
  body.mass = kind == ON_A_HINGE ? 6 / (0.2 * 0.2) : 1; /* m (a^2 + a^2) / 12 = 1 kg m2 */
  body.position.x = kind == BETWEEN_POINTS ? 1 + s.start : 0;
  s.body = val_add(run, &body);
  talus_joint_def joint = talus_joint_def_default();
  joint.b = s.body;
  joint.stiffness = stiffness;
  joint.damping = 2 * ratio * sqrt(stiffness);
  if (kind == BETWEEN_POINTS) {
    joint.kind = TALUS_JOINT_SPRING;
    joint.to = body.position;
    joint.rest = 1;
  } else {
    joint.kind = kind == ON_A_SLIDER ? TALUS_JOINT_PRISMATIC : TALUS_JOINT_REVOLUTE;
    joint.axis = kind == ON_A_SLIDER ? val_vec(1, 0, 0) : val_vec(0, 0, 1);
    joint.rest = -s.start;
  }
  if (!run->failed && talus_world_add_joint(run->world, &joint, NULL) != TALUS_OK)
    val_fail(run, talus_last_error());
  s.rate = sqrt(stiffness) * sqrt(1 - ratio * ratio);
  return s;
}

/* From where the spring is without force, m or rad, and how fast. */
static void look(val_run *run, const swing *s, double *way, double *speed) {
  const talus_body_info now = val_info(run, s->body);
  if (s->kind == ON_A_HINGE) {
    *way = 2 * atan2((double)now.rotation.z, (double)now.rotation.w) + s->start;
    *speed = (double)now.spin.z;
  } else {
    *way = now.position.x + (s->kind == ON_A_SLIDER ? s->start : -1);
    *speed = (double)now.velocity.x;
  }
}

/* Largest way in one period from now on, over that at the start. */
static double amplitude(val_run *run, const swing *s) {
  double most = 0;
  const long steps = (long)ceil(2 * VAL_PI / s->rate / DT) + 1;
  for (long n = 0; n < steps && !run->failed; ++n) {
    double way, speed;
    val_step(run, 1);
    look(run, s, &way, &speed);
    most = fmax(most, fabs(way));
  }
  return most / s->start;
}

static const char *const kinds[] = {"between points", "on a slider", "on a hinge"};

static void keep_swinging(val_run *run, int periods) {
  for (int kind = BETWEEN_POINTS; kind <= ON_A_HINGE; ++kind) {
    char quantity[56];
    const swing s = let_go(run, (spring_kind)kind, STIFF, 0);
    val_step(run, lround(periods * 2 * VAL_PI / s.rate / DT));
    snprintf(quantity, sizeof quantity, "%s: amplitude after %d periods", kinds[kind], periods);
    val_near(run, quantity, "", amplitude(run, &s), 1, 0.01);
  }
}

void val_spring_amplitude(val_run *run) {
  keep_swinging(run, 100);
  /* A period of 2 and of 0.02 steps: no longer seen, but it must not grow. */
  for (int k = 0; k < 2; ++k) {
    char quantity[56];
    const double stiffness = k ? 1e11 : 1e7;
    const swing s = let_go(run, ON_A_SLIDER, stiffness, 0);
    double most = 0, way, speed;
    for (int n = 0; n < 2000 && !run->failed; ++n) {
      val_step(run, 1);
      look(run, &s, &way, &speed);
      most = fmax(most, fabs(way) / s.start);
    }
    snprintf(quantity, sizeof quantity, "on a slider, %g N/m: largest way", stiffness);
    val_within(run, quantity, "", most, 0, 1.01);
  }
}

void val_spring_long(val_run *run) { keep_swinging(run, run->quick ? 10 : 1000); }

/* Times of passing through rest: 2 pi / rate each, of second order in dt: (rate dt)^2 / 24 of it by
 * Verlet, twice that by the trapezoidal rule; and what damping leaves after ten of them. */
void val_spring_period(val_run *run) {
  for (int damped = 0; damped < 2; ++damped)
    for (int kind = BETWEEN_POINTS; kind <= ON_A_HINGE; ++kind) {
      const double ratio = damped ? 0.02 : 0;
      const swing s = let_go(run, (spring_kind)kind, STIFF, ratio);
      double crossing[21], last = s.start, way, speed;
      int seen = 0;
      for (long n = 1; seen < 21 && n < 2000 && !run->failed; ++n) {
        val_step(run, 1);
        look(run, &s, &way, &speed);
        if (last * way < 0)
          crossing[seen++] = DT * ((double)n - fabs(way) / (fabs(way) + fabs(last)));
        last = way;
      }
      const double period = 2 * VAL_PI / s.rate;
      char quantity[56];
      snprintf(quantity, sizeof quantity, "%s, damping ratio %g: period", kinds[kind], ratio);
      val_near(run, quantity, "s", seen == 21 ? (crossing[20] - crossing[0]) / 10 : NAN, period,
               2e-3 * period);
      if (!damped)
        continue;
      /* the speed when it passes for the last time: 10.25 periods after the start */
      const double left = exp(-ratio / sqrt(1 - ratio * ratio) * 2 * VAL_PI * 10.25);
      snprintf(quantity, sizeof quantity, "%s, damping ratio %g: left after 10", kinds[kind],
               ratio);
      val_near(run, quantity, "", fabs(speed) / (s.start * sqrt(STIFF)), left, 0.03 * left);
    }
}
