# bash completion of talus(1)
_talus() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
  local talus=${COMP_WORDS[0]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'run check scenes info bench help --help --version' -- "$word")
    return
  fi
  case $before in
    -o | --output) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
    --backend) mapfile -t COMPREPLY < <(compgen -W 'cpu' -- "$word"); return ;;
    --threads | --until | --set | --checkpoint-every) return ;;
  esac
  case $command:$word in
    run:-*) mapfile -t COMPREPLY < <(compgen -W '--output --resume --force --until --set --threads
      --backend --checkpoint-every --quiet --help' -- "$word") ;;
    check:-*) mapfile -t COMPREPLY < <(compgen -W '--set --threads --help' -- "$word") ;;
    scenes:-*) mapfile -t COMPREPLY < <(compgen -W '--schema --help' -- "$word") ;;
    info:-*) mapfile -t COMPREPLY < <(compgen -W '--json --help' -- "$word") ;;
    bench:*) mapfile -t COMPREPLY < <(compgen -W 'pour --list --help' -- "$word") ;;
    help:*) mapfile -t COMPREPLY < <(compgen -W 'run check scenes info bench' -- "$word") ;;
    info:*) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
    run:* | check:* | scenes:*)
      local names
      names=$("$talus" scenes 2>/dev/null | cut -d' ' -f1)
      mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word"
        [ "$command" = scenes ] || compgen -f -X '!*.@(yaml|yml)' -- "$word"
        [ "$command" = scenes ] || compgen -d -- "$word") ;;
  esac
}
complete -o filenames -F _talus talus talus-single
