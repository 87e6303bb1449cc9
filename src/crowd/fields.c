#include "crowd/fields.h"

#include <stddef.h>

#define STATE_ROW(name, type, columns, scalar, flags)                                              \
  {#name, sizeof(type), columns, scalar, flags, offsetof(tl_state, name)},
const tl_field tl_state_fields[TL_STATE_FIELD_COUNT] = {TL_STATE_FIELDS(STATE_ROW)};
#undef STATE_ROW

#define PROPERTY_ROW(name, type, columns, scalar, flags)                                           \
  {#name, sizeof(type), columns, scalar, flags, offsetof(tl_properties, name)},
const tl_field tl_property_fields[TL_PROPERTY_FIELD_COUNT] = {TL_PROPERTY_FIELDS(PROPERTY_ROW)};
#undef PROPERTY_ROW

static talus_status resize_one(void *arrays, const tl_field *field, size_t old_capacity,
                               size_t capacity) {
  void *block = tl_field_rows(arrays, field);
  if (!block && ((field->flags & TL_LAZY) || capacity == 0))
    return TALUS_OK;
  const size_t old_bytes = old_capacity * field->bytes, bytes = capacity * field->bytes;
  TL_TRY(tl_resize(&block, old_bytes, bytes));
  tl_field_set_rows(arrays, field, block);
  if (bytes > old_bytes)
    memset((unsigned char *)block + old_bytes, 0, bytes - old_bytes);
  return TALUS_OK;
}

/* All of them, or none. */
talus_status tl_fields_resize(void *arrays, const tl_field *fields, int n, size_t old_capacity,
                              size_t capacity) {
  for (int i = 0; i < n; ++i) {
    const talus_status status = resize_one(arrays, &fields[i], old_capacity, capacity);
    if (status == TALUS_OK)
      continue;
    while (i-- > 0)
      (void)resize_one(arrays, &fields[i], capacity, old_capacity); /* shorter: cannot fail */
    return status;
  }
  return TALUS_OK;
}

talus_status tl_field_wake(void *arrays, const tl_field *field, size_t capacity) {
  if (tl_field_rows(arrays, field) || capacity == 0)
    return TALUS_OK;
  void *block = NULL;
  TL_TRY(tl_resize(&block, 0, capacity * field->bytes));
  memset(block, 0, capacity * field->bytes);
  tl_field_set_rows(arrays, field, block);
  return TALUS_OK;
}

void tl_fields_move(void *arrays, const tl_field *fields, int n, size_t to, size_t from) {
  for (int i = 0; i < n; ++i) {
    unsigned char *data = tl_field_rows(arrays, &fields[i]);
    if (data)
      memcpy(data + to * fields[i].bytes, data + from * fields[i].bytes, fields[i].bytes);
  }
}

void tl_fields_clear(void *arrays, const tl_field *fields, int n, size_t row) {
  for (int i = 0; i < n; ++i) {
    unsigned char *data = tl_field_rows(arrays, &fields[i]);
    if (data)
      memset(data + row * fields[i].bytes, 0, fields[i].bytes);
  }
}
