/* Union-find over slots. The lower root always wins, so that parents never lie above their
 * children: labels follow in one ascending pass, and do not depend on the order of joining.
 *
 * Most of the work is done in one pass before any search: each body takes the lowest parent among
 * the bodies it touches. In canonical order the parent of a body is known when its contacts as
 * first body come, so that this pass, which has no branches, makes a few shallow trees of a heap,
 * and hardly any contact connects two of them.
 *
 * All threads do this at the same time, each with its share of the contacts and its own parents, of
 * which the lowest are taken. This loses some connections, but all contacts are checked again: the
 * few whose ends are in different trees are joined one by one. The intermediate trees depend on the
 * threads, the islands do not. */
#include "contact/island.h"

#include "crowd/asleep.h"

#define LAID_OUT 0x80000000u
#define RUN      ((size_t)4096) /* contacts that a task groups */
#define STRIDE   ((size_t)16)   /* bodies that are skipped at once */
#define SAMPLES  ((size_t)64)
/* most threads with trees of their own; more would cost memory without saving time */
#define FOREST 8

static uint32_t find_root(uint32_t *parent, uint32_t i) {
  while (parent[i] != i) {
    parent[i] = parent[parent[i]]; /* path halving */
    i = parent[i];
  }
  return i;
}

static void start_labels(const tl_model *model, uint32_t *label) {
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = (uint32_t)i;
}

/* Joins two free bodies that touch, cheaply: parents stay within the island and not above their
 * children. */
static inline void lean(uint32_t *parent, uint32_t a, uint32_t b) {
  parent[b] = parent[a] < parent[b] ? parent[a] : parent[b];
}

static inline void join(uint32_t *parent, uint32_t a, uint32_t b) {
  if (parent[parent[a]] == parent[parent[b]])
    return;
  const uint32_t x = find_root(parent, a), y = find_root(parent, b);
  if (x < y)
    parent[y] = x;
  else
    parent[x] = y;
}

static bool is_free(const tl_model *model, uint32_t slot) {
  return slot != TL_NONE && !tl_body_is_static(model, slot);
}

static void finish_labels(const tl_model *model, const tl_pairs *links, uint32_t *label) {
  for (size_t i = 0; links && i < links->count; ++i)
    if (is_free(model, links->data[i].a) && is_free(model, links->data[i].b))
      join(label, links->data[i].a, links->data[i].b);
  for (size_t i = 0; i < model->bodies; ++i)
    label[i] = label[label[i]];
}

void tl_island_label(const tl_model *model, const tl_contacts *contacts, const tl_pairs *links,
                     uint32_t *label) {
  start_labels(model, label);
  for (size_t i = 0; i < contacts->count; ++i)
    if (is_free(model, contacts->data[i].a) && is_free(model, contacts->data[i].b))
      join(label, contacts->data[i].a, contacts->data[i].b);
  finish_labels(model, links, label);
}

static void take_all(const tl_pair *ends, size_t count, size_t links, tl_islands *islands) {
  uint32_t n = 0;
  for (size_t i = 0; i < count; ++i)
    if (ends[i].a != TL_NONE)
      islands->order[n++] = (uint32_t)i;
  islands->start[0] = 0;
  islands->start[1] = n;
  for (size_t i = 0; i < links; ++i)
    islands->link_order[i] = (uint32_t)i;
  if (links > 0) {
    islands->link_start[0] = 0;
    islands->link_start[1] = (uint32_t)links;
  }
  islands->count = n > 0 || links > 0;
}

/* ---- reading contacts ------------------------------------------------------------------------ */

typedef struct ends_job {
  const tl_model *model;
  const tl_state *state;
  const tl_contact *contacts;
  tl_pair *ends;
} ends_job;

static uint32_t end_of(const tl_model *model, uint32_t slot) {
  return tl_body_is_static(model, slot) ? slot | TL_END_FIXED : slot;
}

/* Contacts are large, so they are read only once, here. */
static void find_ends(void *context, size_t begin, size_t end) {
  const ends_job *job = context;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *c = &job->contacts[i];
    job->ends[i] = tl_pair_is_dormant(job->model, job->state, c->a, c->b)
                       ? (tl_pair){TL_NONE, TL_NONE}
                       : (tl_pair){end_of(job->model, c->a), end_of(job->model, c->b)};
  }
}

static bool are_free(tl_pair ends) { return !((ends.a | ends.b) & TL_END_FIXED); }

typedef struct label_job {
  const tl_model *model;
  ends_job reading;
  size_t n;
  uint32_t *parent[FOREST]; /* of each body; the first becomes that of all */
  /* contacts whose ends are in different trees: those of a worker are at the begin of its share */
  uint32_t *apart;
  size_t begin[FOREST], count[FOREST]; /* by worker: of its part of `apart` */
} label_job;

static void take_lowest(const label_job *job, int worker, int workers) {
  uint32_t *lowest = job->parent[0];
  const size_t bodies = job->model->bodies;
  const size_t begin = tl_share(bodies, worker, workers);
  const size_t end = tl_share(bodies, worker + 1, workers);
  for (int w = 1; w < workers; ++w)
    for (size_t i = begin; i < end; ++i)
      lowest[i] = job->parent[w][i] < lowest[i] ? job->parent[w][i] : lowest[i];
}

static size_t list_apart(const label_job *job, size_t begin, size_t end) {
  const uint32_t *parent = job->parent[0];
  size_t count = 0;
  for (size_t i = begin; i < end; ++i) {
    const tl_pair ends = job->reading.ends[i];
    if (are_free(ends) && parent[parent[ends.a]] != parent[parent[ends.b]])
      job->apart[begin + count++] = (uint32_t)i;
  }
  return count;
}

static void grow_trees(void *context, tl_team *team, int worker, int all) {
  label_job *job = context;
  const int workers = all < FOREST ? all : FOREST;
  const bool works = worker < workers;
  const size_t begin = works ? tl_share(job->n, worker, workers) : 0;
  const size_t end = works ? tl_share(job->n, worker + 1, workers) : 0;
  find_ends(&job->reading, tl_share(job->n, worker, all), tl_share(job->n, worker + 1, all));
  tl_team_barrier(team);
  if (works) {
    uint32_t *parent = job->parent[worker];
    const tl_pair *ends = job->reading.ends;
    start_labels(job->model, parent);
    for (size_t i = begin; i < end; ++i)
      if (are_free(ends[i]))
        lean(parent, ends[i].a, ends[i].b);
  }
  tl_team_barrier(team);
  if (works && workers > 1)
    take_lowest(job, worker, workers);
  tl_team_barrier(team);
  if (works) {
    job->begin[worker] = begin;
    job->count[worker] = list_apart(job, begin, end);
  }
}

/* Finds ends, and labels of bodies. spare: room for as many indices as there are contacts. */
static talus_status find_labels(const tl_crowd *crowd, ends_job reading, size_t n,
                                const tl_pairs *links, uint32_t *spare, uint32_t *label) {
  const tl_model *model = reading.model;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  const tl_par par = tl_par_if(&model->par, n >= 4 * RUN);
  label_job job = {.model = model, .reading = reading, .n = n, .parent = {label}, .apart = spare};
  for (int w = 1; w < par.threads && w < FOREST; ++w)
    TL_TAKE(crowd->arena, model->bodies, &job.parent[w]);
  tl_team_run(&par, grow_trees, &job);
  for (int w = 0; w < FOREST; ++w)
    for (size_t k = 0; k < job.count[w]; ++k) {
      const tl_pair apart = reading.ends[spare[job.begin[w] + k]];
      join(label, apart.a, apart.b);
    }
  finish_labels(model, links, label);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* Label of a contact's island; TL_NONE if the contact is not solved. */
static uint32_t label_of(const uint32_t *label, tl_pair ends) {
  const uint32_t slot = ends.a & TL_END_FIXED ? ends.b : ends.a;
  return slot & TL_END_FIXED ? TL_NONE : label[slot];
}

/* ---- grouping -------------------------------------------------------------------------------- */

/* By root: number of contacts and links, later the place of the next one. */
typedef struct places {
  uint32_t *contact, *link; /* link is NULL if there are no links */
  uint32_t contacts, links; /* laid out so far */
} places;

/* A heap is one large island and a few others. All threads count and place the contacts of the
 * large one, run by run; the others are listed and grouped serially. Which island counts as the
 * large one affects only speed. */
typedef struct group_job {
  const tl_pair *ends;
  const uint32_t *label;
  size_t n;
  uint32_t large;          /* label */
  uint32_t *mine, *others; /* by run: number of contacts of the large island, and of others */
  uint32_t *at;            /* by run: place of its contacts of the large island */
  uint32_t *own, *other;   /* indices of these contacts: of run r from r * RUN on */
  uint32_t *order;
} group_job;

/* The label of more than half of the contacts, if there is one. */
static uint32_t find_large(const group_job *job) {
  uint32_t large = TL_NONE;
  size_t votes = 0;
  for (size_t k = 0; k < SAMPLES && job->n > 0; ++k) {
    const uint32_t of = label_of(job->label, job->ends[k * job->n / SAMPLES]);
    if (votes == 0)
      large = of;
    votes = of == large ? votes + 1 : votes - 1;
  }
  return large;
}

static size_t end_of_run(const group_job *job, size_t run) {
  return job->n - run * RUN < RUN ? job->n : (run + 1) * RUN;
}

static void list_runs(void *context, size_t begin, size_t end) {
  const group_job *job = context;
  for (size_t run = begin; run < end; ++run) {
    uint32_t mine = 0, others = 0, *own = job->own + run * RUN, *other = job->other + run * RUN;
    for (size_t i = run * RUN; i < end_of_run(job, run); ++i) {
      const uint32_t of = label_of(job->label, job->ends[i]);
      own[mine] = (uint32_t)i;
      mine += of == job->large;
      if (of != job->large && of != TL_NONE)
        other[others++] = (uint32_t)i;
    }
    job->mine[run] = job->large != TL_NONE ? mine : 0;
    job->others[run] = others;
  }
}

static void place_large(void *context, size_t begin, size_t end) {
  const group_job *job = context;
  for (size_t run = begin; run < end; ++run)
    memcpy(job->order + job->at[run], job->own + run * RUN, job->mine[run] * sizeof *job->own);
}

/* Lists roots that have contacts or links, ascending; most bodies have neither. */
static size_t list_roots(const tl_model *model, const places *next, uint32_t *roots) {
  size_t count = 0;
  for (size_t first = 0; first < model->bodies; first += STRIDE) {
    const size_t left = model->bodies - first, end = first + (left < STRIDE ? left : STRIDE);
    uint32_t any = 0;
    for (size_t i = first; i < end; ++i)
      any |= next->contact[i] | (next->link ? next->link[i] : 0);
    for (size_t i = first; i < end && any != 0; ++i)
      if (next->contact[i] != 0 || (next->link && next->link[i] != 0))
        roots[count++] = (uint32_t)i;
  }
  return count;
}

/* Finds offsets of the islands, small ones first; counts by root become places. */
static void lay_out(const uint32_t *roots, size_t count, uint32_t small, places *next,
                    bool is_small, tl_islands *islands) {
  for (size_t k = 0; k < count; ++k) {
    /* Counts that the first round replaced by offsets are marked, because offsets look like
     * counts. */
    const uint32_t root = roots[k];
    const uint32_t rows = next->contact[root], links = next->link ? next->link[root] : 0;
    if ((rows & LAID_OUT) || (rows < small && links == 0) != is_small)
      continue;
    if (islands->link_start)
      islands->link_start[islands->count] = next->links;
    islands->start[islands->count++] = next->contacts;
    next->contact[root] = next->contacts | LAID_OUT;
    next->contacts += rows;
    if (links > 0)
      next->link[root] = next->links;
    next->links += links;
  }
}

static uint32_t label_of_link(const tl_model *model, const uint32_t *label, tl_pair link) {
  return label[is_free(model, link.a) ? link.a : link.b];
}

/* Counts the contacts of the large island, then all others by root. */
static void count_contacts(const group_job *job, size_t runs, places *next) {
  for (size_t run = 0; run < runs; ++run) {
    if (job->large != TL_NONE)
      next->contact[job->large] += job->mine[run];
    for (uint32_t k = 0; k < job->others[run]; ++k)
      next->contact[label_of(job->label, job->ends[job->other[run * RUN + k]])]++;
  }
}

/* Places the others, and finds where those of the large island of each run go. */
static void place_others(const group_job *job, size_t runs, places *next) {
  for (size_t run = 0; run < runs; ++run) {
    if (job->large != TL_NONE) {
      job->at[run] = next->contact[job->large] & ~LAID_OUT;
      next->contact[job->large] += job->mine[run];
    }
    for (uint32_t k = 0; k < job->others[run]; ++k) {
      const uint32_t i = job->other[run * RUN + k];
      job->order[next->contact[label_of(job->label, job->ends[i])]++ & ~LAID_OUT] = i;
    }
  }
}

static talus_status group(const tl_crowd *crowd, const tl_pairs *links, uint32_t small,
                          group_job *job, tl_islands *islands) {
  const tl_model *model = crowd->model;
  const size_t runs = (job->n + RUN - 1) / RUN, held = links ? links->count : 0;
  places next = {0};
  uint32_t *roots;
  TL_TAKE(crowd->arena, runs, &job->mine);
  TL_TAKE(crowd->arena, runs, &job->others);
  TL_TAKE(crowd->arena, runs, &job->at);
  TL_TAKE(crowd->arena, job->n, &job->own);
  TL_TAKE(crowd->arena, model->bodies, &roots);
  TL_TAKE(crowd->arena, model->bodies, &next.contact);
  memset(next.contact, 0, model->bodies * sizeof *next.contact);
  if (held > 0) {
    TL_TAKE(crowd->arena, model->bodies, &next.link);
    memset(next.link, 0, model->bodies * sizeof *next.link);
  }
  job->large = find_large(job);
  tl_for(&model->par, runs, 1, list_runs, job);
  count_contacts(job, runs, &next);
  for (size_t i = 0; i < held; ++i)
    next.link[label_of_link(model, job->label, links->data[i])]++;
  const size_t count = list_roots(model, &next, roots);
  lay_out(roots, count, small, &next, true, islands);
  islands->small_count = islands->count;
  lay_out(roots, count, small, &next, false, islands);
  islands->start[islands->count] = next.contacts;
  if (islands->link_start)
    islands->link_start[islands->count] = next.links;
  place_others(job, runs, &next);
  tl_for(&model->par, runs, 1, place_large, job);
  for (size_t i = 0; i < held; ++i)
    islands->link_order[next.link[label_of_link(model, job->label, links->data[i])]++] =
        (uint32_t)i;
  return TALUS_OK;
}

talus_status tl_contact_find_islands(const tl_crowd *crowd, const tl_contacts *contacts,
                                     const tl_pairs *links, bool apart, uint32_t small,
                                     tl_pair *ends, tl_islands *islands) {
  const tl_model *model = crowd->model;
  const size_t n = contacts->count, held = links ? links->count : 0;
  const size_t most = n + held < model->bodies ? n + held : model->bodies;
  ends_job work = {model, crowd->in, contacts->data, ends};
  *islands = (tl_islands){0};
  TL_TAKE(crowd->arena, n, &islands->order);
  TL_TAKE(crowd->arena, (apart ? most : 1) + 1, &islands->start);
  if (held > 0) {
    TL_TAKE(crowd->arena, held, &islands->link_order);
    TL_TAKE(crowd->arena, (apart ? most : 1) + 1, &islands->link_start);
  }
  if (!apart) {
    tl_for(&model->par, n, RUN, find_ends, &work);
    take_all(ends, n, held, islands);
    return TALUS_OK;
  }
  if (n >= LAID_OUT)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%zu contacts are too many for islands; set "
                   "solve.islands to false",
                   n);
  uint32_t *spare;
  TL_TAKE(crowd->arena, model->bodies, &islands->label);
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, n, &spare);
  TL_TRY(find_labels(crowd, work, n, links, spare, islands->label));
  group_job grouping = {
      .ends = ends, .label = islands->label, .n = n, .other = spare, .order = islands->order};
  TL_TRY(group(crowd, links, small, &grouping, islands));
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
