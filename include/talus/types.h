/* talus: plain types shared by every public header.
 *
 * Units are SI throughout: metres, kilograms, seconds, radians, newtons.
 * Vectors are columns in a right-handed world frame. Quaternions are (w, x, y, z), of unit
 * length, and turn body coordinates into world coordinates.
 */
#ifndef TALUS_TYPES_H
#define TALUS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <talus/config.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Positions and times are double in every build. Everything else is talus_real: double by
 * default, float in the library libtalus-single (talus/config.h says which one this is). */
#if TALUS_SINGLE
typedef float talus_real;
#else
typedef double talus_real;
#endif

/* A position in the world [m]; always double. */
typedef struct talus_dvec3 {
  double x, y, z;
} talus_dvec3;

/* A velocity, direction, length, impulse, ... */
typedef struct talus_vec3 {
  talus_real x, y, z;
} talus_vec3;

/* A rotation, scalar first. */
typedef struct talus_quat {
  talus_real w, x, y, z;
} talus_quat;

/* An axis-aligned box in the world [m]. */
typedef struct talus_box {
  talus_dvec3 lo, hi;
} talus_box;

/* Scripted motion from the pose (x0, q0) at time 0:
 *   x(t) = x0 + velocity t + amplitude (sin(2 pi frequency t + phase) - sin(phase))
 *   q(t) = exp(spin t) q0 */
typedef struct talus_motion {
  talus_vec3 velocity;  /* m/s */
  talus_vec3 spin;      /* rad/s, world axes, about the body's own centre */
  talus_vec3 amplitude; /* m */
  double frequency;     /* Hz */
  double phase;         /* rad */
} talus_motion;

/* What a call returns. TALUS_OK is 0. The text of the last failure on this thread, naming the
 * culprit (body, file, line) and the way out, is talus_last_error(). */
#define TALUS_STATUS_LIST(X)                                                                       \
  X(OK, "ok")                                                                                      \
  X(ERROR_INVALID, "an argument or a value is wrong")                                              \
  X(ERROR_MEMORY, "out of memory")                                                                 \
  X(ERROR_IO, "a file could not be read or written")                                               \
  X(ERROR_FORMAT, "a file is not what it should be")                                               \
  X(ERROR_STALE, "the body or view this handle stood for is gone")                                 \
  X(ERROR_BUSY, "a mapped view or a running step forbids this now")                                \
  X(ERROR_UNSUPPORTED, "this build or version of talus cannot do it")                              \
  X(ERROR_DIVERGED, "the simulation produced a value that is not finite")                          \
  X(ERROR_DOMAIN, "a body left a domain that says `outside: stop`")                                \
  X(INTERRUPTED, "stopped on request, state saved")

typedef enum talus_status {
#define TALUS_STATUS_ENUM(name, text) TALUS_##name,
  TALUS_STATUS_LIST(TALUS_STATUS_ENUM)
#undef TALUS_STATUS_ENUM
      TALUS_STATUS_COUNT
} talus_status;

#ifdef __cplusplus
}
#endif
#endif
