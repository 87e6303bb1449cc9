/* joints.csv: force and position of each joint, one line per joint and output time. A chain of
 * thousands would make it the largest file of the folder: scenes with more than TL_RUN_JOINTS_ALL
 * joints record only joints with a name. This is decided when the run begins and kept in the
 * checkpoint, because joints can be removed with their bodies. Joints without a name are written as
 * numbers; if a number is the name of another joint, a mark precedes it. */
#include "joint/joint.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

static const char head[] = "time,joint,fx,fy,fz,tx,ty,tz,drift,value,broken\n";

static talus_status open_file(tl_run *run, uint64_t keep) {
  return tl_lines_open(&run->joints, run->folder, run->folder_bytes + 1,
                       tl_run_path(run, "joints.csv"), keep);
}

talus_status tl_run_joints_go_on(tl_run *run, uint64_t keep) {
  return keep > 0 ? open_file(run, keep) : TALUS_OK;
}

/* Whether a joint has a name that consists of so many marks and a number. */
static bool is_taken(const tl_joints *joints, size_t marks) {
  for (size_t i = 0; i < joints->all.count; ++i) {
    const char *name = joints->all.data[i].name;
    if (!name || strspn(name, "#") != marks)
      continue;
    const size_t digits = strspn(name + marks, "0123456789");
    if (digits > 0 && name[marks + digits] == '\0')
      return true;
  }
  return false;
}

talus_status tl_run_joints_open(tl_run *run) {
  const size_t joints = talus_world_joint_count(run->world);
  if (joints == 0)
    return TALUS_OK;
  TL_TRY(open_file(run, 0));
  run->joints_all = joints <= TL_RUN_JOINTS_ALL;
  run->joint_marks = 0;
  while (run->joints_all && is_taken(&run->world->joints, run->joint_marks))
    run->joint_marks++; /* by at most one for each joint */
  if (!run->joints_all)
    tl_run_log_add(&run->log, TL_LOG_INFO,
                   "the scene has %zu joints: joints.csv records those that have a name (up to %d "
                   "it records all)",
                   joints, TL_RUN_JOINTS_ALL);
  return tl_lines_add(&run->joints, head, sizeof head - 1);
}

/* RFC 4180: a field with a comma or a quote is put in quotes, and its quotes are doubled. A line
 * end within a name becomes a blank, because lines are counted. */
static void add_name(tl_text *text, const tl_joint *joint, uint64_t marks) {
  if (!joint->name) {
    for (uint64_t i = 0; i < marks; ++i)
      tl_text_add_bytes(text, "#", 1);
    tl_text_add(text, "%llu", (unsigned long long)joint->uid);
  } else {
    const bool quoted = strpbrk(joint->name, ",\"") != NULL;
    if (quoted)
      tl_text_add_bytes(text, "\"", 1);
    for (const char *at = joint->name; *at; ++at)
      tl_text_add(text, "%s%c", *at == '"' ? "\"" : "", *at == '\n' || *at == '\r' ? ' ' : *at);
    if (quoted)
      tl_text_add_bytes(text, "\"", 1);
  }
}

static void format_line(const tl_run *run, const tl_joint *joint, tl_text *text) {
  const talus_dvec3 f = tl_widen(joint->force), t = tl_widen(joint->torque);
  const double values[] = {f.x, f.y, f.z, t.x, t.y, t.z, joint->drift, joint->value};
  tl_text_add_number(text, talus_world_time(run->world));
  tl_text_add_bytes(text, ",", 1);
  add_name(text, joint, run->joint_marks);
  for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, values[i]);
  }
  tl_text_add(text, ",%d\n", joint->broken ? 1 : 0);
}

/* All lines of one output time are written with one call: the file has all of them or none. */
talus_status tl_run_joints_add(tl_run *run) {
  const tl_joints *joints = &run->world->joints;
  if (run->joints.fd < 0)
    return TALUS_OK;
  TL_TRY(tl_need(&run->world->where, TL_THE(joints) | TL_THE_POSE, TL_READ));
  tl_text text = {0};
  for (size_t i = 0; i < joints->all.count; ++i)
    if (run->joints_all || joints->all.data[i].name)
      format_line(run, &joints->all.data[i], &text);
  talus_status status = text.status;
  if (status == TALUS_OK)
    status = tl_lines_add(&run->joints, text.data, text.count);
  tl_text_drop(&text);
  return status;
}

talus_status tl_run_joints_sync(tl_run *run) {
  return run->joints.fd < 0 ? TALUS_OK : tl_lines_sync(&run->joints);
}

#endif
