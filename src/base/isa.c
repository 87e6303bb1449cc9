#include "base/isa.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NOT_CHOSEN (-1)
static _Atomic int chosen = NOT_CHOSEN;

static const char *const names[TL_ISA_COUNT] = {"generic", "avx2", "avx512"};

const char *tl_isa_name(tl_isa isa) { return names[isa]; }

#if defined(__x86_64__) && defined(__GNUC__)
static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
}

static bool has_avx512(void) {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#else
static bool has_avx2(void) { return false; }
static bool has_avx512(void) { return false; }
#endif

bool tl_isa_has(tl_isa isa) {
  return isa == TL_ISA_GENERIC || (isa == TL_ISA_AVX2 && has_avx2()) ||
         (isa == TL_ISA_AVX512 && has_avx512());
}

static tl_isa choose(void) {
  const char *word = getenv("TALUS_ISA");
  tl_isa best = TL_ISA_GENERIC;
  for (tl_isa isa = TL_ISA_GENERIC; isa < TL_ISA_COUNT; ++isa)
    if (tl_isa_has(isa)) {
      best = isa;
      if (word && strcmp(word, names[isa]) == 0)
        return isa;
    }
  return best;
}

/* If two threads ask first at the same time, both choose the same. */
tl_isa tl_isa_now(void) {
  int now = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (now == NOT_CHOSEN) {
    now = (int)choose();
    atomic_store_explicit(&chosen, now, memory_order_relaxed);
  }
  return (tl_isa)now;
}

tl_isa tl_isa_use(tl_isa isa) {
  const tl_isa before = tl_isa_now();
  atomic_store_explicit(&chosen, (int)isa, memory_order_relaxed);
  return before;
}
