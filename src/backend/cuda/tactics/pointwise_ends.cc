/// Regions that end at a pointwise op: what follows a contraction, gates, what quantizes a normalisation or attention,
/// or a nest.
#include <vector>

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/tactics/byte_products.h"
#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/cudnn.h"
#include "backend/cuda/tactics/deconvolution.h"
#include "backend/cuda/tactics/gated_product.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/tactics/nest.h"
#include "backend/cuda/tactics/normalization.h"
#include "backend/cuda/tactics/normalized_product.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/tactics/squeeze_excite.h"
#include "backend/cuda/tactics/weight_only_products.h"
#include "ops/quantize.h"

namespace kiln::cuda {

template <>
TacticList tactics_of<AnyPointwise>() {
  static const Tactic* const kEnds[] = {
      &squeeze_excite_tactic(),   &byte_convolution_tactic(),   &byte_product_tactic(),       &weight_only_tactic(),
      &convolution_tactic(),      &joined_convolution_tactic(), &normalized_product_tactic(), &gated_product_tactic(),
      &matrix_multiply_tactic(),  &deconvolution_tactic(),      &nest_of_views_tactic(),      &nest_tactic(),
      &cublaslt_product_tactic(), &cublaslt_point_tactic(),     &cublaslt_byte_tactic(),      &cudnn_tactic()};
  return kEnds;
}

/// The list of any pointwise op, and what floats become bytes behind.
template <>
TacticList tactics_of<ops::Quantize>() {
  static const std::vector<const Tactic*> kEnds = [] {
    const TacticList others = tactics_of<AnyPointwise>();
    std::vector<const Tactic*> all{&byte_attention_tactic(), &attention_tactic(), &normalization_tactic()};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return kEnds;
}

}  // namespace kiln::cuda
