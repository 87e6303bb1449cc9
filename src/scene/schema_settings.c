/* The tables of settings: until, step, solve, broad, narrow, contact, sleep, domain. See schema.c.
 */
#include "scene/schema_keys.h"

const tl_words tl_schema_automatic = {WORDS({"auto", -1, "talus chooses"}), NULL};

static const tl_words step_kinds = {
    WORDS({"fixed", TALUS_STEP_FIXED, "every step is `dt` long"},
          {"event", TALUS_STEP_EVENT,
           "event-driven: from one collision to the next; with `solve: elastic`"},
          {"adaptive", TALUS_STEP_ADAPTIVE,
           "every step ends before two bodies meet: none passes through another; with `solve: ccp` "
           "and "
           "`impulse`"},
          {"implicit", TALUS_STEP_IMPLICIT,
           "every step is `dt` long, with the forces at its end: stiff springs, large steps; with "
           "`solve: penalty`"},
          {"local", TALUS_STEP_LOCAL,
           "as adaptive, with a step length of its own for every cluster of bodies that may meet"}),
    NULL};

static const tl_words implicit_methods = {
    WORDS({"newton", TALUS_IMPLICIT_NEWTON, "Newton with conjugate gradients: stiff springs"},
          {"picard", TALUS_IMPLICIT_PICARD,
           "the forces of one guess give the next, as published: needs small steps or damping"},
          {"euler", TALUS_IMPLICIT_EULER,
           "explicit: the forces at the begin, as published; gains energy"},
          {"surrogate-picard", TALUS_IMPLICIT_SURROGATE_PICARD,
           "picard that finds contacts of meshes by surrogate trees: the same bits"},
          {"multires-picard", TALUS_IMPLICIT_MULTIRES_PICARD,
           "picard that goes down one level of those trees with each iteration, as published"}),
    NULL};

static const tl_words dampings = {WORDS({"auto", -1, "from the stiffness of contacts"},
                                        {"aitken", -2, "from the last two guesses"}),
                                  NULL};

static const tl_words solve_kinds = {
    WORDS({"ccp", TALUS_SOLVE_CCP, "cone complementarity: rigid contacts, large steps"},
          {"impulse", TALUS_SOLVE_IMPULSE, "sequential impulses: rigid contacts, stacks of boxes"},
          {"penalty", TALUS_SOLVE_PENALTY, "springs and dashpots: soft contacts, small steps"},
          {"elastic", TALUS_SOLVE_ELASTIC, "hard spheres without friction: gases"}),
    NULL};

static const tl_words shells = {
    WORDS({"soft", TALUS_SHELL_SOFT, "when they touch, in the order of time"},
          {"hard", TALUS_SHELL_HARD, "where they overlap when a step begins, as published"}),
    NULL};

static const tl_words responses = {
    WORDS({"symmetric", TALUS_RESPONSE_SYMMETRIC, "equal and opposite impulses, pair by pair"},
          {"published", TALUS_RESPONSE_PUBLISHED,
           "each body from the velocities before the step; does not conserve energy; only with "
           "`shell: hard`"}),
    NULL};

static const tl_words spring_laws = {
    WORDS(
        {"linear", TALUS_LINEAR, "force proportional to the overlap, with a dashpot: `stiffness`"},
        {"hertz", TALUS_HERTZ, "Hertz and Mindlin, with a dashpot: `young` and `poisson`"},
        {"noble", TALUS_NOBLE, "force within `reach` before touching, no dashpot: `stiffness`"}),
    NULL};

static const tl_words solve_methods = {
    WORDS({"gauss-seidel", TALUS_GAUSS_SEIDEL, "projected Gauss-Seidel: best for few iterations"},
          {"apgd", TALUS_APGD, "accelerated projected gradient descent: best for many iterations"},
          {"bb", TALUS_BB, "spectral projected gradient (Barzilai-Borwein)"},
          {"jacobi", TALUS_JACOBI, "all contacts at once, as published; slow"}),
    NULL};

static const tl_words reductions = {
    WORDS({"auto", TALUS_REDUCTION_AUTO, "gather for jacobi, colours otherwise"},
          {"gather", TALUS_REDUCTION_GATHER, "each body sums over its contacts"},
          {"scan", TALUS_REDUCTION_SCAN, "reduction buffer and segmented scan, as published"},
          {"colours", TALUS_REDUCTION_COLOURS, "contact by contact, colour by colour: fastest"}),
    NULL};

static const tl_words friction_models = {
    WORDS({"ncp", TALUS_FRICTION_NCP, "Coulomb friction, no dilation while sliding"},
          {"ccp", TALUS_FRICTION_CCP, "its convex relaxation, as published"}),
    NULL};

static const tl_words joints_solvers = {
    WORDS(
        {"auto", TALUS_JOINTS_AUTO, "direct, unless the joints form so many loops that it is slow"},
        {"direct", TALUS_JOINTS_DIRECT,
         "all joints of an island at once, contacts by iteration: chains, loops"},
        {"iterative", TALUS_JOINTS_ITERATIVE, "one after the other, like contacts"}),
    NULL};

static const tl_words broad_kinds = {
    WORDS({"auto", TALUS_BROAD_AUTO, "talus chooses, and the log says what and why"},
          {"bins", TALUS_BROAD_BINS, "uniform grids, one for each range of sizes"},
          {"kdtree", TALUS_BROAD_KDTREE, "linear kd-tree, as published by Poirrier"},
          {"cells", TALUS_BROAD_CELLS, "rounded cells, as published by Peters, Sherif and Bell"},
          {"sweep", TALUS_BROAD_SWEEP, "sort and sweep along one axis"},
          {"bvh", TALUS_BROAD_BVH, "tree of boxes along the Morton curve"},
          {"brute", TALUS_BROAD_BRUTE, "every pair: for tests"}),
    NULL};

static const tl_words ellipsoid_methods = {
    WORDS(
        {"newton", TALUS_ELLIPSOID_NEWTON, "Newton on the sphere: exact to rounding"},
        {"opm", TALUS_ELLIPSOID_OPM, "gradient descent: method 1 of Pazouki, Mazhar and Negrut"},
        {"chm+opm", TALUS_ELLIPSOID_CHM_OPM, "their method 2: first the characteristic equation"}),
    NULL};

static const tl_words axes = {WORDS({"x", 1, NULL}, {"y", 2, NULL}, {"z", 4, NULL}), NULL};

static const tl_words outsides = {
    WORDS({"stop", TALUS_OUTSIDE_STOP, "the run ends and names the body"},
          {"remove", TALUS_OUTSIDE_REMOVE, "the body is removed and counted"}),
    NULL};

#define OWNER tl_scene_until
const tl_map tl_schema_until = {
    .title = "until",
    .size = sizeof(OWNER),
    .bare = "time",
    .help = "When the run ends. A bare number stands for `{time: number}`.",
    .keys = (const tl_key[]){{KEY(OWNER, time, NUMBER), POSITIVE, .unit = "s", .example = "4.0",
                              .help = "the run ends at the step nearest this time"},
                             {KEY(OWNER, at_rest, NUMBER), POSITIVE, .unit = "m/s",
                              .flags = TL_KEY_OPTIONAL, .example = "1e-3",
                              .help = "or earlier, once no free body is faster than this"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_step
const tl_map tl_schema_step = {
    .title = "step",
    .size = sizeof(OWNER),
    .bare = "kind",
    .help = "How time advances. A bare word stands for `{kind: word}`.",
    .keys = (const tl_key[]){
        {KEY(OWNER, kind, WORD), .words = &step_kinds, .fallback = "fixed", .example = "fixed",
         .help = "the stepper"},
        {KEY(OWNER, dt, NUMBER), POSITIVE, .unit = "s", .fallback = "1e-3", .example = "5e-4",
         ONLY(WHERE("kind", "fixed", "event", "implicit")),
         .help = "length of a step; talus never shortens it. Without it, `solve: penalty` with "
                 "`stiffness: auto` chooses a dt that keeps overlaps below 1 % of the smallest "
                 "radius; it refuses a given dt that is too long for that"},
        {KEY(OWNER, substeps, INTEGER), .range = {1, 1000, false}, .fallback = "1", .example = "4",
         .help = "each step finds pairs and contact points once, then solves and moves this many "
                 "times by dt / substeps; contact points move with their bodies in between. With "
                 "`solve: ccp` and `impulse`"},
        {KEY(OWNER, max, NUMBER), POSITIVE, .unit = "s", .fallback = "1e-2", .example = "5e-3",
         ONLY(WHERE("kind", "adaptive", "local")),
         .help = "longest step, and the interval of a grid of times, made a little finer so that "
                 "`output.every` is a multiple of it. Adaptive steps also end on this grid; with "
                 "local time the steps of flying bodies go on beyond it"},
        {KEY(OWNER, min, NUMBER), POSITIVE, .unit = "s", .fallback = "1e-8", .example = "1e-7",
         ONLY(WHERE("kind", "adaptive", "local")),
         .help = "shortest step: bodies that would meet sooner are solved as touching; if that "
                 "fails, the run ends and names both bodies"},
        {KEY(OWNER, growth, NUMBER), .range = {1, 100, true}, .fallback = "2", .example = "1.5",
         ONLY(WHERE("kind", "local")),
         .help = "largest ratio of two successive steps of a cluster"},
        {KEY(OWNER, history, INTEGER), .range = {1, 1, false}, .fallback = "1", .example = "1",
         ONLY(WHERE("kind", "local")),
         .help = "number of past states of a body to which it can return; one is always enough"},
        {KEY(OWNER, method, WORD), ONLY(WHERE("kind", "implicit")), .words = &implicit_methods,
         .fallback = "newton", .example = "picard",
         .help = "how the forces at the end of the step are computed"},
        {KEY(OWNER, iterations, INTEGER), ONLY(WHERE("kind", "implicit")),
         .range = {1, 1000000, false}, .fallback = "50", .example = "200",
         .help = "the most in a step; a step that needs more is halved, up to eight times, or with "
                 "a given `damping` ends the run"},
        {KEY(OWNER, tolerance, NUMBER), ONLY(WHERE("kind", "implicit")), POSITIVE,
         .fallback = "0.01", .example = "1e-6",
         .help = "iterations end when the force and torque of every body change by less, relative "
                 "to the sum of the sizes of its contact forces"},
        {KEY(OWNER, damping, NUMBER),
         ONLY(WHERE("kind", "implicit"),
              WHERE("method", "picard", "surrogate-picard", "multires-picard")),
         .range = {0, 1, true}, .words = &dampings, .fallback = "auto", .example = "0.5",
         .help = "share of the new guess, 1: undamped"},
        {0}}};
#undef OWNER

/* The solvers and methods that use a key: warn.c warns of a key that has no effect. */
#define OF_RIGID   ONLY(WHERE("kind", "ccp", "impulse"))
#define OF_CCP     ONLY(WHERE("kind", "ccp"))
#define OF_JACOBI  ONLY(WHERE("kind", "ccp"), WHERE("method", "jacobi"))
#define OF_PENALTY ONLY(WHERE("kind", "penalty"))
#define OF_ELASTIC ONLY(WHERE("kind", "elastic"))
#define OF_BOUNCES ONLY(WHERE("kind", "ccp", "impulse", "elastic"))

#define OWNER tl_scene_solve
const tl_map tl_schema_solve = {
    .title = "solve",
    .size = sizeof(OWNER),
    .bare = "kind",
    .help = "How contacts become impulses. A bare word stands for `{kind: word}`.",
    .keys = (const tl_key[]){
        {KEY(OWNER, kind, WORD), .words = &solve_kinds, .fallback = "ccp", .example = "ccp",
         .help = "the contact model"},
        {KEY(OWNER, law, WORD), OF_PENALTY, .words = &spring_laws, .fallback = "linear",
         .example = "hertz", .help = "the spring"},
        {KEY(OWNER, reach, NUMBER), ONLY(WHERE("kind", "penalty"), WHERE("law", "noble")), POSITIVE,
         .unit = "m", .fallback = "1e-3", .example = "5e-4",
         .help = "gap at which the force begins"},
        {KEY(OWNER, tangential, NUMBER),
         ONLY(WHERE("kind", "penalty"), WHERE("law", "linear", "noble")), POSITIVE,
         .fallback = "0.2857142857142857", .example = "0.5",
         .help = "tangential over normal stiffness"},
        {KEY(OWNER, method, WORD), OF_CCP, .words = &solve_methods, .fallback = "gauss-seidel",
         .example = "gauss-seidel", .help = "the iteration that solves it"},
        {KEY(OWNER, friction, WORD), OF_RIGID, .words = &friction_models, .fallback = "ncp",
         .example = "ncp", .help = "the friction law"},
        {KEY(OWNER, iterations, INTEGER), OF_RIGID, .range = {0, 1e6, false}, .fallback = "50",
         .example = "100", .help = "number of sweeps in a step"},
        {KEY(OWNER, iterations_max, NUMBER), OF_RIGID, .range = {0, 1e6, false},
         .words = &tl_schema_automatic, .fallback = "auto", .example = "1000",
         .help = "upper bound on the sweeps of an island (bodies that touch or are joined) whose "
                 "residual is above the tolerance and still falls; `auto`: 20 times `iterations` "
                 "for up to 1,000 contacts and joint rows, twice for more"},
        {KEY(OWNER, tolerance, NUMBER), OF_RIGID, NOT_NEGATIVE, .unit = "m/s",
         .words = &tl_schema_automatic, .fallback = "auto", .example = "1e-6",
         .help =
             "sweeps stop when the RMS residual is below this; 0: never stop early; `auto`: "
             "0.5 % of |gravity| dt (or of a thousandth of the spread of velocities), and a "
             "hundredth of that for islands of up to 1,000 contacts and joint rows, a twentieth "
             "for others with substeps"},
        {KEY(OWNER, warm_start, FLAG), OF_RIGID, .fallback = "true", .example = "false",
         .help = "start from the impulses of the previous step"},
        {KEY(OWNER, recovery, NUMBER), OF_CCP, .range = {0, 1, false}, .fallback = "1",
         .example = "0.05",
         .help = "fraction of an overlap that a step removes; a smaller one damps a wide heap that "
                 "oscillates because it has few sweeps"},
        {KEY(OWNER, recovery_speed, NUMBER), OF_RIGID, NOT_NEGATIVE, .unit = "m/s",
         .words = &tl_schema_automatic, .fallback = "auto", .example = "0.1",
         .help = "largest speed at which overlap is removed; `auto`: a tenth of the smallest free "
                 "body's radius per step"},
        {KEY(OWNER, bounce_speed, NUMBER), OF_BOUNCES, NOT_NEGATIVE, .unit = "m/s",
         .words = &tl_schema_automatic, .fallback = "auto", .example = "0.05",
         .help = "slower impacts do not bounce; `auto`: the largest of 2 |gravity| dt, |gravity| "
                 "dt / restitution and 1e-4 of the fastest impact of a chain. With `elastic` and "
                 "restitution below 1: slower impacts lose no energy; `auto`: 1e-4 of the RMS "
                 "speed, or |gravity| dt / 100"},
        {KEY(OWNER, joints, WORD), OF_RIGID, .words = &joints_solvers, .fallback = "auto",
         .example = "direct", .help = "how joints are solved beside contacts"},
        {KEY(OWNER, omega, NUMBER), OF_JACOBI, POSITIVE, .fallback = "0.3", .example = "0.2",
         .help = "relaxation factor; stable while omega times lambda is at most 0.3"},
        {KEY(OWNER, lambda, NUMBER), OF_JACOBI, .range = {0, 1, true}, .fallback = "1",
         .example = "0.5", .help = "weight of the new value"},
        {KEY(OWNER, reduction, WORD),
         ONLY(WHERE("kind", "ccp"), WHERE("method", "apgd", "bb", "jacobi")), .words = &reductions,
         .fallback = "auto", .example = "scan",
         .help = "how impulses are summed over each body; all give the same answer"},
        {KEY(OWNER, islands, FLAG), OF_CCP, .fallback = "true", .example = "false",
         .help = "solve each island (bodies that touch or are joined) separately, until it meets "
                 "the tolerance; `false`: all contacts as one problem"},
        {KEY(OWNER, slop, NUMBER), OF_RIGID, NOT_NEGATIVE, .unit = "m",
         .words = &tl_schema_automatic, .fallback = "auto", .example = "1e-4",
         .help = "overlap that is not corrected; `auto`: |gravity| dt^2, at most 1 % of the "
                 "smallest free body's radius"},
        {KEY(OWNER, correction, NUMBER), ONLY(WHERE("kind", "impulse")), UNIT, .fallback = "0.2",
         .example = "0.5",
         .help = "fraction of the overlap beyond `slop` that a step corrects by moving positions; "
                 "velocities do not change"},
        {KEY(OWNER, shell, WORD), OF_ELASTIC, .words = &shells, .fallback = "soft",
         .example = "hard", .help = "when two bodies collide"},
        {KEY(OWNER, response, WORD), ONLY(WHERE("kind", "elastic"), WHERE("shell", "hard")),
         .words = &responses, .fallback = "symmetric", .example = "published",
         .help = "what a collision does"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_broad
const tl_map tl_schema_broad = {
    .title = "broad",
    .size = sizeof(OWNER),
    .bare = "kind",
    .help = "How pairs that may touch are found. A bare word stands for `{kind: word}`.",
    .keys = (const tl_key[]){{KEY(OWNER, kind, WORD), .words = &broad_kinds, .fallback = "auto",
                              .example = "bins", .help = "the broad phase"},
                             {KEY(OWNER, skin, NUMBER), NOT_NEGATIVE, .unit = "m",
                              .words = &tl_schema_automatic, .fallback = "0", .example = "auto",
                              .help = "Verlet distance: pairs are searched within this extra "
                                      "distance and reused until bodies have moved by about half "
                                      "of it; the results are the same. `auto`: talus chooses it"},
                             {0}}};
#undef OWNER

static const tl_words trees = {
    WORDS({"bvh", TALUS_TREE_BVH, "by a tree of boxes"},
          {"flat", TALUS_TREE_FLAT, "by testing every triangle, for comparison"},
          {"surrogate", TALUS_TREE_SURROGATE,
           "two meshes by trees of surrogate triangles (Noble), others by a tree of boxes"}),
    NULL};

static const tl_words triangle_methods = {
    WORDS({"comparison", TALUS_TRIANGLE_COMPARISON, "all distances of their features, in lanes"},
          {"certified", TALUS_TRIANGLE_CERTIFIED, "by proof, and by comparison where it fails"},
          {"iterative", TALUS_TRIANGLE_ITERATIVE,
           "by four Newton steps (Noble), which may miss contacts"},
          {"hybrid", TALUS_TRIANGLE_HYBRID,
           "by the same steps where a proof confirms them, else by comparison"}),
    NULL};

static const tl_words fusions = {
    WORDS({"local", TALUS_FUSION_LOCAL, "a contact is a local minimum of the distance"},
          {"thesis", TALUS_FUSION_THESIS,
           "every pair of near triangles has one; those alike in place and normal are fused"}),
    NULL};

#define OWNER tl_scene_narrow
const tl_map tl_schema_narrow = {
    .title = "narrow",
    .size = sizeof(OWNER),
    .help = "How pairs become contacts.",
    .keys = (const tl_key[]){{KEY(OWNER, ellipsoid, WORD), .words = &ellipsoid_methods,
                              .fallback = "newton", .example = "chm+opm", .help = "two ellipsoids"},
                             {KEY(OWNER, tree, WORD), .words = &trees, .flags = TL_KEY_OPTIONAL,
                              .example = "flat",
                              .help = "how the near triangles of a mesh are found; all give the "
                                      "same contacts, bit for bit"},
                             {KEY(OWNER, triangle, WORD), .words = &triangle_methods,
                              .flags = TL_KEY_OPTIONAL, .example = "certified",
                              .help = "how near two triangles are; all but `iterative` give the "
                                      "same contacts, bit for bit"},
                             {KEY(OWNER, fusion, WORD), .words = &fusions, .flags = TL_KEY_OPTIONAL,
                              .example = "thesis", .help = "what a contact of two meshes is"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_contact
const tl_map tl_schema_contact = {
    .title = "contact",
    .size = sizeof(OWNER),
    .help = "How near two bodies must be to make a contact.",
    .keys = (const tl_key[]){
        {KEY(OWNER, margin, NUMBER), NOT_NEGATIVE, .unit = "m", .words = &tl_schema_automatic,
         .fallback = "auto", .example = "0.01",
         .help = "contacts are found up to this gap; `auto`: from speed and dt. "
                 "Adaptive steps have a `halo` instead"},
        {KEY(OWNER, sweep, FLAG), .fallback = "true", .example = "false",
         .help = "bodies that move further than their inner radius in a step are followed along "
                 "their path, so that they pass through nothing, whatever the margin; with fixed "
                 "steps of `solve: ccp` and `impulse`"},
        {KEY(OWNER, halo, NUMBER), POSITIVE, .unit = "m", .words = &tl_schema_automatic,
         .fallback = "auto", .example = "1e-6",
         .help = "with `step: adaptive` and `local`: pairs nearer than this touch; the solver "
                 "keeps them half of it apart; `auto`: 1e-4 of the mean bounding radius (half "
                 "of the mover's on walls)"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_sleep
const tl_map tl_schema_sleep = {
    .title = "sleep",
    .size = sizeof(OWNER),
    .bare = "speed",
    .help = "When bodies at rest fall asleep: they are not computed until something disturbs them. "
            "Without this key no body sleeps. A bare number stands for `{speed: number}`.",
    .keys = (const tl_key[]){{KEY(OWNER, speed, NUMBER), POSITIVE, .unit = "m/s", .example = "1e-3",
                              .help = "bodies that touch or are joined fall asleep together once "
                                      "all of them, rotation of their surfaces included, have been "
                                      "slower than this; choose it well above `solve.tolerance`"},
                             {KEY(OWNER, time, NUMBER), NOT_NEGATIVE, .unit = "s",
                              .fallback = "0.5", .example = "0.2", .help = "for this long"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_domain
const tl_map tl_schema_domain = {
    .title = "domain",
    .size = sizeof(OWNER),
    .help = "The part of space that is simulated. Without it space is unbounded.",
    .keys = (const tl_key[]){
        {KEY(OWNER, box, BOX), ANY, .unit = "m", .example = "[[-1, -1, 0], [1, 1, 2]]",
         .help = "its two corners"},
        {KEY(OWNER, periodic, WORDS), .words = &axes, .fallback = "[]", .example = "[x, y]",
         .help = "axes along which a body that leaves on one side enters on the other"},
        {KEY(OWNER, outside, WORD), .words = &outsides, .fallback = "stop", .example = "remove",
         .help = "what becomes of a body whose centre leaves it"},
        {0}}};
#undef OWNER
