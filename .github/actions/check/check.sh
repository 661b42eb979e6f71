#!/usr/bin/env bash
# Runs mm2doctor check with what the action was given, in MM2DOCTOR_*: one run, all formats, its exit code.
set -uo pipefail

# A line is a file's name where such a file is there; else its words are.
files=()
while IFS= read -r line; do
  line=${line%$'\r'}
  if [ -e "$line" ]; then
    files+=("$line")
  else
    read -ra words <<<"$line"
    files+=(${words[@]+"${words[@]}"})
  fi
done <<<"${MM2DOCTOR_FILES:-}"
if [ ${#files[@]} -eq 0 ]; then
  echo "::error title=mm2doctor::the input files is empty: name the configurations to check"
  exit 2
fi

report=$(mktemp "${RUNNER_TEMP:-/tmp}/mm2doctor.XXXXXX.md")
options=(--fail-on "${MM2DOCTOR_FAIL_ON:-error}" -o "markdown=$report")
[ -z "${MM2DOCTOR_VERSION:-}" ] || options+=(--mm2-version "$MM2DOCTOR_VERSION")
[ -z "${MM2DOCTOR_MIN_SEVERITY:-}" ] || options+=(--min-severity "$MM2DOCTOR_MIN_SEVERITY")
[ -z "${MM2DOCTOR_SETTINGS:-}" ] || options+=(--settings "$MM2DOCTOR_SETTINGS")
[ -z "${MM2DOCTOR_SARIF:-}" ] || options+=(-o "sarif=$MM2DOCTOR_SARIF")
if [ "${MM2DOCTOR_ANNOTATIONS:-true}" = true ]; then options+=(-o github); else options+=(-o text); fi

code=0
"$MM2DOCTOR" check "${options[@]}" -- "${files[@]}" || code=$?
[ "${MM2DOCTOR_SUMMARY:-true}" != true ] || [ -z "${GITHUB_STEP_SUMMARY:-}" ] || cat "$report" >>"$GITHUB_STEP_SUMMARY"
{
  echo "exit-code=$code"
  echo "report=$report"
  [ -z "${MM2DOCTOR_SARIF:-}" ] || [ ! -s "$MM2DOCTOR_SARIF" ] || echo "sarif=$MM2DOCTOR_SARIF"
} >>"$GITHUB_OUTPUT"
exit "$code"
