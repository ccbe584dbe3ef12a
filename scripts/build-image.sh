#!/usr/bin/env bash
# Builds the container image with docker, podman or buildah, whichever works here.
#
# usage: build-image.sh [IMAGE] [ENGINE-ARGUMENT...]
#   IMAGE    default ghcr.io/xila-guard/xila-guard:<version>, which is what the chart pulls
#   ENGINE   (environment) docker, podman or buildah, to choose one
set -euo pipefail
cd "$(dirname "$0")/.."
limit=$((25 * 1000 * 1000)) # bytes

version=$(sed -n 's/^project(xila-guard VERSION \([^ ]*\).*/\1/p' CMakeLists.txt)
image=${1:-ghcr.io/xila-guard/xila-guard:$version}
[ $# -eq 0 ] || shift

works() {
  case $1 in
    docker) docker info >/dev/null 2>&1 ;; # a client without its daemon builds nothing
    *) command -v "$1" >/dev/null ;;
  esac
}
engine=${ENGINE:-}
if [ -z "$engine" ]; then
  for candidate in docker podman buildah; do
    if works "$candidate"; then engine=$candidate; break; fi
  done
fi
[ -n "$engine" ] || { echo "build-image: neither docker (with its daemon), podman nor buildah works here" >&2; exit 1; }

commit=unknown epoch=0
if git rev-parse --git-dir >/dev/null 2>&1; then
  commit=$(git rev-parse --short=12 HEAD)
  epoch=$(git log -1 --format=%ct)
  git diff --quiet HEAD || commit=$commit-dirty
fi
arguments=(--build-arg "VERSION=$version" --build-arg "COMMIT=$commit" --build-arg "SOURCE_DATE_EPOCH=$epoch" --tag "$image" "$@" .)

echo "building $image ($commit) with $engine"
case $engine in
  docker) docker build "${arguments[@]}" ;;
  podman | buildah) "$engine" build --layers --format oci --timestamp "$epoch" "${arguments[@]}" ;;
  *) echo "build-image: ENGINE=$engine, expected docker, podman or buildah" >&2; exit 2 ;;
esac

# What the layers hold once unpacked; what a node downloads is less.
case $engine in
  buildah) # says "13.9 MB"
    size=$(buildah images --format '{{.Size}}' "$image" | head -n1 |
      awk '{ m["kB"] = m["KB"] = 1000; m["MB"] = 1e6; m["GB"] = 1e9; printf "%d", $1 * ($2 in m ? m[$2] : 1) }')
    ;;
  *) size=$("$engine" image inspect --format '{{.Size}}' "$image") ;;
esac
echo "$image: $((size / 1000)) kB"
if [ "$size" -gt "$limit" ]; then
  echo "build-image: over the limit of $((limit / 1000)) kB" >&2
  exit 1
fi
