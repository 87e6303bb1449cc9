/* OBJ files (vertices and faces; all else is passed over), and plain rows of numbers. */
#include <ctype.h>

#include "shape/mesh_source.h"

/* ---- rows ------------------------------------------------------------------------------------ */

talus_status tl_mesh_parse_rows(tl_mesh_source *s) {
  tl_input *in = &s->in;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in)) {
    const tl_span word = tl_input_word(in);
    double unused;
    const bool is_heading = in->number == 1 && word.length > 0 &&
                            isalpha((unsigned char)*word.text) &&
                            tl_span_number(word, &unused) == TL_NO_NUMBER;
    if (word.length == 0 || word.text[0] == '#' || is_heading)
      continue;
    in->at = word.text;
    TL_TRY(tl_mesh_source_point(s, "a point"));
    const tl_span rest = tl_input_word(in);
    if (rest.length > 0)
      tl_input_wrong(in, rest.text, "a point has more than three numbers; expected x, y, z");
  }
  return TALUS_OK;
}

/* ---- OBJ ------------------------------------------------------------------------------------- */

/* Corners of a face must be vertices before it; negative ones count backwards. */
static talus_status parse_face(tl_mesh_source *s) {
  tl_input *in = &s->in;
  const size_t vertices = s->point->count / 3, mistakes = in->mistakes;
  s->face.count = 0;
  int corners = 0;
  for (tl_span word = tl_input_word(in); word.length > 0; word = tl_input_word(in), ++corners) {
    char text[32];
    const size_t length = word.length < sizeof text - 1 ? word.length : sizeof text - 1;
    memcpy(text, word.text, length);
    text[length] = '\0';
    char *end;
    const long row = strtol(text, &end, 10);
    if (end == text || (*end != '\0' && *end != '/'))
      tl_input_wrong(in, word.text,
                     "corner `%s` of a face is not a number; expected that of a vertex", text);
    else if (row == 0 || (row > 0 ? (unsigned long)row : (unsigned long)-(row + 1) + 1) > vertices)
      tl_input_wrong(in, word.text, "corner %ld of a face is not one of the %zu vertices before it",
                     row, vertices);
    else
      TL_TRY(tl_array_push(
          &s->face, (uint32_t)(row > 0 ? (size_t)row - 1 : vertices - (size_t) - (row + 1) - 1)));
  }
  if (corners < 3)
    tl_input_wrong(in, tl_input_line_end(in), "a face has %d corners; expected 3 at least",
                   corners);
  return in->mistakes == mistakes ? tl_mesh_source_face(s) : TALUS_OK;
}

talus_status tl_mesh_parse_obj(tl_mesh_source *s) {
  tl_input *in = &s->in;
  for (bool more = in->at < in->end; more; more = tl_input_next_line(in)) {
    const tl_span word = tl_input_word(in);
    if (tl_span_is(word, "v"))
      TL_TRY(tl_mesh_source_point(s, "a vertex"));
    else if (tl_span_is(word, "f"))
      TL_TRY(parse_face(s));
  }
  return TALUS_OK;
}
