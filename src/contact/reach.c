/* Judges contacts by relative motion. */
#include "contact/reach.h"

#include "crowd/free.h"
#include "joint/joint.h"

#include <math.h>

#define SLACK TL_R(2) /* times |gravity| h^2 */
#define SLOW  TL_R(4) /* times |gravity| h: bodies at rest close at 1 */

bool tl_reach_is_on(const tl_model *model) {
  return model->solve.kind != TALUS_SOLVE_PENALTY && model->solve.kind != TALUS_SOLVE_ELASTIC &&
         model->margin < 0 && model->step != TALUS_STEP_ADAPTIVE;
}

/* Distance by which rotation takes a body's farthest point off the straight line of its velocity,
 * m. */
static talus_real bend_of(const tl_model *model, talus_real h, uint32_t slot, talus_vec3 spin) {
  const tl_shape *shape = tl_body_shape(model, slot);
  if (shape->kind == TALUS_SPHERE)
    return 0;
  return h * h * tl_length2(spin) * shape->radius * model->property.scale[slot];
}

talus_real tl_reach_slow(const tl_model *model, double dt) {
  return SLOW * tl_length(model->gravity) * TL_R(dt);
}

talus_real tl_reach_slack(const tl_model *model, double dt) {
  const talus_real h = TL_R(dt);
  return SLACK * tl_length(model->gravity) * h * h;
}

talus_real tl_reach_spare(const tl_model *model, double dt, uint32_t slot, talus_vec3 spin) {
  const talus_real h = TL_R(dt);
  return SLACK / 2 * h * h * tl_length(model->gravity) + bend_of(model, h, slot, spin);
}

/* ---- motion ---------------------------------------------------------------------------------- */

static void find_drifts(void *context, size_t begin, size_t end) {
  tl_reach *reach = context;
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = tl_crowd_slot(reach->crowd, i);
    const tl_free f = tl_free_of(reach->crowd, slot);
    reach->drifts[slot] =
        (tl_drift){f.velocity, f.spin, bend_of(reach->model, reach->h, slot, f.spin)};
  }
}

/* Arms as in solvers: planes have no images. */
static void find_arms(const tl_reach *reach, const tl_contact *c, talus_vec3 *a, talus_vec3 *b) {
  const tl_model *model = reach->model;
  const talus_dvec3 from = reach->crowd->in->position[c->a], to = reach->crowd->in->position[c->b];
  const bool has_images = model->domain.enabled && tl_body_shape(model, c->a)->bounded &&
                          tl_body_shape(model, c->b)->bounded;
  const talus_dvec3 between = has_images ? tl_model_offset(model, from, to) : tl_dsub(to, from);
  *a = tl_between(from, c->point);
  *b = tl_narrow(tl_dsub(tl_dsub(c->point, from), between));
}

tl_meeting tl_reach_meet(const tl_reach *reach, const tl_contact *c) {
  const tl_drift *a = &reach->drifts[c->a], *b = &reach->drifts[c->b];
  tl_meeting m;
  find_arms(reach, c, &m.arm_a, &m.arm_b);
  m.at_a = tl_add(a->velocity, tl_cross(a->spin, m.arm_a));
  m.at_b = tl_add(b->velocity, tl_cross(b->spin, m.arm_b));
  m.velocity = tl_sub(m.at_b, m.at_a);
  m.speed = tl_dot(m.velocity, c->normal);
  return m;
}

/* tl_reach_meet(...).speed with fewer memory accesses if possible: the contact point of a sphere is
 * on the line of the normal through its centre. */
static talus_real parting_speed(const tl_reach *reach, const tl_contact *c) {
  const tl_drift *a = &reach->drifts[c->a], *b = &reach->drifts[c->b];
  if (a->bend > 0 || b->bend > 0)
    return tl_reach_meet(reach, c).speed;
  return tl_dot(tl_sub(b->velocity, a->velocity), c->normal);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* The effect of joints on velocities is not known yet: contacts of jointed bodies are judged by the
 * bodies' relative speed in any direction. */
static talus_real speed_slack(const tl_reach *reach, const tl_contact *c) {
  const bool is_jointed = reach->is_jointed && (reach->is_jointed[c->a] || reach->is_jointed[c->b]);
  if (!is_jointed && !reach->is_spent)
    return 0;
  const tl_drift *a = &reach->drifts[c->a], *b = &reach->drifts[c->b];
  const tl_model *model = reach->model;
  const talus_real size_a = tl_body_shape(model, c->a)->radius * model->property.scale[c->a];
  const talus_real size_b = tl_body_shape(model, c->b)->radius * model->property.scale[c->b];
  return reach->h * (tl_length(tl_sub(b->velocity, a->velocity)) + size_a * tl_length(a->spin) +
                     size_b * tl_length(b->spin));
}

/* The convex relaxation keeps sliding bodies apart by h mu |v_t| (docs/theory/ccp.md); at most as
 * far as margins reach. */
static talus_real dilation(const tl_reach *reach, const tl_contact *c) {
  if (reach->model->solve.friction != TALUS_FRICTION_CCP)
    return 0;
  const tl_meeting m = tl_reach_meet(reach, c);
  return reach->h * tl_min(tl_model_law(reach->model, c->a, c->b)->friction, 1) *
         tl_length(tl_madd(m.velocity, -m.speed, c->normal));
}

static talus_real slack_of(const tl_reach *reach, const tl_contact *c) {
  const talus_real near = reach->slack + reach->drifts[c->a].bend + reach->drifts[c->b].bend;
  const bool is_plain =
      !reach->is_jointed && !reach->is_spent && reach->model->solve.friction != TALUS_FRICTION_CCP;
  return is_plain ? near : near + speed_slack(reach, c) + dilation(reach, c);
}

/* Most contacts of a heap at rest need only margins, which bound the speed of closing. */
static uint8_t judge(const tl_reach *reach, const tl_contact *c) {
  const talus_real room = reach->margins[c->a] + reach->margins[c->b];
  if (tl_pair_is_dormant(reach->model, reach->crowd->in, c->a, c->b))
    return TL_REACH_NEAR;
  if (c->gap <= reach->slack && room <= reach->h * reach->slow + reach->slack)
    return TL_REACH_NEAR;
  const talus_real closing = -parting_speed(reach, c), way = reach->h * closing;
  if (closing > reach->slow && c->gap < way)
    return TL_REACH_STRIKES;
  return c->gap <= reach->slack || c->gap <= tl_max(way, 0) + slack_of(reach, c) ? TL_REACH_NEAR
                                                                                 : TL_REACH_FAR;
}

typedef struct judge_job {
  const tl_reach *reach;
  const tl_contact *contacts;
} judge_job;

static void judge_range(void *context, size_t begin, size_t end) {
  const judge_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->reach->verdicts[i] = judge(job->reach, &job->contacts[i]);
}

talus_status tl_reach_judge(tl_reach *reach, const tl_contacts *contacts) {
  const tl_par *par = &reach->model->par;
  judge_job job = {reach, contacts->data};
  if (contacts->count > reach->verdict_room) {
    reach->verdict_room = contacts->count + contacts->count / 8;
    TL_TAKE(reach->crowd->arena, reach->verdict_room, &reach->verdicts);
  }
  tl_for_uneven(par, contacts->count, 512, judge_range, &job);
  if (!memchr(reach->verdicts, TL_REACH_STRIKES, contacts->count))
    return TALUS_OK;
  return tl_push_spread(reach, contacts);
}

bool tl_reach_holds(const tl_reach *reach, const tl_contact *c) {
  const tl_meeting m = tl_reach_meet(reach, c);
  const talus_real closing = tl_push_along(reach, c->a, m.arm_a, m.at_a, c->normal) +
                             tl_push_along(reach, c->b, m.arm_b, m.at_b, tl_neg(c->normal)) -
                             m.speed;
  return c->gap <= reach->h * tl_max(closing, 0) + slack_of(reach, c);
}

/* True if a contact stays because visits are used up and its bodies are fast enough, for any spins
 * and with a margin for rounding. This decides most contacts then. */
static bool is_fast_enough(const tl_reach *reach, const tl_contact *c) {
  const talus_vec3 u = tl_sub(reach->drifts[c->b].velocity, reach->drifts[c->a].velocity);
  return reach->is_spent && c->gap <= TL_R(0.9999) * (reach->slack + reach->h * tl_length(u));
}

/* True if a contact that motion alone does not close stays: it has impulses to keep, or a push may
 * close it. */
static bool stays(const tl_reach *reach, const tl_contacts *contacts, size_t i) {
  const tl_contact *c = &contacts->data[i];
  if (tl_contacts_have_law_states(contacts) &&
      (contacts->law_states.data[i].state & TL_CONTACT_BONDED))
    return true;
  return reach->is_pushed &&
         (reach->is_spent || reach->is_pushed[c->a] || reach->is_pushed[c->b]) &&
         (is_fast_enough(reach, c) || tl_reach_holds(reach, c));
}

typedef struct sift_job {
  const tl_reach *reach;
  const tl_contacts *contacts;
} sift_job;

static void decide_range(void *context, size_t begin, size_t end) {
  const sift_job *job = context;
  uint8_t *verdicts = job->reach->verdicts;
  for (size_t i = begin; i < end; ++i)
    if (verdicts[i] == TL_REACH_FAR && stays(job->reach, job->contacts, i))
      verdicts[i] = TL_REACH_NEAR;
}

/* Most contacts stay, in long runs, which are moved as blocks. */
void tl_reach_sift(tl_reach *reach, tl_contacts *contacts) {
  const bool law_states = tl_contacts_have_law_states(contacts);
  const size_t count = contacts->count;
  sift_job job = {reach, contacts};
  tl_for_uneven(&reach->model->par, count, 1024, decide_range, &job);
  size_t kept = 0;
  for (size_t i = 0; i < count;) {
    const uint8_t *far = memchr(reach->verdicts + i, TL_REACH_FAR, count - i);
    const size_t end = far ? (size_t)(far - reach->verdicts) : count, run = end - i;
    if (kept != i && run > 0) {
      memmove(contacts->data + kept, contacts->data + i, run * sizeof *contacts->data);
      if (law_states)
        memmove(contacts->law_states.data + kept, contacts->law_states.data + i,
                run * sizeof *contacts->law_states.data);
    }
    kept += run;
    i = end + 1;
  }
  contacts->count = kept;
  if (law_states)
    contacts->law_states.count = kept;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static talus_status find_jointed(tl_reach *reach) {
  const tl_joints *joints = reach->crowd->joints;
  if (!joints || joints->all.count == 0)
    return TALUS_OK;
  TL_TAKE(reach->crowd->arena, reach->model->bodies, &reach->is_jointed);
  memset(reach->is_jointed, 0, reach->model->bodies);
  for (size_t i = 0; i < joints->all.count; ++i) {
    const tl_joint *joint = &joints->all.data[i];
    if (!tl_joint_acts_within(joint, reach->crowd))
      continue;
    if (joint->a != TL_NONE)
      reach->is_jointed[joint->a] = 1;
    if (joint->b != TL_NONE)
      reach->is_jointed[joint->b] = 1;
  }
  return TALUS_OK;
}

talus_status tl_reach_begin(const tl_crowd *crowd, const talus_real *margins, tl_reach *reach) {
  const tl_model *model = crowd->model;
  *reach = (tl_reach){.model = model,
                      .crowd = crowd,
                      .margins = margins,
                      .h = TL_R(crowd->dt),
                      .slow = tl_reach_slow(model, crowd->dt),
                      .slack = tl_reach_slack(model, crowd->dt)};
  TL_TAKE(crowd->arena, model->bodies, &reach->drifts);
  tl_for(&model->par, crowd->count, 1024, find_drifts, reach);
  return find_jointed(reach);
}
