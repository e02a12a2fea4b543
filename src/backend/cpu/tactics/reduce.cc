/// Reductions: kernels/lanes takes axes that are neighbours in memory, and a format brings others together.
#include "tactics/reduce.h"

#include "backend/cpu/kernels/lanes/reduce.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln::cpu {
namespace {

class ReduceTactic final : public PlainTactic<ReduceRegions> {
  std::string_view why_not(DType x, DType y) const override {
    return can_reduce(x, y) ? "" : "the kernel takes f32, f16, bf16, f64, i32 and i64";
  }
  bool moves_axes() const override { return true; }
};

}  // namespace

template <>
TacticList tactics_of<ops::Reduce>() {
  return list_of<ReduceTactic>();
}

}  // namespace kiln::cpu
