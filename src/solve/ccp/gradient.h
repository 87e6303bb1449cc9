/* Gradient methods: all rows of a part step at once.
 *
 *   iteration.c  Jacobi, APGD and BB, wherever their memory is
 *   gradient.c   the memory of the host, for these
 *   product.c    a projected step of all rows, N times impulses
 *   scan.c       the reduction buffer and segmented scan, as published
 *   link_step.c  the same of links */
#ifndef TL_SOLVE_CCP_GRADIENT_H
#define TL_SOLVE_CCP_GRADIENT_H

#include "solve/ccp/ccp.h"
#include "solve/ccp/iteration.h"

/* An impulse (or a difference of impulses) for every row: one entry per pack. */
typedef tl_ccp_lanes tl_ccp_field;

/* Rows by body, in the order of contacts: body i has entry[start[i]] ... entry[start[i + 1] - 1].
 * An entry is 2 (8 pack + lane) + side; side 1 is body b of the row. */
typedef struct tl_ccp_gather {
  uint32_t *start, *entry;
} tl_ccp_gather;

talus_status tl_ccp_make_gather(const tl_ccp_part *part, tl_ccp_gather *gather);

/* The reduction buffer of the published method: an entry for each side of each row, sorted by body
 * like gather->entry. */
typedef struct tl_ccp_scan {
  uint32_t *place;   /* of side 2 (8 pack + lane) + side */
  uint32_t *body;    /* of each entry */
  tl_wrench *buffer; /* impulse and moment of a row on the body; then running sums */
  size_t entries;
} tl_ccp_scan;

talus_status tl_ccp_make_scan(const tl_ccp_part *part, const tl_ccp_gather *gather,
                              tl_ccp_scan *scan);
void tl_ccp_run_scan(const tl_ccp_part *part, const tl_ccp_scan *scan, const tl_ccp_field *p);
/* Sum of impulses and moments of the body whose entries are [begin, end), end > begin. */
tl_wrench tl_ccp_scanned(const tl_ccp_scan *scan, size_t begin, size_t end);

/* The way in which impulses are summed by body. All kinds give the same result up to rounding. */
typedef struct tl_ccp_reduction {
  talus_reduction kind; /* never auto */
  tl_ccp_gather gather; /* not with colours */
  tl_ccp_scan scan;     /* with scan */
} tl_ccp_reduction;

talus_status tl_ccp_make_reduction(const tl_ccp_part *part, tl_ccp_reduction *reduction);

/* Writes free velocities + M^-1 D p into out, for every body. If `from` is given it holds the
 * velocities of impulses q, and norm becomes |M^-1 D (p - q)|^2 in the mass norm, which is (p -
 * q).N (p - q). */
void tl_ccp_spread(const tl_ccp_part *part, const tl_ccp_reduction *reduction,
                   const tl_ccp_body *free_bodies, const tl_ccp_field *p, const tl_ccp_body *from,
                   tl_ccp_body *out, tl_tally *norm);

/* A step of all rows: to = projection of (from - scale E d), with velocities from `bodies`, or
 * Coulomb's law with them. mark may be NULL. scalar: one step length for all directions, as
 * published; then sums are not computed. */
typedef struct tl_ccp_step_def {
  tl_ccp_body *bodies; /* only read */
  talus_real scale;
  bool scalar;
  const tl_ccp_field *from, *mark;
  tl_ccp_field *to;
} tl_ccp_step_def;

void tl_ccp_step_all(const tl_ccp_part *part, const tl_ccp_step_def *def,
                     tl_tally sums[TL_CCP_SUMS]);

/* Steps packs [begin, end), one lane after the other; visits.h has the version in lanes.
 * rows->bodies must be those of the definition. */
void tl_ccp_step_packs_scalar(const tl_ccp_rows *rows, const tl_ccp_step_def *def, size_t begin,
                              size_t end, tl_tally sums[TL_CCP_SUMS]);

/* Computes the sum of squared residuals of impulses p and the largest residual. `bodies` holds the
 * velocities that belong to p. Uses the part's own body buffer. */
void tl_ccp_measure(const tl_ccp_part *part, const tl_ccp_body *bodies, const tl_ccp_field *p,
                    tl_tally *sum, double *most);

/* ---- links (link_step.c) --------------------------------------------------------------------- */

/* Links have TL_JOINT_ROWS impulses each, stored behind those of contacts and their torques in a
 * field. */
static inline size_t tl_ccp_link_lanes(const tl_ccp_part *part) {
  const size_t reals = 3 * TL_CCP_LANES;
  return (part->links.count * TL_JOINT_ROWS + reals - 1) / reals;
}
static inline talus_real *tl_ccp_link_field(const tl_ccp_part *part, tl_ccp_field *field) {
  return field[part->link_at].x;
}
static inline const talus_real *tl_ccp_link_read(const tl_ccp_part *part,
                                                 const tl_ccp_field *field) {
  return field[part->link_at].x;
}

/* Applies the impulses p to `bodies`. */
void tl_ccp_push_links(const tl_links *links, const talus_real *p, tl_ccp_body *bodies);

/* Sum of squared residuals of impulses p; *most is raised to the largest. */
void tl_ccp_residual_links(const tl_links *links, const tl_ccp_body *bodies, const talus_real *p,
                           tl_tally *sum, double *most);

/* A step of all links, like the step of all rows; adds to the sums. */
void tl_ccp_step_links(const tl_links *links, const tl_ccp_body *bodies, double scale,
                       const talus_real *from, const talus_real *mark, talus_real *to,
                       tl_tally sums[TL_CCP_SUMS]);

/* Adds (p - q).C (p - q) to sum; C holds the compliances of links, which the product N does not
 * include. */
void tl_ccp_soften_links(const tl_links *links, const talus_real *p, const talus_real *q,
                         tl_tally *sum);

#endif
