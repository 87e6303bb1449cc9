/* Where work is done: names of backends, and what a world did with a device. <talus/talus.h>
 * includes this. */
#ifndef TALUS_BACKEND_H
#define TALUS_BACKEND_H

#include <talus/types.h>

#if defined(__GNUC__)
#define TALUS_API __attribute__((visibility("default")))
#else
#define TALUS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where work is done: collision detection (detect.h), and steps (talus_world_set_backend). */
typedef enum talus_backend {
  TALUS_BACKEND_CPU,
  TALUS_BACKEND_CHECK, /* the code of devices, run on the host with memory apart: to test it */
  TALUS_BACKEND_CUDA   /* an NVIDIA GPU, where talus was built with nvcc */
} talus_backend;

/* "cpu", "check", "cuda"; NULL for any other value. */
TALUS_API const char *talus_backend_name(talus_backend backend);
/* TALUS_ERROR_INVALID, with all names in the message, where there is none of that name. */
TALUS_API talus_status talus_backend_by_name(const char *name, talus_backend *backend);
/* Those of this build with what the machine has: "cpu check cuda (NVIDIA H200, ...)". Static. */
TALUS_API const char *talus_backends(void);

/* A world (talus.h). */
typedef struct talus_world talus_world;

/* Where the next steps run; a checkpoint does not keep it. On a device bodies and contacts stay
 * there from step to step, and come home when a call asks for them. It takes fixed steps of ccp by
 * gauss-seidel, without joints and sleep, of all shapes but meshes and revolved walls
 * (docs/gpu.md). Whatever else there is, the CPU takes the steps, and the log
 * says once why; with no_fallback a step then fails with TALUS_ERROR_UNSUPPORTED. Results are not
 * those of the CPU, bit by bit: rows are swept in another order; `check` and `cuda` agree.
 * TALUS_ERROR_UNSUPPORTED: this build has no such backend; TALUS_ERROR_DEVICE: the machine has no
 * device that works. */
TALUS_API talus_status talus_world_set_backend(talus_world *world, talus_backend backend,
                                               bool no_fallback);

/* What steps did with a device. */
typedef struct talus_device_use {
  const char *device;    /* its title, or NULL: none was used yet */
  const char *fallback;  /* why the CPU takes the steps, or NULL; known before the first one */
  uint64_t steps;        /* taken there, */
  uint64_t sent;         /* by bodies that went there so many times */
  uint64_t step_bytes;   /* most that a step moved to and fro */
  uint64_t moved_bytes;  /* by all of them, and by what went there and came home */
  uint64_t device_bytes; /* most that was held there */
} talus_device_use;
TALUS_API void talus_world_device_use(const talus_world *world, talus_device_use *use);

#ifdef __cplusplus
}
#endif

#endif
