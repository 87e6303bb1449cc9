/* Visits a link in two problems at once: the step, and the impulses that remove drift.
 *
 * Both have the same rows and factors; velocities and right-hand sides differ. So each row is
 * loaded once, and each operation acts on two numbers: lane 0 is tl_link_visit, lane 1
 * tl_link_recover, with the bits of each. */
#include "joint/link.h"

typedef talus_real both __attribute__((vector_size(2 * sizeof(talus_real))));
typedef double wide __attribute__((vector_size(2 * sizeof(double))));

typedef struct both3 {
  both x, y, z;
} both3;

typedef struct both_body {
  both3 v, w;
} both_body;

static both3 of_two(talus_vec3 a, talus_vec3 b) {
  const both3 made = {{a.x, b.x}, {a.y, b.y}, {a.z, b.z}};
  return made;
}

static talus_vec3 lane(both3 v, int i) { return tl_vec3(v.x[i], v.y[i], v.z[i]); }

static both dot(talus_vec3 a, both3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static both3 madd(both3 a, both s, talus_vec3 b) {
  const both3 sum = {a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
  return sum;
}

static both_body load(const tl_ccp_body *one, const tl_ccp_body *two) {
  const both_body body = {of_two(one->v, two->v), of_two(one->w, two->w)};
  return body;
}

static void store(const both_body *body, tl_ccp_body *one, tl_ccp_body *two) {
  one->v = lane(body->v, 0), one->w = lane(body->w, 0);
  two->v = lane(body->v, 1), two->w = lane(body->w, 1);
}

/* As tl_ccp_turn. */
static void turn(both_body *body, const tl_ccp_body *of, const tl_ccp_tensor *tensor, both3 impulse,
                 both3 moment) {
  if (of->inv_inertia >= 0) {
    const talus_real m = of->inv_mass, i = of->inv_inertia;
    body->v.x += m * impulse.x, body->v.y += m * impulse.y, body->v.z += m * impulse.z;
    body->w.x += i * moment.x, body->w.y += i * moment.y, body->w.z += i * moment.z;
    return;
  }
  const tl_sym3 *t = &tensor->inv_inertia;
  body->v.x += tensor->inv_mass.x * impulse.x;
  body->v.y += tensor->inv_mass.y * impulse.y;
  body->v.z += tensor->inv_mass.z * impulse.z;
  body->w.x += t->xx * moment.x + t->xy * moment.y + t->xz * moment.z;
  body->w.y += t->xy * moment.x + t->yy * moment.y + t->yz * moment.z;
  body->w.z += t->xz * moment.x + t->yz * moment.y + t->zz * moment.z;
}

static void solve(const tl_link *link, wide x[TL_JOINT_HARD]) { TL_LINK_SOLVE(link, x); }

/* Residuals of the rows; *sums: sums of their squares in velocity units. */
static wide ask(const tl_link *link, const both_body *a, const both_body *b,
                wide x[TL_JOINT_HARD]) {
  wide sums = {0, 0};
  for (int i = 0; i < link->hard; ++i) {
    const tl_link_row *row = &link->row[i];
    const both offset = {row->bias, row->drift};
    const both u =
        dot(row->la, a->v) + dot(row->aa, a->w) + dot(row->lb, b->v) + dot(row->ab, b->w) + offset;
    const wide had = {(double)row->impulse, row->recovery};
    x[i] = __builtin_convertvector(u, wide) + row->soft * had;
    wide r = x[i] * (double)row->unit;
    r[0] = row->l[i] > 0 ? r[0] : 0;
    sums += r * r;
  }
  return sums;
}

static void push(tl_link *link, const wide x[TL_JOINT_HARD], both3 to[4]) {
  memset(to, 0, 4 * sizeof *to);
  for (int i = 0; i < link->hard; ++i) {
    tl_link_row *row = &link->row[i];
    const talus_real before = row->impulse;
    row->impulse = (talus_real)((double)before - x[i][0]);
    row->recovery -= x[i][1];
    const both dp = {row->impulse - before, (talus_real)-x[i][1]};
    to[0] = madd(to[0], dp, row->la);
    to[1] = madd(to[1], dp, row->aa);
    to[2] = madd(to[2], dp, row->lb);
    to[3] = madd(to[3], dp, row->ab);
  }
}

double tl_link_visit_both(tl_link *link, tl_ccp_body *bodies, tl_ccp_body *recovering,
                          const tl_ccp_tensor *tensors, double *recovered) {
  if (link->has_law) {
    *recovered = tl_link_recover(link, recovering, tensors);
    return tl_link_visit(link, bodies, tensors);
  }
  tl_ccp_body *a = &bodies[link->a], *b = &bodies[link->b];
  both_body both_a = load(a, &recovering[link->a]), both_b = load(b, &recovering[link->b]);
  wide x[TL_JOINT_HARD];
  both3 to[4];
  const wide sums = ask(link, &both_a, &both_b, x);
  solve(link, x);
  push(link, x, to);
  if (a->inv_mass > 0) {
    turn(&both_a, a, tensors ? &tensors[link->a] : NULL, to[0], to[1]);
    store(&both_a, a, &recovering[link->a]);
  }
  if (b->inv_mass > 0) {
    turn(&both_b, b, tensors ? &tensors[link->b] : NULL, to[2], to[3]);
    store(&both_b, b, &recovering[link->b]);
  }
  *recovered = sums[1];
  return sums[0];
}
