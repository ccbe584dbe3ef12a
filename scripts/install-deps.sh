#!/usr/bin/env bash
# Installs the Debian (bookworm) packages that building and testing need. Idempotent: asks apt only for what is
# missing. Works as root and with sudo.
#
# usage: install-deps.sh [build|test|all]     default: all
#   build   compiler and libraries alone, as in the Dockerfile
#   test    what the tests use besides
set -euo pipefail

build=(clang-19 lld-19 cmake ninja-build ccache git ca-certificates
  libboost1.81-dev libssl-dev libsimdjson-dev nlohmann-json3-dev libyaml-cpp-dev libspdlog-dev libcli11-dev
  prometheus-cpp-dev libgtest-dev libgmock-dev libbenchmark-dev python3)
test=(g++-12 libclang-rt-19-dev llvm-19 python3-yaml openssl curl)
bench=(wrk util-linux procps)
lint=(clang-format-19 clang-tidy-19 shellcheck codespell)

case ${1:-all} in
  build) wanted=("${build[@]}") ;;
  test) wanted=("${build[@]}" "${test[@]}") ;;
  all) wanted=("${build[@]}" "${test[@]}" "${bench[@]}" "${lint[@]}") ;;
  *) sed -n 2,7p "$0" >&2; exit 2 ;;
esac

missing=()
for package in "${wanted[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

if ! command -v apt-get >/dev/null; then
  echo "install-deps: no apt-get here; install by hand: ${missing[*]}" >&2
  exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || { echo "install-deps: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 1; }
  as_root=(sudo)
fi
echo "install-deps: installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
}
run apt-get update -qq
run apt-get install -y -qq --no-install-recommends "${missing[@]}"
