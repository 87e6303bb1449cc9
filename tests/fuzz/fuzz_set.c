/* Any lines as settings, as of `talus run --set KEY=VALUE`, over a scene that has a bit of all. */
#include "fuzz_scene.h"

static const char scene[] =
    "talus: 1\n"
    "title: A bit of everything\n"
    "until: 0.3\n"
    "step: {dt: 1e-3}\n"
    "solve: {iterations: 10}\n"
    "materials:\n"
    "  glass: {density: 2500, friction: 0.4, restitution: 0.5}\n"
    "  steel: {density: 7800}\n"
    "pairs:\n"
    "  - {materials: [glass, steel], friction: 0.2}\n"
    "shapes:\n"
    "  grain: {sphere: 0.02}\n"
    "  block: {box: [0.04, 0.04, 0.04]}\n"
    "  tank: {container: [0.4, 0.4, 0.8], open: [top]}\n"
    "bodies:\n"
    "  - {name: tank, shape: tank, material: steel, at: [0, 0, 0.4], fixed: true}\n"
    "  - {name: cube, shape: block, material: glass, at: [0, 0, 0.021], spin: [0, 0, 5]}\n"
    "  - fill: {shape: grain, material: glass, count: 5, size: {uniform: [0.6, 1]}, seed: 3,\n"
    "           in: {box: [[-0.18, -0.18, 0.05], [0.18, 0.18, 0.3]]}, velocity: [0, 0, -1]}\n"
    "emit:\n"
    "  - {name: tap, shape: grain, material: glass, rate: 200, velocity: [0, 0, -2],\n"
    "     from: {disc: {at: [0, 0, 0.6], radius: 0.15}}}\n"
    "sinks:\n"
    "  - {name: drain, in: {box: [[-0.2, -0.2, 0], [-0.1, -0.1, 0.03]]}}\n"
    "probes:\n"
    "  - {name: floor, body: tank, record: [force, torque], every: 0.007}\n"
    "output: {every: 0.013, fields: [quaternion, velocity]}\n";

#define MOST 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  const char *settings[MOST];
  size_t n = 0;
  if (text == NULL)
    return 0;
  if (size > 0)
    memcpy(text, data, size);
  text[size] = '\0';
  for (char *line = text; line != NULL && n < MOST;) {
    settings[n++] = line;
    line = strchr(line, '\n');
    if (line != NULL)
      *line++ = '\0';
  }
  promise_scene(scene, sizeof scene - 1, settings, n);
  free(text);
  return 0;
}
