/* Warnings that need the world: overlaps, masses, what a branch leaves behind, the chosen step. */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "scene/builder.h"
#include "scene/warn.h"

/* The entry of `bodies` that made the body in a slot of the new world. */
static size_t entry_of(const tl_builder *b, size_t slot) {
  size_t entry = b->first.count - 1;
  while (b->first.data[entry] > slot)
    entry--;
  return entry;
}

/* `slot` is SIZE_MAX, or says which row of a table. */
static void add_entry(const tl_builder *b, tl_text *text, size_t entry, size_t slot) {
  const tl_scene_body *body = (const tl_scene_body *)b->scene->bodies.data + entry;
  if (body->table && slot != SIZE_MAX)
    tl_text_add(text, "row %zu of bodies.%zu", slot - b->first.data[entry] + 1, entry);
  else
    tl_text_add(text, "%sbodies.%zu",
                tl_scene_is_one(body) && body->repeat.count == 0 ? "" : "a body of ", entry);
  tl_text_add(text, "%s",
              body->fill    ? ".fill"
              : body->from  ? ".from"
              : body->table ? ".table"
                            : "");
  if (body->name)
    tl_text_add(text, " (`%s`)", body->name);
}

/* "scene.yaml:7:5: " of an entry of `bodies`. */
static void add_place(const tl_builder *b, tl_text *text, size_t entry) {
  const tl_object *at = &((const tl_scene_body *)b->scene->bodies.data)[entry].object;
  tl_text_add(text, "%s:", b->scene->name);
  if (at->origin == 0)
    tl_text_add(text, "%u:%u:", at->line, at->column);
  tl_text_add(text, " ");
}

/* Warns of masses in a table that suggest millimetres. warn_size.c does so for sizes in the scene.
 */
static void warn_heavy_rows(const tl_builder *b, size_t entry) {
  const size_t end =
      entry + 1 < b->first.count ? b->first.data[entry + 1] : talus_world_body_count(b->world);
  double most = 0, count = 0;
  for (size_t slot = b->first.data[entry]; slot < end; ++slot) {
    talus_body body;
    talus_body_info info;
    if (talus_world_body_at(b->world, slot, &body) == TALUS_OK &&
        talus_world_get_body(b->world, body, &info) == TALUS_OK && info.kind == TALUS_FREE)
      most = fmax(most, (double)info.mass), count += 1;
  }
  if (!(most > tl_warn_heaviest(count)))
    return;
  tl_text text = {0};
  add_place(b, &text, entry);
  add_entry(b, &text, entry, SIZE_MAX);
  tl_text_add(&text, " has %.2g kg; sizes are in metres: a table in mm needs `scale: 0.001`", most);
  tl_warn_add_way_out(&text, TL_WARN_HEAVY_BODY);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

static void warn_heavy(const tl_builder *b) {
  const tl_scene_body *bodies = b->scene->bodies.data;
  for (size_t i = 0; i < b->scene->bodies.count; ++i)
    if (bodies[i].table && !bodies[i].table->fixed)
      warn_heavy_rows(b, i);
}

static void warn_overlap(const tl_builder *b) {
  tl_overlap deep;
  /* A pair without contact code is reported by the first step. */
  if (tl_world_find_overlap(b->world, &deep) != TALUS_OK || deep.count == 0)
    return;
  /* The later entry is the one that was put into the other. */
  const size_t one = entry_of(b, deep.slot_a), other = entry_of(b, deep.slot_b);
  const size_t late = one > other ? one : other, early = one > other ? other : one;
  tl_text text = {0};
  add_place(b, &text, late);
  add_entry(b, &text, late, one > other ? deep.slot_a : deep.slot_b);
  tl_text_add(&text, " and ");
  add_entry(b, &text, early, one > other ? deep.slot_b : deep.slot_a);
  tl_text_add(&text, " overlap by %.2g m at the start, %.2g of the smaller one's radius %.2g m",
              deep.depth, deep.depth / deep.radius, deep.radius);
  if (deep.count > 1)
    tl_text_add(&text, " (and %zu more pair%s overlap%s)", deep.count - 1,
                deep.count == 2 ? "" : "s", deep.count == 2 ? "s" : "");
  tl_text_add(&text, "; they are pushed apart; expected bodies that touch at most");
  tl_warn_add_way_out(&text, TL_WARN_OVERLAP);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

/* A branch has none of the emitters and sinks of its run, unless the scene defines its own. */
static void warn_left_behind(const tl_builder *b) {
  const talus_scene *scene = b->scene;
  const tl_scene_body *bodies = scene->bodies.data;
  size_t entry = 0;
  if (b->left.count == 0 || scene->emit.count > 0 || scene->sinks.count > 0)
    return;
  while (!bodies[entry].from)
    entry++;
  tl_text text = {0};
  add_place(b, &text, entry);
  tl_text_add(&text, "bodies.%zu.from: ", entry);
  for (size_t i = 0; i < b->left.count; ++i)
    tl_text_add(&text, "%s%s",
                i == 0                   ? ""
                : i + 1 == b->left.count ? " and "
                                         : ", ",
                b->left.data[i]);
  tl_text_add(&text,
              " of that run do%s not come along: copy `emit` and `sinks` from its scene.yaml",
              b->left.count == 1 ? "es" : "");
  tl_warn_add_way_out(&text, TL_WARN_LEFT_BEHIND);
  if (text.status == TALUS_OK)
    b->log(b->log_context, 1, text.data);
  tl_text_drop(&text);
}

/* Springs may need a step a thousand times shorter than the usual one. */
void tl_build_tell_step(const tl_builder *b) {
  const talus_scene *scene = b->scene;
  const bool is_given = scene->step.object.given >> tl_map_find(&tl_schema_step, "dt") & 1u;
  char text[256];
  if (is_given || scene->solve.kind != TALUS_SOLVE_PENALTY || scene->solve.law != TALUS_LINEAR)
    return;
  snprintf(text, sizeof text,
           "step.dt is not given: %g s, for which `stiffness: auto` lets nobody sink deeper than a "
           "hundredth of the smallest radius; with a stiffness of the materials it may be longer",
           scene->step.dt);
  b->log(b->log_context, TL_LOG_INFO, text);
}

void tl_build_warn(const tl_builder *b) {
  const uint32_t quiet = b->scene->quiet;
  if (!b->log)
    return;
  if (!(quiet & TL_WARN_OVERLAP))
    warn_overlap(b);
  if (!(quiet & TL_WARN_HEAVY_BODY))
    warn_heavy(b);
  if (!(quiet & TL_WARN_LEFT_BEHIND))
    warn_left_behind(b);
}
