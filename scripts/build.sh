#!/usr/bin/env bash
# Configures and builds a preset, quietly when all is well.
# usage: build.sh PRESET [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?preset}; shift

log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The cache serves every clone of the project, wherever it lies.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
launcher=()
command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
cmake --preset "$preset" "${launcher[@]}" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
echo "building $preset"
cmake --build --preset "$preset" -j "${JOBS:-$(nproc)}" ${1:+--target "$@"} >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
