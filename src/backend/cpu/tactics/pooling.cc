/// Maximum and average pooling: kernels/pool.
#include "tactics/pooling.h"

#include "backend/cpu/tactics/registry.h"
#include "ops/quantization.h"

namespace kiln::cpu {
namespace {

class PoolingTactic final : public PlainTactic<PoolingRegions> {
  std::string why_not(ops::PoolingKind kind, DType type) const override {
    if (is_byte(type)) return kind == ops::PoolingKind::kMax ? "" : "the kernel of bytes has maxima alone";
    if (type != DType::kF32) return "the kernel takes f32";
    return kind == ops::PoolingKind::kMaxAverageBlend ? "the kernel has no blend of maximum and average" : "";
  }

 public:
  /// Bytes are pooled channels last.
  std::vector<Variant> variants(const TacticContext& cx, const Region& region) const override {
    std::vector<Variant> all = PlainTactic<PoolingRegions>::variants(cx, region);
    if (is_byte(cx.graph.type(region.inputs[0]).dtype)) all.resize(1);
    return all;
  }
};

}  // namespace

template <>
TacticList tactics_of<ops::Pooling>() {
  return list_of<PoolingTactic>();
}

}  // namespace kiln::cpu
