/* Probes: shared by the files of this folder. */
#ifndef TL_FLOW_PROBE_H
#define TL_FLOW_PROBE_H

#include "flow/place.h"

enum {
  TL_RECORD_ON_BODY = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE | TALUS_RECORD_ENERGY |
                      TALUS_RECORD_POSITION | TALUS_RECORD_ROTATION | TALUS_RECORD_VELOCITY |
                      TALUS_RECORD_SPIN,
  TL_RECORD_ON_JOINT = TALUS_RECORD_FORCE | TALUS_RECORD_TORQUE,
  TL_RECORD_PACKING = TALUS_RECORD_STRESS | TALUS_RECORD_SOLID_FRACTION |
                      TALUS_RECORD_COORDINATION | TALUS_RECORD_SIZES,
  TL_RECORD_IN_REGION =
      TALUS_RECORD_MASS_FLOW | TALUS_RECORD_COUNT | TALUS_RECORD_ENERGY | TL_RECORD_PACKING
};

/* Adds a step's stress, solid volume, partners and counts by size to a probe in a region. */
void tl_probe_measure_packing(tl_probe *probe, const tl_crowd *crowd, const tl_contacts *contacts,
                              struct tl_samples *samples);

#endif
