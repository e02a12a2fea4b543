#include "tactics/convolution.h"

#include "tactics/window.h"

namespace kiln {
namespace {

/// The window of an op whose kernel has the extents of its weights behind their channels.
template <class T>
steps::Window filter_window(const T& op, const Extents& w) {
  return window_of(op, Extents(w.begin() + 2, w.end()));
}

/// Whether the region's first node makes the convolution's x by joining two tensors.
bool is_joined(const TacticContext& cx, const Region& region) {
  return !is_convolution(cx.graph.node(region.nodes[0]).op);
}

}  // namespace

bool is_convolution(const Op& op) { return op.as<ops::Convolution>() != nullptr; }
bool is_deconvolution(const Op& op) { return op.as<ops::Deconvolution>() != nullptr; }

Match static_filter_region(const TacticContext& cx, ir::NodeId root, const EpilogueMatch& match) {
  const TensorType& w = cx.graph.input_type(match.contraction, 1);
  if (!w.is_static()) return reject("w is ", w, "; the kernel needs its extents when the plan is built");
  return contraction_region(cx, root, match);
}

const ops::Convolution& convolution_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[is_joined(cx, region) ? 1 : 0]).op.as<ops::Convolution>();
}
const ops::Deconvolution& deconvolution_of(const TacticContext& cx, const Region& region) {
  return *cx.graph.node(region.nodes[0]).op.as<ops::Deconvolution>();
}

Extents filter_of(const TacticContext& cx, const Region& region) { return *cx.graph.type(region.inputs[1]).extents(); }

Result<steps::Convolution> convolution_step(const TacticContext& cx, const Region& region) {
  const ops::Convolution& op = convolution_of(cx, region);
  return steps::Convolution{.window = filter_window(op, filter_of(cx, region)),
                            .groups = op.groups,
                            .joined = is_joined(cx, region),
                            .epilogue = TRY(epilogue_of(region))};
}
Result<steps::Deconvolution> deconvolution_step(const TacticContext& cx, const Region& region) {
  const ops::Deconvolution& op = deconvolution_of(cx, region);
  return steps::Deconvolution{
      .window = filter_window(op, filter_of(cx, region)), .groups = op.groups, .epilogue = TRY(epilogue_of(region))};
}

}  // namespace kiln
