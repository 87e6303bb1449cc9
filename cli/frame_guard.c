/* Reads files of a result folder in a separate process, which sends the arrays through a pipe: a
 * file that crashes HDF5, or keeps it busy for ever, ends that process and not this one. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frame_read.h"

#define PATIENCE 600 /* s that a file may take */

/* ---- arrays of a struct ---------------------------------------------------------------------- */

/* An array: offsets of its pointer and its number of rows in the struct, and bytes per row. */
typedef struct column {
  size_t pointer, rows, bytes;
} column;

#define COLUMN(type, member, count, width)                                                         \
  { offsetof(type, member), offsetof(type, count), (width) * sizeof *((type *)0)->member }

static const column frame_columns[] = {
    COLUMN(frame, position, bodies, 3),
    COLUMN(frame, id, bodies, 1),
    COLUMN(frame, radius, bodies, 1),
    COLUMN(frame, scale, bodies, 1),
    COLUMN(frame, shape, bodies, 1),
    COLUMN(frame, material, bodies, 1),
    COLUMN(frame, quaternion, bodies, 4),
    COLUMN(frame, velocity, bodies, 3),
    COLUMN(frame, pace, bodies, 1),
    COLUMN(frame, point, points, 4),
    COLUMN(frame, triangle, triangles, 3),
    COLUMN(frame, shape_table, shapes, 1),
    COLUMN(frame, material_table, materials, 1),
};
static const column contact_columns[] = {
    COLUMN(frame_contacts, body_a, count, 1),
    COLUMN(frame_contacts, body_b, count, 1),
    COLUMN(frame_contacts, point, count, 3),
    COLUMN(frame_contacts, impulse, count, 3),
};

static const column average_columns[] = {
    COLUMN(frame_average, count, cells, 1),
    COLUMN(frame_average, velocity, cells, 3),
    COLUMN(frame_average, temperature, cells, 1),
};

static void *get_pointer(const void *from, const column *at) {
  void *pointer;
  memcpy(&pointer, (const char *)from + at->pointer, sizeof pointer);
  return pointer;
}

static void set_pointer(void *to, const column *at, void *pointer) {
  memcpy((char *)to + at->pointer, &pointer, sizeof pointer);
}

static size_t bytes_of(const void *from, const column *at) {
  size_t rows;
  memcpy(&rows, (const char *)from + at->rows, sizeof rows);
  return rows > SIZE_MAX / 2 / at->bytes ? SIZE_MAX : rows * at->bytes;
}

static void free_columns(void *from, const column *columns, size_t n) {
  for (size_t i = 0; i < n; ++i)
    free(get_pointer(from, &columns[i]));
}

void frame_free(frame *found) {
  free_columns(found, frame_columns, sizeof frame_columns / sizeof *frame_columns);
  *found = (frame){0};
}

void frame_contacts_free(frame_contacts *found) {
  free_columns(found, contact_columns, sizeof contact_columns / sizeof *contact_columns);
  *found = (frame_contacts){0};
}

void frame_average_free(frame_average *found) {
  free_columns(found, average_columns, sizeof average_columns / sizeof *average_columns);
  *found = (frame_average){0};
}

/* ---- the pipe -------------------------------------------------------------------------------- */

static bool send_bytes(int pipe, const void *data, size_t bytes) {
  const char *at = data;
  while (bytes > 0) {
    const ssize_t n = write(pipe, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

static bool receive_bytes(int pipe, void *data, size_t bytes) {
  char *at = data;
  while (bytes > 0) {
    const ssize_t n = read(pipe, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    at += n;
    bytes -= (size_t)n;
  }
  return true;
}

/* A struct to be read, with its arrays. */
typedef struct task {
  const char *path;
  bool (*parse)(const char *path, void *found, char *why, size_t size);
  void *found;
  size_t bytes;
  const column *columns;
  size_t column_count;
  char *why;
  size_t size;
} task;

static _Noreturn void read_there(const task *what, int pipe) {
  alarm(PATIENCE);
  const bool good = what->parse(what->path, what->found, what->why, what->size);
  bool sent = send_bytes(pipe, &good, sizeof good);
  if (!good)
    sent = sent && send_bytes(pipe, what->why, what->size);
  else {
    sent = sent && send_bytes(pipe, what->found, what->bytes);
    for (size_t i = 0; sent && i < what->column_count; ++i) {
      const void *data = get_pointer(what->found, &what->columns[i]);
      sent = !data || send_bytes(pipe, data, bytes_of(what->found, &what->columns[i]));
    }
  }
  _exit(sent ? 0 : 1);
}

/* True: the struct is filled in. False: what->why says why, or is empty if the other process
 * ended. */
static bool take_over(const task *what, int pipe) {
  bool good = false;
  what->why[0] = '\0';
  if (!receive_bytes(pipe, &good, sizeof good))
    return false;
  if (!good) {
    if (!receive_bytes(pipe, what->why, what->size))
      what->why[0] = '\0';
    what->why[what->size - 1] = '\0';
    return false;
  }
  if (!receive_bytes(pipe, what->found, what->bytes))
    return false;
  /* received pointers belong to the other process */
  for (size_t i = 0; i < what->column_count; ++i) {
    const bool has = get_pointer(what->found, &what->columns[i]) != NULL;
    const size_t bytes = bytes_of(what->found, &what->columns[i]);
    void *data = has && good && bytes < SIZE_MAX ? malloc(bytes + 1) : NULL;
    if (has && good && !data)
      snprintf(what->why, what->size, "%s: out of memory", what->path);
    good = good && (!has || (data && receive_bytes(pipe, data, bytes)));
    set_pointer(what->found, &what->columns[i], data);
  }
  return good;
}

static bool read_guarded(const task *what) {
  int ends[2];
  memset(what->found, 0, what->bytes);
  if (pipe(ends) != 0) {
    snprintf(what->why, what->size, "%s: no pipe: %s", what->path, strerror(errno));
    return false;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    read_there(what, ends[1]);
  }
  close(ends[1]);
  bool good = false;
  if (child < 0)
    snprintf(what->why, what->size, "%s: no process: %s", what->path, strerror(errno));
  else {
    good = take_over(what, ends[0]);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
    if (!good && what->why[0] == '\0')
      snprintf(what->why, what->size, "%s cannot be read: the file is damaged, or memory ran out",
               what->path);
  }
  close(ends[0]);
  if (!good) {
    free_columns(what->found, what->columns, what->column_count);
    memset(what->found, 0, what->bytes);
  }
  return good;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool is_finite_row(const double *row, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (!isfinite(row[i]))
      return false;
  return true;
}

static bool is_finite_body(const frame *found, size_t i) {
  const float *v = found->velocity ? found->velocity + 3 * i : NULL;
  return is_finite_row(found->position + 3 * i, 3) && isfinite(found->radius[i]) &&
         isfinite(found->scale[i]) && found->radius[i] >= 0 && found->scale[i] > 0 &&
         (!found->pace || (isfinite(found->pace[i]) && found->pace[i] >= 0)) &&
         (!v || (isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2])));
}

/* True if points and triangles of a shape exist, and triangles refer to its own points. */
static bool is_good_shape(const frame *found, const frame_shape *shape) {
  if (!is_finite_row(shape->size, 5) || !is_finite_row(shape->centre, 3) ||
      (size_t)shape->point + shape->points > found->points ||
      (size_t)shape->triangle + shape->triangles > found->triangles ||
      !is_finite_row(found->point + 4 * (size_t)shape->point, 4 * (size_t)shape->points))
    return false;
  for (size_t i = 0; i < 3 * (size_t)shape->triangles; ++i)
    if (found->triangle[3 * (size_t)shape->triangle + i] >= shape->points)
      return false;
  return true;
}

/* Describes an error, or NULL: indices must be within their tables, and numbers drawable. */
static const char *problem_of(const frame *found) {
  if (!found->position || !found->id || !found->radius || !found->scale || !found->shape ||
      !found->material || !found->point || !found->triangle || !found->shape_table ||
      !found->material_table)
    return "an array is missing";
  for (size_t i = 0; i < found->shapes; ++i)
    if (!is_good_shape(found, &found->shape_table[i]))
      return "a shape has a size that is not a number, or refers to points that do not exist";
  for (size_t i = 0; i < found->bodies; ++i) {
    if (found->shape[i] >= found->shapes || found->material[i] >= found->materials)
      return "a body has a shape or material that is not in the tables";
    if (!is_finite_body(found, i))
      return "a body has a place, size, velocity or pace that is not a number";
  }
  return NULL;
}

/* Replaces invalid rotations by none: drawing needs unit quaternions. */
static void normalise(frame *found) {
  for (size_t i = 0; found->quaternion && i < found->bodies; ++i) {
    float *q = found->quaternion + 4 * i;
    const float length = sqrtf(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const bool good = isfinite(length) && length > 1e-6f;
    for (int k = 0; k < 4; ++k)
      q[k] = good ? q[k] / length : k == 0 ? 1.0f : 0.0f;
  }
}

static bool parse_frame(const char *path, void *found, char *why, size_t size) {
  return frame_parse(path, found, why, size);
}

bool frame_read(const char *path, frame *found, char *why, size_t size) {
  const task what = {path,          parse_frame,   found,
                     sizeof *found, frame_columns, sizeof frame_columns / sizeof *frame_columns,
                     why,           size};
  if (!read_guarded(&what))
    return false;
  const char *problem = problem_of(found);
  if (problem) {
    snprintf(why, size, "%s: %s; the file is damaged", path, problem);
    frame_free(found);
    return false;
  }
  normalise(found);
  return true;
}

static bool parse_time(const char *path, void *found, char *why, size_t size) {
  return frame_parse_time(path, found, why, size);
}

bool frame_read_time(const char *path, double *time, char *why, size_t size) {
  const task what = {path, parse_time, time, sizeof *time, NULL, 0, why, size};
  return read_guarded(&what);
}

/* ---- contacts -------------------------------------------------------------------------------- */

static bool parse_contacts(const char *path, void *found, char *why, size_t size) {
  return frame_parse_contacts(path, found, why, size);
}

bool frame_contacts_read(const char *path, frame_contacts *found, char *why, size_t size) {
  const task what = {path,
                     parse_contacts,
                     found,
                     sizeof *found,
                     contact_columns,
                     sizeof contact_columns / sizeof *contact_columns,
                     why,
                     size};
  if (!read_guarded(&what))
    return false;
  bool good = found->dt > 0 && found->body_a && found->body_b && found->point && found->impulse;
  for (size_t i = 0; good && i < 3 * found->count; ++i)
    good = isfinite(found->point[i]) && isfinite(found->impulse[i]);
  if (!good) {
    snprintf(why, size, "%s: a contact is not a number; the file is damaged", path);
    frame_contacts_free(found);
  }
  return good;
}

/* ---- averages -------------------------------------------------------------------------------- */

static bool parse_average(const char *path, void *found, char *why, size_t size) {
  return frame_parse_average(path, found, why, size);
}

/* True if a plane is named and has one cell across. */
static bool is_good_plane(const frame_average *found) {
  static const char *const planes[3] = {"yz", "xz", "xy"};
  if (strcmp(found->grid, "plane") != 0)
    return true;
  for (int k = 0; k < 3; ++k)
    if (strcmp(found->plane, planes[k]) == 0)
      return found->n[k] == 1;
  return false;
}

bool frame_average_read(const char *path, frame_average *found, char *why, size_t size) {
  const task what = {path,
                     parse_average,
                     found,
                     sizeof *found,
                     average_columns,
                     sizeof average_columns / sizeof *average_columns,
                     why,
                     size};
  if (!read_guarded(&what))
    return false;
  found->grid[FRAME_NAME_BYTES - 1] = found->plane[FRAME_NAME_BYTES - 1] = '\0';
  bool good = found->count && found->n[0] <= found->cells && found->n[1] <= found->cells &&
              found->n[2] <= found->cells && found->cells > 0 && isfinite(found->time) &&
              found->n[0] * found->n[1] * found->n[2] == found->cells && is_good_plane(found);
  for (int k = 0; k < 3; ++k)
    good =
        good && isfinite(found->origin[k]) && isfinite(found->spacing[k]) && found->spacing[k] > 0;
  if (!good) {
    snprintf(why, size, "%s: its grid is not valid; the file is damaged", path);
    frame_average_free(found);
  }
  return good;
}
