/* STL files, text and binary: every three vertices are a triangle. */
#include <math.h>

#include "shape/mesh_source.h"

#define STL_HEAD     80 /* bytes of a binary file before the number of triangles */
#define STL_TRIANGLE 50 /* bytes: normal, three corners, an attribute */

/* ---- text ------------------------------------------------------------------------------------ */

/* One line of an STL file. *corners: of the facet under way; -1: none is. */
static talus_status parse_stl_line(tl_mesh_source *s, tl_span word, int *corners, bool *ended) {
  tl_input *in = &s->in;
  if (tl_span_is(word, "facet")) {
    if (*corners >= 0)
      tl_input_wrong(in, word.text, "a facet begins within another; expected `endfacet` before it");
    *corners = 0;
  } else if (tl_span_is(word, "vertex")) {
    if (*corners < 0)
      tl_input_wrong(in, word.text, "a vertex outside of a facet; expected `facet normal` before");
    else if (++*corners > 3)
      tl_input_wrong(in, word.text, "a facet has more than three vertices");
    return tl_mesh_source_point(s, "a vertex");
  } else if (tl_span_is(word, "endfacet")) {
    if (*corners < 3)
      tl_input_wrong(in, word.text, "a facet ends with %d vertices; expected 3",
                     *corners < 0 ? 0 : *corners);
    *corners = -1;
  } else if (tl_span_is(word, "endsolid") || tl_span_is(word, "solid")) {
    *ended = tl_span_is(word, "endsolid");
  } else if (word.length > 0 && !tl_span_is(word, "outer") && !tl_span_is(word, "endloop")) {
    tl_input_wrong(in, word.text,
                   "`%.*s` is no word of an STL file; expected facet, outer, vertex, endloop, "
                   "endfacet or endsolid",
                   TL_SHOW(word));
  }
  return TALUS_OK;
}

/* `solid NAME`, facets of three vertices each, `endsolid`: the words between are checked only as
 * far as the vertices hang on them. */
static talus_status parse_stl_text(tl_mesh_source *s) {
  tl_input *in = &s->in;
  int corners = -1;
  bool ended = false;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in))
    TL_TRY(parse_stl_line(s, tl_input_word(in), &corners, &ended));
  if (!ended || corners >= 0)
    tl_input_wrong(in, NULL, "the file ends within a solid: it is cut off; expected `endsolid`");
  return TALUS_OK;
}

/* ---- binary ---------------------------------------------------------------------------------- */

static uint32_t read_u32(const char *from) {
  unsigned char b[4];
  memcpy(b, from, sizeof b);
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static double read_float(const char *from) {
  const uint32_t bits = read_u32(from);
  float value;
  memcpy(&value, &bits, sizeof value);
  return (double)value;
}

static talus_status parse_stl_binary(tl_mesh_source *s) {
  const char *path = s->in.path, *begin = s->in.begin;
  const size_t bytes = (size_t)(s->in.end - begin);
  const uint32_t n = read_u32(begin + STL_HEAD);
  const uint64_t wanted = STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * n;
  if (bytes < wanted)
    return tl_fail(TALUS_ERROR_FORMAT,
                   "%s: a binary STL file of %u triangles has %llu bytes, but this one has %zu: it "
                   "is cut off, or not an STL file",
                   path, n, (unsigned long long)wanted, bytes);
  for (uint32_t i = 0; i < n; ++i)
    for (int k = 0; k < 9; ++k) {
      const size_t at = STL_HEAD + 4 + (size_t)STL_TRIANGLE * i + 12 + 4 * (size_t)k;
      const double value = read_float(begin + at);
      if (!isfinite(value))
        return tl_fail(TALUS_ERROR_FORMAT, "%s: byte %zu: a corner of triangle %u is not a number",
                       path, at, i);
      TL_TRY(tl_array_push(s->point, value));
    }
  return TALUS_OK;
}

/* Some binary files begin with "solid" as well: the length decides. */
static talus_status parse_points(tl_mesh_source *s) {
  tl_input *in = &s->in;
  const size_t bytes = (size_t)(in->end - in->begin);
  const bool fits = bytes >= STL_HEAD + 4 &&
                    bytes == STL_HEAD + 4 + (uint64_t)STL_TRIANGLE * read_u32(in->begin + STL_HEAD);
  if (!fits && tl_input_find_line(in, false)) {
    const char *begin = in->at;
    const bool is_text = tl_span_is(tl_input_word(in), "solid");
    in->at = begin;
    if (is_text)
      return parse_stl_text(s);
  }
  return bytes >= STL_HEAD + 4 ? parse_stl_binary(s)
                               : tl_fail(TALUS_ERROR_FORMAT,
                                         "%s: %zu bytes are no STL file: text begins with `solid`, "
                                         "and a binary file has 84 bytes at least",
                                         in->path, bytes);
}

talus_status tl_mesh_parse_stl(tl_mesh_source *s) {
  TL_TRY(parse_points(s));
  const size_t n = s->wants_faces && s->in.mistakes == 0 ? s->point->count / 3 : 0;
  TL_TRY(tl_array_resize(&s->corner, n));
  for (size_t i = 0; i < n; ++i)
    s->corner.data[i] = (uint32_t)i;
  return TALUS_OK;
}
