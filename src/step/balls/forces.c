/* One pass over the candidates of a block, and the scalar visit of a pack: the reference. */
#include "step/balls/forces.h"
#include "base/isa.h"

#include <stdatomic.h>

static _Atomic bool scalar_only;

void tl_ball_use_scalar(bool scalar) { atomic_store(&scalar_only, scalar); }

bool tl_ball_uses_lanes(void) { return !atomic_load(&scalar_only); }

void tl_ball_list_free(tl_ball_list *list) {
  tl_array_free(&list->skin);
  tl_array_free(&list->leapers);
  tl_array_free(&list->rank);
  tl_array_free(&list->slot);
  tl_array_free(&list->rows);
  tl_array_free(&list->place);
  tl_array_free(&list->ball);
  tl_array_free(&list->kept);
  tl_array_free(&list->start);
  tl_array_free(&list->owner);
  tl_array_free(&list->other);
  tl_array_free(&list->at);
  tl_array_free(&list->spring);
  tl_array_free(&list->material);
  tl_array_free(&list->pure);
  tl_array_free(&list->near);
  tl_array_free(&list->canonical);
  tl_array_free(&list->entry);
  tl_array_free(&list->entry_start);
  tl_array_free(&list->first_owner);
  tl_array_free(&list->waits);
  tl_array_free(&list->flat_bodies);
  tl_array_free(&list->flats);
  tl_array_free(&list->block_flats);
  tl_array_free(&list->block_start);
  tl_array_free(&list->effect);
  tl_array_free(&list->walls);
  tl_array_free(&list->wall_balls);
  tl_array_free(&list->has_wall);
  tl_contacts_release(&list->wall_contacts);
  tl_contacts_release(&list->wall_before);
}

/* ---- the scalar visit ------------------------------------------------------------------------ */

static tl_spring_ball ball_of(const tl_ball_job *job, const tl_ball *ball) {
  talus_vec3 velocity_kick, spin_kick;
  tl_ball_kick(job, ball, &velocity_kick, &spin_kick);
  const tl_spring_ball r = {
      {ball->v[0] + velocity_kick.x, ball->v[1] + velocity_kick.y, ball->v[2] + velocity_kick.z},
      {ball->w[0] + spin_kick.x, ball->w[1] + spin_kick.y, ball->w[2] + spin_kick.z},
      ball->radius,
      ball->inv_mass,
      {velocity_kick.x, velocity_kick.y, velocity_kick.z},
      {spin_kick.x, spin_kick.y, spin_kick.z},
      ball->curvature};
  return r;
}

static void visit(const tl_ball_job *job, const tl_ball_pack *pack, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  for (uint32_t i = 0; i < pack->count; ++i) {
    const uint32_t p = pack->a[i], q = pack->b[i];
    const tl_spring_ball a = ball_of(job, &list->ball.data[p]);
    const tl_spring_ball b = ball_of(job, &list->ball.data[q]);
    const tl_spring_law *law =
        &job->laws[list->material.data[p] * job->materials + list->material.data[q]];
    tl_spring_contact t = {.normal = law->normal,
                           .tangent = law->tangent,
                           .damping = law->damping,
                           .tangent_damping = law->tangent_damping,
                           .friction = law->friction,
                           .cohesion = law->cohesion};
    const tl_spring_vec d = {pack->dx[i], pack->dy[i], pack->dz[i]};
    tl_spring_balls(&a, &b, d, &t);
    tl_ball_spring *spring = &list->spring.data[pack->candidate[i]];
    const talus_real is_old = pack->is_old[i];
    tl_spring_vec slip = {is_old > 0 ? spring->slip[0] : 0, is_old > 0 ? spring->slip[1] : 0,
                          is_old > 0 ? spring->slip[2] : 0};
    const tl_spring_pushed r =
        tl_spring_push(&t, job->is_hertz, job->h, is_old > 0 ? spring->stiffness : 0, &slip);
    const tl_spring_vec turn = tl_spring_cross(t.n, r.force);
    *spring = (tl_ball_spring){{slip.x, slip.y, slip.z}, r.tangent_stiffness};
    const uint32_t at = pack->effect + i;
    list->effect.data[at] = (tl_ball_effect){{r.force.x, r.force.y, r.force.z},
                                             {turn.x, turn.y, turn.z},
                                             TL_R(0.5) * t.overlap,
                                             r.slides ? TL_R(1) : TL_R(0)};
    tl_ball_note_overlap(sums, t.overlap, tl_min(a.radius, b.radius));
    tl_tally_add(&sums->of[TL_BALL_ELASTIC], (double)r.elastic);
    tl_tally_add(&sums->of[TL_BALL_STORED], (double)r.stored);
    tl_tally_add(&sums->of[TL_BALL_DAMPING], (double)r.damping);
    tl_tally_add(&sums->of[TL_BALL_FRICTION], (double)r.friction);
  }
}

/* ---- candidates ------------------------------------------------------------------------------ */

static void push_block(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  tl_ball_list *list = job->list;
  const size_t first = block * TL_BALL_BLOCK;
  const size_t last = first + TL_BALL_BLOCK < list->count ? first + TL_BALL_BLOCK : list->count;
  const tl_ball_place *places = list->place.data;
  uint32_t *at = list->at.data;
  tl_ball_pack pack = {.effect = list->block_start.data[block]};
  for (uint32_t c = list->start.data[first]; c < list->start.data[last]; ++c) {
    const tl_ball_place *a = &places[list->owner.data[c]], *b = &places[list->other.data[c]];
    const double dx = b->x - a->x, dy = b->y - a->y, dz = b->z - a->z, sum = a->radius + b->radius;
    const double square = dx * dx + dy * dy + dz * dz;
    const bool is_old = at[c] != 0;
    at[c] = 0;
    if (!(square < sum * sum))
      continue;
    const uint32_t n = pack.count++;
    pack.a[n] = list->owner.data[c];
    pack.b[n] = list->other.data[c];
    pack.candidate[n] = c;
    pack.dx[n] = (talus_real)dx, pack.dy[n] = (talus_real)dy, pack.dz[n] = (talus_real)dz;
    if (square < TL_BALL_SAME_PLACE) {
      pack.dx[n] = pack.dy[n] = 0;
      pack.dz[n] = tl_ball_tiny_way(list, pack.a[n], pack.b[n]);
    }
    pack.is_old[n] = is_old ? TL_R(1) : TL_R(0);
    at[c] = pack.effect + n;
    if (pack.count < TL_BALL_LANES)
      continue;
    visit(job, &pack, sums);
    pack.effect += pack.count;
    pack.count = 0;
  }
  visit(job, &pack, sums);
  sums->contacts += pack.effect + pack.count - list->block_start.data[block];
}

void tl_ball_push_block(const tl_ball_job *job, size_t block, tl_ball_sums *sums) {
  static tl_ball_push_fn *const ways[TL_ISA_COUNT] = {[TL_ISA_GENERIC] = tl_ball_push_block_generic,
                                                      [TL_ISA_AVX2] = tl_ball_push_block_avx2,
                                                      [TL_ISA_AVX512] = tl_ball_push_block_avx512};
  (atomic_load(&scalar_only) ? push_block : ways[tl_isa_now()])(job, block, sums);
}
