/* Bodies of a part, numbered anew: vectors of gradient methods are as long as the part, not as the
 * scene. */
#include "solve/ccp/ccp.h"

#define W TL_CCP_LANES

static void number_body(tl_ccp_numbering *to, uint32_t nobody, uint32_t body) {
  if (body == nobody || to->number[body] != TL_NONE)
    return;
  to->whole[to->count] = body;
  to->number[body] = to->count++;
}

/* In the order in which rows and links name them. */
static void number_bodies(const tl_ccp_part *part, uint32_t nobody, tl_ccp_numbering *to) {
  to->count = 0;
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    for (int i = 0; i < 2 * W; ++i)
      number_body(to, nobody, i < W ? part->rows.packs[k].a[i] : part->rows.packs[k].b[i - W]);
  for (size_t k = 0; k < part->links.count; ++k) {
    number_body(to, nobody, part->links.data[k].a);
    number_body(to, nobody, part->links.data[k].b);
  }
}

static void rename_bodies(const tl_ccp_part *part, uint32_t nobody, const tl_ccp_numbering *to) {
  for (size_t k = 0; k < part->rows.pack_count; ++k)
    for (int i = 0; i < W; ++i) {
      tl_ccp_pack *pack = &part->rows.packs[k];
      pack->a[i] = pack->a[i] == nobody ? to->count : to->number[pack->a[i]];
      pack->b[i] = pack->b[i] == nobody ? to->count : to->number[pack->b[i]];
    }
  for (size_t k = 0; k < part->links.count; ++k) {
    tl_link *link = &part->links.data[k];
    link->a = link->a == nobody ? to->count : to->number[link->a];
    link->b = link->b == nobody ? to->count : to->number[link->b];
  }
}

static void act_on(tl_ccp_part *part, tl_ccp_body *bodies, tl_ccp_tensor *tensors, size_t count) {
  part->rows.bodies = part->links.bodies = bodies;
  part->rows.tensors = part->links.tensors = tensors;
  part->rows.body_count = count;
}

talus_status tl_ccp_take_bodies(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *to) {
  tl_arena *arena = job->system->crowd->arena;
  const tl_ccp_rows *all = &job->rows;
  const uint32_t nobody = (uint32_t)all->body_count;
  tl_ccp_body *bodies;
  tl_ccp_tensor *tensors = NULL;
  TL_TAKE(arena, 2 * (part->rows.count + part->links.count), &to->whole);
  number_bodies(part, nobody, to);
  TL_TAKE(arena, (size_t)to->count + 1, &bodies);
  if (all->tensors)
    TL_TAKE(arena, (size_t)to->count + 1, &tensors);
  for (uint32_t i = 0; i <= to->count; ++i) {
    const uint32_t from = i < to->count ? to->whole[i] : nobody;
    bodies[i] = all->bodies[from];
    if (tensors)
      tensors[i] = all->tensors[from];
  }
  rename_bodies(part, nobody, to);
  act_on(part, bodies, tensors, to->count);
  return TALUS_OK;
}

void tl_ccp_give_back(const tl_ccp *job, tl_ccp_part *part, tl_ccp_numbering *from) {
  const tl_ccp_rows *all = &job->rows;
  const uint32_t count = (uint32_t)part->rows.body_count, nobody = (uint32_t)all->body_count;
  for (size_t i = 0; i < count; ++i) {
    if (part->rows.bodies[i].inv_mass > 0)
      all->bodies[from->whole[i]] = part->rows.bodies[i];
    from->number[from->whole[i]] = TL_NONE;
  }
  for (size_t k = 0; k < part->links.count; ++k) {
    tl_link *link = &part->links.data[k];
    link->a = link->a == count ? nobody : from->whole[link->a];
    link->b = link->b == count ? nobody : from->whole[link->b];
  }
  act_on(part, all->bodies, all->tensors, all->body_count);
}
