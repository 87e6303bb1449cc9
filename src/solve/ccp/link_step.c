/* Links in gradient methods. Each link is stepped as one block in the metric of the block; with
 * `joints: direct` the hard rows of all links are one block (joint/link.h). */
#include "solve/ccp/gradient.h"

void tl_ccp_push_links(const tl_links *links, const talus_real *p, tl_ccp_body *bodies) {
  for (size_t i = 0; i < links->count; ++i) {
    double each[TL_JOINT_ROWS];
    for (int r = 0; r < TL_JOINT_ROWS; ++r)
      each[r] = (double)p[i * TL_JOINT_ROWS + (size_t)r];
    tl_link_push(&links->data[i], bodies, links->tensors, each);
  }
}

void tl_ccp_residual_links(const tl_links *links, const tl_ccp_body *bodies, const talus_real *p,
                           tl_tally *sum, double *most) {
  for (size_t i = 0; i < links->count; ++i)
    tl_tally_add(sum, tl_link_residual(&links->data[i], bodies, p + i * TL_JOINT_ROWS, most));
}

/* Writes the residuals r of all hard rows into the right-hand side of the direct system and solves
 * for their steps dp. */
static void solve_all(const tl_links *links, const tl_ccp_body *bodies, const talus_real *p) {
  const tl_link_system *direct = links->direct;
  for (size_t i = 0; i < links->count; ++i) {
    const tl_link *link = &links->data[i];
    double u[TL_JOINT_ROWS];
    tl_link_speeds(link, bodies, u);
    for (int r = 0; r < link->hard; ++r)
      direct->x[direct->place[link->first + (uint32_t)r]] =
          -(u[r] + link->row[r].soft * (double)p[i * TL_JOINT_ROWS + (size_t)r]);
  }
  tl_link_system_solve(direct);
}

/* Finds the step dp of one link. The metric is its own block, or the direct block with rows that
 * follow a law apart. */
static void find_step(const tl_links *links, size_t i, const tl_ccp_body *bodies,
                      const talus_real *p, double scale, double dp[TL_JOINT_ROWS]) {
  const tl_link *link = &links->data[i];
  if (!links->direct) {
    tl_link_step(link, bodies, p, scale, dp);
    return;
  }
  for (int r = 0; r < link->hard; ++r)
    dp[r] = scale * links->direct->x[links->direct->place[link->first + (uint32_t)r]];
  if (link->has_law)
    dp[link->hard] = tl_link_law_step(link, bodies, p[link->hard], scale);
}

/* -K dp / scale: the gradient, including that of the law, which gives this step. */
static void find_gradient(const tl_links *links, size_t i, const tl_ccp_body *bodies,
                          const talus_real *p, double scale, const double dp[TL_JOINT_ROWS],
                          double d[TL_JOINT_ROWS]) {
  const tl_link *link = &links->data[i];
  const int n = tl_link_rows(link), hard = link->hard;
  double u[TL_JOINT_ROWS];
  tl_link_speeds(link, bodies, u);
  for (int r = 0; r < n; ++r) {
    d[r] = u[r] + link->row[r].soft * (double)p[r];
    if (r < hard)
      continue;
    d[r] = 0;
    for (int j = links->direct ? hard : 0; j < n; ++j)
      d[r] -= link->k[j] * dp[j] / scale;
  }
}

void tl_ccp_step_links(const tl_links *links, const tl_ccp_body *bodies, double scale,
                       const talus_real *from, const talus_real *mark, talus_real *to,
                       tl_tally sums[TL_CCP_SUMS]) {
  if (links->direct)
    solve_all(links, bodies, from);
  for (size_t i = 0; i < links->count; ++i) {
    const talus_real *p = from + i * TL_JOINT_ROWS;
    talus_real *q = to + i * TL_JOINT_ROWS;
    const talus_real *m = mark ? mark + i * TL_JOINT_ROWS : NULL;
    double dp[TL_JOINT_ROWS] = {0}, d[TL_JOINT_ROWS] = {0};
    find_step(links, i, bodies, p, scale, dp);
    find_gradient(links, i, bodies, p, scale, dp, d);
    for (int r = 0; r < TL_JOINT_ROWS; ++r) {
      q[r] = (talus_real)((double)p[r] + dp[r]);
      /* dp.K dp = -scale d.dp */
      tl_tally_add(&sums[TL_CCP_LENGTH2], -scale * d[r] * dp[r]);
      tl_tally_add(&sums[TL_CCP_SLOPE], d[r] * dp[r]);
      if (m)
        tl_tally_add(&sums[TL_CCP_RESTART], d[r] * (double)(q[r] - m[r]));
    }
  }
}

void tl_ccp_soften_links(const tl_links *links, const talus_real *p, const talus_real *q,
                         tl_tally *sum) {
  for (size_t i = 0; i < links->count; ++i)
    for (int r = 0; r < links->data[i].hard; ++r) {
      const size_t at = i * TL_JOINT_ROWS + (size_t)r;
      const double change = (double)(p[at] - q[at]);
      tl_tally_add(sum, links->data[i].row[r].soft * change * change);
    }
}
