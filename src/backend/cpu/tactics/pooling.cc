/// Maximum and average pooling: kernels/pool.
#include "tactics/pooling.h"

#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class PoolingTactic final : public PlainTactic<PoolingRegions> {
  std::string why_not(ops::PoolingKind kind, DType type) const override {
    if (type != DType::kF32) return "the kernel takes f32";
    return kind == ops::PoolingKind::kMaxAverageBlend ? "the kernel has no blend of maximum and average" : "";
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Pooling>() {
  return list_of<PoolingTactic>();
}

}  // namespace kiln::cpu
