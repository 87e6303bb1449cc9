/* Searches neighbours of bodies that are pushed (relay.h). */
#include "step/relay.h"

#include "contact/history.h"
#include "joint/joint.h"
#include "crowd/asleep.h"
#include "step/sleep.h"

#include <math.h>

#define ROUNDS 16
/* Part of half a body's thickness: a body pushed out of its box by less may wait a step. */
#define SLIGHT 5e-3
#define AHEAD  1.25          /* times what a side needs, because later pushes need a little more */
#define FEW    ((size_t)64)  /* number of bodies that are best tested one by one */
#define SIDE   32            /* cells along a side of the map */
#define WIDE   ((size_t)512) /* cells: a body that covers more counts as near */

typedef struct relay {
  const tl_backend *backend;
  const tl_crowd *crowd;
  const tl_contacts *before;
  tl_reach *reach;
  tl_contacts *contacts;
  talus_real *margins; /* by slot: distance up to which the narrow phase looks */
  double (
      *sides)[6];  /* m, by row of pushes: how far the box extends to -x ... +z beyond the body */
  size_t known;    /* number of rows whose sides are known */
  uint8_t *is_out; /* by slot: pushed out of its box */
  size_t out_count;
  size_t looks; /* pairs that the narrow phase tested */
} relay;

/* ---- which bodies are searched --------------------------------------------------------------- */

static void start_sides(relay *job, size_t row) {
  const double margin = (double)job->reach->margins[job->reach->slots[row]];
  for (int i = 0; i < 6; ++i)
    job->sides[row][i] = margin;
}

/* Half thickness (m at scale 1) of a box with the same radii of gyration, along its thinnest axis;
 * most shapes are similar. */
static double half_thickness(const tl_shape *shape) {
  const double x = (double)shape->gyration.x, y = (double)shape->gyration.y,
               z = (double)shape->gyration.z;
  /* mean square of the thinnest axis */
  const double least = 0.5 * (x + y + z) - fmax(x, fmax(y, z));
  return sqrt(3 * fmax(least, 0));
}

/* Makes sides as long as free motion and push together can be; true if one was too short. */
static bool stretch(relay *job, size_t row) {
  const tl_reach *reach = job->reach;
  const tl_push *push = &reach->pushes[row];
  const uint32_t slot = reach->slots[row];
  const tl_shape *shape = tl_body_shape(reach->model, slot);
  const talus_real h = reach->h, most = tl_push_most(push);
  const talus_vec3 v = reach->drifts[slot].velocity, w = reach->drifts[slot].spin;
  talus_real spare = tl_reach_spare(reach->model, reach->crowd->dt, slot, w);
  if (shape->kind != TALUS_SPHERE)
    spare += h * tl_length(w) * shape->radius * reach->model->property.scale[slot];
  const double slight = SLIGHT * half_thickness(shape) * (double)reach->model->property.scale[slot];
  const talus_real way[3] = {h * v.x, h * v.y, h * v.z};
  bool is_out = false;
  for (int i = 0; i < 6; ++i) { /* -x, -y, -z, x, y, z */
    const talus_real out = push->all.out[(i + 3) % 6] + push->all.round;
    const double need = (double)(spare + (i < 3 ? -way[i] : way[i - 3]) + h * tl_min(out, most));
    double *side = &job->sides[row][i];
    if (need > *side + slight) {
      *side = AHEAD * need;
      is_out = true;
    }
  }
  return is_out;
}

static void find_out(relay *job) {
  tl_reach *reach = job->reach;
  memset(job->is_out, 0, reach->model->bodies);
  job->out_count = 0;
  for (size_t row = 0; row < reach->push_count; ++row) {
    const uint32_t slot = reach->slots[row];
    if (row >= job->known)
      start_sides(job, row);
    job->is_out[slot] = stretch(job, row);
    job->out_count += job->is_out[slot];
    if (!job->is_out[slot])
      continue;
    reach->is_pushed[slot] = TL_PUSH_NEWS;
    job->margins[slot] =
        reach->margins[slot] + TL_R(AHEAD) * reach->h * tl_push_most(&reach->pushes[row]);
  }
  job->known = reach->push_count;
}

static talus_box box_of(const relay *job, uint32_t slot) {
  const tl_model *model = job->reach->model;
  const tl_state *in = job->crowd->in;
  talus_box box = tl_shape_bounds(tl_body_shape(model, slot), (double)model->property.scale[slot],
                                  in->position[slot], in->rotation[slot]);
  if (!job->reach->is_pushed[slot])
    return tl_box_grow(box, (double)job->reach->margins[slot]);
  const double *side = job->sides[job->reach->row[slot]];
  box.lo = tl_dsub(box.lo, tl_dvec3(side[0], side[1], side[2]));
  box.hi = tl_dadd(box.hi, tl_dvec3(side[3], side[4], side[5]));
  return box;
}

/* ---- which bodies are near ------------------------------------------------------------------- */

/* A coarse map of the boxes that have grown. */
typedef struct map {
  talus_box box;
  double cell[3]; /* m */
  uint8_t is_taken[SIDE * SIDE * SIDE];
} map;

typedef struct cells {
  int lo[3], hi[3];
} cells;

static int cell_of(const map *m, int axis, double from, double x) {
  const double at = (x - from) / m->cell[axis];
  return at > 0 ? at < SIDE - 1 ? (int)at : SIDE - 1 : 0;
}

static cells cells_of(const map *m, const talus_box *box) {
  const double from[3] = {m->box.lo.x, m->box.lo.y, m->box.lo.z};
  const double lo[3] = {box->lo.x, box->lo.y, box->lo.z}, hi[3] = {box->hi.x, box->hi.y, box->hi.z};
  cells c;
  for (int i = 0; i < 3; ++i) {
    c.lo[i] = cell_of(m, i, from[i], lo[i]);
    c.hi[i] = cell_of(m, i, from[i], hi[i]);
  }
  return c;
}

static void make_map(const relay *job, map *m) {
  const tl_reach *reach = job->reach;
  m->box = tl_box_empty();
  for (size_t row = 0; row < reach->push_count; ++row)
    if (job->is_out[reach->slots[row]])
      m->box = tl_box_union(m->box, box_of(job, reach->slots[row]));
  const talus_dvec3 edge = tl_dsub(m->box.hi, m->box.lo);
  const double edges[3] = {edge.x, edge.y, edge.z};
  for (int i = 0; i < 3; ++i)
    m->cell[i] = edges[i] > 0 ? edges[i] / SIDE : 1;
  memset(m->is_taken, 0, sizeof m->is_taken);
  for (size_t row = 0; row < reach->push_count; ++row) {
    if (!job->is_out[reach->slots[row]])
      continue;
    const talus_box box = box_of(job, reach->slots[row]);
    const cells c = cells_of(m, &box);
    for (int z = c.lo[2]; z <= c.hi[2]; ++z)
      for (int y = c.lo[1]; y <= c.hi[1]; ++y)
        memset(&m->is_taken[(z * SIDE + y) * SIDE + c.lo[0]], 1, (size_t)(c.hi[0] - c.lo[0] + 1));
  }
}

static bool touches_map(const map *m, const talus_box *box) {
  if (!tl_box_overlap(m->box, *box))
    return false;
  const cells c = cells_of(m, box);
  if ((size_t)(c.hi[0] - c.lo[0] + 1) * (size_t)(c.hi[1] - c.lo[1] + 1) *
          (size_t)(c.hi[2] - c.lo[2] + 1) >
      WIDE)
    return true;
  for (int z = c.lo[2]; z <= c.hi[2]; ++z)
    for (int y = c.lo[1]; y <= c.hi[1]; ++y)
      for (int x = c.lo[0]; x <= c.hi[0]; ++x)
        if (m->is_taken[(z * SIDE + y) * SIDE + x])
          return true;
  return false;
}

typedef struct near_job {
  const relay *job;
  const map *map; /* NULL: all bodies count as near */
  uint8_t *is_near;
} near_job;

/* Tests bounding spheres, which is faster than boxes. */
static void test_range(void *context, size_t begin, size_t end) {
  const near_job *near = context;
  const tl_reach *reach = near->job->reach;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(near->job->crowd, i);
    const tl_shape *shape = tl_body_shape(reach->model, slot);
    near->is_near[i] = !near->map || !shape->bounded || near->job->is_out[slot];
    if (near->is_near[i])
      continue;
    const talus_dvec3 x = near->job->crowd->in->position[slot];
    const double size = (double)(shape->radius * reach->model->property.scale[slot]);
    const talus_box box = tl_box_grow((talus_box){x, x}, size + (double)reach->margins[slot]);
    near->is_near[i] = touches_map(near->map, &box);
  }
}

static bool is_periodic(const tl_model *model) {
  const talus_domain_def *domain = &model->domain;
  return domain->enabled && (domain->periodic[0] || domain->periodic[1] || domain->periodic[2]);
}

/* Finds the members of the crowd that a body outside of its box may meet, and their boxes. */
static talus_status find_near(const relay *job, tl_crowd *near, talus_box **boxes) {
  const tl_crowd *crowd = job->crowd;
  const tl_model *model = job->reach->model;
  near_job test = {.job = job};
  uint32_t *members;
  map *m;
  TL_TAKE(crowd->arena, crowd->count, &members);
  TL_TAKE(crowd->arena, crowd->count, &test.is_near);
  TL_TAKE(crowd->arena, 1, &m);
  if (!is_periodic(model)) {
    make_map(job, m);
    test.map = m;
  }
  tl_for(&model->par, crowd->count, TL_BLOCK, test_range, &test);
  *near = *crowd;
  near->members = members;
  near->broad_cache = NULL;
  near->count = 0;
  for (size_t i = 0; i < crowd->count; ++i)
    if (test.is_near[i])
      members[near->count++] = tl_crowd_slot(crowd, i);
  TL_TAKE(crowd->arena, near->count, boxes);
  for (size_t i = 0; i < near->count; ++i)
    (*boxes)[i] = box_of(job, members[i]);
  return TALUS_OK;
}

/* ---- contacts of these pairs ----------------------------------------------------------------- */

static talus_status find_pairs(const relay *job, tl_pairs *pairs) {
  tl_crowd near;
  talus_box *boxes;
  TL_TRY(find_near(job, &near, &boxes));
  TL_TRY(tl_broad_check(&near, boxes));
  TL_TRY(tl_broad_find_anew(near.count <= FEW ? TALUS_BROAD_BRUTE : TALUS_BROAD_BINS, &near, boxes,
                            pairs));
  size_t kept = 0;
  for (size_t i = 0; i < pairs->count; ++i)
    if (job->is_out[pairs->data[i].a] || job->is_out[pairs->data[i].b])
      pairs->data[kept++] = pairs->data[i];
  pairs->count = kept;
  if (near.joints)
    tl_joints_keep_apart(near.joints, pairs);
  return TALUS_OK;
}

/* Compares the contact's pair with a pair of the list. */
static int compare(const tl_contact *c, const tl_pair *pair) {
  if (c->a != pair->a)
    return c->a < pair->a ? -1 : 1;
  return c->b < pair->b ? -1 : c->b > pair->b;
}

/* Removes those of the first `old` contacts that belong to these pairs: they were found again, and
 * are stored behind. The new ones keep their impulses. */
static size_t replace(tl_contacts *contacts, size_t old, const tl_pairs *pairs) {
  tl_contact *rows = contacts->data;
  size_t kept = 0, at = 0, fresh = old;
  for (size_t i = 0; i < old; ++i) {
    const tl_contact c = rows[i];
    while (at < pairs->count && compare(&c, &pairs->data[at]) > 0)
      at++;
    if (at == pairs->count || compare(&c, &pairs->data[at]) != 0) {
      rows[kept++] = c;
      continue;
    }
    while (fresh < contacts->count &&
           tl_contact_compare(c.a, c.b, c.feature_a, c.feature_b, &rows[fresh]) > 0)
      fresh++;
    if (fresh < contacts->count &&
        tl_contact_compare(c.a, c.b, c.feature_a, c.feature_b, &rows[fresh]) == 0)
      rows[fresh].impulse = c.impulse;
  }
  memmove(rows + kept, rows + old, (contacts->count - old) * sizeof *rows);
  contacts->count -= old - kept;
  return kept;
}

static talus_status add_contacts(const relay *job, tl_pairs *pairs) {
  const tl_model *model = job->reach->model;
  tl_contacts *contacts = job->contacts;
  const size_t old = contacts->count;
  tl_crowd crowd = *job->crowd;
  crowd.kept_axes = NULL; /* the axes of other pairs stay */
  TL_TRY(job->backend->find_contacts(&crowd, pairs, job->margins, contacts));
  tl_history_carry(model, job->before, contacts, old);
  const size_t kept = replace(contacts, old, pairs);
  if (contacts->recent < contacts->count)
    contacts->recent = contacts->count;
  return tl_sleep_merge(job->crowd, contacts, kept);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Wakes sleeping bodies that are reached; returns true if there was one. Contacts with sleeping
 * bodies that are not reached are removed: the solver must not see them, nor code that wakes
 * others. */
static bool wake_reached(const relay *job) {
  const tl_state *in = job->crowd->in;
  tl_contacts *contacts = job->contacts;
  size_t kept = 0;
  bool any = false;
  if (!in->sleep_flags || !job->crowd->sleeps)
    return false;
  for (size_t i = 0; i < contacts->count; ++i) {
    const tl_contact c = contacts->data[i];
    const bool sleeps_a = tl_is_asleep(in, c.a), sleeps_b = tl_is_asleep(in, c.b);
    if (sleeps_a != sleeps_b && !tl_pair_is_dormant(job->reach->model, in, c.a, c.b)) {
      if (!tl_reach_holds(job->reach, &c))
        continue;
      in->sleep_flags[sleeps_a ? c.a : c.b] = 0;
      any = true;
    }
    contacts->data[kept++] = c;
  }
  contacts->count = kept;
  return any;
}

static talus_status look_again(relay *job, bool *is_done) {
  const tl_crowd *crowd = job->crowd;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  tl_pairs pairs = {0};
  find_out(job);
  *is_done = job->out_count == 0;
  if (*is_done)
    return TALUS_OK;
  TL_TRY(find_pairs(job, &pairs));
  TL_TRY(add_contacts(job, &pairs));
  job->looks += pairs.count;
  tl_arena_release(crowd->arena, mark);
  if (wake_reached(job))
    TL_TRY(tl_sleep_rouse(crowd, job->contacts));
  return TALUS_OK;
}

/* In small scenes every step asks for the memory that an impact needs, so that an impact in a scene
 * at rest allocates nothing. */
static talus_status reserve(const tl_reach *reach) {
  const tl_arena_mark mark = tl_arena_get_mark(reach->crowd->arena);
  const size_t most = (size_t)4 << 20, wanted = reach->model->bodies * 1024 + 2 * sizeof(map);
  unsigned char *room;
  if (wanted > most)
    return TALUS_OK;
  TL_TAKE(reach->crowd->arena, wanted, &room);
  tl_arena_release(reach->crowd->arena, mark);
  return TALUS_OK;
}

static talus_status begin(relay *job) {
  const size_t bodies = job->reach->model->bodies;
  TL_TAKE(job->crowd->arena, bodies, &job->margins);
  TL_TAKE(job->crowd->arena, job->reach->push_room, &job->sides);
  TL_TAKE(job->crowd->arena, bodies, &job->is_out);
  for (size_t i = 0; i < job->crowd->count; ++i) {
    const uint32_t slot = tl_crowd_slot(job->crowd, i);
    job->margins[slot] = job->reach->margins[slot];
  }
  return TALUS_OK;
}

talus_status tl_relay(const tl_backend *backend, const tl_crowd *crowd, tl_reach *reach,
                      tl_contacts *contacts, size_t *looks) {
  relay job = {.backend = backend,
               .crowd = crowd,
               .before = crowd->contacts_before,
               .reach = reach,
               .contacts = contacts};
  *looks = 0;
  TL_TRY(reserve(reach));
  TL_TRY(tl_reach_judge(reach, contacts));
  if (reach->push_count == 0)
    return TALUS_OK;
  if (reach->is_spent)
    return TALUS_OK;
  TL_TRY(begin(&job));
  for (int round = 0; round < ROUNDS && !reach->is_spent; ++round) {
    bool is_done;
    TL_TRY(look_again(&job, &is_done));
    *looks = job.looks;
    if (is_done)
      break;
    TL_TRY(tl_reach_judge(reach, contacts)); /* contacts that were added are not judged yet */
  }
  return TALUS_OK;
}
