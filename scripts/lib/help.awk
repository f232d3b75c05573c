# Reads what a program prints on --help-full, and prints a line for each thing that it says, with
# "\037" between the fields:
#   about TEXT | example COMMAND | command NAME TEXT | option GROUP NAMES TYPE DEFAULT MEANING
BEGIN {
  OFS = "\037"
  part = "about"
}

function put() {
  if (row != "") print row
  row = ""
}

# What was begun goes on with this text.
function add(text) { row = row (row ~ /\037$/ ? "" : " ") text }

# NAMES, after one space TYPE, TYPE=DEFAULT or TYPE [DEFAULT], and after two or more the meaning.
function begin_option(text,   spelt, type, value, end) {
  end = index(text " ", " ")
  spelt = substr(text, 1, end - 1)
  text = substr(text, end + 1)
  if (text ~ /^[A-Z]/) {
    end = index(text "  ", "  ")
    value = substr(text, 1, end - 1)
    text = substr(text, end)
    type = value
    sub(/[ =].*/, "", type)
    value = substr(value, length(type) + 2)
    gsub(/^\[|\]$/, "", value)
  }
  sub(/^ +/, "", text)
  row = "option" OFS group OFS spelt OFS type OFS value OFS text
}

/^ *$/ {
  put()
  next
}
part == "about" && /^Usage: / {
  put()
  part = "examples"
  next
}
part == "about" {
  if (row == "") row = "about" OFS
  add($0)
  next
}
part == "examples" && sub(/^(Examples:$|Example: |  )/, "") {
  sub(/^ +/, "")
  example = example $0
  if (!sub(/\\$/, "", example)) { # it does not go on
    if (example != "") print "example", example
    example = ""
  }
  next
}
/^[^ ]/ {
  put()
  part = "groups"
  group = $0
  next
}
{
  indent = match($0, /[^ ]/) - 1
  text = substr($0, indent + 1)
  if (group ~ /^Commands/ && indent == 2) {
    put()
    row = "command" OFS text
    sub(/ +/, OFS, row)
  } else if (indent < 30 && (names != "" || text ~ /^-/)) {
    names = names text
    if (names ~ /,$/ && names !~ /  /) next # its names or its default go on
    put()
    begin_option(names)
    names = ""
  } else {
    add(text)
  }
}
END { put() }
