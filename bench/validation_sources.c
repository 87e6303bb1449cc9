/* The published results that slow cases of talus bench validation are compared with. */
#include "validation.h"

typedef struct source {
  const char *reference, *use;
  bool is_read; /* the number was seen in the paper or its abstract; otherwise it is as quoted */
} source;

static const source sources[] = {
    {"Agnolin and Roux 2007 (arXiv 0705.3194)",
     "random close packing 0.639 with 6 contacts; 0.593 with 4.5 at mu = 0.3", true},
    {"Ambroso et al. 2005, Phys. Rev. E 71, 051305 (arXiv cond-mat/0411231)",
     "the same exponent of penetration once more, with better beds", true},
    {"Beverloo, Leniger and van de Velde 1961, Chemical Engineering Science",
     "the law of discharge, C and k", false},
    {"Carnahan and Starling 1969, Journal of Chemical Physics 51, 635",
     "pressure of hard spheres, and how many are in touch", false},
    {"Carvalho, Lima and Franklin 2023, Phys. Rev. E 107, 044901 (arXiv 2304.11202)",
     "laws of penetration differ with how a bed is packed", true},
    {"Chapman and Cowling 1970, The Mathematical Theory of Non-Uniform Gases, 5.2",
     "how often hard spheres collide", false},
    {"Darias, Madrid and Pugnaloni 2020 (arXiv 2005.07042)",
     "the rate of discharge depends on friction", true},
    {"Donev et al. 2004, Science 303, 990", "0.735 of ellipsoids 1.25 : 1 : 0.8", false},
    {"Haff 1983, Journal of Fluid Mechanics 134, 401", "how grains cool", false},
    {"Janssen 1895, translated by Sperl 2006, Granular Matter (arXiv cond-mat/0511618)",
     "the law of saturation", true},
    {"Jop, Forterre and Pouliquen 2006, Nature",
     "glass beads flow steadily between 20.9 and 32.8 degrees", false},
    {"Katsuragi and Durian 2007 (arXiv cond-mat/0703072)",
     "others found depths linear in the speed of impact, H^1/2: limits of one law", true},
    {"Lube, Huppert, Sparks and Hallworth 2004, Journal of Fluid Mechanics",
     "run-out 1.24 a and 1.6 sqrt(a); their summary for ICTAM 2004 was read: the same law for all "
     "grains and grounds",
     false},
    {"Man et al. 2005, Phys. Rev. Lett. 94, 198001", "0.74 -/+ 0.005 of the same ellipsoids", true},
    {"Mankoc et al. 2007, Granular Matter (arXiv 0707.4550)",
     "Beverloo's constants hold for a small range of holes; how wide and full a silo has to be",
     true},
    {"O'Hern, Silbert, Liu and Nagel 2003, Phys. Rev. E 68, 011306",
     "soft spheres beyond the density where they touch have 7.9 sqrt(d phi) contacts more", false},
    {"Schwager and Poeschel 2007, Granular Matter",
     "restitution of a dashpot that does not pull (YADE's); the heights that YADE gives agree",
     false},
    {"Severson, Snurr, Ottino and Lueptow 2005, APS Division of Fluid Dynamics, KJ.8",
     "friction is what the angle in a drum depends on most", true},
    {"Silbert 2010 (arXiv 1108.0012)",
     "contacts fall from 6 to 4 with friction, density from close to loose packing", true},
    {"Uehara, Ambroso, Ojha and Durian 2003, Phys. Rev. Lett. 90, 194301", "depth goes with H^1/3",
     false},
    {"Warnett et al. 2014, Granular Matter 16, 115", "the radius of a column in grains matters",
     true},
    {"Zhou, Xu, Yu and Zulli 2001, Phys. Rev. E 64, 021301",
     "the angle of repose rises with sliding friction", true},
};

void val_write_sources(FILE *to) {
  fprintf(to,
          "\n## Sources of the slow cases\n\n"
          "Read: we saw it in the paper or its abstract. Quoted: the paper is the primary source, "
          "but we have\nthe number from other texts or from memory.\n\n"
          "| source | what is taken from it | |\n|---|---|---|\n");
  for (size_t i = 0; i < sizeof sources / sizeof *sources; ++i)
    fprintf(to, "| %s | %s | %s |\n", sources[i].reference, sources[i].use,
            sources[i].is_read ? "read" : "quoted");
}
