/* Curl and divergence of an averaged velocity.
 *
 * The mean velocity of a cell belongs to the centre of its mass, not to the middle of the cell. So
 * slopes are those of the least-squares plane through the cell and the neighbours that share a face
 * with it, each at its centre of mass: velocities that are linear in space give exact slopes,
 * wherever the bodies are. If neighbours do not span the grid's directions the slope is not a
 * number. */
#include "flow/average.h"

/* determinant over the product of the diagonal, below which directions coincide */
#define FLAT 1e-6

typedef struct slope_fit {
  int n;          /* directions: those with more than one cell */
  int axis[3];    /* which they are */
  double m[3][3]; /* sum of d d^T */
  double r[3][3]; /* sum of d_i times the difference of velocity component j */
} slope_fit;

static void centre_of(const tl_average *average, size_t cell, double at[3]) {
  const double *sum = average->sums.data + TL_SUMS * cell;
  for (int k = 0; k < 3; ++k)
    at[k] = sum[TL_SUM_PLACE + k] / sum[TL_SUM_MASS];
}

static void add_neighbour(const tl_average *average, size_t cell, size_t next, const double *v,
                          slope_fit *fit) {
  double here[3], there[3];
  if (!(average->sums.data[TL_SUMS * next + TL_SUM_MASS] > 0))
    return;
  centre_of(average, cell, here);
  centre_of(average, next, there);
  for (int i = 0; i < fit->n; ++i) {
    const double d = there[fit->axis[i]] - here[fit->axis[i]];
    for (int j = 0; j < fit->n; ++j)
      fit->m[i][j] += d * (there[fit->axis[j]] - here[fit->axis[j]]);
    for (int j = 0; j < 3; ++j)
      fit->r[i][j] += d * (v[3 * next + (size_t)j] - v[3 * cell + (size_t)j]);
  }
}

/* Gaussian elimination without pivoting: the matrix is symmetric and positive semidefinite.
 * slope[i][j]: of component j along axis i. */
static bool solve(slope_fit *fit, double slope[3][3]) {
  double product = 1, determinant = 1;
  for (int i = 0; i < fit->n; ++i)
    product *= fit->m[i][i];
  for (int i = 0; i < fit->n; ++i) {
    determinant *= fit->m[i][i];
    if (!(fit->m[i][i] > 0))
      return false;
    for (int k = i + 1; k < fit->n; ++k) {
      const double f = fit->m[k][i] / fit->m[i][i];
      for (int j = i; j < fit->n; ++j)
        fit->m[k][j] -= f * fit->m[i][j];
      for (int j = 0; j < 3; ++j)
        fit->r[k][j] -= f * fit->r[i][j];
    }
  }
  if (!(determinant > FLAT * product))
    return false;
  for (int i = fit->n - 1; i >= 0; --i)
    for (int j = 0; j < 3; ++j) {
      double sum = fit->r[i][j];
      for (int k = i + 1; k < fit->n; ++k)
        sum -= fit->m[i][k] * slope[fit->axis[k]][j];
      slope[fit->axis[i]][j] = sum / fit->m[i][i];
    }
  return true;
}

static bool find_slope(const tl_average *average, size_t cell, const double *v,
                       double slope[3][3]) {
  const size_t nx = average->cells[0], ny = average->cells[1];
  const size_t stride[3] = {1, nx, nx * ny};
  const size_t at[3] = {cell % nx, cell / nx % ny, cell / (nx * ny)};
  slope_fit fit = {.n = 0};
  if (!(average->sums.data[TL_SUMS * cell + TL_SUM_MASS] > 0))
    return false;
  for (int k = 0; k < 3; ++k)
    if (average->cells[k] > 1)
      fit.axis[fit.n++] = k;
  for (int i = 0; i < fit.n; ++i) {
    const int k = fit.axis[i];
    if (at[k] > 0)
      add_neighbour(average, cell, cell - stride[k], v, &fit);
    if (at[k] + 1 < average->cells[k])
      add_neighbour(average, cell, cell + stride[k], v, &fit);
  }
  memset(slope, 0, 9 * sizeof(double));
  return fit.n > 0 && solve(&fit, slope);
}

/* Converts to r, azimuth and z, for grids without cells along the azimuth. */
static void on_rings(const tl_average *average, size_t cell, const double *v, double g[3][3],
                     double curl[3], double *divergence) {
  double at[3];
  centre_of(average, cell, at);
  curl[0] = -g[2][1];
  curl[1] = g[2][0] - g[0][2];
  curl[2] = g[0][1] + v[3 * cell + 1] / at[0];
  *divergence = g[0][0] + v[3 * cell] / at[0] + g[2][2];
}

void tl_average_find_slopes(const tl_average *average, const double *velocity, double *curl,
                            double *divergence) {
  const size_t cells = tl_average_cells(average);
  for (size_t i = 0; i < cells; ++i) {
    double g[3][3], *c = curl + 3 * i;
    c[0] = c[1] = c[2] = divergence[i] = NAN;
    if (!find_slope(average, i, velocity, g))
      continue;
    if (average->grid == TALUS_GRID_RZ) {
      on_rings(average, i, velocity, g, c, &divergence[i]);
      continue;
    }
    c[0] = g[1][2] - g[2][1];
    c[1] = g[2][0] - g[0][2];
    c[2] = g[0][1] - g[1][0];
    for (int k = 0; k < 3 && average->grid == TALUS_GRID_PLANE; ++k)
      c[k] = k == (int)average->across ? c[k] : 0;
    divergence[i] = g[0][0] + g[1][1] + g[2][2];
  }
}
