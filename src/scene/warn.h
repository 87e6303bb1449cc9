/* Warnings: what a valid scene says that is likely to be a mistake. None of them stops a run; each
 * kind comes once for a scene (keys that do nothing: each of them), and `quiet` silences it. */
#ifndef TL_SCENE_WARN_H
#define TL_SCENE_WARN_H

#include "scene/check.h"

#include <math.h>

/* Bits of talus_scene.quiet; schema.c has their names and what they are about. */
enum {
  TL_WARN_LARGE_STEP = 1,
  TL_WARN_LIGHT_DENSITY = 2,
  TL_WARN_HIGH_FRICTION = 4,
  TL_WARN_ODD_GRAVITY = 8,
  TL_WARN_SHORT_RUN = 16,
  TL_WARN_DENSE_FILL = 32,
  TL_WARN_UNUSED_MATERIAL = 64,
  TL_WARN_UNUSED_SHAPE = 128,
  TL_WARN_OVERLAP = 256, /* seen when the world is built: build.c */
  TL_WARN_LARGE_ROLLING = 512,
  TL_WARN_IDLE_KEY = 1024,
  TL_WARN_SOFT_SPRINGS = 2048,
  TL_WARN_HEAVY_BODY = 4096,
  TL_WARN_NARROW_THROAT = 8192,
  TL_WARN_LEFT_BEHIND = 16384,  /* likewise */
  TL_WARN_SELF_CROSSING = 32768 /* likewise */
};

/* kg: hardly anything heavier moves in one piece, except ships and asteroids. */
#define TL_WARN_HEAVIEST 1e6 /* kg: one body, a ball 9 m across */
#define TL_WARN_MANY     20  /* bodies, each as heavy as that, suggest millimetres sooner: */
#define TL_WARN_HEAVY    2e3 /* kg: a bead of a millimetre whose radius is given as 0.5 */

static inline double tl_warn_heaviest(double count) {
  return count >= TL_WARN_MANY ? TL_WARN_HEAVY : TL_WARN_HEAVIEST;
}

/* Fills scene->warnings, in the order of the file, from a scene that was found valid. */
void tl_check_warn(tl_checker *checker);

/* "; if that is meant, add `quiet: [overlap]`": how every warning ends. */
void tl_warn_add_way_out(tl_text *text, uint32_t kind);

/* For warn.c and its like. */
typedef struct tl_warner {
  tl_checker *checker;
  tl_problems found; /* its sources are borrowed */
} tl_warner;

/* Does nothing where the scene is quiet about it. */
void tl_warn(tl_warner *warner, uint32_t kind, tl_mark mark, const char *fmt, ...) TL_PRINTF(4, 5);
void tl_warn_keys(tl_warner *warner);
void tl_warn_step(tl_warner *warner);
void tl_warn_size(tl_warner *warner);
void tl_warn_throat(tl_warner *warner);

/* Something that moves and can hit others: an entry of `bodies` or `emit`. */
typedef struct tl_mover {
  double speed;              /* m/s, at most, by the end of the run */
  double impact;             /* m/s, at most, however long it lasts */
  double radius, fall;       /* m: of the smallest (scripted: of those that it may hit); how deep it
                                can fall */
  double lightest, heaviest; /* kg: of the smallest and the largest; 0: not known, or scripted */
  double count, force;       /* bodies (INFINITY: not known); N, constant */
  uint32_t material;         /* row */
  bool is_scripted, is_sphere;
  char who[128]; /* "bodies.3.fill" */
  tl_mark mark;
} tl_mover;

typedef void tl_mover_fn(void *context, const tl_mover *who);
/* Tells of all of them; scripted ones come last. */
void tl_warn_movers(tl_checker *checker, tl_mover_fn *tell, void *context);
double tl_warn_round_down(double value);

/* Springs (warn_soft.c): where the step is not given, chooses it so that overlaps stay small;
 * refuses one that is given and too long for `stiffness: auto`. Needs a scene that was found valid.
 */
void tl_check_overlaps(tl_checker *checker);
void tl_warn_soft(tl_warner *warner);
void tl_warn_elastic(tl_warner *warner);

/* Half the smallest edge of a shape in use, or its radius; infinite if unknown. */
double tl_warn_radius(const tl_checker *checker, const tl_scene_shape_use *use, double scale);

/* The smallest scale that bodies are likely to have, and the mean of its cube (by number). */
double tl_warn_least_size(const tl_scene_size *size, bool is_given);
double tl_warn_most_size(const tl_scene_size *size, bool is_given);
double tl_warn_mean_cube(const tl_scene_size *size, bool is_given);

/* ---- springs of a new world ------------------------------------------------------------------ */

/* The lightest free body of a material. */
typedef struct tl_soft_body {
  double mass, radius; /* kg, m; mass 0: there is none */
  bool is_uneven;      /* some are no spheres */
} tl_soft_body;

/* The stiffness [N/m] that `stiffness: auto` means with a step of dt and so many bodies; `of` has a
 * row for each material of the world. 0 if no material uses it. In world/stiffness.c. */
talus_status tl_world_find_stiffness(talus_world *world, const tl_soft_body *of, size_t bodies,
                                     double dt, double *stiffness);

/* How deep bodies sink into springs of `stiffness: auto`, in a world that has not been stepped yet.
 */
typedef struct tl_soft_step {
  double least;        /* s: the step for which it is `allowed`; INFINITY: they do not sink */
  double per_step;     /* N s2/m: the stiffness times dt^2 */
  double depth;        /* m: with the step that the world has; allowed: a share of a radius */
  double allowed;      /* m */
  double impact, fall; /* m/s, m: of the body that sinks deepest */
  uint64_t uid;        /* of it */
} tl_soft_step;

/* share: of the smallest free radius, that overlaps may be. In world/soft_step.c. */
talus_status tl_world_find_soft_step(talus_world *world, double share, tl_soft_step *found);

/* The load of a body at the bottom of a heap over its weight: layers of its size, as many as fit
 * under its fall, take `PACKED` of space on a square 2 r wide. */
static inline double tl_soft_layers(double fall, double radius) {
  return 3 * 0.6 / 3.14159265358979323846 * fall / radius;
}

/* The step for which W dt^2/K + v sqrt(m/K) dt is `allowed`; infinite where both are 0. */
static inline double tl_soft_step_for(double load, double push, double per_step, double allowed) {
  const double a = load / per_step, b = push / sqrt(per_step);
  return 2 * allowed / (b + sqrt(b * b + 4 * a * allowed));
}

/* ---- overlaps of a new world ----------------------------------------------------------------- */

/* The deepest of the contacts that a world begins with, deeper than a hundredth of a radius. */
typedef struct tl_overlap {
  size_t count;          /* body pairs; 0: none, and the rest means nothing */
  size_t slot_a, slot_b; /* in the order the bodies were added */
  double depth, radius;  /* m; radius: of the smaller free body, half the least edge of a box */
} tl_overlap;

/* In world/overlap.c: a stage does not look into worlds. Changes nothing of the world. */
talus_status tl_world_find_overlap(talus_world *world, tl_overlap *overlap);

#endif
