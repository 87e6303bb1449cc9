#include "json.h"

#include <math.h>
#include <stdlib.h>

json json_begin(FILE *to) { return (json){.to = to, .is_first = true}; }

static void put_quoted(json *out, const char *text) {
  fputc('"', out->to);
  for (const unsigned char *c = (const unsigned char *)text; *c; ++c) {
    if (*c == '"' || *c == '\\')
      fprintf(out->to, "\\%c", *c);
    else if (*c < 0x20)
      fprintf(out->to, "\\u%04x", *c);
    else
      fputc(*c, out->to);
  }
  fputc('"', out->to);
}

static void put_name(json *out, const char *name) {
  if (!out->is_first)
    fputc(',', out->to);
  if (out->depth > 0)
    fprintf(out->to, "\n%*s", 2 * out->depth, "");
  if (name) {
    put_quoted(out, name);
    fputs(": ", out->to);
  }
  out->is_first = false;
}

void json_open(json *out, const char *name, char bracket) {
  put_name(out, name);
  fputc(bracket, out->to);
  out->depth++;
  out->is_first = true;
}

void json_close(json *out, char bracket) {
  out->depth--;
  if (!out->is_first)
    fprintf(out->to, "\n%*s", 2 * out->depth, "");
  fputc(bracket, out->to);
  out->is_first = false;
}

void json_text(json *out, const char *name, const char *text) {
  put_name(out, name);
  put_quoted(out, text);
}

void json_number(json *out, const char *name, double value) {
  char digits[40];
  put_name(out, name);
  if (!isfinite(value)) {
    fputs("null", out->to);
    return;
  }
  for (int precision = 15; precision <= 17; ++precision) {
    snprintf(digits, sizeof digits, "%.*g", precision, value);
    if (strtod(digits, NULL) == value)
      break;
  }
  fputs(digits, out->to);
}

void json_flag(json *out, const char *name, bool value) {
  put_name(out, name);
  fputs(value ? "true" : "false", out->to);
}

void json_end(json *out) { fputc('\n', out->to); }
