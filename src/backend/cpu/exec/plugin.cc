#include "steps/loaded_plugin.h"

#include <cstring>

#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {
namespace {

class HostPluginDevice final : public PluginDevice {
  Status tell_size(const RunArguments& run, size_t k, const void* size, DType dtype) const override {
    int32_t narrow;
    if (dtype == DType::kI64) return std::memcpy(run.sizes + k, size, sizeof(int64_t)), Status();
    std::memcpy(&narrow, size, sizeof(narrow));
    run.sizes[k] = narrow;
    return {};
  }
};

}  // namespace

LoadResult load(const steps::Plugin& step, const LoadArguments& arguments) {
  return load_plugin(step, arguments.spec, std::make_unique<HostPluginDevice>());
}

}  // namespace kiln::cpu
