/* docs/scene.md, written by the tables. */
#include <stdio.h>

#include "scene/schema.h"

/* A cell of a table: `|` would end it. */
static void add_cell(tl_text *text, const char *cell, const char *quote) {
  tl_text_add(text, " %s", quote);
  for (const char *c = cell; *c; ++c) {
    if (*c == '|')
      tl_text_add_bytes(text, "\\", 1);
    tl_text_add_bytes(text, c, 1);
  }
  tl_text_add(text, "%s |", quote);
}

/* "[a region](#a-region)", with the anchor that Markdown readers make from a heading. */
static void add_link(tl_text *text, const char *title) {
  tl_text_add(text, "[%s](#", title);
  for (const char *c = title; *c; ++c)
    if (*c != ',')
      tl_text_add_bytes(text, *c == ' ' ? "-" : c, 1);
  tl_text_add(text, ")");
}

static void add_value_cell(tl_text *text, const tl_key *key) {
  tl_text expected = {0};
  if (key->type == TL_TYPE_MAP || key->type == TL_TYPE_BOXED || key->type == TL_TYPE_LIST ||
      key->type == TL_TYPE_NAMED) {
    tl_text_add(&expected, "%s",
                key->flags & TL_KEY_SINGLE   ? "one, or a list; each: "
                : key->type == TL_TYPE_LIST  ? "a list; each entry: "
                : key->type == TL_TYPE_NAMED ? "a map from names; each entry: "
                                             : "");
    add_link(&expected, key->map->title);
  } else {
    tl_expect(&expected, key);
  }
  add_cell(text, expected.count > 0 ? expected.data : "", "");
  if (text->status == TALUS_OK)
    text->status = expected.status;
  tl_text_drop(&expected);
}

static void add_default_cell(tl_text *text, const tl_key *key) {
  if (key->fallback && *key->fallback)
    add_cell(text, key->fallback, "`");
  else if (key->flags & TL_KEY_ONE_OF)
    add_cell(text, "one of these", "");
  else
    add_cell(text, key->flags & TL_KEY_OPTIONAL ? "none" : "required", "");
}

/* "ccp with jacobi: length of the step": whose the key is, where it is not everybody's. */
static void add_meaning_cell(tl_text *text, const tl_key *key) {
  tl_text meaning = {0};
  tl_expect_only(&meaning, key, false);
  tl_text_add(&meaning, "%s%s", key->only ? ": " : "", key->help);
  add_cell(text, meaning.count > 0 ? meaning.data : "", "");
  if (text->status == TALUS_OK)
    text->status = meaning.status;
  tl_text_drop(&meaning);
}

static void add_words(tl_text *text, const tl_key *key) {
  if (!key->words || (key->type != TL_TYPE_WORD && key->type != TL_TYPE_WORDS))
    return;
  bool has_help = false;
  for (const tl_word *word = key->words->list; word->word; ++word)
    has_help = has_help || word->help;
  if (!has_help)
    return;
  tl_text_add(text, "\n`%s`:", key->name);
  for (const tl_word *word = key->words->list; word->word; ++word)
    tl_text_add(text, "%s `%s`%s%s%s", word == key->words->list ? "" : ",", word->word,
                word->help ? " (" : "", word->help ? word->help : "", word->help ? ")" : "");
  tl_text_add(text, ".\n");
}

static void add_later(tl_text *text, const char *what, const char *const *later) {
  if (!later || !*later)
    return;
  tl_text_add(text, "\n%s not in this version yet:", what);
  for (int i = 0; later[i]; ++i)
    tl_text_add(text, "%s `%s`", i == 0 ? "" : ",", later[i]);
  tl_text_add(text, ".\n");
}

static void add_map(tl_text *text, const tl_map *map) {
  tl_text_add(text, "\n## %s\n\n%s\n\n", map->title, map->help);
  tl_text_add(text, "| key | value | default | meaning | example |\n|---|---|---|---|---|\n");
  for (const tl_key *key = map->keys; key->name; ++key) {
    tl_text_add(text, "|");
    add_cell(text, key->name, "`");
    add_value_cell(text, key);
    add_default_cell(text, key);
    add_meaning_cell(text, key);
    add_cell(text, key->example, "`");
    tl_text_add(text, "\n");
  }
  for (const tl_key *key = map->keys; key->name; ++key)
    add_words(text, key);
  for (const tl_key *key = map->keys; key->name; ++key)
    if (key->words) {
      char what[80];
      snprintf(what, sizeof what, "For `%s`,", key->name);
      add_later(text, what, key->words->later);
    }
  add_later(text, "Keys", map->later);
}

talus_status tl_schema_document(char **out) {
  tl_c_locale locale;
  TL_TRY(tl_c_locale_enter(&locale));
  tl_text text = {0};
  tl_text_add(
      &text,
      "<!-- Written by `talus scenes --schema` from src/scene/schema.c: edit that, not this. -->\n"
      "# The scene file\n\n"
      "A scene is a YAML file in UTF-8. Units are SI: metres, kilograms, seconds, radians.\n"
      "Unknown keys, wrong types and impossible values are errors with file, line and column;\n"
      "all of them are reported at once. `talus check FILE` reads a scene without running it.\n\n"
      "```yaml\n"
      "talus: 1\n"
      "until: 2.0\n"
      "materials:\n"
      "  rock: {density: 2600, friction: 0.6, restitution: 0.1}\n"
      "shapes:\n"
      "  ground: {plane: [0, 0, 1, 0]}\n"
      "  grain: {sphere: 0.05}\n"
      "bodies:\n"
      "  - {shape: ground, fixed: true}\n"
      "  - fill: {shape: grain, count: 100, in: {box: [[-1, -1, 0.1], [1, 1, 2]]}}\n"
      "```\n\n"
      "A number may be written as a ratio: `dt: 1/60`.\n\n"
      "Names (of materials, shapes, bodies, ...) are any text up to 100 bytes. Bodies are made in\n"
      "the order of the list, so a `fill` avoids what is listed before it. Anchors and aliases\n"
      "(`&a`, `*a`) may be used; merge keys (`<<`) and tags may not.\n\n"
      "`--set dotted.key=value` alters a scene from the command line before it is checked; "
      "entries\n"
      "of lists go by number from 0, or by name: `--set step.dt=5e-4 --set bodies.2.mass=5 --set\n"
      "bodies.sand.count=500`, the last for `- {name: sand, fill: {...}}`.\n");
  for (size_t i = 0; tl_schema_maps[i]; ++i)
    add_map(&text, tl_schema_maps[i]);
  tl_c_locale_leave(&locale);
  return tl_text_take(&text, out);
}

talus_status talus_scene_schema(char **text) {
  TL_NEED(text);
  return tl_schema_document(text);
}
