/* Checks that look at more than one value; shared by check.c and check_bodies.c. */
#ifndef TL_SCENE_CHECK_H
#define TL_SCENE_CHECK_H

#include "scene/read.h"

typedef struct tl_checker {
  talus_scene *scene;
  const tl_document *document;
  tl_problems *problems;
  tl_node_id root;
  tl_names materials, shapes, bodies, groups, joints;
  tl_names entries; /* of `bodies`, fills and tables included */
  bool takes_from;  /* bodies of another run: their names and groups are not known yet */
  talus_status status;
} tl_checker;

/* First entry of a list (or key of a map) at the top of the scene; 0 where there is none. */
tl_node_id tl_check_first(const tl_checker *checker, const char *key);
/* Mark of a key's value within a map; of the node itself where it lacks the key. */
tl_mark tl_check_mark(const tl_checker *checker, tl_node_id node, const char *key);
/* The value of a key within a map, or 0. */
tl_node_id tl_check_value(const tl_checker *checker, tl_node_id node, const char *key);

/* "PATH is `name`; expected KIND: a, b or c; did you mean `b`?" */
void tl_check_unknown(tl_checker *checker, tl_mark mark, const char *path, const char *name,
                      const char *kind, const tl_names *names);
/* A name that must be new among its kind; complains, or remembers it. */
void tl_check_new_name(tl_checker *checker, tl_mark mark, const char *path, const char *name,
                       tl_names *names, uint32_t row);

const tl_scene_shape *tl_check_shape(const tl_checker *checker, const tl_scene_shape_use *use);
/* talus_shape_kind, or -1 where the shape was refused. */
int tl_scene_shape_kind(const tl_scene_shape *shape);

/* Cylinders and discs have an axis. `key` is the region's in its parent. */
void tl_check_region(tl_checker *checker, tl_node_id parent, const char *key,
                     const tl_scene_region *region, const char *path);

/* Static friction is not less than friction. */
void tl_check_materials(tl_checker *checker);
/* Fills values that pair `i` does not give with the smaller one of its two materials. */
void tl_check_complete_pair(tl_checker *checker, tl_node_id node, tl_scene_pair *pair,
                            const uint32_t rows[2], size_t i);

/* What does not go with springs: sleep, joints, Noble's law without a stiffness. */
void tl_check_springs(tl_checker *checker);
/* What does not go with hard spheres, nor with events. */
void tl_check_elastic(tl_checker *checker);
/* A friction law that the contact model does not have. */
void tl_check_solve(tl_checker *checker);

/* One motion, or a list of them, of the body (or the change) at a node. */
void tl_check_motions(tl_checker *checker, tl_node_id node, const tl_items *motions,
                      const char *path);
/* `from`: its choices and changes. */
void tl_check_from(tl_checker *checker, tl_node_id node, const tl_scene_from *from, size_t row);

/* Reach, kinds and names of `zones`. */
void tl_check_zones(tl_checker *checker);
/* Grids and walls of `averages`; how often they end where that is not said. */
void tl_check_averages(tl_checker *checker);

void tl_check_bodies(tl_checker *checker);
void tl_check_emitters(tl_checker *checker);
/* names: of the joints, for probes. */
void tl_check_joints(tl_checker *checker, tl_names *names);
/* What a kind of joint takes, and whether its frames meet. */
void tl_check_joint_keys(tl_checker *checker, tl_node_id node, const tl_scene_joint *joint,
                         const char *path);

#endif
