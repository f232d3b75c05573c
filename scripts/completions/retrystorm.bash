# Completion for bash. It asks the program itself, so that it knows every option of that version.
# shellcheck shell=bash

_retrystorm() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options
  # "--option=value" comes in three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    --strategy)
      options=$("$1" --list-strategies 2>/dev/null | grep '^[^ ]')
      mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
      return
      ;;
    --config | --json | --csv | --server-json)
      mapfile -t COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2>/dev/null
      return
      ;;
  esac
  if [[ $current != -* ]]; then
    # The help of an option that takes one of some names ends with them.
    options=$("$1" --help-all 2>/dev/null | awk -v option="$previous" '
      ("," $1 ",") ~ ("," option ",") && $2 ~ /^NAME/ && sub(/.*: /, "") {gsub(/,/, ""); print}')
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  options=$("$1" --help-all 2>/dev/null |
    awk '$1 ~ /^-/ {n = split($1, names, ","); for (i = 1; i <= n; ++i) print names[i]}')
  mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
}

complete -F _retrystorm retrystorm-server retrystorm-client retrystorm-simulate
# The names in the build tree would be too general for a whole system.
if [[ ${BASH_SOURCE[0]} == */scripts/completions/* ]]; then
  complete -F _retrystorm server client simulate
fi
