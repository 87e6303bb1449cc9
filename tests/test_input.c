/* The reader of files beside a scene: places, words, numbers, and mistakes told together. */
#include <locale.h>
#include <math.h>
#include <stdio.h>

#include "base/input.h"
#include "base/quote.h"
#include "base/random.h"
#include "check.h"
#include <talus/talus.h>

static tl_input in;

static void open_text(const char *text) {
  CHECK_OK(tl_input_open(&in, "a.txt", text, strlen(text)));
}

static bool is_cell(tl_span cell, const char *text) {
  return cell.length == strlen(text) && memcmp(cell.text, text, cell.length) == 0;
}

TEST(a_sound_file_closes_without_a_word) {
  open_text("1 2\n");
  CHECK_OK(tl_input_close(&in, TALUS_OK));
  open_text("1 2\n");
  CHECK(tl_input_close(&in, TALUS_ERROR_MEMORY) == TALUS_ERROR_MEMORY);
}

TEST(words_and_cells_end_where_their_line_does) {
  open_text("\xef\xbb\xbf one,two\r\n\n# no\n 3 , ,x");
  CHECK(is_cell(tl_input_word(&in), "one") && is_cell(tl_input_word(&in), "two"));
  CHECK(tl_input_word(&in).length == 0 && tl_input_word(&in).length == 0);
  CHECK(tl_input_next_line(&in) && tl_input_find_line(&in, true));
  CHECK_EQ_U64(in.number, 4);
  bool last;
  CHECK(is_cell(tl_input_cell(&in, &last), "3") && !last);
  CHECK(is_cell(tl_input_cell(&in, &last), "") && !last);
  CHECK(is_cell(tl_input_cell(&in, &last), "x") && last);
  CHECK(!tl_input_next_line(&in));
  CHECK_OK(tl_input_close(&in, TALUS_OK));
}

TEST(mistakes_have_their_line_and_a_caret) {
  open_text("a b\r\n\txyz \xe2\x82\xac w\n");
  tl_input_wrong(&in, in.line + 2, "no b");
  CHECK(tl_input_next_line(&in));
  tl_input_wrong(&in, in.line + 9, "no %c\x01", 'w');
  CHECK(!tl_input_next_line(&in));
  tl_input_wrong(&in, NULL, "no end");
  CHECK(tl_input_close(&in, TALUS_OK) == TALUS_ERROR_FORMAT);
  CHECK_STR(tl_last_message(), "a.txt:1:3: no b\n  a b\n    ^\n"
                               "a.txt:2:8: no w?\n  \txyz \xe2\x82\xac w\n  \t      ^\n"
                               "a.txt:3: no end");
}

TEST(ten_mistakes_are_told_and_the_rest_counted) {
  open_text("x\n");
  for (int i = 0; i < 25; ++i)
    tl_input_wrong(&in, in.line, "mistake %d.", i);
  CHECK(tl_input_close(&in, TALUS_OK) == TALUS_ERROR_FORMAT);
  CHECK(strstr(tl_last_message(), "mistake 9.") && !strstr(tl_last_message(), "mistake 10."));
  CHECK(strstr(tl_last_message(), "\n... and 15 more in a.txt"));
}

/* Neither long lines, long paths nor bytes that are no text break the report. */
TEST(reports_fit_and_show_nothing_a_terminal_would_not) {
  static char path[5000], text[3000];
  for (uint64_t serial = 0; serial < 300; ++serial) {
    tl_random random = tl_random_start(3, 0, serial);
    const size_t n = 1 + tl_random_u32(&random) % (sizeof text - 1);
    const size_t length = tl_random_u32(&random) % (serial % 3 ? 60 : sizeof path - 1);
    memset(path, 'p', length);
    path[length] = '\0';
    for (size_t i = 0; i < n; ++i)
      text[i] = (char)(unsigned char)tl_random_u32(&random);
    CHECK_OK(tl_input_open(&in, path, text, n));
    do
      tl_input_wrong(&in, in.line + tl_random_u32(&random) % 300, "wrong");
    while (tl_input_next_line(&in));
    CHECK(tl_input_close(&in, TALUS_OK) == TALUS_ERROR_FORMAT);
    const char *why = tl_last_message();
    CHECK(strncmp(why, path, length) == 0 && strlen(why) > length);
    for (const char *c = why; *c; ++c)
      CHECK(*c == '\n' || *c == '\t' || (unsigned char)*c >= ' ');
  }
}

TEST(long_lines_are_shown_around_the_caret) {
  char line[400], quoted[TL_QUOTE_BYTES];
  memset(line, 'l', sizeof line);
  line[299] = 'X';
  const size_t n = tl_quote(line, line + sizeof line, 300, quoted);
  CHECK_EQ_U64(n, strlen(quoted));
  const char *below = strchr(quoted, '\n') + 1;
  CHECK(strncmp(quoted, "  ...lll", 8) == 0 && below[-2] == '.');
  CHECK(quoted[strchr(below, '^') - below] == 'X');
  CHECK(tl_quote(line, line, 1, quoted) == 0 && quoted[0] == '\0');
}

TEST(numbers_are_those_of_strtod_in_every_locale) {
  const bool german = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
  static const char *const texts[] = {
      "0.1", "-1e22",  "1e23",   "9007199254740993",    "4.9e-324",
      ".5",  "+5.e-1", "1e-400", "0000000000000001.50", "0.30000000000000004"};
  static const double wanted[] = {0.1, -1e22, 1e23, 9007199254740993.0, 4.9e-324, 0.5,
                                  0.5, 0,     1.5,  0.30000000000000004};
  open_text("");
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    double value = NAN;
    CHECK(tl_span_number((tl_span){texts[i], strlen(texts[i])}, &value) == TL_NUMBER);
    CHECK_MSG(value == wanted[i], "%s: %.17g", texts[i], value);
  }
  static const char *const bad[] = {"",     ".",     "+",   "1e",  "1e+",
                                    "0x10", "1.2.3", "--1", "1 2", "one"};
  double unused;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i)
    CHECK_MSG(tl_span_number((tl_span){bad[i], strlen(bad[i])}, &unused) == TL_NO_NUMBER, "%s",
              bad[i]);
  CHECK(tl_span_number((tl_span){"-Inf", 4}, &unused) == TL_NOT_FINITE);
  CHECK(tl_span_number((tl_span){"1e999", 5}, &unused) == TL_NOT_FINITE);
  CHECK_OK(tl_input_close(&in, TALUS_OK));
  if (german)
    setlocale(LC_ALL, "C");
}

TEST(characters_that_hide_or_turn_text_are_escaped) {
  char shown[64];
  CHECK_EQ_U64(tl_escape("a\x1b[31mb\x07", shown, sizeof shown), strlen("a\\x1b[31mb\\x07"));
  CHECK_STR(shown, "a\\x1b[31mb\\x07");
  tl_escape("x\xE2\x80\xAEy\xE2\x81\xA6z\xC2\x9B\x7F", shown, sizeof shown); /* U+202E, 2066, 9B */
  CHECK_STR(shown, "x\\u202ey\\u2066z\\u009b\\x7f");
  tl_escape("t\tn\nr\r\xFF\xC3\xA4", shown, sizeof shown); /* an a umlaut stays */
  CHECK_STR(shown, "t\tn\nr\\x0d\\xff\xC3\xA4");
  CHECK(tl_escape("abcdefgh\x1b\x1b", shown, 10) < 10); /* cut off, and ended */
}

TEST_MAIN()
