/* Sinks: regions that remove bodies which enter them. */
#include "flow/place.h"

talus_status tl_flow_add_sink(tl_flow *flow, const char *name, const talus_region *region) {
  const tl_flow_label what = tl_flow_describe("sink", name, flow->sinks.count);
  TL_TRY(tl_region_check(region, what.text));
  if (!(tl_region_volume(region) > 0))
    return tl_fail(TALUS_ERROR_INVALID,
                   "%s: the region is flat, so no centre is ever found in it; give it a thickness",
                   what.text);
  TL_TRY(tl_array_reserve(&flow->sinks, flow->sinks.count + 1));
  tl_sink sink = {.region = *region};
  TL_TRY(tl_flow_copy_name(&sink.name, name));
  flow->sinks.data[flow->sinks.count++] = sink;
  return TALUS_OK;
}

static bool is_called(const char *name, const char *wanted) {
  return name && wanted && strcmp(name, wanted) == 0;
}

talus_status tl_flow_recycle(tl_flow *flow, const char *sink, const char *emitter) {
  size_t from = 0, to = 0;
  while (from < flow->sinks.count && !is_called(flow->sinks.data[from].name, sink))
    from++;
  while (to < flow->emitters.count && !is_called(flow->emitters.data[to].def.name, emitter))
    to++;
  if (from == flow->sinks.count)
    return tl_fail(TALUS_ERROR_INVALID, "there is no sink '%s' to recycle from", sink ? sink : "");
  if (to == flow->emitters.count)
    return tl_fail(TALUS_ERROR_INVALID, "sink '%s': there is no emitter '%s' to recycle to", sink,
                   emitter ? emitter : "");
  flow->sinks.data[from].recycle = (uint32_t)to + 1;
  return TALUS_OK;
}

uint32_t tl_flow_sink_of(const tl_flow *flow, const tl_model *model, talus_dvec3 x) {
  for (size_t i = 0; i < flow->sinks.count; ++i)
    if (tl_region_holds(model, &flow->sinks.data[i].region, x))
      return (uint32_t)i;
  return UINT32_MAX;
}

size_t tl_flow_sink(tl_flow *flow, const tl_model *model, const tl_state *state, uint8_t *remove) {
  if (flow->sinks.count == 0)
    return 0;
  size_t newly = 0;
  for (size_t slot = 0; slot < model->bodies; ++slot) {
    if (tl_body_is_static(model, slot) || remove[slot] != 0)
      continue;
    for (size_t i = 0; i < flow->sinks.count; ++i) {
      tl_sink *sink = &flow->sinks.data[i];
      if (!tl_region_holds(model, &sink->region, state->position[slot]))
        continue;
      remove[slot] = 1;
      sink->removed++;
      if (sink->recycle > 0)
        flow->emitters.data[sink->recycle - 1].owed++;
      newly++;
      break;
    }
  }
  return newly;
}
