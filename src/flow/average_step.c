/* Averages: adds one step.
 *
 * First all threads find the cells of bodies; then the cells are divided among threads, in small
 * runs, and each thread goes through all bodies and adds those of its own cells. So a cell adds its
 * bodies in the order of slots, and no sum depends on the number of threads. Many bodies in few
 * cells use another method (average_runs.c). */
#include "crowd/flights.h"
#include "flow/average.h"
#include "kernels/revolved.h"

#define OUTSIDE UINT32_MAX
#define RUN     16u /* cells that belong to one thread */

typedef struct average_job {
  tl_average *average;
  const tl_crowd *crowd;
  const tl_contacts *contacts;
  talus_dvec3 per_edge;      /* 1/m */
  const tl_flights *flights; /* NULL: bodies count at the end of the step */
  uint32_t *cell;            /* by body */
  uint32_t *flown;           /* by flight */
  uint32_t (*cell_of)[2];    /* by contact: cells of its two bodies */
  double (*virial)[2];       /* J s */
  uint16_t *owner;           /* by run of cells: the worker that adds to them */
  uint32_t workers;
  bool has_places; /* sums of positions are recorded */
  bool has_runs;   /* bodies are added by average_runs.c */
} average_job;

/* ---- cells ----------------------------------------------------------------------------------- */

/* A position in the frame of the grid, and the rotation of vectors into that frame. */
typedef struct grid_place {
  talus_dvec3 at;
  double c, s; /* cosine and sine of the azimuth, on rings */
} grid_place;

static inline talus_dvec3 find_place(const tl_average *average, talus_dvec3 x) {
  if (average->grid != TALUS_GRID_RZ)
    return tl_dsub(x, average->box.lo);
  const double dx = x.x - average->axis[0], dy = x.y - average->axis[1];
  return tl_dvec3(sqrt(dx * dx + dy * dy), 0, x.z - average->box.lo.z);
}

static inline grid_place place_of(const tl_average *average, talus_dvec3 x) {
  const talus_dvec3 at = find_place(average, x);
  if (average->grid != TALUS_GRID_RZ)
    return (grid_place){at, 1, 0};
  const double dx = x.x - average->axis[0], dy = x.y - average->axis[1];
  const double per_across = 1 / at.x;
  return (grid_place){at, at.x > 0 ? dx * per_across : 1, at.x > 0 ? dy * per_across : 0};
}

/* The highest cells include their upper border: a body in the corner of a box belongs to one. */
static inline bool along(double at, double per_edge, uint32_t cells, uint32_t *i) {
  const double t = at * per_edge;
  if (!(t >= 0) || !(t <= (double)cells))
    return false;
  *i = t < (double)cells ? (uint32_t)t : cells - 1;
  return true;
}

static inline uint32_t cell_at(const average_job *job, talus_dvec3 x) {
  const tl_average *average = job->average;
  const talus_dvec3 at = find_place(average, x);
  uint32_t i, j, k;
  if (!along(at.x, job->per_edge.x, average->cells[0], &i) ||
      !along(at.y, job->per_edge.y, average->cells[1], &j) ||
      !along(at.z, job->per_edge.z, average->cells[2], &k))
    return OUTSIDE;
  return i + average->cells[0] * (j + average->cells[1] * k);
}

/* The last flight of a body, until the end of the step. */
static tl_flight last_flight(const average_job *job, size_t i) {
  const tl_crowd *crowd = job->crowd;
  const talus_dvec3 x = crowd->out->position[i], v = tl_widen(crowd->out->velocity[i]);
  const bool is_falling = crowd->model->step == TALUS_STEP_EVENT;
  const talus_dvec3 fall = is_falling ? tl_widen(crowd->model->gravity) : tl_dvec3(0, 0, 0);
  return tl_flight_of(x, v, fall, crowd->dt - job->flights->since.data[i], (uint32_t)i);
}

static uint32_t cell_of(const average_job *job, const tl_flight *flight) {
  return cell_at(job, tl_place_wrap(job->crowd->model, flight->middle));
}

static void find_cells(void *context, size_t begin, size_t end) {
  const average_job *job = context;
  const talus_dvec3 *position = job->crowd->out->position;
  for (size_t i = begin; i < end; ++i) {
    if (tl_body_is_static(job->crowd->model, i)) {
      job->cell[i] = OUTSIDE;
    } else if (!job->flights) {
      job->cell[i] = cell_at(job, position[i]);
    } else {
      const tl_flight flight = last_flight(job, i);
      job->cell[i] = cell_of(job, &flight);
    }
  }
}

static void find_cells_of_flights(void *context, size_t begin, size_t end) {
  const average_job *job = context;
  for (size_t i = begin; i < end; ++i)
    job->flown[i] = cell_of(job, &job->flights->rows.data[i]);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static inline void add_sample(const average_job *job, talus_dvec3 x, talus_dvec3 v, double w,
                              size_t slot, double *sum) {
  const grid_place place = place_of(job->average, x);
  const double mass = w * (double)job->crowd->model->property.mass[slot];
  sum[TL_SUM_COUNT] += w;
  sum[TL_SUM_MASS] += mass;
  sum[TL_SUM_MOMENTUM] += mass * (place.c * v.x + place.s * v.y);
  sum[TL_SUM_MOMENTUM + 1] += mass * (place.c * v.y - place.s * v.x);
  sum[TL_SUM_MOMENTUM + 2] += mass * v.z;
  sum[TL_SUM_SQUARE] += mass * tl_ddot(v, v);
  if (!job->has_places)
    return;
  sum[TL_SUM_PLACE] += mass * place.at.x;
  sum[TL_SUM_PLACE + 1] += mass * place.at.y;
  sum[TL_SUM_PLACE + 2] += mass * place.at.z;
}

static void add_flight(const average_job *job, tl_flight flight, double *sum) {
  add_sample(job, tl_place_wrap(job->crowd->model, flight.middle), flight.velocity, flight.span,
             flight.slot, sum);
}

static bool is_mine(const average_job *job, uint32_t cell, size_t worker) {
  return cell != OUTSIDE && job->owner[cell / RUN] == worker;
}

static void add_share(void *context, size_t worker, size_t end) {
  const average_job *job = context;
  const tl_crowd *crowd = job->crowd;
  double *sums = job->average->sums.data;
  (void)end;
  for (size_t i = 0; !job->has_runs && i < job->crowd->count; ++i)
    if (is_mine(job, job->cell[i], worker)) {
      double *sum = sums + TL_SUMS * (size_t)job->cell[i];
      if (job->flights)
        add_flight(job, last_flight(job, i), sum);
      else
        add_sample(job, crowd->out->position[i], tl_widen(crowd->out->velocity[i]), crowd->dt, i,
                   sum);
    }
  for (size_t i = 0; job->flights && i < job->flights->rows.count; ++i)
    if (is_mine(job, job->flown[i], worker))
      add_flight(job, job->flights->rows.data[i], sums + TL_SUMS * (size_t)job->flown[i]);
  if (!(job->average->record & TALUS_AVERAGE_PRESSURE))
    return;
  for (size_t i = 0; i < job->contacts->count; ++i)
    for (int side = 0; side < 2; ++side)
      if (is_mine(job, job->cell_of[i][side], worker))
        sums[TL_SUMS * (size_t)job->cell_of[i][side] + TL_SUM_VIRIAL] += job->virial[i][side];
}

/* ---- contacts -------------------------------------------------------------------------------- */

/* Each of the two bodies adds its part of the virial to the cell where its centre was at the
 * time. */
static void find_virials(void *context, size_t begin, size_t end) {
  const average_job *job = context;
  const tl_model *model = job->crowd->model;
  for (size_t i = begin; i < end; ++i) {
    const tl_contact *contact = &job->contacts->data[i];
    const talus_vec3 impulse = tl_contacts_impulse(job->contacts, i);
    for (int side = 0; side < 2; ++side) {
      const uint32_t slot = side == 0 ? contact->a : contact->b;
      job->cell_of[i][side] = OUTSIDE;
      if (tl_body_is_static(model, slot) || !(tl_length2(impulse) > 0))
        continue;
      const talus_dvec3 arm = tl_widen(tl_flow_arm(job->crowd, job->contacts, i, slot));
      const double work = tl_ddot(arm, tl_widen(impulse));
      job->virial[i][side] = side == 0 ? work : -work;
      job->cell_of[i][side] = cell_at(job, tl_place_wrap(model, tl_dsub(contact->point, arm)));
    }
  }
}

/* ---- walls ----------------------------------------------------------------------------------- */

/* The impulse on a corner is divided equally between its two segments. */
static void add_to_wall(double *sums, const tl_revolved *wall, uint32_t feature, double impulse) {
  const uint32_t place = feature % TL_REVOLVED_TURN;
  if (place % 2 == 1) {
    sums[place / 2] += impulse;
    return;
  }
  uint32_t next[2];
  tl_wall_corner_segments(wall, place / 2, next);
  for (int k = 0; k < 2; ++k)
    if (next[k] != UINT32_MAX)
      sums[next[k]] += next[1 - k] == UINT32_MAX ? impulse : 0.5 * impulse;
}

static void add_wall(const average_job *job) {
  const tl_model *model = job->crowd->model;
  const uint32_t slot = tl_flow_find_slot(model, job->average->wall);
  if (slot == TL_NONE)
    return;
  const tl_shape *shape = tl_body_shape(model, slot);
  const tl_revolved wall = {.profile = shape->points, .count = shape->point_count, .scale = 1};
  double *sums = job->average->sums.data + TL_SUMS * tl_average_cells(job->average);
  for (size_t i = 0; i < job->contacts->count; ++i) {
    const tl_contact *contact = &job->contacts->data[i];
    if (contact->a != slot && contact->b != slot)
      continue;
    const double impulse = (double)tl_dot(tl_contacts_impulse(job->contacts, i), contact->normal);
    add_to_wall(sums, &wall, contact->a == slot ? contact->feature_a : contact->feature_b, impulse);
  }
}

/* ---- a step ---------------------------------------------------------------------------------- */

static size_t runs_of(const tl_average *average) { return tl_average_cells(average) / RUN + 1; }

static talus_status add_step(average_job *job) {
  const tl_par *par = &job->crowd->model->par;
  const talus_dvec3 edges = tl_average_edges(job->average);
  job->per_edge = tl_dvec3(1 / edges.x, 1 / edges.y, 1 / edges.z);
  job->average->weight += job->crowd->dt;
  const tl_flights *flights =
      job->crowd->flights; /* none if a flight was added since the step began */
  const bool has_flights = flights && flights->since.count == job->crowd->count;
  job->flights = job->average->by_flights && has_flights ? flights : NULL;
  job->has_runs = !job->flights && tl_average_has_runs(job->average, job->crowd);
  if (job->has_runs)
    TL_TRY(tl_average_add_runs(job->average, job->crowd, edges));
  else
    tl_for(par, job->crowd->count, 0, find_cells, job);
  if (job->flights)
    tl_for(par, job->flights->rows.count, 0, find_cells_of_flights, job);
  if (job->average->record & TALUS_AVERAGE_PRESSURE)
    tl_for(par, job->contacts->count, 0, find_virials, job);
  const bool is_worth_it = (job->has_runs ? 0 : job->crowd->count) + job->contacts->count > 4096;
  const tl_par all = tl_par_if(par, is_worth_it && !par->is_alone);
  job->workers = (uint32_t)all.threads;
  job->has_places = tl_average_has_slope(job->average);
  for (size_t i = 0; i < runs_of(job->average); ++i)
    job->owner[i] = (uint16_t)(i % job->workers); /* at most TL_PAR_MOST workers */
  tl_deal(&all, job->workers, add_share, job);
  if (job->average->record & TALUS_AVERAGE_WALL)
    add_wall(job);
  return TALUS_OK;
}

bool tl_flow_wants_flights(const tl_flow *flow) {
  for (size_t i = 0; i < flow->averages.count; ++i)
    if (flow->averages.data[i].by_flights)
      return true;
  return false;
}

talus_status tl_flow_average(tl_flow *flow, const tl_crowd *crowd, const tl_contacts *contacts) {
  average_job job = {.crowd = crowd, .contacts = contacts};
  bool has_contacts = false;
  size_t runs = 0;
  if (flow->averages.count == 0)
    return TALUS_OK;
  for (size_t i = 0; i < flow->averages.count; ++i) {
    const tl_average *average = &flow->averages.data[i];
    has_contacts = has_contacts || (average->record & TALUS_AVERAGE_PRESSURE);
    runs = runs_of(average) > runs ? runs_of(average) : runs;
  }
  const tl_arena_mark mark = tl_arena_get_mark(crowd->arena);
  TL_TAKE(crowd->arena, crowd->count, &job.cell);
  TL_TAKE(crowd->arena, runs, &job.owner);
  TL_TAKE(crowd->arena, crowd->flights ? crowd->flights->rows.count : 0, &job.flown);
  TL_TAKE(crowd->arena, has_contacts ? contacts->count : 0, &job.cell_of);
  TL_TAKE(crowd->arena, has_contacts ? contacts->count : 0, &job.virial);
  for (size_t i = 0; i < flow->averages.count; ++i) {
    job.average = &flow->averages.data[i];
    TL_TRY(add_step(&job));
  }
  tl_arena_release(crowd->arena, mark);
  return TALUS_OK;
}
