/* Implicit steps in a world: what goes with them and what does not, by name. */
#include "world/world.h"

talus_status tl_implicit_check(const talus_world_def *def) {
  const talus_implicit_def *implicit = &def->implicit;
  if (def->step != TALUS_STEP_IMPLICIT)
    return TALUS_OK;
  if (def->solve.kind != TALUS_SOLVE_PENALTY)
    return tl_fail(
        TALUS_ERROR_INVALID,
        "step: implicit is for springs (solve: penalty); ccp and impulse are implicit in "
        "their impulses already: stay with step: fixed");
  if ((unsigned)implicit->method > TALUS_IMPLICIT_MULTIRES_PICARD)
    return tl_fail(TALUS_ERROR_INVALID, "implicit.method is %d; expected a TALUS_IMPLICIT_...",
                   (int)implicit->method);
  if (implicit->iterations < 1)
    return tl_fail(TALUS_ERROR_INVALID, "implicit.iterations is %d; expected at least 1",
                   implicit->iterations);
  if (!(implicit->tolerance > 0) || !tl_is_finite_d(implicit->tolerance))
    return tl_fail(TALUS_ERROR_INVALID,
                   "implicit.tolerance is %g; expected a share of the force > 0, such as 0.01",
                   implicit->tolerance);
  if (!(implicit->damping > 0 && implicit->damping <= 1) &&
      implicit->damping != TALUS_DAMPING_AUTO && implicit->damping != TALUS_DAMPING_AITKEN)
    return tl_fail(TALUS_ERROR_INVALID,
                   "implicit.damping is %g; expected 0 < damping <= 1, TALUS_DAMPING_AUTO or "
                   "TALUS_DAMPING_AITKEN",
                   implicit->damping);
  return TALUS_OK;
}
