/* Spheres in arrays of the caller that are on the device: the work of one thread. */
#ifndef TL_THREAD_LENT_H
#define TL_THREAD_LENT_H

#include "backend/thread/spheres.h"

typedef struct tl_lent_spheres {
  const double *position, *radius; /* m */
  size_t position_stride, radius_stride;
  const uint8_t *fixed; /* NULL: no body is */
} tl_lent_spheres;

/* Copies rows in the order of the device, and looks for numbers that are not spheres, so large that
 * a sum overflows, or too long for the period. Which of these, and in which row, the host then
 * finds out with its own checks. */
typedef struct tl_borrow_task {
  tl_lent_spheres lent;
  double margin, longest[3]; /* m: of a pair; of a body with its margin, along each axis */
  tl_thread_ball *rows;      /* NULL: they are not copied */
  uint32_t *odd;             /* cleared; 1: there are such numbers */
} tl_borrow_task;

#define TL_LENT_FARTHEST 1e150 /* m: squares of more are not numbers */

TL_FN void tl_borrow_at(const tl_borrow_task *task, size_t i) {
  const double *x = task->lent.position + i * task->lent.position_stride;
  const double radius = task->lent.radius[i * task->lent.radius_stride];
  const double wide = 2 * radius + task->margin;
  bool is_sound = radius >= 0 && wide < TL_LENT_FARTHEST;
  for (int k = 0; k < 3; ++k)
    is_sound = is_sound && fabs(x[k]) < TL_LENT_FARTHEST && wide <= task->longest[k];
  if (!is_sound)
    tl_thread_set(task->odd, 1);
  if (!task->rows)
    return;
  tl_thread_ball row;
  row.x = x[0];
  row.y = x[1];
  row.z = x[2];
  row.radius = (double)(talus_real)radius;
  task->rows[i] = row;
}

#endif
