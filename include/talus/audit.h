/* talus: audits, which prove whether a run is honest (docs/theory/time.md).
 *
 *   talus_audit_def def = talus_audit_def_default();
 *   talus_audit_result result;
 *   def.folder = "out";
 *   if (talus_audit(&def, &result) != TALUS_OK) puts(talus_last_error());
 *   else if (result.overlaps > 0) printf("%s and %s\n", result.first.a, result.first.b);
 *
 * An audit repeats a run from the scene in its result folder. The hashes in history.csv prove that
 * it is that run, bit for bit. Between the two ends of every step each body has a stated path, and
 * each pair of bodies is proven to keep clear along it, or found to overlap by more than the
 * tolerance. */
#ifndef TALUS_AUDIT_H
#define TALUS_AUDIT_H

#include <talus/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talus_audit_def {
  const char *folder; /* the result folder of a run with `solve: ccp` or `impulse` */
  double tolerance;   /* m: overlap that is allowed. < 0: the solver's slop and 1e-6 of the smaller
                         bounding radius; with adaptive steps 0.01 of a halo */
  bool frames;        /* looks at output times alone, not at the paths between them */
  int threads;        /* 0: all cores */
  void (*progress)(void *context, const talus_progress *progress); /* a few times a second */
  talus_log_fn *log;             /* warnings of the scene and the steps; NULL: silent */
  void *context;                 /* of both */
  const volatile int *interrupt; /* set to non-zero to stop (talus_world_set_interrupt) */
} talus_audit_def;

/* No folder, tolerance -1, whole paths, all cores, silent. */
TALUS_API talus_audit_def talus_audit_def_default(void);

#define TALUS_AUDIT_NAME 96

/* Two bodies at a moment. */
typedef struct talus_audit_pair {
  double time;                                   /* s */
  double depth;                                  /* m of overlap; negative: a gap; 0: they share a
                                                    place, and how deep is not known */
  uint64_t uid_a, uid_b;                         /* 0: no such pair */
  char a[TALUS_AUDIT_NAME], b[TALUS_AUDIT_NAME]; /* "body 17 'ball'" */
} talus_audit_pair;

typedef struct talus_audit_result {
  double time;              /* s: how far it came */
  uint64_t steps;           /* that were looked at */
  uint64_t hashes;          /* lines of history.csv that the repetition agrees with */
  uint64_t frames;          /* that were compared with it */
  uint64_t pairs;           /* pairs and steps, or moments, that were looked at */
  uint64_t looks;           /* how often one of them was looked at */
  uint64_t overlaps;        /* pairs and steps that overlap by more than the tolerance */
  uint64_t unproven;        /* of them: neither proven apart nor seen to overlap */
  uint64_t decided;         /* pairs of flat bodies (boxes, hulls, meshes, walls) at output times of
                               which exact signs tell whether they share a place */
  talus_audit_pair first;   /* of them in time, at that time */
  talus_audit_pair deepest; /* of all that was seen, within the tolerance too */
  uint64_t moved;           /* bodies that a frame has elsewhere than the run had them */
  double moved_by;          /* m: the first of them; < 0: it is turned, or is not there at all */
  uint64_t moved_frame;     /* in which frame */
  char moved_body[TALUS_AUDIT_NAME];
} talus_audit_result;

/* Repeats the run and looks at every step. Nothing is written. result (may not be NULL) says what
 * was found, also where the audit could not be finished; TALUS_OK: it was, and overlaps or moved
 * may be more than 0.
 *
 * TALUS_ERROR_IO, TALUS_ERROR_FORMAT: scene.yaml or history.csv is missing or is not talus's.
 * TALUS_ERROR_INVALID: the repetition has another state than history.csv says: the folder is of
 * another version of talus or another precision, or a file that the scene names has changed.
 * TALUS_ERROR_UNSUPPORTED: springs (`penalty`) and hard spheres (`elastic`), whose steps have no
 * such path, or a build without scenes. TALUS_INTERRUPTED: stopped by `interrupt`. */
TALUS_API talus_status talus_audit(const talus_audit_def *def, talus_audit_result *result);

#ifdef __cplusplus
}
#endif
#endif
