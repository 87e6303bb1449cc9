/* JSON, written as it goes: indented, names escaped, numbers that read back as the same double. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdio.h>

typedef struct json {
  FILE *to;
  int depth;
  bool is_first; /* in what is open */
} json;

json json_begin(FILE *to);
/* bracket: '{' or '['. name is NULL at the top and in lists. */
void json_open(json *out, const char *name, char bracket);
void json_close(json *out, char bracket);
void json_text(json *out, const char *name, const char *text);
/* What is not finite becomes null: JSON has no word for it. */
void json_number(json *out, const char *name, double value);
void json_flag(json *out, const char *name, bool value);
void json_end(json *out);

#endif
