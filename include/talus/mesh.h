/* talus: triangle meshes: reading, generating, measuring, repairing, clumps of spheres, writing.
 *
 *   talus_mesh mesh = {0};
 *   talus_mesh_info info;
 *   if (talus_mesh_read("rock.stl", 0.001, &mesh) != TALUS_OK) puts(talus_last_error());
 *   if (talus_mesh_measure(&mesh, &info) == TALUS_OK && info.closed)
 *     printf("%g m3\n", info.volume);
 *   talus_mesh_free(&mesh);
 *
 * Lengths are in metres. Every call returns TALUS_OK, TALUS_ERROR_INVALID (a value is wrong),
 * TALUS_ERROR_FORMAT (a file is not what it should be: the message has the line, the byte or the
 * triangle), TALUS_ERROR_IO or TALUS_ERROR_MEMORY; after a failure what was to be made is empty.
 * Calls may be made from several threads at a time, on different meshes. */
#ifndef TALUS_MESH_H
#define TALUS_MESH_H

#include <talus/talus.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- meshes -------------------------------------------------------------------------------- */

/* Vertices, and triangles as three rows of them, counter-clockwise seen from outside. Free what the
 * calls below made; calls that only read take your own arrays, too. */
typedef struct talus_mesh {
  size_t vertices, triangles;
  double (*vertex)[3]; /* m */
  uint32_t (*triangle)[3];
} talus_mesh;

TALUS_API void talus_mesh_free(talus_mesh *mesh);

/* The triangles of a file times `scale`: STL or PLY (text or binary) or OBJ, by the ending of the
 * name. Vertices of equal place are one; faces of more corners become triangles; triangles without
 * area are kept. What *mesh held before is not freed. */
TALUS_API talus_status talus_mesh_read(const char *path, double scale, talus_mesh *mesh);

/* Writes a file of the kind that the ending says: .stl (binary, single precision), .obj, .ply
 * (binary, double precision). Whole or not at all. */
TALUS_API talus_status talus_mesh_write(const talus_mesh *mesh, const char *path);

/* ---- generated ------------------------------------------------------------------------------- */

/* A mesh that needs no file. Lengths that are 0 take their defaults.
 *
 *   icosphere     size: radius (1); triangles: 20 x 4^k (1280)
 *   noisy-sphere  size: smallest radius (1); noise: largest radius by the smallest (1.4); seed
 *   box           size: three edges (1, 1, 1)
 *   plate         size: two edges (1, 1), in the plane z = 0, open; triangles: about (2)
 *   cylinder      size: radius (0.5), length (1) along z; triangles: four for each side (128)
 *   torus         size: radius (1) and radius of the tube (0.25); triangles: about (1152)
 *   bolt          size: diameter, pitch, length (M10: 0.01, 0.0015, 0.03); ISO thread, 60 degrees
 *   nut           size: diameter, pitch, length, width across flats, radial clearance
 *                 (for that bolt: 0.01, 0.0015, 0.008, 0.016, 5e-5)
 *   funnel        size: upper radius (0.5), lower radius (0.1), height (0.5); the wall alone, open;
 *                 equal radii: a pipe; triangles: about (512)
 *   screw         size: radius (0.1), pitch (0.1), length (0.5), inner radius (0.02): a helical
 *                 sheet about z that turns to the right, open; triangles: about (1152)
 *
 * `triangles` of a bolt and a nut: about so many, in 12, 24, 36 ... sides to a turn (48). */
typedef struct talus_mesh_recipe {
  const char *kind;
  size_t triangles; /* 0: the default */
  double size[5];   /* m */
  double noise;
  uint64_t seed;
} talus_mesh_recipe;

TALUS_API talus_mesh_recipe talus_mesh_recipe_default(void); /* an icosphere */
TALUS_API talus_status talus_mesh_make(const talus_mesh_recipe *recipe, talus_mesh *mesh);

/* Names of kinds, in the order above; NULL beyond the last one. */
TALUS_API const char *talus_mesh_recipe_name(size_t i);

/* ---- measured ------------------------------------------------------------------------------ */

typedef struct talus_mesh_info {
  size_t vertices, triangles;
  bool closed;            /* every edge has an even number of triangles */
  bool manifold;          /* no edge has more than two */
  bool oriented;          /* neighbours run along their edge in opposite directions */
  size_t shells;          /* sets of triangles that are joined by edges */
  size_t facets;          /* plane parts: coplanar neighbours are one */
  size_t open_edges;      /* of an odd number of triangles */
  size_t flipped_edges;   /* of triangles that do not run in opposite directions */
  size_t crowded_edges;   /* of more than two triangles */
  size_t degenerate;      /* triangles without area */
  size_t duplicates;      /* triangles of the same three vertices as one before */
  uint32_t first_open[2]; /* vertices of the first open edge; 2^32 - 1: there is none */
  double area;            /* m2 */
  double volume;          /* m3; negative: inside out; 0: not closed */
  /* Of the solid where it is closed and its volume positive, else of the surface. */
  talus_dvec3 centre;  /* of mass */
  talus_dvec3 inertia; /* principal moments about it per kilogram, m2 */
  talus_quat axes;     /* the principal axes */
  talus_box bounds;
} talus_mesh_info;

TALUS_API talus_status talus_mesh_measure(const talus_mesh *mesh, talus_mesh_info *info);

/* How many pairs of triangles go through each other, and the first of them (2^32 - 1: there is
 * none). Triangles that only touch, or lie in one plane, do not count. */
TALUS_API talus_status talus_mesh_find_crossings(const talus_mesh *mesh, size_t *count,
                                                 uint32_t first[2]);

/* ---- repaired -------------------------------------------------------------------------------- */

typedef struct talus_mesh_repair_def {
  double weld;      /* m: vertices so near become one; < 0: 1e-7 of the extent */
  bool close_holes; /* triangles over every loop of open edges */
} talus_mesh_repair_def;

TALUS_API talus_mesh_repair_def talus_mesh_repair_def_default(void); /* -1, false */

typedef struct talus_mesh_repairs {
  size_t welded;             /* vertices that are no more */
  size_t dropped_degenerate; /* triangles with a vertex twice */
  size_t dropped_duplicates; /* triangles of the same three vertices as one before */
  size_t flipped;            /* triangles turned over to run as their neighbours do */
  size_t turned;             /* shells turned over to face outwards (walls of cavities: inwards) */
  size_t holes, added;       /* loops of open edges closed, and triangles that it took */
} talus_mesh_repairs;

/* Merges vertices, removes bad triangles, orients the others and, if requested, closes holes;
 * `repairs` (may be NULL) says what was done. Triangles without area that have three different
 * vertices stay, because their neighbours share their edges. The mesh must come from the calls
 * above. */
TALUS_API talus_status talus_mesh_repair(talus_mesh *mesh, const talus_mesh_repair_def *def,
                                         talus_mesh_repairs *repairs);

/* ---- as spheres ---------------------------------------------------------------------------- */

/* Spheres whose union has its surface within about `error` (m) of that of a closed mesh: the
 * largest that fit at places of the surface, grown by the error, those that cover most of it first.
 * Use them as a clump (talus_shape_def), with the mass properties of the mesh (talus_mesh_measure).
 */
typedef struct talus_mesh_clump {
  double *spheres; /* x, y, z, radius of each */
  size_t count;
  double error; /* m, the largest seen at places of the surface */
} talus_mesh_clump;

TALUS_API talus_status talus_mesh_to_clump(const talus_mesh *mesh, double error,
                                           talus_mesh_clump *clump);
TALUS_API void talus_mesh_clump_free(talus_mesh_clump *clump);

#ifdef __cplusplus
}
#endif

#endif
