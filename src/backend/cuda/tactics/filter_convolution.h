/// Convolution and Deconvolution as steps: they differ in who reads whom.
#pragma once

#include "backend/cuda/exec/filter.h"
#include "backend/cuda/tactics/contraction.h"
#include "ops/padding_mode.h"

namespace kiln::cuda {

/// The attributes of either op with a filter of extents `w`.
template <class T>
FilterSpec filter_spec(const T& op, const Extents& w, bool transposed) {
  const size_t axes = w.size() - 2;
  const auto or_all = [&](const std::vector<int64_t>& attribute, int64_t absent) {
    return attribute.empty() ? Extents(axes, absent) : Extents(attribute);
  };
  return {Extents(w.begin() + 2, w.end()),
          or_all(op.strides, 1),
          or_all(op.dilations, 1),
          or_all(op.pre_pads, 0),
          op.padding == ops::PaddingMode::kSameUpper,
          op.padding == ops::PaddingMode::kSameLower,
          transposed};
}

/// Whether every output pixel reads the input pixel at its own place and no other.
bool is_point(const FilterSpec& spec, int64_t groups);
std::vector<Variant> filter_variants(const TacticContext& cx, const Region& region, const FilterSpec& spec,
                                     int64_t groups);
Result<StepDraft> compile_filter(const TacticContext& cx, const Region& region, const Variant& variant,
                                 const FilterSpec& spec, int64_t groups);

}  // namespace kiln::cuda
