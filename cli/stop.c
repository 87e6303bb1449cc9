/* Signals by which a person, a terminal or a batch system stops a command. */
#include "cli.h"

#include <signal.h>

void cli_catch_stops(void (*handler)(int), bool once) {
  static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction action = {.sa_handler = handler};
  /* SA_RESETHAND and SA_RESTART are unsigned in some C libraries. */
  action.sa_flags = once ? (int)(SA_RESETHAND | SA_RESTART) : 0;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < sizeof stops / sizeof *stops; ++i) {
    struct sigaction before;
    /* Ignored signals stay ignored (nohup). */
    if (sigaction(stops[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaction(stops[i], &action, NULL);
  }
}
