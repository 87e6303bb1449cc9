/* Frames and contact files, damaged and hostile: read, or refused with a message that names the
 * file. HDF5 reads them in a process of its own (cli/frame_guard.c), which it may kill.
 *
 * An input that begins with a zero byte is a file as it stands; with a one or a two, changes to a
 * good frame or contact file: four bytes or more each, which say where (three bytes), how many
 * bytes, and the bytes. */
#include "fuzz.h"

#include <math.h>
#include <unistd.h>

#include "frame_read.h"
#include <talus/talus.h>

typedef struct file {
  unsigned char *data;
  size_t bytes;
} file;

static file frame_file, contact_file;
static char path[64];

static void remove_file(void) { remove(path); }

static file read_whole(void) {
  FILE *from = fopen(path, "rb");
  PROMISE(from != NULL, "%s was written", path);
  fseek(from, 0, SEEK_END);
  file all = {.bytes = (size_t)ftell(from)};
  all.data = malloc(all.bytes);
  rewind(from);
  PROMISE(all.data && fread(all.data, 1, all.bytes, from) == all.bytes, "%s is read", path);
  fclose(from);
  return all;
}

static void make_good(void) {
  talus_world_def def = talus_world_def_default();
  talus_world *world;
  talus_shape_def shape = talus_shape_def_default();
  talus_material_def stone = talus_material_def_default();
  talus_body_def body = talus_body_def_default();
  static const double points[] = {0, 0, 0, 0.3, 0, 0, 0, 0.3, 0, 0, 0, 0.3};
  snprintf(path, sizeof path, "fuzz-frame-%ld.hdf", (long)getpid());
  atexit(remove_file);
  def.threads = 1;
  PROMISE(talus_world_create(&def, &world) == TALUS_OK, "%s", talus_last_error());
  PROMISE(talus_world_add_material(world, &stone, &body.material) == TALUS_OK, "material");
  for (int i = 0; i < 4; ++i) {
    static const talus_shape_kind kinds[] = {TALUS_PLANE, TALUS_SPHERE, TALUS_BOX, TALUS_HULL};
    shape.kind = kinds[i];
    shape.size[0] = shape.size[1] = i == 0 ? 0 : 0.2, shape.size[2] = i == 0 ? 1 : 0.2;
    shape.size[3] = 0;
    shape.points = points, shape.point_count = 4;
    PROMISE(talus_world_add_shape(world, &shape, &body.shape) == TALUS_OK, "%s",
            talus_last_error());
    body.kind = i == 0 ? TALUS_FIXED : TALUS_FREE;
    body.position = (talus_dvec3){i, 0, 0.1 * (i > 0)};
    PROMISE(talus_world_add_body(world, &body, NULL) == TALUS_OK, "%s", talus_last_error());
  }
  PROMISE(talus_world_step(world, 5) == TALUS_OK, "%s", talus_last_error());
  PROMISE(talus_world_write_frame(world, path) == TALUS_OK, "%s", talus_last_error());
  frame_file = read_whole();
  PROMISE(talus_world_write_contacts(world, path) == TALUS_OK, "%s", talus_last_error());
  contact_file = read_whole();
  talus_world_destroy(world);
}

static void write_whole(const unsigned char *data, size_t bytes) {
  FILE *to = fopen(path, "wb");
  PROMISE(to != NULL && fwrite(data, 1, bytes, to) == bytes, "%s is written", path);
  fclose(to);
}

static void write_changed(const file *good, const uint8_t *data, size_t size) {
  unsigned char *image = malloc(good->bytes);
  PROMISE(image != NULL, "memory");
  memcpy(image, good->data, good->bytes);
  while (size >= 4) {
    const size_t at = (size_t)(data[0] | data[1] << 8 | data[2] << 16) % good->bytes;
    size_t n = 1 + data[3] % 8u;
    data += 4, size -= 4;
    n = n < size ? n : size;
    n = n < good->bytes - at ? n : good->bytes - at;
    memcpy(image + at, data, n);
    data += n, size -= n;
  }
  write_whole(image, good->bytes);
  free(image);
}

static void promise_frame(void) {
  frame found;
  char why[512] = "";
  double time = 0;
  if (frame_read(path, &found, why, sizeof why)) {
    for (size_t i = 0; i < found.bodies; ++i)
      PROMISE(isfinite(found.position[3 * i]) && found.shape[i] < found.shapes &&
                  found.material[i] < found.materials,
              "body %zu is none", i);
    frame_free(&found);
  } else
    promise_message(why, path);
  if (!frame_read_time(path, &time, why, sizeof why))
    promise_message(why, path);
}

static void promise_contacts(void) {
  frame_contacts found;
  char why[512] = "";
  if (frame_contacts_read(path, &found, why, sizeof why)) {
    for (size_t i = 0; i < 3 * found.count; ++i)
      PROMISE(isfinite(found.point[i]) && isfinite(found.impulse[i]), "number %zu is none", i);
    frame_contacts_free(&found);
  } else
    promise_message(why, path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (frame_file.data == NULL)
    make_good();
  if (size == 0)
    return 0;
  const bool contacts = data[0] == 2;
  if (data[0] == 0)
    write_whole(data + 1, size - 1);
  else
    write_changed(contacts ? &contact_file : &frame_file, data + 1, size - 1);
  contacts ? promise_contacts() : promise_frame();
  return 0;
}
