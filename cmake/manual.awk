# Writes the manual page of a program or command: see cmake/manual. Reads three files: docs/options.md,
# which begins with how values are written, docs/output.md, which has the exit codes, and what
# scripts/lib/help.awk makes of --help-full.
# Variables: name (of the page), called (what one types for it), release (as --version prints it), date,
# pages (the names of all, with blanks between them).
BEGIN { FS = "\037" }

function roff(text) {
  gsub(/\\/, "\\\\e", text)
  gsub(/-/, "\\-", text)
  return (text ~ /^[.']/ ? "\\&" : "") text
}

function bold(text) { return "\\fB" roff(text) "\\fR" }

# A paragraph of a document: what is `code` there is bold here, and of a link there is the text, or
# nothing where it stands in brackets by itself.
function prose(text,   parts, count, i, result) {
  gsub(/ \(\[[^]]*\]\([^)]*\)\)/, "", text)
  while (match(text, /\]\([^)]*\)/)) text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
  gsub(/\[/, "", text)
  count = split(text, parts, "`")
  for (i = 1; i <= count; ++i) result = result (i % 2 ? roff(parts[i]) : bold(parts[i]))
  return result
}

# One entry of a list, with a TYPE and a default where it has them.
function entry(names, type, value, meaning,   parts, count, i, head) {
  count = split(names, parts, ",")
  for (i = 1; i <= count; ++i) head = head (i == 1 ? "" : ", ") bold(parts[i])
  print ".TP\n" head (type == "" ? "" : " \\fI" type "\\fR")
  value = roff(value)
  gsub(/,/, ",\\:", value) # a line may end here
  print roff(meaning) (value == "" ? "" : " (default: " value ")")
}

FNR == 1 { ++file }

# All paragraphs of the beginning but the first, which says who wrote it.
file == 1 && /^## / { past_beginning = 1 }
file == 1 && !past_beginning && !/^# / {
  if ($0 != "") {
    paragraph = paragraph (paragraph == "" ? "" : " ") $0
  } else {
    if (paragraph != "" && paragraph !~ /^\(/) values = values (values == "" ? "" : ".PP\n") prose(paragraph) "\n"
    paragraph = ""
  }
}

file == 2 && /^#/ { in_codes = /^## Exit codes/ }
file == 2 && in_codes && /^\| [0-9a]/ {
  split($0, cells, / *\| */)
  codes = codes ".TP\n" bold(cells[2]) "\n" prose(cells[3]) "\n"
}

file < 3 { next }

$1 == "about" {
  first = $2 # sentence
  sub(/[.?] .*|\.$/, "", first)
  # What can be typed is never hyphenated.
  print ".TH " roff(toupper(name)) " 1 " date " \"" release "\" retrystorm\n.nh\n.ad l"
  print ".SH NAME\n" roff(name) " \\- " roff(tolower(substr(first, 1, 1)) substr(first, 2))
  print ".SH SYNOPSIS\n" bold(called) (name == "retrystorm" ? " \\fICOMMAND\\fR" : "") " [\\fIOPTION\\fR]..."
  print ".SH DESCRIPTION\n" roff($2)
}
$1 == "example" {
  sub(/^(server|client|simulate) /, "retrystorm-&", $2)
  examples = examples roff($2) "\n"
}
$1 == "command" {
  if (!commands++) print ".SH COMMANDS\nEach has a page of its own, such as " bold("retrystorm-" $2) "(1)."
  entry($2, "", "", $3)
}
$1 == "option" {
  if (group == "") printf ".SH OPTIONS\n%s", commands ? "" : values
  if ($2 != group) print ".SS " roff($2)
  group = $2
  entry($3, $4, $5, $6)
}
END {
  if (group == "" || values == "" || codes == "") {
    print "manual.awk: no options, or no text about values or exit codes" >"/dev/stderr"
    exit 1
  }
  if (examples != "") print ".SH EXAMPLES\n.nf\n" examples ".fi"
  print ".SH EXIT STATUS\n" codes ".SH SEE ALSO"
  count = split(pages, parts, " ")
  for (i = 1; i <= count; ++i) {
    if (parts[i] != name) see = see (see == "" ? "" : " ,\n") ".BR " roff(parts[i]) " (1)"
  }
  print see
  print ".PP\nThe documents are README.md and docs/ (installed: share/doc/retrystorm), ready\\-made"
  print "settings for " bold("--config") " in share/retrystorm/scenarios."
}
