#include "passes/shape_arithmetic.h"

#include <algorithm>

#include "ops/constant.h"
#include "ops/dim_values.h"
#include "ops/movement.h"

namespace kiln::passes {
namespace {

constexpr int64_t kMostOfOneNode = 64;  // values that are no constants

/// The value's elements as a tensor; they are constants.
HostTensor constant_of(const TensorType& type) {
  std::vector<int64_t> numbers;
  for (const sym::Expr& value : *type.values) numbers.push_back(value.value());
  return HostTensor::of_ints(type.dtype, type.opt_extents(), numbers);
}

/// Whether a node makes its outputs of constants alone, of which some are floats: folding remembers where these come
/// from, since programs may replace weights.
bool is_made_of_constant_floats(const ir::Graph& graph, const ir::Node& node) {
  bool has_float = false;
  for (const ir::ValueId input : node.inputs) {
    if (input == ir::ValueId::kNone) continue;
    const TensorType& type = graph.type(input);
    has_float = has_float || is_float(type.dtype);
    const bool is_constant = graph.constant(input) || constant_values(type);
    if (!is_constant) return false;
  }
  return has_float;
}

}  // namespace

Status shape_arithmetic(ir::Graph& graph, PassContext&) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    if (graph.node(id).op.as<ops::Constant>()) continue;
    if (is_made_of_constant_floats(graph, graph.node(id))) continue;
    const bool is_dim_values = graph.node(id).op.as<ops::DimValues>();  // whose symbols a profile may have fixed
    for (const ir::ValueId output : std::vector(graph.node(id).outputs)) {
      const TensorType type = graph.type(output);
      if (is_float(type.dtype)) continue;  // whole numbers that shapes read are made of them without a cast
      if (!type.values || !type.is_static() || graph.num_uses(output) == 0) continue;
      if (!std::ranges::all_of(*type.values, [](const sym::Expr& e) { return e.is_valid(); })) continue;
      const std::string name = graph.value(output).name;
      const bool fixed = std::ranges::all_of(*type.values, [](const sym::Expr& e) { return e.is_const(); });
      if (is_dim_values && !fixed) continue;
      // Longer tensors stay as they are: shapes that depend on them know their values in any case, and kernels compute
      // the data faster than one shape program an element.
      if (!fixed && std::ssize(*type.values) > kMostOfOneNode) continue;
      ir::ValueId made;
      if (fixed)
        made = graph.add_constant(constant_of(type), name);
      else
        made =
            TRY(graph.add_one(ops::DimValues{*type.values, type.dtype, type.opt_extents()}, {}, graph.node(id).name));
      graph.set_name(made, name);
      graph.set_provenance(graph.value(made).producer, graph.node(id).provenance);
      graph.replace_uses(output, made);
    }
  }
  return graph.infer();
}

}  // namespace kiln::passes
