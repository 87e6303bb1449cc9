/* Materials and pairs of them: `materials`, `pairs`. */
#include "scene/schema_keys.h"

#define OWNER tl_scene_material
const tl_map tl_schema_material = {
    .title = "a material",
    .plural = "materials",
    .size = sizeof(OWNER),
    .later = LATER("damping"),
    .help =
        "An entry of `materials`. Where two materials touch, the smaller of the two values counts, "
        "in every law, unless `pairs` says otherwise.",
    .keys = (const tl_key[]){
        {KEY(OWNER, density, NUMBER), POSITIVE, .unit = "kg/m3", .fallback = "2600",
         .example = "7800", .help = "mass over volume"},
        {KEY(OWNER, friction, NUMBER), NOT_NEGATIVE, .fallback = "0.5", .example = "0.3",
         .help = "Coulomb coefficient"},
        {KEY(OWNER, restitution, NUMBER), UNIT, .fallback = "0", .example = "0.8",
         .help = "speed after an impact over the speed before"},
        {KEY(OWNER, static_friction, NUMBER), NOT_NEGATIVE, .words = &tl_schema_automatic,
         .fallback = "auto", .example = "0.6",
         .help = "Coulomb coefficient while a contact sticks; at least `friction`; `auto`: equal "
                 "to it"},
        {KEY(OWNER, rolling, NUMBER), NOT_NEGATIVE, .unit = "m", .fallback = "0", .example = "1e-4",
         .help = "rolling resistance as a length: largest torque against rolling divided by the "
                 "normal force"},
        {KEY(OWNER, spinning, NUMBER), NOT_NEGATIVE, .unit = "m", .fallback = "0",
         .example = "1e-4",
         .help = "largest torque against spinning about the normal, divided by the normal force"},
        {KEY(OWNER, cohesion, NUMBER), NOT_NEGATIVE, .unit = "N", .fallback = "0",
         .example = "0.01",
         .help = "force needed to pull two touching bodies apart; ccp and impulse: it acts until "
                 "the gap is 1/100 of the smaller bounding radius"},
        {KEY(OWNER, rolling_coefficient, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.1",
         .help = "rolling friction coefficient: this times the reduced radius of the pair (1/R = "
                 "1/Ra + 1/Rb, of spheres of the same volume) is added to `rolling`"},
        {KEY(OWNER, surface_energy, NUMBER), NOT_NEGATIVE, .unit = "J/m2", .flags = TL_KEY_OPTIONAL,
         .example = "0.02",
         .help = "of each surface: this times 4 pi R is added to `cohesion` (Derjaguin, Muller and "
                 "Toporov; in the JKR model it would be 3 pi R)"},
        {KEY(OWNER, stiffness, NUMBER), POSITIVE, .unit = "N/m", .words = &tl_schema_automatic,
         .fallback = "auto", .example = "1e5",
         .help = "penalty, linear and noble: force divided by overlap (noble: N/sqrt(kg), and "
                 "required); `auto`: as stiff as the step allows"},
        {KEY(OWNER, young, NUMBER), POSITIVE, .unit = "Pa", .fallback = "1e7", .example = "7e10",
         .help = "penalty, hertz: Young's modulus; both materials deform"},
        {KEY(OWNER, poisson, NUMBER), .range = {-1, 0.5, true}, .fallback = "0.3",
         .example = "0.25", .help = "penalty, hertz: Poisson's ratio"},
        {0}}};
#undef OWNER

#define OWNER tl_scene_pair
const tl_map tl_schema_pair = {
    .title = "a pair of materials",
    .plural = "pairs of materials",
    .size = sizeof(OWNER),
    .help =
        "An entry of `pairs`: values for contacts between two materials (or of one with itself).",
    .keys = (const tl_key[]){
        {KEY(OWNER, materials, NAMES), .expected = "the names of two materials, [A, B]",
         .example = "[rock, steel]", .help = "the two"},
        {KEY(OWNER, friction, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL, .example = "0.2",
         .help = "Coulomb coefficient; otherwise the smaller of the two"},
        {KEY(OWNER, restitution, NUMBER), UNIT, .flags = TL_KEY_OPTIONAL, .example = "0.5",
         .help = "otherwise the smaller of the two"},
        {KEY(OWNER, static_friction, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.3", .help = "otherwise the smaller of the two, and not less than friction"},
        {KEY(OWNER, rolling, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1e-4", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, spinning, NUMBER), NOT_NEGATIVE, .unit = "m", .flags = TL_KEY_OPTIONAL,
         .example = "1e-4", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, cohesion, NUMBER), NOT_NEGATIVE, .unit = "N", .flags = TL_KEY_OPTIONAL,
         .example = "0.01", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, rolling_coefficient, NUMBER), NOT_NEGATIVE, .flags = TL_KEY_OPTIONAL,
         .example = "0.1", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, surface_energy, NUMBER), NOT_NEGATIVE, .unit = "J/m2", .flags = TL_KEY_OPTIONAL,
         .example = "0.02", .help = "otherwise the smaller of the two"},
        {KEY(OWNER, stiffness, NUMBER), POSITIVE, .unit = "N/m", .words = &tl_schema_automatic,
         .flags = TL_KEY_OPTIONAL, .example = "1e5",
         .help = "otherwise the smaller of the two that are not `auto`"},
        {0}}};
#undef OWNER
