#!/usr/bin/env bash
# Checks that our C++ is formatted as .clang-format says; with --fix formats it in place. Another version of clang-format
# formats differently, so only one counts; without it the check is skipped (exit status 77).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
readonly version=14 skipped=77

find_clang_format() {
  local candidate
  for candidate in clang-format-$version clang-format; do
    if "$candidate" --version 2>/dev/null | grep -q "version $version\."; then
      echo "$candidate"
      return
    fi
  done
}

tool=$(find_clang_format)
if [ -z "$tool" ]; then
  echo "SKIP: no clang-format $version here (Debian 12 has it); other versions format differently"
  exit $skipped
fi
folders=()
for folder in src cudart/src plugins tools samples conformance bench fuzz python; do
  if [ -d $folder ]; then folders+=("$folder"); fi
done
if [ "${1:-}" = --fix ]; then action=(-i); else action=(--dry-run -Werror); fi
find "${folders[@]}" -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.cuh' | sort |
  xargs --no-run-if-empty "$tool" --style=file "${action[@]}"
echo "check_format: done"
