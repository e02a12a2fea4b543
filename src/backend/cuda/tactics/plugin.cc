/// Plugins of the program's, which launch what they like on the stream that they are given.
#include "tactics/plugin.h"

#include "backend/cuda/tactics/compile.h"
#include "backend/cuda/tactics/registry.h"

namespace kiln::cuda {
namespace {

class GpuPluginTactic final : public PluginTactic {
 public:
  Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const override {
    return cuda_step(TRY(draft(cx, region, variant)));
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Plugin>() {
  return list_of<GpuPluginTactic>();
}

}  // namespace kiln::cuda
