/* Joints of the parts: their warm start if contacts touch jointed bodies (solve/system/drift.c),
 * and the parts that are solved directly. */
#include "solve/ccp/ccp.h"

typedef struct ease {
  const tl_ccp *job;
  uint8_t *touched; /* by pack: whether some of its contacts touch a body that joints hold */
} ease;

static void ease_packs(void *context, size_t begin, size_t end) {
  const ease *e = context;
  const tl_links *links = &e->job->links;
  const tl_ccp_rows *rows = &e->job->rows;
  for (size_t k = begin; k < end; ++k) {
    tl_ccp_pack *pack = &rows->packs[k];
    e->touched[k] = 0;
    for (uint32_t i = 0; i < TL_CCP_LANES; ++i) {
      const uint32_t a = pack->a[i], b = pack->b[i];
      if (!tl_links_touch(links, a, b))
        continue;
      e->touched[k] = 1;
      tl_ccp_put_lane(&pack->impulse, i,
                      tl_links_ease_push(links, a, b, tl_ccp_lane(&pack->impulse, i)));
      if (rows->rolls) {
        tl_ccp_lanes *torque = &rows->rolls[k].torque;
        tl_ccp_put_lane(torque, i, tl_links_ease_push(links, a, b, tl_ccp_lane(torque, i)));
      }
    }
  }
}

/* Marks contacts with jointed bodies, and reduces the warm start of the joints of parts that have
 * such contacts. */
static talus_status ease_parts(tl_ccp *job) {
  const tl_system *system = job->system;
  const size_t packs = job->rows.pack_count;
  ease e = {.job = job};
  TL_TAKE(system->crowd->arena, packs, &e.touched);
  tl_for(&system->model->par, packs, 128, ease_packs, &e);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp_part *part = &job->parts[i];
    bool eased = system->settings->method != TALUS_GAUSS_SEIDEL;
    for (size_t k = 0; k < part->rows.pack_count && !eased; ++k)
      eased = e.touched[part->first_pack + k] != 0;
    if (eased)
      tl_links_ease(&part->links);
  }
  return TALUS_OK;
}

static talus_status factor_parts(tl_ccp *job) {
  tl_link_graph graph;
  TL_TRY(tl_links_make_graph(&job->links, &graph));
  for (size_t i = 0; i < job->part_count; ++i)
    if (job->parts[i].links.count > 0)
      TL_TRY(tl_links_factor(&job->links, &graph, &job->parts[i].links));
  return TALUS_OK;
}

talus_status tl_ccp_load_links(tl_ccp *job) {
  const tl_system *system = job->system;
  const bool is_warm = system->settings->warm_start;
  uint32_t *owner;
  if (job->links.count == 0)
    return TALUS_OK;
  TL_TRY(tl_links_load(&job->links));
  if (is_warm)
    TL_TRY(tl_links_warm(&job->links));
  TL_TAKE(system->crowd->arena, system->crowd->count + 1, &owner);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_links *links = &job->parts[i].links;
    *links = tl_links_cut(&job->links, links->first, links->count);
    if (links->count > 0)
      TL_TRY(tl_links_plan(links, owner));
  }
  for (size_t i = 0; i < job->part_count; ++i)
    job->links.rows += job->parts[i].links.rows;
  if (is_warm)
    TL_TRY(ease_parts(job));
  return tl_links_are_direct(&job->links) ? factor_parts(job) : TALUS_OK;
}
