/* How the points of a pair share one spring law.
 *
 * If each point were a full spring, a face with four corners would be four times as stiff as a
 * ball, and a mesh stiffer the finer it is. So the points of a patch have weights: point i has s_i
 * / sum of K_ij s_j, where K_ij is 1 between points of one direction and 0 between points of
 * different directions. s is 1 where bodies touch and fades out over a band of gaps: a point that
 * comes to touch already has its share, so no force jumps when it does.
 *
 * Springs whose weights depend on places would make energy: a body that tips from a face over an
 * edge would get back more than was put in. So forces are the gradient of sum w_i e_i(gap_i), e the
 * energy of the law. A point in the band lowers that sum by coming nearer, so it is pulled by the
 * derivative. The pull is at most overlap over band times the load.
 *
 * A mesh has a point for each vertex or pair of triangles, and those at one place come and go as it
 * rolls. So each point of a mesh counts by the room that it has between the others: s_i is
 * multiplied by the mean of r^2 over directions, r being the way to the middle between it and
 * another, at most the range. A point that parts in two, or joins another, changes no force.
 */
#include "solve/penalty/penalty.h"

#define ALIKE   TL_R(0.98) /* cosine of the normals of one patch, at least */
#define UNALIKE TL_R(0.9)  /* cosine of the normals of two patches, at most */
#define MOST    192        /* points of a pair; of more (clumps) each counts by itself */

typedef struct share_job {
  const tl_crowd *crowd;
  const tl_contacts *contacts;
  tl_penalty_share *shares;
} share_job;

/* Width of the band of a pair, m; taken from the smaller of the bodies that can have several
 * points. */
static talus_real band_of(const tl_model *model, const tl_contact *c) {
  const talus_real a = tl_model_band(model, c->a), b = tl_model_band(model, c->b);
  return a > 0 && b > 0 ? tl_min(a, b) : tl_max(a, b);
}

/* 1 where a point touches, 0 outside the band. */
static talus_real part_of(talus_real apart, talus_real band) {
  if (!(apart > 0))
    return 1;
  const talus_real t = apart / band;
  return apart < band ? 1 - t * t * (3 - 2 * t) : 0;
}

/* Derivative of part_of, 1/m. */
static talus_real slope_of(talus_real apart, talus_real band) {
  const talus_real t = apart / band;
  return apart > 0 && apart < band ? -6 * t * (1 - t) / band : 0;
}

static talus_real likeness(const tl_contact *a, const tl_contact *b) {
  const talus_real cosine = tl_dot(a->normal, b->normal);
  return tl_min(1, tl_max(0, (cosine - UNALIKE) / (ALIKE - UNALIKE)));
}

/* Energy of a point that overlaps, with the whole law, J. */
static talus_real energy_of(const share_job *job, const tl_contact *c, talus_real overlap) {
  const tl_model *model = job->crowd->model;
  const talus_real normal = tl_penalty_stiffness(job->crowd, c->a, c->b);
  if (model->solve.law != TALUS_HERTZ)
    return TL_R(0.5) * normal * overlap * overlap;
  const talus_real radius = tl_model_reduced_radius(model, c->a, c->b);
  return TL_R(0.4) * normal * tl_sqrt(radius * overlap) * overlap * overlap;
}

/* Whether points of the pair count by the room that they have. */
static bool has_crowded_points(const share_job *job, size_t first, size_t end) {
  const tl_model *model = job->crowd->model;
  const tl_contact *c = &job->contacts->data[first];
  return end - first <= MOST && (tl_body_shape(model, c->a)->kind == TALUS_MESH ||
                                 tl_body_shape(model, c->b)->kind == TALUS_MESH);
}

/* The directions in which room is measured: corners of a dodecahedron, each with its opposite. */
#define WAYS  20
#define LONG  0.93417235896271570 /* golden ratio / sqrt(3) */
#define EVEN  0.57735026918962576 /* 1 / sqrt(3) */
#define SHORT 0.35682208977308993 /* 1 / (golden ratio sqrt(3)) */
static const double ways[WAYS][3] = {
    {EVEN, EVEN, EVEN},  {EVEN, EVEN, -EVEN},  {EVEN, -EVEN, EVEN},  {EVEN, -EVEN, -EVEN},
    {-EVEN, EVEN, EVEN}, {-EVEN, EVEN, -EVEN}, {-EVEN, -EVEN, EVEN}, {-EVEN, -EVEN, -EVEN},
    {0, SHORT, LONG},    {0, SHORT, -LONG},    {0, -SHORT, LONG},    {0, -SHORT, -LONG},
    {SHORT, LONG, 0},    {SHORT, -LONG, 0},    {-SHORT, LONG, 0},    {-SHORT, -LONG, 0},
    {LONG, 0, SHORT},    {-LONG, 0, SHORT},    {LONG, 0, -SHORT},    {-LONG, 0, -SHORT}};

/* A pair with a mesh: its rows, and by row what its shares are made of. */
typedef struct crowded {
  const tl_contact *rows;
  size_t count;
  talus_real reach, band;
  double range;
  talus_real part[MOST];   /* s */
  talus_real room[MOST];   /* 1 by itself; 1/n of n points at one place */
  talus_real patch[MOST];  /* sum of K s room over all points */
  talus_real energy[MOST]; /* J */
} crowded;

/* The room of point i: each way ends halfway to another point, or farther if that one hardly
 * counts, at most at the range. Points at exactly one place share its room. */
static talus_real measure_room(const crowded *p, size_t i) {
  const tl_contact *c = &p->rows[i];
  double length[WAYS], sum = 0, here = 1;
  for (int k = 0; k < WAYS; ++k)
    length[k] = p->range;
  for (size_t j = 0; j < p->count; ++j) {
    const talus_dvec3 d = tl_dsub(p->rows[j].point, c->point);
    const double square = tl_ddot(d, d), range = 2 * p->range;
    if (j == i || !(square < range * range) || !(p->part[j] > 0))
      continue;
    const double counts = 2 * (double)(likeness(c, &p->rows[j]) * p->part[j]);
    if (square == 0)
      here += 0.5 * counts;
    for (int k = 0; k < WAYS && counts > 0; ++k) {
      const double along = counts * (d.x * ways[k][0] + d.y * ways[k][1] + d.z * ways[k][2]);
      if (square < along * length[k])
        length[k] = square / along;
    }
  }
  for (int k = 0; k < WAYS; ++k)
    sum += length[k] < p->range ? length[k] * length[k] / (p->range * p->range) : 1;
  return (talus_real)(sum / (WAYS * here));
}

static void weigh_crowded(const share_job *job, crowded *p, tl_penalty_share *shares) {
  for (size_t i = 0; i < p->count; ++i) {
    p->part[i] = part_of(p->rows[i].gap - p->reach, p->band);
    p->energy[i] =
        p->rows[i].gap < p->reach ? energy_of(job, &p->rows[i], p->reach - p->rows[i].gap) : 0;
  }
  for (size_t i = 0; i < p->count; ++i)
    p->room[i] = measure_room(p, i);
  for (size_t i = 0; i < p->count; ++i) {
    const bool touches = p->rows[i].gap < p->reach;
    p->patch[i] = 0;
    for (size_t j = 0; j < p->count; ++j)
      p->patch[i] += likeness(&p->rows[i], &p->rows[j]) * p->part[j] * p->room[j];
    shares[i] = (tl_penalty_share){.weight = touches ? p->room[i] / p->patch[i] : 0};
  }
}

/* -dU/ds of a point that does not touch yet, J. That room depends on s, too, is left out: it would
 * jump where another neighbour is the nearest. */
static talus_real gain_of(const crowded *p, const tl_penalty_share *shares, size_t i) {
  talus_real gain = 0;
  for (size_t j = 0; j < p->count; ++j)
    if (p->energy[j] > 0)
      gain += likeness(&p->rows[j], &p->rows[i]) * p->energy[j] * shares[j].weight / p->patch[j];
  return gain * p->room[i];
}

static void share_crowded(const share_job *job, size_t first, size_t end, talus_real reach,
                          talus_real band) {
  crowded p;
  tl_penalty_share *shares = job->shares + first;
  p.rows = job->contacts->data + first, p.count = end - first;
  p.reach = reach, p.band = band, p.range = (double)tl_max(band, reach);
  weigh_crowded(job, &p, shares);
  for (size_t i = 0; i < p.count; ++i) {
    const talus_real slope = slope_of(p.rows[i].gap - reach, band);
    if (slope < 0)
      shares[i].pull = -slope * gain_of(&p, shares, i);
  }
}

static void share_pair(const share_job *job, size_t first, size_t end) {
  const tl_contact *rows = job->contacts->data;
  const talus_real reach = tl_penalty_reach(job->crowd->model),
                   band = band_of(job->crowd->model, &rows[first]);
  if (has_crowded_points(job, first, end)) {
    share_crowded(job, first, end, reach, band);
    return;
  }
  for (size_t i = first; i < end; ++i) {
    talus_real sum = 0;
    for (size_t j = first; j < end; ++j)
      sum += likeness(&rows[i], &rows[j]) * part_of(rows[j].gap - reach, band);
    job->shares[i] = (tl_penalty_share){.weight = rows[i].gap < reach ? 1 / sum : 0};
  }
  for (size_t i = first; i < end; ++i) {
    const talus_real slope = slope_of(rows[i].gap - reach, band);
    if (slope == 0)
      continue;
    talus_real gain = 0;
    for (size_t j = first; j < end; ++j)
      if (rows[j].gap < reach)
        gain += likeness(&rows[i], &rows[j]) * job->shares[j].weight * job->shares[j].weight *
                energy_of(job, &rows[j], reach - rows[j].gap);
    job->shares[i].pull = -slope * gain;
  }
}

static void share_some(void *context, size_t begin, size_t end) {
  const share_job *job = context;
  const tl_contact *rows = job->contacts->data;
  const size_t n = job->contacts->count;
  for (size_t i = begin; i < end; ++i) {
    if (i > 0 && rows[i - 1].a == rows[i].a && rows[i - 1].b == rows[i].b)
      continue; /* done with the first contact of its pair */
    size_t last = i + 1;
    while (last < n && rows[last].a == rows[i].a && rows[last].b == rows[i].b)
      ++last;
    if (last == i + 1)
      job->shares[i] = (tl_penalty_share){.weight = 1};
    else
      share_pair(job, i, last);
  }
}

void tl_penalty_share_out(const tl_crowd *crowd, const tl_contacts *contacts,
                          tl_penalty_share *shares) {
  share_job job = {crowd, contacts, shares};
  tl_for(&crowd->model->par, contacts->count, TL_BLOCK, share_some, &job);
}
