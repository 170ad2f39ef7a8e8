# shellcheck shell=bash
# Completes the commands, options and values of cpt and cpt_dist in bash. It reads them from --help of the program that
# is typed, and so never differs from it.

# The commands that the help on standard input lists.
_cpt_commands() { sed -n '/^Subcommands:/,/^$/ s/^  \([a-z-]\+\) .*/\1/p'; }

# The values that the help on standard input lists for an option; none of those like file:PATH.
_cpt_values() { grep -F -m 1 -- "  $1 (" | sed 's/.*(\([^)]*\)).*/\1/; s/[a-z]\+:[A-Z]\+//g; s/,//g'; }

_cpt() {
  local words=("${1/#\~/$HOME}") current=$2 previous=$3 help word candidates
  # In --option=value, bash takes = for a word.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  help=$("${words[@]}" --help 2>/dev/null)
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if _cpt_commands <<<"$help" | grep -qxF -e "$word"; then
      words+=("$word")
      help=$("${words[@]}" --help 2>/dev/null)
    fi
  done
  if [[ $current == -* ]]; then
    candidates=$(sed -n 's/^  \(-h,\)\?\(--[a-z,-]\+\).*/\2/p' <<<"$help" | tr ',' '\n')
  elif [[ $previous == --* ]]; then
    candidates=$(_cpt_values "$previous" <<<"$help")
  else
    candidates=$(_cpt_commands <<<"$help")
  fi
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$current")
}

# File names where there are no candidates.
complete -o default -F _cpt cpt cpt_dist
