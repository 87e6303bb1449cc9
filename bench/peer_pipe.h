/* Runs another program without a shell, so that no name of a file can be a command. */
#ifndef BENCH_PEER_PIPE_H
#define BENCH_PEER_PIPE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct peer_pipe {
  FILE *from; /* its standard output */
  pid_t child;
} peer_pipe;

/* Starts argv[0], a path; false if it cannot. It ends when this process ends, in any way. */
bool peer_pipe_open(peer_pipe *peer, char *const argv[]);

/* Waits for its end; true if it exited with 0. */
bool peer_pipe_close(peer_pipe *peer);

/* Call in a child, before it executes another program. */
void peer_die_with_parent(pid_t parent);

#endif
