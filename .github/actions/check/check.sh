#!/usr/bin/env bash
# Runs mm2doctor check with what the action was given, in MM2DOCTOR_*: one run, all formats, its exit code.
set -uo pipefail

# say KIND TEXT shows an annotation that is about no line.
say() {
  local text=${2//'%'/'%25'}
  text=${text//$'\r'/'%0D'}
  echo "::$1 title=mm2doctor check::${text//$'\n'/'%0A'}"
}

trim() {
  local text=${1#"${1%%[![:space:]]*}"}
  printf '%s' "${text%"${text##*[![:space:]]}"}"
}

# A line is a file's name where such a file is there; else its words are, and a pattern is the files that it fits.
files=()
add() {
  local found
  if [ ! -e "$1" ] && found=$(compgen -G "$1"); then
    while IFS= read -r name; do files+=("$name"); done < <(LC_ALL=C sort <<<"$found")
  else
    files+=("$1")
  fi
}
while IFS= read -r line; do
  line=$(trim "$line")
  if [ -e "$line" ]; then
    files+=("$line")
  else
    read -ra words <<<"$line"
    for word in ${words[@]+"${words[@]}"}; do add "$word"; done
  fi
done <<<"${MM2DOCTOR_FILES:-}"
if [ ${#files[@]} -eq 0 ]; then
  say error "the input files is empty: name the configurations to check"
  echo "exit-code=2" >>"$GITHUB_OUTPUT"
  exit 2
fi

scratch=$(mktemp -d "${RUNNER_TEMP:-/tmp}/mm2doctor.XXXXXX")
report=$scratch/report.md
sarif=${MM2DOCTOR_SARIF:-}
case $sarif in '' | /* | [A-Za-z]:*) ;; *) sarif=$PWD/$sarif ;; esac
options=(--fail-on "${MM2DOCTOR_FAIL_ON:-error}" -o "markdown=$report")
[ -z "${MM2DOCTOR_VERSION:-}" ] || options+=(--mm2-version "$MM2DOCTOR_VERSION")
[ -z "${MM2DOCTOR_MIN_SEVERITY:-}" ] || options+=(--min-severity "$MM2DOCTOR_MIN_SEVERITY")
[ -z "${MM2DOCTOR_SETTINGS:-}" ] || options+=(--settings "$MM2DOCTOR_SETTINGS")
[ -z "$sarif" ] || options+=(-o "sarif=$sarif")

code=0
if [ "${MM2DOCTOR_ANNOTATIONS:-true}" = true ]; then
  "$MM2DOCTOR" check "${options[@]}" -o github -- "${files[@]}" 2>"$scratch/errors" || code=$?
else
  # Lines of configurations are shown, and none of them may be a command to the runner.
  token=mm2doctor-$RANDOM$RANDOM$RANDOM
  echo "::stop-commands::$token"
  "$MM2DOCTOR" check "${options[@]}" -o text -- "${files[@]}" 2>"$scratch/errors" || code=$?
  echo "::$token::"
fi

# From 2 on nothing was checked, and no report was written in this run.
if [ "$code" -ge 2 ]; then
  say error "$(cat "$scratch/errors")"
else
  cat "$scratch/errors" >&2
  [ "${MM2DOCTOR_SUMMARY:-true}" != true ] || [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$report" >>"$GITHUB_STEP_SUMMARY"
fi
{
  echo "exit-code=$code"
  [ "$code" -ge 2 ] || echo "report=$report"
  [ "$code" -ge 2 ] || [ -z "$sarif" ] || echo "sarif=$sarif"
} >>"$GITHUB_OUTPUT"
exit "$code"
