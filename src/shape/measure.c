/* Mass properties of the analytic shapes. Gyration is moment over mass: the integral of y^2 + z^2
 * over the volume for the x axis, and so on. */
#include "base/power.h"
#include "shape/measure.h"

static talus_vec3 gyration_of(double xx, double yy, double zz) {
  return tl_vec3(TL_R(yy + zz), TL_R(zz + xx), TL_R(xx + yy));
}

static void measure_sphere(tl_shape *shape) {
  const double r = shape->size[0];
  const talus_real square = TL_R(0.4 * r * r);
  shape->volume = 4.0 / 3.0 * TL_PI * r * r * r;
  shape->gyration = tl_vec3(square, square, square);
  shape->radius = TL_R(r);
}

/* A solid: mass m, moment m (y^2 + z^2)/12 about x, and so on. */
static void measure_box(tl_shape *shape) {
  const double x = shape->size[0], y = shape->size[1], z = shape->size[2];
  shape->volume = x * y * z;
  shape->gyration =
      tl_vec3(TL_R((y * y + z * z) / 12), TL_R((z * z + x * x) / 12), TL_R((x * x + y * y) / 12));
  shape->radius = TL_R(0.5 * tl_dlength(tl_dvec3(x, y, z)));
}

/* Walls without thickness: no volume, no mass. */
static void measure_container(tl_shape *shape) {
  measure_box(shape);
  shape->volume = 0;
  shape->gyration = tl_vec3(0, 0, 0);
}

/* A stretched ball: the mean of x^2 is a^2/5. Three equal half axes give the numbers of a sphere,
 * up to rounding. */
static void measure_ellipsoid(tl_shape *shape) {
  const double a = shape->size[0], b = shape->size[1], c = shape->size[2];
  shape->volume = 4.0 / 3.0 * TL_PI * a * b * c;
  shape->gyration = gyration_of(0.2 * a * a, 0.2 * b * b, 0.2 * c * c);
  shape->radius = TL_R(fmax(a, fmax(b, c)));
}

/* A cylinder and two half balls. The mean of z^2 over a half ball about the middle of the capsule:
 * (L/2)^2 + 2 (L/2)(3r/8) + r^2/5, as its centre of mass is 3r/8 from its flat side. */
static void measure_capsule(tl_shape *shape) {
  const double r = shape->size[0], l = shape->size[1], h = l / 2;
  const double tube = TL_PI * r * r * l, ball = 4.0 / 3.0 * TL_PI * r * r * r;
  const double share = tube / (tube + ball), rest = ball / (tube + ball);
  const double xx = r * r * (share / 4 + rest / 5);
  const double zz = share * l * l / 12 + rest * (h * h + 0.75 * h * r + 0.2 * r * r);
  shape->volume = tube + ball;
  shape->gyration = gyration_of(xx, xx, zz);
  shape->radius = TL_R(h + r);
}

static void measure_cylinder(tl_shape *shape) {
  const double r = shape->size[0], l = shape->size[1];
  shape->volume = TL_PI * r * r * l;
  shape->gyration = gyration_of(r * r / 4, r * r / 4, l * l / 12);
  shape->radius = TL_R(tl_hypot_d(r, l / 2));
}

/* The centre of mass is a quarter of the height above the base: a quarter below mid-height. */
static void measure_cone(tl_shape *shape) {
  const double r = shape->size[0], l = shape->size[1];
  shape->volume = TL_PI * r * r * l / 3;
  shape->gyration = gyration_of(0.15 * r * r, 0.15 * r * r, 0.0375 * l * l);
  shape->radius = TL_R(fmax(0.75 * l, tl_hypot_d(r, l / 4)));
  shape->centre.z = -l / 4;
}

/* B(p, q) */
static double beta(double p, double q) { return tl_gamma_d(p) * tl_gamma_d(q) / tl_gamma_d(p + q); }

/* The farthest place of |u/a|^n + |v/b|^n = 1 from the origin, squared: by Lagrange the norm of
 * (a^2, b^2) dual to the power n/2, whose exponent is n/(n - 2); for n <= 2 it is a vertex. */
static double farthest_squared(double aa, double bb, double n) {
  const double big = fmax(aa, bb), small = fmin(aa, bb);
  if (!(n > 2))
    return big;
  return big * tl_pow_d(1 + tl_pow_d(small / big, n / (n - 2)), (n - 2) / n);
}

/* Layers of constant z are superellipses s = (1 - |z/c|^n1)^(1/n1) times that at z = 0, so each
 * integral is one over the unit superellipse, by Dirichlet's formula
 *   int x^(p-1) y^(q-1) over x^n + y^n <= 1 = G(p/n) G(q/n) / (n^2 G((p + q)/n + 1)),
 * times one over z, which is a beta function. */
static void measure_superellipsoid(tl_shape *shape) {
  const double a = shape->size[0], b = shape->size[1], c = shape->size[2];
  const double n1 = shape->size[3], n2 = shape->size[4];
  const double g1 = tl_gamma_d(1 / n2), g3 = tl_gamma_d(3 / n2);
  const double area = 4 * g1 * g1 / (n2 * n2 * tl_gamma_d(2 / n2 + 1)); /* of a = b = 1 */
  const double second = 4 * g1 * g3 / (n2 * n2 * tl_gamma_d(4 / n2 + 1));
  const double height = 2 / n1 * beta(1 / n1, 2 / n1 + 1);
  const double flat = second * beta(1 / n1, 4 / n1 + 1) / (area * beta(1 / n1, 2 / n1 + 1));
  const double tall = beta(3 / n1, 2 / n1 + 1) / beta(1 / n1, 2 / n1 + 1);
  shape->volume = area * height * a * b * c;
  shape->gyration = gyration_of(flat * a * a, flat * b * b, tall * c * c);
  const double around = farthest_squared(a * a, b * b, n2);
  shape->radius = TL_R(sqrt(farthest_squared(around, c * c, n1)));
}

void tl_measure_analytic(tl_shape *shape) {
  switch (shape->kind) {
  case TALUS_SPHERE:
    measure_sphere(shape);
    break;
  case TALUS_BOX:
    measure_box(shape);
    break;
  case TALUS_CONTAINER:
    measure_container(shape);
    break;
  case TALUS_ELLIPSOID:
    measure_ellipsoid(shape);
    break;
  case TALUS_CAPSULE:
    measure_capsule(shape);
    break;
  case TALUS_CYLINDER:
    measure_cylinder(shape);
    break;
  case TALUS_CONE:
    measure_cone(shape);
    break;
  case TALUS_SUPERELLIPSOID:
    measure_superellipsoid(shape);
    break;
  case TALUS_PLANE:
  case TALUS_HULL:
  case TALUS_CLUMP:
  case TALUS_REVOLVED:
  case TALUS_MESH:
  case TALUS_SHAPE_KINDS:
    break;
  }
}

/* ---- principal axes -------------------------------------------------------------------------- */

/* One rotation of Jacobi's method, in the plane of axes p and q, which makes m[p][q] 0; v gathers
 * the rotations in its columns (Golub and Van Loan, section 8.5). */
static void rotate_pair(double m[3][3], double v[3][3], int p, int q) {
  if (m[p][q] == 0)
    return;
  const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
  const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
  const double c = 1 / sqrt(t * t + 1), s = t * c;
  for (int k = 0; k < 3; ++k) {
    const double x = m[k][p], y = m[k][q];
    m[k][p] = c * x - s * y, m[k][q] = s * x + c * y;
  }
  for (int k = 0; k < 3; ++k) {
    const double x = m[p][k], y = m[q][k];
    m[p][k] = c * x - s * y, m[q][k] = s * x + c * y;
  }
  m[p][q] = m[q][p] = 0;
  for (int k = 0; k < 3; ++k) {
    const double x = v[k][p], y = v[k][q];
    v[k][p] = c * x - s * y, v[k][q] = s * x + c * y;
  }
}

/* The rotation of a proper matrix, by its largest component (Shepperd 1978). */
static talus_quat quat_of(double v[3][3]) {
  const double trace = v[0][0] + v[1][1] + v[2][2];
  double q[4] = {trace, v[0][0], v[1][1], v[2][2]};
  int big = 0;
  for (int i = 1; i < 4; ++i)
    if (q[i] > q[big])
      big = i;
  if (big == 0) {
    q[0] = 1 + trace;
    q[1] = v[2][1] - v[1][2], q[2] = v[0][2] - v[2][0], q[3] = v[1][0] - v[0][1];
  } else {
    const int i = big - 1, j = (i + 1) % 3, k = (i + 2) % 3;
    q[0] = v[k][j] - v[j][k];
    q[i + 1] = 1 + v[i][i] - v[j][j] - v[k][k];
    q[j + 1] = v[j][i] + v[i][j], q[k + 1] = v[k][i] + v[i][k];
  }
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  const double sign = q[0] < 0 ? -1 / length : 1 / length;
  return tl_quat(TL_R(sign * q[0]), TL_R(sign * q[1]), TL_R(sign * q[2]), TL_R(sign * q[3]));
}

void tl_measure_inertia(tl_shape *shape, const double inertia[6]) {
  double m[3][3] = {{inertia[0], inertia[3], inertia[4]},
                    {inertia[3], inertia[1], inertia[5]},
                    {inertia[4], inertia[5], inertia[2]}};
  double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  /* Elements off the diagonal that are only rounding would turn a cube or a ball by an arbitrary
   * angle. */
  const double noise = 1e-13 * (fabs(m[0][0]) + fabs(m[1][1]) + fabs(m[2][2]));
  for (int sweep = 0; sweep < 30; ++sweep) {
    if (fabs(m[0][1]) + fabs(m[0][2]) + fabs(m[1][2]) <= noise)
      break;
    rotate_pair(m, v, 0, 1);
    rotate_pair(m, v, 0, 2);
    rotate_pair(m, v, 1, 2);
  }
  shape->gyration = tl_vec3(TL_R(m[0][0]), TL_R(m[1][1]), TL_R(m[2][2]));
  shape->axes = quat_of(v);
}

void tl_measure_moments(tl_shape *shape, const tl_moments *moments) {
  const double volume = moments->volume;
  const double x = moments->first[0] / volume, y = moments->first[1] / volume,
               z = moments->first[2] / volume;
  const double *s = moments->second;
  const double xx = s[0] / volume - x * x, yy = s[1] / volume - y * y, zz = s[2] / volume - z * z;
  const double inertia[6] = {yy + zz,
                             zz + xx,
                             xx + yy,
                             x * y - s[3] / volume,
                             x * z - s[4] / volume,
                             y * z - s[5] / volume};
  shape->volume = volume;
  shape->centre = tl_dvec3(x, y, z);
  tl_measure_inertia(shape, inertia);
}
