/* A pair with memory (last step's normal, or the axis that parted it) against the certified search,
 * which knows nothing: the same contacts for every two kinds, from any pose to one nearby. */
#include "convex_reference.h"
#include "narrow/kept.h"

static const talus_shape_kind kinds[] = {TALUS_SPHERE,         TALUS_BOX,      TALUS_ELLIPSOID,
                                         TALUS_CAPSULE,        TALUS_CYLINDER, TALUS_CONE,
                                         TALUS_SUPERELLIPSOID, TALUS_HULL};
enum { KINDS = sizeof kinds / sizeof *kinds };

enum { ANYHOW, LEVEL, LEVEL_BUT_A_HAIR, EDGES, SLIDING, DEEP, WAYS };

/* How far two depths may differ, m, at sizes near 1: heights within 1e-9 count as one; of boxes an
 * axis of edges must win by 1e-7; superellipsoids have places so flat that no support tells where
 * they touch. The gap is the largest over all directions: the search leaves 1e-6 open, which memory
 * may find. */
#define SAME_GAP  (TALUS_SINGLE ? 2e-6 : 1e-7)
#define BOX_GAP   (TALUS_SINGLE ? 2e-6 : 4e-7)
#define FLAT_GAP  1e-5
#define LEFT_OPEN 3e-6
#define MARGIN    0.02

typedef struct scene {
  tl_shape shape[2];
  tl_posed a, b;
} scene;

static talus_quat quarter(tl_random *random, int axis, double hair) {
  const double turn = 0.25 * TL_PI;
  const talus_dvec3 v = tl_dvec3(axis == 0 ? turn : 0, axis == 1 ? turn : 0, axis == 2 ? turn : 0);
  return tl_quat_from_rotation_vector(tl_narrow(tl_dadd(v, anywhere(random, hair))));
}

static talus_quat turned(tl_random *random, int way, int body) {
  if (way == ANYHOW || way == DEEP)
    return random_quat(random);
  if (way == EDGES)
    return quarter(random, body, 1e-12);
  return quarter(random, 3, way == LEVEL_BUT_A_HAIR ? 1e-6 : 0);
}

/* Apart or overlapping by a little along a direction; of level bodies along z, with a shift. */
static void place(tl_random *random, int i, int j, int way, scene *s) {
  s->shape[0] = random_convex(random, kinds[i]), s->shape[1] = random_convex(random, kinds[j]);
  s->a = posed(&s->shape[0], 1, tl_dvec3(0, 0, 0), turned(random, way, 0));
  s->b = posed(&s->shape[1], 1, tl_dvec3(0, 0, 0), turned(random, way, 1));
  const bool free_way = way == ANYHOW || way == DEEP;
  const talus_dvec3 d = free_way ? tl_dunit(anywhere(random, 1)) : tl_dvec3(0, 0, 1);
  const double deep =
      way == DEEP ? pow(10, uniform(random, -2, -0.5)) : uniform(random, -0.03, 0.01);
  const double away = -deep - (double)ref_separation(&s->a, &s->b, lv(d.x, d.y, d.z));
  const double aside = way == SLIDING            ? 0.5
                       : way == LEVEL            ? 0
                       : way == LEVEL_BUT_A_HAIR ? 1e-12
                                                 : 0;
  s->b.position = tl_dadd(tl_dscale(d, away), tl_dvec3(aside * uniform(random, -1, 1),
                                                       aside * uniform(random, -1, 1), 0));
}

/* A step on: by nothing, by rounding, by a little, by much. */
static void move(tl_random *random, tl_posed *p) {
  static const double by[] = {0, 1e-12, 1e-6, 1e-3};
  const double size = by[tl_random_u32(random) % 4];
  const talus_quat turn = tl_quat_from_rotation_vector(tl_narrow(anywhere(random, size)));
  p->position = tl_dadd(p->position, anywhere(random, size));
  p->rotation = tl_quat_normalize(tl_quat_mul(turn, p->rotation));
}

static double deepest(const tl_point *p, int count) {
  double least = DBL_MAX;
  for (int i = 0; i < count; ++i)
    least = fmin(least, (double)p[i].gap);
  return least;
}

/* Whether an axis parts the pair, as a crowd of two bodies. */
static bool parts(const scene *s, talus_dvec3 axis) {
  uint32_t shape[2] = {0, 1};
  talus_real scale[2] = {s->a.scale, s->b.scale};
  talus_dvec3 position[2] = {s->a.position, s->b.position};
  talus_quat rotation[2] = {s->a.rotation, s->b.rotation};
  tl_shape shapes[2] = {s->shape[0], s->shape[1]};
  tl_model model = {.shapes = {.data = shapes, .count = 2},
                    .property = {.shape = shape, .scale = scale}};
  tl_state state = {.position = position, .rotation = rotation};
  const tl_crowd crowd = {.model = &model, .in = &state};
  tl_kept_axis kept = tl_kept_make((tl_pair){0, 1}, axis);
  return tl_kept_parts(&crowd, TL_R(MARGIN), &kept);
}

typedef struct tallies {
  int touching, alike, missing, parted;
  double lost, gained; /* m of gap, at most */
} tallies;

/* The pair has contacts: they are those of the search. */
static void check_contacts(const scene *s, const tl_point *warm, int count, tallies *t) {
  tl_point cold[TL_NARROW_MAX_POINTS];
  const int wanted = tl_narrow_convex(&s->a, &s->b, NULL, TL_R(MARGIN), cold);
  const talus_shape_kind a = s->a.shape->kind, b = s->b.shape->kind;
  const bool flat = a == TALUS_SUPERELLIPSOID || b == TALUS_SUPERELLIPSOID;
  const double same = flat ? FLAT_GAP : a == TALUS_BOX && b == TALUS_BOX ? BOX_GAP : SAME_GAP;
  if (count == 0 || wanted == 0) { /* at the margin itself either may say so */
    CHECK(count == wanted ||
          fabs(deepest(count ? warm : cold, count + wanted) - MARGIN) <= LEFT_OPEN);
    return;
  }
  t->touching++;
  const double gap = deepest(warm, count), gain = gap - deepest(cold, wanted);
  t->lost = fmax(t->lost, flat ? 0 : -gain), t->gained = fmax(t->gained, gain);
  CHECK_MSG(gain >= -same && gain <= LEFT_OPEN, "%s-%s: gap %.12g, searched for %.12g",
            tl_shape_kind_name(a), tl_shape_kind_name(b), gap, deepest(cold, wanted));
  t->alike += count == wanted && l_distance(l_of3(warm[0].normal), l_of3(cold[0].normal)) < 1e-6;
}

/* One pair, from a pose to the next. */
static void check_pair(tl_random *random, int i, int j, int way, tallies *t) {
  scene s;
  place(random, i, j, way, &s);
  tl_point first[TL_NARROW_MAX_POINTS], warm[TL_NARROW_MAX_POINTS];
  talus_dvec3 parting;
  const int before = tl_narrow_search(&s.a, &s.b, NULL, TL_R(MARGIN), first, &parting);
  move(random, &s.b);
  if (before == 0) {
    tl_point cold[TL_NARROW_MAX_POINTS];
    t->missing++;
    if (parts(&s, parting)) {
      t->parted++;
      CHECK(tl_narrow_convex(&s.a, &s.b, NULL, TL_R(MARGIN), cold) == 0);
      CHECK(tl_narrow_pair(&s.a, &s.b, TL_R(MARGIN), cold) == 0);
    }
  } else {
    const talus_vec3 n = first[0].normal;
    const talus_dvec3 guess = tl_dunit(tl_dvec3((double)n.x, (double)n.y, (double)n.z));
    const int count = tl_narrow_takes_guess(kinds[i], kinds[j])
                          ? tl_narrow_convex(&s.a, &s.b, &guess, TL_R(MARGIN), warm)
                          : tl_narrow_pair(&s.a, &s.b, TL_R(MARGIN), warm);
    check_contacts(&s, warm, count, t);
  }
  tl_shape_release(&s.shape[0]), tl_shape_release(&s.shape[1]);
}

TEST(memory_gives_the_contacts_of_the_search_for_every_two_kinds) {
  const int cases = getenv("TALUS_SOAK") ? 1000000 : check_is_short() ? 2000 : 20000;
  const int pairs = KINDS * (KINDS + 1) / 2 * WAYS, each = cases / pairs + 1;
  tallies all = {0};
  for (int i = 0; i < KINDS; ++i)
    for (int j = i; j < KINDS; ++j)
      for (int way = 0; way < WAYS; ++way)
        for (int k = 0; k < each; ++k) {
          tl_random random = tl_random_start(64, (uint32_t)(100 * i + 10 * j + way), (uint64_t)k);
          check_pair(&random, i, j, way, &all);
        }
  printf("  %d touching, %d with as many points along the same normal, gaps smaller by %.1e and "
         "larger by %.1e at most; %d missing, of which an axis still parts %d\n",
         all.touching, all.alike, all.lost, all.gained, all.missing, all.parted);
  CHECK(all.touching > cases / 4 && all.missing > cases / 10);
  CHECK(10 * all.alike > 9 * all.touching && 2 * all.parted > all.missing);
}

TEST_MAIN()
