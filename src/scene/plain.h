/* The form in which scenes are written (write.c), read without libyaml: top-level keys, one to a
 * line; their values on the same line as words, numbers, "text", [lists] and {maps}, or indented
 * entries, `- value` or `name: value`, one to a line. Comments are whole lines.
 *
 * A build without libyaml reads start files, scene.yaml of result folders and settings (--set) by
 * it. */
#ifndef TL_SCENE_PLAIN_H
#define TL_SCENE_PLAIN_H

#include "scene/document.h"

/* Like tl_document_parse, with the same tree; any other form is a problem. */
talus_status tl_plain_parse(tl_document *document, tl_problems *problems, uint32_t origin,
                            tl_node_id *root);

#endif
