#include "peer_pipe.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

void peer_die_with_parent(pid_t parent) {
#ifdef __linux__
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) /* it has ended already */
    _exit(127);
}

bool peer_pipe_open(peer_pipe *peer, char *const argv[]) {
  int ends[2];
  *peer = (peer_pipe){0};
  if (pipe(ends) != 0)
    return false;
  fflush(NULL);
  const pid_t own = getpid();
  peer->child = fork();
  if (peer->child == 0) {
    peer_die_with_parent(own);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(argv[0], argv);
    _exit(127);
  }
  close(ends[1]);
  peer->from = peer->child > 0 ? fdopen(ends[0], "r") : NULL;
  if (!peer->from)
    close(ends[0]);
  return peer->from != NULL;
}

bool peer_pipe_close(peer_pipe *peer) {
  int status = 0;
  pid_t ended = -1;
  if (peer->from)
    fclose(peer->from);
  while (peer->child > 0 && (ended = waitpid(peer->child, &status, 0)) < 0 && errno == EINTR)
    ;
  return ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
