#include "steps/pointwise_depthwise.h"

#include "steps/define.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::PointwiseDepthwise>();

namespace kiln::steps {
namespace {

/// The inputs of the second convolution: `between`, and those from `second_w` on.
template <class Inputs, class T>
std::vector<T> inputs_of_second(const Inputs& inputs, size_t second_w, T between) {
  std::vector<T> result{std::move(between)};
  result.insert(result.end(), inputs.begin() + static_cast<ptrdiff_t>(second_w), inputs.end());
  return result;
}

}  // namespace

Status PointwiseDepthwise::check() const {
  TRY(require(pointwise.window.is_point() && !pointwise.window.is_same() && pointwise.groups == 1,
              "the first of two convolutions in one step is not of single pixels in one group"));
  return require(!pointwise.joined && !depthwise.joined && !pointwise.epilogue.residual,
                 "two convolutions in one step join inputs, or the first adds a residual");
}

Status PointwiseDepthwise::check(const StepTypes& types) const {
  const size_t second = second_w();
  TRY(require(types.inputs.size() > second && types.inputs[second].present,
              "two convolutions in one step lack the weights of the second"));
  TRY(require(types.outputs[0].format.is_channels_last(), "two convolutions in one step make format ",
              types.outputs[0].format, "; channels must be last"));
  const StepTensor& x = types.inputs[0];
  TRY(require_alike({x.dtype, types.outputs[0].format, x.rank}, x, "what two convolutions in one step read"));
  const StepTensor between{x.dtype, x.format, x.rank};
  TRY(pointwise.check(
      StepTypes{{types.inputs.begin(), types.inputs.begin() + static_cast<ptrdiff_t>(second)}, {between}}));
  return depthwise.check(StepTypes{inputs_of_second(types.inputs, second, between), types.outputs});
}

Status PointwiseDepthwise::check(const StepTypes& types, const StepShapes& shapes) const {
  const size_t second = second_w();
  const Extents& w = shapes.inputs[1];
  Extents between = shapes.inputs[0];
  if (between.size() > 1 && !w.empty()) between[1] = w[0];
  TRY(require(w.size() == between.size() && between[1] == depthwise.groups, "a depthwise convolution in ",
              depthwise.groups, " groups follows weights ", w));
  const std::vector<Extents> inputs = inputs_of_second(shapes.inputs, second, between), results{between};
  TRY(require(inputs[1].size() > 1 && inputs[1][0] == depthwise.groups && inputs[1][1] == 1, "weights ", inputs[1],
              " are not those of a depthwise convolution in ", depthwise.groups, " groups"));
  TRY(pointwise.check(types, {shapes.inputs.first(second), results, {}}));
  return depthwise.check(types, {inputs, shapes.outputs, {}});
}

}  // namespace kiln::steps
