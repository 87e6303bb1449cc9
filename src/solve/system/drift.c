/* Warm start of joints, and what of it must not be carried over.
 *
 * Rows demand two things: that frames move together, and that the drift of earlier steps is
 * corrected within this one. Only the first part of the impulses is a force that the next step
 * needs again. If all of it were carried over, impulses would be an integral of the drift, and that
 * is unstable wherever the iteration does not converge. Take a mode of which the sweeps of a step
 * leave the fraction s: its drift is h y, its speed u, and q is K times the initial impulses of a
 * step.
 *
 *   w = u + y + q,   u' = s w - y,   y' = y + u',   q' = q - (1 - s) w
 *
 * goes as z^steps with (1 - 1/z)^3 = -(1 - s)/s, and grows for s > 1/2. From nothing (q' = q) it is
 * (1 - 1/z)^2 and |z| = sqrt(s). There are two ways out:
 *
 *   - The part that corrects drift is not carried over. It must be as unconverged as it is in the
 *     whole, so it is found with as many sweeps in the same order from zero: rows are linear, so
 * the whole less this part is the result of the sweeps for the other part. Then nothing grows, and
 *     the impulses carried over converge to the forces that hold the mechanism at rest.
 *   - Everything starts with a share c of its last impulse: (1 - 1/z)^2 (1 - c/z) = -(1 - s)/s, and
 *     nothing grows as long as c < 1/2. That is for gradient methods, which are not linear; and for
 *     islands in which contacts touch jointed bodies, because overlap that is pushed out is drift
 *     as well. Among free bodies contacts let go before it grows, but not within a mechanism
 *     that is tight, such as a track round its wheels. Contacts and joints must have the same
 *     share: either carries what the other did. */
#include "solve/system/links.h"

#define SHARE (talus_real)0.4

void tl_links_ease(tl_links *part) {
  for (size_t k = 0; k < part->count; ++k)
    for (int r = 0; r < tl_link_rows(&part->data[k]); ++r)
      part->data[k].row[r].impulse *= SHARE;
  part->recovering = NULL;
}

bool tl_links_touch(const tl_links *links, uint32_t a, uint32_t b) {
  return links->held && (links->held[a] || links->held[b]);
}

talus_vec3 tl_links_ease_push(const tl_links *links, uint32_t a, uint32_t b, talus_vec3 impulse) {
  return tl_links_touch(links, a, b) ? tl_scale(impulse, SHARE) : impulse;
}

talus_status tl_links_warm(tl_links *all) {
  const tl_crowd *crowd = all->system->crowd;
  TL_TAKE(crowd->arena, crowd->count + 1, &all->recovering);
  TL_TAKE(crowd->arena, crowd->count + 1, &all->held);
  memset(all->held, 0, crowd->count + 1);
  for (size_t i = 0; i < all->count; ++i) {
    const uint32_t each[2] = {all->data[i].a, all->data[i].b};
    for (int k = 0; k < 2; ++k) {
      tl_ccp_body *body = &all->recovering[each[k]];
      *body = all->bodies[each[k]];
      body->v = body->w = tl_vec3(0, 0, 0);
      all->held[each[k]] = body->inv_mass > 0;
    }
  }
  return TALUS_OK;
}

/* Systems that solve all rows at once are exact however often they are solved. */
void tl_links_recover(const tl_links *links) {
  const tl_link_system *direct = links->direct;
  if (!links->recovering || links->count == 0 || !direct)
    return;
  for (size_t i = 0; i < links->count; ++i)
    for (int r = 0; r < links->data[i].hard; ++r)
      direct->x[direct->place[links->data[i].first + (uint32_t)r]] =
          -(double)links->data[i].row[r].drift;
  tl_link_system_solve(direct);
  for (size_t i = 0; i < links->count; ++i)
    for (int r = 0; r < links->data[i].hard; ++r)
      links->data[i].row[r].recovery = direct->x[direct->place[links->data[i].first + (uint32_t)r]];
}
