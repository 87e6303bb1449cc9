/* Brute force: every box against every other. The reference for the other algorithms, and the
 * fastest for a few bodies. Counts, then writes. */
#include "base/cancel.h"
#include "base/sort.h"
#include "broad/broad.h"
#include "broad/images.h"

typedef struct brute_work {
  const tl_model *model;
  const tl_crowd *crowd;
  const talus_box *boxes;
  tl_images images;
  tl_span3 *home;  /* the boxes, moved into the domain */
  uint64_t *first; /* number of pairs of row i with later rows, later their begin */
  tl_pair *out;    /* NULL while counting */
} brute_work;

/* A test takes about half a nanosecond: number of tests for which a thread is woken. */
#define TESTS_PER_GRAIN ((size_t)16384)

static void bring_home(void *context, size_t begin, size_t end) {
  const brute_work *work = context;
  for (size_t i = begin; i < end; ++i)
    work->home[i] = tl_images_home(&work->images, &work->boxes[i]);
}

/* Row i: tests it against the rows after it. */
static void search_row(const brute_work *work, size_t i) {
  const size_t n = work->crowd->count;
  const uint32_t a = tl_crowd_slot(work->crowd, i);
  uint64_t count = 0;
  for (size_t j = i + 1; j < n; ++j) {
    if (!tl_images_overlap(&work->images, &work->home[i], &work->home[j]))
      continue;
    const uint32_t b = tl_crowd_slot(work->crowd, j);
    if (!tl_broad_allows(work->model, a, b))
      continue;
    if (work->out)
      work->out[work->first[i] + count] = (tl_pair){a, b};
    count++;
  }
  if (!work->out)
    work->first[i] = count;
}

/* Rows i and n-1-i together: all such couples are the same amount of work. */
static void search_rows(void *context, size_t begin, size_t end) {
  const brute_work *work = context;
  const size_t n = work->crowd->count;
  for (size_t i = begin; i < end && !tl_cancel_look(work->crowd->cancel); ++i) {
    search_row(work, i);
    if (n - 1 - i != i)
      search_row(work, n - 1 - i);
  }
}

talus_status tl_brute_find_pairs(const tl_crowd *crowd, const talus_box *boxes, tl_pairs *pairs) {
  const tl_model *model = crowd->model;
  const size_t n = crowd->count, couples = (n + 1) / 2;
  const size_t grain = 1 + TESTS_PER_GRAIN / (n + 1);
  brute_work work = {.model = model, .crowd = crowd, .boxes = boxes, .images = tl_images_of(model)};
  uint64_t total;
  TL_TAKE(crowd->arena, n, &work.home);
  TL_TAKE(crowd->arena, n, &work.first);
  tl_for(&model->par, n, 0, bring_home, &work);
  tl_for(&model->par, couples, grain, search_rows, &work);
  TL_GO_ON(crowd->cancel); /* otherwise rows are not counted */
  TL_TRY(tl_scan_u64(&model->par, crowd->arena, work.first, n, &total));
  TL_TAKE(crowd->arena, (size_t)total, &work.out);
  tl_for(&model->par, couples, grain, search_rows, &work);
  TL_GO_ON(crowd->cancel);
  *pairs = (tl_pairs){.data = work.out, .count = (size_t)total};
  return TALUS_OK;
}
