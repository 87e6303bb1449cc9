#!/bin/sh
# write_help_files.sh COMMAND NAME VERSION OUTPUT [gzip]
#
# Man pages and shell completions, made from what `talus --help` and `talus CMD --help` say, so that
# they cannot differ from it. COMMAND is the built program, NAME what it is installed as. Writes
#   OUTPUT/man/NAME.1, NAME-CMD.1 ...   (with `gzip`: compressed, as Debian wants them)
#   OUTPUT/completion/NAME (bash), _NAME (zsh)
# talus-single has the same commands as talus: it gets one page, and talus's completions serve it.
set -eu
command=$1 name=$2 version=$3 output=$4 compress=${5:-}
here=$(dirname "$0")

rm -rf "$output/man" "$output/completion"
mkdir -p "$output/man" "$output/completion"

# All help texts in one file, each after a line with a control character and its command's name.
commands=$("$command" --help | awk '/^$/ { on = 0 } on { print $1 } /^Commands:$/ { on = 1 }')
[ -n "$commands" ] || { echo "$0: $command --help lists no commands" >&2; exit 1; }
{
  printf '\001\n'
  "$command" --help
  [ "$name" != talus ] || for each in $commands; do
    printf '\001%s\n' "$each"
    "$command" "$each" --help
  done
} >"$output/help.txt"

awk -v name="$name" -v version="$version" -v folder="$output/man" \
  -f "$here/help_to_man.awk" "$output/help.txt"
[ "$name" != talus ] || awk -v version="$version" -v folder="$output/completion" \
  -f "$here/help_to_completion.awk" "$output/help.txt"
[ -z "$compress" ] || gzip -9n "$output"/man/*.1
