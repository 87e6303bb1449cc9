/* Scenes in the form in which talus writes them, read without libyaml (scene/plain.h): the tree is
 * that of libyaml; and start files. */
#include "check.h"
#include "base/clock.h"
#include "scene/plain.h"
#include "scene/scene.h"
#include "scene/start.h"

#include <unistd.h>

typedef talus_status parse_fn(tl_document *, tl_problems *, uint32_t, tl_node_id *);

typedef struct tree {
  tl_document document;
  tl_problems problems;
  tl_node_id root;
} tree;

static void grow(tree *t, parse_fn *parse, const char *text, bool is_setting) {
  *t = (tree){0};
  const tl_source source = {
      .name = "test", .text = text, .length = strlen(text), .is_setting = is_setting};
  CHECK_OK(tl_array_push(&t->problems.sources, source));
  CHECK_OK(parse(&t->document, &t->problems, 0, &t->root));
}

static void fell(tree *t) {
  tl_document_free(&t->document);
  tl_problems_free(&t->problems);
}

#if TALUS_HAVE_YAML

static void check_same(const tree *x, tl_node_id a, const tree *y, tl_node_id b) {
  const tl_node *m = tl_node_at(&x->document, a), *n = tl_node_at(&y->document, b);
  CHECK_EQ_U64(m->kind, n->kind);
  CHECK_EQ_U64(m->count, n->count);
  CHECK_EQ_U64(m->line, n->line);
  CHECK_EQ_U64(m->column, n->column);
  if (m->kind == TL_NODE_SCALAR) {
    CHECK_EQ_U64(m->length, n->length);
    CHECK(m->is_quoted == n->is_quoted);
    CHECK_STR(tl_node_text(&x->document, a), tl_node_text(&y->document, b));
    return;
  }
  tl_node_id p = m->first, q = n->first;
  for (; p != 0 && q != 0;
       p = tl_node_at(&x->document, p)->next, q = tl_node_at(&y->document, q)->next) {
    check_same(x, p, y, q);
    if (m->kind == TL_NODE_MAP)
      check_same(x, tl_node_at(&x->document, p)->first, y, tl_node_at(&y->document, q)->first);
  }
  CHECK(p == 0 && q == 0);
}

static void check_text(const char *text, bool is_setting) {
  tree plain, yaml;
  grow(&plain, tl_plain_parse, text, is_setting);
  grow(&yaml, tl_document_parse, text, is_setting);
  CHECK(plain.problems.count == 0 && yaml.problems.count == 0);
  CHECK(plain.root != 0 && yaml.root != 0);
  check_same(&plain, plain.root, &yaml, yaml.root);
  fell(&plain);
  fell(&yaml);
}

TEST(resolved_scenes_give_the_tree_of_libyaml) {
  const size_t n = talus_builtin_count();
  for (size_t i = 0; i < n; ++i) {
    const char *name, *about, *text;
    talus_builtin_get(i, &name, &about, &text);
    talus_scene *scene = NULL;
    char *resolved = NULL;
    CHECK_OK(talus_scene_parse(text, strlen(text), name, NULL, NULL, 0, &scene, NULL));
    CHECK_OK(talus_scene_write(scene, &resolved));
    check_text(resolved, false);
    talus_text_free(resolved);
    talus_scene_free(scene);
  }
}

TEST(names_texts_and_empty_things_are_read_as_libyaml_reads_them) {
  check_text("# a line\ntalus: 1\ntitle: \"a \\\"b\\\" \\\\ c: {d}, [e]\"\nbodies: []\npairs: {}\n"
             "materials:\n  \"odd: name\": {density: 1}\n  \"\": {a: \"\"}\n",
             false);
  check_text("title: \"two\n   lines\n\n\n and more\"\nuntil: 2\n", false);
  check_text("talus: 1\n\n# between\ngravity: [0, -0, -9.81e0]\nuntil: {time: 2, at_rest: .nan}\n",
             false);
  check_text("a: [[1, 2], [3, [4]], {b: [], c: {}}]\n", false);
  check_text("title: \"\xC3\xA9\"\nmaterials: {\"\xC3\xA9\": {density: 1}, b: {}}\n", false);
}

TEST(settings_are_values) {
  check_text("0.5", true);
  check_text(" [1, 2, -3e5]", true);
  check_text("{a: 1, b: [c, \"d\"]}", true);
  check_text("\"text\"", true);
}

#endif

/* Nothing of it is taken for something else. */
TEST(other_forms_are_refused_with_their_place) {
  static const char *const texts[] = {
      "until: 'single'\n",
      "materials:\n    deep: {}\n",
      "a: &x 1\nb: *x\n",
      "- 1\n- 2\n",
      "a: |\n  text\n",
      "a:\n  b:\n    c: 1\n",
      "a: [1, 2\n",
      "a: {b: 1\n",
      "a: \"open\n",
      "a: \"\\n\"\n",
      "a: 1 # said\n  b",
      "a\n",
      "a:\n",
      "a: {b: 1, b: 2}\n",
      "a: 1\na: 2\n",
      "a: [1,, 2]\n",
      "a: !!str 1\n",
      "---\na: 1\n",
      "a: {b}\n",
      "[1]\n",
      "a: [1] 2\n",
      "bodies:\n  - {a: 1}\n  b: {}\n",
      "bodies:\n  -1\n",
      "\x01",
      "a: -\n",
      "a: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i) {
    tree t;
    grow(&t, tl_plain_parse, texts[i], false);
    if (t.problems.count == 0)
      printf("accepted: %s\n", texts[i]);
    CHECK(t.problems.count > 0);
    fell(&t);
  }
}

TEST(cut_texts_never_read_beyond_their_end) {
  static const char whole[] = "talus: 1\ntitle: \"a\\\\ b\"\nbodies:\n  - {at: [1, 2, 3], n: x}\n"
                              "materials:\n  \"q\": {d: 1}\nlast: {a: [], b: {}}\n";
  for (size_t n = 0; n < sizeof whole; ++n) {
    char *copy = malloc(n + 1); /* sanitizers see one byte too many */
    CHECK(copy != NULL);
    memcpy(copy, whole, n);
    tree t = {0};
    const tl_source source = {.name = "test", .text = copy, .length = n};
    CHECK_OK(tl_array_push(&t.problems.sources, source));
    CHECK_OK(tl_plain_parse(&t.document, &t.problems, 0, &t.root));
    fell(&t);
    free(copy);
  }
}

#if TALUS_HAVE_HDF5

static const char plain_scene[] =
    "talus: 1\nuntil: 0.02\nstep: {dt: 0.001}\noutput: {every: 0.005}\n"
    "materials:\n  stone: {density: 2600, restitution: 0.5}\n"
    "shapes:\n  ball: {sphere: 0.1}\n  ground: {plane: [0, 0, 1, 0]}\n"
    "bodies:\n  - {name: floor, shape: ground, material: stone, fixed: true}\n"
    "  - {name: ball, shape: ball, material: stone, at: [0, 0, 0.11], velocity: [1, 0, -2]}\n";

static uint64_t hash_after(const talus_scene *scene, uint64_t steps) {
  talus_world *world = NULL;
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_world_step(world, steps));
  const uint64_t hash = talus_world_hash(world);
  talus_world_destroy(world);
  return hash;
}

/* Runs in every build, also in one without libyaml: the scene is in the plain form. */
TEST(start_file_gives_the_same_scene_and_the_same_steps) {
  talus_scene *scene = NULL, *start = NULL;
  talus_world *world = NULL;
  CHECK_OK(talus_scene_parse(plain_scene, sizeof plain_scene - 1, "plain.yaml", NULL, NULL, 0,
                             &scene, NULL));
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_scene_save(scene, world, "start.hdf"));
  CHECK(!talus_scene_is_start(scene));
  const char *later[] = {"until=0.5", "output.every=0.01"};
  CHECK_OK(talus_scene_load("start.hdf", later, 2, &start, NULL));
  CHECK(talus_scene_is_start(start));
  talus_scene_info info;
  talus_scene_get_info(start, &info);
  CHECK(info.until == 0.5 && info.output_every == 0.01 && info.dt == 0.001);
  uint64_t one, other;
  CHECK_OK(tl_scene_identity(scene, &one));
  CHECK_OK(tl_scene_identity(start, &other));
  CHECK_EQ_U64(one, other);
  CHECK_EQ_U64(hash_after(scene, 20), hash_after(start, 20));
  talus_scene_free(start);
  const char *fixed[] = {"step.dt=0.002"};
  CHECK(talus_scene_load("start.hdf", fixed, 1, &start, NULL) == TALUS_ERROR_INVALID);
  CHECK(start == NULL);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(talus_scene_save(scene, world, "start.hdf") == TALUS_ERROR_INVALID);
  CHECK_OK(talus_world_save(world, "no-start.hdf"));
  CHECK(talus_scene_load("no-start.hdf", NULL, 0, &start, NULL) == TALUS_ERROR_FORMAT);
  talus_world_destroy(world);
  talus_scene_free(scene);
  CHECK(unlink("start.hdf") == 0 && unlink("no-start.hdf") == 0);
}

/* A world has what its scene names, and a run looks there by numbers. */
TEST(start_file_of_another_scenes_world_is_refused) {
  static const char *const more[] = {
      "probes:\n  - {name: p, region: {box: [[0, 0, 0], [1, 1, 1]]}, record: [count], every: 1}\n",
      "sinks:\n  - {name: s, in: {box: [[0, 0, 0], [1, 1, 1]]}}\n"};
  for (size_t i = 0; i < sizeof more / sizeof *more; ++i)
    for (int which = 0; which < 2; ++which) {
      talus_scene *with = NULL, *without = NULL, *start = NULL;
      talus_world *world = NULL;
      char text[sizeof plain_scene + 256];
      snprintf(text, sizeof text, "%s%s", plain_scene, more[i]);
      CHECK_OK(talus_scene_parse(text, strlen(text), "with", NULL, NULL, 0, &with, NULL));
      CHECK_OK(talus_scene_parse(plain_scene, sizeof plain_scene - 1, "without", NULL, NULL, 0,
                                 &without, NULL));
      CHECK_OK(talus_scene_build(which ? with : without, 1, NULL, NULL, &world));
      CHECK_OK(talus_scene_save(which ? without : with, world, "mixed.hdf"));
      talus_world_destroy(world);
      CHECK_OK(talus_scene_load("mixed.hdf", NULL, 0, &start, NULL));
      CHECK(talus_scene_build(start, 1, NULL, NULL, &world) == TALUS_ERROR_FORMAT);
      CHECK(world == NULL && strstr(talus_last_error(), "mixed.hdf: its world is not"));
      talus_scene_free(start);
      talus_scene_free(with);
      talus_scene_free(without);
      CHECK(unlink("mixed.hdf") == 0);
    }
}

/* A run of it would otherwise take the file for another one than the scene names. */
TEST(start_file_is_not_written_where_a_file_of_the_scene_is_gone) {
  char text[sizeof plain_scene + 256];
  talus_scene *scene = NULL;
  talus_world *world = NULL;
  FILE *table = fopen("pull.csv", "w");
  CHECK(table && fputs("time,x,y,z\n0,0,0,1\n1,0,0,2\n", table) >= 0 && fclose(table) == 0);
  snprintf(text, sizeof text, "%s%s", plain_scene,
           "  - {name: pulled, shape: ball, material: stone, at: [3, 0, 1], "
           "force: {table: \"pull.csv\"}}\n");
  CHECK_OK(talus_scene_parse(text, strlen(text), "pulled", NULL, NULL, 0, &scene, NULL));
  CHECK_OK(talus_scene_build(scene, 1, NULL, NULL, &world));
  CHECK_OK(talus_scene_save(scene, world, "pulled.hdf"));
  CHECK(unlink("pull.csv") == 0 && unlink("pulled.hdf") == 0);
  CHECK(talus_scene_save(scene, world, "pulled.hdf") == TALUS_ERROR_IO);
  CHECK(strstr(talus_last_error(), "pull.csv") && access("pulled.hdf", F_OK) != 0);
  talus_world_destroy(world);
  talus_scene_free(scene);
}

#endif

/* Columns were counted from the begin of the line for each value: a minute for these. */
TEST(long_lines_are_read_in_time_that_grows_with_them) {
  enum { VALUES = 200000 };
  tl_text text = {0};
  tl_text_add(&text, "a: [");
  for (int i = 0; i < VALUES; ++i)
    tl_text_add(&text, "%s0.125", i == 0 ? "" : ", ");
  tl_text_add(&text, "]\n");
  CHECK_OK(text.status);
  tree t;
  const double begin = tl_clock();
  grow(&t, tl_plain_parse, text.data, false);
  CHECK(tl_clock() - begin < 5);
  const tl_node_id list = tl_node_at(&t.document, tl_node_at(&t.document, t.root)->first)->first;
  CHECK_EQ_U64(tl_node_at(&t.document, list)->count, VALUES);
  tl_node_id last = tl_node_at(&t.document, list)->first;
  while (tl_node_at(&t.document, last)->next)
    last = tl_node_at(&t.document, last)->next;
  CHECK_EQ_U64(tl_node_at(&t.document, last)->column, 5 + 7 * (VALUES - 1));
  fell(&t);
  tl_text_drop(&text);
}

TEST_MAIN()
