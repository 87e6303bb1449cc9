/* talus: collision detection on plain arrays, without a world.
 *
 * For programs that move their bodies themselves and need pairs or contacts:
 *
 *   talus_detect_def def = talus_detect_def_default();
 *   talus_detect_bodies spheres = {.count = n, .position = xyz, .radius = r};
 *   talus_contacts found;
 *   if (talus_find_contacts(&def, &spheres, &found, NULL) != TALUS_OK) puts(talus_last_error());
 *   for (size_t i = 0; i < found.count; ++i) use(&found.data[i]);
 *   talus_contacts_free(&found);
 *
 * Bodies are known by their row, counted from 0. Results are in ascending order and do not depend
 * on the algorithm or on the number of threads: not by a bit. Arrays handed in are read during the
 * call only. Calls may be made from several threads at a time, a detector from one at a time.
 *
 * Every call returns TALUS_OK, TALUS_ERROR_INVALID (a value is wrong: the message names the row),
 * TALUS_ERROR_UNSUPPORTED (two shapes came near each other whose contacts are not in this version;
 * contacts only, or a backend that this build has not), TALUS_ERROR_DEVICE (a device is missing or
 * has failed) or TALUS_ERROR_MEMORY; after a failure the results are empty. */
#ifndef TALUS_DETECT_H
#define TALUS_DETECT_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how ----------------------------------------------------------------------------------- */

/* Where arrays of numbers are that calls take and give. */
typedef enum talus_memory {
  TALUS_ON_HOST,
  TALUS_ON_DEVICE /* in memory of the backend's device: for cuda of the first GPU */
} talus_memory_kind;

typedef struct talus_detect_def {
  talus_broad_kind broad;  /* how pairs are found; the answer is the same */
  double margin;           /* m, >= 0: how far apart two bodies may be and still count */
  int threads;             /* 0: every core this process may use */
  talus_domain_def domain; /* its periodic axes alone; bodies may lie outside of the box */
  talus_narrow_def narrow; /* how pairs become contacts */
  talus_backend backend;   /* where the work is done; results are the same, byte for byte */
  bool no_fallback;        /* what the backend cannot do is refused instead of done by the CPU */
  /* TALUS_ON_DEVICE: position, radius, shape, scale, rotation, fixed and boxes, and the rows that
   * come out, are addresses of the device (talus_detector_allocate, or of your own CUDA code, whose
   * work on them is finished); tables of shapes are in ordinary memory. With a detector only, and
   * not with the backend cpu. Spheres stay there: their contacts move at most 80 bytes a call, and
   * 16 for each body with more than 256 of them. Of other shapes the bodies are copied to the host
   * and back, contacts are not; moved_bytes counts it. */
  talus_memory_kind memory;
  /* On a device, where contacts do not fit beside their bodies: they come home in so many turns,
   * one after the other; the rows are the same. 0: 1. The CPU needs none. */
  int pieces;
  /* Contacts with `broad` bins on a device: the ten stages of Pazouki, Mazhar and Negrut (2012) in
   * place of ours, timed in stage_ms. For comparisons; bodies of about one size, no planes. */
  bool published;
} talus_detect_def;

TALUS_API talus_detect_def talus_detect_def_default(void); /* auto, margin 0, not periodic */

/* "auto", "bins", ... as in scene files; NULL for any other value. */
TALUS_API const char *talus_broad_name(talus_broad_kind kind);
/* The one of that name; TALUS_ERROR_INVALID, with all names in the message, where there is none. */
TALUS_API talus_status talus_broad_by_name(const char *name, talus_broad_kind *kind);

/* "newton", "opm", "chm+opm", as for broad phases. */
TALUS_API const char *talus_ellipsoid_method_name(talus_ellipsoid_method method);
TALUS_API talus_status talus_ellipsoid_method_by_name(const char *name,
                                                      talus_ellipsoid_method *method);

/* "comparison", "certified", "iterative", "hybrid", and "bvh", "flat", "surrogate", likewise. */
TALUS_API const char *talus_triangle_method_name(talus_triangle_method method);
TALUS_API talus_status talus_triangle_method_by_name(const char *name,
                                                     talus_triangle_method *method);
TALUS_API const char *talus_tree_kind_name(talus_tree_kind kind);
TALUS_API talus_status talus_tree_kind_by_name(const char *name, talus_tree_kind *kind);

/* ---- of what ------------------------------------------------------------------------------- */

/* Arrays with a row per body; strides are in doubles, so that columns of a larger table will do.
 *
 * Spheres need `position` and `radius`. Other shapes are described once in a table, as for a world,
 * and chosen by row; `radius` is then ignored, and `scale` multiplies the lengths of the shape.
 */
typedef struct talus_detect_bodies {
  size_t count;           /* below 2^31 */
  const double *position; /* m: x, y, z of the shape's own frame */
  size_t position_stride; /* from one row to the next; 0: 3 */
  const double *radius;   /* m, >= 0 */
  size_t radius_stride;   /* 0: 1 */

  const talus_shape_def *shapes; /* NULL: spheres of `radius` */
  size_t shape_count;
  const uint32_t *shape; /* row of `shapes` */
  const double *scale;   /* >= 0; NULL: 1 */
  const double
      *rotation;        /* w, x, y, z of the shape's own frame, any length > 0; NULL: not turned */
  const uint8_t *fixed; /* not 0: not moved by contacts; two of these make no pair. Planes and
                           containers always are. NULL: no other is */
} talus_detect_bodies;

/* A table of bodies, as `talus contacts` and `bodies: - {table: FILE}` of a scene read it
 * (docs/formats.md): CSV whose first line names the columns x,y,z,r and, for other shapes than
 * spheres, shape,qw,qx,qy,qz,a,b,c,n1,n2,file,name; velocities vx,vy,vz and spins wx,wy,wz. Without
 * such a line the columns are x,y,z,r or x,y,z,r,vx,vy,vz; blanks may stand for commas. Dumps of
 * LAMMPS and LIGGGHTS are known by their header; their last time step counts. `path` stands in
 * messages, and files that the table names are relative to its folder. TALUS_ERROR_IO where it
 * cannot be read, TALUS_ERROR_FORMAT where it is not what it should be: the message has every
 * mistake (the first ten) with its line and a caret. There is then nothing to free, but freeing
 * does no harm. */
typedef struct talus_body_table {
  talus_detect_bodies bodies; /* what the calls below take; lives as long as the table */
  const double *velocity;     /* m/s: x, y, z of each row; NULL: the table has none */
  const double *spin;         /* rad/s, world axes, likewise */
  struct talus_body_rows *own;
} talus_body_table;

TALUS_API talus_status talus_body_table_read(const char *path, talus_body_table *table);
TALUS_API talus_status talus_body_table_parse(const char *text, size_t length, const char *path,
                                              talus_body_table *table);
TALUS_API void talus_body_table_free(talus_body_table *table);

/* Adds all bodies of a table to a world, in the order of its rows: position, size, shape, rotation,
 * velocity and spin are the table's, everything else is as in `like` (whose position is that of the
 * table's origin). `scale` multiplies positions, sizes and velocities: 0.001 for millimetres.
 * Planes and containers are fixed. If a body is refused, those before it stay in the world. The
 * table must be unchanged since it was read or parsed. */
TALUS_API talus_status talus_world_add_table(talus_world *world, const talus_body_table *table,
                                             const talus_body_def *like, double scale);

/* ---- what comes out ------------------------------------------------------------------------ */

typedef struct talus_row_pair {
  uint32_t a, b; /* rows, a < b */
} talus_row_pair;

typedef struct talus_pairs {
  talus_row_pair *data; /* ascending by (a, b), each pair once */
  size_t count;
} talus_pairs;

typedef struct talus_row_contact {
  uint32_t a, b;                 /* rows, a < b */
  uint32_t feature_a, feature_b; /* which part of a shape: two boxes may touch in several points */
  talus_dvec3 point; /* midway between the surfaces; next to a where axes are periodic */
  talus_vec3 normal; /* unit, from a to b; +z for concentric spheres */
  talus_real gap;    /* m, negative when penetrating */
} talus_row_contact;

typedef struct talus_contacts {
  talus_row_contact *data; /* ascending by (a, b, feature_a, feature_b) */
  size_t count;
} talus_contacts;

/* Free what the calls below filled in, and make it empty. */
TALUS_API void talus_pairs_free(talus_pairs *pairs);
TALUS_API void talus_contacts_free(talus_contacts *contacts);

/* What a call did. Times are of the wall clock. */
typedef struct talus_detect_stats {
  talus_broad_kind broad; /* the one that was used: never auto */
  const char *reason;     /* why auto chose it; NULL if it was given. Never to be freed */
  int threads;            /* that worked on it */
  double bounds_ms;       /* arrays checked and copied, boxes made */
  double broad_ms;        /* from boxes in memory to unique pairs in memory, in no order */
  double sort_ms;         /* pairs into their order */
  double narrow_ms;       /* from pairs to contacts; 0 in calls that find only pairs */
  uint64_t pairs;         /* unique ones whose boxes, each grown by half the margin, overlap */
  uint64_t candidates; /* pairs handed to the narrow phase, whose boxes have room for rounding, so
                          that the gap alone decides; in calls that find only pairs: pairs */
  uint64_t contacts;
  uint64_t comparisons; /* distances of two triangles of meshes, as in talus_report */
  uint64_t fallbacks;
  size_t peak_bytes;     /* most that the call held at a time: copies, scratch and results */
  talus_backend backend; /* the one that did it */
  const char *fallback;  /* why the CPU did it instead; NULL: it did not. Never to be freed */
  const char *device;    /* what it is; NULL for the CPU; lives as long as the detector, NULL
                              from the calls without one */
  double upload_ms, download_ms; /* copies to and from the device, in no other time */
  uint64_t moved_bytes;
  size_t device_bytes; /* most that was held there at a time */
  double stage_ms[10]; /* `published`: count, scan and write copies of bodies, sort them by bin,
                          find active bins, scan, sort bins by load, count, scan and write pairs */
} talus_detect_stats;

/* ---- one call ------------------------------------------------------------------------------ */

/* Pairs of bodies whose axis-aligned boxes, each grown by half the margin, overlap; touching
 * counts. def may be NULL (the defaults), stats too. */
TALUS_API talus_status talus_find_pairs(const talus_detect_def *def,
                                        const talus_detect_bodies *bodies, talus_pairs *pairs,
                                        talus_detect_stats *stats);

/* The same of n boxes of your own, finite and lo <= hi. */
TALUS_API talus_status talus_find_box_pairs(const talus_detect_def *def, const talus_box *boxes,
                                            size_t n, talus_pairs *pairs,
                                            talus_detect_stats *stats);

/* Contact points with gap <= margin. Along a periodic axis a body with its margin may be at most
 * half the period long: only the nearest image of a pair is tested. */
TALUS_API talus_status talus_find_contacts(const talus_detect_def *def,
                                           const talus_detect_bodies *bodies,
                                           talus_contacts *contacts, talus_detect_stats *stats);

/* ---- call after call ----------------------------------------------------------------------- */

/* The same with memory that is kept between calls, for programs that call it in every step:
 * allocating anew costs as much time as finding the pairs. Results belong to the detector, must not
 * be freed, and are valid until its next call. */
typedef struct talus_detector talus_detector;

TALUS_API talus_status talus_detector_create(const talus_detect_def *def,
                                             talus_detector **detector);
TALUS_API void talus_detector_destroy(talus_detector *detector); /* NULL is fine */
TALUS_API talus_status talus_detector_find_pairs(talus_detector *detector,
                                                 const talus_detect_bodies *bodies,
                                                 talus_pairs *pairs, talus_detect_stats *stats);
TALUS_API talus_status talus_detector_find_box_pairs(talus_detector *detector,
                                                     const talus_box *boxes, size_t n,
                                                     talus_pairs *pairs, talus_detect_stats *stats);
TALUS_API talus_status talus_detector_find_contacts(talus_detector *detector,
                                                    const talus_detect_bodies *bodies,
                                                    talus_contacts *contacts,
                                                    talus_detect_stats *stats);

/* Memory of the detector's device, for TALUS_ON_DEVICE: a block of `bytes` with undefined content,
 * which is released with the detector, or before; copies of `bytes` to it and from it, of results
 * too. The address cannot be read by ordinary code. TALUS_ERROR_INVALID with the backend cpu. */
TALUS_API talus_status talus_detector_allocate(talus_detector *detector, size_t bytes,
                                               void **block);
TALUS_API void talus_detector_release(talus_detector *detector, void *block); /* NULL is fine */
TALUS_API talus_status talus_detector_upload(talus_detector *detector, void *to, const void *from,
                                             size_t bytes);
TALUS_API talus_status talus_detector_download(talus_detector *detector, void *to, const void *from,
                                               size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
