/* Audit: a run is repeated from its folder, and every step looked at (docs/theory/time.md).
 *
 *   audit.c    the repetition, and what is told
 *   judge.c    one step, or one moment
 *   decide.c   flat bodies at a moment, exactly
 *   flat.c     whether two of them share a place
 *   history.c  which states history.csv says the run had
 *   frames.c   whether the frames show these states */
#ifndef TL_AUDIT_H
#define TL_AUDIT_H

#include <talus/audit.h>

#include "base/memory.h"
#include "step/paths.h"
#include "world/world.h"

/* A line of history.csv. */
typedef struct tl_audit_line {
  uint64_t steps, hash;
} tl_audit_line;

typedef TL_ARRAY(tl_audit_line) tl_audit_lines;

typedef struct tl_audit {
  const talus_audit_def *def;
  talus_audit_result *result;
  talus_world *world;
  tl_audit_lines lines;
  double began, told; /* s of the monotonic clock */
} tl_audit;

/* Lines of the file, in its order. */
talus_status tl_audit_read_history(const char *path, tl_audit_lines *lines);

/* A tl_watch_fn; the context is the tl_audit. */
talus_status tl_audit_judge_step(void *audit, const tl_crowd *crowd);
/* The world as it is now. is_path: the begin of a path, which is judged as a whole. */
talus_status tl_audit_judge_moment(tl_audit *audit, bool is_path);
/* Pairs of flat bodies in crowd->in, beside what the narrow phase says of them. */
talus_status tl_audit_decide(tl_audit *audit, tl_crowd *crowd);
void tl_audit_note_overlap(tl_audit *audit, const tl_model *model, tl_pair pair, double time,
                           double depth);

/* Compares a frame with the world as it is now; a frame that is not there is passed over. */
talus_status tl_audit_compare_frame(tl_audit *audit, const char *path, uint64_t number);

#endif
