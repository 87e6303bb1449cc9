/* Balls on springs when a step fails: memory that runs out, numbers that break. */
#include "penalty_heap.h"
#include "refuse.h"

#include <unistd.h>

/* Between steps the state is in the list alone; where the next one cannot even begin, because the
 * arena was to be made smaller and there is no memory for that, it is handed over all the same. */
TEST(state_is_there_when_memory_runs_out_between_steps) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 10));
  void *large;
  CHECK_OK(tl_arena_take(&world->arena, (size_t)1 << 24, 1, &large));
  CHECK_OK(tl_arena_reset(&world->arena));
  world->arena.recent = 0;
  world->arena.resets = TL_ARENA_MEMORY - 4;
  refuses = true;
  CHECK(talus_world_step(world, 10) == TALUS_ERROR_MEMORY);
  refuses = false;
  const uint64_t steps = talus_world_steps(world);
  CHECK_MSG(steps > 11 && steps < 20, "%llu steps", (unsigned long long)steps);
  CHECK_OK(talus_world_step(other, steps));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  CHECK_OK(talus_world_step(world, 10));
  CHECK_OK(talus_world_step(other, 10));
  CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
}

/* Walls that go the general way are found again in every step, with scratch of their own; forces
 * are not known then, where the list has just been renewed. */
TEST(state_is_there_when_memory_runs_out_within_a_step) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  for (int renews = 0; renews < 2; ++renews) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world = heap(&def, 100, false);
    talus_shape_def shape = talus_shape_def_default();
    talus_body_def body = talus_body_def_default();
    shape.kind = TALUS_BOX, shape.size[0] = shape.size[1] = 0.2, shape.size[2] = 0.02;
    body.kind = TALUS_FIXED;
    CHECK_OK(talus_world_add_shape(world, &shape, &body.shape));
    CHECK_OK(talus_world_add_body(world, &body, NULL));
    CHECK_OK(talus_world_step(world, 300));
    tl_ball_list *list = list_of(world);
    list->has_left = renews; /* so that the next renewal finds all that it needs */
    CHECK_OK(talus_world_step(world, 1));
    const uint64_t hash = talus_world_hash(world), renewals = list->renewals;
    bring_home(world);
    const size_t contacts = world->contacts.count;
    CHECK(list->walls.count > 0 && contacts > 20 && list->is_started);
    list->has_left = renews;
    tl_array_free(&list->wall_before); /* has to be taken anew, and cannot be */
    refuses = true;
    CHECK(talus_world_step(world, 1) == TALUS_ERROR_MEMORY);
    refuses = false;
    CHECK_EQ_U64(list->renewals, renewals + (renews ? 1 : 0));
    CHECK_EQ_U64(talus_world_hash(world), hash);
    bring_home(world);
    CHECK_MSG(world->contacts.count > contacts / 2, "%zu of %zu contacts", world->contacts.count,
              contacts);
    for (size_t i = 0; i < world->contacts.count; ++i)
      CHECK(tl_length2(world->contacts.data[i].impulse) < 1);
    CHECK_OK(talus_world_step(world, 100));
    talus_world_destroy(world);
  }
}

/* Steps went well and there is no memory to store their contacts: who wants to change a body then
 * is told so and nothing has happened; once there is memory all goes on as if it had been there. */
TEST(springs_are_never_those_of_steps_ago) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  for (int removes = 0; removes < 2; ++removes) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world[2] = {heap(&def, 100, false), heap(&def, 100, false)};
    for (int i = 0; i < 2; ++i) {
      CHECK_OK(talus_world_step(world[i], 700));
      bring_home(world[i]);
      CHECK(world[i]->contacts.count > 20);
      CHECK_OK(talus_world_step(world[i], 300));
    }
    tl_array_free(&world[0]->contacts.springs); /* has to be taken anew, and cannot be */
    const uint64_t hash = talus_world_hash(world[0]);
    for (int again = 0; again < 2; ++again)
      for (int i = 0; i < 1 + again; ++i) {
        talus_body body;
        const talus_vec3 velocity = {TL_R(0.01), 0, 0}, spin = {0, 0, 0};
        CHECK_OK(talus_world_body_at(world[i], 50, &body));
        refuses = again == 0;
        const talus_status status = removes
                                        ? talus_world_remove_body(world[i], body)
                                        : talus_body_set_velocity(world[i], body, velocity, spin);
        refuses = false;
        CHECK(status == (again ? TALUS_OK : TALUS_ERROR_MEMORY));
        CHECK(again || talus_world_hash(world[0]) == hash);
      }
    bring_home(world[0]);
    CHECK(world[0]->contacts.count > 0 && tl_contacts_have_springs(&world[0]->contacts));
    for (int i = 0; i < 2; ++i)
      CHECK_OK(talus_world_step(world[i], 1));
    CHECK_EQ_U64(talus_world_hash(world[0]), talus_world_hash(world[1]));
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
  }
}

/* Contacts that could not be stored: nobody reads those of steps ago, and what is saved as soon as
 * there is memory again is what would have been saved with it. */
TEST(world_is_saved_with_the_contacts_of_its_last_step) {
  if (!REFUSES_MEMORY || !TALUS_HAVE_HDF5)
    SKIP("no HDF5, or memory cannot be made to run out here");
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false), *loaded;
  CHECK_OK(talus_world_step(world, 700));
  CHECK_OK(talus_world_step(other, 1000));
  bring_home(world);
  bring_home(other);
  CHECK(world->contacts.count > 20 && world->contacts.count != other->contacts.count);
  CHECK_OK(talus_world_step(world, 299));
  tl_array_free(&world->contacts.springs); /* has to be taken anew, and cannot be */
  refuses = true;
  CHECK_OK(talus_world_step(world, 1));
  CHECK_EQ_U64(talus_world_steps(world), 1000);
  size_t count;
  CHECK(talus_world_contacts(world, NULL, 0, &count) == TALUS_ERROR_MEMORY);
  CHECK_EQ_U64(count, 0);
  unlink("late.hdf"), unlink("late_contacts.hdf");
  CHECK(talus_world_save(world, "late.hdf") == TALUS_ERROR_MEMORY);
  CHECK(talus_world_write_contacts(world, "late_contacts.hdf") == TALUS_ERROR_MEMORY);
  CHECK(access("late.hdf", F_OK) != 0 && access("late_contacts.hdf", F_OK) != 0);
  refuses = false;
  CHECK_OK(talus_world_save(world, "late.hdf"));
  CHECK_OK(talus_world_load("late.hdf", &loaded));
  CHECK_EQ_U64(loaded->contacts.count, other->contacts.count);
  for (size_t i = 0; i < loaded->contacts.count; ++i) {
    const tl_contact *p = &loaded->contacts.data[i], *q = &other->contacts.data[i];
    CHECK(p->a == q->a && p->b == q->b && p->gap == q->gap && p->impulse.z == q->impulse.z);
  }
  CHECK_EQ_U64(report_of(loaded).pairs, report_of(other).pairs);
  CHECK_OK(talus_world_step(loaded, 100));
  CHECK_OK(talus_world_step(other, 100));
  CHECK_EQ_U64(talus_world_hash(loaded), talus_world_hash(other));
  talus_world_destroy(world);
  talus_world_destroy(other);
  talus_world_destroy(loaded);
}

TEST(report_counts_the_contacts_of_the_last_step) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 999));
  CHECK_OK(talus_world_step(other, 1000));
  tl_array_free(&world->contacts.springs); /* has to be taken anew, and cannot be */
  refuses = true;
  CHECK_OK(talus_world_step(world, 1));
  talus_report report;
  CHECK(talus_world_report(world, &report) == TALUS_ERROR_MEMORY);
  refuses = false;
  const talus_report is = report_of(world), as = report_of(other);
  CHECK(is.contacts > 20 && is.contacts == as.contacts && is.contacts_near == as.contacts_near);
  CHECK_EQ_U64(is.pairs, as.pairs);
  size_t count;
  CHECK_OK(talus_world_contacts(world, NULL, 0, &count));
  CHECK_EQ_U64(count, as.contacts_near);
  talus_world_destroy(world);
  talus_world_destroy(other);
}

/* Contacts are in the list alone, and it goes while there is no memory to store them: because a
 * step fails before it has touched it (0) or with half of a new one (1). */
static void lose_contacts(talus_world *world, int how) {
  tl_ball_list *list = list_of(world);
  bring_home(world);
  CHECK_OK(talus_world_step(world, 300));
  CHECK(!tl_is_home(&world->where, TL_THE_CONTACTS) && !tl_lost(&world->where));
  tl_array_free(
      &world->contacts.springs); /* has to be taken anew, and cannot be; as what follows */
  list->has_left = true;
  if (how == 0)
    tl_array_free(&list->skin);
  else
    tl_array_free(&list->material);
  refuses = true;
  CHECK(talus_world_step(world, 1) == TALUS_ERROR_MEMORY);
  refuses = false;
}

static void check_says_lost(talus_status status, const char *file) {
  CHECK(status == TALUS_ERROR_MEMORY);
  CHECK_MSG(strstr(talus_last_error(), "are lost") && strstr(talus_last_error(), "step once more"),
            "%s", talus_last_error());
  if (file)
    CHECK_MSG(strstr(talus_last_error(), file) && access(file, F_OK) != 0, "%s",
              talus_last_error());
}

/* Nobody is told that there are none. */
TEST(lost_contacts_are_missed_until_a_step_goes_well) {
  if (!REFUSES_MEMORY || !TALUS_HAVE_HDF5)
    SKIP("no HDF5, or memory cannot be made to run out here");
  for (int how = 0; how < 2; ++how) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world = heap(&def, 100, false), *loaded;
    talus_report report;
    size_t count;
    CHECK_OK(talus_world_step(world, 700));
    lose_contacts(world, how);
    unlink("lost.hdf"), unlink("lost_contacts.hdf");
    for (int again = 0; again < 2; ++again) {
      check_says_lost(talus_world_save(world, "lost.hdf"), "lost.hdf");
      check_says_lost(talus_world_write_contacts(world, "lost_contacts.hdf"), "lost_contacts.hdf");
      check_says_lost(talus_world_report(world, &report), NULL);
      check_says_lost(talus_world_contacts(world, NULL, 0, &count), NULL);
      tl_array_free(&list_of(world)->skin);
      refuses = again == 0; /* a step that fails as well makes nothing better */
      CHECK(talus_world_step(world, 1) == (again ? TALUS_OK : TALUS_ERROR_MEMORY));
      refuses = false;
    }
    CHECK_MSG(report_of(world).contacts > 20, "%zu contacts", (size_t)report_of(world).contacts);
    CHECK_OK(talus_world_write_contacts(world, "lost_contacts.hdf"));
    CHECK_OK(talus_world_save(world, "lost.hdf"));
    CHECK_OK(talus_world_load("lost.hdf", &loaded));
    bring_home(world);
    CHECK_EQ_U64(loaded->contacts.count, world->contacts.count);
    CHECK_OK(talus_world_step(world, 50));
    CHECK_OK(talus_world_step(loaded, 50));
    CHECK_EQ_U64(talus_world_hash(loaded), talus_world_hash(world));
    talus_world_destroy(world);
    talus_world_destroy(loaded);
  }
}

/* Somebody looks at the contacts of every step: where there is no memory for them the step fails as
 * a whole, before anything has moved. Springs are dropped then, as after any step that fails. */
TEST(step_without_memory_for_contacts_that_are_probed_is_not_taken) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_probe_values values[2];
  for (int fails = 0; fails < 2; ++fails) {
    talus_world *world = heap(&def, 100, false);
    talus_probe_def probe = {.name = "floor", .on_body = true, .record = TALUS_RECORD_FORCE};
    uint32_t number;
    CHECK_OK(talus_world_body_at(world, 0, &probe.body));
    CHECK_OK(talus_world_add_probe(world, &probe, &number));
    CHECK_OK(talus_world_step(world, 990));
    CHECK_OK(talus_probe_read(world, number, &values[fails]));
    CHECK_OK(talus_world_step(world, 9));
    if (fails) {
      const uint64_t hash = talus_world_hash(world);
      tl_array_free(&world->contacts.springs); /* has to be taken anew, and cannot be */
      refuses = true;
      CHECK(talus_world_step(world, 1) == TALUS_ERROR_MEMORY);
      refuses = false;
      CHECK_EQ_U64(talus_world_steps(world), 999);
      CHECK_EQ_U64(talus_world_hash(world), hash);
      CHECK(report_of(world).contacts > 20);
    }
    CHECK_OK(talus_world_step(world, 1));
    CHECK_OK(talus_probe_read(world, number, &values[fails]));
    talus_world_destroy(world);
  }
  CHECK(values[1].from == values[0].from && values[1].to == values[0].to);
  CHECK_MSG(fabs(values[1].force[2] / values[0].force[2] - 1) < 0.01, "%g N, %g N",
            values[0].force[2], values[1].force[2]);
}

/* A renewal without memory: nothing of the old list is gone yet, and contacts are those of the last
 * step; or something is, and there are none. */
TEST(contacts_are_there_when_memory_runs_out_for_a_renewal) {
  if (!REFUSES_MEMORY)
    SKIP("memory cannot be made to run out here");
  for (int early = 0; early < 2; ++early) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
    talus_world *world = heap(&def, 100, false), *other = heap(&def, 100, false);
    CHECK_OK(talus_world_step(world, 700));
    CHECK_OK(talus_world_step(other, 1000));
    bring_home(world);
    bring_home(other);
    CHECK(world->contacts.count > 20 && world->contacts.count != other->contacts.count);
    CHECK_OK(talus_world_step(world, 300));
    tl_ball_list *list = list_of(world);
    CHECK_OK(tl_array_reserve(&world->contacts, other->contacts.count));
    CHECK_OK(tl_array_reserve(&world->contacts.springs, other->contacts.count));
    list->has_left = true;
    if (early)
      tl_array_free(&list->skin); /* has to be taken anew, and cannot be */
    else
      tl_array_free(&list->material);
    refuses = true;
    CHECK(talus_world_step(world, 1) == TALUS_ERROR_MEMORY);
    refuses = false;
    CHECK_EQ_U64(talus_world_hash(world), talus_world_hash(other));
    CHECK_EQ_U64(world->contacts.count, early ? other->contacts.count : 0);
    for (size_t i = 0; i < world->contacts.count; ++i) {
      const tl_contact *p = &world->contacts.data[i], *q = &other->contacts.data[i];
      CHECK(p->a == q->a && p->b == q->b && p->gap == q->gap && p->impulse.z == q->impulse.z);
    }
    CHECK_OK(talus_world_step(world, 100));
    talus_world_destroy(world);
    talus_world_destroy(other);
  }
}

/* What holds balls together becomes more than a velocity can hold, within a step that began well.
 */
TEST(step_that_breaks_on_its_way_changes_nothing) {
  for (int threads = 1; threads <= 2; ++threads) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads);
    talus_world *world = heap(&def, 300, false);
    CHECK_OK(talus_world_step(world, 300));
    CHECK(list_of(world)->cannot_overflow && list_of(world)->is_started);
    for (size_t i = 0; i < world->penalty.laws.count; ++i)
      world->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
    list_of(world)->cannot_overflow =
        false; /* as in a world that had such laws from the beginning */
    const uint64_t hash = talus_world_hash(world);
    CHECK(talus_world_step(world, 100) == TALUS_ERROR_DIVERGED);
    CHECK_MSG(strstr(talus_last_error(), "not finite"), "%s", talus_last_error());
    CHECK_EQ_U64(talus_world_steps(world), 300);
    CHECK_EQ_U64(talus_world_hash(world), hash);
    talus_world_destroy(world);
  }
}

/* In a call of many steps the state is in the list alone: what is handed over when one of them
 * breaks is that of all the steps before. */
/* Springs too stiff for any number: the first touch breaks the step in which it happens. */
TEST(step_that_breaks_leaves_no_contacts_of_its_own) {
  talus_world_def def = springs(TALUS_LINEAR, 1e-4, 1);
  talus_material_def grain = talus_material_def_default();
  talus_shape_def sphere = talus_shape_def_default();
  talus_body_def body = talus_body_def_default();
  talus_world *world;
  size_t count = 7;
  def.gravity = tl_vec3(0, 0, 0);
  CHECK_OK(talus_world_create(&def, &world));
  grain.stiffness = 1e4, grain.cohesion = TL_REAL_MAX / 100;
  CHECK_OK(talus_world_add_material(world, &grain, &body.material));
  sphere.size[0] = TL_R(0.02);
  CHECK_OK(talus_world_add_shape(world, &sphere, &body.shape));
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  body.position.x = 0.0605, body.velocity.x = -50;
  CHECK_OK(talus_world_add_body(world, &body, NULL));
  CHECK(talus_world_step(world, 100) == TALUS_ERROR_DIVERGED);
  CHECK_OK(talus_world_contacts(world, NULL, 0, &count));
  CHECK_EQ_U64(count, 0);
  talus_world_destroy(world);
}

TEST(call_that_breaks_in_its_middle_leaves_the_steps_before) {
  for (int threads = 1; threads <= 2; ++threads) {
    const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads);
    talus_world *world[2] = {heap(&def, 300, false), heap(&def, 300, false)};
    for (int k = 0; k < 2; ++k) {
      CHECK_OK(talus_world_step(world[k], 1));
      for (size_t i = 0; i < world[k]->penalty.laws.count; ++i)
        world[k]->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
      list_of(world[k])->cannot_overflow = false; /* as if it had such laws from the beginning */
    }
    CHECK(talus_world_step(world[0], 500) == TALUS_ERROR_DIVERGED);
    const uint64_t steps = talus_world_steps(world[0]);
    CHECK_MSG(steps > 3, "%llu steps", (unsigned long long)steps);
    for (uint64_t i = 1; i < steps; ++i)
      CHECK_OK(talus_world_step(world[1], 1));
    CHECK_EQ_U64(talus_world_hash(world[0]), talus_world_hash(world[1]));
    CHECK(talus_world_step(world[1], 1) == TALUS_ERROR_DIVERGED);
    talus_world_destroy(world[0]);
    talus_world_destroy(world[1]);
  }
}

static void spin_ball(talus_world *world, size_t slot, double spin, double torque) {
  talus_body body;
  const talus_vec3 none = {0, 0, 0}, w = {0, (talus_real)spin, 0}, t = {0, (talus_real)torque, 0};
  CHECK_OK(talus_world_body_at(world, slot, &body));
  CHECK_OK(talus_body_set_velocity(world, body, none, w));
  if (torque != 0)
    CHECK_OK(talus_body_set_force(world, body, none, t));
}

/* Spins that are numbers still and make no sense, which take no ball from its place in the list:
 * refused in the same step and in the same words as the general way does it. */
TEST(absurd_spin_is_refused_as_the_general_way_refuses_it) {
  const double over = TALUS_SINGLE ? 1e30 : 1e160; /* its square is none */
  const struct {
    double spin, torque; /* rad/s, N m */
    const char *why;     /* NULL: goes well */
  } cases[] = {{4e9, 0, NULL},        {9e9, 0, NULL},          {1.1e10, 0, "million"},
               {-3e14, 0, "million"}, {over, 0, "not finite"}, {0, 6e8, "million"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    for (size_t slot = 50; slot <= 100; slot += 50) { /* within eight, and at the end */
      const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
      twins t = make_twins(&def, 100);
      talus_world *const world[2] = {t.fast, t.slow};
      char said[2][1024];
      for (int k = 0; k < 2; ++k) {
        spin_ball(world[k], slot, cases[i].spin, cases[i].torque);
        uint64_t hash = talus_world_hash(world[k]);
        talus_status status = TALUS_OK;
        for (int step = 0; step < 20 && status == TALUS_OK; ++step) {
          hash = talus_world_hash(world[k]);
          status = talus_world_step(world[k], 1);
        }
        CHECK_MSG(status == (cases[i].why ? TALUS_ERROR_DIVERGED : TALUS_OK), "case %zu: %d", i,
                  (int)status);
        CHECK(!cases[i].why || talus_world_hash(world[k]) == hash);
        snprintf(said[k], sizeof said[k], "%s", cases[i].why ? talus_last_error() : "");
      }
      CHECK(t.fast->penalty.are_balls && !t.slow->penalty.are_balls);
      CHECK_EQ_U64(talus_world_steps(t.fast), talus_world_steps(t.slow));
      CHECK_MSG(strcmp(said[0], said[1]) == 0, "%s\n%s", said[0], said[1]);
      CHECK_MSG(!cases[i].why || strstr(said[0], cases[i].why), "%s", said[0]);
      destroy_twins(t);
    }
}

/* In the middle of a call, where a step has started the next: it is that one that is refused. */
TEST(spin_that_grows_absurd_on_the_way_is_refused_in_the_next_step) {
  for (int threads = 1; threads <= 2; ++threads)
    for (uint32_t rank = 50; rank <= 100; rank += 50) { /* within eight, and at the end */
      const talus_world_def def = springs(TALUS_HERTZ, 1e-4, threads);
      talus_world *world = heap(&def, 100, false);
      CHECK_OK(talus_world_step(world, 5));
      tl_ball_list *list = list_of(world);
      CHECK(list->is_started && list->count == 101);
      const bool moves = list->ball.data[rank].inv_mass > 0; /* all but the tank */
      list->ball.data[moves ? rank : rank - 1].w[1] = TL_R(2e10);
      CHECK(talus_world_step(world, 100) == TALUS_ERROR_DIVERGED);
      CHECK_MSG(strstr(talus_last_error(), "million rad"), "%s", talus_last_error());
      CHECK_EQ_U64(talus_world_steps(world), 6);
      talus_world_destroy(world);
    }
}

/* Balls that cannot feel each other yet, and will: a step could always overflow. */
TEST(balls_with_unbounded_springs_may_always_overflow) {
  const talus_world_def def = springs(TALUS_HERTZ, 1e-4, 1);
  talus_world *world = heap(&def, 100, false);
  CHECK_OK(talus_world_step(world, 1));
  CHECK(list_of(world)->cannot_overflow);
  for (size_t i = 0; i < world->penalty.laws.count; ++i)
    world->penalty.laws.data[i].cohesion = TALUS_SINGLE ? TL_R(1e38) : TL_R(1e308);
  talus_status status = TALUS_OK;
  uint64_t hash = 0, steps = 0;
  for (int i = 0; i < 500 && status == TALUS_OK; ++i) {
    CHECK(i == 0 || !list_of(world)->cannot_overflow);
    hash = talus_world_hash(world);
    steps = talus_world_steps(world);
    status = talus_world_step(world, 1);
  }
  CHECK(status == TALUS_ERROR_DIVERGED);
  CHECK_EQ_U64(talus_world_hash(world), hash);
  CHECK_EQ_U64(talus_world_steps(world), steps);
  talus_world_destroy(world);
}

TEST_MAIN()
