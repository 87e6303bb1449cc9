/* steps.csv: how many steps had which length, for adaptive steps and local time. The numbers are
 * the world's, so the file is written when a run ends or stops, and a run that goes on writes it
 * anew. */
#include <math.h>

#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

#define HEAD "length,steps,body_steps,dropped\n"

typedef struct lengths {
  const uint64_t *steps, *bodies, *dropped; /* by class of length; dropped: NULL: none */
} lengths;

static lengths lengths_of(const talus_world *world) {
  const tl_local_counts *local = &world->local.counts;
  if (world->model.step == TALUS_STEP_LOCAL)
    return (lengths){local->steps, local->histogram, local->dropped};
  return (lengths){world->adaptive.steps, world->adaptive.body_steps, NULL};
}

static uint64_t dropped_of(const lengths *of, int i) { return of->dropped ? of->dropped[i] : 0; }

/* Classes from the longest step to the shortest that there was. */
static void format(const talus_world *world, tl_text *text) {
  const lengths of = lengths_of(world);
  int last = TL_LENGTHS - 1;
  while (last > 0 && of.steps[last] == 0 && dropped_of(&of, last) == 0)
    last--;
  tl_text_add(text, HEAD);
  for (int i = 0; i <= last; ++i) {
    tl_text_add_number(text, ldexp(world->model.dt, -i));
    tl_text_add(text, ",%llu,%llu,%llu\n", (unsigned long long)of.steps[i],
                (unsigned long long)of.bodies[i], (unsigned long long)dropped_of(&of, i));
  }
}

talus_status tl_run_steps_write(tl_run *run) {
  const talus_step_kind step = run->world->model.step;
  if (step != TALUS_STEP_LOCAL && step != TALUS_STEP_ADAPTIVE)
    return TALUS_OK;
  tl_text text = {0};
  format(run->world, &text);
  talus_status status = text.status;
  if (status == TALUS_OK)
    status =
        tl_file_write(tl_run_own_file(run), tl_run_path(run, "steps.csv"), text.data, text.count);
  tl_text_drop(&text);
  return status;
}

#endif
