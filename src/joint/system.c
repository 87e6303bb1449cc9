/* All hard rows of a part at once: order, envelope, factorisation. */
#include "joint/link.h"

#include <math.h>

/* ---- the order ------------------------------------------------------------------------------- */

typedef struct order_job {
  const tl_link *links;
  size_t first, end; /* links that are ordered */
  const tl_link_graph *by_body;
  const tl_ccp_body *body;
  uint32_t *degree, *order; /* by link; order[first] ... is filled */
  uint8_t *seen;
} order_job;

talus_status tl_link_graph_make(tl_link_graph *graph, const tl_link *links, size_t count,
                                size_t bodies, tl_arena *arena) {
  TL_TAKE(arena, bodies + 2, &graph->start);
  TL_TAKE(arena, 2 * count, &graph->link);
  TL_TAKE(arena, count, &graph->rank);
  TL_TAKE(arena, count, &graph->degree);
  TL_TAKE(arena, count, &graph->order);
  TL_TAKE(arena, count, &graph->seen);
  uint32_t *start = graph->start;
  memset(start, 0, (bodies + 2) * sizeof *start);
  for (size_t i = 0; i < count; ++i)
    start[links[i].a + 1]++, start[links[i].b + 1]++;
  for (size_t i = 0; i < bodies; ++i)
    start[i + 1] += start[i];
  /* Filling moves each start to its end: shift back afterwards. */
  for (size_t i = 0; i < count; ++i) {
    graph->link[start[links[i].a]++] = (uint32_t)i;
    graph->link[start[links[i].b]++] = (uint32_t)i;
  }
  memmove(start + 1, start, bodies * sizeof *start);
  start[0] = 0;
  return TALUS_OK;
}

static uint32_t degree_of(const order_job *job, uint32_t link) {
  const uint32_t ends[2] = {job->links[link].a, job->links[link].b};
  uint32_t degree = 0;
  for (int k = 0; k < 2; ++k)
    if (job->body[ends[k]].inv_mass > 0)
      degree += job->by_body->start[ends[k] + 1] - job->by_body->start[ends[k]] - 1;
  return degree;
}

/* Appends the neighbours of a link that were not visited yet, by degree and then by number. */
static size_t append_neighbours(order_job *job, uint32_t link, size_t tail) {
  const uint32_t ends[2] = {job->links[link].a, job->links[link].b};
  const size_t first = tail;
  for (int k = 0; k < 2; ++k) {
    if (!(job->body[ends[k]].inv_mass > 0))
      continue;
    for (uint32_t e = job->by_body->start[ends[k]]; e < job->by_body->start[ends[k] + 1]; ++e) {
      const uint32_t other = job->by_body->link[e];
      if (job->seen[other])
        continue;
      job->seen[other] = 1;
      size_t at = tail++;
      for (; at > first && (job->degree[job->order[at - 1]] > job->degree[other] ||
                            (job->degree[job->order[at - 1]] == job->degree[other] &&
                             job->order[at - 1] > other));
           --at)
        job->order[at] = job->order[at - 1];
      job->order[at] = other;
    }
  }
  return tail;
}

/* Breadth first from `root`; returns the end. Everything reached is marked as seen. */
static size_t spread_from(order_job *job, uint32_t root, size_t begin) {
  size_t tail = begin;
  job->order[tail++] = root;
  job->seen[root] = 1;
  for (size_t head = begin; head < tail; ++head)
    tail = append_neighbours(job, job->order[head], tail);
  return tail;
}

/* Cuthill-McKee ordering of a connected set, from a link far from another: the last one that a
 * first search reaches. Reversed at the end. */
static void find_order(order_job *job) {
  size_t begin = job->first;
  memset(job->seen + job->first, 0, job->end - job->first);
  for (size_t i = job->first; i < job->end; ++i)
    job->degree[i] = degree_of(job, (uint32_t)i);
  for (uint32_t i = (uint32_t)job->first; i < job->end; ++i) {
    if (job->seen[i])
      continue;
    const size_t end = spread_from(job, i, begin);
    const uint32_t far = job->order[end - 1];
    for (size_t k = begin; k < end; ++k)
      job->seen[job->order[k]] = 0;
    begin = spread_from(job, far, begin);
  }
  for (size_t i = job->first, j = job->end; i + 1 < j; ++i) {
    const uint32_t swap = job->order[i];
    job->order[i] = job->order[--j];
    job->order[j] = swap;
  }
}

/* ---- the matrix ------------------------------------------------------------------------------ */

typedef struct fill_job {
  tl_link_system *system;
  tl_link *links;
  const order_job *order;
  const tl_ccp_tensor *tensors;
  const uint32_t *rank; /* of a link in the order */
} fill_job;

static void cover(const fill_job *job, uint32_t link, uint32_t other) {
  tl_link_system *system = job->system;
  const tl_link *one = &job->links[link], *two = &job->links[other];
  if (two->hard == 0)
    return;
  const uint32_t column = system->place[two->first];
  for (int i = 0; i < one->hard; ++i) {
    uint32_t *lowest = &system->lowest[system->place[one->first] + (uint32_t)i];
    if (column < *lowest)
      *lowest = column;
  }
}

static void add_entries(const fill_job *job, uint32_t link, uint32_t other, bool one_b,
                        bool two_b) {
  tl_link_system *system = job->system;
  const tl_link *one = &job->links[link], *two = &job->links[other];
  const uint32_t body = one_b ? one->b : one->a;
  const tl_ccp_tensor *tensor = job->tensors ? &job->tensors[body] : NULL;
  for (int j = 0; j < two->hard; ++j) {
    const tl_link_row *col = &two->row[j];
    const tl_ccp_body answer = tl_link_answer(&job->order->body[body], tensor,
                                              two_b ? col->lb : col->la, two_b ? col->ab : col->aa);
    const uint32_t column = system->place[two->first] + (uint32_t)j;
    for (int i = 0; i < one->hard; ++i) {
      const uint32_t r = system->place[one->first] + (uint32_t)i;
      if (column > r)
        continue;
      const tl_link_row *row = &one->row[i];
      const double entry = (double)(tl_dot(one_b ? row->lb : row->la, answer.v) +
                                    tl_dot(one_b ? row->ab : row->aa, answer.w));
      if (column == r)
        system->inverse[r] += entry;
      else
        system->value[system->start[r] + column - system->lowest[r]] += entry;
    }
  }
}

/* Both passes over pairs of links: what the envelope must cover, and what is in it. */
static void visit_pairs(const fill_job *job, bool fill) {
  const order_job *order = job->order;
  for (uint32_t i = (uint32_t)order->first; i < order->end; ++i)
    for (int k = 0; k < 2; ++k) {
      const uint32_t body = k ? job->links[i].b : job->links[i].a;
      if (!(order->body[body].inv_mass > 0))
        continue;
      for (uint32_t e = order->by_body->start[body]; e < order->by_body->start[body + 1]; ++e) {
        const uint32_t other = order->by_body->link[e];
        if (job->rank[other] > job->rank[i])
          continue;
        if (fill)
          add_entries(job, i, other, k == 1, job->links[other].b == body);
        else
          cover(job, i, other);
      }
    }
}

static void factor(tl_link_system *system) {
  for (size_t i = 0; i < system->n; ++i) {
    double *row = system->value + system->start[i];
    const uint32_t lowest = system->lowest[i];
    double pivot = system->inverse[i];
    const double diagonal = pivot;
    /* row[j] holds L_ij d_j until its own pivot divides it. */
    for (uint32_t j = lowest; j < i; ++j) {
      const double *other = system->value + system->start[j];
      const uint32_t from = lowest > system->lowest[j] ? lowest : system->lowest[j];
      double sum = row[j - lowest];
      for (uint32_t m = from; m < j; ++m)
        sum -= row[m - lowest] * other[m - system->lowest[j]];
      row[j - lowest] = sum;
    }
    for (uint32_t j = lowest; j < i; ++j) {
      const double scaled = row[j - lowest] * system->inverse[j];
      pivot -= row[j - lowest] * scaled;
      row[j - lowest] = scaled;
    }
    system->inverse[i] = pivot > 1e-14 * diagonal ? 1 / pivot : 0;
  }
}

void tl_link_system_solve(const tl_link_system *system) {
  double *x = system->x;
  for (size_t i = 0; i < system->n; ++i) {
    const double *row = system->value + system->start[i];
    for (size_t j = system->lowest[i]; j < i; ++j)
      x[i] -= row[j - system->lowest[i]] * x[j];
  }
  for (size_t i = 0; i < system->n; ++i)
    x[i] *= system->inverse[i];
  for (size_t i = system->n; i-- > 0;) {
    const double *row = system->value + system->start[i];
    for (size_t j = system->lowest[i]; j < i; ++j)
      x[j] -= row[j - system->lowest[i]] * x[i];
  }
}

static talus_status fill_in(fill_job *job, size_t most, tl_arena *arena, bool *fits) {
  tl_link_system *system = job->system;
  size_t entries = 0;
  for (size_t i = 0; i < system->n; ++i)
    system->lowest[i] = (uint32_t)i;
  visit_pairs(job, false);
  for (size_t i = 0; i < system->n; ++i) {
    system->start[i] = entries;
    entries += i - system->lowest[i];
  }
  *fits = entries / (system->n > 0 ? system->n : 1) <= most;
  if (!*fits)
    return TALUS_OK;
  TL_TAKE(arena, entries, &system->value);
  memset(system->value, 0, entries * sizeof *system->value);
  memset(system->inverse, 0, system->n * sizeof *system->inverse);
  visit_pairs(job, true);
  for (size_t i = job->order->first; i < job->order->end; ++i)
    for (int r = 0; r < job->links[i].hard; ++r)
      system->inverse[system->place[job->links[i].first] + (uint32_t)r] +=
          job->links[i].row[r].soft;
  factor(system);
  return TALUS_OK;
}

talus_status tl_link_system_make(tl_link_system *system, tl_link *links, const tl_link_graph *graph,
                                 size_t first, size_t count, const tl_ccp_body *body,
                                 const tl_ccp_tensor *tensors, size_t most, tl_arena *arena,
                                 bool *fits) {
  order_job order = {.links = links,
                     .first = first,
                     .end = first + count,
                     .by_body = graph,
                     .body = body,
                     .degree = graph->degree,
                     .order = graph->order,
                     .seen = graph->seen};
  system->n = 0;
  for (size_t i = first; i < first + count; ++i) {
    links[i].first = (uint32_t)system->n;
    system->n += (size_t)links[i].hard;
  }
  TL_TAKE(arena, system->n + 1, &system->place);
  TL_TAKE(arena, system->n, &system->lowest);
  TL_TAKE(arena, system->n, &system->start);
  TL_TAKE(arena, system->n, &system->inverse);
  TL_TAKE(arena, system->n, &system->x);
  find_order(&order);
  uint32_t at = 0;
  for (size_t i = first; i < first + count; ++i) {
    const tl_link *link = &links[order.order[i]];
    graph->rank[order.order[i]] = (uint32_t)i;
    for (int r = 0; r < link->hard; ++r)
      system->place[link->first + (uint32_t)r] = at++;
  }
  fill_job fill = {system, links, &order, tensors, graph->rank};
  return fill_in(&fill, most, arena, fits);
}
