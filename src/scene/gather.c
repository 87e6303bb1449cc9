#include "scene/gather.h"

#define SHOWN 10   /* further ones are counted */
#define BYTES 6144 /* fit into a message with what the caller puts in front */

talus_status tl_gather_add(tl_gather *gather, talus_status status) {
  if (status == TALUS_OK || status == TALUS_ERROR_MEMORY)
    return status;
  const char *message = tl_last_message();
  if (gather->count++ == 0)
    gather->status = status == TALUS_ERROR_IO ? TALUS_ERROR_FORMAT : status;
  /* The first one is always shown; after one that was left out, none is shown. */
  const bool fits = gather->text.count + strlen(message) < BYTES || gather->shown == 0;
  if (gather->shown + 1 < gather->count || gather->shown == SHOWN || !fits)
    return TALUS_OK;
  tl_text_add(&gather->text, "%s%s", gather->shown > 0 ? "\n" : "", message);
  gather->shown++;
  return gather->text.status;
}

talus_status tl_gather_end(tl_gather *gather, talus_status status) {
  if (status == TALUS_OK && gather->count > 0) {
    const size_t more = gather->count - gather->shown;
    status = more > 0 ? tl_fail(gather->status, "%s\n... and %zu more", gather->text.data, more)
                      : tl_fail(gather->status, "%s", gather->text.data);
  }
  tl_text_drop(&gather->text);
  return status;
}
