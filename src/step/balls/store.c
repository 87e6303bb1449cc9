/* The list of neighbours as a holder of rows (crowd/residency.h): brings state and contacts home on
 * request. */
#include "step/balls/list.h"

static talus_vec3 get(const talus_real *from) { return tl_vec3(from[0], from[1], from[2]); }

typedef struct commit_job {
  const tl_ball_list *list;
  tl_state *state;
} commit_job;

static void commit_range(void *context, size_t begin, size_t end) {
  const commit_job *job = context;
  tl_state *out = job->state;
  for (size_t i = begin; i < end; ++i) {
    const tl_ball_rows *rows = &job->list->rows.data[i / TL_BALL_LANES];
    const tl_ball *ball = &job->list->ball.data[i];
    const size_t lane = i % TL_BALL_LANES;
    const uint32_t slot = job->list->slot.data[i];
    if (!(ball->inv_mass > 0))
      continue;
    out->position[slot] = tl_dvec3(rows->x[0][lane], rows->x[1][lane], rows->x[2][lane]);
    out->rotation[slot] =
        tl_quat(rows->q[0][lane], rows->q[1][lane], rows->q[2][lane], rows->q[3][lane]);
    out->velocity[slot] = get(ball->v);
    out->spin[slot] = get(ball->w);
    const tl_ball_pure *pure = job->list->has_loads ? &job->list->pure.data[i] : NULL;
    out->spring_force[slot] = get(pure ? pure->spring_force : ball->spring_force);
    out->spring_torque[slot] = get(pure ? pure->spring_torque : ball->spring_torque);
  }
}

static void bring_state(const tl_balls *balls) {
  commit_job job = {&balls->list, balls->state};
  tl_for(&balls->model->par, balls->list.count, 512, commit_range, &job);
}

/* True if the contact's a is the candidate's other. */
static bool is_turned(const tl_ball_list *list, size_t k) {
  return list->slot.data[list->owner.data[list->canonical.data[k]]] != list->near.data[k].a;
}

static talus_dvec3 place_of(const tl_ball_list *list, uint32_t rank) {
  const tl_ball_rows *rows = &list->rows.data[rank / TL_BALL_LANES];
  const size_t lane = rank % TL_BALL_LANES;
  return tl_dvec3(rows->x[0][lane], rows->x[1][lane], rows->x[2][lane]);
}

static tl_contact between_balls(const tl_ball_list *list, const tl_ball_near *near) {
  const uint32_t a = list->rank.data[near->a], b = list->rank.data[near->b];
  const double radius_a = list->place.data[a].radius, radius_b = list->place.data[b].radius;
  const talus_dvec3 x = place_of(list, a), d = tl_dsub(place_of(list, b), x);
  const double distance = tl_dlength(d);
  const talus_dvec3 n = distance > 0 ? tl_dscale(d, 1 / distance) : tl_dvec3(0, 0, 1);
  const double arm = radius_a - 0.5 * (radius_a + radius_b - distance);
  return (tl_contact){.a = near->a,
                      .b = near->b,
                      .point = tl_dvec3(x.x + arm * n.x, x.y + arm * n.y, x.z + arm * n.z),
                      .normal = tl_narrow(n),
                      .gap = (talus_real)(distance - radius_a - radius_b)};
}

static tl_contact with_wall(const tl_ball_list *list, const tl_ball_near *near) {
  const tl_ball_wall *flat = &list->flats.data[near->wall];
  const tl_flat_body *flat_body = &list->flat_bodies.data[flat->flat_body];
  const talus_dvec3 x = place_of(list, flat->ball);
  const double r = list->place.data[flat->ball].radius;
  const bool first = flat_body->slot == near->a;
  double s = r;
  talus_dvec3 away = {0, 0, 1};
  (void)tl_ball_above_side(flat_body, flat->side, r, x, &s, &away);
  return (tl_contact){.a = near->a,
                      .b = near->b,
                      .feature_a = first ? flat->side : 0,
                      .feature_b = first ? 0 : flat->side,
                      .point = tl_dsub(x, tl_dscale(away, 0.5 * (r + s))),
                      .normal = tl_narrow(tl_dscale(away, first ? 1 : -1)),
                      .gap = (talus_real)(s - r)};
}

static tl_contact contact_of(const tl_ball_list *list, size_t k, double dt) {
  const tl_ball_near *near = &list->near.data[k];
  const tl_ball_effect *e = &list->effect.data[list->at.data[list->canonical.data[k]]];
  const talus_vec3 force = tl_vec3(e->force[0], e->force[1], e->force[2]);
  tl_contact contact = near->wall == TL_NONE ? between_balls(list, near) : with_wall(list, near);
  contact.impulse = tl_scale(force, (talus_real)(is_turned(list, k) ? -dt : dt));
  return contact;
}

/* Takes memory for as many contacts as there are now. Without it there are no contacts, rather than
 * those of earlier steps. */
static talus_status make_room(const tl_ball_list *list, tl_contacts *contacts) {
  size_t all = list->wall_contacts.count;
  for (size_t c = 0; c < list->near.count; ++c)
    all += list->at.data[c] != 0;
  const size_t room = all + all / 16; /* the number varies from step to step */
  tl_contacts_clear(contacts);
  if (contacts->capacity < all)
    TL_TRY(tl_array_reserve(contacts, room));
  if (contacts->springs.capacity < all)
    TL_TRY(tl_array_reserve(&contacts->springs, room));
  TL_TRY(tl_array_resize(contacts, all));
  return tl_array_resize(&contacts->springs, all);
}

talus_status tl_balls_reserve(const tl_ball_list *list, tl_contacts *contacts) {
  const size_t most = list->near.count + list->wall_contacts.count;
  TL_BALLS_ROOM(contacts, most);
  TL_BALLS_ROOM(&contacts->springs, most);
  return TALUS_OK;
}

static talus_status bring_contacts(const tl_balls *balls) {
  const tl_ball_list *list = &balls->list;
  tl_contacts *contacts = balls->contacts;
  TL_TRY(make_room(list, contacts));
  const tl_contacts *walls = &list->wall_contacts;
  size_t n = 0, w = 0;
  for (size_t k = 0; k <= list->canonical.count; ++k) {
    const bool ends = k == list->canonical.count;
    const uint32_t c = ends ? 0 : list->canonical.data[k];
    if (!ends && list->at.data[c] == 0)
      continue;
    const tl_contact next = ends ? (tl_contact){0} : contact_of(list, k, balls->dt);
    for (; w < walls->count && (ends || tl_contact_compare(next.a, next.b, next.feature_a,
                                                           next.feature_b, &walls->data[w]) > 0);
         ++w, ++n) {
      contacts->data[n] = walls->data[w];
      contacts->springs.data[n] = walls->springs.data[w];
    }
    if (ends)
      break;
    const tl_ball_spring *s = &list->spring.data[c];
    const bool slides = list->effect.data[list->at.data[c]].slides > 0;
    contacts->data[n] = next;
    const talus_vec3 slip = tl_vec3(s->slip[0], s->slip[1], s->slip[2]);
    contacts->springs.data[n++] = (tl_spring){tl_scale(slip, is_turned(list, k) ? -1 : 1),
                                              slides ? -s->stiffness : s->stiffness,
                                              {0, 0, 0},
                                              0};
  }
  contacts->dt = balls->dt;
  return TALUS_OK;
}

/* ---- callbacks of a holder ------------------------------------------------------------------- */

/* Brings the state first; its memory exists already. */
static talus_status bring(void *context, tl_field_set *fields) {
  const tl_balls *balls = context;
  const tl_field_set asked = *fields;
  *fields = 0;
  if (asked & TL_THE_STATE) {
    bring_state(balls);
    *fields |= TL_THE_STATE;
  }
  if (asked & TL_THE_CONTACTS) {
    TL_TRY(bring_contacts(balls));
    *fields |= TL_THE_CONTACTS;
  }
  return TALUS_OK;
}

static tl_field_set written(void *context, tl_field_set fields) {
  (void)context;
  return fields & TL_BALLS_HOLD ? TL_THE_WHOLE : 0;
}

static void let_go(void *context) { (void)context; } /* the list is made anew when needed */

static void end(void *context) {
  tl_balls *balls = context;
  void *block = balls;
  tl_ball_list_free(&balls->list);
  (void)tl_resize(&block, sizeof *balls, 0);
}

static const tl_holder holder = {
    .name = "balls", .bring = bring, .written = written, .let_go = let_go, .end = end};

tl_balls *tl_balls_of(const tl_residency *where) {
  return where->holder == &holder ? where->context : NULL;
}

talus_status tl_balls_register(tl_residency *where, tl_balls **balls) {
  *balls = tl_balls_of(where);
  if (*balls)
    return TALUS_OK;
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, sizeof **balls));
  *balls = memset(block, 0, sizeof **balls);
  (*balls)->where = where;
  tl_hold(where, &holder, *balls);
  return TALUS_OK;
}
