/* Peers: programs next to this one (bench/peers), which read a scene from a file and print pairs
 * and times. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broad.h"
#include "peer_pipe.h"

static const struct {
  const char *program;
  const char *methods[2]; /* the slowest first: its time decides whether to run them */
  bool has_threads, is_delaunay;
  double microseconds; /* per body, about: used if no smaller scene was measured */
} peers[] = {
    {"talus-peer-embree", {"embree-medium", "embree-low"}, true, false, 1},
    {"talus-peer-bullet", {"bullet-dbvt", "bullet-deferred"}, false, false, 10},
    {"talus-peer-cgal-boxes", {"cgal-boxes", NULL}, false, false, 4},
    {"talus-peer-cgal-delaunay", {"cgal-delaunay", NULL}, false, true, 8},
};

static void take_line(broad_group *group, const char *line) {
  char method[24], what[16];
  unsigned long long count;
  double ms, megabytes;
  if (sscanf(line, "%23s %15s %llu time_ms %lf peak_mb %lf", method, what, &count, &ms,
             &megabytes) != 5) {
    fprintf(stderr, "talus bench broad: a peer said: %s", line);
    return;
  }
  broad_row *row = broad_group_add(group, method);
  row->ms = ms;
  row->is_peer = true;
  row->has_pairs = strcmp(what, "pairs") == 0;
  row->pairs = row->has_pairs ? count : 0;
  row->candidates = row->has_pairs ? 0 : count;
  row->bytes = megabytes * 1048576;
}

/* A peer with one thread takes the same time whatever the number of threads of others: known times
 * are used again. */
static bool take_known(const broad_bench *bench, broad_group *group, size_t which) {
  bool any = false;
  for (size_t i = 0; !peers[which].has_threads && i < bench->groups; ++i) {
    const broad_group *other = &bench->group[i];
    if (other == group || other->count != group->count ||
        strcmp(other->section, group->section) != 0 || strcmp(other->scene, group->scene) != 0)
      continue;
    for (int k = 0; k < 2; ++k) {
      const char *name = peers[which].methods[k];
      const broad_row *row = name ? broad_group_find(other, name) : NULL;
      if (!row || broad_group_find(group, name))
        continue;
      const broad_row copy = *row;
      *broad_group_add(group, name) = copy;
      any = true;
    }
  }
  return any;
}

static void run(broad_bench *bench, broad_group *group, size_t which, const char *file) {
  char path[600], line[256];
  const broad_options *options = &bench->options;
  snprintf(path, sizeof path, "%s/%s", bench->folder, peers[which].program);
  if (access(path, X_OK) != 0 || take_known(bench, group, which))
    return;
  const double told = broad_predict(bench, group, peers[which].methods[0], 1.1);
  const double seconds = told > 0 ? told : 1e-6 * peers[which].microseconds * (double)group->count;
  if (seconds > options->patience) {
    printf("  %s is left out: about %.0f s for a call, --patience is %g\n", peers[which].methods[0],
           seconds, options->patience);
    return;
  }
  const int repeat = group->count > 200000 || options->quick ? 1 : 3;
  char counts[2][16], name[512];
  snprintf(counts[0], sizeof counts[0], "%d", repeat);
  snprintf(counts[1], sizeof counts[1], "%d", group->threads);
  snprintf(name, sizeof name, "%s", file);
  char *const argv[] = {path, name, counts[0], counts[1], NULL};
  peer_pipe peer;
  if (!peer_pipe_open(&peer, argv))
    return;
  while (fgets(line, sizeof line, peer.from))
    take_line(group, line);
  if (!peer_pipe_close(&peer))
    fprintf(stderr, "talus bench broad: %s failed\n", path);
}

bool broad_measure_peers(broad_bench *bench, broad_group *group, const broad_scene *scene,
                         bool delaunay) {
  if (!bench->options.peers || !*bench->folder)
    return true;
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/talus-bench-XXXXXX", folder && *folder ? folder : "/tmp");
  const int handle = mkstemp(path);
  if (handle < 0 || close(handle) != 0 || !broad_scene_write(scene, path)) {
    fprintf(stderr, "talus bench broad: %s cannot be written\n", path);
    if (handle >= 0)
      unlink(path);
    return false;
  }
  for (size_t i = 0; i < sizeof peers / sizeof *peers; ++i)
    if (!peers[i].is_delaunay || delaunay)
      run(bench, group, i, path);
  unlink(path);
  return true;
}
