/// Hands a step to what loads its kind: how a backend's executor takes a step apart.
#pragma once

#include <memory>

#include "steps/executor.h"

namespace kiln {
namespace steps {
#define STEP(name) struct name;
#include "steps/steps.def"
#undef STEP
}  // namespace steps

/// Calls the overload of `load` for the step's kind, which stands in the namespace of `Arguments` and takes
/// (const steps::Kind&, const Arguments&). A STEP without one is an error of the linker.
template <class Arguments>
Result<std::unique_ptr<LoadedStep>> load_step(const AnyStep& any, const Arguments& arguments) {
#define STEP(name) \
  if (const auto* step = any.as<steps::name>()) return load(*step, arguments);
#define CUDA_STEP(name) \
  if constexpr (requires(const steps::name& step) { load(step, arguments); }) STEP(name)
#define CPU_STEP(name) CUDA_STEP(name)
#define CONTROL_STEP(name)
#include "steps/steps.def"
#undef STEP
  return error(Code::kCorrupt, "this backend has no kernel for steps of kind '", any.name(), "'");
}

}  // namespace kiln
