/* From contacts to packs of rows. */
#include "solve/ccp/refresh.h"
#include "solve/ccp/visits.h"

/* Most pairs of materials that are compared to find whether all have one coefficient of
 * friction. */
#define MOST_LAWS 256

static void put_row(tl_ccp_pack *pack, uint32_t lane, const tl_ccp_row *row) {
  tl_ccp_put_lane(&pack->normal, lane, row->normal);
  pack->reach_a[lane] = tl_dot(row->arm_a, row->normal);
  pack->reach_b[lane] = tl_dot(row->arm_b, row->normal);
  tl_ccp_put_lane(&pack->impulse, lane, row->impulse);
  pack->bias[lane] = row->bias;
  pack->en[lane] = row->en;
  pack->et[lane] = row->et;
}

/* The contacts of a pack and their bodies are far apart in memory, so both are prefetched. */
static void prefetch_contacts(const tl_ccp *job, size_t pack) {
  if (pack >= job->rows.pack_count)
    return;
  for (uint32_t row = job->rows.pack_row[pack]; row < job->rows.pack_row[pack + 1]; ++row) {
    const tl_contact *c = &job->system->contacts->data[job->rows.contact[row]];
    __builtin_prefetch(c);
    __builtin_prefetch(&c->impulse.z);
  }
}

static void prefetch_bodies(const tl_ccp *job, size_t pack) {
  if (pack >= job->rows.pack_count)
    return;
  for (uint32_t row = job->rows.pack_row[pack]; row < job->rows.pack_row[pack + 1]; ++row) {
    const tl_contact *c = &job->system->contacts->data[job->rows.contact[row]];
    __builtin_prefetch(&job->system->crowd->in->position[c->a]);
    __builtin_prefetch(&job->system->crowd->in->position[c->b]);
    __builtin_prefetch(&job->system->bodies[tl_system_body(job->system, c->a)].inv_mass);
    __builtin_prefetch(&job->system->bodies[tl_system_body(job->system, c->b)].inv_mass);
  }
}

void tl_ccp_fill_packs(const tl_ccp *job, size_t begin, size_t end) {
  const uint32_t nobody = (uint32_t)job->system->crowd->count;
  for (size_t i = begin; i < end; ++i) {
    tl_ccp_pack *pack = &job->rows.packs[i];
    const uint32_t first = job->rows.pack_row[i], count = job->rows.pack_row[i + 1] - first;
    prefetch_contacts(job, i + 2);
    prefetch_bodies(job, i + 1);
    memset(pack, 0, sizeof *pack);
    if (job->rows.arms)
      memset(&job->rows.arms[i], 0, sizeof job->rows.arms[i]);
    if (job->rows.frictions)
      memset(&job->rows.frictions[i], 0, sizeof job->rows.frictions[i]);
    for (uint32_t lane = 0; lane < TL_CCP_LANES; ++lane) {
      pack->a[lane] = pack->b[lane] = nobody;
      job->rows.gaps[i * TL_CCP_LANES + lane] = 0;
      if (lane >= count)
        continue;
      const tl_contact *c = &job->system->contacts->data[job->rows.contact[first + lane]];
      pack->a[lane] = tl_system_body(job->system, c->a);
      pack->b[lane] = tl_system_body(job->system, c->b);
      const tl_ccp_row row = tl_system_make_row(job->system, c, pack->a[lane], pack->b[lane]);
      job->rows.gaps[i * TL_CCP_LANES + lane] = tl_system_gap(job->system, c);
      put_row(pack, lane, &row);
      if (job->rows.frictions)
        job->rows.frictions[i].of[lane] = row.friction;
      if (job->rows.arms) {
        tl_ccp_put_lane(&job->rows.arms[i].a, lane, row.arm_a);
        tl_ccp_put_lane(&job->rows.arms[i].b, lane, row.arm_b);
      }
    }
  }
}

/* ---- eight rows at a time -------------------------------------------------------------------- */

/* Packs that are gathered before any is finished: values written lane by lane must have reached the
 * cache when they are read as vectors. */
#define TOGETHER 4

static void gather_lane(const tl_ccp *job, const tl_contact *c, tl_ccp_pack *pack, uint32_t i,
                        tl_ccp_raw *raw) {
  const talus_dvec3 *position = job->system->crowd->in->position;
  const uint32_t a = tl_system_body(job->system, c->a), b = tl_system_body(job->system, c->b);
  const talus_dvec3 to_point = tl_dsub(c->point, position[c->a]);
  const talus_vec3 arm_a = tl_narrow(to_point);
  const talus_vec3 arm_b = tl_narrow(tl_dsub(to_point, tl_dsub(position[c->b], position[c->a])));
  const tl_pair_law *law = tl_model_law(job->system->model, c->a, c->b);
  pack->a[i] = a;
  pack->b[i] = b;
  tl_ccp_put_lane(&pack->normal, i, c->normal);
  tl_ccp_put_lane(&pack->impulse, i, c->impulse);
  raw->friction[i] = tl_system_limit_friction(job->system, law->friction);
  tl_ccp_put_lane(&raw->arm_a, i, arm_a);
  tl_ccp_put_lane(&raw->arm_b, i, arm_b);
  raw->inv_mass_a[i] = job->system->bodies[a].inv_mass;
  raw->inv_mass_b[i] = job->system->bodies[b].inv_mass;
  raw->inv_inertia_a[i] = job->system->bodies[a].inv_inertia;
  raw->inv_inertia_b[i] = job->system->bodies[b].inv_inertia;
  raw->gap[i] = tl_system_gap_to_close(job->system, c);
  if (law->static_friction > law->friction) {
    const talus_vec3 before = tl_system_velocity_before(job->system, c, arm_a, arm_b);
    raw->friction[i] =
        tl_system_limit_friction(job->system, tl_system_friction(job->system, c, law, before));
  }
}

static void gather_pack(const tl_ccp *job, size_t k, tl_ccp_raw *raw) {
  tl_ccp_pack *pack = &job->rows.packs[k];
  const uint32_t nobody = (uint32_t)job->system->crowd->count;
  const uint32_t first = job->rows.pack_row[k], count = job->rows.pack_row[k + 1] - first;
  prefetch_contacts(job, k + 8);
  prefetch_bodies(job, k + 4);
  if (count < TL_CCP_LANES) {
    memset(pack, 0, sizeof *pack);
    memset(raw, 0, sizeof *raw);
    for (uint32_t lane = count; lane < TL_CCP_LANES; ++lane) {
      pack->a[lane] = pack->b[lane] = nobody;
      job->rows.gaps[k * TL_CCP_LANES + lane] = 0;
    }
  }
  for (uint32_t lane = 0; lane < count; ++lane) {
    const tl_contact *c = &job->system->contacts->data[job->rows.contact[first + lane]];
    gather_lane(job, c, pack, lane, raw);
    job->rows.gaps[k * TL_CCP_LANES + lane] = tl_system_gap(job->system, c);
  }
  if (job->rows.arms)
    job->rows.arms[k] = (tl_ccp_arms){raw->arm_a, raw->arm_b};
  if (job->rows.frictions)
    memcpy(&job->rows.frictions[k], raw->friction, sizeof raw->friction);
}

void tl_ccp_fill_packs_fast(const tl_ccp *job, size_t begin, size_t end) {
  tl_ccp_raw raws[TOGETHER];
  if (tl_ccp_visits_now()->fill && !job->rows.frictions && !job->system->gaps) {
    tl_ccp_visits_now()->fill(job, begin, end);
    return;
  }
  for (size_t k = begin; k < end; k += TOGETHER) {
    const size_t count = end - k < TOGETHER ? end - k : TOGETHER;
    for (size_t i = 0; i < count; ++i)
      gather_pack(job, k + i, &raws[i]);
    tl_ccp_visits_now()->finish(job->system, raws, &job->rows.packs[k], count);
  }
}

static void make_packs(void *context, size_t begin, size_t end) {
  const tl_ccp *job = context;
  if (!job->system->tensors && !job->system->pulls && !job->system->model->domain.enabled)
    tl_ccp_fill_packs_fast(job, begin, end);
  else
    tl_ccp_fill_packs(job, begin, end);
}

/* True if every row has the same coefficient of friction, whatever its materials; writes it to
 * *friction. */
static bool has_one_friction(const tl_system *system, talus_real *friction) {
  const tl_model *model = system->model;
  const size_t count = model->materials.count * model->materials.count;
  if (model->law_kinds != 0 || count == 0 ||
      count > MOST_LAWS) /* laws may change the coefficient of a contact */
    return false;
  *friction = tl_system_limit_friction(system, model->laws.data[0].friction);
  for (size_t i = 1; i < count; ++i)
    if (tl_system_limit_friction(system, model->laws.data[i].friction) != *friction)
      return false;
  return true;
}

talus_status tl_ccp_load_rows(tl_ccp *job) {
  tl_system *system = job->system;
  tl_ccp_rows *rows = &job->rows;
  tl_arena *arena = system->crowd->arena;
  if (system->model->law_kinds & TL_LAW_COHESION)
    TL_TRY(tl_system_load_pulls(system));
  rows->bodies = system->bodies;
  rows->tensors = system->tensors;
  rows->body_count = system->crowd->count;
  rows->ncp = system->ncp;
  const tl_ccp_kept *kept = job->kept;
  if (kept) {
    rows->packs = kept->packs;
    rows->gaps = kept->gaps;
    rows->arms = kept->arms;
  } else {
    TL_TAKE(arena, rows->pack_count, &rows->packs);
    TL_TRY(tl_system_take(system, rows->pack_count * TL_CCP_LANES, sizeof *rows->gaps,
                          (void **)&rows->gaps));
    if (system->summary.arms)
      TL_TAKE(arena, rows->pack_count, &rows->arms);
  }
  if (system->model->law_kinds & TL_LAW_ROLLING)
    TL_TAKE(arena, rows->pack_count, &rows->rolls);
  if (!has_one_friction(system, &rows->friction) && kept)
    rows->frictions = kept->frictions;
  else if (!has_one_friction(system, &rows->friction))
    TL_TAKE(arena, rows->pack_count, &rows->frictions);
  for (size_t i = 0; i < job->part_count; ++i) {
    tl_ccp_part *part = &job->parts[i];
    const tl_ccp_rows planned = part->rows;
    part->rows = *rows;
    part->rows.packs += part->first_pack;
    part->rows.arms = rows->arms ? rows->arms + part->first_pack : NULL;
    part->rows.rolls = rows->rolls ? rows->rolls + part->first_pack : NULL;
    part->rows.frictions = rows->frictions ? rows->frictions + part->first_pack : NULL;
    part->rows.pack_count = planned.pack_count;
    part->rows.count = planned.count;
    part->rows.contact = planned.contact;
    part->rows.pack_row = NULL;
    part->rows.gaps = NULL;
  }
  if (kept)
    tl_ccp_refresh(job, make_packs);
  else
    tl_for(&system->model->par, rows->pack_count, 64, make_packs, job);
  if (rows->rolls)
    tl_ccp_load_rolls(job);
  return TALUS_OK;
}
