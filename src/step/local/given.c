/* The impulses of contacts and joints within the interval, for probes and averages.
 *
 * A step that counts may still be cut: a body that comes back to an earlier time keeps only the
 * part of the step before that time, and only that part of the impulses. So impulses are added when
 * the law of the step becomes final. Arms are measured from the centres at the begin of the step,
 * where its contacts were found. */
#include "step/local/local.h"

#include <stdlib.h>

/* Centre of a body at the time t at which its last step began. */
static talus_dvec3 centre_at(const tl_local *local, uint32_t slot, double t) {
  const tl_crowd *crowd = local->crowd;
  const tl_local_body *body = &local->bodies.data[slot];
  if (body->is_movable)
    return t < body->o ? tl_path_position(&body->law, t - body->o) : body->final.position;
  if (crowd->model->property.flags[slot] & TL_FLAG_KINEMATIC)
    return tl_body_moving(crowd->model, slot, t).position;
  return crowd->in->position[slot];
}

static int compare_keys(const void *x, const void *y) {
  const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
  return a < b ? -1 : a > b;
}

talus_status tl_local_prepare_giving(const tl_local *local, tl_cluster *cluster) {
  const size_t n = local->wants_given ? cluster->contacts.count : 0;
  TL_TRY(tl_array_resize(&cluster->centres, n));
  TL_TRY(tl_array_resize(&cluster->owned, n));
  for (size_t i = 0; i < n; ++i) {
    const tl_contact *c = &cluster->contacts.data[i];
    cluster->centres.data[i] =
        (tl_centres){centre_at(local, c->a, cluster->t0), centre_at(local, c->b, cluster->t0)};
    cluster->owned.data[i] = (uint64_t)tl_local_owner_of(local, c) << 32 | i;
  }
  if (n > 1)
    qsort(cluster->owned.data, n, sizeof *cluster->owned.data, compare_keys);
  return TALUS_OK;
}

/* share: the part of the step that became final. Impulses of impacts act at its begin, so they
 * count whole. */
static talus_status give_contact(tl_local *local, const tl_cluster *cluster, size_t i,
                                 double share) {
  const talus_vec3 kept = cluster->contacts.data[i].impulse,
                   hit = tl_sub(tl_contacts_impulse(&cluster->contacts, i), kept);
  TL_TRY(tl_contacts_append(&local->given, &cluster->contacts, i));
  TL_TRY(tl_array_push(&local->given_centres, cluster->centres.data[i]));
  const size_t at = local->given.count - 1;
  tl_local_scale_impulses(&local->given, at, TL_R(share * cluster->dt / local->unit));
  talus_vec3 *impulse = &local->given.data[at].impulse;
  *impulse = tl_add(*impulse, hit);
  return TALUS_OK;
}

static talus_status give_contacts(tl_local *local, uint32_t slot, double share) {
  const tl_local_body *body = &local->bodies.data[slot];
  const tl_cluster *cluster = &local->clusters.data[body->past];
  const uint64_t key = (uint64_t)slot << 32;
  size_t lo = 0, hi = cluster->owned.count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    if (cluster->owned.data[middle] < key)
      lo = middle + 1;
    else
      hi = middle;
  }
  for (; lo < cluster->owned.count && cluster->owned.data[lo] >> 32 == slot; ++lo)
    TL_TRY(give_contact(local, cluster, cluster->owned.data[lo] & UINT32_MAX, share));
  return TALUS_OK;
}

/* The forces of joints are constant over the step. */
static void give_joints(tl_local *local, uint32_t slot, double h) {
  size_t ends = 0;
  const tl_joint_end *end =
      local->joints.all.count > 0 ? tl_joints_at(&local->joints, slot, &ends) : NULL;
  for (size_t i = 0; i < ends; ++i) {
    const tl_joint *joint = &local->joints.all.data[end[i].row];
    tl_pull *pull = &local->pulls.data[end[i].row];
    const bool is_first = joint->a != TL_NONE && local->bodies.data[joint->a].is_movable;
    if ((is_first ? joint->a : joint->b) != slot || pull->is_over)
      continue;
    pull->force = tl_dmadd(pull->force, h, joint->force);
    pull->torque = tl_dmadd(pull->torque, h, joint->torque);
    pull->is_over = joint->broken;
  }
}

/* The same for a step that began in an earlier interval, which has its impacts. */
static talus_status give_rest(tl_local *local, uint32_t slot, double to) {
  const tl_local_body *body = &local->bodies.data[slot];
  const tl_contacts *before = local->crowd->contacts_before;
  for (size_t i = local->owners.data[slot]; i < local->owners.data[slot + 1]; ++i) {
    const tl_contact *c = &before->data[local->owned.data[i]];
    const tl_centres centres = {centre_at(local, c->a, body->begun),
                                centre_at(local, c->b, body->begun)};
    TL_TRY(tl_contacts_append(&local->given, before, local->owned.data[i]));
    TL_TRY(tl_array_push(&local->given_centres, centres));
    tl_local_scale_impulses(&local->given, local->given.count - 1,
                            TL_R((to - body->o) / local->unit));
  }
  return TALUS_OK;
}

talus_status tl_local_give(tl_local *local, uint32_t slot, double to) {
  const tl_local_body *body = &local->bodies.data[slot];
  if (!local->wants_given || !(to > body->o))
    return TALUS_OK;
  give_joints(local, slot, to - body->o);
  if (body->past == TL_NONE)
    return give_rest(local, slot, to);
  return give_contacts(local, slot, (to - body->o) / (body->c - body->o));
}

talus_status tl_local_begin_giving(tl_local *local) {
  const size_t joints = local->wants_given ? local->joints.all.count : 0;
  tl_contacts_clear(&local->given);
  local->given_centres.count = 0;
  TL_TRY(tl_array_resize(&local->pulls, joints));
  if (joints > 0)
    memset(local->pulls.data, 0, joints * sizeof *local->pulls.data);
  return TALUS_OK;
}
