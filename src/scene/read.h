/* From a tree of nodes to structs, by the tables of schema.h. */
#ifndef TL_SCENE_READ_H
#define TL_SCENE_READ_H

#include "scene/document.h"
#include "scene/schema.h"

#define TL_PATH 240

typedef struct tl_reader {
  tl_document *document;
  tl_problems *problems;
  talus_status status; /* of memory */
  char path[TL_PATH];  /* "bodies.2.fill": where in the scene, as --set writes it */
  size_t path_length;
  tl_node_id *defaults; /* TL_MAP_KEYS rows for each of tl_schema_maps */
} tl_reader;

/* Parses the defaults of every key (as the source `origin`, which this adds). */
talus_status tl_reader_open(tl_reader *reader, tl_document *document, tl_problems *problems);
void tl_reader_close(tl_reader *reader);

/* Fills *object, zeroed by the caller, from a node. Complaints go to reader->problems. */
void tl_read_map(tl_reader *reader, tl_node_id node, const tl_map *map, void *object);

/* One value (not MAP, BOXED, LIST or NAMED); false when it was refused. */
bool tl_read_value(tl_reader *reader, tl_node_id node, const tl_key *key, void *member);

/* "PATH is GOT; expected EXPECTED", at the node. */
void tl_refuse_value(tl_reader *reader, tl_node_id node, const tl_key *key);
/* "PATH WHAT; expected EXPECTED" */
void tl_refuse(tl_reader *reader, tl_node_id node, const tl_key *key, const char *fmt, ...)
    TL_PRINTF(4, 5);

const char *tl_reader_path(const tl_reader *reader);      /* "the scene" at the top */
size_t tl_path_push(tl_reader *reader, const char *name); /* returns what tl_path_pop needs */
size_t tl_path_push_row(tl_reader *reader, size_t row);
void tl_path_pop(tl_reader *reader, size_t before);

/* A number of plain decimal form, all of the text. */
bool tl_parse_number(const char *text, double *value);

/* --set: lays "dotted.key=value" over the tree; the value is the tree of source `origin`, `setting`
 * the text of the whole. */
talus_status tl_set_apply(tl_document *document, tl_problems *problems, tl_node_id root,
                          const char *setting, uint32_t origin, tl_node_id value);

/* What single values cannot tell: names, times, regions, what goes together. Fills in the defaults
 * that depend on other keys. */
talus_status tl_scene_check(talus_scene *scene, const tl_document *document, tl_node_id root,
                            tl_problems *problems);

#endif
