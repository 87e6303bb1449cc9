/* The files that a scene names, and those that its tables name. The checkpoint has their checksums,
 * and a resumed run warns if a file has changed. */
#include "base/hash.h"
#include "base/input.h"
#include "run/run.h"
#include "scene/files.h"

#if TALUS_HAVE_HDF5

static bool has_comma(const tl_input *in) {
  return memchr(in->at, ',', (size_t)(tl_input_line_end(in) - in->at)) != NULL;
}

/* The cell in a column of the line under way; empty where the line ends before. */
static tl_span cell_at(tl_input *in, size_t column, bool commas) {
  tl_span cell = {in->at, 0};
  bool last = false;
  for (size_t k = 0; k <= column; ++k) {
    if (last)
      return (tl_span){in->at, 0};
    cell = commas ? tl_input_cell(in, &last) : tl_input_word(in);
    last = last || (!commas && cell.length == 0);
  }
  return cell;
}

/* The number of the column `file` of the header, or SIZE_MAX. */
static size_t find_column(tl_input *in, bool commas) {
  bool last = false;
  for (size_t k = 0; !last; ++k) {
    const tl_span cell = commas ? tl_input_cell(in, &last) : tl_input_word(in);
    if (tl_span_is(cell, "file"))
      return k;
    last = last || (!commas && cell.length == 0);
  }
  return SIZE_MAX;
}

/* Adds the contents of a file that a table names to the hash. */
static talus_status add_named(const char *table, tl_span name, uint64_t *hash) {
  const char *slash = strrchr(table, '/');
  tl_text path = {0};
  tl_bytes bytes = {0};
  if (name.text[0] != '/' && slash)
    tl_text_add_bytes(&path, table, (size_t)(slash + 1 - table));
  tl_text_add_bytes(&path, name.text, name.length);
  talus_status status = path.status;
  if (status == TALUS_OK && tl_input_load(path.data, &bytes) == TALUS_OK)
    *hash = tl_xxh64(bytes.data ? bytes.data : "", bytes.count, *hash);
  tl_array_free(&bytes);
  tl_text_drop(&path);
  return status;
}

/* A table of bodies: with the files that its rows name. A file that cannot be read is told when
 * the table is. */
static talus_status hash_table(const char *path, const tl_bytes *bytes, uint64_t *hash) {
  tl_input in;
  TL_ARRAY(tl_span) seen = {0};
  TL_TRY(tl_input_open(&in, path, bytes->data, bytes->count));
  const bool is_there = tl_input_find_line(&in, true), commas = is_there && has_comma(&in);
  const size_t column = is_there ? find_column(&in, commas) : SIZE_MAX;
  talus_status status = TALUS_OK;
  while (status == TALUS_OK && column != SIZE_MAX && tl_input_next_line(&in) &&
         tl_input_find_line(&in, true)) {
    const tl_span name = cell_at(&in, column, commas);
    bool is_known = name.length == 0;
    for (size_t i = seen.count; i-- > 0 && !is_known;)
      is_known = name.length == seen.data[i].length &&
                 memcmp(name.text, seen.data[i].text, name.length) == 0;
    if (is_known)
      continue;
    status = tl_array_reserve(&seen, seen.count + 1);
    if (status == TALUS_OK) {
      seen.data[seen.count++] = name;
      status = add_named(path, name, hash);
    }
  }
  tl_array_free(&seen);
  return tl_input_close(&in, status);
}

static talus_status hash_file(const char *path, bool is_table, uint64_t *hash) {
  tl_bytes bytes = {0};
  *hash = 0;
  talus_status status = tl_input_load(path, &bytes);
  if (status == TALUS_OK) {
    *hash = tl_xxh64(bytes.data ? bytes.data : "", bytes.count, 0);
    if (is_table)
      status = hash_table(path, &bytes, hash);
    *hash += *hash == 0; /* 0 stands for a file that cannot be read */
  }
  tl_array_free(&bytes);
  return status;
}

/* Those of a start file were read when it was made; they need not be here. */
static talus_status take_hash(const tl_run *run, size_t i, tl_run_file *file) {
  if (!run->scene->start)
    return hash_file(file->path, file->is_table, &file->hash);
  file->hash = i < run->scene->hashes.count ? run->scene->hashes.data[i] : 0;
  return TALUS_OK;
}

talus_status tl_run_files_look(tl_run *run, bool all) {
  tl_scene_files found = {0};
  talus_status status = tl_scene_list_files(run->scene, &found);
  if (status == TALUS_OK)
    status = tl_array_reserve(&run->files, found.count);
  for (size_t i = 0; i < found.count; ++i) {
    if (status != TALUS_OK) {
      tl_string_free(&found.data[i].path);
      continue;
    }
    tl_run_file *file = &run->files.data[run->files.count++];
    file->path = found.data[i].path;
    file->is_table = found.data[i].is_table;
    const talus_status read = take_hash(run, i, file);
    status = all ? read : TALUS_OK;
  }
  tl_array_free(&found);
  return status;
}

void tl_run_files_compare(tl_run *run, const uint64_t *stored) {
  for (size_t i = 0; i < run->files.count; ++i) {
    tl_run_file *file = &run->files.data[i];
    if (file->hash != 0 && file->hash != stored[i])
      tl_run_log_add(&run->log, TL_LOG_WARN,
                     "the run uses the copy stored with it; %s%s has changed since (--force begins "
                     "anew, with the file as it is now)",
                     file->path, file->is_table ? ", or a file that it names," : "");
    file->hash = stored[i]; /* the next resumed run warns of it too */
  }
}

void tl_run_files_free(tl_run *run) {
  for (size_t i = 0; i < run->files.count; ++i)
    tl_string_free(&run->files.data[i].path);
  tl_array_free(&run->files);
}

#endif
