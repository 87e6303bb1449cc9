/* talus render: ray-traced pictures and films of a result folder. */
#include "render_flat.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIDE_MOST    16384 /* pixels */
#define PNG_SAMPLES  16
#define FILM_SAMPLES 8

static const char *const colour_names[COLOUR_BYS] = {
    "speed", "id", "material", "size", "force", "angle", "time", "direction", "temperature"};

/* ---- options --------------------------------------------------------------------------------- */

/* Reads at most `most` numbers separated by commas; returns their number, or -1 if the text has
 * something else. */
static int read_list(const char *text, double *to, int most) {
  int n = 0;
  for (const char *at = text; n < most; ++at) {
    char *end;
    to[n++] = strtod(at, &end);
    if (end == at || !isfinite(to[n - 1]) || (*end && *end != ','))
      return -1;
    at = end;
    if (!*end)
      return n;
  }
  return -1;
}

static int refuse(const char *option, const char *text, const char *wanted) {
  cli_error("render: option '--%s': '%s' is not %s", option, text, wanted);
  return CLI_INPUT;
}

static int set_size(render_options *options, const char *text) {
  char *end;
  options->width = 1280, options->height = 720;
  if (!text)
    return CLI_DONE;
  const long width = strtol(text, &end, 10);
  const bool has_cross = *end == 'x';
  const long height = has_cross ? strtol(end + 1, &end, 10) : 0;
  if (!has_cross || *end || width < 16 || height < 16 || width > SIDE_MOST || height > SIDE_MOST)
    return refuse("size", text, "a size in pixels, such as 1280x720, from 16 to 16384 each way");
  options->width = (int)width, options->height = (int)height;
  return CLI_DONE;
}

static int set_camera(render_options *options, const char *text) {
  double list[6];
  const int n = text ? read_list(text, list, 6) : 0;
  if (text && n != 3 && n != 6)
    return refuse("camera", text, "x,y,z of the camera, or that and x,y,z of what it looks at");
  for (int k = 0; k < n; ++k)
    if (!(fabs(list[k]) <= RENDER_FAR))
      return refuse("camera", text, "places within 1e12 m");
  options->has_camera = n >= 3;
  options->has_target = n == 6;
  for (int k = 0; k < n; ++k)
    *(k < 3 ? &options->camera[k] : &options->target[k - 3]) = list[k];
  return CLI_DONE;
}

static int set_slice(render_options *options, const char *text) {
  const double *n = options->slice;
  options->has_slice = text != NULL;
  if (text &&
      (read_list(text, options->slice, 4) != 4 || !(fabs(n[0]) + fabs(n[1]) + fabs(n[2]) > 0)))
    return refuse("slice", text, "nx,ny,nz,d with n not zero: what has n.x > d is cut off");
  return CLI_DONE;
}

static int set_range(render_options *options, const char *text) {
  options->has_range = text != NULL;
  if (text && (read_list(text, options->range, 2) != 2 || !(options->range[0] < options->range[1])))
    return refuse("range", text, "two growing numbers, such as 0,1.5");
  return CLI_DONE;
}

static int set_colour(render_options *options, const char *text) {
  options->colour = BY_SPEED;
  if (!text)
    return CLI_DONE;
  if (options->with_contacts) {
    cli_error("render: with --contacts the colours are those of the forces; leave --colour out");
    return CLI_INPUT;
  }
  for (int i = 0; i < COLOUR_BYS; ++i)
    if (strcmp(text, colour_names[i]) == 0) {
      options->colour = (colour_by)i;
      if (options->is_flat || (i != BY_DIRECTION && i != BY_TEMPERATURE))
        return CLI_DONE;
      cli_error("render: --colour %s is of flat maps; say --flat xy, xz or yz", text);
      return CLI_INPUT;
    }
  const char *near = cli_suggest(text, colour_names, COLOUR_BYS);
  cli_error("render: option '--colour': '%s' is not one of speed, id, material, size, force, "
            "angle, time, direction, temperature%s%s%s",
            text, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
  return CLI_INPUT;
}

static int set_view(render_options *options, const char *text) {
  for (size_t i = 0; text && i < render_view_count; ++i)
    if (strcmp(text, render_views[i]) == 0) {
      options->view = (int)i;
      return CLI_DONE;
    }
  return text ? refuse("view", text, "corner, front, back, left, right or top") : CLI_DONE;
}

static int set_flat(render_options *options, const char *flat, const char *slab,
                    const char *bounds) {
  options->is_flat = flat != NULL;
  options->plane.has_slab = slab != NULL;
  if (!flat && (slab || bounds)) {
    cli_error("render: --slab and --bounds are of flat maps; say --flat xy, xz or yz");
    return CLI_INPUT;
  }
  if (flat && (options->with_contacts || options->has_camera || options->has_slice)) {
    cli_error("render: a flat map has no camera, slice or contacts; --slab LO:HI cuts it");
    return CLI_INPUT;
  }
  if (flat && !flat_read_plane(flat, &options->plane))
    return refuse("flat", flat, flat_plane_wanted);
  if (slab && !flat_read_range(slab, options->plane.slab))
    return refuse("slab", slab, flat_slab_wanted);
  if (bounds && !flat_read_bounds(bounds, &options->plane))
    return refuse("bounds", bounds, flat_bounds_wanted);
  return CLI_DONE;
}

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

/* Refuses options that the chosen kind of output does not have. */
static int check_output(const render_options *options, bool has_moment) {
  const bool film = options->output && ends_with(options->output, ".mp4");
  if (!options->output || (!film && !ends_with(options->output, ".png"))) {
    cli_error("render: say where to: -o x.png for a picture, -o x.mp4 for a film");
    return CLI_INPUT;
  }
  if (film && has_moment) {
    cli_error("render: --frame and --time choose one picture, and a film has all; use -o x.png");
    return CLI_INPUT;
  }
  if (film && (options->width % 2 || options->height % 2)) {
    cli_error("render: a film's width and height must be even: --size %dx%d would be",
              options->width + options->width % 2, options->height + options->height % 2);
    return CLI_INPUT;
  }
  return CLI_DONE;
}

static int check_numbers(const render_options *options) {
  if (options->fov >= 1 && options->fov <= 150 && options->fps >= 0 && options->fps <= 1000 &&
      options->samples <= 65536 && options->threads <= 4096)
    return CLI_DONE;
  cli_error("render: --fov is from 1 to 150 degrees, --fps up to 1000, --samples up to 65536 and "
            "--threads up to 4096");
  return CLI_INPUT;
}

/* ---- one frame ------------------------------------------------------------------------------- */

typedef struct session {
  render_options options;
  render_folder folder;
  render_view view;
  flat_view flat;
  render_device *device;
  noise random;
  cli_texts hide, only, translucent;
  canvas to;
  double time;   /* s: of the frame drawn last */
  size_t bodies; /* of it */
  bool has_warned;
} session;

static int out_of_memory(void) {
  cli_error("out of memory");
  return CLI_FAILED;
}

/* Bodies of few pixels would be nothing but outlines. */
static float outline_of(const render_view *view) {
  const float pixels = view->typical / view->pixel;
  return 0.45f * fminf(fmaxf((pixels - 3) / 7, 0), 1);
}

/* Draws the staged frame; lines and ghosts are separate scenes, which light passes through. */
static int draw_stage(session *s, const render_stage *stage) {
  const bool ghostly = s->options.with_contacts;
  const scene_items things = {.spheres = stage->spheres.data,
                              .sphere_count = stage->spheres.count,
                              .boxes = stage->boxes.data,
                              .box_count = stage->boxes.count,
                              .rods = stage->rods.data,
                              .rod_count = stage->rods.count,
                              .solids = stage->solids.data,
                              .solid_count = ghostly ? 0 : stage->solids.count,
                              .planes = stage->faces.data,
                              .plane_count = stage->faces.count,
                              .triangles = stage->triangles.data,
                              .triangle_count = ghostly ? 0 : stage->triangles.count};
  const scene_items edges = {.rods = stage->wide_lines.data, .rod_count = stage->wide_lines.count};
  const scene_items breath = {.spheres = stage->ghosts.data,
                              .sphere_count = stage->ghosts.count,
                              .boxes = stage->ghost_boxes.data,
                              .box_count = stage->ghost_boxes.count,
                              .solids = stage->solids.data,
                              .solid_count = ghostly ? stage->solids.count : 0,
                              .triangles = stage->triangles.data,
                              .triangle_count = ghostly ? stage->triangles.count : 0,
                              .planes = stage->faces.data,
                              .plane_count = stage->faces.count};
  const scene_items thin = {.spheres = stage->veil_spheres.data,
                            .sphere_count = stage->veil_spheres.count,
                            .boxes = stage->veil_boxes.data,
                            .box_count = stage->veil_boxes.count,
                            .solids = stage->veil_solids.data,
                            .solid_count = stage->veil_solids.count,
                            .triangles = stage->veil_triangles.data,
                            .triangle_count = stage->veil_triangles.count,
                            .planes = stage->faces.data,
                            .plane_count = stage->faces.count};
  render_scene *veils = render_scene_build(s->device, &thin);
  render_scene *solid = render_scene_build(s->device, &things);
  render_scene *lines = render_scene_build(s->device, &edges);
  render_scene *ghosts = render_scene_build(s->device, &breath);
  const double *n = s->options.slice, *o = s->view.origin;
  const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  const double offset = n[3] - n[0] * o[0] - n[1] * o[1] - n[2] * o[2];
  image what = {.random = &s->random,
                .samples = s->options.samples,
                .threads = s->options.threads,
                .camera = s->view.camera,
                .middle = s->view.middle,
                .extent = s->view.extent,
                .outline = outline_of(&s->view),
                .solid = solid,
                .sphere_colours = stage->sphere_colours.data,
                .box_colours = stage->box_colours.data,
                .rod_colours = stage->rod_colours.data,
                .solid_colours = stage->solid_colours.data,
                .triangle_colours = stage->triangle_colours.data,
                .veil_triangles = stage->triangle_paints.data,
                .veils = s->options.choice.veil_count > 0 ? veils : NULL,
                .veil_spheres = stage->sphere_paints.data,
                .veil_boxes = stage->box_paints.data,
                .veil_solids = stage->solid_paints.data,
                .has_cut = s->options.has_slice,
                .lines = stage->lines.count > 0 ? lines : NULL,
                .line_rods = stage->lines.data,
                .ghosts = s->options.with_contacts ? ghosts : NULL,
                .planes = stage->planes.data,
                .plane_count = stage->planes.count,
                .panes = stage->panes.data,
                .pane_count = stage->panes.count,
                .cones = stage->cones.data,
                .cone_count = stage->cones.count};
  if (what.has_cut) {
    what.cut_normal = (vec){(float)(n[0] / length), (float)(n[1] / length), (float)(n[2] / length)};
    what.cut_offset = (float)(offset / length);
  }
  const bool good = veils && solid && lines && ghosts && image_draw(&what, &s->to);
  render_scene_free(veils);
  render_scene_free(solid);
  render_scene_free(lines);
  render_scene_free(ghosts);
  return good ? CLI_DONE : out_of_memory();
}

/* Bodies of kinds that this command cannot draw are shown as their bounding spheres; it says so
 * once. */
static void warn_of_kinds(session *s, const frame *bodies) {
  for (size_t k = 0; !s->has_warned && k < bodies->shapes; ++k)
    if (bodies->shape_table[k].kind == FRAME_OTHER)
      cli_warning("shapes of kind '%s' are drawn as their bounding spheres",
                  bodies->shape_table[k].kind_name);
  s->has_warned = true;
}

static int draw_frame(session *s, size_t i) {
  render_data data;
  render_stage stage;
  int code = render_data_read(&s->options, &s->folder.frames[i], &data);
  if (code != CLI_DONE)
    return code;
  if (!s->options.is_flat)
    warn_of_kinds(s, &data.bodies);
  if (s->options.is_flat)
    code = render_flat_draw(&s->options, &s->folder, &s->flat, &data, &s->to);
  else if (render_stage_make(&s->options, &s->folder, &s->view, &data, &stage)) {
    code = draw_stage(s, &stage);
    render_stage_free(&stage);
  } else
    code = out_of_memory();
  if (code == CLI_DONE && !s->options.is_bare && !s->options.is_flat)
    render_legend_draw(&s->options, &s->folder, &s->view, &data, &s->to);
  s->time = data.bodies.time;
  s->bodies = data.bodies.bodies;
  render_data_free(&data);
  return code;
}

/* ---- pictures and films ---------------------------------------------------------------------- */

/* The camera as an option, for users who want to move it. */
static const char *camera_text(const render_view *view, char *text, size_t size) {
  const image_camera *c = &view->camera;
  /* The point that it looks at: at the distance of the middle of the bodies. */
  const float ahead = vec_dot(vec_sub(view->middle, c->at), c->forward);
  const vec target = vec_add(c->at, vec_scale(c->forward, ahead > 0 ? ahead : view->extent));
  const double *o = view->origin;
  snprintf(text, size, "--camera %.4g,%.4g,%.4g,%.4g,%.4g,%.4g", o[0] + c->at.x, o[1] + c->at.y,
           o[2] + c->at.z, o[0] + target.x, o[1] + target.y, o[2] + target.z);
  return text;
}

/* The bounds of the whole picture, for a flat map. */
static const char *bounds_text(const session *s, char *text, size_t size) {
  const flat_view *f = &s->flat;
  snprintf(text, size, "--bounds %.9g:%.9g,%.9g:%.9g", f->left,
           f->left + s->options.width / f->scale, f->bottom,
           f->bottom + s->options.height / f->scale);
  return text;
}

static void say_done(const session *s, const char *what, double seconds) {
  char camera[160], lasted[CLI_DURATION_BYTES];
  if (!s->options.is_quiet)
    cli_note("%s: %s, %zu bodies, %dx%d, %s; view: %s", s->options.output, what, s->bodies,
             s->options.width, s->options.height, cli_duration(seconds, lasted),
             s->options.is_flat ? bounds_text(s, camera, sizeof camera)
                                : camera_text(&s->view, camera, sizeof camera));
}

static int fit(session *s, size_t first, size_t last) {
  return s->options.is_flat ? render_flat_fit(&s->options, &s->folder, first, last, &s->flat)
                            : render_find_view(&s->options, &s->folder, first, last, &s->view);
}

static int make_picture(session *s, size_t i) {
  char what[64];
  const double began = tl_clock();
  int code = fit(s, i, i);
  if (code == CLI_DONE)
    code = draw_frame(s, i);
  if (code == CLI_DONE)
    code = render_write_png(s->options.output, &s->to);
  snprintf(what, sizeof what, "frame %lu, t = %.6g s", s->folder.frames[i].number, s->time);
  if (code == CLI_DONE)
    say_done(s, what, tl_clock() - began);
  return code;
}

/* Pictures per second for a film in real time, if that can be watched; otherwise 25. */
static int choose_rate(session *s) {
  char why[1024];
  double first, last;
  const render_folder *folder = &s->folder;
  if (s->options.fps > 0)
    return CLI_DONE;
  if (!frame_read_time(folder->frames[0].path, &first, why, sizeof why) ||
      !frame_read_time(folder->frames[folder->count - 1].path, &last, why, sizeof why)) {
    cli_error("%s", why);
    return CLI_INPUT;
  }
  const double rate = (double)(folder->count - 1) / (last - first);
  s->options.fps = rate >= 10 && rate <= 60 ? rate : 25;
  return CLI_DONE;
}

/* Shows the progress of a film: on one line of a terminal, otherwise every tenth. */
static void show_progress(const session *s, size_t done, double began) {
  const size_t all = s->folder.count;
  const bool terminal = isatty(STDERR_FILENO);
  if (s->options.is_quiet || (!terminal && done * 10 / all == (done - 1) * 10 / all))
    return;
  char left[CLI_DURATION_BYTES];
  const double each = (tl_clock() - began) / (double)done;
  fprintf(stderr, "%s%3.0f%%  frame %zu of %zu  %.2f s each  %s left%s", terminal ? "\r" : "",
          100.0 * (double)done / (double)all, done, all, each,
          cli_duration(each * (double)(all - done), left), terminal ? "\033[K" : "\n");
  if (terminal && done == all)
    fputs("\r\033[K", stderr);
}

static int film_frames(session *s, render_film *film) {
  const double began = tl_clock();
  int code = CLI_DONE;
  for (size_t i = 0; code == CLI_DONE && i < s->folder.count; ++i) {
    code = draw_frame(s, i);
    if (code == CLI_DONE)
      code = render_film_add(film, &s->to);
    if (code == CLI_DONE)
      show_progress(s, i + 1, began);
  }
  return code;
}

static int make_film(session *s) {
  render_film *film;
  char what[96];
  const double began = tl_clock();
  int code = choose_rate(s);
  /* Started before all frames are read, so that a missing ffmpeg is reported at once. */
  if (code == CLI_DONE)
    code = render_film_begin(s->options.output, s->options.width, s->options.height, s->options.fps,
                             &film);
  if (code != CLI_DONE)
    return code;
  code = fit(s, 0, s->folder.count - 1);
  if (code == CLI_DONE)
    code = film_frames(s, film);
  const int ended = render_film_end(film, code == CLI_DONE);
  code = code == CLI_DONE ? ended : code;
  snprintf(what, sizeof what, "%zu frames, %.4g per second", s->folder.count, s->options.fps);
  if (code == CLI_DONE)
    say_done(s, what, tl_clock() - began);
  return code;
}

static int render(session *s, const char *frame_number, double time, bool has_time) {
  int code = render_folder_open(s->options.folder, &s->folder);
  if (code != CLI_DONE)
    return code;
  const bool film = ends_with(s->options.output, ".mp4");
  size_t chosen = s->folder.count - 1;
  if (frame_number)
    chosen = render_folder_find_frame(&s->folder, frame_number);
  else if (has_time)
    chosen = render_folder_find_time(&s->folder, time);
  if (chosen == s->folder.count)
    return CLI_INPUT;
  code = render_choose(s->options.folder, s->folder.frames[chosen].path, &s->hide, &s->only,
                       &s->translucent, &s->options.choice);
  if (code != CLI_DONE)
    return code;
  s->to = (canvas){s->options.width, s->options.height,
                   malloc(3 * (size_t)s->options.width * (size_t)s->options.height)};
  noise_make(&s->random);
  s->device = s->options.is_flat ? NULL : render_device_open(s->options.threads);
  if (!s->to.rgb || (!s->options.is_flat && !s->device))
    return out_of_memory();
  return film ? make_film(s) : make_picture(s, chosen);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char about[] =
    "Draws a result folder by ray tracing: a frame as a picture (.png), or all as a\n"
    "film (.mp4, by ffmpeg). The camera is fitted to the bodies and does not move.";

static const char more[] =
    "Colours (* needs contacts in the folder: output: {fields: [..., contacts]}):\n"
    "  speed     of the centre of mass, m/s     material  one colour each, with names\n"
    "  size      bounding diameter, m           id        neighbours differ\n"
    "  force *   sum of contact forces, N       angle     direction on the picture\n"
    "  time      with local time: the longest that the next step may be, log10 of s\n"
    "Of flat maps also: direction (in space), temperature (kT/m about each).\n\n"
    "Examples:\n"
    "  talus render pour.out -o inside.png --time 1.5 --slice 0,-1,0,0\n"
    "  talus render nozzle.out -o f.png --flat yz --slab 0:1 --colour angle\n";

int cli_render(int argc, char **argv) {
  session s = {.options = {.fov = 28}};
  render_options *o = &s.options;
  const char *number = NULL, *size = NULL, *camera = NULL, *slice = NULL, *range = NULL,
             *colour = NULL, *view = NULL, *flat = NULL, *slab = NULL, *bounds = NULL;
  double time = NAN;
  const char **texts = calloc(3 * ((size_t)argc + 1), sizeof *texts);
  if (!texts)
    return out_of_memory();
  s.hide.data = texts;
  s.only.data = texts + argc + 1;
  s.translucent.data = texts + 2 * (argc + 1);
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, "FILE", "x.png or x.mp4", &o->output},
      {"frame", 0, CLI_TEXT, "N", "which frame; -1 is the last, and the default", &number},
      {"time", 0, CLI_NUMBER, "T", "the frame nearest to T seconds", &time},
      {"colour", 0, CLI_TEXT, "NAME", "or --color: speed, or one of those below", &colour},
      {"range", 0, CLI_TEXT, "LO,HI", "range of the colours; default: that of the data", &range},
      {"camera", 0, CLI_TEXT, "X,Y,Z,...", "position and, with 3 more numbers, target [m]",
       &camera},
      {"view", 0, CLI_TEXT, "NAME", "fitted: corner, front, back, left, right or top", &view},
      {"fov", 0, CLI_NUMBER, "DEG", "vertical field of view (28)", &o->fov},
      {"size", 0, CLI_TEXT, "WxH", "pixels (1280x720)", &size},
      {"slice", 0, CLI_TEXT, "NX,NY,NZ,D", "cuts off everything with n.x > d", &slice},
      {"flat", 0, CLI_TEXT, "PLANE", "a map without shade instead: xy, xz or yz", &flat},
      {"slab", 0, CLI_TEXT, "LO:HI", "flat: bodies with their centre in it, across the plane",
       &slab},
      {"bounds", 0, CLI_TEXT, "L:R,B:T", "flat: what it shows [m]; default: all there is", &bounds},
      {"hide", 0, CLI_TEXTS, "NAME,...", "leave out these bodies, groups, materials or uids",
       &s.hide},
      {"only", 0, CLI_TEXTS, "NAME,...", "leave out all others", &s.only},
      {"translucent", 0, CLI_TEXTS, "NAME=A", "transparent; A: 0 invisible to 1 solid (0.25)",
       &s.translucent},
      {"contacts", 0, CLI_FLAG, NULL, "forces: rods from contacts to centres, bodies clear *",
       &o->with_contacts},
      {"bare", 0, CLI_FLAG, NULL, "no title, time and colour bar", &o->is_bare},
      {"samples", 0, CLI_COUNT, "N", "rays per pixel: 16 for a picture, 8 for a film", &o->samples},
      {"fps", 0, CLI_NUMBER, "N", "pictures per second; default: real time, if watchable", &o->fps},
      {"threads", 0, CLI_COUNT, "N", "0 (default): all cores", &o->threads},
      {"quiet", 'q', CLI_FLAG, NULL, "no progress, no last line", &o->is_quiet},
      {0}};
  const cli_usage usage = {.synopsis = "talus render FOLDER -o FILE [options]",
                           .about = about,
                           .options = options,
                           .more = more,
                           .least = 1,
                           .most = 1,
                           .wants = "a result folder"};
  const int parsed = cli_parse(&usage, argc, argv, &o->folder);
  if (parsed < 0) {
    free(texts);
    return cli_parse_exit(parsed);
  }
  if (!flat && !render_is_available()) {
    free(texts);
    cli_error(
        "this talus was built without Embree, which draws the pictures; install libembree-dev "
        "and libpng-dev, and build it again (--flat xy needs libpng alone)");
    return CLI_INPUT;
  }
  int code = set_size(o, size);
  code = code == CLI_DONE ? set_camera(o, camera) : code;
  code = code == CLI_DONE ? set_slice(o, slice) : code;
  code = code == CLI_DONE ? set_view(o, view) : code;
  code = code == CLI_DONE ? set_range(o, range) : code;
  code = code == CLI_DONE ? set_flat(o, flat, slab, bounds) : code;
  code = code == CLI_DONE ? set_colour(o, colour) : code;
  code = code == CLI_DONE ? check_output(o, number || !isnan(time)) : code;
  code = code == CLI_DONE ? check_numbers(o) : code;
  if (o->samples == 0 && o->output)
    o->samples = ends_with(o->output, ".mp4") ? FILM_SAMPLES : PNG_SAMPLES;
  if (code == CLI_DONE)
    code = render(&s, number, time, !isnan(time));
  free(s.to.rgb);
  free(texts);
  render_choice_free(&o->choice);
  render_device_close(s.device);
  render_folder_close(&s.folder);
  return code;
}
