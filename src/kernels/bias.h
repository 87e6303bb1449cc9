/* Kernels: what a contact asks of the normal velocity at the end of the step. */
#ifndef TL_KERNELS_BIAS_H
#define TL_KERNELS_BIAS_H

#include "kernels/real.h"

/* b_n [m/s] of the condition u_n + b_n >= 0, u_n the separating speed after the step.
 *
 *  gap >= 0: b_n = gap/h (Tasora, Negrut, Anitescu 2011, eq. 10): a body may come as near as it
 *    takes to touch at the end of the step (speculative contact).
 *  gap < 0: overlap is pushed out, but no faster than `recovery_speed` >= 0, because without that
 *    bound a deep overlap explodes.
 *
 * Bounces are not here: a negative bias makes energy wherever another contact is in the way
 * (kernels/impact.h). gap [m], h > 0 [s]. */
TL_FN talus_real tl_contact_bias(talus_real gap, talus_real h, talus_real recovery_speed) {
  const talus_real closing = gap / h;
  return gap >= 0 ? closing : tl_max(closing, -recovery_speed);
}

/* The bias of a limit of a joint, which bounces by itself. If the limit would be reached within the
 * step (gap + h v < 0, v = speed_before, negative when approaching), faster than `bounce_speed` >=
 * 0, the joint leaves it with -restitution * v. The test looks ahead because a speculative row
 * brakes the body to -gap/h before it touches: a rule that waits for gap <= 0 never sees the impact
 * and never bounces. Below the bounce speed restitution would keep resting bodies rattling. */
TL_FN talus_real tl_limit_bias(talus_real gap, talus_real h, talus_real speed_before,
                               talus_real restitution, talus_real recovery_speed,
                               talus_real bounce_speed) {
  const talus_real base = tl_contact_bias(gap, h, recovery_speed);
  if (restitution > 0 && gap + h * speed_before < 0 && speed_before < -bounce_speed)
    return tl_min(base, restitution * speed_before);
  return base;
}

#endif
