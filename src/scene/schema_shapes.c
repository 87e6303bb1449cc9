/* Shapes: the tables of an entry of `shapes`. */
#include "scene/schema_keys.h"

static const tl_words sides = {
    WORDS({"left", TALUS_SIDE_LEFT, "low x"}, {"right", TALUS_SIDE_RIGHT, "high x"},
          {"front", TALUS_SIDE_FRONT, "low y"}, {"back", TALUS_SIDE_BACK, "high y"},
          {"bottom", TALUS_SIDE_BOTTOM, "low z"}, {"top", TALUS_SIDE_TOP, "high z"}),
    NULL};

static const tl_words wall_sides = {
    WORDS({"in", TALUS_SIDES_IN, "bodies are inside; the solid is outside"},
          {"out", TALUS_SIDES_OUT, "bodies are outside; the solid is inside"},
          {"both", TALUS_SIDES_BOTH, "bodies are on both sides of a thin wall"}),
    NULL};

#define OWNER tl_scene_superellipsoid
const tl_map tl_schema_superellipsoid = {
    .title = "a superellipsoid",
    .plural = "superellipsoids",
    .size = sizeof(OWNER),
    .help = "All points with (|x/a|^n2 + |y/b|^n2)^(n1/n2) + |z/c|^n1 <= 1. Both exponents 2: an "
            "ellipsoid; more: blocky; below 2: pointed.",
    .keys = (const tl_key[]){{KEY(OWNER, half, NUMBERS), .count = 3, POSITIVE, .unit = "m",
                              .example = "[0.02, 0.015, 0.01]", .help = "half axes a, b, c"},
                             {KEY(OWNER, n1, NUMBER), .range = {1.1, 100, false}, .example = "4",
                              .help = "exponent towards z"},
                             {KEY(OWNER, n2, NUMBER), .range = {1.1, 100, false}, .example = "4",
                              .help = "exponent around z"},
                             {0}}};
#undef OWNER

#define OWNER tl_scene_turned
const tl_map tl_schema_turned = {
    .title = "a capsule, cylinder, cone or tube",
    .plural = "capsules, cylinders, cones or tubes",
    .size = sizeof(OWNER),
    .help =
        "Radius and length along z; the origin is at mid-height. Of a capsule the length is that "
        "between the centres of its caps; a cone's apex is at +z.",
    .keys = (const tl_key[]){
        {KEY(OWNER, radius, NUMBER), POSITIVE, .unit = "m", .example = "0.01",
         .help = "of the round part"},
        {KEY(OWNER, length, NUMBER), POSITIVE, .unit = "m", .example = "0.03", .help = "along z"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_mesh
static const tl_words makers = {
    WORDS(
        {"icosphere", 0, "size: radius; triangles: 20 times a power of 4"},
        {"noisy-sphere", 1, "size: smallest radius; an icosphere with dents"},
        {"box", 2, "size: three edges"}, {"plate", 3, "size: two edges, in the plane z = 0; open"},
        {"cylinder", 4, "size: radius, length along z"},
        {"torus", 5, "size: radius, radius of the tube; about z"},
        {"bolt", 6, "size: diameter, pitch, length; an ISO thread of 60 degrees; triangles: about"},
        {"nut", 7, "size: diameter, pitch, length, width across flats, clearance"},
        {"funnel", 8, "size: upper radius, lower radius, height; open; equal radii: a pipe"},
        {"screw", 9, "size: radius, pitch, length, inner radius; a helical sheet about z; open"}),
    NULL};
const tl_map tl_schema_mesh = {
    .title = "a mesh",
    .plural = "meshes",
    .size = sizeof(OWNER),
    .bare = "file",
    .help = "Triangles read from a file, or generated. `mesh: rock.stl` is short for `mesh: {file: "
            "rock.stl}`.",
    .keys = (const tl_key[]){
        {KEY(OWNER, file, TEXT), .flags = TL_KEY_ONE_OF | TL_KEY_PATH, .example = "rock.stl",
         .expected = "the name of a file",
         .help = ".stl, .obj or .ply; vertices at the same point are merged"},
        {KEY(OWNER, make, WORD), .words = &makers, .flags = TL_KEY_ONE_OF,
         .example = "noisy-sphere", .help = "generates this mesh instead"},
        {KEY(OWNER, size, NUMBERS), .count = 5, NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_FEWER,
         .fallback = "[0, 0, 0, 0, 0]", .example = "[1, 0.25]",
         .help =
             "lengths of the generated mesh; 0, or left out: the defaults of `talus shape make`"},
        {KEY(OWNER, triangles, INTEGER), .range = {0, 1e8, false}, .fallback = "0",
         .example = "1280",
         .help = "approximate number of triangles; 0: the default of `talus shape make`"},
        {KEY(OWNER, noise, NUMBER), .range = {0, 100, false}, .fallback = "1.4", .example = "1.4",
         .help = "noisy sphere: ratio of the largest to the smallest radius"},
        {KEY(OWNER, seed, INTEGER), .range = {0, 9007199254740992.0, false}, .fallback = "0",
         .example = "3", .help = "seed of the noise"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_funnel
const tl_map tl_schema_funnel = {
    .title = "a funnel",
    .plural = "funnels",
    .size = sizeof(OWNER),
    .help = "A cone's side about z, open at both ends; the origin is at mid-height.",
    .keys = (const tl_key[]){
        {KEY(OWNER, top, NUMBER), NOT_NEGATIVE, .unit = "m", .example = "0.5",
         .help = "radius at high z"},
        {KEY(OWNER, bottom, NUMBER), NOT_NEGATIVE, .unit = "m", .example = "0.05",
         .help = "radius at low z"},
        {KEY(OWNER, length, NUMBER), POSITIVE, .unit = "m", .example = "0.6", .help = "along z"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_shape
const tl_map tl_schema_shape = {
    .title = "a shape",
    .plural = "shapes",
    .size = sizeof(OWNER),
    .help = "An entry of `shapes`, or a shape written in place as the `shape` of a body. Bodies "
            "may share a shape; each has its own scale.",
    .keys = (const tl_key[]){
        {KEY(OWNER, sphere, NUMBER), POSITIVE, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "0.05", .help = "its radius"},
        {KEY(OWNER, box, NUMBERS), .count = 3, POSITIVE, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[0.2, 0.1, 0.1]", .help = "its edge lengths; centred at the origin"},
        {KEY(OWNER, plane, NUMBERS), .count = 4, ANY, .flags = TL_KEY_ONE_OF,
         .example = "[0, 0, 1, 0]",
         .help = "normal and distance [nx, ny, nz, d]: matter where n.x < d; never free"},
        {KEY(OWNER, container, NUMBERS), .count = 3, POSITIVE, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[1, 1, 2]",
         .help = "edge lengths of a hollow box with thin walls; centred at the origin; never free"},
        {KEY(OWNER, ellipsoid, NUMBERS), .count = 3, POSITIVE, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[0.02, 0.015, 0.01]", .help = "its half axes along x, y, z"},
        {KEY(OWNER, superellipsoid, MAP), .map = &tl_schema_superellipsoid, .flags = TL_KEY_ONE_OF,
         .example = "{half: [0.02, 0.015, 0.01], n1: 4, n2: 4}",
         .help = "half axes and two exponents"},
        {KEY(OWNER, capsule, MAP), .map = &tl_schema_turned, .flags = TL_KEY_ONE_OF,
         .example = "{radius: 0.01, length: 0.03}",
         .help = "radius, and length between the centres of its caps, along z"},
        {KEY(OWNER, cylinder, MAP), .map = &tl_schema_turned, .flags = TL_KEY_ONE_OF,
         .example = "{radius: 0.01, length: 0.03}", .help = "radius and length along z"},
        {KEY(OWNER, cone, MAP), .map = &tl_schema_turned, .flags = TL_KEY_ONE_OF,
         .example = "{radius: 0.01, length: 0.03}",
         .help = "radius of the base and height along z; origin at mid-height, apex at +z"},
        {KEY(OWNER, hull, POINTS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "stone.stl",
         .help = "the convex hull of points [[x, y, z], ...], or of the vertices of a file: .stl, "
                 ".obj, .ply, or rows of x, y, z in .csv, .txt or .xyz"},
        {KEY(OWNER, clump, POINTS), .count = 4, ANY, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[[0, 0, 0, 0.01], [0.01, 0, 0, 0.008]]",
         .help = "spheres [[x, y, z, radius], ...] as one rigid body; where they overlap the "
                 "volume counts once"},
        {KEY(OWNER, revolved, POINTS), .count = 2, ANY, .unit = "m", .flags = TL_KEY_ONE_OF,
         .example = "[[0, 0.05], [0.5, 0.4], [1, 0.4]]",
         .help = "a thin wall: points [[z, radius], ...], straight between them, turned about z; "
                 "the ends are open; never free"},
        {KEY(OWNER, tube, MAP), .map = &tl_schema_turned, .flags = TL_KEY_ONE_OF,
         .example = "{radius: 0.4, length: 1}",
         .help = "a revolved wall of one radius, open at both ends; never free"},
        {KEY(OWNER, funnel, MAP), .map = &tl_schema_funnel, .flags = TL_KEY_ONE_OF,
         .example = "{top: 0.5, bottom: 0.05, length: 0.6}",
         .help = "a revolved wall of two radii, open at both ends; never free"},
        {KEY(OWNER, sides, WORD), .words = &wall_sides, .flags = TL_KEY_OPTIONAL, .example = "both",
         .help = "revolved, tube, funnel: the side on which bodies may be; default: in for "
                 "revolved walls, out for a closed mesh, both for an open mesh"},
        {KEY(OWNER, mesh, MAP), .map = &tl_schema_mesh, .flags = TL_KEY_ONE_OF,
         .example = "rock.stl",
         .help = "triangles. A closed mesh is a solid with the mass of its volume. An open mesh "
                 "must be fixed or have `motion`; bodies touch both of its sides"},
        {KEY(OWNER, thickness, NUMBER), POSITIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "3e-4",
         .help = "mesh: makes it a shell of this thickness, which may be free although the mesh is "
                 "open"},
        {KEY(OWNER, rounding, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1e-4",
         .help = "mesh: contacts are with the surface moved outwards by this radius (a "
                 "sphere-swept mesh); the mass is that of the mesh itself"},
        {KEY(OWNER, open, WORDS), .words = &sides, .flags = TL_KEY_OPTIONAL, .example = "[top]",
         .help = "sides of a container that are missing"},
        {KEY(OWNER, scale, NUMBER), POSITIVE, .flags = TL_KEY_OPTIONAL, .example = "0.001",
         .help = "hull or mesh: multiplies the coordinates (0.001 for a file in millimetres)"},
        {KEY(OWNER, volume, NUMBER), POSITIVE, .unit = "m3", .flags = TL_KEY_OPTIONAL,
         .example = "6e-6",
         .help = "clump or mesh: volume of its matter, if it differs from the enclosed volume; "
                 "needs `centre` and `inertia`"},
        {KEY(OWNER, centre, NUMBERS), .count = 3, ANY, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "[0, 0, 0]",
         .help = "clump or mesh: centre of mass; needs `volume` and `inertia`"},
        {KEY(OWNER, inertia, NUMBERS), .count = 6, ANY, .unit = "m2", .flags = TL_KEY_OPTIONAL,
         .example = "[4e-5, 6e-5, 6e-5, 0, 0, 0]",
         .help = "clump or mesh: tensor [xx, yy, zz, xy, xz, yz] about the centre of mass, per "
                 "kilogram"},
        {0}}};
#undef OWNER
