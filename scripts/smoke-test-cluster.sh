#!/usr/bin/env bash
# Runs orchestrator-smoke.sh on the single-node test cluster in DIR (its setup.sh and cluster.sh), for CI: builds the
# image, starts the cluster, and takes it down again. Needs root and buildah.
# usage: smoke-test-cluster.sh DIR [ARGUMENT-OF-orchestrator-smoke.sh...]
set -euo pipefail
cluster=$(cd "${1:?usage: smoke-test-cluster.sh DIR}" && pwd)
shift
cd "$(dirname "$0")/.."
image=ghcr.io/xila-guard/xila-guard:smoke
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs

"$cluster/setup.sh" --images
# The cluster's network reaches nothing outside: the image is built before.
ENGINE=buildah scripts/build-image.sh "$image" --pull-never
trap '"$cluster/cluster.sh" down' EXIT
"$cluster/cluster.sh" up
IMAGE=$image IMAGE_LOAD="'$cluster/cluster.sh' push" "$cluster/cluster.sh" exec scripts/orchestrator-smoke.sh "$@"
