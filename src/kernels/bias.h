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
 *  Bounce: the body would touch within the step (gap + h v < 0, v = normal_speed_before, negative
 *    when approaching) and comes faster than `bounce_speed` >= 0: it leaves with -restitution * v.
 *    The test looks ahead because a speculative contact brakes the body to -gap/h before it
 *    touches: a rule that waits for gap <= 0 never sees the impact and never bounces. Below the
 *    bounce speed restitution would keep resting bodies rattling.
 *
 * gap [m], h > 0 [s]. */
TL_FN talus_real tl_contact_bias(talus_real gap, talus_real h, talus_real normal_speed_before,
                                 talus_real restitution, talus_real recovery_speed,
                                 talus_real bounce_speed) {
  const talus_real closing = gap / h;
  const talus_real base = gap >= 0 ? closing : tl_max(closing, -recovery_speed);
  if (restitution > 0 && gap + h * normal_speed_before < 0 && normal_speed_before < -bounce_speed)
    return tl_min(base, restitution * normal_speed_before);
  return base;
}

#endif
