/* Scenes of spheres for broad phases. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "broad.h"
#include "kernels/morton.h"

#define PI       3.14159265358979323846
#define STREAM   1001 /* of random numbers: scenes of the benchmark */
#define CLOUDS   8
#define THIN_OUT 40.0 /* clouds are as far apart as this many of their sizes */

/* ---- making ---------------------------------------------------------------------------------- */

static double volume_of(const broad_scene *scene) {
  double sum = 0;
  for (size_t i = 0; i < scene->count; ++i) {
    const double r = scene->record[4 * i + 3];
    sum += 4.0 / 3.0 * PI * r * r * r;
  }
  return sum;
}

/* Edges of the region of the centres. A line and a sheet are two spheres thick. */
static void region_of(const broad_recipe *recipe, double volume, double edge[3]) {
  const double all = volume / recipe->fraction, thick = 2;
  switch (recipe->layout) {
  case BROAD_LINE:
    edge[0] = all / (thick * thick);
    edge[1] = edge[2] = thick;
    break;
  case BROAD_SHEET:
    edge[0] = edge[1] = sqrt(all / thick);
    edge[2] = thick;
    break;
  default:
    edge[0] = edge[1] = edge[2] = cbrt(all / (recipe->layout == BROAD_CLOUDS ? CLOUDS : 1));
  }
  if (recipe->highest > 0 && edge[2] > recipe->highest) {
    edge[2] = recipe->highest;
    edge[0] = edge[1] = sqrt(all / edge[2]);
  }
}

typedef struct ranked {
  uint64_t code;
  size_t row;
} ranked;

static int compare(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return x->code != y->code ? (x->code > y->code) - (x->code < y->code)
                            : (x->row > y->row) - (x->row < y->row);
}

/* Rows along a Morton curve through cells of about two spheres. */
static bool put_in_order(broad_scene *scene) {
  const size_t n = scene->count;
  ranked *order = malloc((n + 1) * sizeof *order);
  double *record = malloc((4 * n + 1) * sizeof *record);
  const bool good = order && record;
  for (size_t i = 0; good && i < n; ++i) {
    const double *x = scene->record + 4 * i;
    order[i].code = tl_morton3((uint32_t)(x[0] / 2), (uint32_t)(x[1] / 2), (uint32_t)(x[2] / 2));
    order[i].row = i;
  }
  if (good) {
    qsort(order, n, sizeof *order, compare);
    for (size_t i = 0; i < n; ++i)
      memcpy(record + 4 * i, scene->record + 4 * order[i].row, 4 * sizeof *record);
    free(scene->record);
    scene->record = record;
  } else
    free(record);
  free(order);
  return good;
}

bool broad_scene_make(const broad_recipe *recipe, broad_scene *scene) {
  *scene = (broad_scene){.count = recipe->count};
  scene->record = malloc((4 * recipe->count + 1) * sizeof *scene->record);
  if (!scene->record)
    return false;
  for (size_t i = 0; i < recipe->count; ++i) {
    tl_random random = tl_random_start(recipe->seed, STREAM, i);
    scene->record[4 * i + 3] = pow(recipe->smallest, tl_random_unit(&random));
  }
  double edge[3];
  region_of(recipe, volume_of(scene), edge);
  for (size_t i = 0; i < recipe->count; ++i) {
    tl_random random = tl_random_start(recipe->seed, STREAM + 1, i);
    for (int k = 0; k < 3; ++k) {
      const double far =
          recipe->layout == BROAD_CLOUDS && (i % CLOUDS >> k & 1) ? THIN_OUT * edge[k] : 0;
      scene->record[4 * i + (size_t)k] = far + edge[k] * tl_random_unit(&random);
    }
  }
  return !recipe->ordered || put_in_order(scene);
}

void broad_scene_free(broad_scene *scene) {
  free(scene->record);
  free(scene->velocity);
  *scene = (broad_scene){0};
}

void broad_scene_boxes(const broad_scene *scene, talus_box *boxes) {
  for (size_t i = 0; i < scene->count; ++i) {
    const double *s = scene->record + 4 * i;
    boxes[i] = (talus_box){{s[0] - s[3], s[1] - s[3], s[2] - s[3]},
                           {s[0] + s[3], s[1] + s[3], s[2] + s[3]}};
  }
}

bool broad_scene_write(const broad_scene *scene, const char *path) {
  const uint64_t n = scene->count;
  FILE *file = fopen(path, "wb");
  bool good = file && fwrite(&n, sizeof n, 1, file) == 1 &&
              fwrite(scene->record, 4 * sizeof *scene->record, scene->count, file) == scene->count;
  if (file && fclose(file) != 0)
    good = false;
  return good;
}

/* ---- settling -------------------------------------------------------------------------------- */

/* Number of steps in which a sphere falls freely through the whole scene. */
#define STEPS_TO_FALL 45.0

bool broad_settle_begin(broad_scene *scene) {
  double top = 0;
  for (size_t i = 0; i < scene->count; ++i)
    top = fmax(top, scene->record[4 * i + 2]);
  scene->drop = 2 * top / (STEPS_TO_FALL * STEPS_TO_FALL);
  scene->velocity = calloc(3 * scene->count + 1, sizeof *scene->velocity);
  return scene->velocity != NULL;
}

static void hold_above_floor(double *x, double *v) {
  if (x[2] >= 0)
    return;
  x[2] = 0;
  v[2] = fmax(v[2], 0);
}

/* Moves two spheres apart by their overlap, if they still overlap, and removes the velocity with
 * which they approach. */
static void push_apart(broad_scene *scene, size_t a, size_t b) {
  double *x = scene->record + 4 * a, *y = scene->record + 4 * b;
  double *v = scene->velocity + 3 * a, *w = scene->velocity + 3 * b;
  double n[3] = {y[0] - x[0], y[1] - x[1], y[2] - x[2]};
  const double distance = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const double overlap = x[3] + y[3] - distance;
  if (!(overlap > 0))
    return;
  for (int k = 0; k < 3; ++k)
    n[k] = distance > 0 ? n[k] / distance : k == 2;
  double speed = 0;
  for (int k = 0; k < 3; ++k)
    speed += (w[k] - v[k]) * n[k];
  speed = fmin(speed, 0);
  for (int k = 0; k < 3; ++k) {
    x[k] -= 0.5 * overlap * n[k];
    y[k] += 0.5 * overlap * n[k];
    v[k] += 0.5 * speed * n[k];
    w[k] -= 0.5 * speed * n[k];
  }
}

bool broad_settle_step(broad_scene *scene, talus_detector *detector) {
  const talus_detect_bodies bodies = {.count = scene->count,
                                      .position = scene->record,
                                      .position_stride = 4,
                                      .radius = scene->record + 3,
                                      .radius_stride = 4};
  talus_pairs pairs;
  /* Overlaps of the last step are removed at the begin of this one. So between steps the scene is
   * as it is after moving, which is what a broad phase gets. */
  if (talus_detector_find_pairs(detector, &bodies, &pairs, NULL) != TALUS_OK)
    return false;
  for (size_t i = 0; i < pairs.count; ++i)
    push_apart(scene, pairs.data[i].a, pairs.data[i].b);
  for (size_t i = 0; i < scene->count; ++i) {
    double *x = scene->record + 4 * i, *v = scene->velocity + 3 * i;
    v[2] -= scene->drop;
    for (int k = 0; k < 3; ++k)
      x[k] += v[k];
    hold_above_floor(x, v);
  }
  return true;
}
