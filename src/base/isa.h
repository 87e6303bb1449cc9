/* Which instruction set the loops over lanes use: chosen once, when the first of them asks. The
 * bits are the same with each. */
#ifndef TL_BASE_ISA_H
#define TL_BASE_ISA_H

#include <stdbool.h>

/* Each needs all that the one before it needs. */
typedef enum tl_isa {
  TL_ISA_GENERIC, /* what every processor of the kind has: SSE2, NEON, or plain C */
  TL_ISA_AVX2,    /* and BMI, BMI2, POPCNT */
  TL_ISA_AVX512,  /* F, DQ, VL, BW */
  TL_ISA_COUNT
} tl_isa;

/* The best that the processor has, or the one that the environment names: TALUS_ISA=avx512, avx2 or
 * generic. A word that is none of these, or names a set that the processor lacks, is ignored here;
 * the command refuses it. */
tl_isa tl_isa_now(void);

/* Whether this processor has it, and this library was built for it. */
bool tl_isa_has(tl_isa isa);

/* As TALUS_ISA spells it. */
const char *tl_isa_name(tl_isa isa);

/* For tests: from now on this one, which the processor has. Returns the one before. */
tl_isa tl_isa_use(tl_isa isa);

#endif
