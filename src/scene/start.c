#include "scene/start.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scene/blob.h"

/* The bytes, numbers with 8 bytes each, little end first; texts have their length before them:
 *   magic, version of this list,
 *   number of files that the scene names, of each: XXH64,
 *   name of the scene, its folder, the scene as resolved */
#define MAGIC   0x7472617473756c61u
#define VERSION 1u

/* ---- to bytes and back ----------------------------------------------------------------------- */

static void put_string(tl_text *text, const char *string) {
  const size_t n = strlen(string);
  tl_blob_put(text, n);
  tl_text_add_bytes(text, string, n);
}

talus_status tl_start_pack(const talus_scene *scene, const uint64_t *hashes, size_t n,
                           tl_text *text) {
  char *resolved = NULL;
  TL_TRY(talus_scene_write(scene, &resolved));
  tl_blob_put(text, MAGIC);
  tl_blob_put(text, VERSION);
  tl_blob_put(text, n);
  for (size_t i = 0; i < n; ++i)
    tl_blob_put(text, hashes[i]);
  put_string(text, scene->name);
  put_string(text, scene->folder);
  put_string(text, resolved);
  tl_string_free(&resolved);
  return text->status;
}

/* A copy; NULL where the bytes end before. */
static talus_status get_string(tl_blob_reader *r, char **string) {
  const uint64_t n = tl_blob_get(r);
  *string = NULL;
  if (r->is_short || n > r->blob->size - r->at) {
    r->is_short = true;
    return TALUS_OK;
  }
  TL_TRY(tl_string_copy((const char *)r->blob->data + r->at, (size_t)n, string));
  r->at += (size_t)n;
  return TALUS_OK;
}

/* ---- loading --------------------------------------------------------------------------------- */

bool tl_start_is_one(const char *path) {
  static const char magic[] = "talus checkpoint\n";
  char begin[sizeof magic - 1];
  FILE *file = fopen(path, "rb");
  if (!file)
    return false;
  const bool is_one = fread(begin, 1, sizeof begin, file) == sizeof begin &&
                      memcmp(begin, magic, sizeof begin) == 0;
  fclose(file);
  return is_one;
}

typedef struct content {
  char *name, *folder, *text;
  TL_ARRAY(uint64_t) hashes;
} content;

static void free_content(content *c) {
  tl_string_free(&c->name);
  tl_string_free(&c->folder);
  tl_string_free(&c->text);
  tl_array_free(&c->hashes);
}

static talus_status unpack(const char *path, const tl_blob *blob, content *c) {
  tl_blob_reader r = {.blob = blob};
  if (blob->size < 8 || tl_blob_get(&r) != MAGIC)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: is a checkpoint, but no start file (`talus check SCENE --save` makes "
                   "those); a run goes on with its scene, -o FOLDER and --resume",
                   path);
  const uint64_t version = tl_blob_get(&r);
  if (version != VERSION)
    return tl_fail(TALUS_ERROR_UNSUPPORTED,
                   "%s: is a start file of version %llu, and this talus reads version %u", path,
                   (unsigned long long)version, VERSION);
  const uint64_t n = tl_blob_get(&r);
  for (uint64_t i = 0; i < n && !r.is_short; ++i)
    TL_TRY(tl_array_push(&c->hashes, tl_blob_get(&r)));
  TL_TRY(get_string(&r, &c->name));
  TL_TRY(get_string(&r, &c->folder));
  TL_TRY(get_string(&r, &c->text));
  if (r.is_short || r.at != blob->size || c->folder[0] != '/')
    return tl_fail(TALUS_ERROR_FORMAT, "%s: does not fit together", path);
  return TALUS_OK;
}

static talus_status check_setting(const char *setting) {
  static const char *const keys[] = {"until", "output", "quiet", "strict"};
  const size_t length = strcspn(setting, ".=");
  for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
    if (strlen(keys[i]) == length && strncmp(keys[i], setting, length) == 0)
      return TALUS_OK;
  return tl_fail(TALUS_ERROR_INVALID,
                 "--set %.80s: the world of a start file is made already; expected until, output, "
                 "quiet or strict (all else: make another start file with `talus check SCENE "
                 "--set ... --save`)",
                 setting);
}

/* The whole path: the current folder may change before the world is loaded. */
static talus_status set_start(talus_scene *scene, const char *path) {
  char current[4096];
  tl_text text = {0};
  if (*path != '/' && getcwd(current, sizeof current))
    tl_text_add(&text, "%s/", current);
  tl_text_add(&text, "%s", path);
  return tl_text_take(&text, &scene->start);
}

static talus_status make_scene(const char *path, content *c, const char *const *settings, size_t n,
                               talus_scene **scene, char **problems) {
  for (size_t i = 0; i < n; ++i) {
    TL_NEED(settings[i]);
    TL_TRY(check_setting(settings[i]));
  }
  TL_TRY(talus_scene_parse(c->text, strlen(c->text), c->name, c->folder, settings, n, scene,
                           problems));
  TL_TRY(set_start(*scene, path));
  for (size_t i = 0; i < c->hashes.count; ++i)
    TL_TRY(tl_array_push(&(*scene)->hashes, c->hashes.data[i]));
  return TALUS_OK;
}

talus_status tl_start_load(const char *path, const char *const *settings, size_t n,
                           talus_scene **scene, char **problems) {
  tl_blob blob = {0};
  content c = {0};
  TL_TRY(tl_output_load_blob(path, &blob));
  talus_status status = unpack(path, &blob, &c);
  if (status == TALUS_OK)
    status = make_scene(path, &c, settings, n, scene, problems);
  if (status != TALUS_OK) {
    talus_scene_free(*scene);
    *scene = NULL;
  }
  void *data = blob.data;
  (void)tl_resize(&data, blob.size, 0); /* freeing cannot fail */
  free_content(&c);
  return status;
}
