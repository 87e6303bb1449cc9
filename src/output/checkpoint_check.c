#include "output/checkpoint.h"

#if TALUS_HAVE_HDF5

#include <inttypes.h>
#include <string.h>

#define WRONG(...) return tl_fail(TALUS_ERROR_INVALID, __VA_ARGS__)

/* ---- shared tables --------------------------------------------------------------------------- */

/* A shape must be one that can be made, and its derived numbers must be plausible. */
static talus_status check_shape(const tl_shape *shape, size_t i) {
  talus_shape_def def = {.name = shape->name, .kind = shape->kind, .open = shape->open};
  memcpy(def.size, shape->size, sizeof def.size);
  tl_shape made;
  if (tl_shape_validate(shape) != TALUS_OK)
    return tl_fail_in(TALUS_ERROR_INVALID, "shape %zu", i);
  if (shape->kind == TALUS_MESH) {
    const talus_vec3 g = shape->gyration;
    const bool has_mass = g.x > 0 && g.y > 0 && g.z > 0;
    if (!(shape->volume >= 0 && shape->radius > 0) || !shape->bounded ||
        (shape->volume > 0 && !has_mass))
      WRONG("shape %zu: its derived numbers are not those of a mesh", i);
    return TALUS_OK;
  }
  if (shape->kind == TALUS_HULL || shape->kind == TALUS_CLUMP) {
    const talus_vec3 g = shape->gyration;
    if (!(shape->volume > 0 && shape->radius > 0 && g.x > 0 && g.y > 0 && g.z > 0) ||
        !shape->bounded)
      WRONG("shape %zu: its derived numbers are not those of a %s", i,
            tl_shape_kind_name(shape->kind));
    return TALUS_OK;
  }
  if (shape->kind == TALUS_REVOLVED) {
    if (!(shape->volume == 0 && shape->radius > 0) || !shape->bounded)
      WRONG("shape %zu: its derived numbers are not those of a revolved wall", i);
    return TALUS_OK;
  }
  TL_TRY(tl_shape_make(&def, &made));
  const bool same = made.bounded == shape->bounded && (made.volume > 0) == (shape->volume > 0) &&
                    (made.radius > 0) == (shape->radius > 0) && shape->volume >= 0 &&
                    shape->radius >= 0;
  tl_shape_release(&made);
  if (!same)
    WRONG("shape %zu: its derived numbers are not those of a %s", i,
          tl_shape_kind_name(shape->kind));
  return TALUS_OK;
}

static talus_status check_materials(const talus_world *world) {
  const tl_model *model = &world->model;
  const size_t n = model->materials.count;
  for (size_t i = 0; i < n; ++i) {
    const tl_material *m = &model->materials.data[i];
    if (!(m->density > 0) || !tl_law_is_valid(&m->law))
      WRONG("material %zu: its density or a law of it is out of range", i);
  }
  for (size_t i = 0; i < world->overrides.count; ++i) {
    const tl_pair_override *o = &world->overrides.data[i];
    if (o->a > o->b || o->b >= n || !tl_law_is_valid(&o->law))
      WRONG("override %zu of a pair of materials is out of range", i);
  }
  return TALUS_OK;
}

static talus_status check_groups(const talus_world *world) {
  const size_t groups = world->groups.count;
  for (size_t i = 0; i < world->model.ignored.count; ++i) {
    const tl_group_pair *pair = &world->model.ignored.data[i], *last = pair - 1;
    if (pair->a == 0 || pair->a > pair->b || pair->b > groups)
      WRONG("ignored pair %zu of groups is out of range", i);
    if (i > 0 && !(last->a < pair->a || (last->a == pair->a && last->b < pair->b)))
      WRONG("ignored pair %zu of groups is out of order", i);
  }
  return TALUS_OK;
}

static talus_status check_term(const tl_model *model, const tl_motion_term *term, size_t i) {
  const size_t columns = tl_motion_columns(term->table_kind), values = model->motion_values.count;
  if ((term->rows > 0) != (term->table_kind != TALUS_TABLE_NONE) || !(term->until > term->from))
    WRONG("term %zu of the motions is out of range", i);
  if (term->rows == 0)
    return TALUS_OK;
  if (term->table > values || (values - (size_t)term->table) / columns < term->rows)
    WRONG("term %zu of the motions: its table is longer than the values", i);
  const double *row = model->motion_values.data + term->table;
  for (size_t k = 0; k < term->rows; ++k, row += columns) {
    if (k > 0 && !(row[0] > row[-(ptrdiff_t)columns]))
      WRONG("term %zu of the motions: the times of its table do not rise", i);
    if (columns == 8 &&
        !(row[4] * row[4] + row[5] * row[5] + row[6] * row[6] + row[7] * row[7] > 0.5))
      WRONG("term %zu of the motions: a rotation of its table is not valid", i);
  }
  return TALUS_OK;
}

static talus_status check_motions(const tl_model *model) {
  for (size_t i = 0; i < model->motion_terms.count; ++i)
    TL_TRY(check_term(model, &model->motion_terms.data[i], i));
  for (size_t i = 0; i < model->motions.count; ++i) {
    const tl_motion *motion = &model->motions.data[i];
    if (motion->first > model->motion_terms.count ||
        motion->count > model->motion_terms.count - motion->first)
      WRONG("motion %zu: there are no such terms", i);
  }
  return TALUS_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static talus_status check_body(const talus_world *world, size_t i) {
  const tl_properties *p = &world->model.property;
  const uint32_t flags = p->flags[i];
  if ((flags & ~(uint32_t)(TL_FLAG_LOCKS | TL_FLAG_STATIC | TL_FLAG_SUNK)) ||
      (flags & TL_FLAG_STATIC) == TL_FLAG_STATIC)
    WRONG("row %zu of the bodies: unknown flags 0x%x", i, flags);
  if (!(flags & TL_FLAG_KINEMATIC) && p->motion[i] != TL_NONE)
    WRONG("row %zu of the bodies: a body that is not kinematic has a motion", i);
  if (p->uid[i] == 0 || !(p->mass[i] >= 0))
    WRONG("row %zu of the bodies: uid or mass is out of range", i);
  if (!(flags & TL_FLAG_STATIC) && !(tl_body_shape(&world->model, i)->volume > 0))
    WRONG("row %zu of the bodies: a %s cannot be free", i,
          tl_shape_kind_name(tl_body_shape(&world->model, i)->kind));
  return TALUS_OK;
}

/* Names must belong to existing bodies and be in the same order. */
static talus_status check_names(const talus_world *world) {
  size_t slot = 0;
  for (size_t i = 0; i < world->names.count; ++i) {
    const uint64_t uid = world->names.data[i].uid;
    while (slot < world->model.bodies && world->model.property.uid[slot] < uid)
      ++slot;
    if (slot == world->model.bodies || world->model.property.uid[slot] != uid)
      WRONG("row %zu of the names: there is no body %" PRIu64 ", or it has two names", i, uid);
    ++slot;
  }
  return TALUS_OK;
}

/* `seen` has a byte per handle. */
static talus_status check_free_handles(const talus_world *world, unsigned char *seen) {
  for (size_t i = 0; i < world->free_handles.count; ++i) {
    const uint32_t handle = world->free_handles.data[i];
    if (seen[handle])
      WRONG("row %zu of the free handles: handle %u is there twice", i, handle);
    seen[handle] = 1;
  }
  return TALUS_OK;
}

static talus_status check_handles(const talus_world *world) {
  const size_t n = world->handles.count;
  for (size_t i = 0; i < n; ++i) {
    const uint32_t slot = world->handles.data[i].slot;
    if (slot != TL_NONE && (slot >= world->model.bodies || world->model.property.handle[slot] != i))
      WRONG("row %zu of the handles: it is not the handle of its body", i);
  }
  void *seen = NULL;
  TL_TRY(tl_resize(&seen, 0, n));
  if (n > 0)
    memset(seen, 0, n);
  const talus_status status = check_free_handles(world, seen);
  (void)tl_resize(&seen, n, 0); /* freeing cannot fail */
  return status;
}

/* ---- flow ------------------------------------------------------------------------------------ */

/* Each emitter must be one that could be added now: it is added to a scratch flow. */
static talus_status check_emitters(const talus_world *world, tl_flow *scratch) {
  for (size_t i = 0; i < world->flow.emitters.count; ++i) {
    const talus_emitter_def *def = &world->flow.emitters.data[i].def;
    TL_TRY(tl_flow_add_emitter(scratch, &world->model, def));
    if (world->flow.emitters.data[i].returned > world->flow.emitters.data[i].serial)
      WRONG("emitter %zu: more bodies came back than there were", i);
    if (def->body.group > world->groups.count || (def->body.lock & ~(uint32_t)TL_FLAG_LOCKS))
      WRONG("emitter %zu: there is no such group or lock", i);
  }
  return TALUS_OK;
}

/* Grids were checked when the sums were assigned. */
static talus_status check_averages(const talus_world *world) {
  for (size_t i = 0; i < world->flow.averages.count; ++i) {
    const tl_average *average = &world->flow.averages.data[i];
    const bool on_wall = (average->record & TALUS_AVERAGE_WALL) != 0;
    const uint32_t slot = on_wall ? tl_world_slot_of(world, average->wall) : TL_NONE;
    const tl_shape *shape = slot != TL_NONE ? tl_body_shape(&world->model, slot) : NULL;
    if (!on_wall && (average->wall != 0 || average->segments != 0))
      WRONG("average %zu: it has a wall and does not record it", i);
    if (shape && (shape->kind != TALUS_REVOLVED || shape->point_count - 1 != average->segments))
      WRONG("average %zu: its wall has other segments", i);
    if (average->by_flights && (world->model.solve.kind != TALUS_SOLVE_ELASTIC ||
                                world->model.solve.shell == TALUS_SHELL_HARD))
      WRONG("average %zu: there are no flights", i);
    if (average->sums.count != tl_average_sum_count(average))
      WRONG("average %zu: it has other cells", i);
  }
  return TALUS_OK;
}

/* Members stand in the order in which zones go through them. */
static talus_status check_zones(const talus_world *world) {
  const tl_flow *flow = &world->flow;
  for (size_t i = 0; i < flow->zones.count; ++i) {
    const tl_zone *zone = &flow->zones.data[i];
    const talus_zone_def def = {.of = (talus_zone_of)zone->of,
                                .at = zone->at,
                                .group = zone->group,
                                .radius = zone->radius,
                                .strength = zone->strength,
                                .power = zone->power,
                                .shell = (talus_zone_shell)zone->shell,
                                .boundary = zone->boundary};
    TL_TRY(tl_zone_check(&def, "zone"));
    TL_TRY(tl_world_check_zone(world, &def));
    if (zone->group > world->groups.count || zone->with > world->groups.count)
      WRONG("zone %zu: there is no such group", i);
  }
  for (size_t i = 0; i < flow->members.count; ++i) {
    const tl_zone_member *now = &flow->members.data[i], *last = i > 0 ? now - 1 : NULL;
    if (now->zone >= flow->zones.count || !flow->zones.data[now->zone].trigger)
      WRONG("member %zu of zones: there is no such zone", i);
    if (last &&
        (last->zone > now->zone ||
         (last->zone == now->zone && (last->centre > now->centre ||
                                      (last->centre == now->centre && last->body >= now->body)))))
      WRONG("member %zu of zones: out of order", i);
  }
  return TALUS_OK;
}

static talus_status check_flow(const talus_world *world) {
  const tl_flow *flow = &world->flow;
  for (size_t i = 0; i < flow->sinks.count; ++i) {
    TL_TRY(tl_region_check(&flow->sinks.data[i].region, "sink"));
    if (flow->sinks.data[i].recycle > flow->emitters.count)
      WRONG("sink %zu: there is no emitter to recycle to", i);
  }
  for (size_t i = 0; i < flow->probes.count; ++i) {
    const tl_probe *probe = &flow->probes.data[i];
    const talus_probe_def def = {.on_body = probe->on_body,
                                 .on_joint = probe->on_joint,
                                 .region = probe->region,
                                 .record = probe->record,
                                 .sizes = probe->sizes,
                                 .size_count = probe->size_count,
                                 .every = probe->every};
    TL_TRY(tl_probe_check(&def, "probe"));
    if (probe->on_body && (probe->uid == 0 || probe->uid >= world->next_uid))
      WRONG("probe %zu: there was never a body %" PRIu64, i, probe->uid);
  }
  TL_TRY(check_averages(world));
  TL_TRY(check_zones(world));
  tl_flow scratch = {0};
  const talus_status status = check_emitters(world, &scratch);
  tl_flow_release(&scratch);
  return status;
}

/* ---- joints ---------------------------------------------------------------------------------- */

static bool is_unit(talus_quat q) { return tl_abs(tl_quat_dot(q, q) - 1) < TL_R(1e-3); }

static talus_status check_joints(const talus_world *world) {
  for (size_t i = 0; i < world->joints.all.count; ++i) {
    const tl_joint *joint = &world->joints.all.data[i];
    TL_TRY(tl_joint_check(&world->model, joint));
    if (joint->uid > world->joints.next_uid || (i > 0 && joint->uid <= (joint - 1)->uid))
      WRONG("row %zu of the joints: uids are out of order", i);
    if (!is_unit(joint->frame_a) || !is_unit(joint->frame_b) || !is_unit(joint->start_frame_a) ||
        !is_unit(joint->start_frame_b))
      WRONG("row %zu of the joints: a frame is not a rotation", i);
  }
  return TALUS_OK;
}

/* ---- courses --------------------------------------------------------------------------------- */

/* Tables must follow one another without rest. The world has the rows that they are written to. */
static talus_status check_courses(const talus_world *world) {
  const size_t total = world->course_values.count;
  size_t used = 0;
  for (size_t i = 0; i < world->courses.count; ++i) {
    const tl_course *course = &world->courses.data[i];
    const size_t columns = course->kind < TL_COURSES ? tl_course_columns(course->kind) : 1;
    if (course->kind >= TL_COURSES || course->first != used || used > total || course->rows == 0 ||
        course->rows > (total - course->first) / columns)
      WRONG("row %zu of the courses: there are no such values", i);
    TL_TRY(tl_course_check(course->kind, world->course_values.data + course->first, course->rows,
                           "a course"));
    used += course->rows * columns;
    const bool on_body = course->kind != TL_COURSE_MOTOR && course->kind != TL_COURSE_MAX;
    if (on_body && world->model.bodies > 0 &&
        (!world->model.property.force || !world->model.property.torque))
      WRONG("row %zu of the courses: bodies have no loads", i);
    if (course->kind == TL_COURSE_PRESS && !(course->max_speed > 0))
      WRONG("row %zu of the courses: a press has no speed", i);
  }
  if (used != total)
    WRONG("there are values of no course");
  return TALUS_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* Lengths of the steps that impulses belong to. */
static talus_status check_lengths(const talus_world *world) {
  if (!(world->contacts.dt >= 0) || !(world->joints.dt >= 0))
    WRONG("a step that left impulses was shorter than nothing");
  return TALUS_OK;
}

/* Steps that go on beyond the time of the file. */
static talus_status check_ahead(const talus_world *world) {
  uint32_t slot = 0;
  for (size_t i = 0; i < world->local.ahead.count; ++i, ++slot) {
    const tl_ahead *ahead = &world->local.ahead.data[i];
    while (slot < world->model.bodies && world->model.property.uid[slot] != ahead->uid)
      slot++;
    if (slot == world->model.bodies)
      WRONG("row %zu of those ahead: there is no such body, or it is not its turn", i);
    const tl_dquat q = ahead->law.rotation;
    const double length2 = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
    if (!is_unit(ahead->rotation) || !(fabs(length2 - 1) < 1e-3))
      WRONG("row %zu of those ahead: a rotation is not a unit quaternion", i);
    if (!(ahead->c > world->time) || !(ahead->begun < world->time) ||
        !(ahead->c - ahead->begun <= 2 * world->model.dt))
      WRONG("row %zu of those ahead: its step is not under way", i);
  }
  return TALUS_OK;
}

talus_status tl_checkpoint_check(const talus_world *world) {
  TL_TRY(tl_world_validate(world)); /* after it every index of a body may be followed */
  for (size_t i = 0; i < world->model.shapes.count; ++i)
    TL_TRY(check_shape(&world->model.shapes.data[i], i));
  TL_TRY(check_materials(world));
  TL_TRY(check_groups(world));
  TL_TRY(check_motions(&world->model));
  for (size_t i = 0; i < world->model.bodies; ++i)
    TL_TRY(check_body(world, i));
  TL_TRY(check_names(world));
  TL_TRY(check_handles(world));
  TL_TRY(check_joints(world));
  TL_TRY(check_lengths(world));
  TL_TRY(check_courses(world));
  TL_TRY(check_ahead(world));
  return check_flow(world);
}

#endif
