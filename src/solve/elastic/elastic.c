/* Hard spheres by distance: pairs that overlap and approach are reflected.
 *
 * `symmetric`: equal and opposite impulses along the line of centres, colour by colour, in passes
 * until no overlapping pair approaches. With fixed normals and restitution 1 that takes finitely
 * many reflections; each conserves momentum and energy.
 *
 * `published` (Peters, Sherif and Bell; figures 21 and 22): each body gets the velocity of eq. (9)
 * from its own and its partner's velocity, both from BEFORE the step; of several partners the last
 * counts. A pair acts once, when it begins to overlap, whether it approaches or not. If three
 * bodies touch, momentum and energy are not conserved; the method is kept to show this. Walls
 * reflect bodies that approach. */
#include "contact/contact.h"
#include "crowd/free.h"
#include "kernels/elastic.h"
#include "solve/solve.h"

#define PASSES 1000
/* part of the largest speed: slower pairs do not approach */
#define STILL (TALUS_SINGLE ? 1e-6 : 1e-14)

typedef struct elastic_job {
  const tl_crowd *crowd;
  tl_contacts *contacts;
  tl_twist *twists;      /* by row */
  const uint32_t *order; /* contacts of the colour being visited */
  uint8_t *acted;        /* by contact: whether it was reflected in this pass */
  talus_real still;      /* m/s: pairs slower than this do not approach */
  double slowest;
} elastic_job;

/* Inverse mass of the body (1/kg); 0 if contacts cannot move it. */
static double inverse_mass(const tl_crowd *crowd, uint32_t slot) {
  return tl_body_is_static(crowd->model, slot) ? 0 : 1 / (double)crowd->model->property.mass[slot];
}

static talus_real approach_of(const elastic_job *job, const tl_contact *c) {
  return -tl_dot(tl_sub(job->twists[c->b].velocity, job->twists[c->a].velocity), c->normal);
}

static void reflect(const elastic_job *job, tl_contact *c, talus_real approach) {
  const double inverse_a = inverse_mass(job->crowd, c->a),
               inverse_b = inverse_mass(job->crowd, c->b);
  const double restitution = (double)tl_model_law(job->crowd->model, c->a, c->b)->restitution;
  const double change =
      (double)approach + tl_elastic_rebound((double)approach, restitution, job->slowest);
  const double impulse = change / (inverse_a + inverse_b);
  talus_vec3 *va = &job->twists[c->a].velocity, *vb = &job->twists[c->b].velocity;
  if (inverse_a > 0)
    *va = tl_madd(*va, -TL_R(impulse * inverse_a), c->normal);
  if (inverse_b > 0)
    *vb = tl_madd(*vb, TL_R(impulse * inverse_b), c->normal);
  c->impulse = tl_madd(c->impulse, TL_R(impulse), c->normal);
}

static bool can_move(const elastic_job *job, const tl_contact *c) {
  return !tl_body_is_static(job->crowd->model, c->a) || !tl_body_is_static(job->crowd->model, c->b);
}

static void visit_range(void *context, size_t begin, size_t end) {
  const elastic_job *job = context;
  for (size_t k = begin; k < end; ++k) {
    const uint32_t i = job->order[k];
    tl_contact *c = &job->contacts->data[i];
    const talus_real approach = approach_of(job, c);
    job->acted[i] = can_move(job, c) && c->gap <= 0 && approach > job->still;
    if (job->acted[i])
      reflect(job, c, approach);
  }
}

static size_t count_acted(const elastic_job *job) {
  size_t count = 0;
  for (size_t i = 0; i < job->contacts->count; ++i)
    count += job->acted[i];
  return count;
}

static talus_status solve_symmetric(elastic_job *job, tl_solve_report *report) {
  const tl_par *par = &job->crowd->model->par;
  tl_colours colours;
  TL_TRY(tl_contact_colour(job->crowd, job->contacts, (tl_tiles){0}, &colours));
  for (report->iterations = 0; report->iterations < PASSES; ++report->iterations) {
    for (size_t k = 0; k < colours.count; ++k) {
      const size_t n = colours.start[k + 1] - colours.start[k];
      const tl_par all = tl_par_if(par, !colours.serial[k]);
      job->order = colours.order + colours.start[k];
      tl_for(&all, n, 256, visit_range, job);
    }
    const size_t acted = count_acted(job);
    report->collisions += acted;
    if (acted == 0)
      return TALUS_OK;
  }
  report->unconverged = 1;
  return TALUS_OK;
}

/* ---- as published ---------------------------------------------------------------------------- */

/* True if the pair overlapped already at the begin of the last step. */
static bool was_there(const tl_crowd *crowd, const tl_contact *c) {
  const tl_contacts *before = crowd->contacts_before;
  for (size_t i = tl_contacts_first_of(before, c->a);
       i < before->count && before->data[i].a == c->a && before->data[i].b <= c->b; ++i)
    if (before->data[i].b == c->b && before->data[i].gap <= 0)
      return true;
  return false;
}

static void publish_pair(const elastic_job *job, const talus_vec3 *was, tl_contact *c) {
  const talus_real ma = job->crowd->model->property.mass[c->a];
  const talus_real mb = job->crowd->model->property.mass[c->b];
  const talus_real along = tl_dot(tl_sub(was[c->b], was[c->a]), c->normal);
  const talus_real change = 2 * along / (ma + mb);
  job->twists[c->a].velocity = tl_madd(was[c->a], change * mb, c->normal);
  job->twists[c->b].velocity = tl_madd(was[c->b], -change * ma, c->normal);
  c->impulse = tl_scale(c->normal, -change * ma * mb);
}

static talus_status solve_published(elastic_job *job, tl_solve_report *report) {
  const tl_crowd *crowd = job->crowd;
  talus_vec3 *was;
  TL_TAKE(crowd->arena, crowd->count, &was);
  for (size_t i = 0; i < crowd->count; ++i)
    was[i] = job->twists[i].velocity;
  for (int walls = 0; walls < 2; ++walls)
    for (size_t i = 0; i < job->contacts->count; ++i) {
      tl_contact *c = &job->contacts->data[i];
      const bool is_wall =
          tl_body_is_static(crowd->model, c->a) || tl_body_is_static(crowd->model, c->b);
      if (is_wall != walls || !can_move(job, c) || c->gap > 0)
        continue;
      const talus_real approach = approach_of(job, c);
      if (is_wall ? !(approach > job->still) : was_there(crowd, c))
        continue;
      if (is_wall)
        reflect(job, c, approach);
      else
        publish_pair(job, was, c);
      report->collisions++;
    }
  report->iterations = 1;
  return TALUS_OK;
}

/* ---- the solver ------------------------------------------------------------------------------ */

typedef struct load_job {
  const elastic_job *job;
  _Atomic double most; /* m2/s2 */
} load_job;

/* tl_free_of in few instructions, for a body without loads, locks and sleep; most bodies are
 * such. */
static inline tl_free fall(const tl_crowd *crowd, size_t i) {
  return (tl_free){
      tl_madd(crowd->in->velocity[i], TL_R(crowd->dt), crowd->model->gravity),
      crowd->in->spin[i],
      true,
  };
}

static void load_range(void *context, size_t begin, size_t end, tl_tally *work) {
  load_job *load = context;
  const tl_crowd *crowd = load->job->crowd;
  const tl_properties *property = &crowd->model->property;
  const bool has_loads = property->force || property->torque;
  const bool is_plain = !has_loads && !crowd->in->sleep_flags;
  double most = 0;
  for (size_t i = begin; i < end; ++i) {
    const bool falls = is_plain && !(property->flags[i] & (TL_FLAG_STATIC | TL_FLAG_LOCKS));
    const tl_free f = falls ? fall(crowd, i) : tl_free_of(crowd, (uint32_t)i);
    load->job->twists[i] = (tl_twist){f.velocity, f.spin};
    most = fmax(most, (double)tl_length2(f.velocity));
    if (has_loads && !tl_body_is_static(crowd->model, i))
      tl_tally_add(work, tl_free_load_work(crowd, (uint32_t)i, &f));
  }
  tl_atomic_max(&load->most, most);
}

/* Writes the free velocities; finds the largest speed and the work of loads. */
static double load(const elastic_job *job, double *load_work) {
  load_job all = {.job = job};
  tl_tally work;
  atomic_init(&all.most, 0);
  tl_for_tally(&job->crowd->model->par, job->crowd->count, TL_BLOCK, load_range, &all, 1, &work);
  *load_work = tl_tally_value(&work);
  return sqrt(atomic_load(&all.most));
}

/* Adds the energy that the body has gained, once per body. Bodies without a contact gain none. */
static void add_gain(const elastic_job *job, uint32_t slot, uint8_t *seen, tl_tally *gain) {
  if (seen[slot] || tl_body_is_static(job->crowd->model, slot))
    return;
  seen[slot] = 1;
  const talus_vec3 before = tl_free_of(job->crowd, slot).velocity;
  const double mass = (double)job->crowd->model->property.mass[slot];
  tl_tally_add(gain,
               0.5 * mass *
                   ((double)tl_length2(job->twists[slot].velocity) - (double)tl_length2(before)));
}

/* Work of all contacts, J. */
static talus_status find_work(const elastic_job *job, double *work) {
  const tl_crowd *crowd = job->crowd;
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  uint8_t *seen;
  tl_tally gain;
  TL_TAKE(crowd->arena, crowd->count, &seen);
  memset(seen, 0, crowd->count);
  tl_tally_clear(&gain);
  for (size_t i = 0; i < job->contacts->count; ++i) {
    add_gain(job, job->contacts->data[i].a, seen, &gain);
    add_gain(job, job->contacts->data[i].b, seen, &gain);
  }
  *work = tl_tally_value(&gain);
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}

/* Counts bodies whose centre is behind a wall, and sums impulse times distance of centres over
 * pairs. */
static void look_back(const elastic_job *job, tl_solve_report *report) {
  const tl_model *model = job->crowd->model;
  for (size_t i = 0; i < job->contacts->count; ++i) {
    const tl_contact *c = &job->contacts->data[i];
    const bool is_a = !tl_body_is_static(model, c->a), is_b = !tl_body_is_static(model, c->b);
    const double ra = (double)(tl_body_shape(model, c->a)->radius * model->property.scale[c->a]);
    const double rb = (double)(tl_body_shape(model, c->b)->radius * model->property.scale[c->b]);
    if (is_a && is_b)
      report->virial += (double)tl_dot(c->impulse, c->normal) * (ra + rb + (double)c->gap);
    else if ((is_a || is_b) && (double)c->gap < -(is_a ? ra : rb))
      report->outside++;
  }
}

talus_status tl_elastic_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                              tl_solve_report *report) {
  elastic_job job = {.crowd = crowd, .contacts = contacts};
  const tl_model *model = crowd->model;
  *report = (tl_solve_report){0};
  if (crowd->joints)
    return tl_fail(TALUS_ERROR_UNSUPPORTED, "joints do not work with `elastic`; use solve: ccp");
  TL_TAKE(crowd->arena, crowd->count, &job.twists);
  TL_TAKE(crowd->arena, contacts->count, &job.acted);
  memset(job.acted, 0, contacts->count);
  const double fastest = load(&job, &report->load_work);
  job.still = TL_R(STILL * fastest);
  job.slowest = model->solve.bounce_speed >= 0
                    ? model->solve.bounce_speed
                    : fmax(0.01 * (double)tl_length(model->gravity) * crowd->dt, 1e-4 * fastest);
  for (size_t i = 0; i < contacts->count; ++i) /* impulses still hold those of the last step */
    contacts->data[i].impulse = tl_vec3(0, 0, 0);
  if (model->solve.response == TALUS_RESPONSE_PUBLISHED)
    TL_TRY(solve_published(&job, report));
  else
    TL_TRY(solve_symmetric(&job, report));
  TL_TRY(find_work(&job, &report->contact_work));
  look_back(&job, report);
  *twists = (tl_twists){.first = job.twists, .stride = sizeof *job.twists};
  return TALUS_OK;
}
