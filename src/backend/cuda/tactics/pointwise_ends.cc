// Regions that end at a pointwise op: what follows a contraction, or a nest.
#include <algorithm>
#include <array>

#include "backend/cuda/tactics/convolution.h"
#include "backend/cuda/tactics/cublaslt.h"
#include "backend/cuda/tactics/cudnn.h"
#include "backend/cuda/tactics/deconvolution.h"
#include "backend/cuda/tactics/matrix_multiply.h"
#include "backend/cuda/tactics/nest.h"
#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/tactics/squeeze_excite.h"

namespace kiln {
namespace ops {
struct Activation;
struct Cast;
struct ElementWise;
struct Select;
struct Unary;
}  // namespace ops

namespace cuda {
namespace {
const Tactic* const kEnds[] = {
    &convolution_tactic(), &joined_convolution_tactic(), &matrix_multiply_tactic(), &deconvolution_tactic(),
    &nest_tactic(),        &cublaslt_product_tactic(),   &cublaslt_point_tactic(),  &cudnn_tactic()};
}
template <>
TacticList tactics_of<ops::Activation>() {
  return kEnds;
}
template <>
TacticList tactics_of<ops::Cast>() {
  return kEnds;
}
template <>
TacticList tactics_of<ops::ElementWise>() {
  static const auto kWithProducts = [] {
    std::array<const Tactic*, std::size(kEnds) + 1> all{&squeeze_excite_tactic()};
    std::ranges::copy(kEnds, all.begin() + 1);
    return all;
  }();
  return kWithProducts;
}
template <>
TacticList tactics_of<ops::Select>() {
  return kEnds;
}
template <>
TacticList tactics_of<ops::Unary>() {
  return kEnds;
}

}  // namespace cuda
}  // namespace kiln
