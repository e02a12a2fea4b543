/// Convolutions and deconvolutions with what follows them: what kernels of both backends take.
#pragma once

#include "ops/convolution.h"
#include "ops/deconvolution.h"
#include "steps/convolution.h"
#include "steps/deconvolution.h"
#include "tactics/hook.h"

namespace kiln {

bool is_convolution(const Op& op);
bool is_deconvolution(const Op& op);

/// Makes the region of a convolution or deconvolution whose weights have extents when the plan is built.
Match static_filter_region(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& match);

/// The convolution of a region: the first node, or behind a concatenation that makes its input.
const ops::Convolution& convolution_of(const TacticContext& cx, const Region& region);
const ops::Deconvolution& deconvolution_of(const TacticContext& cx, const Region& region);

/// The extents of a region's weights.
Extents filter_of(const TacticContext& cx, const Region& region);
/// The steps of regions whose weights have extents.
Result<steps::Convolution> convolution_step(const TacticContext& cx, const Region& region);
Result<steps::Deconvolution> deconvolution_step(const TacticContext& cx, const Region& region);

}  // namespace kiln
