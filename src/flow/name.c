/* Names of emitters, sinks and probes. */
#include "flow/place.h"

#include <stdio.h>

talus_status tl_flow_copy_name(char **to, const char *from) {
  *to = NULL;
  if (!from)
    return TALUS_OK;
  const size_t bytes = strlen(from) + 1;
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, bytes));
  memcpy(block, from, bytes);
  *to = block;
  return TALUS_OK;
}

void tl_flow_free_name(char *name) {
  void *block = name;
  if (block)
    (void)tl_resize(&block, strlen(name) + 1, 0);
}

tl_flow_label tl_flow_describe(const char *kind, const char *name, size_t index) {
  tl_flow_label label;
  if (name)
    snprintf(label.text, sizeof label.text, "%s '%.100s'", kind, name);
  else
    snprintf(label.text, sizeof label.text, "%s %zu", kind, index);
  return label;
}
