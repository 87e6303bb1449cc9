# awk -v name=talus -v version=0.1.0 -v folder=DIR -f help_to_man.awk help.txt
#
# Man pages from help texts (write_help_files.sh says what help.txt is). What the texts look like:
#   talus run SCENE [options]      the first line: the synopsis (of the main text: "talus: what it is")
#   plain lines                    paragraphs, to be filled
#   Heading:                       a section; of Options and Commands the lines below are a list
#     indented lines               shown as they are
#   Exit codes: 0 done, ...        a section of its own, repeated on every page

function escape(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  gsub(/'/, "\\(aq", text)
  gsub(/`/, "\\(ga", text)
  gsub(/\^/, "\\(ha", text)
  gsub(/~/, "\\(ti", text)
  sub(/^\./, "\\\\\\&.", text) # a line that begins with a dot would be a request
  return text
}

function put(text) { print text > file }

function section(title) {
  leave_block()
  put(".SH " toupper(title))
  at_start = 1
}

function leave_block() {
  if (in_block)
    put(".EE")
  in_block = 0
}

# A line shown as it is.
function put_block(text) {
  if (!in_block) {
    if (!at_start)
      put(".PP")
    put(".EX")
  }
  in_block = 1
  at_start = 0
  put(escape(text))
}

# "-o, --output DIR       where results go", or "run       runs a scene".
function put_entry(text,    left, rest, value) {
  if (match(text, /^(-[A-Za-z], )?--[a-z0-9-]+/)) {
    left = substr(text, 1, RLENGTH)
    rest = substr(text, RLENGTH + 1)
    if (match(rest, /^ [^ ]+/)) {
      value = substr(rest, 2, RLENGTH - 1)
      rest = substr(rest, RLENGTH + 1)
    }
    sub(/, /, "\\fR, \\fB", left)
  } else {
    match(text, /^[^ ]+/)
    left = substr(text, 1, RLENGTH)
    rest = substr(text, RLENGTH + 1)
  }
  sub(/^ +/, "", rest)
  put(".TP")
  gsub(/-/, "\\-", left)
  put("\\fB" left "\\fR" (value == "" ? "" : " \\fI" escape(value) "\\fR"))
  put(escape(rest))
  at_start = 0
}

# A line of a paragraph.
function put_text(text) {
  leave_block()
  if (is_after_heading) {
    section("notes")
    is_after_heading = 0
  } else if (!has_description) {
    section("description")
  } else if (is_new_paragraph && !at_start)
    put(".PP")
  has_description = 1
  is_new_paragraph = at_start = 0
  put(escape(text))
}

function begin_page(    title, what, usage) {
  page = command == "" ? name : name "-" command
  file = folder "/" page ".1"
  title = toupper(page)
  in_block = at_start = is_after_heading = has_description = is_new_paragraph = is_list = 0
  put(".\\\" Made by the build from the help texts of talus.")
  put(".TH " title " 1 \"\" \"talus " version "\" \"talus manual\"")
  put(".SH NAME")
  what = command == "" ? about : summary[command]
  put(escape(page) " \\- " escape(what))
  section("synopsis")
  put(".nf")
  usage = synopsis
  sub(/^ *[^ ]+/, "", usage) # the program, and the command
  if (command != "")
    sub("^ " command, "", usage)
  put("\\fB" escape(name (command == "" ? "" : " " command)) "\\fR" escape(usage))
  put(".fi")
}

function end_page(    i, list) {
  if (file == "")
    return
  leave_block()
  if (exit_codes != "") {
    section("exit status")
    put(escape(exit_codes))
  }
  list = command == "" ? "" : "\\fB" name "\\fR(1)"
  for (i = 1; i <= commands && name == "talus"; ++i)
    if (names[i] != command)
      list = list (list == "" ? "" : ",\n") "\\fB" name "\\-" names[i] "\\fR(1)"
  if (list != "") {
    section("see also")
    put(list)
  }
  close(file)
  file = ""
}

/^\001/ {
  end_page()
  command = substr($0, 2)
  synopsis = ""
  next
}

# The main text begins "talus: what it is", and its synopsis is the first indented line.
command == "" && synopsis == "" {
  if (/^talus: /)
    about = substr($0, 8) (name == "talus" ? "" : ", in single precision")
  if (/^  /) {
    synopsis = $0
    begin_page()
  }
  next
}

synopsis == "" {
  synopsis = $0
  begin_page()
  next
}

name != "talus" && command == "" { gsub(/talus /, name " ") }

/^$/ {
  leave_block()
  is_new_paragraph = 1
  is_list = 0
  next
}

/^[A-Z][A-Za-z ]*:$/ {
  heading = substr($0, 1, length($0) - 1)
  is_list = heading == "Options" || heading == "Commands"
  section(heading)
  has_description = is_after_heading = 1
  next
}

/^Exit codes: / {
  exit_codes = substr($0, 13)
  next
}

/^  / {
  text = substr($0, 3)
  if (is_list && heading == "Commands") {
    names[++commands] = $1
    summary[$1] = text
    sub(/^[^ ]+ +/, "", summary[$1])
  }
  if (is_list)
    put_entry(text)
  else
    put_block(text)
  next
}

{ put_text($0) }

END { end_page() }
