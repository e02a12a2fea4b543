#include "backend/cpu/exec/copy_step.h"

namespace kiln::cpu {
namespace {

alignas(64) constexpr std::byte kZeros[64] = {};

}  // namespace

std::unique_ptr<BoundStep> copy_step(Team& team, Copy copy, size_t num_inputs) {
  std::vector<const void*> sources(num_inputs + 1, kZeros);
  return bound_step([&team, copy = std::move(copy), sources = std::move(sources)](const RunArguments& run) mutable {
    for (size_t i = 0; i + 1 < sources.size(); ++i) sources[i] = run.inputs[i] ? run.inputs[i] : kZeros;
    run_copy(team, copy, sources.data(), run.outputs[0]);
  });
}

}  // namespace kiln::cpu
