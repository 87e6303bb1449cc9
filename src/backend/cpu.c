#include "backend/backend.h"

const tl_backend tl_backend_cpu = {
    .name = "cpu",
    .find_bounds = tl_shape_find_bounds,
    .find_pairs = tl_broad_find_pairs,
    .find_contacts = tl_narrow_add_contacts,
    .solve = tl_solve,
    .find_forces = tl_penalty_find_forces,
};
