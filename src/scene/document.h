/* A YAML document as a tree with marks: what libyaml's events say, less everything a scene has no
 * use for (merge keys, foreign tags, duplicate keys, several documents, absurd nesting).
 *
 * Nodes are rows of one array and refer to each other by row, so that a tree is small, can be
 * altered (set.c) and is freed at once. Aliases are copied out; the number of copies is limited, so
 * that a few lines cannot unfold into a heap. Row 0 is no node. */
#ifndef TL_SCENE_DOCUMENT_H
#define TL_SCENE_DOCUMENT_H

#include "scene/problems.h"

#define TL_DOCUMENT_DEPTH  32
#define TL_DOCUMENT_NODES  12000000 /* of the text itself; about what 64 MiB of bodies make */
#define TL_DOCUMENT_COPIES 1000000  /* of what aliases unfold to */
#define TL_DOCUMENT_BYTES  ((size_t)64 << 20)

typedef enum tl_node_kind { TL_NODE_SCALAR, TL_NODE_LIST, TL_NODE_MAP } tl_node_kind;

typedef uint32_t tl_node_id;

typedef struct tl_node {
  tl_node_id first;      /* list: first entry; map: first key; key: its value */
  tl_node_id next;       /* next entry or key */
  uint32_t count;        /* entries, or keys */
  uint32_t text, length; /* scalar: within tl_document.text, zero-terminated */
  uint32_t line, column;
  uint16_t origin;
  uint8_t kind;   /* tl_node_kind */
  bool is_quoted; /* in quotes or tagged !!str: text whatever it looks like */
} tl_node;

typedef struct tl_document {
  TL_ARRAY(tl_node) nodes;
  TL_ARRAY(char) text;
} tl_document;

/* Adds the tree of a source to the document. *root is 0 when it has none; then, and where a part
 * was refused, problems says why. The status is about memory only. */
talus_status tl_document_parse(tl_document *document, tl_problems *problems, uint32_t origin,
                               tl_node_id *root);
void tl_document_free(tl_document *document);

talus_status tl_document_new_node(tl_document *document, tl_node node, tl_node_id *id);
talus_status tl_document_new_text(tl_document *document, const char *bytes, size_t n,
                                  uint32_t *offset);

/* Pointers live until the next node is added. */
static inline tl_node *tl_node_at(const tl_document *document, tl_node_id id) {
  return &document->nodes.data[id];
}

static inline const char *tl_node_text(const tl_document *document, tl_node_id id) {
  return document->text.data + document->nodes.data[id].text;
}

static inline tl_mark tl_node_mark(const tl_document *document, tl_node_id id) {
  const tl_node *node = tl_node_at(document, id);
  return (tl_mark){.line = node->line, .column = node->column, .origin = node->origin};
}

bool tl_node_is_null(const tl_document *document, tl_node_id id);

/* Complains of a key that a map has twice: nobody could say which one is meant (libyaml takes it).
 */
talus_status tl_document_check_keys(const tl_document *document, tl_problems *problems,
                                    tl_node_id map);

/* The row of a key of a map, 0 where the node is no map or lacks it; its value is `first`. */
tl_node_id tl_node_find_key(const tl_document *document, tl_node_id map, const char *key);

#endif
