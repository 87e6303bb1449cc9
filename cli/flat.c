#include "flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char flat_plane_wanted[] = "one of xy, xz and yz";
const char flat_slab_wanted[] = "two growing numbers, such as 0:1";
const char flat_bounds_wanted[] = "left:right,bottom:top, such as 0:65,-11:11";

bool flat_read_plane(const char *text, flat_plane *plane) {
  static const struct {
    const char *name;
    int right, up, across;
    double toward;
  } known[] = {{"xy", 0, 1, 2, 1}, {"xz", 0, 2, 1, -1}, {"yz", 2, 1, 0, -1}};
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strcmp(text, known[i].name) == 0) {
      plane->right = known[i].right, plane->up = known[i].up;
      plane->across = known[i].across, plane->toward = known[i].toward;
      return true;
    }
  return false;
}

/* Reads "a:b" followed by `stop` or the end of the text; NULL if it is something else. */
static const char *read_pair(const char *text, char stop, double range[2]) {
  char *end;
  range[0] = strtod(text, &end);
  if (end == text || *end != ':')
    return NULL;
  const char *second = end + 1;
  range[1] = strtod(second, &end);
  if (end == second || (*end && *end != stop) || !isfinite(range[0]) || !isfinite(range[1]))
    return NULL;
  return end;
}

bool flat_read_range(const char *text, double range[2]) {
  const char *end = read_pair(text, '\0', range);
  return end && *end == '\0' && range[0] < range[1];
}

bool flat_read_bounds(const char *text, flat_plane *plane) {
  const char *end = read_pair(text, ',', plane->bounds);
  if (!end || *end != ',' || !flat_read_range(end + 1, plane->bounds + 2))
    return false;
  plane->has_bounds = plane->bounds[0] < plane->bounds[1];
  return plane->has_bounds;
}

bool flat_is_body(const flat_plane *plane, const frame *bodies, size_t i) {
  const frame_kind kind = bodies->shape_table[bodies->shape[i]].kind;
  const double at = bodies->position[3 * i + (size_t)plane->across];
  return bodies->radius[i] > 0 && kind != FRAME_PLANE && kind != FRAME_CONTAINER &&
         kind != FRAME_REVOLVED &&
         (!plane->has_slab || (at >= plane->slab[0] && at <= plane->slab[1]));
}

double flat_angle(double right, double up) {
  const double angle = atan2(up, right);
  return angle < 0 ? angle + 6.28318530717958647692 : angle;
}
