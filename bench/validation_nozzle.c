/* Hard spheres from a vessel through a nozzle into vacuum, event by event, beside the flow of their
 * fluid along its isentrope in one dimension. Masses are 1; radii, areas and volumes are those that
 * centres reach.
 *
 * Theory has no viscosity and no curvature across the stream. Both are kept small by the shape
 * alone: walls are smooth and reflect, so that they have no layer of slow gas, and what is lost is
 * lost where the flow changes within few mean free paths. So the nozzle is long beside its throat's
 * width, without a corner, and parallel where it ends. */
#include "validation_cases.h"
#include "validation_fluid.h"
#include "validation_stream.h"

#include <string.h>

#define BALL    0.2
#define BENDS   16    /* straight pieces of each half of the nozzle */
#define SLICES  24    /* in which a nozzle is filled */
#define WIDENED 1.539 /* area of the mouth / of the throat */

static const double volume_of_one = 4.0 / 3.0 * VAL_PI * BALL * BALL * BALL;

/* A vessel from `bottom` to 0, a bell to `neck`, a straight throat to `widens`, a widening to
 * `mouth`, and a tube to `end`; m. */
typedef struct nozzle {
  double bottom, wide;
  double neck, throat; /* z, radius */
  double widens, mouth, end;
} nozzle;

static nozzle scaled(nozzle n, double scale) {
  return (nozzle){n.bottom * scale, n.wide * scale,  n.neck * scale, n.throat * scale,
                  n.widens * scale, n.mouth * scale, n.end * scale};
}

/* From one radius to another along half a wave. */
static double bent(double from, double to, double share) {
  return to + (from - to) * 0.5 * (1 + cos(VAL_PI * share));
}

static double radius_at(const nozzle *n, double z) {
  const double mouth = n->throat * sqrt(WIDENED);
  if (z < 0)
    return n->wide;
  if (z < n->neck)
    return bent(n->wide, n->throat, z / n->neck);
  if (z < n->widens)
    return n->throat;
  return z < n->mouth ? bent(n->throat, mouth, (z - n->widens) / (n->mouth - n->widens)) : mouth;
}

/* The wall is a ball's radius outside of it. */
static size_t make_profile(const nozzle *n, double (*to)[2]) {
  size_t k = 0;
  to[k][0] = n->bottom - BALL, to[k++][1] = 0;
  to[k][0] = n->bottom - BALL, to[k++][1] = n->wide + BALL;
  for (int i = 0; i <= BENDS; ++i) {
    const double z = n->neck * i / BENDS;
    to[k][0] = z, to[k++][1] = radius_at(n, z) + BALL;
  }
  for (int i = 0; i <= BENDS; ++i) {
    const double z = n->widens + (n->mouth - n->widens) * i / BENDS;
    to[k][0] = z, to[k++][1] = radius_at(n, z) + BALL;
  }
  to[k][0] = n->end + BALL, to[k++][1] = radius_at(n, n->end) + BALL;
  return k;
}

/* ---- what theory says ------------------------------------------------------------------------ */

/* The flow at z. */
static fluid_flow flow_at(const nozzle *n, fluid_rest rest, double z) {
  const double r = radius_at(n, z) / n->throat;
  return fluid_at_area(rest, r * r, z > n->widens);
}

/* The volume that would hold at rest what is in the vessel and the nozzle. */
static double find_volume(const nozzle *n, fluid_rest rest) {
  const double dz = (n->end - n->bottom) / 200;
  double volume = 0;
  for (int i = 0; i < 200; ++i) {
    const double z = n->bottom + (i + 0.5) * dz, r = radius_at(n, z);
    volume += VAL_PI * r * r * dz * flow_at(n, rest, z).phi / rest.phi;
  }
  return volume;
}

static double throat_area(const nozzle *n) { return VAL_PI * n->throat * n->throat; }

/* Mean free path at rest over the throat's width. */
static double knudsen(const nozzle *n, double phi) {
  const double contact = (1 - phi / 2) / pow(1 - phi, 3);
  return volume_of_one / (phi * sqrt(2) * VAL_PI * 4 * BALL * BALL * contact) / (2 * n->throat);
}

/* ---- a world --------------------------------------------------------------------------------- */

/* Density, temperature and speed begin as theory has them, slice by slice, but at rest at the
 * bottom. The result hardly depends on how the flow began, and is steady soon. */
static void fill_slices(val_run *run, const nozzle *n, double phi, const talus_body_def *ball) {
  const double dz = (n->end - n->bottom) / SLICES;
  for (int i = 0; i < SLICES && !run->failed; ++i) {
    const double low = n->bottom + i * dz, high = low + dz, middle = low + 0.5 * dz;
    const double r = radius_at(n, middle), low_r = radius_at(n, low), high_r = radius_at(n, high);
    const fluid_flow f = flow_at(n, (fluid_rest){phi, 1}, middle);
    const double count = f.phi / volume_of_one * VAL_PI * r * r * dz * (run->quick ? 0.1 : 1);
    talus_body_def one = *ball;
    one.velocity = val_vec(0, 0, f.speed * fmin(1, (middle - n->bottom) / (-0.45 * n->bottom)));
    stream_fill(run, &one, fmin(fmin(low_r, high_r), r) + 0.95 * BALL, low, high, (uint64_t)count,
                sqrt(f.theta));
  }
}

static void make_vessel(val_run *run, const nozzle *n, double phi, bool recycle) {
  double profile[2 * BENDS + 5][2];
  const size_t points = make_profile(n, profile);
  talus_body_def ball;
  stream_world(run, 0.2, profile[0], points, BALL, &ball);
  fill_slices(run, n, phi, &ball);
  if (recycle) /* each brings 3/2 kT, and the gas carries (3/2 + Z) kT0 away: so that T0 is 1 */
    stream_source(run, &ball, n->wide, n->bottom, 0.55 * n->bottom,
                  sqrt((1.5 + fluid_pressure(phi)) / 1.5));
  stream_sink(run, "vacuum", n->end, 999, recycle);
}

static stream_gauge vessel_gauge(const nozzle *n) {
  return (stream_gauge){.radius = n->wide - 1, .low = 0.45 * n->bottom, .high = 0.1 * n->bottom};
}

static fluid_rest rest_of(const stream_gauge *g) {
  return fluid_stopped(gauge_density(g) * volume_of_one, gauge_heat(g), gauge_speed(g));
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Losses by viscosity and conduction of heat are proportional to the mean free path over the size
 * of the flow, so to 1 over its scale. */
#define SMALL 0.6 /* scale of the second, smaller flow */

/* Extrapolates the results of two flows, the second of scale SMALL, to an endless scale. */
static double endless(double large, double small) {
  return large + (large - small) * SMALL / (1 - SMALL);
}

/* ---- choked flow ----------------------------------------------------------------------------- */

typedef struct choked {
  double phi; /* of the vessel */
  double got[4], expected[4];
} choked;

static const char *const of_choked[4] = {"flux / n0 sqrt(kT0/m) A*", "throat: T*/T0",
                                         "throat: n*/n0", "mouth: Mach number"};
static const char *const of_endless[4] = {
    "flux, for Kn to 0, over theory's", "T*/T0, for Kn to 0, over theory's",
    "n*/n0, for Kn to 0, over theory's", "Mach number, for Kn to 0, over theory's"};

/* What three gauges (vessel, throat, mouth) and the count of those that left say. Theory is that of
 * the density which the vessel came to have. */
static choked judge(const nozzle *n, const stream_gauge g[3], double flux) {
  const fluid_rest rest = rest_of(&g[0]);
  const fluid_flow throat = fluid_throat(rest), mouth = fluid_at_area(rest, WIDENED, 1);
  const double n0 = rest.phi / volume_of_one, seen = gauge_density(&g[2]) * volume_of_one;
  const double sound = fluid_at((fluid_rest){seen, gauge_heat(&g[2])}, seen).sound;
  return (choked){
      .phi = rest.phi,
      .got = {flux / (n0 * sqrt(rest.theta) * throat_area(n)), gauge_heat(&g[1]) / rest.theta,
              gauge_density(&g[1]) / n0, gauge_speed(&g[2]) / sound},
      .expected = {throat.phi / rest.phi * throat.speed / sqrt(rest.theta),
                   throat.theta / rest.theta, throat.phi / rest.phi, mouth.speed / mouth.sound}};
}

/* The throat is where its straight part ends: there gas that conducts heat is as fast as sound.
 * filled: share of the vessel in the beginning. */
static choked flow_choked(val_run *run, const nozzle *n, double filled, double lasts) {
  enum { LOOKS = 320 };
  double energy = 0;
  stream_gauge g[3] = {
      vessel_gauge(n),
      {.radius = n->throat,
       .low = n->widens - 0.3 * n->throat,
       .high = n->widens + 0.3 * n->throat},
      {.radius = n->throat * sqrt(WIDENED), .low = n->mouth, .high = 0.5 * (n->mouth + n->end)}};
  make_vessel(run, n, filled, true);
  val_step(run, val_steps(run, lasts)); /* time until the flow is steady */
  (void)stream_take_left(run, &energy);
  const talus_report from = val_report(run);
  for (int i = 0; i < LOOKS && !run->failed; ++i) {
    const long steps = val_steps(run, lasts / LOOKS);
    val_step(run, steps > 0 ? steps : 1);
    stream_look(run, g, 3);
    (void)stream_take_left(run, &energy);
  }
  const talus_report to = val_report(run);
  return run->failed ? (choked){0}
                     : judge(n, g, (double)(to.removed - from.removed) / (to.time - from.time));
}

static void check_choked(val_run *run, nozzle n, double phi, double filled, double lasts) {
  const bool quick = run->quick;
  const nozzle large = quick ? scaled(n, 0.5) : n, small = scaled(large, SMALL);
  const double near = quick ? 1 : 0.05, time = quick ? 6 : lasts;
  const choked of_small = flow_choked(run, &small, filled, time);
  const choked c = flow_choked(run, &large, filled, time);
  if (run->failed)
    return;
  val_near(run, "phi of the vessel", "", c.phi, phi, (quick ? 1 : 0.03) * phi);
  val_within(run, "Knudsen number of the throat", "", knudsen(&large, c.phi), 0, quick ? 10 : 0.05);
  for (int k = 0; k < 4; ++k)
    val_near(run, of_choked[k], "", c.got[k], c.expected[k], near * c.expected[k]);
  for (int k = 0; k < 4; ++k)
    val_near(run, of_endless[k], "",
             endless(c.got[k] / c.expected[k], of_small.got[k] / of_small.expected[k]), 1,
             quick ? 10 : 0.05);
}

void val_flow_choked_5(val_run *run) {
  check_choked(run, (nozzle){-20, 13, 44, 8.6, 48, 123, 131}, 0.05, 0.0511, 200);
}

void val_flow_choked_10(val_run *run) {
  check_choked(run, (nozzle){-14, 7.5, 30, 5, 33, 96, 100}, 0.1, 0.103, 140);
}

/* ---- blowdown -------------------------------------------------------------------------------- */

#define BLOWDOWN_ROWS 8

typedef struct blowdown {
  double t, phi, theta, local; /* by all balls inside, and by those in the vessel */
} blowdown;

/* Filled share of the vessel at rest from how many are inside: waves do not change it. */
static double phi_of_all(const nozzle *n, double inside, fluid_rest near) {
  double phi = near.phi;
  for (int i = 0; i < 20; ++i)
    phi = inside * volume_of_one / find_volume(n, (fluid_rest){phi, near.theta});
  return phi;
}

static bool watch(val_run *run, const nozzle *n, double lasts, blowdown *row) {
  enum { LOOKS = 16 };
  stream_gauge g = {.radius = n->wide,
                    .low = n->bottom,
                    .high = 0}; /* waves cancel in the mean over the whole interval */
  double energy = 0, inside = 0;
  const double from = val_report(run).time;
  for (int k = 0; k < LOOKS && !run->failed; ++k) {
    val_step(run, val_steps(run, lasts / LOOKS));
    stream_look(run, &g, 1);
    inside += (double)(val_report(run).bodies - 1) / LOOKS;
    (void)stream_take_left(run, &energy);
  }
  if (!run->failed && g.count < 1)
    val_fail(run, "nobody is left in the vessel");
  if (run->failed)
    return false;
  const fluid_rest rest = rest_of(&g);
  *row = (blowdown){from + 0.5 * lasts * (1 + 1.0 / LOOKS), phi_of_all(n, inside, rest), rest.theta,
                    rest.phi};
  return true;
}

/* dn/dt = - flux / volume along the isentrope, from one time to another. */
static fluid_rest drained(const nozzle *n, fluid_rest rest, double span) {
  const int steps = 20;
  for (int k = 0; k < steps; ++k) {
    const fluid_flow f = fluid_throat(rest);
    const double next =
        rest.phi - span / steps * f.phi * f.speed * throat_area(n) / find_volume(n, rest);
    rest = (fluid_rest){next, fluid_at(rest, next).theta};
  }
  return rest;
}

typedef struct emptied {
  blowdown row[BLOWDOWN_ROWS];
  fluid_rest theory[BLOWDOWN_ROWS];
} emptied;

static bool empty(val_run *run, const nozzle *n, double lasts, emptied *e) {
  make_vessel(run, n, 0.2, false);
  val_step(run, val_steps(run, 0.55 * lasts)); /* time until the flow has developed */
  for (int i = 0; i < BLOWDOWN_ROWS; ++i)
    if (!watch(run, n, lasts, &e->row[i]))
      return false;
  e->theory[0] = (fluid_rest){e->row[0].phi, e->row[0].theta};
  for (int i = 1; i < BLOWDOWN_ROWS; ++i)
    e->theory[i] = drained(n, e->theory[i - 1], e->row[i].t - e->row[i - 1].t);
  return true;
}

static void draw_blowdown(val_run *run, const emptied *e) {
  const char *title = "A vessel of hard spheres empties";
  double t[BLOWDOWN_ROWS], got[BLOWDOWN_ROWS], near[BLOWDOWN_ROWS], theory[BLOWDOWN_ROWS];
  for (int i = 0; i < BLOWDOWN_ROWS; ++i) {
    t[i] = e->row[i].t, got[i] = e->row[i].phi, near[i] = e->row[i].local;
    theory[i] = e->theory[i].phi;
  }
  val_curve(run, "flow-blowdown", title, "t [s]", "filled share", "isentrope", t, theory,
            BLOWDOWN_ROWS);
  val_curve(run, "flow-blowdown", title, "", "", "elastic, all", t, got, BLOWDOWN_ROWS);
  val_curve(run, "flow-blowdown", title, "", "", "elastic, in the vessel", t, near, BLOWDOWN_ROWS);
}

/* The vessel takes some ten times as long to empty as a wave to cross it, and the nozzle is long
 * beside its throat's width: what is lost in it goes with the free path over its length. It begins
 * twice as dense as choked flow, so that free paths are short for longer. */
void val_flow_blowdown(val_run *run) {
  static const nozzle full = {-10.8, 8.4, 25.2, 3.53, 27.9, 38.7, 40.5};
  const nozzle n = run->quick ? scaled(full, 0.67) : full, less = scaled(n, SMALL);
  const double lasts = run->quick ? 4 : 22; /* there and back, at the speed of sound: 25 s */
  const double tolerance = run->quick ? 1 : 0.05;
  emptied small, e;
  if (!empty(run, &less, SMALL * lasts, &small) || !empty(run, &n, lasts, &e))
    return;
  const int last = BLOWDOWN_ROWS - 1;
  const double density = e.row[last].phi / e.theory[last].phi,
               heat = e.row[last].theta / e.theory[last].theta;
  val_near(run, "n / n0 in the end, over the isentrope's", "", density, 1, tolerance);
  val_near(run, "T / T0 in the end, over the isentrope's", "", heat, 1, tolerance);
  val_within(run, "n / n0 in the end", "", e.row[last].phi / e.row[0].phi, 0, run->quick ? 2 : 0.5);
  val_near(run, "n / n0, for Kn to 0, over the isentrope's", "",
           endless(density, small.row[last].phi / small.theory[last].phi), 1, tolerance);
  val_near(run, "T / T0, for Kn to 0, over the isentrope's", "",
           endless(heat, small.row[last].theta / small.theory[last].theta), 1, tolerance);
  draw_blowdown(run, &e);
}
