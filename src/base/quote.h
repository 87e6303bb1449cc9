/* Text for people: characters of UTF-8, and a line of a file with a caret below the place meant. */
#ifndef TL_BASE_QUOTE_H
#define TL_BASE_QUOTE_H

#include "base/status.h"

/* Length in bytes of the UTF-8 character at p, 0 where it is none. Strict: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
size_t tl_character(const unsigned char *p, const unsigned char *end, uint32_t *code);

/* What a terminal would not show as it is; tabs and ends of lines are not among them. */
bool tl_is_control(uint32_t code);

/* Likewise, and characters that change the direction of writing or break lines invisibly, so that a
 * text reads differently from what it is (Boucher and Anderson 2021, "Trojan Source"). */
bool tl_is_hidden(uint32_t code);

/* A copy in which such characters, and bytes that are none, are written as \x1b or \u202e; tabs and
 * newlines stay. Cut off where it does not fit. Returns its bytes. */
size_t tl_escape(const char *text, char *to, size_t size);

/* Puts a question mark in the place of what a terminal would not show as it is. */
void tl_mend_text(char *text);

/* The characters from `line` up to `end`, and below them a caret at `column` (from 1, in
 * characters): "  the line\n      ^\n". Of a long line the part around the caret. Returns the bytes
 * written without the final zero; 0 for an empty line, where there is nothing to see. */
#define TL_QUOTE_BYTES 1024
size_t tl_quote(const char *line, const char *end, size_t column, char to[TL_QUOTE_BYTES]);

#endif
