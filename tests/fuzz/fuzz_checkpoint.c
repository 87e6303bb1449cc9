/* Checkpoints, damaged and hostile: refused with a message, or a world that can be stepped and
 * saved.
 *
 * An input that begins with a zero byte is a file as it stands (which all but never gets past the
 * checksum). Any other is a list of changes to a good checkpoint, which is then sealed again as an
 * attacker would: five bytes or more each, which say the dataset, where (two bytes), how many bytes
 * (and the rest of the dataset's number), and the bytes. Where the first byte is an s, what is
 * changed is not a dataset but the structure of the file: places count from the end of the data on.
 */
#include <hdf5.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "output/checkpoint.h"
#include <talus/scene.h>

static const char scene_text[] =
    "talus: 1\n"
    "until: 1\n"
    "step: {dt: 1e-3}\n"
    "materials: {rock: {density: 2600}, steel: {density: 7800}}\n"
    "pairs: [{materials: [rock, steel], friction: 0.2}]\n"
    "shapes:\n"
    "  ball: {sphere: 0.05}\n"
    "  brick: {box: [0.3, 0.2, 0.1]}\n"
    "  tank: {container: [1, 1, 2], open: [top]}\n"
    "  floor: {plane: [0, 0, 1, 0]}\n"
    "  egg: {ellipsoid: [0.06, 0.05, 0.04]}\n"
    "  pill: {capsule: {radius: 0.03, length: 0.1}}\n"
    "  rock: {hull: [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1], [0.08, 0.08, 0.08]]}\n"
    "  nut: {clump: [[0, 0, 0, 0.04], [0.05, 0, 0, 0.03]]}\n"
    "domain: {box: [[-2, -2, -2], [2, 2, 3]], periodic: [y], outside: remove}\n"
    "bodies:\n"
    "  - {name: tank, shape: tank, material: steel, at: [0, 0, 1], fixed: true}\n"
    "  - {name: paddle, shape: ball, material: steel, at: [0, 0, 0.3], group: soft,\n"
    "     motion: {amplitude: [0.1, 0, 0], frequency: 2, spin: [0, 1, 0]}}\n"
    "  - {name: brick, shape: brick, material: rock, at: [0.1, 0.1, 0.05], force: [1, 0, 0]}\n"
    "  - {name: ball, shape: ball, material: rock, at: [-0.3, 0, 0.049], lock: [x], group: hard}\n"
    "  - {shape: ball, material: rock, at: [-0.3, 0, 0.15], mass: 3}\n"
    "  - {name: egg, shape: egg, material: rock, at: [0.4, -0.3, 0.05]}\n"
    "  - {name: pill, shape: pill, material: rock, at: [0.4, -0.1, 0.03], rotation: {axis: [1, 0, "
    "0],"
    " degrees: 90}}\n"
    "  - {name: rock, shape: rock, material: rock, at: [0.4, 0.2, 0]}\n"
    "  - {name: nut, shape: nut, material: steel, at: [0.4, 0.39, 0.04]}\n"
    "  - {name: arm, shape: brick, material: steel, at: [-0.2, -0.3, 0.8]}\n"
    "  - {name: bob, shape: ball, material: steel, at: [-0.2, -0.3, 0.5]}\n"
    "  - {name: gone, shape: ball, material: rock, at: [-0.3, 0.3, 0.5]}\n"
    "ignore: [[soft, hard]]\n"
    "joints:\n"
    "  - {name: hinge, kind: revolute, bodies: [arm, ground], at: [-0.2, -0.3, 0.8], axis: [0, 1, "
    "0],\n"
    "     limits: {low: -40, high: 40, restitution: 0.2}, motor: {speed: 1, max: 2}}\n"
    "  - {name: rope, kind: distance, bodies: [arm, bob], at: [-0.2, -0.3, 0.75],\n"
    "     to: [-0.2, -0.3, 0.5], rope: true, break: {force: 1000}}\n"
    "  - {name: coil, kind: spring, bodies: [bob, ground], at: [-0.2, -0.3, 0.5], to: [-0.2, -0.3, "
    "0],\n"
    "     spring: {stiffness: 100, damping: 1}}\n"
    "sleep: {speed: 0.001, time: 0.01}\n"
    "emit:\n"
    "  - {name: tap, shape: ball, material: rock, rate: 100, velocity: [0, 0, -2],\n"
    "     size: {table: [[0.5, 1], [1, 2]]}, from: {disc: {at: [0, 0, 1.5], radius: 0.3}}}\n"
    "sinks: [{name: drain, in: {box: [[-0.5, -0.5, 0], [-0.4, -0.4, 0.1]]}}]\n"
    "probes:\n"
    "  - {name: push, body: paddle, record: [force]}\n"
    "  - {name: load, joint: hinge, record: [torque]}\n"
    "  - {name: inside, region: {sphere: {at: [0, 0, 0.5], radius: 0.4}}, record: [count]}\n";

typedef struct dataset {
  size_t at, bytes;
} dataset;

static unsigned char *good; /* the file */
static size_t good_bytes;
static dataset datasets[1024];
static size_t dataset_count, data_end;
static char path[64], saved[64];

static void remove_files(void) {
  remove(path);
  remove(saved);
}

/* Every dataset that holds something, by name. */
static herr_t note_dataset(hid_t file, const char *name, const H5O_info_t *info, void *context) {
  (void)context;
  if (info->type != H5O_TYPE_DATASET)
    return 0;
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  const haddr_t at = H5Dget_offset(set);
  const size_t bytes = (size_t)H5Dget_storage_size(set);
  H5Dclose(set);
  if (at != HADDR_UNDEF && bytes > 0) {
    PROMISE(dataset_count < sizeof datasets / sizeof *datasets && at + bytes <= good_bytes,
            "room for %s", name);
    datasets[dataset_count++] = (dataset){(size_t)at, bytes};
    data_end = at + bytes > data_end ? (size_t)at + bytes : data_end;
  }
  return 0;
}

static void read_good(void) {
  FILE *file = fopen(path, "rb");
  PROMISE(file != NULL, "%s was saved", path);
  fseek(file, 0, SEEK_END);
  good_bytes = (size_t)ftell(file);
  good = malloc(good_bytes);
  rewind(file);
  PROMISE(good != NULL && fread(good, 1, good_bytes, file) == good_bytes, "%s is read", path);
  fclose(file);
}

static void make_good(void) {
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  talus_body gone;
  char *problems = NULL;
  snprintf(path, sizeof path, "fuzz-%ld.hdf", (long)getpid());
  snprintf(saved, sizeof saved, "saved-%ld.hdf", (long)getpid());
  atexit(remove_files);
  talus_status status = talus_scene_parse(scene_text, sizeof scene_text - 1, "good.yaml", NULL,
                                          NULL, 0, &scene, &problems);
  PROMISE(status == TALUS_OK, "%s", problems);
  status = talus_scene_build(scene, 1, NULL, NULL, &world);
  PROMISE(status == TALUS_OK, "%s", talus_last_error());
  status = talus_world_step(world, 50);
  PROMISE(status == TALUS_OK, "%s", talus_last_error());
  if (talus_world_find_body(world, "gone", &gone) == TALUS_OK)
    talus_world_remove_body(world, gone);
  status = talus_world_save(world, path);
  PROMISE(status == TALUS_OK, "%s", talus_last_error());
  talus_world_destroy(world);
  talus_scene_free(scene);
  read_good();
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, note_dataset, NULL, H5O_INFO_BASIC);
  H5Fclose(file);
  PROMISE(dataset_count > 50, "a checkpoint has %zu datasets", dataset_count);
}

static void change(unsigned char *image, const uint8_t *data, size_t size, bool structure) {
  const dataset headers = {data_end, good_bytes - data_end};
  while (size >= 5) {
    /* There are more datasets than a byte counts: the upper bits of the last byte add to it. */
    const dataset *set =
        structure ? &headers : &datasets[(data[0] | (data[3] & 0xf8u) << 5) % dataset_count];
    const size_t at = (size_t)(data[1] | data[2] << 8) % set->bytes;
    size_t n = 1 + data[3] % 8u;
    data += 4, size -= 4;
    n = n < size ? n : size;
    n = n < set->bytes - at ? n : set->bytes - at;
    memcpy(image + set->at + at, data, n);
    data += n, size -= n;
  }
}

static void write_file(const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  PROMISE(file != NULL && fwrite(data, 1, size, file) == size, "%s is written", path);
  fclose(file);
}

/* Whether a step takes no time, whatever was put into the checkpoint. */
static bool is_quick(const talus_world *world) {
  double born = 0;
  for (size_t i = 0; i < world->flow.emitters.count; ++i)
    born += world->flow.emitters.data[i].def.rate * world->model.dt;
  return world->model.solve.iterations < 1000 && born < 100;
}

/* What was loaded can be stepped, and saved and loaded again, to the same state. */
static void promise_world(talus_world *world, bool save) {
  world->model.par.threads = 1;
  if (is_quick(world))
    (void)talus_world_step(world, 1); /* it may well diverge, and says so */
  const uint64_t hash = talus_world_hash(world);
  if (!save || talus_world_save(world, saved) != TALUS_OK)
    return;
  talus_world *again = NULL;
  PROMISE(talus_world_load(saved, &again) == TALUS_OK, "%s", talus_last_error());
  PROMISE(talus_world_hash(again) == hash, "another state is loaded than was saved");
  talus_world_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (good == NULL)
    make_good();
  if (size == 0)
    return 0;
  if (data[0] == 0) {
    write_file(data + 1, size - 1);
  } else {
    unsigned char *image = malloc(good_bytes);
    if (image == NULL)
      return 0;
    memcpy(image, good, good_bytes);
    change(image, data + 1, size - 1, data[0] == 's');
    tl_checkpoint_seal(image, good_bytes);
    write_file(image, good_bytes);
    free(image);
  }
  talus_world *world = NULL;
  const talus_status status = talus_world_load(path, &world);
  if (status == TALUS_OK)
    promise_world(world, size % 4 == 0); /* it takes time, so not always */
  else {
    PROMISE(world == NULL, "a world was handed out with status %d", (int)status);
    PROMISE(status == TALUS_ERROR_FORMAT || status == TALUS_ERROR_UNSUPPORTED, "status %d: %s",
            (int)status, talus_last_error());
    PROMISE(strstr(talus_last_error(), path) != NULL, "no path in: %s", talus_last_error());
  }
  talus_world_destroy(world);
  return 0;
}
