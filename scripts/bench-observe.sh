#!/usr/bin/env bash
# Measures xila-guard observe on a real API server: first judgement, memory, a relabelled node, rest, a storm.
# usage: bench-observe.sh BINARY [--nodes N] [--pods N] [--namespaces N] [--check]
# Without numbers: 5,000 nodes and 100,000 Pods in 1,000 namespaces. KUBEBUILDER_ASSETS names a folder with etcd,
# kube-apiserver and kubectl; where kwok is among them, it keeps the nodes alive meanwhile.
set -euo pipefail
if [ $# -eq 0 ]; then
  sed -n 2,5p "$0" >&2
  exit 2
fi
XILA_GUARD_BINARY=$(realpath "$1")
export XILA_GUARD_BINARY
shift
exec python3 -B "$(dirname "$0")/bench_observe.py" "$@"
