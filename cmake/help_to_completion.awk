# awk -v version=0.1.0 -v folder=DIR -f help_to_completion.awk help.txt
#
# bash and zsh completions from help texts (write_help_files.sh says what help.txt is). What follows
# an option or stands in a synopsis says what may be completed there:
#   DIR, FOLDER   folders            SCENE   built-in scenes, YAML files, folders
#   FILE          files              a|b|c   these words
# A section "Colours:" lists the words for --colour, as "Benchmarks:" does for `talus bench`: what
# stands in its first (third ...) column, two blanks apart from the next. Other values are free.
# "may be repeated" in an option's help means that.

# What may be completed where the help text of `command` says `value`, after option --NAME or, where
# name is the command, in the place of its argument.
function kind_of(command, name, value,    words) {
  words = listed[command, name "s"]
  if (words == "" && name == command && command == "bench")
    words = listed[command, "benchmarks"]
  if (words != "")
    return "words " words
  if (value == "DIR" || value == "FOLDER")
    return "folders"
  if (value == "FILE")
    return "files"
  if (value == "SCENE")
    return "scenes"
  if (value ~ /\|/) {
    gsub(/\|/, " ", value)
    return "words " value
  }
  return name == command && name == "scenes" ? "names" : "free"
}

function put(text) { print text > file }

# In single quotes, for both shells.
function quote(text) {
  gsub(/'/, "'\\''", text)
  return "'" text "'"
}

/^\001/ {
  command = substr($0, 2)
  is_first = 1
  heading = ""
  next
}

is_first && command != "" {
  is_first = 0
  # "talus run SCENE [options]": the third word is what the command takes.
  split($0, word, " ")
  gsub(/\[|\]|\./, "", word[3])
  argument[command] = word[3]
}

/^$/ { heading = "" }

/^[A-Z][A-Za-z ]*:$/ {
  heading = substr($0, 1, length($0) - 1)
  next
}

heading == "Commands" && command == "" {
  names[++commands] = $1
  line = substr($0, 3)
  sub(/^[^ ]+ +/, "", line)
  summary[$1] = line
}

heading != "" && heading != "Options" && command != "" {
  n = split(substr($0, 3), part, /  +/)
  for (i = 1; i <= n; i += 2)
    if (part[i] ~ /^[a-z][a-z0-9-]*$/)
      listed[command, tolower(heading)] = listed[command, tolower(heading)] part[i] " "
}

heading == "Options" && match($0, /^  (-[A-Za-z], )?--[a-z0-9-]+/) {
  left = substr($0, 3, RLENGTH - 2)
  rest = substr($0, RLENGTH + 1)
  value = ""
  if (match(rest, /^ [^ ]+/)) {
    value = substr(rest, 2, RLENGTH - 1)
    rest = substr(rest, RLENGTH + 1)
  }
  sub(/^ +/, "", rest)
  n = ++options[command]
  letter[command, n] = ""
  if (match(left, /^-[A-Za-z], /)) {
    letter[command, n] = substr(left, 1, 2)
    left = substr(left, 5)
  }
  option[command, n] = left
  takes[command, n] = value
  help[command, n] = rest
}

# ---- bash ----------------------------------------------------------------------------------------

# After which options which kind of value is completed: lines of a `case`. Options with free values
# go to one line for all, free_values.
function put_bash_values(command,    n, at, kind) {
  for (n = 1; n <= options[command]; ++n) {
    if (takes[command, n] == "")
      continue
    at = command ":" option[command, n]
    if (letter[command, n] != "")
      at = command ":" letter[command, n] " | " at
    kind = kind_of(command, substr(option[command, n], 3), takes[command, n])
    if (kind == "free")
      free_values = free_values (free_values == "" ? "" : " | ") at
    else
      put("    " at ") kind=" quote(kind) " ;;")
  }
}

function put_bash(    i, n, all, list, kind) {
  file = folder "/talus"
  for (i = 1; i <= commands; ++i)
    all = all names[i] " "
  put("# bash completion of talus(1); made by the build from the help texts of talus " version ".")
  put("_talus() {")
  put("  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}")
  put("  local talus=${COMP_WORDS[0]} command=${COMP_WORDS[1]} kind= options=")
  put("  COMPREPLY=()")
  put("  if ((COMP_CWORD == 1)); then")
  put("    mapfile -t COMPREPLY < <(compgen -W " quote(all "help --help --version") " -- \"$word\")")
  put("    return")
  put("  fi")
  put("  # bash splits --option=value into three words.")
  put("  if [[ $word == '=' ]]; then word=; fi")
  put("  if [[ $before == '=' ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi")
  put("  case $command in")
  for (i = 1; i <= commands; ++i) {
    list = ""
    for (n = 1; n <= options[names[i]]; ++n)
      list = list (n > 1 ? " " : "") option[names[i], n]
    kind = kind_of(names[i], names[i], argument[names[i]])
    put("    " names[i] ") options=" quote(list) " kind=" quote(kind) " ;;")
  }
  sub(/ $/, "", all)
  put("    help) kind=" quote("words " all) " ;;")
  put("    *) return ;;")
  put("  esac")
  put("  case $command:$before in")
  for (i = 1; i <= commands; ++i)
    put_bash_values(names[i])
  if (free_values != "")
    put("    " free_values ") kind= ;;")
  put("    *) if [[ $word == -* ]]; then kind=\"words $options\"; fi ;;")
  put("  esac")
  put("  case $kind in")
  put("    words*) mapfile -t COMPREPLY < <(compgen -W \"${kind#words}\" -- \"$word\") ;;")
  put("    files) mapfile -t COMPREPLY < <(compgen -f -- \"$word\") ;;")
  put("    folders) mapfile -t COMPREPLY < <(compgen -d -- \"$word\") ;;")
  put("    names | scenes)")
  put("      local names files=()")
  put("      names=$(\"$talus\" scenes 2>/dev/null | cut -d' ' -f1)")
  put("      if [[ $kind == scenes ]]; then")
  put("        mapfile -t files < <(compgen -f -- \"$word\" | grep -E '[.]ya?ml$'; compgen -d -- \"$word\")")
  put("      fi")
  put("      mapfile -t COMPREPLY < <(compgen -W \"$names\" -- \"$word\")")
  put("      COMPREPLY+=(\"${files[@]}\")")
  put("      ;;")
  put("  esac")
  put("}")
  put("complete -o filenames -F _talus talus talus-single")
  close(file)
}

# ---- zsh -----------------------------------------------------------------------------------------

function zsh_action(kind) {
  if (kind == "folders")
    return "_files -/"
  if (kind == "files")
    return "_files"
  if (kind == "scenes" || kind == "names")
    return "_talus_" kind
  if (kind ~ /^words /)
    return "(" substr(kind, 7) ")"
  return " "
}

# A text within [brackets] or between colons.
function zsh_text(text) {
  gsub(/:/, "\\:", text)
  gsub(/\[/, "\\[", text)
  gsub(/\]/, "\\]", text)
  return text
}

function put_zsh_options(command,    n, spec) {
  for (n = 1; n <= options[command]; ++n) {
    spec = "[" zsh_text(help[command, n]) "]"
    if (takes[command, n] != "")
      spec = spec ":" zsh_text(takes[command, n]) ":" \
             zsh_action(kind_of(command, substr(option[command, n], 3), takes[command, n]))
    if (help[command, n] ~ /may be repeated|again and again/)
      put("        " quote("*" option[command, n] spec) " \\")
    else if (option[command, n] == "--help")
      put("        '(- *)'{-h,--help}" quote(spec) " \\")
    else if (letter[command, n] != "")
      put("        '(" letter[command, n] " " option[command, n] ")'{" letter[command, n] "," \
          option[command, n] "}" quote(spec) " \\")
    else
      put("        " quote(option[command, n] spec) " \\")
  }
}

function put_zsh(    i, value, action) {
  file = folder "/_talus"
  put("#compdef talus talus-single")
  put("# zsh completion of talus(1); made by the build from the help texts of talus " version ".")
  put("")
  put("_talus_names() {")
  put("  local -a names")
  put("  names=(${(f)\"$(_call_program scenes talus scenes 2>/dev/null | sed 's/  */:/')\"})")
  put("  _describe -t scenes 'built-in scene' names")
  put("}")
  put("")
  put("_talus_scenes() {")
  put("  _alternative 'names:built-in scene:_talus_names' 'files:scene:_files -g \"*.(yaml|yml)\"'")
  put("}")
  put("")
  put("_talus() {")
  put("  local curcontext=$curcontext context state line")
  put("  local -a commands")
  put("  commands=(")
  for (i = 1; i <= commands; ++i)
    put("    " quote(names[i] ":" summary[names[i]]))
  put("    'help:shows the help text of a command'")
  put("  )")
  put("  _arguments -C '(- *)'{-h,--help}'[this text]' '(- *)'{-V,--version}'[version]' \\")
  put("    '1: :->command' '*:: :->arguments'")
  put("  case $state in")
  put("  command) _describe -t commands 'talus command' commands ;;")
  put("  arguments)")
  put("    case $words[1] in")
  for (i = 1; i <= commands; ++i) {
    value = argument[names[i]]
    action = zsh_action(kind_of(names[i], names[i], value))
    put("    " names[i] ")")
    put("      _arguments \\")
    put_zsh_options(names[i])
    put("        " quote("1:" zsh_text(value) ":" action))
    put("      ;;")
  }
  put("    help) _describe -t commands 'talus command' commands ;;")
  put("    esac")
  put("    ;;")
  put("  esac")
  put("}")
  put("")
  put("_talus \"$@\"")
  close(file)
}

END {
  put_bash()
  put_zsh()
}
