/* Chooses the contact model by one word of the scene: solve: {kind: ...}. */
#include "solve/solve.h"

talus_status tl_solve(const tl_crowd *crowd, tl_contacts *contacts, tl_twists *twists,
                      tl_solve_report *report) {
  const tl_model *model = crowd->model;
  switch (model->solve.kind) {
  case TALUS_SOLVE_CCP:
    return tl_ccp_solve(crowd, contacts, twists, report);
  case TALUS_SOLVE_IMPULSE:
    return tl_impulse_solve(crowd, contacts, twists, report);
  case TALUS_SOLVE_ELASTIC:
    return tl_elastic_solve(crowd, contacts, twists, report);
  case TALUS_SOLVE_PENALTY:
    break;
  }
  return tl_fail(TALUS_ERROR_UNSUPPORTED,
                 "penalty does not work with this stepper; use step: fixed");
}

talus_status tl_solve_make_plan(const tl_crowd *crowd, tl_contacts *contacts,
                                const struct tl_solve_plan **plan) {
  *plan = NULL;
  if (crowd->model->solve.kind != TALUS_SOLVE_CCP || crowd->joints || contacts->count == 0)
    return TALUS_OK;
  return tl_ccp_make_plan(crowd, contacts, plan);
}
