/* talus audit: checks whether bodies of a run passed through each other. */
#include <talus/audit.h>

#include <stdio.h>
#include <string.h>

#include "json.h"
#include "progress.h"

static volatile int interrupt;

static void on_signal(int signal) {
  (void)signal;
  interrupt = 1;
}

static void on_progress(void *context, const talus_progress *now) { progress_show(context, now); }

static void on_log(void *context, int level, const char *line) {
  (void)context, (void)level, (void)line; /* the run has reported it already */
}

static void show_pair(const char *what, const talus_audit_pair *pair) {
  if (pair->depth == 0 && strcmp(what, "first") == 0) { /* by signs alone */
    printf("  %-10s %s and %s at t = %.9g s: they share a place\n", what, cli_shown(pair->a),
           cli_shown(pair->b), pair->time);
    return;
  }
  printf("  %-10s %s and %s at t = %.9g s: %s %.3g m\n", what, cli_shown(pair->a),
         cli_shown(pair->b), pair->time, pair->depth > 0 ? "overlap" : "gap",
         pair->depth > 0 ? pair->depth : 0 - pair->depth);
}

static void show_moved(const talus_audit_result *r) {
  printf("  %-10s %llu bodies are not in the frames as the run had them; the first: %s in frame "
         "%llu",
         "frames", (unsigned long long)r->moved, cli_shown(r->moved_body),
         (unsigned long long)r->moved_frame);
  if (r->moved_by > 0)
    printf(", moved by %.3g m\n", r->moved_by);
  else
    printf(", which is turned or missing\n");
}

static void show(const char *folder, const talus_audit_def *def, const talus_audit_result *r) {
  const bool is_clean = r->overlaps == 0 && r->moved == 0;
  printf("%s: %s\n", cli_shown(folder),
         is_clean           ? "nothing passed through anything"
         : r->overlaps == 0 ? "the frames are not those of the run"
                            : "bodies overlap by more than the tolerance");
  printf("  %-10s %llu steps to t = %g s; %llu states and %llu frames are those of the run\n",
         "repeated", (unsigned long long)r->steps, r->time, (unsigned long long)r->hashes,
         (unsigned long long)(r->moved > 0 ? 0 : r->frames));
  printf("  %-10s %llu pairs %s, looked at %llu times\n", "proven", (unsigned long long)r->pairs,
         def->frames ? "at output times" : "over a step each", (unsigned long long)r->looks);
  if (r->decided > 0)
    printf("  %-10s %llu pairs of flat bodies at output times, by exact signs\n", "decided",
           (unsigned long long)r->decided);
  if (r->overlaps > 0) {
    printf("  %-10s %llu pairs and steps", "overlaps", (unsigned long long)r->overlaps);
    if (r->unproven > 0)
      printf(" (%llu of them could not be proven either way)", (unsigned long long)r->unproven);
    printf("\n");
    show_pair("first", &r->first);
  }
  if (r->deepest.uid_a != 0)
    show_pair(r->deepest.depth > 0 ? "deepest" : "nearest", &r->deepest);
  if (r->moved > 0)
    show_moved(r);
}

static void write_pair(json *out, const char *name, const talus_audit_pair *pair) {
  json_open(out, name, '{');
  json_text(out, "a", pair->a);
  json_text(out, "b", pair->b);
  json_number(out, "uid_a", (double)pair->uid_a);
  json_number(out, "uid_b", (double)pair->uid_b);
  json_number(out, "time", pair->time);
  json_number(out, "depth", pair->depth);
  json_close(out, '}');
}

static void show_json(const talus_audit_result *r) {
  json out = json_begin(stdout);
  json_open(&out, NULL, '{');
  json_number(&out, "time", r->time);
  json_number(&out, "steps", (double)r->steps);
  json_number(&out, "hashes", (double)r->hashes);
  json_number(&out, "frames", (double)r->frames);
  json_number(&out, "pairs", (double)r->pairs);
  json_number(&out, "looks", (double)r->looks);
  json_number(&out, "overlaps", (double)r->overlaps);
  json_number(&out, "unproven", (double)r->unproven);
  json_number(&out, "decided", (double)r->decided);
  json_number(&out, "moved", (double)r->moved);
  if (r->overlaps > 0)
    write_pair(&out, "first", &r->first);
  if (r->deepest.uid_a != 0)
    write_pair(&out, "deepest", &r->deepest);
  json_close(&out, '}');
  json_end(&out);
}

static int audit(const char *folder, const talus_audit_def *wanted, bool quiet, bool as_json) {
  progress_bar bar = progress_begin(quiet);
  talus_audit_def def = *wanted;
  talus_audit_result result;
  def.folder = folder;
  def.progress = on_progress;
  def.log = on_log;
  def.context = &bar;
  def.interrupt = &interrupt;
  cli_catch_stops(on_signal, true);
  const talus_status status = talus_audit(&def, &result);
  progress_clear(&bar);
  if (status == TALUS_INTERRUPTED) {
    cli_note("audit: stopped at t = %g s; until then %llu pairs overlap by more than the tolerance",
             result.time, (unsigned long long)result.overlaps);
    return CLI_INTERRUPTED;
  }
  if (status != TALUS_OK) {
    cli_error("audit: %s", talus_last_error());
    return status == TALUS_ERROR_IO ? CLI_INPUT : cli_exit_code(status);
  }
  if (as_json)
    show_json(&result);
  else
    show(folder, &def, &result);
  return result.overlaps > 0 || result.moved > 0 ? CLI_FAILED : CLI_DONE;
}

int cli_audit(int argc, char **argv) {
  talus_audit_def def = talus_audit_def_default();
  double tolerance = -1;
  bool quiet = false, as_json = false;
  const cli_option options[] = {
      {"tolerance", 0, CLI_NUMBER, "D", "m of overlap allowed (default: slop + 1e-6 radii)",
       &tolerance},
      {"frames", 0, CLI_FLAG, NULL, "only the states at output times, not the steps between",
       &def.frames},
      {"threads", 0, CLI_COUNT, "N", "0: all cores (default)", &def.threads},
      {"quiet", 'q', CLI_FLAG, NULL, "no progress", &quiet},
      {"json", 0, CLI_FLAG, NULL, "for programs", &as_json},
      {0}};
  const cli_usage usage = {
      .synopsis = "talus audit FOLDER [options]",
      .about = "Repeats the run in a result folder (the hashes in history.csv prove that it\n"
               "is that run) and proves for every pair of bodies and every step that they\n"
               "keep apart, or finds by how much they overlap. Also compares the frames\n"
               "with the run.",
      .options = options,
      .more = "Exit code 1: bodies overlap by more than the tolerance, or a frame was changed.\n",
      .least = 1,
      .most = 1,
      .wants = "a result folder"};
  const char *arguments[1];
  const int parsed = cli_parse(&usage, argc, argv, arguments);
  if (parsed < 0)
    return cli_parse_exit(parsed);
  bool has_tolerance = false;
  for (int i = 1; i < argc; ++i)
    has_tolerance |= strncmp(argv[i], "--tolerance", strlen("--tolerance")) == 0;
  if (has_tolerance && tolerance < 0) {
    cli_error("audit: option '--tolerance': %g is negative", tolerance);
    return CLI_INPUT;
  }
  def.tolerance = tolerance;
  return audit(arguments[0], &def, quiet, as_json);
}
