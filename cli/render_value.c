/* Frames with the values that their colours represent. */
#include <stdlib.h>
#include <string.h>

#include "render_flat.h"

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

/* ---- finding bodies by uid ------------------------------------------------------------------- */

typedef struct entry {
  uint64_t uid;
  uint32_t row;
} entry;

static int by_uid(const void *a, const void *b) {
  const uint64_t x = ((const entry *)a)->uid, y = ((const entry *)b)->uid;
  return (x > y) - (x < y);
}

bool render_index_make(const frame *bodies, render_index *index) {
  const size_t n = bodies->bodies;
  entry *entries = malloc((n + 1) * sizeof *entries);
  *index =
      (render_index){malloc((n + 1) * sizeof *index->uid), malloc((n + 1) * sizeof *index->row), n};
  const bool good = entries && index->uid && index->row;
  for (size_t i = 0; good && i < n; ++i)
    entries[i] = (entry){bodies->id[i], (uint32_t)i};
  if (good)
    qsort(entries, n, sizeof *entries, by_uid);
  for (size_t i = 0; good && i < n; ++i) {
    index->uid[i] = entries[i].uid;
    index->row[i] = entries[i].row;
  }
  free(entries);
  if (!good)
    render_index_free(index);
  return good;
}

void render_index_free(render_index *index) {
  free(index->uid);
  free(index->row);
  *index = (render_index){0};
}

size_t render_index_find(const render_index *index, uint64_t uid) {
  size_t low = 0, high = index->count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (index->uid[middle] < uid)
      low = middle + 1;
    else
      high = middle;
  }
  return low < index->count && index->uid[low] == uid ? index->row[low] : SIZE_MAX;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Hoare's selection algorithm. */
float render_select(float *numbers, size_t n, size_t k) {
  ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;
  const ptrdiff_t wanted = (ptrdiff_t)k;
  while (low < high) {
    const float pivot = numbers[low + (high - low) / 2];
    ptrdiff_t i = low, j = high;
    while (i <= j) {
      while (numbers[i] > pivot)
        i++;
      while (numbers[j] < pivot)
        j--;
      if (i > j)
        break;
      const float other = numbers[i];
      numbers[i++] = numbers[j];
      numbers[j--] = other;
    }
    if (wanted <= j)
      high = j;
    else if (wanted >= i)
      low = i;
    else
      break;
  }
  return numbers[k];
}

const render_span render_span_none = {-INFINITY, {INFINITY, -INFINITY}};

void render_span_add(render_span *span, float *value, size_t n) {
  const size_t strays = (size_t)(RENDER_STRAYS * (float)n);
  if (n == 0)
    return;
  span->most = fmaxf(span->most, render_select(value, n, 0));
  span->value[1] = fmaxf(span->value[1], render_select(value, n, strays));
  span->value[0] = fminf(span->value[0], render_select(value, n, n - 1 - strays));
}

render_colours render_colours_of(const render_options *options, const render_span *span) {
  double low = (double)span->value[0], high = (double)span->value[1];
  render_colours made = {.has_values = isfinite(low) && isfinite(high)};
  if (!made.has_values)
    low = 0, high = 1;
  if (options->with_contacts || (options->colour != BY_SIZE && options->colour != BY_TIME))
    low = 0;
  if (options->colour == BY_TIME) /* at least a decade */
    low = fmin(low, high - 1);
  if (!(high > low + 1e-6 * fabs(high))) { /* all equal: the middle of an arbitrary range */
    const double value = high;
    low = value > 0 ? 0.9 * value : 0;
    high = value > 0 ? 1.1 * value : 1;
  }
  made.range[0] = options->has_range ? options->range[0] : low;
  made.range[1] = options->has_range ? options->range[1] : high;
  made.is_cut = (double)span->most > made.range[1] + 1e-4 * fabs(made.range[1]);
  return made;
}

float render_share(const render_colours *colours, float value) {
  return (float)(((double)value - colours->range[0]) / (colours->range[1] - colours->range[0]));
}

/* Height of a body's centre beyond the slice, m; unbounded bodies are not cut. */
static double beyond(const render_options *options, const frame *bodies, size_t i) {
  const double *p = bodies->position + 3 * i, *n = options->slice;
  if (!options->has_slice || bodies->radius[i] == 0)
    return -INFINITY;
  return (n[0] * p[0] + n[1] * p[1] + n[2] * p[2] - n[3]) /
         sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
}

bool render_is_shown(const render_options *options, const frame *bodies, size_t i) {
  return beyond(options, bodies, i) <= 0 && render_choice_shows(&options->choice, bodies, i);
}

bool render_is_met(const render_options *options, const frame *bodies, size_t i) {
  return beyond(options, bodies, i) <= bodies->radius[i] &&
         render_choice_shows(&options->choice, bodies, i);
}

static void find_speeds(const frame *bodies, float *value) {
  for (size_t i = 0; i < bodies->bodies; ++i) {
    const float *v = bodies->velocity + 3 * i;
    value[i] = sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
}

/* No step is longer than the grid's; bodies at rest take that step. */
static void find_paces(const frame *bodies, float *value) {
  for (size_t i = 0; i < bodies->bodies; ++i) {
    const double pace = bodies->pace[i], longest = bodies->dt > 0 ? bodies->dt : 1;
    value[i] = (float)log10(pace > 0 && pace < longest ? pace : longest);
  }
}

/* Sum of the magnitudes of contact forces on each body. */
static bool find_forces(const render_data *data, float *value) {
  render_index index;
  if (!render_index_make(&data->bodies, &index))
    return false;
  memset(value, 0, data->bodies.bodies * sizeof *value);
  for (size_t i = 0; i < data->contacts.count; ++i) {
    const uint64_t uids[2] = {data->contacts.body_a[i], data->contacts.body_b[i]};
    for (int k = 0; k < 2; ++k) {
      const size_t row = render_index_find(&index, uids[k]);
      if (row != SIZE_MAX)
        value[row] += render_contact_force(&data->contacts, i);
    }
  }
  render_index_free(&index);
  return true;
}

static int find_values(const render_options *options, render_data *data) {
  const frame *bodies = &data->bodies;
  if (options->with_contacts) /* bodies are clear */
    return CLI_DONE;
  if (options->colour != BY_SPEED && options->colour != BY_ANGLE && options->colour != BY_SIZE &&
      options->colour != BY_FORCE && options->colour != BY_TEMPERATURE &&
      options->colour != BY_TIME)
    return CLI_DONE;
  data->value = malloc((bodies->bodies + 1) * sizeof *data->value);
  if (!data->value)
    return out_of_memory();
  if (options->colour == BY_FORCE)
    return find_forces(data, data->value) ? CLI_DONE : out_of_memory();
  if (options->colour == BY_TEMPERATURE)
    return render_flat_temperatures(bodies, data->value) ? CLI_DONE : out_of_memory();
  if (options->colour == BY_TIME)
    find_paces(bodies, data->value);
  else if (options->colour == BY_SIZE)
    for (size_t i = 0; i < bodies->bodies; ++i)
      data->value[i] = 2 * bodies->radius[i];
  else
    find_speeds(bodies, data->value);
  return CLI_DONE;
}

/* The first body that is too far away, or too large, for the arithmetic of a picture; SIZE_MAX:
 * none. */
static size_t find_absurd(const frame *bodies) {
  for (size_t i = 0; i < bodies->bodies; ++i) {
    const double *x = bodies->position + 3 * i;
    const double *size = bodies->shape_table[bodies->shape[i]].size;
    double most = fmax(fmax(fabs(x[0]), fabs(x[1])), fmax(fabs(x[2]), bodies->radius[i]));
    if (bodies->shape_table[bodies->shape[i]].kind != FRAME_PLANE)
      for (int k = 0; k < 3; ++k)
        most = fmax(most, fabs(size[k]) * bodies->scale[i]);
    if (!(most <= RENDER_FAR))
      return i;
  }
  return SIZE_MAX;
}

int render_data_read(const render_options *options, const render_frame *from, render_data *data) {
  char why[4096 + 256];
  *data = (render_data){0};
  if (!frame_read(from->path, &data->bodies, why, sizeof why)) {
    cli_error("%s", why);
    return CLI_INPUT;
  }
  const size_t absurd = find_absurd(&data->bodies);
  if (absurd != SIZE_MAX) {
    const double *x = data->bodies.position + 3 * absurd;
    cli_error("%s: body %llu, of radius %g m, is at (%g, %g, %g): pictures are of what is smaller "
              "than 1e12 m, and within 1e12 m of the origin",
              from->path, (unsigned long long)data->bodies.id[absurd],
              (double)data->bodies.radius[absurd], x[0], x[1], x[2]);
    render_data_free(data);
    return CLI_INPUT;
  }
  const bool wants_contacts = options->with_contacts || options->colour == BY_FORCE;
  if (wants_contacts && !frame_contacts_read(from->contacts, &data->contacts, why, sizeof why)) {
    cli_error("%s; forces are there when the scene says output: {fields: [..., contacts]}", why);
    render_data_free(data);
    return CLI_INPUT;
  }
  const bool wants_velocity = options->colour == BY_SPEED || options->colour == BY_ANGLE ||
                              options->colour == BY_DIRECTION || options->colour == BY_TEMPERATURE;
  int code = CLI_INPUT;
  if (options->colour == BY_TIME && !data->bodies.pace)
    cli_error("%s holds no pace of bodies, which steps alone that are of their own have (step: "
              "{kind: local}); --colour speed, size, id or material can be shown",
              from->path);
  else if (wants_velocity && !options->with_contacts && !data->bodies.velocity)
    cli_error("%s holds no velocities, so bodies cannot be coloured by them; --colour size, id or "
              "material can, or run with output: {fields: [velocity]}",
              from->path);
  else
    code = find_values(options, data);
  if (code != CLI_DONE)
    render_data_free(data);
  return code;
}

void render_data_free(render_data *data) {
  frame_free(&data->bodies);
  frame_contacts_free(&data->contacts);
  free(data->value);
  *data = (render_data){0};
}
