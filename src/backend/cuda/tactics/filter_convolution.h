/// Convolution and Deconvolution by kernels of ours: they differ in who reads whom.
#pragma once

#include "backend/cuda/exec/filter.h"
#include "backend/cuda/tactics/contraction.h"

namespace kiln::cuda {

std::vector<Variant> filter_variants(const TacticContext& cx, const Region& region, const Filter& filter);
/// `step`, of the region, by a variant of `filter_variants`.
Result<StepDraft> compile_filter(const TacticContext& cx, const Region& region, const Variant& variant,
                                 const AnyStep& step);

}  // namespace kiln::cuda
