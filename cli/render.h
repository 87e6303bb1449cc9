/* talus render: shared by its files. A result folder's frames are read once, which fixes the view
 * and the colours for a whole film; then each frame is staged as spheres, boxes and rods, drawn
 * (render_image.h), labelled (render_legend.c) and written (render_file.c). */
#ifndef CLI_RENDER_H
#define CLI_RENDER_H

#include "cli.h"
#include "flat.h"
#include "frame_read.h"
#include "render_choice.h"
#include "render_gears.h"
#include "render_image.h"

typedef enum colour_by {
  BY_SPEED,
  BY_ID,
  BY_MATERIAL,
  BY_SIZE,
  BY_FORCE,
  BY_ANGLE,
  BY_TIME,        /* longest next step of a body (local time) */
  BY_DIRECTION,   /* flat maps only */
  BY_TEMPERATURE, /* flat maps only */
  COLOUR_BYS
} colour_by;

#define RENDER_FAR 1e12 /* m: beyond this, floats and their squares could overflow */

typedef struct render_options {
  const char *folder, *output;
  int width, height, samples, threads;
  double fps; /* 0: real time, if that can be watched */
  double fov; /* degrees, vertical */
  bool has_camera, has_target;
  double camera[3], target[3];
  bool has_slice;
  double slice[4]; /* nx, ny, nz, d: everything with n.x > d is cut off */
  int view;        /* row of render_views */
  render_choice choice;
  bool has_range;
  double range[2];
  bool with_contacts, is_bare, is_quiet;
  colour_by colour;
  bool is_flat; /* a map of `plane` instead of a view */
  flat_plane plane;
} render_options;

/* ---- frames of a folder (render_folder.c) ---------------------------------------------------- */

typedef struct render_frame {
  unsigned long number; /* of the file's name */
  char *path;
  char *contacts; /* path of its contact file */
} render_frame;

typedef struct render_folder {
  render_frame *frames; /* by number */
  size_t count;
  char *title;     /* of the scene; "" where it has none */
  uint64_t *fixed; /* sorted uids of bodies that are fixed or have a motion */
  size_t fixed_count;
  render_gear gears[RENDER_GEARS]; /* from the last checkpoint */
  size_t gear_count;
} render_folder;

/* An exit code, after a message unless CLI_DONE. */
int render_folder_open(const char *path, render_folder *folder);
void render_folder_close(render_folder *folder);
bool render_folder_is_fixed(const render_folder *folder, uint64_t uid);

/* Index of the frame with that number, or nearest to a time; folder->count after an error message,
 * with *why CLI_INPUT or CLI_FAILED. */
size_t render_folder_find_frame(const render_folder *folder, const char *number);
size_t render_folder_find_time(const render_folder *folder, double time);

/* ---- numbers to colours (render_value.c) ----------------------------------------------------- */

/* A frame with all data that its colours need. */
typedef struct render_data {
  frame bodies;
  frame_contacts contacts; /* empty unless asked for */
  float *value;            /* per body: speed, size or force; else NULL */
} render_data;

int render_data_read(const render_options *options, const render_frame *from, render_data *data);
void render_data_free(render_data *data);

/* True if a body is chosen and its centre is in front of the slice; true if any part of it is. */
bool render_is_shown(const render_options *options, const frame *bodies, size_t i);
bool render_is_met(const render_options *options, const frame *bodies, size_t i);

/* The row of a body with that uid, or SIZE_MAX. rows is made by render_index. */
typedef struct render_index {
  uint64_t *uid;
  uint32_t *row;
  size_t count;
} render_index;
bool render_index_make(const frame *bodies, render_index *index);
void render_index_free(render_index *index);
size_t render_index_find(const render_index *index, uint64_t uid);

/* Force of contact i [N]. */
static inline float render_contact_force(const frame_contacts *contacts, size_t i) {
  const float *p = contacts->impulse + 3 * i;
  return sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) / (float)contacts->dt;
}

/* The k-th largest of n numbers (k = 0: the largest); reorders them. */
float render_select(float *numbers, size_t n, size_t k);

/* Part of the bodies that may be outside of the picture or of its colours. */
#define RENDER_STRAYS 0.004f

/* The values of all frames of a picture or film. */
typedef struct render_span {
  float most;     /* the largest */
  float value[2]; /* smallest and largest without strays */
} render_span;
extern const render_span render_span_none;
/* Reorders the values. */
void render_span_add(render_span *span, float *value, size_t n);

/* What the colour bar says. */
typedef struct render_colours {
  double range[2];
  bool has_values; /* some body or contact has a value */
  bool is_cut;     /* some values are above the range */
} render_colours;
render_colours render_colours_of(const render_options *options, const render_span *span);
/* Place of a value in the range: 0 ... 1, or beyond. */
float render_share(const render_colours *colours, float value);

/* Turns a vector by a unit quaternion (w, x, y, z). */
static inline vec render_turn(const float q[4], vec v) {
  const vec u = {q[1], q[2], q[3]};
  const vec t = vec_scale(vec_cross(u, v), 2);
  return vec_add(v, vec_add(vec_scale(t, q[0]), vec_cross(u, t)));
}

/* ---- the view (render_view.c) -------------------------------------------------------------- */

typedef struct render_view {
  double origin[3]; /* m: origin of the coordinates of pictures */
  image_camera camera;
  vec middle;
  float extent; /* m */
  float pixel;  /* m: width of a pixel at the distance of the middle */
  float lowest; /* m: lowest z of the bodies that matter for the floor */
  render_colours colours;
  bool has_strays; /* some bodies are outside of what the camera was fitted to */
  float typical;   /* m: median radius */
} render_view;

/* Names of the fitted views. */
extern const char *const render_views[];
extern const size_t render_view_count;

int render_find_view(const render_options *options, const render_folder *folder, size_t first,
                     size_t last, render_view *view);

/* ---- a frame as things to draw (render_stage.c) ---------------------------------------------- */

typedef struct render_list {
  void *data;
  size_t count, capacity;
} render_list;

typedef struct render_stage {
  render_list spheres, sphere_colours, boxes, box_colours, rods, rod_colours;
  render_list solids, solid_colours;       /* scene_solid; ghosts where contacts are drawn */
  render_list triangles, triangle_colours; /* of meshes: scene_triangle; by its item */
  render_list faces;                       /* double[4]: planes of hulls */
  render_list shape_faces; /* unsigned[2] by shape: first face, and number of faces */
  render_list veil_spheres, veil_boxes, veil_solids;   /* what one looks through ... */
  render_list sphere_paints, box_paints, solid_paints; /* ... and its image_paint */
  render_list veil_triangles, triangle_paints;
  render_list lines, wide_lines; /* edges of containers: scene_rod; the same, some pixels thicker */
  render_list ghosts, ghost_boxes;
  render_list planes, panes, cones;
  bool is_short_of_memory;
} render_stage;

bool render_stage_make(const render_options *options, const render_folder *folder,
                       const render_view *view, const render_data *data, render_stage *stage);
void render_stage_free(render_stage *stage);

/* ---- labels (render_legend.c) ---------------------------------------------------------------- */

/* Pixels per unit of labels: a picture of common proportions has 1000 units, and text stays
 * readable. Labels on the right take RENDER_LEGEND units. */
static inline float render_unit(int width, int height) {
  return fmaxf(fminf((float)height, 0.65f * (float)width), 400) / 1000;
}
#define RENDER_LEGEND 230
#define RENDER_WORDS  72 /* likewise of the title above and the time below */

void render_legend_draw(const render_options *options, const render_folder *folder,
                        const render_view *view, const render_data *data, canvas *to);

/* ---- files (render_file.c) ------------------------------------------------------------------- */

/* Return an exit code, after a message unless CLI_DONE. Pictures and films are written to a
 * temporary file and renamed: they are complete or do not exist. */
int render_write_png(const char *path, const canvas *from);

typedef struct render_film render_film;
int render_film_begin(const char *path, int width, int height, double fps, render_film **film);
int render_film_add(render_film *film, const canvas *from);
/* Completes the file, or discards it. */
int render_film_end(render_film *film, bool keep);

#endif
