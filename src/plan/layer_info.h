/// What the engine inspector tells of a layer, which reports and pages tell alike: TensorRT's keys, and Kiln's own.
#pragma once

#include <span>
#include <string>

#include "base/function_ref.h"
#include "base/record.h"
#include "plan/nested_steps.h"
#include "plan/plan.h"

namespace kiln::plan {

/// The name under which programs see a block's tensor; `body` is the block, or null for a profile.
std::string tensor_name(const Plan& plan, const Block& block, const Body* body, int id);

/// A layer, and what is known of the numbers that shapes decide.
struct LayerView {
  const Plan& plan;
  const NestedStep& layer;
  /// Values of programs; -1 where they are not known.
  FunctionRef<Extents(std::span<const sym::Program>)> values;

  const Step& step() const { return layer.get(); }
  const Tensor& tensor(int id) const { return layer.block->tensors[static_cast<size_t>(id)]; }
  /// The name of a tensor. Programs find inputs and outputs by name, and take two tensors of one name for one edge.
  std::string name(int id) const;
};

/// The common name of the step's ops.
std::string_view layer_type(const Step& step);

/// TensorRT's keys first ("Name", "LayerType", "Inputs", ...), with the layer's parameters behind its outputs; then
/// Kiln's own ("Executor", "TimeUs", "Candidates", ...).
Record layer_info(const LayerView& view);

/// The line that TensorRT prints for a layer. Programs split it at its commas. One in a body has the body's name
/// behind.
std::string layer_line(const LayerView& view);

}  // namespace kiln::plan
