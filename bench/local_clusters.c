/* Connected components: the thesis' Algorithm 2, which gives both ends of every edge the lower of
 * their labels, colour after colour, until nothing changes; and union-find, like
 * step/local/local.c. Chains are the worst case of the former. */
#include "local.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools.h"

typedef struct edge {
  uint32_t a, b;
} edge;

typedef struct graph {
  const char *name;
  uint32_t in_a_row; /* bodies of one chain; 0: all bodies */
  bool is_shuffled;  /* labels along a chain are shuffled */
} graph;

static const graph graphs[] = {{"pairs", 2, true},
                               {"chains of 8", 8, true},
                               {"one chain, in order", 0, false},
                               {"one chain, shuffled", 0, true}};

typedef struct work {
  edge *edges; /* edges of the first colour, then of the second; edges of one colour share no end */
  uint32_t *name, *label, *parent;
  uint32_t bodies, count;
} work;

static void fill(work *w, const graph *g) {
  const uint32_t row = g->in_a_row > 0 ? g->in_a_row : w->bodies;
  uint64_t state = 24;
  for (uint32_t i = 0; i < w->bodies; ++i)
    w->name[i] = i;
  for (uint32_t i = w->bodies; g->is_shuffled && i > 1; --i) {
    const uint32_t j = (uint32_t)(bench_random(&state) * i), swap = w->name[i - 1];
    w->name[i - 1] = w->name[j], w->name[j] = swap;
  }
  w->count = 0;
  for (uint32_t colour = 0; colour < 2; ++colour)
    for (uint32_t i = 0; i + 1 < w->bodies; ++i)
      if (i % row + 1 < row && i % row % 2 == colour)
        w->edges[w->count++] = (edge){w->name[i], w->name[i + 1]};
}

/* Returns the number of sweeps. */
static uint32_t sweep_labels(work *w) {
  for (uint32_t i = 0; i < w->bodies; ++i)
    w->label[i] = i;
  uint32_t sweeps = 0;
  for (bool halt = false; !halt; ++sweeps) {
    halt = true;
    for (uint32_t i = 0; i < w->count; ++i) {
      uint32_t *a = &w->label[w->edges[i].a], *b = &w->label[w->edges[i].b];
      if (*a == *b)
        continue;
      *a = *b = *a < *b ? *a : *b;
      halt = false;
    }
  }
  return sweeps;
}

static uint32_t root_of(uint32_t *parent, uint32_t i) {
  while (parent[i] != i)
    i = parent[i] = parent[parent[i]];
  return i;
}

static void join(work *w) {
  for (uint32_t i = 0; i < w->bodies; ++i)
    w->parent[i] = i;
  for (uint32_t i = 0; i < w->count; ++i) {
    const uint32_t x = root_of(w->parent, w->edges[i].a), y = root_of(w->parent, w->edges[i].b);
    w->parent[x > y ? x : y] = x > y ? y : x;
  }
  for (uint32_t i = 0; i < w->bodies; ++i)
    w->parent[i] = root_of(w->parent, i);
}

static double seconds_since(clock_t begun) { return (double)(clock() - begun) / CLOCKS_PER_SEC; }

static bool measure(work *w, const graph *g) {
  fill(w, g);
  clock_t begun = clock();
  const uint32_t sweeps = sweep_labels(w);
  const double by_sweeps = seconds_since(begun);
  begun = clock();
  join(w);
  const double by_union = seconds_since(begun);
  printf("%-20s %8u %8u %8u %12.2f %12.2f\n", g->name, w->bodies, w->count, sweeps,
         1e9 * by_sweeps / w->count, 1e9 * by_union / w->count);
  if (memcmp(w->label, w->parent, w->bodies * sizeof *w->label) == 0)
    return true;
  cli_error("bench local: the two ways found different clusters");
  return false;
}

bool bench_local_clusters(bool quick) {
  work w = {.bodies = quick ? 1000 : 20000};
  w.edges = malloc(w.bodies * sizeof *w.edges);
  uint32_t *block = malloc(3 * (size_t)w.bodies * sizeof *block);
  w.name = block, w.label = block + w.bodies, w.parent = block + 2 * (size_t)w.bodies;
  bool good = w.edges && block;
  if (!good)
    cli_error("out of memory");
  else
    printf("%-20s %8s %8s %8s %12s %12s\n", "clusters", "bodies", "edges", "sweeps", "Algorithm 2",
           "union-find");
  if (good)
    printf("%-20s %8s %8s %8s %12s %12s\n", "", "", "", "", "ns an edge", "ns an edge");
  for (size_t i = 0; good && i < sizeof graphs / sizeof *graphs; ++i)
    good = measure(&w, &graphs[i]);
  free(w.edges);
  free(block);
  return good;
}
