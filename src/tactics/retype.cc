#include "tactics/retype.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/copy.h"
#include "ops/bit_cast.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/dim_values.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
#include "ops/fold.h"
#include "ops/plugin.h"
#include "ops/quantize.h"
#include "ops/select.h"
#include "ops/unary.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln {
namespace {

/// The largest number of a type of halves; 0 of another type.
float largest_of(DType type) { return type == DType::kF16 ? kLargestHalf : type == DType::kBF16 ? kLargestBf16 : 0; }

bool exceeds(const HostTensor& value, float limit) {
  const View view(value);
  for (int64_t i = 0; i < view.volume(); ++i)
    if (std::isfinite(view[i]) && std::abs(view[i]) > limit) return true;
  return false;
}

/// What numbers beyond the range of `type` become: a score may be added to what hides a key.
float bound_of_masks(DType type) { return type == DType::kF16 ? kLargestHalfMask : largest_of(type); }
constexpr double kLeastMask = 1e30;  ///< no number of that size is meant for anything else

/// A cast, but where that made infinities of numbers: those become the largest half, by no op of constants. Masks
/// become what bound_of_masks says.
Result<ops::Constant> converted(const ops::Constant& constant, DType to) {
  const float limit = largest_of(to);
  if (limit == 0 || !exceeds(constant.value, limit)) return fold_one(ops::Cast{to}, {&constant});
  HostTensor::Fresh fresh = TRY(HostTensor::make(to, constant.value.extents()));
  const View view(constant.value);
  for (int64_t i = 0; i < view.volume(); ++i) {
    const double bound = std::abs(view[i]) >= kLeastMask ? bound_of_masks(to) : limit;
    store_number(to, fresh.data.data(), i, std::isfinite(view[i]) ? std::clamp(view[i], -bound, bound) : view[i]);
  }
  return ops::Constant{std::move(fresh.tensor)};
}

class Retyper {
 public:
  Retyper(const ir::Graph& graph, RetypeRules& rules)
      : old_(graph),
        rules_(rules),
        graph_(graph.shared_table()),
        moved_(static_cast<size_t>(graph.num_values()), ir::ValueId::kNone) {}

  Result<ir::Graph> run() {
    for (const ir::ValueId input : old_.inputs()) {
      moved_[ir::index(input)] = graph_.add_input(old_.value(input).name, old_.type(input));
      graph_.add_taps(moved_[ir::index(input)], old_.value(input));
    }
    for (const ir::NodeId id : TRY(old_.topological_order())) TRY(move(id));
    for (const ir::Output& output : old_.outputs()) {
      const ir::ValueId value = moved_[ir::index(output.value)];
      // Who watches a value takes it as it is computed.
      const bool is_watched = !output.tap.empty();
      graph_.mark_output(is_watched ? value : TRY(as_type(value, old_.type(output.value).dtype)), output.name,
                         output.tap);
    }
    for (const sym::Assumption& assumption : old_.assumptions()) graph_.assume(assumption);
    graph_.set_replaced_sizes(old_.replaced_sizes());
    return std::move(graph_);
  }

 private:
  /// `is_large`: whether the value may be a number beyond the range of `to`.
  Result<ir::ValueId> as_type(ir::ValueId value, DType to, bool is_large = false) {
    if (graph_.type(value).dtype == to || !is_kernel_float(graph_.type(value).dtype)) return value;
    const auto found = converted_.find({value, to});
    if (found != converted_.end()) return found->second;
    const auto* constant = graph_.producer_as<ops::Constant>(value);
    if (constant)
      return converted_[{value, to}] = graph_.add_constant(TRY(converted(*constant, to)), graph_.value(value).name);
    const bool is_bounded = is_large && largest_of(to) != 0 && graph_.type(value).dtype == DType::kF32;
    const ir::ValueId x = is_bounded ? TRY(bounded(value, bound_of_masks(to))) : value;
    return converted_[{value, to}] = TRY(graph_.add_one(ops::Cast{to}, {x}));
  }

  /// FP32 numbers from -limit to limit, to which those beyond are moved. Infinities stay.
  Result<ir::ValueId> bounded(ir::ValueId x, float limit) {
    using enum ops::ElementWiseKind;
    const auto number = [&](float value) {
      const double wide = value;
      const Extents extents(graph_.type(x).rank(), 1);
      return graph_.add_constant(HostTensor::of(DType::kF32, extents, std::span(&wide, 1)));
    };
    const ir::ValueId is_infinite = TRY(graph_.add_one(ops::Unary{ops::UnaryKind::kIsInf}, {x}));
    const ir::ValueId low = TRY(graph_.add_one(ops::ElementWise{kMax}, {x, number(-limit)}));
    const ir::ValueId inside = TRY(graph_.add_one(ops::ElementWise{kMin}, {low, number(limit)}));
    return graph_.add_one(ops::Select{}, {is_infinite, x, inside});
  }

  /// The op changed to compute in `to` instead of `from`. A cast to a type narrower than FP32 stays, because the
  /// network asks for its rounding and its range.
  static Op in_type(const Op& op, DType from, DType to) {
    if (const auto* cast = op.as<ops::Cast>(); cast && cast->to == from && from == DType::kF32) return ops::Cast{to};
    if (const auto* dequantize = op.as<ops::Dequantize>(); dequantize && dequantize->to == from) {
      ops::Dequantize changed = *dequantize;
      changed.to = to;
      return changed;
    }
    if (const auto* values = op.as<ops::DimValues>(); values && values->dtype == from) {
      ops::DimValues changed = *values;
      changed.dtype = to;
      return changed;
    }
    if (const auto* fill = op.as<ops::Fill>(); fill && fill->to == from) {
      ops::Fill changed = *fill;
      changed.to = to;
      return changed;
    }
    return op;
  }

  /// Scales of quantization are FP32 numbers that no half has.
  static bool is_scale(const Op& op, size_t input) {
    return input > 0 && (op.as<ops::Quantize>() || op.as<ops::Dequantize>());
  }

  /// Bodies compute in the types that they were made for, plugins are asked for those of the network, and bits are
  /// those of the network's type.
  static bool keeps_types(const ir::Node& node) {
    return !node.bodies.empty() || node.op.as<ops::Plugin>() || node.op.as<ops::BitCast>();
  }

  /// The float type of a node: that of its first float output or, without one, of its first float input. One that
  /// decides sizes reads what it was given: rounding would change how many there are.
  std::optional<DType> float_type(const ir::Node& node) const {
    if (!node.sizes.empty() || keeps_types(node)) return std::nullopt;
    for (const auto* values : {&node.outputs, &node.inputs})
      for (const ir::ValueId value : *values)
        if (value != ir::ValueId::kNone && is_kernel_float(old_.type(value).dtype)) return old_.type(value).dtype;
    return std::nullopt;
  }

  Status move(ir::NodeId id) {
    const ir::Node& node = old_.node(id);
    if (const auto* constant = node.op.as<ops::Constant>()) {
      const ir::Value& value = old_.value(node.outputs[0]);
      moved_[ir::index(node.outputs[0])] = graph_.add_constant(*constant, value.name);
      graph_.add_taps(moved_[ir::index(node.outputs[0])], value);
      return {};
    }
    const std::optional<DType> was = float_type(node);
    const DType to = was ? rules_.compute_type(old_, id, *was) : DType::kF32;
    const std::optional<DType> rounded = was ? rules_.rounds_to(old_, id) : std::nullopt;
    const bool keeps_weights = was == DType::kF32 && node.op.as<ops::Convolution>() && rules_.keeps_weights(old_, id);
    std::vector<ir::ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ir::ValueId input = node.inputs[i];
      if (input == ir::ValueId::kNone) {
        inputs.push_back(input);
        continue;
      }
      const ir::ValueId value = moved_[ir::index(input)];
      const bool on_host = node.op.info().reads_on_host(i);
      if (keeps_types(node)) {
        inputs.push_back(TRY(as_type(value, old_.type(input).dtype)));
        continue;
      }
      const bool keeps_operand = graph_.type(value).dtype == DType::kF32 && rules_.keeps_operand(old_, id, i);
      const bool stays = on_host || !was || node.op.as<ops::Cast>() || (keeps_weights && i > 0) ||
                         is_scale(node.op, i) || keeps_operand;
      const bool is_large = !stays && rules_.exceeds_halves(old_, input);
      const ir::ValueId operand = !stays && rounded ? TRY(as_type(value, *rounded, is_large)) : value;
      inputs.push_back(stays ? value : TRY(as_type(operand, to, is_large)));
    }
    const Op op = was ? in_type(node.op, *was, to) : node.op;
    const ir::NodeId copy = ir::copy_node(graph_, old_, id, op, inputs);
    TRY(ir::infer_copy(graph_, copy));
    const std::vector<ir::ValueId> outputs = graph_.node(copy).outputs;
    for (size_t i = 0; i < outputs.size(); ++i) TRY(finish(node, node.outputs[i], outputs[i], rounded));
    return {};
  }

  Status finish(const ir::Node& node, ir::ValueId before, ir::ValueId after, std::optional<DType> rounded) {
    const DType now = graph_.type(after).dtype;
    const bool has_floats = is_kernel_float(now);
    const DType narrow = rounded && has_floats ? *rounded : rules_.rounds_values() ? old_.type(before).dtype : now;
    // A node that only moves rounded elements leaves them rounded.
    if (narrow != now && !node.op.has(Trait::kMovement)) {
      std::string name = graph_.value(after).name;  // the network's tensor is the rounded one
      graph_.set_name(after, std::string());
      const ir::ValueId in_narrow = TRY(graph_.add_one(ops::Cast{narrow}, {after}));
      after = TRY(graph_.add_one(ops::Cast{now}, {in_narrow}));
      graph_.set_name(after, std::move(name));
    }
    moved_[ir::index(before)] = after;
    return {};
  }

  const ir::Graph& old_;
  RetypeRules& rules_;
  ir::Graph graph_;
  std::vector<ir::ValueId> moved_;
  std::map<std::pair<ir::ValueId, DType>, ir::ValueId> converted_;
};

}  // namespace

Result<ir::Graph> retype(const ir::Graph& graph, RetypeRules& rules) { return Retyper(graph, rules).run(); }

bool has_type(const ir::Graph& graph, bool (*is)(DType)) {
  for (int i = 0; i < graph.num_values(); ++i)
    if (is(graph.value(static_cast<ir::ValueId>(i)).type.dtype)) return true;
  return false;
}

}  // namespace kiln
