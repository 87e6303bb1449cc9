/* Placing of new bodies: shared by fill and emitters. Private to this folder.
 *
 * A trial is a body that does not exist yet: a shape at a scale and a pose, with its bounding
 * sphere. Fill keeps the bounding spheres of new bodies apart (exact for spheres, conservative for
 * other shapes); bodies of the world are tested with the narrow phase. */
#ifndef TL_FLOW_PLACE_H
#define TL_FLOW_PLACE_H

#include "base/random.h"
#include "flow/flow.h"

/* Distances relative to a body's size: the gap that new bodies keep, and the amount by which a body
 * may stick out of a region of its own size. Much larger than rounding in the narrow phase, much
 * smaller than anything relevant. */
#define TL_PLACE_SLACK (TALUS_SINGLE ? 1e-5 : 1e-9)

/* ---- regions --------------------------------------------------------------------------------- */

/* True if the region contains a centre in the world or a periodic image of it. */
bool tl_region_holds(const tl_model *model, const talus_region *region, talus_dvec3 x);

/* The image of x nearest to the middle of the region; axes that are not periodic keep their
 * bits. */
talus_dvec3 tl_region_nearest(const tl_model *model, const talus_region *region, talus_dvec3 x);

/* The region, extended at both ends of axes that it spans: there it contains the other side of a
 * body. */
talus_region tl_region_widen(const tl_model *model, const talus_region *region, double by);

/* Unit vector along a cylinder. */
talus_dvec3 tl_region_axis(const talus_region *region);

/* Region of the centres of spheres that lie inside the region; false if the sphere is too large. An
 * axis marked in `spans` has no ends, because the region meets its own periodic image. */
bool tl_region_inset(const talus_region *region, double radius, const bool spans[3],
                     talus_region *inset);

/* A point uniform in the volume (or in the area of a flat region). Uses 3 numbers: 6 words, at most
 * TL_REGION_POINT_BLOCKS blocks of the generator. */
talus_dvec3 tl_region_point(const talus_region *region, tl_random *random);
#define TL_REGION_POINT_BLOCKS 2

/* Regions of new bodies must be inside the domain and not longer than its period. Sets spans[k] if
 * a box spans a periodic domain. */
talus_status tl_region_check_domain(const tl_model *model, const talus_region *region,
                                    const char *what, bool spans[3]);

/* The image of x inside the domain along periodic axes. */
talus_dvec3 tl_place_wrap(const tl_model *model, talus_dvec3 x);

/* ---- new bodies ------------------------------------------------------------------------------ */

typedef struct tl_trial {
  const tl_shape *shape;
  double scale;
  double radius;       /* of the bounding sphere, m */
  talus_dvec3 centre;  /* of mass */
  talus_quat rotation; /* of the principal frame */
  uint32_t group;
} tl_trial;

/* Checks a body to be copied: it needs a shape with a volume, a material, finite numbers. */
talus_status tl_trial_check(const tl_model *model, const talus_body_def *body, const char *what);

/* Bodies meet only their nearest periodic image, so they must not be longer than half a period. */
talus_status tl_trial_check_period(const tl_model *model, const tl_trial *trial, const char *what);

/* A trial without a centre; `rotation` is that of the shape's own frame. */
tl_trial tl_trial_make(const tl_model *model, const talus_body_def *body, double scale,
                       talus_quat rotation);

/* Position of the shape's own frame if the centre of mass is at trial->centre. */
talus_dvec3 tl_trial_frame(const tl_trial *trial, talus_quat rotation);

/* Position of the centre of mass if the shape's own frame is at `frame`. */
talus_dvec3 tl_trial_centre(const tl_trial *trial, talus_dvec3 frame, talus_quat rotation);

/* True if the trial touches a body of the world. Bodies of groups that ignore its own do not
 * count. */
bool tl_trial_hits_body(const tl_model *model, const tl_state *state, const tl_trial *trial,
                        uint32_t slot);
bool tl_trial_hits_trial(const tl_model *model, const tl_trial *trial, const tl_trial *other);

/* A rotation, uniform over all rotations. */
talus_quat tl_place_rotation(uint64_t seed, uint32_t stream, uint64_t serial);

/* ---- spheres in a grid ----------------------------------------------------------------------- */

/* Spheres by cell and by size: level k holds those with a radius in (top/2^(k+1), top/2^k], in
 * cells twice as wide as its largest radius, so that a sphere no larger than the level finds its
 * neighbours in 27 cells. Cells are hashed into lists; a list may contain several cells, which
 * costs only comparisons, because distances decide. */
#define TL_GRID_LEVELS 32

typedef struct tl_grid_sphere {
  talus_dvec3 centre;
  double radius;
  uint32_t slot; /* of a body of the world, to be tested exactly; TL_NONE: the sphere is solid */
  uint32_t next;
  int level;
} tl_grid_sphere;

typedef struct tl_grid {
  const tl_model *model;
  bool is_exact;              /* without slack: spheres that do not overlap are apart */
  const tl_new_bodies *fresh; /* slots are rows of this instead of bodies of the world; or NULL */
  TL_ARRAY(tl_grid_sphere) spheres;
  TL_ARRAY(uint32_t) heads; /* a power of two elements */
  talus_dvec3 origin;
  double top;      /* the largest radius of level 0 */
  uint32_t in_use; /* bit k: level k has spheres */
  double width[TL_GRID_LEVELS][3];
  int64_t around[TL_GRID_LEVELS][3]; /* cells in a period; 0: the axis is not periodic */
} tl_grid;

/* Takes memory for n spheres of radius `top` at most. The grid must be all zero or an old one,
 * whose memory is reused. */
talus_status tl_grid_start(tl_grid *grid, const tl_model *model, talus_dvec3 origin, double top,
                           size_t n);
void tl_grid_free(tl_grid *grid);

/* Adds a sphere; there must be room. Its level is that of radius `least` or more: the largest
 * radius of later trials, so that each visits 27 cells (larger ones are correct, but slow). */
void tl_grid_add(tl_grid *grid, talus_dvec3 centre, double radius, double least, uint32_t slot);

/* Removes all but the first n spheres. */
void tl_grid_cut(tl_grid *grid, size_t n);

/* True if the trial's bounding sphere overlaps a solid sphere, or the trial a body. */
bool tl_grid_blocks(const tl_grid *grid, const tl_state *state, const tl_trial *trial);

/* ---- emitters -------------------------------------------------------------------------------- */

/* most bodies of an emitter in a step; the others come in the next */
#define TL_EMIT_MOST UINT64_C(100000)

/* ---- streams (flow/stream.c) ---- */

uint64_t tl_emitter_burst(const talus_emitter_def *def); /* at least 1 */
/* Place to try for body `serial`: the next of the points, or anywhere in the region. */
talus_dvec3 tl_emitter_place(const talus_emitter_def *def, uint64_t serial, uint64_t attempt);
/* Sets the time of the first burst. */
void tl_emitter_begin(tl_emitter *emitter);
bool tl_emitter_is_due(const tl_emitter *emitter, double t1);
/* Counts one emitted body. */
void tl_emitter_advance(tl_emitter *emitter);
/* Number of bodies due by t1, at most `most`. */
uint64_t tl_emitter_count_due(const tl_emitter *emitter, double t1, uint64_t most);
/* Velocity of body `serial`: a function of (seed, serial). */
talus_vec3 tl_emitter_velocity(const talus_emitter_def *def, uint64_t serial);
talus_status tl_emitter_check_stream(const talus_emitter_def *def, const char *what);

/* Refuses a rate at which a step would need more bodies than there is room for. */
talus_status tl_emitter_check_rate(const tl_model *model, const talus_emitter_def *def,
                                   const char *what);

/* Obstacles for the next bodies of an emitter: bodies of the world, and new ones. */
typedef struct tl_obstacles {
  tl_grid old, fresh;
  TL_ARRAY(uint32_t) unbounded; /* slots */
  TL_ARRAY(uint32_t) near;      /* slots of bodies that may reach the region */
  double usual;                 /* m: usual radius of new bodies */
} tl_obstacles;

/* Prepares for n new bodies of radius `usual`, mostly, and at most `largest`. */
talus_status tl_obstacles_find(tl_obstacles *o, const tl_model *model, const tl_state *state,
                               const talus_region *from, double largest, double usual, size_t n);
/* Adds a new body, which is row `row` of the new bodies. */
void tl_obstacles_add(tl_obstacles *o, const tl_trial *trial, uint32_t row);
bool tl_obstacles_block(tl_obstacles *o, const tl_model *model, const tl_state *state,
                        const tl_new_bodies *fresh, const tl_trial *trial);
void tl_obstacles_free(tl_obstacles *o);

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Slot of the body with that uid, or TL_NONE; uids ascend with slots. */
uint32_t tl_flow_find_slot(const tl_model *model, uint64_t uid);

/* ---- contacts -------------------------------------------------------------------------------- */

/* Vector from the centre of mass of a free body to its contact at the time when that was found. */
talus_vec3 tl_flow_arm(const tl_crowd *crowd, const tl_contacts *contacts, size_t i, uint32_t slot);

/* ---- names ----------------------------------------------------------------------------------- */

talus_status tl_flow_copy_name(char **to, const char *from); /* NULL stays NULL */
void tl_flow_free_name(char *name);

/* "sink 'floor'" or "sink 2" for messages. */
typedef struct tl_flow_label {
  char text[128];
} tl_flow_label;
tl_flow_label tl_flow_describe(const char *kind, const char *name, size_t index);

#endif
