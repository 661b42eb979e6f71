#!/usr/bin/env bash
# Builds the mm2doctor that belongs to this action, whatever else the job builds.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
out=$(mktemp -d "${RUNNER_TEMP:-/tmp}/mm2doctor.XXXXXX")/mm2doctor
(cd "$root" && GOOS='' GOARCH='' GOFLAGS='' GOWORK=off go build -o "$out" .)
echo "mm2doctor=$out" >>"$GITHUB_OUTPUT"
