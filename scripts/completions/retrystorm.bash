# Completion for bash. It asks the program itself, so that it knows every option of that version.
# shellcheck shell=bash

_retrystorm() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options
  local program=("$1")
  # Each of its commands has its own options.
  if [[ ${1##*/} == retrystorm && ${COMP_WORDS[1]} != -* ]]; then
    if ((COMP_CWORD == 1)); then
      options=$("$1" --help 2>/dev/null | awk '/^Commands/ {on = 1; next} !NF {on = 0} on && /^  [a-z]/ {print $1}')
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      return
    fi
    program+=("${COMP_WORDS[1]}")
  fi
  # "--option=value" comes in three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    --strategy)
      options=$("${program[@]}" --list-strategies 2>/dev/null | grep '^[^ ]')
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      return
      ;;
    --config | --json | --csv | --markdown | --output | --server-json)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2>/dev/null
      return
      ;;
  esac
  if [[ $current != -* ]]; then
    # The help of an option that takes one of several names ends with these names.
    options=$("${program[@]}" --help-full 2>/dev/null | sed -e :a -e N -e '$!ba' -e 's/\n  \{30,\}/ /g' |
      awk -v option="$previous" '
      ("," $1 ",") ~ ("," option ",") && $2 ~ /^NAME/ && sub(/.*: /, "") {gsub(/,/, ""); print}')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    if [[ -z $options && ${program[1]-} == @(check|import) ]]; then
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2>/dev/null
    fi
    return
  fi
  options=$("${program[@]}" --help-full 2>/dev/null |
    awk '/^  -/ {n = split($1, names, ","); for (i = 1; i <= n; ++i) print names[i]}')
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -F _retrystorm retrystorm retrystorm-server retrystorm-client retrystorm-simulate
# The names in the build tree would be too general for a whole system.
if [[ ${BASH_SOURCE[0]} == */scripts/completions/* ]]; then
  complete -F _retrystorm server client simulate
fi
