#include "rows_write.h"

#include <stdlib.h>
#include <string.h>

/* Lines are collected in a buffer: stdio takes a lock for every call. */
#define BUFFER    ((size_t)1 << 16)
#define LINE_MOST ((size_t)512)

typedef struct writer {
  FILE *to;
  char *at;
  bool good;
  char buffer[BUFFER];
} writer;

static void flush(writer *out) {
  const size_t used = (size_t)(out->at - out->buffer);
  if (used > 0 && fwrite(out->buffer, 1, used, out->to) != used)
    out->good = false;
  out->at = out->buffer;
}

static void put_text(writer *out, const char *text) {
  const size_t length = strlen(text);
  memcpy(out->at, text, length);
  out->at += length;
}

static void put_count(writer *out, uint32_t value) {
  char digits[12];
  int n = 0;
  do
    digits[n++] = (char)('0' + value % 10);
  while ((value /= 10) > 0);
  while (n > 0)
    *out->at++ = digits[--n];
}

/* Writes fifteen digits if they read back the same (as for typed numbers), otherwise seventeen. */
static void put_double(writer *out, double value) {
  if (value == 0) {
    *out->at++ = '0';
    return;
  }
  int length = snprintf(out->at, 32, "%.15g", value);
  if (strtod(out->at, NULL) != value)
    length = snprintf(out->at, 32, "%.17g", value);
  out->at += length;
}

/* The same for numbers that may be floats: six digits or nine. */
static void put_real(writer *out, talus_real value) {
  if (sizeof value == sizeof(double)) {
    put_double(out, (double)value);
    return;
  }
  if (value == 0) {
    *out->at++ = '0';
    return;
  }
  int length = snprintf(out->at, 32, "%.6g", (double)value);
  if ((talus_real)strtod(out->at, NULL) != value)
    length = snprintf(out->at, 32, "%.9g", (double)value);
  out->at += length;
}

static void end_line(writer *out) {
  *out->at++ = '\n';
  if (BUFFER - (size_t)(out->at - out->buffer) < LINE_MOST)
    flush(out);
}

static writer *begin(FILE *to, const char *header) {
  writer *out = malloc(sizeof *out);
  if (!out)
    return NULL;
  out->to = to;
  out->at = out->buffer;
  out->good = true;
  put_text(out, header);
  return out;
}

static bool end(writer *out) {
  flush(out);
  const bool good = out->good;
  free(out);
  return good;
}

bool rows_write_pairs(const talus_pairs *pairs, FILE *to) {
  writer *out = begin(to, "body_a,body_b\n");
  if (!out)
    return false;
  for (size_t i = 0; i < pairs->count && out->good; ++i) {
    put_count(out, pairs->data[i].a);
    *out->at++ = ',';
    put_count(out, pairs->data[i].b);
    end_line(out);
  }
  return end(out);
}

/* Points of the surfaces, p -/+ n gap / 2; the contact point p is midway. */
static void put_surfaces(writer *out, const talus_row_contact *contact) {
  const double point[3] = {contact->point.x, contact->point.y, contact->point.z};
  const talus_real normal[3] = {contact->normal.x, contact->normal.y, contact->normal.z};
  for (int side = -1; side <= 1; side += 2)
    for (int k = 0; k < 3; ++k) {
      *out->at++ = ',';
      put_double(out, point[k] + 0.5 * side * (double)normal[k] * (double)contact->gap);
    }
}

static void put_contact(writer *out, const talus_row_contact *contact, bool surfaces) {
  const double point[3] = {contact->point.x, contact->point.y, contact->point.z};
  const talus_real rest[4] = {contact->normal.x, contact->normal.y, contact->normal.z,
                              contact->gap};
  put_count(out, contact->a);
  *out->at++ = ',';
  put_count(out, contact->b);
  for (int k = 0; k < 3; ++k) {
    *out->at++ = ',';
    put_double(out, point[k]);
  }
  for (int k = 0; k < 4; ++k) {
    *out->at++ = ',';
    put_real(out, rest[k]);
  }
  if (surfaces)
    put_surfaces(out, contact);
  end_line(out);
}

bool rows_write_contacts(const talus_contacts *contacts, bool surfaces, FILE *to) {
  writer *out = begin(to, surfaces ? "body_a,body_b,px,py,pz,nx,ny,nz,gap,ax,ay,az,bx,by,bz\n"
                                   : "body_a,body_b,px,py,pz,nx,ny,nz,gap\n");
  if (!out)
    return false;
  for (size_t i = 0; i < contacts->count && out->good; ++i)
    put_contact(out, &contacts->data[i], surfaces);
  return end(out);
}
