#include "field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define DEGREES (180 / 3.14159265358979323846)

/* ---- fields ---------------------------------------------------------------------------------- */

bool field_make(field *made, bool is_picture) {
  const size_t n = made->columns * made->rows;
  made->is_picture = is_picture;
  if (made->columns > FIELD_CELLS_MOST || made->rows > FIELD_CELLS_MOST || n > FIELD_CELLS_MOST)
    return false;
  made->count = calloc(n + 1, sizeof *made->count);
  made->right = calloc(n + 1, sizeof *made->right);
  made->up = calloc(n + 1, sizeof *made->up);
  made->across = is_picture ? NULL : calloc(n + 1, sizeof *made->across);
  made->temperature = is_picture ? NULL : calloc(n + 1, sizeof *made->temperature);
  return made->count && made->right && made->up &&
         (is_picture || (made->across && made->temperature));
}

int field_refuse(const field *made) {
  const size_t most = FIELD_CELLS_MOST;
  const bool is_large =
      made->columns > most || made->rows > most || made->columns * made->rows > most;
  if (is_large)
    cli_error("field: the grid has more than %d cells; take larger ones", FIELD_CELLS_MOST);
  else
    cli_error("field: out of memory");
  return is_large ? CLI_INPUT : CLI_FAILED;
}

void field_free(field *made) {
  free(made->count);
  free(made->right);
  free(made->up);
  free(made->across);
  free(made->temperature);
  *made = (field){0};
}

const char *field_axis_name(const field *of, int axis) {
  static const char *const names[2][3] = {{"x", "y", "z"}, {"r", "azimuth", "z"}};
  return names[of->is_rz][axis];
}

bool field_angle_is_kept(const field_filter *filter, double degrees) {
  for (size_t i = 0; i < filter->ranges; ++i) {
    const double low = filter->angle[i][0], high = filter->angle[i][1];
    if (low <= high ? degrees >= low && degrees <= high : degrees >= low || degrees <= high)
      return true;
  }
  return filter->ranges == 0;
}

static void forget(field *made, size_t i) {
  made->count[i] = 0;
  made->right[i] = made->up[i] = NAN;
  if (made->across)
    made->across[i] = NAN;
  if (made->temperature)
    made->temperature[i] = NAN;
}

void field_apply(field *made, const field_filter *filter) {
  for (size_t i = 0; i < made->columns * made->rows; ++i) {
    if (!(made->count[i] > 0) || isnan(made->right[i]) ||
        !field_angle_is_kept(filter, flat_angle(made->right[i], made->up[i]) * DEGREES)) {
      forget(made, i);
      continue;
    }
    if (filter->component < 0)
      continue;
    if (filter->component != made->plane.right)
      made->right[i] = 0;
    if (filter->component != made->plane.up)
      made->up[i] = 0;
    if (made->across && filter->component != made->plane.across)
      made->across[i] = 0;
  }
}

/* ---- options --------------------------------------------------------------------------------- */

static int refuse(const char *option, const char *text, const char *wanted) {
  cli_error("field: option '--%s': '%s' is not %s", option, text, wanted);
  return CLI_INPUT;
}

/* "20:40,320:340" */
static bool read_angles(const char *text, field_filter *filter) {
  for (const char *at = text; filter->ranges < FIELD_RANGES; ++at) {
    char *end;
    double *range = filter->angle[filter->ranges++];
    range[0] = strtod(at, &end);
    if (end == at || *end != ':')
      return false;
    at = end + 1;
    range[1] = strtod(at, &end);
    if (end == at || !(range[0] >= 0 && range[0] <= 360 && range[1] >= 0 && range[1] <= 360))
      return false;
    at = end;
    if (*end == '\0')
      return true;
    if (*end != ',')
      return false;
  }
  return false;
}

typedef struct field_options {
  const char *folder, *output, *image, *plane, *slab, *bounds, *angle, *component, *average;
  const char *number, *wheel;
  double time, cell;
  int pixels;
} field_options;

static int set_filter(const field_options *o, field_filter *filter) {
  static const char axes[] = "xyz";
  *filter = (field_filter){.component = -1};
  if (o->angle && !read_angles(o->angle, filter))
    return refuse("angle", o->angle, "ranges of degrees from 0 to 360, such as 20:40,320:340");
  if (!o->component)
    return CLI_DONE;
  if (strlen(o->component) != 1 || !strchr(axes, o->component[0]))
    return refuse("component", o->component, "x, y or z");
  filter->component = (int)(strchr(axes, o->component[0]) - axes);
  return CLI_DONE;
}

static int set_plane(const field_options *o, flat_plane *plane) {
  *plane = (flat_plane){.has_slab = o->slab != NULL};
  if (!flat_read_plane(o->plane ? o->plane : "yz", plane))
    return refuse("plane", o->plane, flat_plane_wanted);
  if (o->slab && !flat_read_range(o->slab, plane->slab))
    return refuse("slab", o->slab, flat_slab_wanted);
  if (o->bounds && !flat_read_bounds(o->bounds, plane))
    return refuse("bounds", o->bounds, flat_bounds_wanted);
  return CLI_DONE;
}

/* Refuses options that the given source would ignore. */
static int check_given(const field_options *o) {
  const char *problem = NULL;
  if (!o->image == !o->folder)
    problem = "give a result folder, or --image FILE.png, and not both";
  else if (o->image && (o->average || o->number || !isnan(o->time) || o->slab))
    problem = "--average, --frame, --time and --slab are of a result folder, not of --image";
  else if (o->average && (o->plane || o->slab || o->bounds || !isnan(o->cell)))
    problem = "--plane, --slab, --bounds and --cell are not for --average, which keeps its grid";
  else if (o->number && !isnan(o->time))
    problem = "give --frame or --time, and not both";
  if (problem)
    cli_error("field: %s", problem);
  return problem ? CLI_INPUT : CLI_DONE;
}

static int check_sources(const field_options *o) {
  const int code = check_given(o);
  if (code != CLI_DONE)
    return code;
  if (!o->image && !o->average && !(o->cell > 0)) {
    cli_error("field: say how wide the cells are: --cell 0.5, in m");
    return CLI_INPUT;
  }
  if (o->pixels < 1 || o->pixels > 4096) {
    cli_error("field: --granularity is from 1 to 4096 pixels");
    return CLI_INPUT;
  }
  return CLI_DONE;
}

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static int write_field(const char *path, const field *from) {
  if (ends_with(path, ".csv"))
    return field_write_csv(path, from);
  return ends_with(path, ".hdf") ? field_write_hdf(path, from) : field_write_svg(path, from);
}

static int check_output(const char *path) {
  if (path && (ends_with(path, ".csv") || ends_with(path, ".hdf") || ends_with(path, ".svg")))
    return CLI_DONE;
  cli_error("field: say where to: -o x.svg for a picture, x.csv or x.hdf for numbers");
  return CLI_INPUT;
}

/* Draws legends, which need no source. */
static int make_wheels(const field_options *o) {
  if (o->folder || o->image || o->average || o->number || o->angle || o->component || o->plane ||
      o->slab || o->bounds || !isnan(o->time) || !isnan(o->cell)) {
    cli_error("field: --wheel draws colours alone; give it no other option than -o");
    return CLI_INPUT;
  }
  if (!o->output || !ends_with(o->output, ".svg")) {
    cli_error("field: --wheel is a picture: -o x.svg");
    return CLI_INPUT;
  }
  return field_write_wheels(o->output, o->wheel);
}

static int make_field(const field_options *o) {
  field made = {0};
  field_filter filter;
  int code = check_output(o->output);
  code = code == CLI_DONE ? check_sources(o) : code;
  code = code == CLI_DONE ? set_filter(o, &filter) : code;
  code = code == CLI_DONE ? set_plane(o, &made.plane) : code;
  if (code != CLI_DONE)
    return code;
  if (o->image)
    code = field_of_image(o->image, o->pixels, &made);
  else if (o->average)
    code = field_of_average(o->folder, o->average, o->number, o->time, &made);
  else
    code = field_of_frame(o->folder, o->number, o->time, o->cell, &made);
  if (code == CLI_DONE) {
    field_apply(&made, &filter);
    code = write_field(o->output, &made);
  }
  field_free(&made);
  return code;
}

/* ---- the command ----------------------------------------------------------------------------- */

static const char about[] =
    "Mean velocities on a grid in a plane: of a frame (or of `averages`) of a result\n"
    "folder, or of a picture that talus render --flat ... --colour angle drew. Arrows\n"
    "over colours (.svg), or a table (.csv) or VTK image (.hdf) of all cells.";

static const char more[] =
    "Of yz, z points to the right and y up.\nAngles run counter-clockwise from the right.\n\n"
    "Examples:\n"
    "  talus field nozzle.out --plane yz --cell 0.5 -o field.svg\n"
    "  talus field nozzle.out --average rz -o field.csv\n"
    "  talus field --image f.png --angle 20:40,320:340 --component y -o f.csv\n"
    "  talus field --wheel 30,330 -o wheels.svg\n";

int cli_field(int argc, char **argv) {
  field_options o = {.time = NAN, .cell = NAN, .pixels = 8};
  const cli_option options[] = {
      {"output", 'o', CLI_TEXT, "FILE", "x.svg, x.csv or x.hdf", &o.output},
      {"plane", 0, CLI_TEXT, "PLANE", "xy, xz or yz (default)", &o.plane},
      {"cell", 0, CLI_NUMBER, "EDGE", "of a cell [m]", &o.cell},
      {"slab", 0, CLI_TEXT, "LO:HI", "bodies with their centre in it, across the plane", &o.slab},
      {"bounds", 0, CLI_TEXT, "L:R,B:T", "of the grid, or what the picture shows [m]", &o.bounds},
      {"frame", 0, CLI_TEXT, "N", "which frame; -1 is the last, and the default", &o.number},
      {"time", 0, CLI_NUMBER, "T", "the frame nearest to T seconds", &o.time},
      {"average", 0, CLI_TEXT, "NAME", "of the scene's averages, instead of a frame", &o.average},
      {"image", 0, CLI_TEXT, "FILE", "a picture of angles (.png), instead of a folder", &o.image},
      {"granularity", 0, CLI_COUNT, "N", "of a picture: N x N pixels are a cell (8)", &o.pixels},
      {"angle", 0, CLI_TEXT, "A:B,...", "keeps cells of these directions alone [degrees]",
       &o.angle},
      {"component", 0, CLI_TEXT, "AXIS", "keeps this component alone: x, y or z", &o.component},
      {"wheel", 0, CLI_TEXT, "A,B,...", "no field: colours, and those of these angles [degrees]",
       &o.wheel},
      {0}};
  const cli_usage usage = {.synopsis = "talus field [FOLDER] -o FILE [options]",
                           .about = about,
                           .options = options,
                           .more = more,
                           .least = 0,
                           .most = 1,
                           .wants = "a result folder"};
  const int parsed = cli_parse(&usage, argc, argv, &o.folder);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  return o.wheel ? make_wheels(&o) : make_field(&o);
}
