/* Scenes: files and texts to validated structs, and what can be asked of them. */
#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scene/builtin.h"
#include "scene/read.h"
#include "scene/start.h"

#define SETTINGS 1000 /* most --set of one scene */

void talus_text_free(char *text) { tl_string_free(&text); }

void talus_scene_free(talus_scene *scene) {
  if (!scene)
    return;
  tl_object_release(&tl_schema_scene, scene);
  tl_string_free(&scene->name);
  tl_string_free(&scene->folder);
  for (size_t i = 0; i < scene->warnings.count; ++i)
    tl_string_free(&scene->warnings.data[i]);
  tl_array_free(&scene->warnings);
  tl_string_free(&scene->start);
  tl_array_free(&scene->hashes);
  void *block = scene;
  (void)tl_resize(&block, sizeof *scene, 0); /* freeing cannot fail */
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Everything of one call of talus_scene_parse. */
typedef struct parser {
  tl_document document;
  tl_problems problems;
  tl_reader reader;
  TL_ARRAY(char *) names; /* "--set a=b" */
} parser;

static talus_status add_setting_source(parser *p, const char *setting) {
  char *name = NULL;
  tl_text text = {0};
  const size_t length = strlen(setting);
  tl_text_add(&text, "--set %.80s%s", setting, length > 80 ? "..." : "");
  TL_TRY(tl_text_take(&text, &name));
  tl_mend_text(name);
  const talus_status status = tl_array_push(&p->names, name);
  if (status != TALUS_OK) {
    tl_string_free(&name);
    return status;
  }
  const size_t key = strcspn(setting, "=");
  const size_t start = key < length ? key + 1 : length;
  const tl_source source = {
      .name = name, .text = setting + start, .length = length - start, .is_setting = true};
  return tl_array_push(&p->problems.sources, source);
}

static talus_status apply_setting(parser *p, const char *setting, tl_node_id root) {
  TL_TRY(add_setting_source(p, setting));
  const uint32_t origin = (uint32_t)p->problems.sources.count - 1;
  const tl_mark mark = {.line = 1, .column = 1, .origin = origin};
  if (!strchr(setting, '=')) {
    tl_problem_add(&p->problems, mark, "there is no `=`; expected dotted.key=value");
    return TALUS_OK;
  }
  const size_t before = p->problems.count;
  tl_problems_scan(&p->problems, origin);
  tl_node_id value = 0;
  if (p->problems.count == before)
    TL_TRY(tl_document_parse(&p->document, &p->problems, origin, &value));
  if (p->problems.count != before)
    return TALUS_OK;
  if (value == 0) { /* nothing after the `=`: the reader will say what it wants */
    tl_node nothing = {.kind = TL_NODE_SCALAR, .line = 1, .column = 1, .origin = (uint16_t)origin};
    TL_TRY(tl_document_new_text(&p->document, "", 0, &nothing.text));
    TL_TRY(tl_document_new_node(&p->document, nothing, &value));
  }
  return tl_set_apply(&p->document, &p->problems, root, setting, origin, value);
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The absolute path, so that the scene keeps its meaning if the current folder changes. */
static talus_status set_folder(talus_scene *scene, const char *folder) {
  char current[4096];
  tl_text text = {0};
  if (!folder || !*folder)
    folder = ".";
  while (folder[0] == '.' && folder[1] == '/')
    folder += 1 + strspn(folder + 1, "/");
  const bool is_here = strcmp(folder, ".") == 0 || *folder == '\0';
  if (*folder != '/' && getcwd(current, sizeof current))
    tl_text_add(&text, is_here ? "%s" : "%s/", current);
  if (!is_here || text.count == 0)
    tl_text_add(&text, "%s", *folder ? folder : ".");
  return tl_text_take(&text, &scene->folder);
}

/* The tree with its settings; *root is 0 where problems forbid going on. */
static talus_status parse_tree(parser *p, const char *const *settings, size_t n, tl_node_id *root) {
  const tl_mark top = {.line = 1, .column = 1};
  *root = 0;
  tl_problems_scan(&p->problems, 0);
  if (p->problems.count > 0)
    return TALUS_OK;
  TL_TRY(tl_document_parse(&p->document, &p->problems, 0, root));
  if (*root == 0) {
    if (p->problems.count == 0)
      tl_problem_add(&p->problems, top,
                     "an empty file; expected a scene that begins with `talus: 1`");
    return TALUS_OK;
  }
  if (n > SETTINGS) {
    tl_problem_add(&p->problems, top, "%zu settings; expected at most %d", n, SETTINGS);
    return TALUS_OK;
  }
  for (size_t i = 0; i < n && tl_node_at(&p->document, *root)->kind == TL_NODE_MAP; ++i) {
    TL_NEED(settings[i]);
    TL_TRY(apply_setting(p, settings[i], *root));
  }
  return TALUS_OK;
}

static talus_status read_scene(parser *p, const char *const *settings, size_t n,
                               talus_scene *scene) {
  tl_node_id root = 0;
  TL_TRY(parse_tree(p, settings, n, &root));
  if (root == 0)
    return TALUS_OK;
  TL_TRY(tl_reader_open(&p->reader, &p->document, &p->problems));
  tl_read_map(&p->reader, root, &tl_schema_scene, scene);
  TL_TRY(p->reader.status);
  if (scene->object.bad == UINT32_MAX) /* no map at all */
    return TALUS_OK;
  return tl_scene_check(scene, &p->document, root, &p->problems);
}

static talus_status parse(parser *p, const tl_source *source, const char *folder,
                          const char *const *settings, size_t n, talus_scene *scene,
                          char **problems) {
  if (source->length > TL_DOCUMENT_BYTES)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: larger than 64 MiB; expected a scene file (`fill` makes "
                   "many bodies from one line)",
                   source->name);
  TL_TRY(tl_array_push(&p->problems.sources, *source));
  TL_TRY(tl_string_copy(source->name, strlen(source->name), &scene->name));
  TL_TRY(set_folder(scene, folder));
  TL_TRY(read_scene(p, settings, n, scene));
  return tl_problems_report(&p->problems, problems);
}

talus_status talus_scene_parse(const char *text, size_t length, const char *name,
                               const char *folder, const char *const *settings, size_t n,
                               talus_scene **scene, char **problems) {
  TL_NEED(scene);
  TL_NEED_SOME(text, length);
  TL_NEED_SOME(settings, n);
  *scene = NULL;
  if (problems)
    *problems = NULL;
  static const char mark[] = "\xEF\xBB\xBF"; /* byte order mark */
  const size_t skip = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
  const tl_source source = {
      .name = name ? name : "scene", .text = text + skip, .length = length - skip};
  tl_c_locale locale;
  TL_TRY(tl_c_locale_enter(&locale));
  void *block = NULL;
  talus_status status = tl_resize(&block, 0, sizeof **scene);
  if (status == TALUS_OK) {
    talus_scene *made = memset(block, 0, sizeof **scene);
    parser p = {0};
    status = parse(&p, &source, folder, settings, n, made, problems);
    tl_reader_close(&p.reader);
    tl_document_free(&p.document);
    tl_problems_free(&p.problems);
    for (size_t i = 0; i < p.names.count; ++i)
      tl_string_free(&p.names.data[i]);
    tl_array_free(&p.names);
    if (status == TALUS_OK)
      *scene = made;
    else
      talus_scene_free(made);
  }
  tl_c_locale_leave(&locale);
  return status;
}

/* ---- loading --------------------------------------------------------------------------------- */

static const tl_builtin_scene *find_builtin(const char *name) {
  for (size_t i = 0; i < tl_builtin_scene_count; ++i)
    if (strcmp(tl_builtin_scenes[i].name, name) == 0)
      return &tl_builtin_scenes[i];
  return NULL;
}

static talus_status no_such_file(const char *path) {
  tl_suggestion nearest = {.word = path};
  for (size_t i = 0; i < tl_builtin_scene_count; ++i)
    tl_suggest(&nearest, tl_builtin_scenes[i].name);
  if (nearest.best)
    return tl_fail(TALUS_ERROR_IO,
                   "%s: there is no such file and no such built-in scene; did you mean `%s`?", path,
                   nearest.best);
  return tl_fail(
      TALUS_ERROR_IO,
      "%s: there is no such file and no such built-in scene (`talus scenes` lists those)", path);
}

/* The whole file, up to one byte more than a scene may have. */
static talus_status read_file(const char *path, tl_text *text) {
  FILE *file = fopen(path, "rb");
  if (!file)
    return tl_fail(TALUS_ERROR_IO, "%s: cannot be opened: %s", path, strerror(errno));
  char block[16384];
  size_t n;
  errno = 0;
  while (text->count <= TL_DOCUMENT_BYTES && (n = fread(block, 1, sizeof block, file)) > 0)
    tl_text_add_bytes(text, block, n);
  const int error = ferror(file) ? errno : 0;
  fclose(file);
  if (error)
    return tl_fail(TALUS_ERROR_IO, "%s: cannot be read: %s", path, strerror(error));
  return text->status;
}

talus_status talus_scene_load(const char *path, const char *const *settings, size_t n,
                              talus_scene **scene, char **problems) {
  TL_NEED(scene);
  TL_NEED(path);
  TL_NEED_SOME(settings, n);
  *scene = NULL;
  if (problems)
    *problems = NULL;
  struct stat status;
  if (stat(path, &status) != 0 || S_ISDIR(status.st_mode)) {
    const tl_builtin_scene *builtin = find_builtin(path);
    if (builtin)
      return talus_scene_parse(builtin->text, strlen(builtin->text), path, NULL, settings, n, scene,
                               problems);
    if (stat(path, &status) == 0)
      return tl_fail(TALUS_ERROR_IO, "%s: is a folder; expected a scene file", path);
    if (errno == ENOENT)
      return no_such_file(path);
  }
  if (S_ISREG(status.st_mode) && tl_start_is_one(path))
    return tl_start_load(path, settings, n, scene, problems);
  const char *slash = strrchr(path, '/');
  char *folder = NULL;
  tl_text text = {0};
  talus_status result = read_file(path, &text);
  if (result == TALUS_OK && slash)
    result = tl_string_copy(path, slash == path ? 1 : (size_t)(slash - path), &folder);
  if (result == TALUS_OK)
    result = talus_scene_parse(text.data ? text.data : "", text.count, path, folder, settings, n,
                               scene, problems);
  tl_string_free(&folder);
  tl_text_drop(&text);
  return result;
}

/* ---- what a run will do ---------------------------------------------------------------------- */

uint64_t tl_grid_steps(double until, double dt) { return (uint64_t)floor(until / dt + 0.5); }

uint64_t tl_grid_event(uint64_t k, double every, double dt, uint64_t steps) {
  const double step = floor((double)k * every / dt + 0.5);
  return step < (double)steps ? (uint64_t)step : steps;
}

uint64_t tl_grid_events(double every, double dt, uint64_t steps) {
  uint64_t k = (uint64_t)floor((double)steps * dt / every);
  /* Rounding can be off by one event either way. */
  while (k > 0 && tl_grid_event(k - 1, every, dt, steps) == steps)
    k--;
  while (tl_grid_event(k, every, dt, steps) < steps)
    k++;
  return k + 1;
}

/* One at its start, and one at the end of the run, but none at its own end (flow/emitter.c). */
static double count_emitted(const talus_scene *scene) {
  const tl_scene_emitter *emitters = scene->emit.data;
  const double last = (double)tl_grid_steps(scene->until.time, scene->step.dt) * scene->step.dt;
  const double slack = 1e-9; /* of the time between two, as emitters have it */
  double sum = 0;
  for (size_t i = 0; i < scene->emit.count; ++i) {
    const tl_scene_emitter *e = &emitters[i];
    double count = floor(e->rate * (last - e->from_time) + slack) + 1;
    if (tl_object_has(&tl_schema_emitter, e, "until"))
      count = fmin(count, ceil(e->rate * (e->until - e->from_time) - slack));
    sum += fmax(count, 0);
  }
  return sum;
}

void talus_scene_get_info(const talus_scene *scene, talus_scene_info *info) {
  TL_NEED_OR(info, );
  *info = (talus_scene_info){0};
  TL_NEED_OR(scene, );
  const uint64_t steps = tl_grid_steps(scene->until.time, scene->step.dt);
  *info = (talus_scene_info){
      .title = scene->title,
      .until = scene->until.time,
      .dt = scene->step.dt,
      .output_every = scene->output.every,
      .at_rest = scene->until.at_rest,
      .steps = steps,
      .substeps = scene->step.substeps,
      .frames =
          scene->output.frames ? tl_grid_events(scene->output.every, scene->step.dt, steps) : 0,
      .shapes = scene->shapes.count,
      .materials = scene->materials.count,
      .emitters = scene->emit.count,
      .sinks = scene->sinks.count,
      .probes = scene->probes.count,
      .emitted = count_emitted(scene)};
}

bool talus_scene_is_start(const talus_scene *scene) {
  TL_NEED_OR(scene, false);
  return scene->start != NULL;
}

const char *talus_scene_probe_name(const talus_scene *scene, size_t i) {
  TL_NEED_OR(scene, NULL);
  return i < scene->probes.count ? tl_scene_get_probe(scene, i).name : NULL;
}

uint32_t tl_scene_fields(const talus_scene *scene) {
  return scene->output.frames ? scene->output.fields : 0;
}

bool tl_scene_has_frames(const talus_scene *scene) { return scene->output.frames; }

size_t tl_scene_average_count(const talus_scene *scene) { return scene->averages.count; }

const char *tl_scene_get_average(const talus_scene *scene, size_t i, double *every) {
  const tl_scene_average *average = (const tl_scene_average *)scene->averages.data + i;
  *every = average->every;
  return average->name;
}

size_t tl_scene_zone_count(const talus_scene *scene) { return scene->zones.count; }

const char *tl_scene_get_zone(const talus_scene *scene, size_t i, double *every) {
  const tl_scene_zone *zone = (const tl_scene_zone *)scene->zones.data + i;
  *every = zone->every;
  return zone->name;
}

size_t tl_scene_probe_count(const talus_scene *scene) { return scene->probes.count; }

tl_scene_probe_plan tl_scene_get_probe(const talus_scene *scene, size_t i) {
  const tl_scene_probe *probe = (const tl_scene_probe *)scene->probes.data + i;
  return (tl_scene_probe_plan){.name = probe->name,
                               .every = probe->every,
                               .record = probe->record,
                               .sizes = probe->sizes.data,
                               .size_count = probe->sizes.count};
}

const char *tl_scene_sink_name(const talus_scene *scene, size_t i) {
  return ((const tl_scene_sink *)scene->sinks.data)[i].name;
}

bool tl_scene_removes_outside(const talus_scene *scene) {
  return tl_object_has(&tl_schema_scene, scene, "domain") &&
         scene->domain.outside == TALUS_OUTSIDE_REMOVE;
}
