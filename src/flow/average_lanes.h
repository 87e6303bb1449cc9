/* Adds bodies to averages, as many at a time as a register has doubles; the numbers are the same
 * with every instruction set. Included once for each, by a file whose name ends in it. */
#include "base/simd.h"
#include "flow/average_rows.h"

typedef struct three {
  wide x, y, z;
} three;

/* A number of each row. */
#if TL_SIMD_AVX512
#define EACH(of) ((wide){of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)})
#elif defined(__AVX2__)
#define EACH(of) ((wide){of(0), of(1), of(2), of(3)})
#else
#define EACH(of) ((wide){of(0), of(1)})
#endif
#define X_OF(i)    ((double)rows[i].x)
#define Y_OF(i)    ((double)rows[i].y)
#define Z_OF(i)    ((double)rows[i].z)
#define MASS_OF(i) ((double)mass[i])

/* A row of a cell fits one register: transposed, eight bodies are eight rows. */
#define HAS_LINES (TL_SIMD_AVX512 && !TALUS_SINGLE)

_Static_assert(sizeof(talus_dvec3) == 3 * sizeof(double), "rows are loaded as numbers");

INLINE three load_places(const talus_dvec3 *rows) {
#if TL_SIMD_AVX512 && defined(__GNUC__) && !defined(__clang__)
  /* Three registers hold eight rows of three; each column has five or six elements in the first
   * two. */
  const double *from = &rows[0].x;
  const wide a = load_wide(from), b = load_wide(from + 8), c = load_wide(from + 16);
  const wide x = __builtin_shuffle(a, b, (wide_mask){0, 3, 6, 9, 12, 15, 0, 0});
  const wide y = __builtin_shuffle(a, b, (wide_mask){1, 4, 7, 10, 13, 0, 0, 0});
  const wide z = __builtin_shuffle(a, b, (wide_mask){2, 5, 8, 11, 14, 0, 0, 0});
  return (three){__builtin_shuffle(x, c, (wide_mask){0, 1, 2, 3, 4, 5, 10, 13}),
                 __builtin_shuffle(y, c, (wide_mask){0, 1, 2, 3, 4, 8, 11, 14}),
                 __builtin_shuffle(z, c, (wide_mask){0, 1, 2, 3, 4, 9, 12, 15})};
#else
  return (three){EACH(X_OF), EACH(Y_OF), EACH(Z_OF)};
#endif
}

INLINE three load_velocities(const talus_vec3 *rows) {
#if TALUS_SINGLE
  return (three){EACH(X_OF), EACH(Y_OF), EACH(Z_OF)};
#else
  talus_dvec3 copy[WIDE];
  memcpy(copy, rows, sizeof copy);
  return load_places(copy);
#endif
}

INLINE wide load_masses(const talus_real *mass) { return EACH(MASS_OF); }

INLINE wide all_of(double x) { return x - (wide){0}; }

/* Cell numbers along an axis, with a fraction; positions outside of the grid are removed from
 * `inside`. */
INLINE wide find_along(wide at, double per_edge, uint32_t cells, wide_mask *inside) {
  const wide t = at * per_edge, most = all_of((double)cells);
  *inside &= (t >= 0) & (t <= most);
  return wide_select(t < most, t, most - 1);
}

/* count: number of lanes that hold bodies. */
INLINE void add_group(const tl_average_view *v, size_t first, int count, bool is_ring,
                      double (*rows)[TL_ROW]) {
  const three x = load_places(v->position + first), u = load_velocities(v->velocity + first);
  const wide dx = x.x - v->from[0], dy = x.y - v->from[1], dz = x.z - v->from[2];
  wide c = all_of(1), s = all_of(0), across = dx;
  if (is_ring) {
    across = wide_sqrt(dx * dx + dy * dy);
    const wide_mask is_off = across > 0;
    const wide per_across = 1 / across;
    c = wide_select(is_off, dx * per_across, c), s = wide_select(is_off, dy * per_across, s);
  }
  wide_mask inside = dz == dz;
  const wide i = find_along(across, v->per_edge[0], v->cells[0], &inside);
  const wide j = is_ring ? all_of(0) : find_along(dy, v->per_edge[1], v->cells[1], &inside);
  const wide k = find_along(dz, v->per_edge[2], v->cells[2], &inside);
  const unsigned which = wide_bits(inside);
  const wide mass = load_masses(v->mass + first) * v->dt;
  wide column[TL_ROW] = {all_of(v->dt),
                         mass,
                         mass * (c * u.x + s * u.y),
                         mass * (c * u.y - s * u.x),
                         mass * u.z,
                         mass * (u.x * u.x + u.y * u.y + u.z * u.z),
                         all_of(0),
                         all_of(0)};
#if HAS_LINES
  transpose(column);
#endif
  for (int n = 0; n < count; ++n) {
    if (!(which >> n & 1) || (v->flags[first + (size_t)n] & TL_FLAG_STATIC))
      continue;
    const size_t layer = is_ring ? (size_t)k[n] : (size_t)j[n] + v->cells[1] * (size_t)k[n];
    double *row = rows[(size_t)i[n] + v->cells[0] * layer];
#if HAS_LINES
    store_wide(row, load_wide(row) + column[n]);
#else
    for (int q = 0; q <= TL_SUM_SQUARE; ++q)
      row[q] += column[q][n];
#endif
  }
}

/* The last bodies are copied, because lanes must not read beyond the lists. */
INLINE void add_last(const tl_average_view *v, size_t begin, size_t end, bool is_ring,
                     double (*rows)[TL_ROW]) {
  talus_dvec3 position[WIDE];
  talus_vec3 velocity[WIDE];
  talus_real mass[WIDE];
  uint32_t flags[WIDE];
  for (size_t i = 0; i < WIDE; ++i) {
    const size_t from = begin + i < end ? begin + i : begin;
    position[i] = v->position[from], velocity[i] = v->velocity[from];
    mass[i] = v->mass[from], flags[i] = v->flags[from];
  }
  tl_average_view last = *v;
  last.position = position, last.velocity = velocity, last.mass = mass, last.flags = flags;
  add_group(&last, 0, (int)(end - begin), is_ring, rows);
}

INLINE void add_bodies(const tl_average_view *v, size_t begin, size_t end, bool is_ring,
                       double (*rows)[TL_ROW]) {
  const tl_average_view view = *v;
  for (; begin + WIDE <= end; begin += WIDE)
    add_group(&view, begin, WIDE, is_ring, rows);
  if (begin < end)
    add_last(&view, begin, end, is_ring, rows);
}

static void add_rings(const tl_average_view *v, size_t begin, size_t end, double (*rows)[TL_ROW]) {
  add_bodies(v, begin, end, true, rows);
}

static void add_boxes(const tl_average_view *v, size_t begin, size_t end, double (*rows)[TL_ROW]) {
  add_bodies(v, begin, end, false, rows);
}
