/// Regions that end at a pointwise op: what follows a contraction, or a nest.
#include "backend/cpu/tactics/convolution.h"
#include "backend/cpu/tactics/deconvolution.h"
#include "backend/cpu/tactics/matrix_multiply.h"
#include "backend/cpu/tactics/registry.h"
#include "tactics/nest.h"

namespace kiln {
namespace ops {
struct Activation;
struct Cast;
struct ElementWise;
struct Select;
struct Unary;
}  // namespace ops

namespace cpu {
namespace {
const PlainTactic<NestRegions> kNest;
const Tactic* const kEnds[] = {&convolution_tactic(), &matrix_multiply_tactic(), &deconvolution_tactic(), &kNest};
}  // namespace
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
  return kEnds;
}
template <>
TacticList tactics_of<ops::Select>() {
  return kEnds;
}
template <>
TacticList tactics_of<ops::Unary>() {
  return kEnds;
}

}  // namespace cpu
}  // namespace kiln
