/// Regions that end at a pointwise op: what follows a contraction, or a nest.
#include "backend/cpu/tactics/byte_products.h"
#include "backend/cpu/tactics/convolution.h"
#include "backend/cpu/tactics/deconvolution.h"
#include "backend/cpu/tactics/matrix_multiply.h"
#include "backend/cpu/tactics/pointwise_depthwise.h"
#include "backend/cpu/tactics/registry.h"
#include "backend/cpu/tactics/weight_only_products.h"
#include "ops/quantize.h"
#include "tactics/nest.h"

namespace kiln::cpu {
namespace {

/// Bound nests look up functions of a byte (kernels/nest/nest.h).
class NestThatLooksUp : public NestRegions {
 protected:
  bool looks_up() const override { return true; }
};

}  // namespace

template <>
TacticList tactics_of<AnyPointwise>() {
  static const Tactic* const kEnds[] = {&byte_convolution_tactic(),
                                        &byte_product_tactic(),
                                        &weight_only_tactic(),
                                        &pointwise_depthwise_tactic(),
                                        &convolution_tactic(),
                                        &matrix_multiply_tactic(),
                                        &deconvolution_tactic(),
                                        &the<PlainTactic<NestOfViewsRegions>>(),
                                        &the<PlainTactic<NestThatLooksUp>>()};
  return kEnds;
}
template <>
TacticList tactics_of<ops::Quantize>() {
  return tactics_of<AnyPointwise>();
}

}  // namespace kiln::cpu
