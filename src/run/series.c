/* The series: JSON that lists frames, or surfaces, with their times.
 *
 * A list that is written anew with every frame costs the square of their number. This one has room:
 * blanks before its closing bracket, over which the next entries are written in place. Each is one
 * write that crosses no sector of the disk, so that the file is whole JSON at any moment, also
 * where the power fails and only some of the writes arrive. What an entry names is on the disk
 * before it. When the room is used up, the file is written aside as large again, which keeps the
 * bytes in all proportional to the entries. At the end it is written once more, without room. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "output/file.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

#define HEAD   "{\n  \"file-series-version\": \"1.0\",\n  \"files\": ["
#define TAIL   "\n  ]\n}\n"
#define ROOM   ((size_t)4096) /* bytes, at least */
#define SECTOR ((size_t)512)

static const char *const names[TL_SERIES] = {"frames", "surfaces"};

static bool is_listed(const tl_run_frame *frame, tl_run_list list) {
  return list == TL_SERIES_FRAMES ? !frame->is_gone : frame->has_surface;
}

static void add_entry(const tl_run *run, tl_text *text, tl_run_list list, size_t number,
                      bool first) {
  tl_text_add(text, "%s\n    {\"name\": \"%s/%06zu.hdf\", \"time\": ", first ? "" : ",",
              names[list], number);
  tl_text_add_number(text, run->frames.data[number].time);
  tl_text_add(text, "}");
}

/* The whole of it. */
static talus_status make_text(const tl_run *run, tl_run_list list, bool with_room, tl_text *text,
                              tl_run_series *made) {
  *made = (tl_run_series){.fd = -1, .has_room = with_room};
  tl_text_add(text, HEAD);
  for (size_t i = 0; i < run->frames.count; ++i)
    if (is_listed(&run->frames.data[i], list))
      add_entry(run, text, list, i, made->count++ == 0);
  made->at = text->count;
  const size_t room = !with_room ? 0 : text->count > ROOM ? text->count : ROOM;
  static const char blanks[64] = "                                                               ";
  for (size_t left = room; left > 0;) {
    const size_t n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
    tl_text_add_bytes(text, blanks, n);
    left -= n;
  }
  made->end = text->count;
  tl_text_add(text, TAIL);
  return text->status;
}

static void close_one(tl_run_series *series) {
  if (series->fd >= 0)
    close(series->fd);
  *series = (tl_run_series){.fd = -1};
}

talus_status tl_run_series_stage(tl_run *run, tl_run_list list, bool with_room, tl_file *file,
                                 tl_run_series *made) {
  tl_text text = {0};
  talus_status status = make_text(run, list, with_room, &text, made);
  *file = tl_run_own_file(run);
  if (status == TALUS_OK)
    status = tl_file_begin(file, tl_run_path(run, "%s.hdf.series", names[list]));
  if (status == TALUS_OK) {
    status = tl_file_put(file, text.data, text.count);
    if (status != TALUS_OK)
      tl_file_drop(file);
  }
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_series_adopt(tl_run *run, tl_run_list list, const tl_run_series *made) {
  tl_run_series *series = &run->series[list];
  close_one(series);
  *series = *made;
  const char *path = tl_run_path(run, "%s.hdf.series", names[list]);
  series->fd = openat(run->folder, path + run->folder_bytes + 1,
                      O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return series->fd < 0 ? tl_file_fail(errno, path, "opened") : TALUS_OK;
}

talus_status tl_run_series_write(tl_run *run, tl_run_list list, bool with_room) {
  tl_file file;
  tl_run_series made;
  TL_TRY(tl_run_series_stage(run, list, with_room, &file, &made));
  TL_TRY(tl_file_end(&file, TALUS_OK));
  return tl_run_series_adopt(run, list, &made);
}

/* The place for an entry of so many bytes: the end of the file if it does not fit. */
static size_t find_place(const tl_run_series *series, size_t bytes) {
  const size_t left = SECTOR - series->at % SECTOR;
  return series->at + (bytes <= left ? 0 : left);
}

bool tl_run_series_is_full(const tl_run *run, tl_run_list list) {
  const tl_run_series *series = &run->series[list];
  return series->count > 0 && find_place(series, SECTOR / 2) + SECTOR / 2 > series->end;
}

talus_status tl_run_series_add(tl_run *run, tl_run_list list) {
  tl_run_series *series = &run->series[list];
  /* The first entry has no comma before it, so it must exist before the others. */
  if (series->fd < 0 || series->count == 0)
    return tl_run_series_write(run, list, true);
  tl_text text = {0};
  add_entry(run, &text, list, run->frames.count - 1, false);
  talus_status status = text.status;
  const size_t at = find_place(series, text.count);
  if (status == TALUS_OK && at + text.count > series->end)
    status = tl_run_series_write(run, list, true);
  else if (status == TALUS_OK) {
    ssize_t n;
    do
      n = pwrite(series->fd, text.data, text.count, (off_t)at);
    while (n < 0 && errno == EINTR);
    if (n != (ssize_t)text.count)
      status = tl_file_fail(n < 0 ? errno : ENOSPC, tl_run_path(run, "%s.hdf.series", names[list]),
                            "written");
    series->at = at + text.count;
    series->count++;
  }
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_series_sync(tl_run *run) {
  for (tl_run_list list = 0; list < TL_SERIES; ++list)
    if (run->series[list].fd >= 0 && fsync(run->series[list].fd) != 0)
      return tl_file_fail(errno, tl_run_path(run, "%s.hdf.series", names[list]), "written");
  return TALUS_OK;
}

talus_status tl_run_series_finish(tl_run *run) {
  for (tl_run_list list = 0; list < TL_SERIES; ++list)
    if (run->series[list].fd >= 0 && run->series[list].has_room)
      TL_TRY(tl_run_series_write(run, list, false));
  return TALUS_OK;
}

void tl_run_series_close(tl_run *run) {
  for (tl_run_list list = 0; list < TL_SERIES; ++list)
    close_one(&run->series[list]);
}

#endif
