#!/usr/bin/env bash
# Formatting, spelling, shell scripts and the module rules; with --tidy clang-tidy over everything as well (slow).
# Reports all that is wrong, not only the first.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
failed=0
check() {
  local name=$1
  shift
  "$@" || { echo "lint: $name failed" >&2; failed=1; }
}

mapfile -t sources < <(git ls-files '*.hpp' '*.cpp')
mapfile -t scripts < <(git ls-files 'scripts/*.sh' '.ci/run' 'test/**/*.sh' ':!test/fixtures')

check "clang-format (make format mends it)" clang-format-19 --dry-run -Werror "${sources[@]}"
check "shellcheck" shellcheck "${scripts[@]}"
check "codespell" codespell --skip './test/fixtures,./build,./.git,./LICENSE' --ignore-words .codespellignore .
# Only g++ says so (-Wdangling-else): the macros of GoogleTest end in an if without braces.
# shellcheck disable=SC2317  # called by check
no_bare_if() {
  ! grep -rnE '^ *(if|\} else if) \(.*\) (EXPECT|ASSERT)_' test --include='*.cpp' --include='*.hpp'
}

check "braces around a test macro below an if" no_bare_if
check "module rules" python3 scripts/check_includes.py .
check "co_await rule" python3 scripts/check_co_await.py
if [ "${1:-}" = --tidy ]; then
  check "clang-tidy" scripts/build.sh tidy
fi
exit $failed
