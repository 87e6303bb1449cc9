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

/* As dense, warm and fast as theory has it, slice by slice: what is found has little to do with how
 * it began, and is found soon. */
static void fill_slices(val_run *run, const nozzle *n, double phi, const talus_body_def *ball) {
  const double dz = (n->end - n->bottom) / SLICES;
  for (int i = 0; i < SLICES && !run->failed; ++i) {
    const double low = n->bottom + i * dz, high = low + dz, middle = low + 0.5 * dz;
    const double r = radius_at(n, middle), low_r = radius_at(n, low), high_r = radius_at(n, high);
    const fluid_flow f = flow_at(n, (fluid_rest){phi, 1}, middle);
    const double count = f.phi / volume_of_one * VAL_PI * r * r * dz * (run->quick ? 0.1 : 1);
    talus_body_def one = *ball;
    one.velocity = val_vec(0, 0, f.speed);
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

/* ---- choked flow ----------------------------------------------------------------------------- */

/* What three gauges (vessel, throat, mouth) and the count of those that left say. Theory is that of
 * the density which the vessel came to have. */
static void compare(val_run *run, const nozzle *n, double phi, const stream_gauge g[3],
                    double flux) {
  const fluid_rest rest = rest_of(&g[0]);
  const fluid_flow throat = fluid_throat(rest), mouth = fluid_at_area(rest, WIDENED, 1);
  const double n0 = rest.phi / volume_of_one, seen = gauge_density(&g[2]) * volume_of_one;
  const double sound = fluid_at((fluid_rest){seen, gauge_heat(&g[2])}, seen).sound;
  const double near = run->quick ? 1 : 0.05;
  const double expected[4] = {throat.phi / rest.phi * throat.speed / sqrt(rest.theta),
                              throat.theta / rest.theta, throat.phi / rest.phi,
                              mouth.speed / mouth.sound};
  val_near(run, "phi of the vessel", "", rest.phi, phi, (run->quick ? 1 : 0.1) * phi);
  val_within(run, "Knudsen number of the throat", "", knudsen(n, rest.phi), 0,
             run->quick ? 10 : 0.05);
  val_near(run, "flux / n0 sqrt(kT0/m) A*", "", flux / (n0 * sqrt(rest.theta) * throat_area(n)),
           expected[0], near * expected[0]);
  val_near(run, "throat: T*/T0", "", gauge_heat(&g[1]) / rest.theta, expected[1],
           near * expected[1]);
  val_near(run, "throat: n*/n0", "", gauge_density(&g[1]) / n0, expected[2], near * expected[2]);
  val_near(run, "mouth: Mach number", "", gauge_speed(&g[2]) / sound, expected[3],
           near * expected[3]);
}

static void check_choked(val_run *run, nozzle n, double phi, double lasts) {
  enum { LOOKS = 160 };
  double energy = 0;
  stream_gauge g[3] = {
      vessel_gauge(&n),
      {.radius = n.throat, .low = 0.5 * (n.neck + n.widens), .high = n.widens},
      {.radius = n.throat * sqrt(WIDENED), .low = n.mouth, .high = 0.5 * (n.mouth + n.end)}};
  make_vessel(run, &n, phi, true);
  val_step(run, val_steps(run, lasts)); /* until it is steady */
  (void)stream_take_left(run, &energy);
  const talus_report from = val_report(run);
  for (int i = 0; i < LOOKS && !run->failed; ++i) {
    const long steps = val_steps(run, lasts / LOOKS);
    val_step(run, steps > 0 ? steps : 1);
    stream_look(run, g, 3);
    (void)stream_take_left(run, &energy);
  }
  const talus_report to = val_report(run);
  if (!run->failed)
    compare(run, &n, phi, g, (double)(to.removed - from.removed) / (to.time - from.time));
}

void val_flow_choked_5(val_run *run) {
  static const nozzle n = {-20, 13, 44, 8.6, 48, 98, 106};
  check_choked(run, run->quick ? scaled(n, 0.3) : n, 0.05, run->quick ? 6 : 100);
}

void val_flow_choked_10(val_run *run) {
  static const nozzle n = {-14, 7.5, 30, 5, 33, 75, 79};
  check_choked(run, run->quick ? scaled(n, 0.3) : n, 0.1, run->quick ? 6 : 70);
}

/* ---- blowdown -------------------------------------------------------------------------------- */

typedef struct blowdown {
  double t, phi, theta, local; /* by all that is inside, and by those near the gauge */
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
  stream_gauge g = vessel_gauge(n);
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

/* Through a throat so narrow that the vessel takes many times as long to empty as a wave to cross
 * it: the gas in it is nearly at rest. It begins twice as dense as choked flow, so that free paths
 * are short beside the throat for longer: what is lost in it goes with their share. */
void val_flow_blowdown(val_run *run) {
  enum { ROWS = 8 };
  static const nozzle full = {-10.8, 8.4, 16.8, 2.52, 18.6, 34.8, 37.2};
  const nozzle n = run->quick ? scaled(full, 0.67) : full;
  const double lasts = run->quick ? 4 : 21.6; /* there and back, at the speed of sound: 25 s */
  blowdown row[ROWS];
  double t[ROWS], got[ROWS], near[ROWS], theory[ROWS];
  make_vessel(run, &n, 0.2, false);
  val_step(run, val_steps(run, run->quick ? 2 : 12)); /* until it flows as it will */
  for (int i = 0; i < ROWS; ++i)
    if (!watch(run, &n, lasts, &row[i]))
      return;
  fluid_rest rest = {row[0].phi, row[0].theta};
  for (int i = 0; i < ROWS; ++i) {
    if (i > 0)
      rest = drained(&n, rest, row[i].t - row[i - 1].t);
    t[i] = row[i].t, got[i] = row[i].phi, near[i] = row[i].local, theory[i] = rest.phi;
  }
  const blowdown *end = &row[ROWS - 1];
  const double tolerance = run->quick ? 1 : 0.05;
  val_near(run, "n / n0 in the end, over the isentrope's", "", end->phi / rest.phi, 1, tolerance);
  val_near(run, "T / T0 in the end, over the isentrope's", "", end->theta / rest.theta, 1,
           tolerance);
  val_within(run, "n / n0 in the end", "", end->phi / row[0].phi, 0, run->quick ? 2 : 0.6);
  const char *title = "A vessel of hard spheres empties";
  val_curve(run, "flow-blowdown", title, "t [s]", "filled share", "isentrope", t, theory, ROWS);
  val_curve(run, "flow-blowdown", title, "", "", "elastic, all", t, got, ROWS);
  val_curve(run, "flow-blowdown", title, "", "", "elastic, in the vessel", t, near, ROWS);
}
