/// Regions that end at a pointwise op: the epilogue of a contraction, or a nest.
#include "backend/cpu/tactics/convolution.h"
#include "backend/cpu/tactics/deconvolution.h"
#include "backend/cpu/tactics/matrix_multiply.h"
#include "backend/cpu/tactics/nest.h"
#include "backend/cpu/tactics/registry.h"

namespace kiln {
namespace ops {
struct Activation;
struct ElementWise;
}  // namespace ops

namespace cpu {
namespace {
const Tactic* const kEnds[] = {&convolution_tactic(), &matrix_multiply_tactic(), &deconvolution_tactic(),
                               &nest_tactic()};
}
template <>
TacticList tactics_of<ops::Activation>() {
  return kEnds;
}
template <>
TacticList tactics_of<ops::ElementWise>() {
  return kEnds;
}

}  // namespace cpu
}  // namespace kiln
