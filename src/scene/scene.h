/* The scene as read: plain structs, one member per key of the file. schema.c says what each key
 * means; the reader, the writer and the documentation are loops over those tables. */
#ifndef TL_SCENE_SCENE_H
#define TL_SCENE_SCENE_H

#include "scene/text.h"
#include <talus/average.h>
#include <talus/scene.h>
#include <talus/zone.h>

/* First member of every struct that stands for a map of the file. */
typedef struct tl_object {
  uint32_t has;                  /* bit i: key i of its map has a value, given or by default */
  uint32_t given;                /* bit i: not by default */
  uint32_t bad;                  /* bit i: that value was refused, so checks leave it alone */
  uint32_t line, column, origin; /* where it is */
} tl_object;

/* A list, or a map of names: `count` structs. Those of a map of names have the name second. */
typedef struct tl_items {
  void *data;
  size_t count, capacity;
} tl_items;

typedef struct tl_scene_until {
  tl_object object;
  double time, at_rest; /* s, m/s */
} tl_scene_until;

typedef struct tl_scene_step {
  tl_object object;
  int kind;
  double dt;       /* adaptive: of the grid that steps end on; chosen (check.c) */
  double max, min; /* adaptive, local */
  double growth;   /* local */
  uint64_t history;
  uint64_t substeps;
  int method; /* implicit, and these */
  uint64_t iterations;
  double tolerance, damping;
} tl_scene_step;

typedef struct tl_scene_solve {
  tl_object object;
  int kind, law, method, friction, joints;
  double reach, tangential;
  uint64_t iterations;
  double iterations_max; /* < 0: auto */
  double tolerance;
  bool warm_start;
  double recovery, recovery_speed, bounce_speed, omega, lambda;
  int reduction;
  bool islands;
  double slop, correction;
  int shell, response;
} tl_scene_solve;

typedef struct tl_scene_broad {
  tl_object object;
  int kind;
  double skin;
} tl_scene_broad;

typedef struct tl_scene_narrow {
  tl_object object;
  int ellipsoid, tree, triangle, fusion;
} tl_scene_narrow;

typedef struct tl_scene_contact {
  tl_object object;
  double margin, halo;
  bool sweep;
} tl_scene_contact;

typedef struct tl_scene_sleep {
  tl_object object;
  double speed, time;
} tl_scene_sleep;

typedef struct tl_scene_material {
  tl_object object;
  char *name;
  double density, friction, restitution;
  double static_friction, rolling, spinning, cohesion;
  double rolling_coefficient, surface_energy;
  double stiffness, young, poisson;
} tl_scene_material;

typedef struct tl_scene_pair {
  tl_object object;
  char *materials[2];
  double friction, restitution, static_friction, rolling, spinning, cohesion, stiffness;
  double rolling_coefficient, surface_energy;
} tl_scene_pair;

typedef struct tl_scene_superellipsoid {
  tl_object object;
  double half[3], n1, n2;
} tl_scene_superellipsoid;

/* Capsule, cylinder and cone. */
typedef struct tl_scene_turned {
  tl_object object;
  double radius, length;
} tl_scene_turned;

/* Points written in place, or the name of a file that has them. */
typedef struct tl_scene_points {
  char *file;
  tl_items rows; /* of 2, 3 or 4 doubles */
} tl_scene_points;

/* Triangles of a file, or made. */
typedef struct tl_scene_mesh {
  tl_object object;
  char *file;
  int make; /* row of talus_mesh_recipe_name */
  uint64_t triangles, seed;
  double size[5], noise;
} tl_scene_mesh;
typedef struct tl_scene_funnel {
  tl_object object;
  double top, bottom, length;
} tl_scene_funnel;

typedef struct tl_scene_shape {
  tl_object object;
  char *name; /* NULL for a shape written within a body */
  double sphere, box[3], plane[4], container[3], ellipsoid[3];
  tl_scene_superellipsoid superellipsoid;
  tl_scene_turned capsule, cylinder, cone, tube;
  tl_scene_funnel funnel;
  tl_scene_points hull, clump, revolved;
  tl_scene_mesh mesh;
  int sides;
  double thickness, rounding;
  uint32_t open;
  double scale;
  double volume, centre[3], inertia[6];
} tl_scene_shape;

/* `shape: NAME`, or a shape in place. */
typedef struct tl_scene_shape_use {
  char *name;
  tl_scene_shape *own;
} tl_scene_shape_use;

typedef struct tl_scene_rotation {
  double quaternion[4]; /* as written, not normalised: so writing it again changes no bit */
  bool is_random;
} tl_scene_rotation;

/* Sphere, cylinder and disc of a region, each using some of it. */
typedef struct tl_scene_round {
  tl_object object;
  double at[3], axis[3], radius, length;
} tl_scene_round;

typedef struct tl_scene_region {
  tl_object object;
  double box[6]; /* low corner, high corner */
  tl_scene_round sphere, cylinder, disc;
  tl_scene_points points; /* of an emitter */
} tl_scene_region;

typedef struct tl_scene_lognormal {
  tl_object object;
  double median, sigma;
} tl_scene_lognormal;

typedef struct tl_scene_size {
  tl_object object;
  double uniform[2];
  tl_scene_lognormal lognormal;
  tl_items table; /* of double[2] */
  int by;
} tl_scene_size;

typedef struct tl_scene_motion {
  tl_object object;
  double velocity[3], spin[3], amplitude[3], swing[3], frequency, phase, through[3];
  char *table; /* a file */
  double along[3], about[3];
  int interpolate;
  double from_time, until;
} tl_scene_motion;

/* A load: a constant, or rows of times and values, given here or in a file. */
typedef struct tl_scene_course {
  double value[3];
  char *table;   /* a file */
  tl_items ramp; /* of 2 or 4 doubles */
} tl_scene_course;

static inline bool tl_scene_varies(const tl_scene_course *course) {
  return course->table || course->ramp.count > 0;
}

typedef struct tl_scene_press {
  tl_object object;
  double axis[3];
  tl_scene_course force, pressure;
  double area, max_speed;
} tl_scene_press;

typedef struct tl_scene_fill {
  tl_object object;
  tl_scene_shape_use shape;
  char *material;
  uint64_t count;
  double fraction;
  tl_scene_region in;
  tl_scene_size size;
  tl_scene_rotation rotation;
  double velocity[3], spin[3];
  bool fixed;
  char *group;
  uint64_t seed;
  bool allow_fewer;
  double thermal;
} tl_scene_fill;

typedef struct tl_scene_limits {
  tl_object object;
  double low, high, restitution;
} tl_scene_limits;

typedef struct tl_scene_spring {
  tl_object object;
  double stiffness, damping, rest;
} tl_scene_spring;

typedef struct tl_scene_motor {
  tl_object object;
  tl_scene_course speed, force, torque;
  double position, max, stiffness, damping;
} tl_scene_motor;

typedef struct tl_scene_breaking {
  tl_object object;
  double force, torque;
} tl_scene_breaking;

typedef struct tl_scene_joint {
  tl_object object;
  char *name;
  int kind;
  char *bodies[2];
  double at[3], to[3], axis[3], axis_b[3];
  double length, ratio;
  bool rope, about, collide, assemble;
  tl_scene_limits *limits;
  tl_scene_spring *spring;
  tl_scene_motor *motor;
  tl_scene_breaking *breaking;
} tl_scene_joint;

/* Bodies of a file. */
typedef struct tl_scene_table {
  tl_object object;
  char *name;
  char *table; /* a file */
  char *material;
  double at[3], scale;
  bool fixed;
  char *group;
} tl_scene_table;

/* A selection of the bodies of another run, and changes to them (`only` and `except` use the first
 * four members). */
typedef struct tl_scene_choice {
  tl_object object;
  tl_items names, groups, materials; /* of char * */
  tl_scene_region region;
  char *material;
  bool fixed;
  tl_items motion; /* of tl_scene_motion */
  double force[3], torque[3];
} tl_scene_choice;

/* Bodies of another run. */
typedef struct tl_scene_from {
  tl_object object;
  char *name;
  char *from;                    /* a folder */
  tl_items only, except, change; /* of tl_scene_choice */
} tl_scene_from;

/* Copies of a body along a way. */
typedef struct tl_scene_repeat {
  tl_object object;
  uint64_t count;
  double shift[3];
  tl_scene_rotation turn;
  double through[3];
} tl_scene_repeat;

/* Random differences between them: half widths. */
typedef struct tl_scene_spread {
  tl_object object;
  double at[3], velocity[3], spin[3];
  uint64_t seed;
} tl_scene_spread;

/* An entry of `bodies`: a body, or `fill` alone, or those of another run, or those of a table. */
typedef struct tl_scene_body {
  tl_object object;
  char *name;
  tl_scene_shape_use shape;
  char *material;
  double at[3];
  tl_scene_rotation rotation;
  double velocity[3], spin[3];
  double scale, mass;
  bool fixed;
  tl_items motion; /* of tl_scene_motion; empty: none */
  uint32_t lock;
  char *group;
  tl_scene_course force, torque;
  tl_scene_press *press;
  double surface_velocity[3], surface_spin[3];
  tl_items repeat; /* of tl_scene_repeat; empty: no copies */
  tl_scene_spread *spread;
  tl_scene_fill *fill;
  tl_scene_from *from;
  tl_scene_table *table;
} tl_scene_body;

/* A body, with its copies, whose keys stand in the struct itself. */
static inline bool tl_scene_is_one(const tl_scene_body *body) {
  return !body->fill && !body->from && !body->table;
}
/* How many such an entry makes: 1, or the copies of `repeat`. */
double tl_repeat_count(const tl_scene_body *body);

typedef struct tl_scene_emitter {
  tl_object object;
  char *name;
  tl_scene_shape_use shape;
  char *material;
  double rate;
  tl_scene_region from;
  double velocity[3], spin[3];
  double from_time, until;
  tl_scene_size size;
  tl_scene_rotation rotation;
  char *group;
  uint64_t seed;
  double thermal;
  int inflow, arrival;
  uint64_t burst;
} tl_scene_emitter;

typedef struct tl_scene_sink {
  tl_object object;
  char *name;
  tl_scene_region in;
  char *recycle;
} tl_scene_sink;

typedef struct tl_scene_probe {
  tl_object object;
  char *name;
  char *body, *joint;
  tl_scene_region region;
  uint32_t record; /* TALUS_RECORD_... */
  tl_items sizes;  /* of double */
  double every;
} tl_scene_probe;

typedef struct tl_scene_grid {
  tl_object object;
  double radius;
  int plane; /* the axis across it */
  double box[6], at[2], x[2], y[2], z[2];
  tl_items cells; /* of double */
} tl_scene_grid;

typedef struct tl_scene_average {
  tl_object object;
  char *name;
  tl_scene_grid grid;
  uint32_t record; /* TALUS_AVERAGE_... */
  char *wall;
  int sample;
  double every;
} tl_scene_average;

typedef struct tl_scene_zone_of {
  tl_object object;
  char *group, *body;
  double at[3];
} tl_scene_zone_of;

typedef struct tl_scene_zone_force {
  tl_object object;
  double strength, power;
} tl_scene_zone_force;

typedef struct tl_scene_zone {
  tl_object object;
  char *name;
  tl_scene_zone_of of;
  char *with;
  double radius;
  tl_scene_zone_force force;
  int shell;
  bool boundary, trigger;
  double every;
} tl_scene_zone;

typedef struct tl_scene_domain {
  tl_object object;
  double box[6];
  uint32_t periodic; /* 1: x, 2: y, 4: z */
  int outside;
} tl_scene_domain;

typedef struct tl_scene_ignore {
  tl_object object;
  char *groups[2];
} tl_scene_ignore;

typedef struct tl_scene_output {
  tl_object object;
  bool frames;
  double every;
  uint32_t fields; /* TL_FRAME_... of output/output.h */
} tl_scene_output;

struct talus_scene {
  tl_object object;
  uint64_t talus;
  char *title;
  double gravity[3];
  uint64_t seed;
  tl_scene_until until;
  tl_scene_step step;
  tl_scene_solve solve;
  tl_scene_broad broad;
  tl_scene_narrow narrow;
  tl_scene_contact contact;
  bool allow_overlap; /* adaptive: at the start */
  tl_scene_sleep sleep;
  tl_scene_domain domain;
  tl_items materials, pairs, shapes, bodies, joints, ignore, emit, sinks, probes, zones, averages;
  tl_scene_output output;
  uint32_t quiet;  /* TL_WARN_... of warn.h */
  uint32_t strict; /* TALUS_STRICT_... */
  /* Not of the file. */
  char *name;                /* in messages: the file's path */
  char *folder;              /* where relative paths start */
  TL_ARRAY(char *) warnings; /* what is likely to be a mistake: warn.h */
  char *start;               /* the start file that holds the world (start.h); NULL: none */
  TL_ARRAY(uint64_t) hashes; /* of the files that the scene names, as the start file has them */
};

/* ---- for a run ------------------------------------------------------------------------------- */

/* What run.c needs beside talus_scene_get_info. */
uint32_t tl_scene_fields(const talus_scene *scene); /* TL_FRAME_... that frames hold */
bool tl_scene_has_frames(const talus_scene *scene); /* false: none are written */

typedef struct tl_scene_probe_plan {
  const char *name;
  double every;    /* s */
  uint32_t record; /* TALUS_RECORD_... */
  const double *sizes;
  size_t size_count;
} tl_scene_probe_plan;

/* Probe i of the scene is probe i of the world that talus_scene_build makes. */
size_t tl_scene_probe_count(const talus_scene *scene);
tl_scene_probe_plan tl_scene_get_probe(const talus_scene *scene, size_t i);

/* Average i of the scene is average i of the world; *every in s. */
size_t tl_scene_average_count(const talus_scene *scene);
const char *tl_scene_get_average(const talus_scene *scene, size_t i, double *every);

/* Likewise zones. */
size_t tl_scene_zone_count(const talus_scene *scene);
const char *tl_scene_get_zone(const talus_scene *scene, size_t i, double *every);

/* sinks/outside.csv is of what leaves the domain. */
#define TL_SINK_OUTSIDE "outside"
/* Sink i of the scene is sink i of the world; NULL where it has no name. */
const char *tl_scene_sink_name(const talus_scene *scene, size_t i);
bool tl_scene_removes_outside(const talus_scene *scene);

/* XXH64 of the canonical text without until, output and probes: what a run may not change when it
 * goes on. Of a `from` folder only its last name counts, so that folders may move. */
talus_status tl_scene_identity(const talus_scene *scene, uint64_t *hash);

/* The time grid of a fixed step: the run ends at the step nearest `until`, event k of an interval
 * (frame, probe line) is at the step nearest k * every, the last one at the end. */
uint64_t tl_grid_steps(double until, double dt);
uint64_t tl_grid_event(uint64_t k, double every, double dt, uint64_t steps);
uint64_t tl_grid_events(double every, double dt,
                        uint64_t steps); /* event 0 and the last included */

/* Every key of the format as Markdown, from the tables that the reader uses: docs/scene.md. */
talus_status tl_schema_document(char **text);

#endif
