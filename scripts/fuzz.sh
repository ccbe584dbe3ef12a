#!/usr/bin/env bash
# Runs every fuzz target for a while, from its committed seeds; what it finds stays below BUILD/fuzz.
# usage: fuzz.sh BUILD_FOLDER SECONDS_EACH
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:?build folder}
seconds=${2:?seconds}

found=0
for target in "$build"/test/fuzz/*_fuzz; do
  name=$(basename "$target")
  corpus=$build/fuzz/$name
  mkdir -p "$corpus"
  seeds=()
  [ -d "test/fuzz/corpus/$name" ] && seeds=("test/fuzz/corpus/$name")
  echo "=== $name for $seconds s"
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
    -artifact_prefix="$corpus/" "$corpus" "${seeds[@]}" || { echo "$name: see $corpus" >&2; found=1; }
done
exit $found
