/* The fluid of hard spheres (Carnahan and Starling): its isentrope, and flow along it.
 *
 * With density as the filled share phi, temperature kT/m = theta:  p / rho = Z theta,
 * Z = (1 + phi + phi^2 - phi^3) / (1 - phi)^3; energy 3/2 theta per mass. Along an isentrope
 * theta ~ phi^(2/3) exp((2/3) phi (4 - 3 phi) / (1 - phi)^2); enthalpy (3/2 + Z) theta. */
#ifndef BENCH_VALIDATION_FLUID_H
#define BENCH_VALIDATION_FLUID_H

/* Of gas at rest. */
typedef struct fluid_rest {
  double phi, theta; /* m2/s2 */
} fluid_rest;

typedef struct fluid_flow {
  double phi, theta, speed; /* m/s */
  double sound;             /* m/s */
} fluid_flow;

double fluid_pressure(double phi); /* Z */

/* The state on the isentrope of `rest` at another density. */
fluid_flow fluid_at(fluid_rest rest, double phi);
/* Where the flow is as fast as sound: the throat. */
fluid_flow fluid_throat(fluid_rest rest);
/* Where the stream is `area` (at least 1) times as wide as at the throat. */
fluid_flow fluid_at_area(fluid_rest rest, double area, int is_fast);
/* Gas at rest that becomes this when it flows. */
fluid_rest fluid_stopped(double phi, double theta, double speed);

#endif
