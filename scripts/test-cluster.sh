#!/usr/bin/env bash
# Runs the tests of test/cluster: the binary under a real API server. The folder KUBEBUILDER_ASSETS has etcd,
# kube-apiserver and kubectl, as envtest has them. Everything is on loopback and gone afterwards.
# usage: test-cluster.sh BINARY [MODULE...]     MODULE: admission_cluster_test, ...; default: all
# Exit code 3: nothing was run, since the binaries are missing.
set -euo pipefail
if [ $# -eq 0 ]; then
  sed -n 2,5p "$0" >&2
  exit 2
fi
XILA_GUARD_BINARY=$(realpath "$1")
export XILA_GUARD_BINARY
shift

for name in etcd kube-apiserver kubectl; do
  if [ ! -x "${KUBEBUILDER_ASSETS:-/nonexistent}/$name" ]; then
    cat >&2 <<'END'
test-cluster: skipped: KUBEBUILDER_ASSETS must name a folder with etcd, kube-apiserver and kubectl. One way to get them:
  export KUBEBUILDER_ASSETS=$(go run sigs.k8s.io/controller-runtime/tools/setup-envtest@latest use 1.34.x -p path)
END
    exit 3
  fi
done

cd "$(dirname "$0")/../test/cluster"
modules=("$@")
if [ ${#modules[@]} -eq 0 ]; then
  for file in *_test.py; do modules+=("${file%.py}"); done
fi
exec python3 -B -m unittest -v "${modules[@]}"
