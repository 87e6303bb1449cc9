/* Audit: a run is repeated from its folder, and every step is checked (docs/theory/time.md).
 *
 * audit.c    the repetition, and the report
 * judge.c    checks of one step, or one state
 * decide.c   exact checks of flat bodies in one state
 * flat.c     whether two of them overlap
 * history.c  reads the states of the run from history.csv
 * frames.c   compares frames with these states */
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
  double began, told; /* s of the monotonic clock: begin; last report */
} tl_audit;

/* Reads the lines of the file, in its order. */
talus_status tl_audit_read_history(const char *path, tl_audit_lines *lines);

/* A tl_watch_fn; the context is the tl_audit. */
talus_status tl_audit_judge_step(void *audit, const tl_crowd *crowd);
/* Checks the present state of the world. is_path: a path begins here, which is checked as a whole.
 */
talus_status tl_audit_judge_moment(tl_audit *audit, bool is_path);
/* Checks pairs of flat bodies in crowd->in, also those without contacts. */
talus_status tl_audit_decide(tl_audit *audit, tl_crowd *crowd);
void tl_audit_note_overlap(tl_audit *audit, const tl_model *model, tl_pair pair, double time,
                           double depth);

/* Compares a frame with the present state; a frame that does not exist is skipped. */
talus_status tl_audit_compare_frame(tl_audit *audit, const char *path, uint64_t number);

#endif
