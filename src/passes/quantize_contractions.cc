#include "passes/quantize_contractions.h"

#include <algorithm>
#include <cmath>

#include "ir/precision.h"
#include "ops/convolution.h"
#include "ops/dequantize.h"
#include "ops/matrix_multiply.h"
#include "ops/quantize.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

constexpr std::string_view kBytes = " (bytes)";

/// The axis of w along which channels of the result lie; nothing for another op, or a product whose b is no matrix.
std::optional<int> channel_axis(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (node.op.as<ops::Convolution>()) return 0;
  const auto* product = node.op.as<ops::MatrixMultiply>();
  if (!product || product->b == ops::MatrixOp::kVector) return std::nullopt;
  const int rank = graph.input_type(id, 1).rank();
  return product->b == ops::MatrixOp::kTranspose ? rank - 2 : rank - 1;
}

/// A scale for each index along `axis`, of w's rank; nothing if a weight is not finite.
Result<std::optional<HostTensor>> channel_scales(const HostTensor& w, int axis) {
  const View view(w);
  const auto at = static_cast<size_t>(axis);
  Extents extents(w.extents().size(), 1);
  extents[at] = w.extents()[at];
  std::vector<float> largest(static_cast<size_t>(extents[at]), 0);
  const int64_t inner = row_major_strides(w.extents())[at];
  for (int64_t i = 0; i < view.volume(); ++i) {
    float& most = largest[static_cast<size_t>(i / inner % extents[at])];
    const auto magnitude = static_cast<float>(std::abs(view[i]));
    if (!std::isfinite(magnitude)) return std::nullopt;
    most = std::max(most, magnitude);
  }
  HostTensor::Fresh fresh = TRY(HostTensor::make(DType::kF32, std::move(extents)));
  for (size_t i = 0; i < largest.size(); ++i)
    store_number(DType::kF32, fresh.data.data(), static_cast<int64_t>(i),
                 largest[i] > 0 ? scale_of_range(largest[i]) : 1);
  return std::optional(std::move(fresh.tensor));
}

/// `value` through bytes of these scales.
Result<ValueId> through_scaled_bytes(ir::Graph& graph, ValueId value, ValueId scale, const std::string& name) {
  const DType type = graph.type(value).dtype;
  const ValueId bytes = TRY(graph.add_one(ops::Quantize{}, {value, scale}, name));
  if (const std::string& floats = graph.value(value).name; !floats.empty())
    graph.set_name(bytes, name_of_bytes(floats));
  return graph.add_one(ops::Dequantize{type}, {bytes, scale}, name);
}

Status quantize_one(ir::Graph& graph, ir::NodeId id, float range, HostTensor channels) {
  const ir::Node node = graph.node(id);
  const ValueId w_scale = graph.add_constant(std::move(channels), "");
  graph.set_input(id, 0, TRY(through_bytes(graph, node.inputs[0], range, node.name)));
  graph.set_input(id, 1, TRY(through_scaled_bytes(graph, node.inputs[1], w_scale, node.name)));
  return {};
}

}  // namespace

Result<ValueId> through_bytes(ir::Graph& graph, ValueId value, float range, const std::string& name) {
  const Extents ones(static_cast<size_t>(graph.type(value).rank()), 1);
  const ValueId scale =
      graph.add_constant(HostTensor::scalar(DType::kF32, double{scale_of_range(range)}).reshaped(ones), "");
  return through_scaled_bytes(graph, value, scale, name);
}

std::string name_of_bytes(std::string_view floats) { return str(floats, kBytes); }

std::string_view name_of_floats(std::string_view bytes) {
  return bytes.ends_with(kBytes) ? bytes.substr(0, bytes.size() - kBytes.size()) : std::string_view();
}

Status quantize_contractions(ir::Graph& graph, const Ranges& ranges, std::vector<LeftInFloat>& left) {
  for (const ir::NodeId id : TRY(graph.topological_order())) {
    const auto axis = channel_axis(graph, id);
    if (ir::float_precision_of(graph.node(id))) continue;
    if (!axis || graph.type(graph.node(id).inputs[0]).dtype != DType::kF32) continue;
    const HostTensor* w = graph.constant(graph.node(id).inputs[1]);
    if (!w || w->dtype() != DType::kF32 || graph.constant(graph.node(id).inputs[0])) continue;
    const auto range = known_range(graph, graph.node(id).inputs[0], ranges);
    if (!range) {
      left.push_back({graph.node(id).name, "the range of its input is not known"});
      continue;
    }
    auto channels = TRY(channel_scales(*w, *axis));
    if (channels)
      TRY(quantize_one(graph, id, *range, *std::move(channels)));
    else
      left.push_back({graph.node(id).name, "its weights are not all finite"});
  }
  return graph.infer();
}

}  // namespace kiln::passes
