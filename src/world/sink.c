/* Reports bodies that are where no contact would let them be, once each, under every solver. Steps
 * that are too long, springs that are too soft and iterations that ended early let bodies through
 * walls; without this report a run would lose them in silence. */
#include "world/world.h"

#include <stdio.h>

#define NAMED_MOST 8 /* more are counted */

/* depth: m; 0: it passed through. */
static void tell(talus_world *world, uint32_t who, uint32_t into, double depth) {
  const tl_model *model = &world->model;
  const bool is_penalty = model->solve.kind == TALUS_SOLVE_PENALTY;
  char body[160], more[96] = "";
  snprintf(body, sizeof body, "%s", tl_world_describe(world, who));
  const char *other = tl_world_describe(world, into);
  const char *advice = depth > 0 && world->steps == 1
                           ? "bodies that do not overlap at the start, or a smaller step"
                       : is_penalty ? "a smaller step or stiffer materials"
                                    : "a smaller step or more iterations";
  const double half =
      (double)(world->widths.data[model->property.shape[who]] * model->property.scale[who]);
  if (world->sunk == NAMED_MOST)
    snprintf(more, sizeof more, " (others that do so will be counted, not named)");
  if (!(depth > 0))
    tl_world_offend(world, TALUS_STRICT_SINKING,
                    "%s passed through %s at t = %g s; that needs %s%s", body, other,
                    talus_world_time(world), advice, more);
  else
    tl_world_offend(world, TALUS_STRICT_SINKING,
                    "%s sank %.3g m into %s at t = %g s, deeper than half its size (%.3g m); that "
                    "needs %s%s",
                    body, depth, other, talus_world_time(world), half, advice, more);
}

/* Counts and names a body, unless it was before. */
static void name_once(talus_world *world, uint32_t who, uint32_t into, double depth) {
  if (world->model.property.flags[who] & TL_FLAG_SUNK)
    return;
  world->model.property.flags[who] |= TL_FLAG_SUNK;
  if (world->sunk++ == 0)
    world->sunk_first = world->model.property.uid[who];
  if (world->sunk <= NAMED_MOST)
    tell(world, who, into, depth);
}

static void look_at(talus_world *world, const tl_contact *c, const tl_passage *passage) {
  uint32_t who;
  const tl_sinking how = tl_contact_find_sinking(&world->model, &world->widths, passage, c, &who);
  if (how != TL_SINKS_NOT)
    name_once(world, who, who == c->a ? c->b : c->a, how == TL_SINKS_DEEP ? -(double)c->gap : 0);
}

/* With local time each contact belongs to the last step of its bodies, which is shorter; nothing
 * passes through anything within a step. */
talus_status tl_world_watch(talus_world *world) {
  const bool is_local = world->model.step == TALUS_STEP_LOCAL;
  const tl_passage passage = {.position = world->state.position,
                              .rotation = world->state.rotation,
                              .velocity = world->state.velocity,
                              .spin = world->state.spin,
                              .dt = is_local ? 0 : world->unfinished.dt};
  if (!world->last.has_depths) {
    TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE_CONTACTS, TL_READ));
    TL_TRY(tl_contact_measure(&world->model, &world->widths, &passage, &world->contacts,
                              &world->arena, &world->last.depths));
  }
  if (!world->last.depths.is_suspect && world->passings.count == 0)
    return TALUS_OK;
  TL_TRY(tl_need(&world->where, TL_THE_BODIES | TL_THE_CONTACTS, TL_READ));
  TL_TRY(tl_need(&world->where, TL_THE(flags), TL_READ | TL_WRITE));
  for (size_t i = 0; i < world->contacts.count; ++i)
    look_at(world, &world->contacts.data[i], &passage);
  for (size_t i = 0; i < world->passings.count; ++i)
    name_once(world, world->passings.data[i].a, world->passings.data[i].b, 0);
  return TALUS_OK;
}
