/* history.csv: one line per output time. Columns are a contract (docs/formats.md): new ones are
 * appended, none is moved. */
#include <math.h>

#include "base/clock.h"
#include "run/run.h"

#if TALUS_HAVE_HDF5

#define HEADER                                                                                     \
  "time,steps,bodies,pairs,contacts,kinetic_energy,potential_energy,px,py,pz,lx,ly,lz,"            \
  "residual_max,residual_rms,iterations,dt,wall_total,wall_broad,wall_narrow,wall_solve,"          \
  "wall_step,wall_output,state_hash,asleep,objective,rotational_energy,contact_work,load_work,"    \
  "flow_energy,joint_drift,joints_broken,elastic_energy,damping_work,friction_work,"               \
  "joint_force,joint_torque,overlap_max,overlap_share,sunk,made_energy,energy_corrections,"        \
  "unconverged,spring_energy,joint_work,collisions,outside,emitted,removed,"                       \
  "zone_energy,zone_work,dt_least,swept,short_steps,"                                              \
  "body_steps,body_steps_global,clusters,rounds,rendezvous,rollbacks,depth,window,"                \
  "inner,force_change,step_loss,comparisons,fallbacks\n"

#define WALL_COLUMN 17 /* wall_total, counted from 0 */

/* Wall times of the last line. Time between that line and the checkpoint is not counted: otherwise
 * two checkpoints of the same state would differ. */
static talus_status read_walls(tl_run *run) {
  char line[2048];
  TL_TRY(tl_lines_last(&run->history, line, sizeof line));
  const char *at = line;
  for (int column = 0; column < WALL_COLUMN + TL_WALLS; ++column) {
    if (column >= WALL_COLUMN) {
      const double value = strtod(at, NULL);
      run->wall[column - WALL_COLUMN] = isfinite(value) ? value : 0;
    }
    at = strchr(at, ',');
    if (!at)
      return tl_fail(TALUS_ERROR_FORMAT,
                     "%s: the last line has %d columns; it was changed, so the run can only begin "
                     "anew (--force)",
                     run->history.path, column + 1);
    at++;
  }
  return TALUS_OK;
}

/* A file that an older talus began has fewer columns. It keeps that number. */
static talus_status read_columns(tl_run *run) {
  char header[sizeof HEADER];
  TL_TRY(tl_lines_first(&run->history, header, sizeof header));
  int columns = 1;
  for (const char *at = header; *at; ++at)
    columns += *at == ',';
  run->history_columns = columns;
  return TALUS_OK;
}

static void cut_columns(tl_text *text, int columns) {
  for (size_t i = 0; columns > 0 && i < text->count; ++i)
    if (text->data[i] == ',' && --columns == 0) {
      text->data[i] = '\n';
      text->data[i + 1] = '\0';
      text->count = i + 1;
    }
}

talus_status tl_run_history_open(tl_run *run, uint64_t lines) {
  TL_TRY(tl_lines_open(&run->history, run->folder, run->folder_bytes + 1,
                       tl_run_path(run, "history.csv"), lines));
  if (lines > 0)
    TL_TRY(read_columns(run));
  if (lines > 1)
    return read_walls(run);
  return lines == 1 ? TALUS_OK : tl_lines_add(&run->history, HEADER, sizeof HEADER - 1);
}

talus_status tl_run_history_note(tl_run *run) {
  const tl_solve_report *solve = &run->world->last.solve;
  tl_run_worst *worst = &run->worst;
  worst->residual_max = fmax(worst->residual_max, solve->residual_max);
  worst->residual_rms = fmax(worst->residual_rms, solve->residual_rms);
  if (solve->iterations > worst->iterations)
    worst->iterations = solve->iterations;
  if (solve->inner > worst->inner)
    worst->inner = solve->inner;
  worst->force_change = fmax(worst->force_change, solve->force_change);
  double force, torque;
  TL_TRY(tl_need(&run->world->where, TL_THE(joints), TL_READ));
  tl_joints_loads(&run->world->joints, &force, &torque);
  worst->joint_force = fmax(worst->joint_force, force);
  worst->joint_torque = fmax(worst->joint_torque, torque);
  worst->overlap_max = fmax(worst->overlap_max, run->world->last.depths.most);
  worst->overlap_share = fmax(worst->overlap_share, run->world->last.depths.share);
  return TALUS_OK;
}

static void add_numbers(tl_text *text, const double *values, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    tl_text_add_number(text, values[i]);
    tl_text_add_bytes(text, ",", 1);
  }
}

static void format_line(tl_run *run, const talus_report *r, tl_text *text) {
  const double sums[] = {r->kinetic_energy,      r->potential_energy,    r->momentum[0],
                         r->momentum[1],         r->momentum[2],         r->angular_momentum[0],
                         r->angular_momentum[1], r->angular_momentum[2], run->worst.residual_max,
                         run->worst.residual_rms};
  const double walls[TL_WALLS] = {[TL_WALL_TOTAL] = tl_clock() - run->began,
                                  [TL_WALL_BROAD] = r->wall_broad,
                                  [TL_WALL_NARROW] = r->wall_narrow,
                                  [TL_WALL_SOLVE] = r->wall_solve,
                                  [TL_WALL_STEP] = r->wall_step,
                                  [TL_WALL_OUTPUT] = run->wall_output};
  const double later[] = {r->objective, r->rotational_energy, r->contact_work,
                          r->load_work, r->flow_energy,       r->joint_drift};
  add_numbers(text, &r->time, 1);
  tl_text_add(text, "%llu,%zu,%zu,%zu,", (unsigned long long)r->steps, r->bodies, r->pairs,
              r->contacts);
  add_numbers(text, sums, sizeof sums / sizeof *sums);
  tl_text_add(text, "%d,", run->worst.iterations);
  add_numbers(text, &run->dt, 1);
  for (int i = 0; i < TL_WALLS; ++i)
    tl_text_add(text, "%.6f,", run->wall[i] + walls[i]);
  tl_text_add(text, "%016llx,%zu", (unsigned long long)talus_world_hash(run->world), r->asleep);
  for (size_t i = 0; i < sizeof later / sizeof *later; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, later[i]);
  }
  tl_text_add(text, ",%zu", r->joints_broken);
  const double springs[] = {r->elastic_energy,       r->damping_work,
                            r->friction_work,        run->worst.joint_force,
                            run->worst.joint_torque, run->worst.overlap_max,
                            run->worst.overlap_share};
  for (size_t i = 0; i < sizeof springs / sizeof *springs; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, springs[i]);
  }
  tl_text_add(text, ",%llu", (unsigned long long)r->sunk);
  tl_text_add_bytes(text, ",", 1);
  tl_text_add_number(text, r->made_energy);
  tl_text_add(text, ",%llu,%llu", (unsigned long long)r->energy_corrections,
              (unsigned long long)r->unconverged);
  const double joints[] = {r->spring_energy, r->joint_work};
  for (size_t i = 0; i < sizeof joints / sizeof *joints; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, joints[i]);
  }
  tl_text_add(text, ",%llu,%zu,%llu,%llu", (unsigned long long)r->collisions, r->outside,
              (unsigned long long)r->emitted, (unsigned long long)r->removed);
  const double zones[] = {r->zone_energy, r->zone_work};
  for (size_t i = 0; i < sizeof zones / sizeof *zones; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, zones[i]);
  }
  tl_text_add_bytes(text, ",", 1);
  tl_text_add_number(text, r->dt_least);
  tl_text_add(text, ",%llu,%llu", (unsigned long long)r->swept, (unsigned long long)r->short_steps);
  const uint64_t local[] = {r->local.body_steps, r->local.body_steps_global, r->local.clusters,
                            r->local.rounds,     r->local.rendezvous,        r->local.rollbacks};
  for (size_t i = 0; i < sizeof local / sizeof *local; ++i)
    tl_text_add(text, ",%llu", (unsigned long long)local[i]);
  const double ahead[] = {r->local.depth, r->local.window};
  for (size_t i = 0; i < sizeof ahead / sizeof *ahead; ++i) {
    tl_text_add_bytes(text, ",", 1);
    tl_text_add_number(text, ahead[i]);
  }
  tl_text_add(text, ",%d,", run->worst.inner);
  tl_text_add_number(text, run->worst.force_change);
  tl_text_add_bytes(text, ",", 1);
  tl_text_add_number(text, r->step_loss);
  tl_text_add(text, ",%llu,%llu\n", (unsigned long long)r->comparisons,
              (unsigned long long)r->fallbacks);
}

talus_status tl_run_history_add(tl_run *run) {
  talus_report report;
  TL_TRY(talus_world_report(run->world, &report));
  tl_text text = {0};
  format_line(run, &report, &text);
  talus_status status = text.status;
  if (status == TALUS_OK)
    cut_columns(&text, run->history_columns);
  if (status == TALUS_OK)
    status = tl_lines_add(&run->history, text.data, text.count);
  tl_text_drop(&text);
  run->worst = (tl_run_worst){0};
  run->world->adaptive.least = 0;
  return status;
}

#endif
