/* The list of tasks: `X(name)` has a struct tl_name_task and a function tl_name_at(task, i). */
#ifndef TL_THREAD_TASKS_H
#define TL_THREAD_TASKS_H

#include "backend/thread/boxes.h"
#include "backend/thread/corners.h"
#include "backend/thread/gradient.h"
#include "backend/thread/digest.h"
#include "backend/thread/guides.h"
#include "backend/thread/impacts.h"
#include "backend/thread/lent.h"
#include "backend/thread/pairs.h"
#include "backend/thread/passings.h"
#include "backend/thread/published.h"
#include "backend/thread/rows.h"
#include "backend/thread/spheres.h"

/* clang-format off */
#define TL_TASKS(X) \
  X(borrow) X(measure) X(join) X(key) X(gather) X(fill) X(corners) X(lists) X(ends) X(corner) X(touch) \
  X(active) X(begins) X(loads) X(binned) X(run) X(contact) X(digest) \
  X(class) X(bound) X(round) X(ellipsoid) X(box) X(convex) X(clump) X(place) X(overlap) X(pick) \
  X(ready) X(judge) X(move) X(worth) X(add) \
  X(carry) X(settle) X(forget) X(bid) X(choose) X(tell) X(limit) X(row) X(visit) X(lift) \
  X(remain) X(store) X(shrink) X(aim) X(still) X(depth) \
  X(stand) X(meet) X(reach) X(part) X(calm) X(queue) X(due) X(unite) X(line) X(strike) X(again) \
  X(leave) X(merge) X(follow) X(arrive) X(lay) X(pass) \
  X(entry) X(edge) X(spread) X(apart) X(advance) X(slope) X(rest) X(start) X(end) X(blend) X(blend_body) \
  X(cut)
/* clang-format on */

typedef enum tl_task_kind {
#define TL_TASK_ENUM(name) TL_TASK_##name,
  TL_TASKS(TL_TASK_ENUM)
#undef TL_TASK_ENUM
      TL_TASK_COUNT
} tl_task_kind;

#endif
