/* The reduction of Tasora, Negrut and Anitescu 2011, 4.1, kept beside the others for comparison:
 * every row writes what it does to its two bodies into a reduction buffer that is sorted by body,
 * and a segmented scan adds it up.
 *
 * The scan runs over blocks of fixed length, so that nothing depends on threads: within a block
 * sums start anew at every body; a body whose entries go on in later blocks is completed from the
 * blocks' last sums, in order. Sums that cross a block are bracketed otherwise than by the gather:
 * the answers agree up to rounding. */
#include "solve/ccp/gradient.h"

#define W         TL_CCP_LANES
#define SCAN_SIZE 1024 /* entries of a block */

talus_status tl_ccp_make_scan(const tl_ccp_part *part, const tl_ccp_gather *gather,
                              tl_ccp_scan *scan) {
  const size_t bodies = part->rows.body_count + 1, entries = 2 * W * part->rows.pack_count;
  TL_TAKE(part->system->crowd->arena, entries, &scan->place);
  TL_TAKE(part->system->crowd->arena, entries, &scan->body);
  TL_TAKE(part->system->crowd->arena, entries, &scan->buffer);
  for (size_t i = 0; i < bodies; ++i)
    for (uint32_t e = gather->start[i]; e < gather->start[i + 1]; ++e) {
      scan->place[gather->entry[e]] = e;
      scan->body[e] = (uint32_t)i;
    }
  scan->entries = entries;
  return TALUS_OK;
}

typedef struct scan_job {
  const tl_ccp_rows *rows;
  const tl_ccp_scan *scan;
  const tl_ccp_field *p;
} scan_job;

/* Writes the effect of row i of pack k on bodies a and b to their places in the buffer. */
static void write_rows(void *context, size_t begin, size_t end) {
  const scan_job *job = context;
  for (size_t k = begin; k < end; ++k)
    for (uint32_t i = 0; i < W; ++i) {
      const size_t row = k * W + i;
      const talus_vec3 p = tl_ccp_lane(&job->p[k], i);
      talus_vec3 torque = {0, 0, 0};
      if (job->rows->rolls)
        torque = tl_ccp_lane(&job->p[job->rows->pack_count + k], i);
      const talus_vec3 on_a = tl_add(tl_cross(tl_ccp_arm_a(job->rows, k, i), p), torque);
      const talus_vec3 on_b = tl_add(tl_cross(tl_ccp_arm_b(job->rows, k, i), p), torque);
      job->scan->buffer[job->scan->place[2 * row]] = (tl_wrench){tl_neg(p), tl_neg(on_a)};
      job->scan->buffer[job->scan->place[2 * row + 1]] = (tl_wrench){p, on_b};
    }
}

static tl_wrench add(tl_wrench a, tl_wrench b) {
  return (tl_wrench){tl_add(a.impulse, b.impulse), tl_add(a.torque, b.torque)};
}

static void scan_blocks(void *context, size_t begin, size_t end) {
  const tl_ccp_scan *scan = ((const scan_job *)context)->scan;
  for (size_t block = begin; block < end; ++block) {
    const size_t first = block * SCAN_SIZE;
    for (size_t e = first + 1; e < first + SCAN_SIZE && e < scan->entries; ++e)
      if (scan->body[e] == scan->body[e - 1])
        scan->buffer[e] = add(scan->buffer[e - 1], scan->buffer[e]);
  }
}

void tl_ccp_run_scan(const tl_ccp_part *part, const tl_ccp_scan *scan, const tl_ccp_field *p) {
  scan_job work = {&part->rows, scan, p};
  tl_for(&part->par, part->rows.pack_count, 64, write_rows, &work);
  tl_for(&part->par, (scan->entries + SCAN_SIZE - 1) / SCAN_SIZE, 1, scan_blocks, &work);
}

/* The last entry of a body has the sum of its last block; its other blocks end with their own
 * sums. */
tl_wrench tl_ccp_scanned(const tl_ccp_scan *scan, size_t begin, size_t end) {
  tl_wrench sum = {{0, 0, 0}, {0, 0, 0}};
  for (size_t block = begin / SCAN_SIZE; block < (end - 1) / SCAN_SIZE; ++block)
    sum = add(sum, scan->buffer[(block + 1) * SCAN_SIZE - 1]);
  return add(sum, scan->buffer[end - 1]);
}
