#!/usr/bin/env bash
# compute-sanitizer on the ten models and the case tables' kernels, several processes at a time; needs a GPU.
#
#   sanitize.sh BUILD [TOOL...]     TOOL: memcheck (by default), racecheck, synccheck, initcheck
#
# Builds at level 0: nothing is timed, so that a slow tool sees each selected kernel a few times. Prints a line a run; fails
# if a tool finds something or a result is wrong. KILN_MODELS_DIR names the models.
set -uo pipefail
build=$(realpath "$1")
readonly build parts=12
shift
[ $# -gt 0 ] || set -- memcheck
export PATH=$PATH:/usr/local/cuda/bin build parts
command -v compute-sanitizer >/dev/null || { echo "SKIP: there is no compute-sanitizer" && exit 77; }
[ -d "${KILN_MODELS_DIR:-}" ] || { echo "SKIP: KILN_MODELS_DIR is not set" && exit 77; }

# TOOL and either MODEL CONFIG or "cases" PART.
check() {
  local tool=$1 name=$2 what=$3 text
  local command=("$build/conformance/models/run_network" "$name" --config "$what" --gpu --level 0)
  if [ "$name" = cases ]; then
    export KILN_CASES_PART=$what/$parts
    command=("$build/conformance/cases/test_cases" '--gtest_filter=CudaCases*')
  fi
  if text=$(compute-sanitizer --tool "$tool" --error-exitcode 9 "${command[@]}" 2>&1); then
    echo "$tool $name $what: clean"
  else
    echo "$tool $name $what: FAILED"
    grep -E '=====|FAILED|Failure' <<<"$text" | head -n 30
    return 1
  fi
}
export -f check

for tool in "$@"; do
  for config in noTF32 fp16 bf16; do
    for model in mnist kws superres squeezenet vittrack ultraface magika basic-pitch yolox-nano; do
      echo "$tool $model $config"
    done
  done
  echo "$tool squeezenet-fp16 default"
  for ((part = 0; part < parts; ++part)); do echo "$tool cases $part"; done
done | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check
