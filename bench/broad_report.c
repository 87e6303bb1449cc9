/* Groups of results: kept, printed, compared. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "broad.h"

broad_group *broad_group_begin(broad_bench *bench, const char *section, const char *scene,
                               size_t count, int threads) {
  if (bench->groups == bench->capacity) {
    const size_t capacity = 2 * bench->capacity + 64;
    broad_group *grown = realloc(bench->group, capacity * sizeof *grown);
    if (!grown) {
      fprintf(stderr, "talus bench broad: out of memory\n");
      return NULL;
    }
    bench->group = grown;
    bench->capacity = capacity;
  }
  broad_group *group = &bench->group[bench->groups++];
  *group = (broad_group){.section = section, .count = count, .threads = threads};
  snprintf(group->scene, sizeof group->scene, "%s", scene);
  return group;
}

broad_row *broad_group_add(broad_group *group, const char *method) {
  static broad_row nowhere; /* methods beyond the capacity are not shown */
  broad_row *row = group->rows < BROAD_METHODS_MOST ? &group->row[group->rows++] : &nowhere;
  *row = (broad_row){.ms = NAN};
  snprintf(row->method, sizeof row->method, "%s", method);
  return row;
}

const broad_row *broad_group_find(const broad_group *group, const char *method) {
  for (int i = 0; i < group->rows; ++i)
    if (strcmp(group->row[i].method, method) == 0)
      return &group->row[i];
  return NULL;
}

const broad_row *broad_group_best(const broad_group *group) {
  const broad_row *best = NULL;
  for (int i = 0; i < group->rows; ++i) {
    const broad_row *row = &group->row[i];
    const bool counts =
        !row->is_peer && !row->is_reference && !isnan(row->ms) && strcmp(row->method, "auto") != 0;
    if (counts && (!best || row->ms < best->ms))
      best = row;
  }
  return best;
}

/* All methods must find the same pairs. */
static void check_pairs(broad_bench *bench, const broad_group *group) {
  const broad_row *first = NULL;
  for (int i = 0; i < group->rows; ++i) {
    const broad_row *row = &group->row[i];
    if (!row->has_pairs)
      continue;
    first = first ? first : row;
    if (row->pairs == first->pairs)
      continue;
    bench->mismatches++;
    printf("  MISMATCH: %s finds %llu pairs, %s %llu\n", row->method,
           (unsigned long long)row->pairs, first->method, (unsigned long long)first->pairs);
  }
}

/* Goal: five million bodies with less than 3 GiB, by all methods except brute force. */
static void check_memory(broad_bench *bench, const broad_group *group) {
  const double most = 3.0 * 1024 * 1024 * 1024;
  for (int i = 0; i < group->rows; ++i) {
    const broad_row *row = &group->row[i];
    if (row->is_peer || group->count > 5000000 || row->bytes < most)
      continue;
    bench->mismatches++;
    printf("  TOO MUCH MEMORY: %s takes %.2f GiB\n", row->method, row->bytes / most * 3);
  }
}

static double bandwidth_of(const broad_bench *bench, int threads) {
  for (int i = 0; i < bench->options.thread_counts; ++i)
    if (bench->options.threads[i] == threads)
      return bench->bandwidth[i];
  return NAN;
}

static const char *count_text(uint64_t count, char text[24]) {
  if (count == 0)
    return ".";
  snprintf(text, 24, "%llu", (unsigned long long)count);
  return text;
}

static void print_row(const broad_bench *bench, const broad_group *group, const broad_row *row,
                      const broad_row *best) {
  const double n = (double)group->count, ns = 1e6 * row->ms / n;
  const double ratio = best ? row->ms / best->ms : NAN;
  const double moved = 1e-9 * ns * bandwidth_of(bench, group->threads);
  char pairs[24], candidates[24], bytes[24];
  printf("  %-16s %11.3f %9.1f %8.2f %10s %12s %8s %8.0f\n", row->method, row->ms, ns, ratio,
         count_text(row->pairs, pairs), count_text(row->candidates, candidates),
         count_text((uint64_t)(row->bytes / n + 0.5), bytes), moved);
  if (bench->csv)
    fprintf(bench->csv, "%s,%s,%zu,%d,%s,%.6g,%.6g,%.4g,%llu,%llu,%.0f,%.0f\n", group->section,
            group->scene, group->count, group->threads, row->method, row->ms, ns, ratio,
            (unsigned long long)row->pairs, (unsigned long long)row->candidates, row->bytes, moved);
}

void broad_group_end(broad_bench *bench, broad_group *group) {
  const broad_row *best = broad_group_best(group);
  printf("\n%s, %zu bodies, %d thread%s\n", group->scene, group->count, group->threads,
         group->threads == 1 ? "" : "s");
  printf("  %-16s %11s %9s %8s %10s %12s %8s %8s\n", "method", "ms", "ns/body", "x best", "pairs",
         "candidates", "B/body", "B at bw");
  for (int i = 0; i < group->rows; ++i)
    print_row(bench, group, &group->row[i], best);
  check_pairs(bench, group);
  check_memory(bench, group);
  fflush(stdout);
  if (bench->csv)
    fflush(bench->csv);
}

/* ---- auto ------------------------------------------------------------------------------------ */

void broad_sum_up(const broad_bench *bench) {
  const broad_group *worst = NULL;
  double most = 0, product = 0;
  int n = 0;
  for (size_t i = 0; i < bench->groups; ++i) {
    const broad_group *group = &bench->group[i];
    const broad_row *best = broad_group_best(group), *row = broad_group_find(group, "auto");
    if (!best || !row || isnan(row->ms))
      continue;
    const double ratio = row->ms / best->ms;
    product += log(ratio);
    n++;
    if (ratio > most) {
      most = ratio;
      worst = group;
    }
  }
  if (worst)
    printf("\nauto: %.2f times the best fixed choice on average (geometric, %d groups), at worst "
           "%.2f\n  (%s, %zu bodies, %d threads: best %s)\n",
           exp(product / n), n, most, worst->scene, worst->count, worst->threads,
           broad_group_best(worst)->method);
  if (worst)
    printf("  goal: at most 1.3 times the best: %s\n", most <= 1.3 ? "met" : "MISSED");
  if (bench->mismatches > 0)
    printf("\n%d MISMATCHES of pairs or memory, see above\n", bench->mismatches);
  else
    printf("\nall methods found the same pairs\n");
}
