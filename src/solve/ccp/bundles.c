/* Packs and blocks of a part, ordered so that bodies stay in registers for all contacts of a pair.
 *
 * A bundle is the contacts of one pair of bodies. They have one colour; within it, the k-th contact
 * of every bundle belongs to layer k, so that rows of a layer share no body (contact/colour.c). If
 * a sweep went layer by layer, it would load and store a box with four contacts four times. So the
 * bundles of a colour are sorted by size, the largest first. Eight bundles at a time form a stack.
 * The packs of a stack follow each other: the first contacts of its eight bundles, then their
 * second contacts, and so on, with the same bodies in the same lanes. Bundles of a colour share no
 * movable body, so their order changes no bit of a velocity. */
#include "contact/colour.h"
#include "solve/ccp/ccp.h"

#define W      TL_CCP_LANES
#define LAYERS TL_LAYERS_OF_BUNDLE

/* A colour and its layers. contact/colour.c stores each layer as a colour of its own. */
typedef struct layers {
  size_t count;
  uint32_t begin[LAYERS + 1]; /* first row of each layer, and the end of the last one */
} layers;

static bool is_same_pair(const tl_contact *c, const tl_contact *d) {
  return c->a == d->a && c->b == d->b;
}

/* True if colour k is a layer: its rows are second or later contacts of their pairs. */
static bool is_layer(const tl_ccp_part *part, size_t k) {
  const tl_contact *data = part->system->contacts->data;
  const uint32_t contact = part->rows.contact[part->colours.start[k]];
  return contact > 0 && is_same_pair(&data[contact - 1], &data[contact]);
}

/* True if sorting colour k by bundles pays: at least half of its pairs have a second contact. */
static bool has_layers(const tl_colours *colours, size_t k) {
  if (k + 1 >= colours->count || colours->serial[k])
    return false;
  const uint32_t rows = colours->start[k + 1] - colours->start[k];
  return rows >= W && 2 * (colours->start[k + 2] - colours->start[k + 1]) >= rows;
}

static layers layers_at(const tl_ccp_part *part, size_t k) {
  const tl_colours *colours = &part->colours;
  layers l = {.count = 1, .begin = {colours->start[k], colours->start[k + 1]}};
  if (!has_layers(colours, k))
    return l;
  while (l.count < LAYERS && k + l.count < colours->count && !colours->serial[k + l.count] &&
         is_layer(part, k + l.count)) {
    l.count++;
    l.begin[l.count] = colours->start[k + l.count];
  }
  return l;
}

static uint32_t rows_of(const layers *l, size_t layer) {
  return l->begin[layer + 1] - l->begin[layer];
}

/* Number of rows of a layer in all stacks before `stack`; and in `stack` itself. */
static uint32_t rows_before(const layers *l, size_t layer, uint32_t stack) {
  const uint32_t all = rows_of(l, layer);
  return all < W * stack ? all : W * stack;
}
static uint32_t rows_in(const layers *l, size_t layer, uint32_t stack) {
  return rows_before(l, layer, stack + 1) - rows_before(l, layer, stack);
}

/* Finds the sizes of the bundles; all layers list bundles in the same order. count[s]: number of
 * bundles of size s. */
static void find_sizes(const layers *l, const uint32_t *contact, uint8_t *size,
                       uint32_t count[LAYERS + 1]) {
  uint32_t next[LAYERS];
  memset(count, 0, (LAYERS + 1) * sizeof *count);
  memcpy(next, l->begin, l->count * sizeof *next);
  for (uint32_t j = 0; j < rows_of(l, 0); ++j) {
    const uint32_t first = contact[l->begin[0] + j];
    size_t n = 1;
    while (n < l->count && next[n] < l->begin[n + 1] && contact[next[n]] == first + n)
      next[n++]++;
    size[j] = (uint8_t)n;
    count[n]++;
  }
}

/* Writes the contacts of the colour, stack by stack. */
static void put_in_stacks(const layers *l, uint32_t *contact, uint8_t *size, uint32_t *to) {
  uint32_t next[LAYERS + 1], at = 0;
  find_sizes(l, contact, size, next);
  for (size_t n = l->count; n > 0; --n) {
    const uint32_t bundles = next[n];
    next[n] = at;
    at += bundles;
  }
  for (uint32_t j = 0; j < rows_of(l, 0); ++j) {
    const uint32_t place = next[size[j]]++, stack = place / W;
    uint32_t row = place % W;
    for (size_t k = 0; k < l->count; ++k)
      row += rows_before(l, k, stack);
    for (uint32_t k = 0; k < size[j]; ++k) {
      to[row] = contact[l->begin[0] + j] + k;
      row += rows_in(l, k, stack);
    }
  }
  memcpy(contact + l->begin[0], to, (l->begin[l->count] - l->begin[0]) * sizeof *to);
}

/* Cuts a colour into packs and blocks. A colour starts a new pack; a block is the work that one
 * thread takes at a time. A serial colour is one block. */
static void cut_colour(tl_ccp *job, tl_ccp_part *part, const layers *l, bool serial,
                       uint32_t first_row) {
  size_t packs = job->rows.pack_count - part->first_pack, of_block = 0;
  uint32_t row = first_row + l->begin[0];
  for (uint32_t stack = 0; W * stack < rows_of(l, 0); ++stack) {
    if (stack == 0 || (of_block >= TL_CCP_BLOCK_PACKS && !serial)) {
      part->block_pack[part->block_count++] = (uint32_t)packs;
      of_block = 0;
    }
    for (size_t k = 0; k < l->count && rows_in(l, k, stack) > 0; ++k) {
      job->rows.pack_row[job->rows.pack_count++] = row;
      row += rows_in(l, k, stack);
      packs++, of_block++;
    }
  }
}

/* Number of rows of the largest colour with layers. */
static size_t most_layered(const tl_ccp_part *part) {
  size_t most = 0;
  for (size_t k = 0; k < part->colours.count;) {
    const layers l = layers_at(part, k);
    const size_t rows = l.begin[l.count] - l.begin[0];
    if (l.count > 1 && rows > most)
      most = rows;
    k += l.count;
  }
  return most;
}

size_t tl_ccp_most_packs(const tl_ccp_part *part) {
  return part->rows.count / W + part->colours.count;
}

/* Merges each colour with its layers into one colour. */
static void cut_colours(tl_ccp *job, tl_ccp_part *part, uint32_t first_row, uint8_t *size,
                        uint32_t *to) {
  tl_colours *colours = &part->colours;
  const size_t count = colours->count;
  size_t made = 0, tile = 0;
  for (size_t k = 0; k < count; ++made) {
    const layers l = layers_at(part, k);
    const bool serial = colours->serial[k];
    for (; tile <= colours->tiles && colours->tile[tile] <= k; ++tile)
      colours->tile[tile] = (uint32_t)made;
    if (l.count > 1)
      put_in_stacks(&l, colours->order, size, to);
    part->colour_block[made] = (uint32_t)part->block_count;
    cut_colour(job, part, &l, serial, first_row);
    colours->start[made] = l.begin[0];
    colours->serial[made] = serial;
    k += l.count;
  }
  for (; tile <= colours->tiles; ++tile)
    colours->tile[tile] = (uint32_t)made;
  colours->start[made] = (uint32_t)part->rows.count;
  colours->count = made;
}

talus_status tl_ccp_cut_part(tl_ccp *job, tl_ccp_part *part, uint32_t first_row) {
  tl_arena *arena = job->system->crowd->arena;
  const size_t colours = part->colours.count, most = most_layered(part);
  uint8_t *size;
  uint32_t *to;
  TL_TAKE(arena, colours + 1, &part->colour_block);
  TL_TAKE(arena, tl_ccp_most_packs(part) / TL_CCP_BLOCK_PACKS + colours + 1, &part->block_pack);
  const tl_arena_mark mark = tl_arena_get_mark(arena);
  TL_TAKE(arena, most, &size);
  TL_TAKE(arena, most, &to);
  part->first_pack = job->rows.pack_count;
  part->block_count = 0;
  cut_colours(job, part, first_row, size, to);
  part->rows.pack_count = job->rows.pack_count - part->first_pack;
  part->colour_block[part->colours.count] = (uint32_t)part->block_count;
  part->block_pack[part->block_count] = (uint32_t)part->rows.pack_count;
  tl_arena_release(arena, mark);
  return TALUS_OK;
}
