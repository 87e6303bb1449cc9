/* talus: a simulator of granular matter (DEM) and of very many rigid bodies in contact.
 *
 * This header is the manual of the library. A program makes a world, puts shapes, materials and
 * bodies into it, and steps it:
 *
 *   talus_world_def def = talus_world_def_default();
 *   talus_world *world;
 *   if (talus_world_create(&def, &world) != TALUS_OK) puts(talus_last_error());
 *   talus_shape ball;
 *   talus_shape_def shape = talus_shape_def_default();
 *   shape.kind = TALUS_SPHERE, shape.size[0] = 0.1;
 *   talus_world_add_shape(world, &shape, &ball);
 *   talus_material_def stone = talus_material_def_default();
 *   talus_body_def body = talus_body_def_default();
 *   talus_world_add_material(world, &stone, &body.material);
 *   body.shape = ball, body.position.z = 1.0;
 *   talus_world_add_body(world, &body, NULL);
 *   talus_world_step(world, 1000);
 *   talus_world_destroy(world);
 *
 * Conventions.
 *  - SI units; see types.h. Definitions are structs filled by talus_*_def_default(), so that code
 *    written today compiles when a field is added tomorrow.
 *  - Every call returns talus_status unless it cannot fail. On failure nothing has changed, and
 *    talus_last_error() says what is wrong, where, and how to correct it.
 *  - Pointers passed to a call are read only during the call; the world copies what it keeps, names
 *    included. Pointers returned by a call are valid until the next call that changes the world,
 *    unless the call says otherwise.
 *  - A required pointer that is NULL gives TALUS_ERROR_INVALID, like any other wrong value; calls
 *    that return no status then return 0 and do nothing. Freeing NULL does nothing.
 *  - A world may be used from one thread at a time; it runs its own threads inside. Different
 *    worlds are independent. The library never prints, never exits and installs no handlers.
 *  - Results do not depend on the number of threads, not even in the last bit (except with `fast`).
 */
#ifndef TALUS_TALUS_H
#define TALUS_TALUS_H

#include <talus/backend.h>
#include <talus/id.h>
#include <talus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the library ------------------------------------------------------------------------- */

/* The version of the library that is linked, e.g. "0.1.0". */
TALUS_API const char *talus_version(void);

/* Features built in, separated by blanks, e.g. "double openmp yaml hdf5". */
TALUS_API const char *talus_features(void);

/* The instruction set that the library's inner loops use: "avx512", "avx2" or "generic". It is the
 * best that the processor has, or the one that the environment variable TALUS_ISA names, chosen
 * once; one that the processor lacks is ignored. Results have the same bits with each. */
TALUS_API const char *talus_instruction_set(void);

/* The last failure on this thread; "" when there was none. One line without an end; several where a
 * file has several mistakes. */
TALUS_API const char *talus_last_error(void);

/* The meaning of a status, e.g. "out of memory". */
TALUS_API const char *talus_status_text(talus_status status);

/* Bytes that the library holds now in this process, and the most it ever held. */
TALUS_API void talus_memory(size_t *now, size_t *peak);

/* ---- shapes ------------------------------------------------------------------------------ */

/* A shape is described once, in its own frame, and shared by any number of bodies, each with its
 * own scale. */
typedef enum talus_shape_kind {
  TALUS_SPHERE,         /* size = {radius} */
  TALUS_BOX,            /* size = {lx, ly, lz}: edge lengths, centred at the origin */
  TALUS_PLANE,          /* size = {nx, ny, nz, d}: matter where n.x < d; unbounded, so never free */
  TALUS_CONTAINER,      /* size = {lx, ly, lz}: a hollow box with thin walls; never free */
  TALUS_ELLIPSOID,      /* size = {a, b, c}: half axes along x, y, z */
  TALUS_CAPSULE,        /* size = {radius, length between the centres of the caps}, along z */
  TALUS_CYLINDER,       /* size = {radius, length}, along z */
  TALUS_CONE,           /* size = {radius, length}: origin at mid-height, apex at +z */
  TALUS_SUPERELLIPSOID, /* size = {a, b, c, n1, n2}: within
                           (|x/a|^n2 + |y/b|^n2)^(n1/n2) + |z/c|^n1 <= 1; exponents 1.1 ... 100 */
  TALUS_HULL,           /* points = x, y, z of each: the convex hull of them */
  TALUS_CLUMP,          /* points = x, y, z, radius of each: the union of spheres, one rigid body */
  TALUS_REVOLVED, /* points = z, radius of each: a thin wall, the polyline turned about z, open
                     at its ends; or size = {bottom radius, top radius, length} without
                     points, centred at the origin: a tube or funnel. Never free */
  TALUS_MESH,     /* points = x, y, z of each, and triangles of them: any surface */
  TALUS_SHAPE_KINDS
} talus_shape_kind;

typedef struct talus_shape_def {
  const char *name; /* NULL: unnamed */
  talus_shape_kind kind;
  double size[5];
  uint32_t open;        /* container: sides that are missing */
  talus_sides sides;    /* revolved, mesh */
  const double *points; /* hull, mesh: triplets x, y, z; clump: quadruplets x, y, z, radius;
                           revolved: pairs z, radius; m */
  size_t point_count;   /* hull: at least 4, not all in one plane; clump: at least 1; revolved: at
                           least 2, not crossing itself; equal z (plates, steps) are fine; mesh: 3 */
  /* Mesh: three rows of points each, counter-clockwise where bodies are. Closed, every edge in two
   * triangles that run along it in opposite directions, it is a solid with the mass of its volume
   * and may be free; open, it is fixed or scripted, unless it has a thickness. */
  const uint32_t *triangles;
  size_t triangle_count;
  double thickness; /* m: a shell, half of it on either side, with the mass of its area; 0: none */
  double rounding;  /* m: contacts are those of the mesh swept by a ball of this radius; mass is not
                       changed by it */
  /* Mass properties of a clump or a mesh, if they differ from those of a homogeneous body of its
   * shape (a porous stone, for example): all three are used if volume > 0. */
  double volume;      /* m3, of matter at the material's density; 0: from the union */
  talus_dvec3 centre; /* of mass, in the shape's own frame */
  double inertia[6];  /* about that centre, own axes, per kilogram: xx, yy, zz, xy, xz, yz, m2; the
                         last three are minus the integrals of the products */
} talus_shape_def;

TALUS_API talus_shape_def talus_shape_def_default(void); /* a sphere of radius 0.5 m */

/* "sphere", "box", ... as in scene files; NULL for any other value. */
TALUS_API const char *talus_shape_kind_name(talus_shape_kind kind);

/* What follows from a definition. */
typedef struct talus_shape_info {
  const char *name; /* of a shape of a world; NULL where it has none */
  talus_shape_kind kind;
  bool bounded;        /* false: a plane; then all below is 0 */
  double volume;       /* m3; 0 for containers and revolved walls too, which have no mass */
  talus_dvec3 centre;  /* of mass, in the shape's own frame */
  talus_dvec3 inertia; /* principal moments about it per kilogram, m2 */
  talus_quat axes;     /* the principal axes within the shape's own frame */
  talus_box bounds;    /* in the shape's own frame */
  double radius;       /* of the bounding sphere about the centre of mass */
  double error;        /* estimated relative error of volume and inertia; 0: exact to rounding */
  size_t vertices, faces, edges; /* of a hull; vertices: of a clump its spheres,
                                    of a revolved wall the points of its profile; of a mesh all its
                                    points, flat faces however they are cut, and edges of those */
  size_t triangles;              /* of a mesh */
  bool closed;                   /* of a mesh: no edge with one triangle alone */
} talus_shape_info;

/* TALUS_ERROR_INVALID names the shape and the value where there is no such shape. */
TALUS_API talus_status talus_shape_measure(const talus_shape_def *def, talus_shape_info *info);

/* Points x, y, z, one after the other. */
typedef struct talus_points {
  double *data;
  size_t count; /* of points: there are three times as many numbers */
} talus_points;

/* The vertices of a mesh file times `scale`, each point once: STL or PLY (text or binary), OBJ, or
 * three numbers a line (.csv, .txt, .xyz), by the suffix of the name. TALUS_ERROR_IO if it cannot
 * be read, TALUS_ERROR_FORMAT if its content is wrong: the message has every mistake (the first
 * ten) with its line and a caret, and *points is empty. */
TALUS_API talus_status talus_points_read(const char *path, double scale, talus_points *points);
TALUS_API void talus_points_free(talus_points *points);

/* ---- materials --------------------------------------------------------------------------- */

typedef struct talus_material_def {
  const char *name;
  double density;     /* kg/m3, > 0 */
  double friction;    /* Coulomb coefficient, >= 0; of a pair: the smaller of the two */
  double restitution; /* 0 ... 1; of a pair: the smaller of the two */
  /* What follows is 0 unless a scene needs it; of a pair, again the smaller of the two. */
  double static_friction;     /* while a contact sticks; 0: as `friction`, otherwise not less */
  double rolling;             /* m, >= 0: largest torque against rolling over the normal force */
  double spinning;            /* m, >= 0: the same about the normal */
  double cohesion;            /* N, >= 0: force needed to pull two touching bodies apart; ccp and
                                 impulse: it acts until the gap is 1/100 of the smaller bounding
                                 radius */
  double rolling_coefficient; /* >= 0: this times the reduced radius of the pair, R =
                                 1/(1/Ra + 1/Rb) (of spheres of the same volume; flat: the other's),
                                 is added to `rolling` */
  double surface_energy;      /* J/m2, >= 0, of each surface: this times 4 pi R is added to
                                 `cohesion` (Derjaguin, Muller and Toporov 1975) */
  /* Springs, for talus_solve_def.kind == TALUS_SOLVE_PENALTY. */
  double stiffness; /* linear: N/m, noble: N/sqrt(kg); >= 0, 0: as stiff as the step allows, found
                       in the first step (linear only); of a pair: the smaller that is not 0 */
  double young;     /* hertz: Pa, >= 0, and > 0 where bodies touch; both materials deform */
  double poisson;   /* hertz: -1 < poisson <= 0.5 */
} talus_material_def;

/* 2600, 0.5, 0; no other law; stiffness 0, young 1e7, poisson 0.3. */
TALUS_API talus_material_def talus_material_def_default(void);

/* Values for contacts between two materials; members as above. */
typedef struct talus_material_law {
  double friction, restitution, static_friction, rolling, spinning, cohesion;
  double stiffness; /* 0: as above */
  double rolling_coefficient, surface_energy;
} talus_material_law;

/* ---- bodies ------------------------------------------------------------------------------ */

typedef enum talus_body_kind {
  TALUS_FREE,     /* moved by forces and contacts */
  TALUS_FIXED,    /* never moves */
  TALUS_KINEMATIC /* moves as `motion` says; contacts do not change that */
} talus_body_kind;

/* Directions that a free body may not move in: world axes. */
enum {
  TALUS_LOCK_X = 1,
  TALUS_LOCK_Y = 2,
  TALUS_LOCK_Z = 4,
  TALUS_LOCK_RX = 8, /* rotation about the world's x axis */
  TALUS_LOCK_RY = 16,
  TALUS_LOCK_RZ = 32
};

typedef struct talus_body_def {
  const char *name; /* unique within the world, or NULL */
  talus_body_kind kind;
  talus_shape shape;       /* from talus_world_add_shape */
  talus_material material; /* from talus_world_add_material */
  talus_dvec3 position;    /* of the shape's own frame, m */
  talus_quat rotation;     /* of the shape's own frame; normalised by the call */
  talus_vec3 velocity;     /* of the centre of mass, m/s */
  talus_vec3 spin;         /* rad/s, world frame */
  double scale;            /* > 0, multiplies every length of the shape */
  double mass;             /* kg; 0: from the density */
  uint32_t lock;           /* TALUS_LOCK_... */
  uint32_t group;          /* from talus_world_group; 0: none */
  talus_vec3 force;        /* N, constant, at the centre of mass */
  talus_vec3 torque;       /* N m, constant, world frame */
  talus_motion motion;     /* for TALUS_KINEMATIC */
} talus_body_def;

TALUS_API talus_body_def talus_body_def_default(void); /* free, at the origin, scale 1 */

/* A table of a motion, for talus_motion: table = data, rows = rows, table_kind = kind. */
typedef struct talus_table {
  double *data;
  size_t rows;
  talus_motion_table kind;
} talus_table;

/* Reads a CSV file whose first line names the columns: time,x,y,z or time,x,y,z,qw,qx,qy,qz or
 * time,displacement or time,angle (rad) or time,degrees; lines beginning with # are skipped.
 * TALUS_ERROR_IO if it cannot be read, TALUS_ERROR_FORMAT if its content is wrong: the message has
 * every mistake (the first ten) with its line and a caret, and *table is empty. */
TALUS_API talus_status talus_table_read(const char *path, talus_table *table);
TALUS_API void talus_table_free(talus_table *table);

/* What talus_world_get_body reports. */
typedef struct talus_body_info {
  uint64_t uid;
  const char *name; /* NULL where it has none */
  talus_body_kind kind;
  talus_shape shape;
  talus_material material;
  talus_dvec3 position; /* of the centre of mass */
  talus_quat rotation;
  talus_vec3 velocity, spin;
  talus_real mass;    /* kg; 0 for an unbounded body */
  talus_vec3 inertia; /* principal moments, kg m2 */
  talus_real scale;
  bool asleep;
} talus_body_info;

/* ---- joints ------------------------------------------------------------------------------ */

/* What a joint constrains, between body a and body b (or the ground). Its axis is attached to a. */
typedef enum talus_joint_kind {
  TALUS_JOINT_SPHERICAL,      /* one point */
  TALUS_JOINT_REVOLUTE,       /* one point and the axis: a hinge; free: the angle */
  TALUS_JOINT_PRISMATIC,      /* all but sliding along the axis */
  TALUS_JOINT_CYLINDRICAL,    /* the axis: slides along it and turns about it */
  TALUS_JOINT_UNIVERSAL,      /* one point; axis (of a) stays at right angles to axis_b (of b) */
  TALUS_JOINT_FIXED,          /* everything */
  TALUS_JOINT_DISTANCE,       /* the distance of two points: a rod, or a rope (no longer than) */
  TALUS_JOINT_SPRING,         /* nothing: a spring and damper between two points */
  TALUS_JOINT_POINT_ON_LINE,  /* a point of b on a line of a, along the axis */
  TALUS_JOINT_POINT_ON_PLANE, /* a point of b in a plane of a, across the axis */
  TALUS_JOINT_GEAR,           /* b turns `ratio` times as far about axis_b as a about axis */
  TALUS_JOINT_RACK,           /* b moves `ratio` metres along axis_b for each radian of a */
  TALUS_JOINT_KINDS
} talus_joint_kind;

typedef enum talus_motor_kind {
  TALUS_MOTOR_NONE,
  TALUS_MOTOR_SPEED,    /* target in rad/s or m/s, with at most `max` */
  TALUS_MOTOR_POSITION, /* target in rad or m: a spring and damper that give at most `max` */
  TALUS_MOTOR_FORCE     /* target in N m or N */
} talus_motor_kind;

/* Points and directions are in world coordinates, at the time when the joint is added. Limits,
 * spring and motor act along the free direction (the angle of a hinge, the travel of a slider, the
 * distance of two points), which starts at 0 (a distance: at its value). It is that of b relative
 * to a: positive if b has turned about `axis` by the right-hand rule, or moved along it; so are
 * motor targets (speed, position, force or torque on b, the opposite on a) and limits. If a is the
 * ground, a positive motor turns b about the axis; if b is the ground it turns a backwards. */
typedef struct talus_joint_def {
  const char *name; /* unique within the world, or NULL */
  talus_joint_kind kind;
  talus_body a, b;         /* zero: the ground; not both */
  talus_dvec3 at, to;      /* anchor on a, and on b; m. Where they are one place: the same */
  talus_vec3 axis, axis_b; /* need not be unit; axis_b zero: the same as axis */
  double length;           /* distance: m; < 0: as the anchors are now */
  bool rope;               /* distance: may be shorter, not longer */
  double ratio;            /* gear: turns of b per turn of a, negative where they turn against each
                              other; rack: m per rad */
  bool about;       /* cylindrical: limits, spring and motor act on the angle, not on the travel */
  double low, high; /* of the free direction, rad or m; -INFINITY, INFINITY: no limit */
  double restitution;        /* of hitting a limit, 0 ... 1 */
  double stiffness, damping; /* of the spring: N/m and N s/m, or N m/rad and N m s/rad; >= 0 */
  double rest;               /* rest length or angle of the spring, m or rad; NAN: as it is now */
  talus_motor_kind motor;
  double motor_target;
  double motor_max;                      /* N or N m, > 0; INFINITY: without bound */
  double motor_stiffness, motor_damping; /* of a position motor, units as of the spring */
  double break_force, break_torque; /* N, N m: a joint that carries more is gone after the step */
  bool collide;                     /* the two bodies may touch each other */
  bool assemble; /* anchors and axes need not meet: the first step moves the bodies together */
} talus_joint_def;

/* Spherical at the origin, about z, nothing acting, unbreakable. */
TALUS_API talus_joint_def talus_joint_def_default(void);

/* "spherical", "revolute", ... as in scene files; NULL for any other value. */
TALUS_API const char *talus_joint_kind_name(talus_joint_kind kind);

/* What talus_world_get_joint reports, of the last step. */
typedef struct talus_joint_info {
  uint64_t uid;
  const char *name; /* NULL where it has none */
  talus_joint_kind kind;
  uint64_t body_a, body_b; /* uids; 0: the ground */
  bool broken;
  double value;             /* of the free direction, rad (turns counted) or m */
  double drift;             /* m: how far its frames are apart; angles times the bodies' size */
  talus_dvec3 anchor;       /* of b, in the world */
  talus_vec3 force, torque; /* on b at the anchor (its opposite on a), N and N m, springs and motors
                               included */
} talus_joint_info;

/* ---- the world --------------------------------------------------------------------------- */

typedef enum talus_broad_kind {
  TALUS_BROAD_AUTO,
  TALUS_BROAD_BINS,   /* uniform grids, one for each range of sizes */
  TALUS_BROAD_BRUTE,  /* every pair */
  TALUS_BROAD_KDTREE, /* linear kd-tree, as published by Poirrier */
  TALUS_BROAD_CELLS,  /* rounded cells, as published by Peters, Sherif and Bell */
  TALUS_BROAD_SWEEP,  /* sort and sweep along one axis */
  TALUS_BROAD_BVH     /* tree of boxes along the Morton curve */
} talus_broad_kind;

/* How two ellipsoids meet. All give the same contacts, within the accuracy of each. */
typedef enum talus_ellipsoid_method {
  TALUS_ELLIPSOID_NEWTON, /* concave test, then Newton on the sphere: exact to rounding */
  TALUS_ELLIPSOID_OPM,    /* gradient descent in 16 steps: method 1 of Pazouki, Mazhar and Negrut */
  TALUS_ELLIPSOID_CHM_OPM /* the same where the characteristic equation says yes: their method 2 */
} talus_ellipsoid_method;

/* How the near triangles of a mesh are found. The contacts are the same, bit for bit. */
typedef enum talus_tree_kind {
  TALUS_TREE_BVH,      /* a tree of boxes */
  TALUS_TREE_FLAT,     /* every triangle: for comparison */
  TALUS_TREE_SURROGATE /* of two meshes, Noble's trees of surrogate triangles; else of boxes */
} talus_tree_kind;

/* How pairs become contacts. */
typedef struct talus_narrow_def {
  talus_ellipsoid_method ellipsoid;
  talus_tree_kind tree;
  talus_triangle_method triangle;
  talus_fusion fusion;
} talus_narrow_def;

typedef enum talus_friction_model {
  TALUS_FRICTION_NCP, /* Coulomb friction: no dilation while sliding */
  TALUS_FRICTION_CCP  /* the convex relaxation of Anitescu and Tasora, as published */
} talus_friction_model;

/* The iteration. All have the same solution; they differ in how fast they converge. */
typedef enum talus_ccp_method {
  TALUS_GAUSS_SEIDEL, /* contact after contact: robust, best for few sweeps */
  TALUS_JACOBI,       /* all contacts at once, as published; slow, needs a short step */
  TALUS_APGD,         /* accelerated projected gradient: best for many iterations */
  TALUS_BB            /* spectral projected gradient (Barzilai-Borwein) */
} talus_ccp_method;

/* How apgd, bb and jacobi sum impulses over each body: the same answer up to rounding. */
typedef enum talus_reduction {
  TALUS_REDUCTION_AUTO,   /* gather for jacobi, colours otherwise */
  TALUS_REDUCTION_GATHER, /* each body sums over its contacts */
  TALUS_REDUCTION_SCAN,   /* a reduction buffer and a segmented scan, as published */
  TALUS_REDUCTION_COLOURS /* contact by contact, as Gauss-Seidel sweeps go */
} talus_reduction;

/* Joints: all at once by a sparse factorisation, around which contacts are iterated, so that long
 * chains, closed loops and very different masses converge; or one after the other like contacts. */
typedef enum talus_joints_solver {
  TALUS_JOINTS_AUTO, /* direct, unless joints form so many loops that factors are large */
  TALUS_JOINTS_DIRECT,
  TALUS_JOINTS_ITERATIVE
} talus_joints_solver;

/* How contacts become impulses. The members from `method` on are of cone complementarity;
 * sequential impulses use iterations, tolerance, warm_start, the two speeds, slop and joints. */
typedef struct talus_solve_def {
  talus_solve_kind kind;
  talus_spring_law law; /* penalty */
  double reach;         /* noble: m, > 0: gap at which the force begins */
  double tangential;    /* linear, noble: tangential over normal stiffness, > 0 */
  talus_ccp_method method;
  talus_friction_model friction;
  int iterations;        /* sweeps (products, for gradient methods) of a step, >= 0 */
  int iterations_max;    /* largest number, for islands whose residual is above the tolerance and
                            still falls; < 0: 20 times `iterations` for islands of up to 1,000
                            rows, twice for larger ones (ccp: see docs/theory/ccp.md) */
  double tolerance;      /* m/s: stop when the RMS residual is below; 0: always all sweeps; < 0:
                            0.5 % of |gravity| dt (or of a thousandth of the spread of velocities,
                            where that is more), a hundredth of that for up to 1,000 rows */
  bool warm_start;       /* begin with the impulses of the last step */
  double recovery;       /* fraction of an overlap that a step removes, 0 to 1 */
  double recovery_speed; /* m/s: largest speed at which overlap is removed; < 0: a tenth of the
                            smallest free body's bounding radius in a step */
  double bounce_speed;   /* m/s: slower impacts do not bounce; < 0: the largest of 2 |gravity| dt,
                            |gravity| dt / restitution and 1e-4 of the fastest impact of a chain */
  talus_joints_solver joints; /* how joints are solved together with contacts */
  double omega, lambda; /* Jacobi: relaxation, weight of the new value; omega * lambda <= 0.3 */
  talus_reduction reduction;
  bool islands; /* each group of bodies that touch or are joined is solved separately, until it
                   meets the tolerance; false: all contacts as one problem */
  double slop; /* m: overlap that is not corrected; < 0: |gravity| dt^2, at most 1 % of the smallest
                  free body's bounding radius */
  /* Impulse: overlap is removed by moving positions; velocities do not change. */
  double correction; /* 0 ... 1: fraction of the overlap beyond `slop` that a step removes */
  /* Elastic. bounce_speed has another meaning here: if restitution is below 1, slower impacts lose
   * no energy, and after faster ones bodies separate with at least this speed, so that impacts do
   * not pile up; < 0: 1e-4 of the bodies' RMS speed, or |gravity| dt / 100. */
  talus_shell shell;
  talus_response response; /* published: only with the hard shell */
} talus_solve_def;

/* Sleep: a group of bodies that touch or are joined, and that rests on something static, falls
 * asleep once none of its bodies, nor their surface (spin times bounding radius), was faster than
 * `speed` for `time`. It then has no velocity, does not move by a bit, and costs almost nothing.
 * It wakes as a whole, before the step is solved, when an awake or moving body comes near enough
 * to touch it, when a body it touches is removed or placed elsewhere, when one of its bodies is
 * given a pose, velocity, force or torque, and when gravity, materials or ignored groups are
 * changed. */
typedef struct talus_sleep_def {
  double speed; /* m/s; 0: no body sleeps. Should be well above solve.tolerance */
  double time;  /* s, >= 0; at least one step */
} talus_sleep_def;

/* What becomes of a body whose centre leaves the domain. */
typedef enum talus_outside { TALUS_OUTSIDE_STOP, TALUS_OUTSIDE_REMOVE } talus_outside;

typedef struct talus_domain_def {
  bool enabled;
  talus_box box;
  bool periodic[3]; /* x, y, z: a body that leaves on one side enters on the other */
  talus_outside outside;
} talus_domain_def;

/* What ends a run if talus_world_def.strict says so, and is a warning in the log otherwise. */
enum {
  TALUS_STRICT_SINKING = 1,    /* a body passed through a wall, or sank deeper than half its size */
  TALUS_STRICT_UNCONVERGED = 2 /* the solver did not converge in a step */
};

/* Finished log lines, without newline at the end. level: 0 error, 1 warning, 2 info, 3 debug. A
 * warning about a scene file may have two more lines: the line in question, and a caret. The
 * function is called in the middle of a library call, on its thread: calls that change the world
 * return TALUS_ERROR_BUSY from there (talus_world_destroy does nothing); those that take a const
 * world are allowed. */
typedef void talus_log_fn(void *context, int level, const char *line);

typedef struct talus_world_def {
  talus_vec3 gravity; /* m/s2 */
  double dt;          /* s, the fixed step */
  int substeps; /* 1 ... 1000: each step finds pairs and contact points once, then solves and moves
                   this many times by dt / substeps; contact points move with their bodies; 1 with
                   penalty, elastic and steps of events */
  talus_step_kind step;
  talus_broad_kind broad;
  double skin; /* m, Verlet distance: pairs are searched within it and kept until boxes have moved
                  by about half of it; results are the same. 0: pairs are found in every step; < 0:
                  chosen from the motion of boxes */
  talus_narrow_def narrow;
  talus_solve_def solve;
  double margin; /* m: contacts are found up to this gap; < 0: from speed and dt */
  bool sweep;    /* what goes further than its inner radius in a step is looked for along its way */
  double dt_min; /* s, adaptive and local: no step is shorter */
  double growth; /* local: a step is at most so many times as long as the one before; > 1 */
  double halo;   /* m, likewise: who is nearer touches; < 0: 1e-4 of the mean bounding radius */
  bool allow_overlap; /* likewise: bodies may overlap at the start, and are parted on the way */
  talus_implicit_def implicit; /* of implicit steps */
  talus_sleep_def sleep;
  talus_domain_def domain;
  uint32_t strict;       /* TALUS_STRICT_...: what a step may not do */
  int threads;           /* 0: every core this process may use */
  talus_backend backend; /* where steps run: talus_world_set_backend */
  bool no_fallback;      /* what the backend cannot do is refused instead of done by the CPU */
  talus_log_fn *log;     /* NULL: silent */
  void *log_context;
} talus_world_def;

/* gravity (0, 0, -9.81), dt 1 ms, substeps 1, dt_min 10 ns, growth 2, broad auto, narrow newton,
 * ccp with ncp friction, 50 sweeps, automatic tolerance, warm start, recovery, islands (penalty:
 * linear, tangential 2/7, reach 1 mm; slop |gravity| dt^2, impulse: correction 0.2), no sleep (but
 * sleep.time is 0.5 s), no domain, nothing strict; implicit: newton, 50 iterations, tolerance 0.01.
 */
TALUS_API talus_world_def talus_world_def_default(void);

TALUS_API talus_status talus_world_create(const talus_world_def *def, talus_world **world);
TALUS_API void talus_world_destroy(talus_world *world); /* NULL is fine */

TALUS_API talus_status talus_world_add_shape(talus_world *world, const talus_shape_def *def,
                                             talus_shape *shape);
TALUS_API size_t talus_world_shape_count(const talus_world *world);
/* Shape i of the world, in the order they were added. */
TALUS_API talus_status talus_world_get_shape(const talus_world *world, size_t i,
                                             talus_shape_info *info);
TALUS_API talus_status talus_world_add_material(talus_world *world, const talus_material_def *def,
                                                talus_material *material);

/* All laws between two materials (or of one with itself), where the smaller of the two values is
 * not right. Start from talus_world_get_material_law and change what differs. */
TALUS_API talus_status talus_world_set_material_law(talus_world *world, talus_material a,
                                                    talus_material b,
                                                    const talus_material_law *law);

/* The present values for contacts between two materials. */
TALUS_API talus_status talus_world_get_material_law(const talus_world *world, talus_material a,
                                                    talus_material b, talus_material_law *law);

/* Friction and restitution alone; the other laws stay (static friction at least as friction). */
TALUS_API talus_status talus_world_set_material_pair(talus_world *world, talus_material a,
                                                     talus_material b, double friction,
                                                     double restitution);

/* The group of that name, made at first use. Group 0 is "no group". */
TALUS_API talus_status talus_world_group(talus_world *world, const char *name, uint32_t *group);

/* Bodies of groups a and b do not collide (a = b: bodies of one group among themselves). */
TALUS_API talus_status talus_world_ignore_groups(talus_world *world, uint32_t a, uint32_t b);

/* Adds a body; it takes part from the next step on. body may be NULL. */
TALUS_API talus_status talus_world_add_body(talus_world *world, const talus_body_def *def,
                                            talus_body *body);

/* Removes a body and its contacts at once (never during a step). Its uid is not used again. */
TALUS_API talus_status talus_world_remove_body(talus_world *world, talus_body body);

TALUS_API talus_status talus_world_get_body(const talus_world *world, talus_body body,
                                            talus_body_info *info);
TALUS_API talus_status talus_world_find_body(const talus_world *world, const char *name,
                                             talus_body *body);
TALUS_API talus_status talus_world_body_at(const talus_world *world, size_t slot, talus_body *body);

/* State and constant loads of one body. Pose: the centre of mass and the principal frame. */
TALUS_API talus_status talus_body_set_pose(talus_world *world, talus_body body,
                                           talus_dvec3 position, talus_quat rotation);
TALUS_API talus_status talus_body_set_velocity(talus_world *world, talus_body body,
                                               talus_vec3 velocity, talus_vec3 spin);
TALUS_API talus_status talus_body_set_force(talus_world *world, talus_body body, talus_vec3 force,
                                            talus_vec3 torque);

/* Wakes a body and, in the next step, all that it touches. A body that is awake stays so. */
TALUS_API talus_status talus_body_wake(talus_world *world, talus_body body);

/* What a step may not do from now on: TALUS_STRICT_... */
TALUS_API talus_status talus_world_set_strict(talus_world *world, uint32_t strict);

/* Settings that may change between steps; every body wakes. */
TALUS_API talus_status talus_world_set_gravity(talus_world *world, talus_vec3 gravity);
TALUS_API talus_status talus_world_set_sleep(talus_world *world, talus_sleep_def sleep);

/* Adds a joint between bodies that are there. TALUS_ERROR_INVALID where it makes no sense, or where
 * anchors or axes that should meet do not (with the distance) and def->assemble is false. joint may
 * be NULL. Removing a body removes its joints. Joined bodies are solved, sleep and wake together; a
 * motor that is on and a spring that pulls keep them awake. */
TALUS_API talus_status talus_world_add_joint(talus_world *world, const talus_joint_def *def,
                                             talus_joint *joint);
TALUS_API talus_status talus_world_remove_joint(talus_world *world, talus_joint joint);
TALUS_API talus_status talus_world_find_joint(const talus_world *world, const char *name,
                                              talus_joint *joint);
TALUS_API size_t talus_world_joint_count(const talus_world *world);
/* Joint i of the world, in the order they were added. */
TALUS_API talus_status talus_world_joint_at(const talus_world *world, size_t i, talus_joint *joint);
TALUS_API talus_status talus_world_get_joint(const talus_world *world, talus_joint joint,
                                             talus_joint_info *info);

/* Sets what a motor aims at, and what it may give at most (<= 0: as it was). */
TALUS_API talus_status talus_joint_set_motor(talus_world *world, talus_joint joint, double target,
                                             double max);

/* ---- loads over time --------------------------------------------------------------------- */

/* Courses: rows of a time [s] and the values at that time, in the order of time; linear in between,
 * constant before the first row and after the last. Every step then sets the load to its value in
 * the middle of the step (a speed: at its end). No rows: the load stays as it is. A course ends
 * with its body or joint. */
typedef enum talus_load { TALUS_LOAD_FORCE, TALUS_LOAD_TORQUE } talus_load;

/* Rows of time, x, y, z: N at the centre of mass, or N m, world frame. */
TALUS_API talus_status talus_body_set_course(talus_world *world, talus_body body, talus_load load,
                                             const double *rows, size_t count);
/* Rows of time, value: what the motor aims at. */
TALUS_API talus_status talus_joint_set_course(talus_world *world, talus_joint joint,
                                              const double *rows, size_t count);

/* Reads a CSV file whose first line names the columns: with 4 of them time,x,y,z or time,fx,fy,fz
 * or time,tx,ty,tz, with 2 time,value or time,force, time,torque, time,speed, time,pressure.
 * Failures are those of talus_table_read; talus_table_free frees it. */
TALUS_API talus_status talus_course_read(const char *path, int columns, talus_table *table);

/* A plate that presses: it moves along `axis` until what it touches pushes back with the force, and
 * then holds that force, however it has to move; on the way no faster than max_speed. Its weight
 * does not count, and it neither turns nor moves aside. */
typedef struct talus_press_def {
  talus_vec3 axis;      /* direction of the force on what is pressed, of any length; with
                           TALUS_SOLVE_PENALTY along x, y or z */
  double force;         /* N, > 0; not used where there is a course */
  double max_speed;     /* m/s, > 0 */
  const double *course; /* rows of time, force (>= 0); may be NULL */
  size_t rows;
} talus_press_def;

/* The body is free and stays so. Rigid models drive it by a slider with a motor of max_speed and at
 * most that force: a joint of the world, without a name. */
TALUS_API talus_status talus_body_press(talus_world *world, talus_body body,
                                        const talus_press_def *def);

/* Moves bodies until the frames of their joints meet: least squares by Gauss-Newton, in which heavy
 * bodies move less. *apart (may be NULL) is the remaining distance, m. TALUS_ERROR_INVALID with the
 * joint and the distance if they cannot meet. */
TALUS_API talus_status talus_world_assemble(talus_world *world, double *apart);

/* Takes n fixed steps. Stops at the first that fails: TALUS_ERROR_DIVERGED, TALUS_ERROR_DOMAIN or
 * TALUS_ERROR_UNSUPPORTED with the body, the time and its last contacts in the message, or the
 * joint for which the step is too long and a dt that would do; the state is then the one before
 * that step. TALUS_ERROR_STRICT: something that `strict` forbids happened; that step was taken. */
TALUS_API talus_status talus_world_step(talus_world *world, uint64_t n);

/* Interrupts steps: as soon as *interrupt is not 0 (set by a signal handler or another thread)
 * talus_world_step returns TALUS_INTERRUPTED, in the middle of a step too. That step is then not
 * taken at all, and stepping continues bit for bit once *interrupt is 0 again. The pointer is kept:
 * it must be valid as long as the world, or until another one is given; NULL: no interrupts. Worlds
 * of a million bodies check it several times a second. */
TALUS_API talus_status talus_world_set_interrupt(talus_world *world, const volatile int *interrupt);

/* ---- what happened ----------------------------------------------------------------------- */

/* Totals of the last step and of the state now. Wall times are sums since the world was made. */
typedef struct talus_report {
  double time; /* s = steps * dt */
  uint64_t steps;
  size_t bodies, pairs, contacts;          /* contacts: gap <= 0 */
  size_t contacts_near;                    /* all that the solver saw, up to the margin */
  double kinetic_energy, potential_energy; /* J, free bodies; potential: -m g.x */
  double momentum[3];                      /* kg m/s, free bodies */
  double angular_momentum[3];              /* kg m2/s about the origin */
  double residual_max, residual_rms;       /* m/s */
  int iterations;
  double objective;         /* J: what the solver minimised in the last step, as far as it got */
  double rotational_energy; /* J, free bodies: the part of kinetic_energy */
  /* J, sums since the world was made. kinetic + potential + spring energy changes by these three
   * and joint_work, and by what stepping in time leaves over: about m |g| dt |v - v_start|/2 for
   * each body. */
  double contact_work; /* by contacts: friction and impacts take it, moving walls give it */
  double load_work;    /* by constant forces and torques */
  double flow_energy;  /* of bodies that came by emitters, less that of those that left */
  size_t joints, joints_broken;
  double joint_drift;                 /* m: the largest of the joints */
  double joint_force, joint_torque;   /* N, N m: the largest of the joints in the last step */
  uint64_t emitted, removed, blocked; /* by emitters, by sinks and the domain, refused tries */
  /* Since the start: candidates that are a body and a revolved wall, and those
   * of them near enough to the wall to be tested. */
  uint64_t wall_pairs, wall_tests;
  double wall_broad, wall_narrow, wall_solve, wall_step; /* s */
  size_t asleep;                                         /* bodies */
  /* Penalty: J stored in springs now (less what cohesion has given), and sums since the world was
   * made. kinetic + potential + elastic energy + damping_work + friction_work changes by load_work
   * and flow_energy, and by what moving walls give. */
  double elastic_energy, damping_work, friction_work;
  double critical_dt;   /* s: of the stiffest pair; 0 where no step of penalty was taken */
  double overlap_max;   /* m: the deepest overlap of the last step's contacts; 0 where none is */
  double overlap_share; /* the largest share of the smaller bounding radius of the two bodies */
  /* Bodies that passed through a wall or were deeper in another than half their smallest width,
   * since the world was made, and the uid of the first; the log reports each once. */
  uint64_t sunk, sunk_first;
  /* Contacts of an island must not create energy, in the frame of the walls. Sums since the start,
   * of ccp and impulse; islands with joints are not checked. */
  double made_energy; /* J that contacts created nevertheless, beyond rounding */
  uint64_t
      energy_corrections; /* islands and steps in which impulses were cut so that they give none */
  /* Steps in which the RMS residual of some island ended above both |gravity| dt and a hundredth of
   * its fastest approach; and the worst of them. */
  uint64_t unconverged;
  double worst_residual; /* m/s, RMS of the island */
  double worst_time;     /* s: the step's end */
  uint64_t worst_body;   /* uid of the body in it that approaches fastest; 0: none */
  double spring_energy;  /* J, in the springs of joints, half a step ago, where velocities stand */
  double joint_work; /* J, sum since the world was made: by joints, less what their springs store:
                        motors give it; dampers, limits and springs that break take it */
  /* Elastic, sums since the world was made: collisions, and of those of two free bodies impulse
   * times distance of centres, J (the pressure is (2 kinetic energy + virial / time) / (3 volume)).
   */
  uint64_t collisions;
  double virial;
  size_t outside;     /* bodies whose centre is behind a wall now */
  uint64_t hasty;     /* steps of the hard shell that were too long for the bodies' speed */
  double zone_energy; /* J: potential of the forces of zones at the end of the last step */
  double zone_work;   /* J, sum since the world was made: what zones gave to free bodies */
  /* s: the shortest step since the last line of history.csv, or all (adaptive); sums since the
   * world was made: pairs that were followed along their paths (in fixed steps: fast ones), steps
   * that were cut short; uids of the last pair that cut one (0: none). */
  double dt_least;
  uint64_t swept, short_steps, short_a, short_b;
  talus_local_report local;
  /* Implicit. Of the last step: iterations, and the largest change of a body's force and torque at
   * their end, relative to the sum of the sizes of its contact forces; J, sum since the world was
   * made: what backward Euler took. */
  int inner;
  double force_change, step_loss;
  /* dt times the frequency sqrt(stiffness / reduced mass) of the stiffest pair, 0 before the first
   * step. A bounce on a linear spring returns (1 + x^2)^(-pi / (2 atan x)) of its speed, x being
   * this, beside what restitution takes. */
  double h_omega;
  /* Meshes, sums since the world was made: distances of two triangles that the search for near ones
   * took, surrogates among them (without a tree: all pairs of triangles of each look), and those
   * that comparison decided after an approximate method (narrow.triangle). */
  uint64_t comparisons, fallbacks;
} talus_report;

TALUS_API talus_status talus_world_report(talus_world *world, talus_report *report);

/* Sum mod 2^64 of a hash of each body's uid and state: equal states have equal hashes, whatever
 * the order of bodies or the number of threads. 0 if the state is not available. */
TALUS_API uint64_t talus_world_hash(const talus_world *world);

TALUS_API double talus_world_time(const talus_world *world);
TALUS_API uint64_t talus_world_steps(const talus_world *world);
TALUS_API size_t talus_world_body_count(const talus_world *world);

/* One contact point. Bodies by uid; a has the lower one. */
typedef struct talus_contact {
  uint64_t body_a, body_b;
  uint32_t feature_a, feature_b;
  talus_dvec3 point;  /* midway between the two surfaces */
  talus_vec3 normal;  /* unit, from a to b */
  talus_real gap;     /* m, negative when penetrating */
  talus_vec3 impulse; /* N s of the last step, on b (and its opposite on a) */
} talus_contact;

/* Copies at most `capacity` contacts of the last step in canonical order; *count is how many there
 * are. contacts may be NULL to ask for the count.
 *
 * Contacts are put together on demand: this call, talus_world_report, talus_world_save,
 * talus_world_write_contacts and calls that change bodies can return TALUS_ERROR_MEMORY for that
 * and then change nothing; they work once there is memory. If a step failed for lack of memory
 * contacts may be lost: these calls then fail until a step succeeds. */
TALUS_API talus_status talus_world_contacts(const talus_world *world, talus_contact *contacts,
                                            size_t capacity, size_t *count);

/* ---- views ------------------------------------------------------------------------------- */

/* Whole arrays, one row per body in slot order, mapped and unmapped. While a view is mapped the
 * world refuses to step, add and remove (TALUS_ERROR_BUSY). A device backend copies at map and
 * unmap, which is why it must know what you mean to do. */
typedef enum talus_field {
  TALUS_FIELD_POSITION, /* 3 doubles, centre of mass */
  TALUS_FIELD_ROTATION, /* 4 reals */
  TALUS_FIELD_VELOCITY, /* 3 reals */
  TALUS_FIELD_SPIN,     /* 3 reals, world frame */
  TALUS_FIELD_FORCE,    /* 3 reals: constant load, N */
  TALUS_FIELD_TORQUE,   /* 3 reals, N m */
  TALUS_FIELD_UID,      /* 1 uint64, read only */
  TALUS_FIELD_MASS,     /* 1 real, read only */
  TALUS_FIELD_SCALE,    /* 1 real, read only */
  TALUS_FIELD_SHAPE,    /* 1 uint32, read only */
  TALUS_FIELD_MATERIAL, /* 1 uint32, read only */
  TALUS_FIELD_GROUP,    /* 1 uint32, read only */
  TALUS_FIELDS
} talus_field;

typedef enum talus_scalar { TALUS_FLOAT32, TALUS_FLOAT64, TALUS_UINT32, TALUS_UINT64 } talus_scalar;

enum { TALUS_READ = 1, TALUS_WRITE = 2 };

typedef struct talus_view {
  void *data;
  size_t rows;
  int columns;
  talus_scalar scalar;
  talus_field field;
  int access;
  uint64_t ticket; /* the world's own: which mapping this is; 0: none */
} talus_view;

TALUS_API talus_status talus_view_map(talus_world *world, talus_field field, int access,
                                      talus_view *view);

/* Returns the array. Written data wake bodies: velocities and spins those that now have one, other
 * data all bodies. Written values that are not finite are refused with the body's name, and the
 * view stays mapped so that they can be corrected. TALUS_ERROR_STALE: it is not, or no longer,
 * mapped in this world. */
TALUS_API talus_status talus_view_unmap(talus_world *world, talus_view *view);

/* ---- flow: bodies that come and go, and what is measured on the way ------------------------ */

typedef enum talus_region_kind {
  TALUS_REGION_BOX,
  TALUS_REGION_SPHERE,
  TALUS_REGION_CYLINDER
} talus_region_kind;

typedef struct talus_region {
  talus_region_kind kind;
  talus_box box;   /* box */
  talus_dvec3 at;  /* sphere: centre; cylinder: middle of the axis; disc: length 0 */
  talus_vec3 axis; /* cylinder, need not be unit */
  double radius, length;
} talus_region;

typedef enum talus_size_kind {
  TALUS_SIZE_ONE,
  TALUS_SIZE_UNIFORM,
  TALUS_SIZE_LOGNORMAL,
  TALUS_SIZE_TABLE
} talus_size_kind;

/* Distribution of the scale of new bodies. A table holds `rows` pairs (size, share). */
typedef struct talus_size_def {
  talus_size_kind kind;
  double low, high;     /* uniform */
  double median, sigma; /* lognormal: sigma of ln(size) */
  const double *table;
  size_t rows;
  bool by_mass; /* shares are of mass, not of number */
} talus_size_def;

/* Adds `count` bodies at random places in a region, touching nothing; largest first. */
typedef struct talus_fill_def {
  talus_body_def body; /* what is copied; position, rotation and scale are overridden */
  talus_region in;
  uint64_t count;  /* 0: as many as `fraction` asks for */
  double fraction; /* volume of the bodies over the volume of the region */
  talus_size_def size;
  bool random_rotation;
  uint64_t seed;
  bool allow_fewer;
  double thermal; /* m/s: deviation of each component of the velocity, as of emitters */
} talus_fill_def;

TALUS_API talus_fill_def talus_fill_def_default(void);

/* *placed (may be NULL) is how many fitted. Fails, adding nothing, when some did not fit and
 * allow_fewer is false. */
TALUS_API talus_status talus_world_fill(talus_world *world, const talus_fill_def *def,
                                        uint64_t *placed);

/* How fast emitted bodies are that have a thermal speed. */
typedef enum talus_inflow {
  TALUS_INFLOW_VOLUME, /* as those of a gas at an instant */
  TALUS_INFLOW_FLUX /* as those of a gas that pass through the disc along its axis: fast ones pass
                       more often; their mean energy is 2 kT where the gas does not drift */
} talus_inflow;

typedef enum talus_arrival {
  TALUS_ARRIVAL_REGULAR, /* body k is due at from_time + k/rate */
  TALUS_ARRIVAL_POISSON  /* at random, independently of each other, so many per second on average */
} talus_arrival;

#define TALUS_EMITTER_POINTS 64

typedef struct talus_emitter_def {
  const char *name;
  talus_body_def body;     /* what is copied: shape, material, velocity, spin, group */
  talus_region from;       /* where centres appear */
  double rate;             /* bodies per second; 0: those that sinks send back alone */
  double from_time, until; /* s; until may be INFINITY */
  talus_size_def size;
  bool random_rotation;
  uint64_t seed;
  double
      thermal; /* m/s: deviation of each component of the velocity about body.velocity, sqrt(kT/m)
                */
  talus_inflow inflow;
  talus_arrival arrival;
  uint64_t burst; /* bodies that are due together; 0 and 1: each for itself */
  talus_dvec3 points[TALUS_EMITTER_POINTS]; /* one after the other, instead of `from` */
  uint32_t point_count;
} talus_emitter_def;

TALUS_API talus_emitter_def talus_emitter_def_default(void);
TALUS_API talus_status talus_world_add_emitter(talus_world *world, const talus_emitter_def *def);

/* Free bodies whose centre is in the region at the end of a step are removed. */
TALUS_API talus_status talus_world_add_sink(talus_world *world, const char *name,
                                            const talus_region *region);

/* A body that a sink took, or that left a domain with TALUS_OUTSIDE_REMOVE. */
typedef struct talus_left {
  double time; /* s: the end of the step in which it left */
  uint64_t uid;
  uint32_t sink; /* in the order in which they were added; UINT32_MAX: it left the domain */
  double radius; /* m: of the ball of the same volume */
  double mass;   /* kg */
  talus_dvec3 position;
  talus_vec3 velocity;
} talus_left;

/* Turns the list of bodies that leave on or off. Checkpoints do not keep it. */
TALUS_API talus_status talus_world_record_left(talus_world *world, bool on);
/* Copies at most `capacity` of those that have left since the last call, in the order in which they
 * did, and forgets them; *count is how many it copied. */
TALUS_API talus_status talus_world_take_left(talus_world *world, talus_left *left, size_t capacity,
                                             size_t *count);

enum {
  TALUS_RECORD_FORCE = 1,     /* N: mean contact force on the body, or force of the joint */
  TALUS_RECORD_TORQUE = 2,    /* N m about the body's centre of mass */
  TALUS_RECORD_MASS_FLOW = 4, /* kg/s per axis: sum of m v over the box's length along it */
  TALUS_RECORD_COUNT = 8,     /* mean number of free bodies with their centre in the region */
  TALUS_RECORD_ENERGY = 16,   /* J: mean kinetic energy */
  /* Of a body: where its centre of mass is, and how it is turned, at the end of the interval; its
   * mean velocity and spin. */
  TALUS_RECORD_POSITION = 32,
  TALUS_RECORD_ROTATION = 64,
  TALUS_RECORD_VELOCITY = 128,
  TALUS_RECORD_SPIN = 256,
  /* In a region, of free bodies. */
  TALUS_RECORD_STRESS = 512,          /* Pa, of contacts and of motion (docs/theory/probes.md) */
  TALUS_RECORD_SOLID_FRACTION = 1024, /* their volume within, over that of the region */
  TALUS_RECORD_COORDINATION = 2048,   /* mean number of bodies that one presses on */
  TALUS_RECORD_SIZES = 4096           /* mean number of them by size */
};

#define TALUS_PROBE_SIZES 15 /* most borders of classes of size */

/* Averages over every step of an interval; talus_probe_read ends the interval. */
typedef struct talus_probe_def {
  const char *name;
  bool on_body; /* body, or joint, or region */
  talus_body body;
  bool on_joint; /* force and torque that the joint carries, on its body b */
  talus_joint joint;
  talus_region region;
  uint32_t record; /* TALUS_RECORD_... */
  /* Sizes: radii (of balls of the same volume), m, rising, between which bodies are counted. */
  const double *sizes;
  size_t size_count;
  double every; /* s: adaptive steps end on its multiples; 0: wherever they like */
} talus_probe_def;

typedef struct talus_probe_values {
  double from, to; /* s */
  double force[3], torque[3], mass_flow[3], count, energy;
  double position[3], rotation[4], velocity[3], spin[3];
  double stress[6], kinetic_stress[6]; /* Pa, pressure is positive: xx, yy, zz, xy, xz, yz */
  double solid_fraction, coordination;
  double counts[TALUS_PROBE_SIZES + 1]; /* below the first of the sizes, ..., from the last on */
} talus_probe_values;

/* The emitter emits the bodies that the sink removes as soon as there is room, in addition to those
 * of its rate: removed = emitted again + owed, always. Both are given by name. */
TALUS_API talus_status talus_world_recycle(talus_world *world, const char *sink,
                                           const char *emitter);

/* *probe (may be NULL) is its number, from 0 in the order they are added. */
TALUS_API talus_status talus_world_add_probe(talus_world *world, const talus_probe_def *def,
                                             uint32_t *probe);
TALUS_API talus_status talus_probe_read(talus_world *world, uint32_t probe,
                                        talus_probe_values *values);

/* ---- files (where HDF5 is built in) ------------------------------------------------------- */

/* The whole world, so that stepping continues bit for bit. Written as PATH.part, flushed, renamed.
 */
TALUS_API talus_status talus_world_save(talus_world *world, const char *path);
TALUS_API talus_status talus_world_load(const char *path, talus_world **world);

/* One frame for ParaView and for plotting: docs/formats.md. */
TALUS_API talus_status talus_world_write_frame(talus_world *world, const char *path);
TALUS_API talus_status talus_world_write_contacts(talus_world *world, const char *path);

/* Triangles of all bodies but spheres, clumps and planes, in place, for looking at: round shapes
 * are cut finely, flat ones are exact. */
TALUS_API talus_status talus_world_write_surfaces(talus_world *world, const char *path);

#ifdef __cplusplus
}
#endif
#endif
