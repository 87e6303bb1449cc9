/* Overlap tests of many pairs, in waves (included once per precision by ellipsoid_loops.h).
 *
 * A wave gives every pair of a table a few iterations of h(xi). Before the next wave, decided lanes
 * are removed and the others packed together, so that a few hard pairs do not delay the rest. The
 * including file must define: NUMBER ... ELL as in kernels/ellipsoid_lanes.h, REAL, LANES, IDS (a
 * vector of lane numbers), TIE, STILL, MASK (bits of a truth value), PACK (moves the lanes of a
 * mask to the front), WAVES(name). */

#define WAVE_ROOM    (WAVE_PAIRS + LANES)
#define WAVE_COLUMNS 16 /* M1, M2, d, xi */
#define WAVE_LOOKS   2  /* per wave */

typedef struct WAVES(table) {
  _Alignas(64) REAL column[WAVE_COLUMNS][WAVE_ROOM];
  _Alignas(64) INT32 id[WAVE_ROOM];
  size_t count;
} WAVES(table);

INLINE NUMBER WAVES(load)(const REAL *from) {
  NUMBER r;
  memcpy(&r, from, sizeof r);
  return r;
}

INLINE ELL(pair) WAVES(load_pair)(const REAL *columns, size_t stride) {
  NUMBER v[15];
  for (int k = 0; k < 15; ++k)
    v[k] = WAVES(load)(columns + (size_t)k * stride);
  const ELL(pair) p = {{v[0], v[1], v[2], v[3], v[4], v[5]},
                       {v[6], v[7], v[8], v[9], v[10], v[11]},
                       {v[12], v[13], v[14]}};
  return p;
}

INLINE void WAVES(store_pair)(REAL *columns, size_t stride, const ELL(pair) * p, BITS mask) {
  const NUMBER v[15] = {p->m1.xx, p->m1.yy, p->m1.zz, p->m1.xy, p->m1.xz,
                        p->m1.yz, p->m2.xx, p->m2.yy, p->m2.zz, p->m2.xy,
                        p->m2.xz, p->m2.yz, p->d.x,   p->d.y,   p->d.z};
  for (int k = 0; k < 15; ++k) {
    const NUMBER packed = PACK(mask, v[k]);
    memcpy(columns + (size_t)k * stride, &packed, sizeof packed);
  }
}

/* Up to WAVE_LOOKS iterations of the lanes of `live`; decided lanes leave it, `yes` collects
 * answers. */
INLINE BITS WAVES(look_lanes)(const ELL(pair) * p, NUMBER *xi, BITS live, int *looks, BITS *yes) {
  const NUMBER zero = {0}, one = zero + 1;
  for (int i = 0; i < WAVE_LOOKS && live; ++i) {
    const ELL(look) look = ELL(look_at)(*p, *xi);
    const BITS last = ++*looks == TL_ELL_LOOKS ? (BITS) ~(BITS)0 : (BITS)0;
    const NUMBER change = look.next - *xi;
    const NUMBER size = SELECT(change < zero, -change, change);
    const BITS apart = MASK(look.excess > zero + TIE);
    const BITS common = (BITS)(MASK((look.q1 <= one) & (look.q2 <= one)) & ~apart);
    const BITS tied = (BITS)((last | MASK(size <= (zero + STILL) * *xi)) & ~apart & ~common);
    *yes |= (BITS)(live & (common | (tied & MASK(look.width >= zero))));
    live &= (BITS) ~(apart | common | tied);
    *xi = look.next;
  }
  return live;
}

/* One wave over the pairs of a table, which is packed in place. */
static void WAVES(wave)(WAVES(table) * table, int looks, uint8_t *touches) {
  size_t kept = 0;
  for (size_t i = 0; i < table->count; i += LANES) {
    const size_t left = table->count - i;
    const BITS all = (BITS)((1u << (left >= LANES ? LANES : left)) - 1u);
    const ELL(pair) p = WAVES(load_pair)(&table->column[0][i], WAVE_ROOM);
    NUMBER xi = WAVES(load)(&table->column[15][i]);
    int looked = looks;
    BITS yes = 0;
    const BITS live = WAVES(look_lanes)(&p, &xi, all, &looked, &yes);
    INT32 id[LANES];
    memcpy(id, &table->id[i], sizeof id);
    for (int k = 0; k < LANES && (size_t)k < left; ++k)
      if (!(live >> k & 1))
        touches[id[k]] = yes >> k & 1;
    if (live) {
      WAVES(store_pair)(&table->column[0][kept], WAVE_ROOM, &p, live);
      const NUMBER packed = PACK(live, xi);
      memcpy(&table->column[15][kept], &packed, sizeof packed);
      for (int k = 0; k < LANES; ++k)
        if (live >> k & 1)
          table->id[kept++] = id[k];
    }
  }
  table->count = kept;
}

/* The first wave reads the caller's columns. */
static void WAVES(first_wave)(const REAL *columns, size_t stride, size_t begin, size_t count,
                              WAVES(table) * table, uint8_t *touches) {
  table->count = 0;
  for (size_t i = 0; i < count; i += LANES) {
    const size_t left = count - i;
    const BITS all = (BITS)((1u << (left >= LANES ? LANES : left)) - 1u);
    const ELL(pair) p = WAVES(load_pair)(columns + begin + i, stride);
    const NUMBER zero = {0}, one = zero + 1, start = ELL(start)(p);
    NUMBER xi = SELECT(start > zero, start, one);
    int looked = 0;
    BITS yes = 0;
    const BITS live = WAVES(look_lanes)(&p, &xi, all, &looked, &yes);
    for (int k = 0; k < LANES && (size_t)k < left; ++k)
      touches[begin + i + (size_t)k] = yes >> k & 1;
    if (live) {
      WAVES(store_pair)(&table->column[0][table->count], WAVE_ROOM, &p, live);
      const NUMBER packed = PACK(live, xi);
      memcpy(&table->column[15][table->count], &packed, sizeof packed);
      for (int k = 0; k < LANES; ++k)
        if (live >> k & 1)
          table->id[table->count++] = (INT32)(begin + i + (size_t)k);
    }
  }
}

static void WAVES(run)(const REAL *columns, size_t stride, size_t count, uint8_t *touches) {
  WAVES(table) table;
  for (size_t begin = 0; begin < count; begin += WAVE_PAIRS) {
    const size_t left = count - begin;
    WAVES(first_wave)
    (columns, stride, begin, left < WAVE_PAIRS ? left : WAVE_PAIRS, &table, touches);
    for (int looks = WAVE_LOOKS; table.count > 0; looks += WAVE_LOOKS)
      WAVES(wave)(&table, looks, touches);
  }
}

#undef WAVE_ROOM
#undef WAVE_COLUMNS
#undef WAVE_LOOKS
