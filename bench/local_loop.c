/* Could local time do without rounds (chapter 7 of the thesis)? A run on one thread records every
 * step of a cluster: how long it took, and which steps it needs. From that follow
 *
 *   - what rounds take with P workers at best: in each round the steps that are new are dealt to
 * the workers, largest first, and all wait for the last one; what is not a step of a cluster
 * (looking for neighbours, checks, commits) is shared out evenly, or is not;
 *   - what any loop takes at least that makes the same decisions, and so has the same hash: the
 *     work divided by P, and the longest chain of steps that need each other. A step needs the last
 *     steps of its bodies, and, as their laws decide who its cluster is and whether it counts,
 * those of all bodies whose boxes overlap one of theirs. Without the latter the hash would depend
 * on who was first. */
#include "local.h"

#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools.h"

enum { WORKERS = 3 };
static const int crews[WORKERS] = {2, 4, 8};

typedef enum need { NEED_NEIGHBOURS, NEED_OWN, NEEDS } need;

/* The longest chain of steps up to the last one of a body. */
typedef struct chain {
  double seconds;
  uint64_t bodies; /* of all its steps */
} chain;

struct local_loop {
  talus_world *world;
  size_t count;            /* bodies of the world */
  double stepped;          /* s: all steps of clusters, those in vain included; */
  double dealt[WORKERS];   /* s: the same, dealt to workers, batch after batch */
  uint64_t steps, members; /* of clusters, computed; bodies of those that count */
  uint64_t rounds;
  chain *now[NEEDS], *next[NEEDS]; /* by body */
  local_cost by_contacts[LOCAL_SIZE_CLASSES], by_bodies[LOCAL_SIZE_CLASSES];
  double *times; /* s: of a batch, longest first */
  size_t room;
  bool has_failed;
};

static int compare_down(const void *x, const void *y) {
  const double a = *(const double *)x, b = *(const double *)y;
  return a < b ? 1 : a > b ? -1 : 0;
}

/* The time until the last worker is done; each of them takes the longest step that is left. */
static double deal(const double *times, size_t count, int crew) {
  double busy[8] = {0}, last = 0;
  for (size_t i = 0; i < count; ++i) {
    int first = 0;
    for (int k = 1; k < crew; ++k)
      first = busy[k] < busy[first] ? k : first;
    busy[first] += times[i];
    last = fmax(last, busy[first]);
  }
  return last;
}

unsigned local_class_most(int k) { return k == 0 ? 0 : 1u << (k - 1); }

static void add_cost(local_cost *costs, size_t size, double seconds) {
  int k = 0;
  while (k < LOCAL_SIZE_CLASSES - 1 && size > local_class_most(k))
    k++;
  costs[k].steps++, costs[k].seconds += seconds;
}

static void note_batch(local_loop *loop, const tl_local *local) {
  const size_t n = local->work.count;
  if (n > loop->room) {
    double *more = realloc(loop->times, 2 * n * sizeof *more);
    loop->has_failed |= !more;
    if (!more)
      return;
    loop->times = more, loop->room = 2 * n;
  }
  for (size_t i = 0; i < n; ++i) {
    const tl_cluster *cluster = &local->clusters.data[local->work.data[i]];
    loop->times[i] = cluster->seconds;
    loop->stepped += cluster->seconds;
    add_cost(loop->by_contacts, cluster->contacts.count, cluster->seconds);
    add_cost(loop->by_bodies, cluster->members.count, cluster->seconds);
  }
  if (n > 1)
    qsort(loop->times, n, sizeof *loop->times, compare_down);
  for (int k = 0; k < WORKERS; ++k)
    loop->dealt[k] += deal(loop->times, n, crews[k]);
  loop->steps += n;
}

static void lengthen(chain *to, const chain *other) {
  if (other->seconds > to->seconds)
    *to = *other;
}

static chain chain_of(const local_loop *loop, const tl_local *local, const tl_cluster *cluster,
                      int kind) {
  chain longest = {0, 0};
  for (size_t i = 0; i < cluster->members.count; ++i) {
    const uint32_t slot = cluster->members.data[i];
    lengthen(&longest, &loop->now[kind][slot]);
    for (uint32_t k = local->bodies.data[slot].first; kind == NEED_NEIGHBOURS && k != TL_NONE;) {
      const tl_meeting *m = &local->meetings.data[k];
      if (!m->is_wall)
        lengthen(&longest, &loop->now[kind][tl_meeting_other(m, slot)]);
      k = tl_meeting_next(m, slot);
    }
  }
  longest.seconds += cluster->seconds, longest.bodies += cluster->members.count;
  return longest;
}

/* Steps that count in the same round do not need each other. */
static void note_round(local_loop *loop, const tl_local *local) {
  for (int kind = 0; kind < NEEDS; ++kind) {
    memcpy(loop->next[kind], loop->now[kind], loop->count * sizeof **loop->next);
    for (size_t i = 0; i < local->live.count; ++i) {
      const tl_cluster *cluster = &local->clusters.data[local->live.data[i]];
      const chain longest = cluster->commits ? chain_of(loop, local, cluster, kind) : (chain){0, 0};
      for (size_t k = 0; cluster->commits && k < cluster->members.count; ++k)
        loop->next[kind][cluster->members.data[k]] = longest;
      loop->members += kind == 0 && cluster->commits ? cluster->members.count : 0;
    }
    chain *swap = loop->now[kind];
    loop->now[kind] = loop->next[kind], loop->next[kind] = swap;
  }
  loop->rounds++;
}

static void observe(void *context, const tl_local *local, bool commits) {
  local_loop *loop = context;
  if (commits)
    note_round(loop, local);
  else
    note_batch(loop, local);
}

local_loop *local_loop_begin(talus_world *world) {
  local_loop *loop = calloc(1, sizeof *loop);
  if (!loop)
    return NULL;
  *loop = (local_loop){.world = world, .count = world->model.bodies};
  for (int kind = 0; kind < NEEDS; ++kind) {
    loop->now[kind] = calloc(loop->count, sizeof **loop->now);
    loop->next[kind] = calloc(loop->count, sizeof **loop->next);
    loop->has_failed |= !loop->now[kind] || !loop->next[kind];
  }
  if (!loop->has_failed)
    world->local.observe = observe, world->local.observe_context = loop;
  return loop;
}

void local_loop_head(void) {
  printf("times are of one thread, and what follows from them for 2, 4 and 8 workers at best\n"
         "%-10s %6s %7s %7s %8s %8s  %-20s  %-20s  %-20s  %-20s\n",
         "setup", "bodies", "rounds", "steps", "steps s", "rest s", "rounds, rest alone",
         "rounds, rest shared", "no loop, same hash", "no loop, other hash");
}

static void print(const local_loop *loop, const char *name, int bodies, double seconds, FILE *csv) {
  const double rest = fmax(seconds - loop->stepped, 0);
  double times[4][WORKERS];
  for (int k = 0; k < WORKERS; ++k) {
    times[0][k] = loop->dealt[k] + rest;
    times[1][k] = loop->dealt[k] + rest / crews[k];
  }
  for (int kind = 0; kind < NEEDS; ++kind) {
    chain longest = {0, 0};
    for (size_t i = 0; i < loop->count; ++i)
      lengthen(&longest, &loop->now[kind][i]);
    const double alone =
        longest.seconds + rest * (double)longest.bodies / fmax((double)loop->members, 1);
    for (int k = 0; k < WORKERS; ++k)
      times[2 + kind][k] = fmax(alone, seconds / crews[k]);
  }
  printf("%-10s %6d %7llu %7llu %8.3f %8.3f", name, bodies, (unsigned long long)loop->rounds,
         (unsigned long long)loop->steps, loop->stepped, rest);
  for (int way = 0; way < 4; ++way)
    printf("  %6.2f %6.2f %6.2f", seconds / times[way][0], seconds / times[way][1],
           seconds / times[way][2]);
  printf("\n");
  fflush(stdout);
  for (int k = 0; csv && k < WORKERS; ++k)
    fprintf(csv, "%s,%d,%llu,%llu,%.6f,%.6f,%d,%.6f,%.6f,%.6f,%.6f\n", name, bodies,
            (unsigned long long)loop->rounds, (unsigned long long)loop->steps, loop->stepped, rest,
            crews[k], times[0][k], times[1][k], times[2][k], times[3][k]);
}

static void write_costs(FILE *csv, const char *name, int bodies, const char *of,
                        const local_cost *costs) {
  for (int k = 0; k < LOCAL_SIZE_CLASSES; ++k)
    if (costs[k].steps > 0)
      fprintf(csv, "%s,%d,%s,%u,%llu,%.4g\n", name, bodies, of, local_class_most(k),
              (unsigned long long)costs[k].steps, costs[k].seconds / (double)costs[k].steps);
}

bool local_loop_end(local_loop *loop, const char *name, int bodies, double seconds,
                    const local_loop_files *files) {
  bool good = loop && !loop->has_failed;
  if (good) {
    print(loop, name, bodies, seconds, files->ways);
    if (files->costs) {
      write_costs(files->costs, name, bodies, "contacts", loop->by_contacts);
      write_costs(files->costs, name, bodies, "bodies", loop->by_bodies);
      good = local_draw_costs(files->folder, name, bodies, loop->by_contacts, loop->by_bodies);
    }
  } else {
    cli_error("bench local: out of memory");
  }
  for (int kind = 0; loop && kind < NEEDS; ++kind)
    free(loop->now[kind]), free(loop->next[kind]);
  if (loop)
    free(loop->times);
  free(loop);
  return good;
}
