#include "validation_fluid.h"

#include <math.h>

double fluid_pressure(double phi) {
  return (1 + phi + phi * phi - phi * phi * phi) / pow(1 - phi, 3);
}

/* ln theta along an isentrope, up to a constant. */
static double heat(double phi) {
  return 2.0 / 3.0 * (log(phi) + phi * (4 - 3 * phi) / ((1 - phi) * (1 - phi)));
}

static double enthalpy(double phi, double theta) { return (1.5 + fluid_pressure(phi)) * theta; }

/* c^2 = dp/drho: theta (Z + phi Z' + 2/3 Z^2). */
static double sound(double phi, double theta) {
  const double z = fluid_pressure(phi), h = 1e-6 * phi;
  const double slope = (fluid_pressure(phi + h) - fluid_pressure(phi - h)) / (2 * h);
  return sqrt(theta * (z + phi * slope + 2.0 / 3.0 * z * z));
}

fluid_flow fluid_at(fluid_rest rest, double phi) {
  fluid_flow f = {.phi = phi, .theta = rest.theta * exp(heat(phi) - heat(rest.phi))};
  const double fall = enthalpy(rest.phi, rest.theta) - enthalpy(phi, f.theta);
  f.speed = fall > 0 ? sqrt(2 * fall) : 0;
  f.sound = sound(phi, f.theta);
  return f;
}

fluid_flow fluid_throat(fluid_rest rest) {
  double low = 1e-3 * rest.phi, high = rest.phi;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    const fluid_flow f = fluid_at(rest, middle);
    if (f.speed > f.sound)
      low = middle;
    else
      high = middle;
  }
  return fluid_at(rest, low);
}

fluid_flow fluid_at_area(fluid_rest rest, double area, int is_fast) {
  const fluid_flow throat = fluid_throat(rest);
  const double flux = throat.phi * throat.speed / (area > 1 ? area : 1);
  double low = is_fast ? 1e-6 * rest.phi : throat.phi, high = is_fast ? throat.phi : rest.phi;
  for (int i = 0; i < 100; ++i) { /* phi * speed rises to the throat from below, falls beyond */
    const double middle = 0.5 * (low + high);
    const fluid_flow f = fluid_at(rest, middle);
    if ((f.phi * f.speed > flux) == (is_fast != 0))
      high = middle;
    else
      low = middle;
  }
  return fluid_at(rest, 0.5 * (low + high));
}

fluid_rest fluid_stopped(double phi, double theta, double speed) {
  const double wanted = enthalpy(phi, theta) + 0.5 * speed * speed;
  double low = phi, high = 0.6;
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    if (enthalpy(middle, theta * exp(heat(middle) - heat(phi))) < wanted)
      low = middle;
    else
      high = middle;
  }
  return (fluid_rest){low, theta * exp(heat(low) - heat(phi))};
}
