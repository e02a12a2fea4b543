#include "passes/sliced_inputs.h"

#include <algorithm>
#include <optional>

#include "ir/pattern.h"
#include "ops/cast.h"
#include "ops/element_wise.h"
#include "ops/gather.h"
#include "ops/identity.h"
#include "ops/loop.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/squeeze.h"
#include "ops/unsqueeze.h"
#include "passes/slice_spec_of.h"
#include "tensor/view.h"

namespace kiln::passes {
namespace {

using ir::ValueId;

/// A single integer, where it is known before the loop runs.
std::optional<sym::Expr> known_number(const ir::Graph& graph, ValueId value) {
  const TensorType& type = graph.type(value);
  if (!is_index(type.dtype) || !sym::provably_equal(type.volume(), 1)) return std::nullopt;
  if (type.values) return (*type.values)[0];
  if (const HostTensor* constant = graph.constant(value)) return sym::Expr(View(*constant).integer(0));
  return std::nullopt;
}

/// The number that is the same under other integer types and extents.
ValueId same_number(const ir::Graph& graph, ValueId value) {
  while (graph.value(value).producer != ir::NodeId::kNone) {
    const ir::Node& node = graph.node(graph.value(value).producer);
    const bool is_same = node.op.as<ops::Cast>() || node.op.as<ops::Identity>() || node.op.as<ops::Reshape>() ||
                         node.op.as<ops::Squeeze>() || node.op.as<ops::Unsqueeze>();
    if (!is_same || !is_index(graph.type(node.inputs[0]).dtype)) break;
    value = node.inputs[0];
  }
  return value;
}

}  // namespace

Result<SlicedInputs> SlicedInputs::of(const ir::Graph& graph, ir::NodeId loop, const ir::Graph& body) {
  SlicedInputs result(graph, loop, body);
  TRY(result.find_trips());
  return result;
}

Status SlicedInputs::find_trips() {
  const ir::Node& node = graph_.node(loop_);
  const auto& loop = *node.op.as<ops::Loop>();
  TRY(require(!loop.tests && node.bodies.size() == 1, "a condition may end it"));
  const ValueId condition = node.input(1);
  TRY(require(condition == ValueId::kNone || ir::uniform_constant(graph_, condition) == 1.0,
              "a condition says whether it begins"));
  std::optional<sym::Expr> trips;
  if (const ValueId count = node.input(0); count != ValueId::kNone) {
    trips = known_number(graph_, count);
    TRY(require(trips.has_value(), "its count is data"));
  }
  for (size_t k = 0; k < loop.scans.size(); ++k) {
    const sym::Expr extent = graph_.type(node.inputs[static_cast<size_t>(loop.first_scanned()) + k]).shape[0];
    TRY(require(!trips || sym::provably_equal(*trips, extent), "it need not end with the slices of scanned input ", k));
    trips = extent;
  }
  TRY(require(trips.has_value(), "nothing says how many iterations it has"));
  trips_ = *trips;
  return {};
}

/// Whether a number is that of the iteration, from 0 on.
bool SlicedInputs::is_number(ValueId value) const {
  value = same_number(body_, value);
  return value == body_.inputs()[0] || counts_iterations(value);
}

/// Whether a carried number is 0 at first, and 1 more in each iteration.
bool SlicedInputs::counts_iterations(ValueId value) const {
  const ir::Node& node = graph_.node(loop_);
  const auto& loop = *node.op.as<ops::Loop>();
  const auto at = std::ranges::find(body_.inputs(), value) - body_.inputs().begin();
  if (at < 1 || at > loop.carried) return false;
  const auto first = known_number(graph_, node.inputs[static_cast<size_t>(at) + 1]);
  const ValueId next = same_number(body_, body_.outputs()[static_cast<size_t>(at) - 1].value);
  const auto* sum =
      body_.value(next).producer == ir::NodeId::kNone ? nullptr : body_.producer_as<ops::ElementWise>(next);
  if (!first || *first != sym::Expr(0) || !sum || sum->kind != ops::ElementWiseKind::kSum) return false;
  const std::vector<ValueId>& inputs = body_.node(body_.value(next).producer).inputs;
  const auto adds_one = [&](ValueId one, ValueId to) {
    return ir::uniform_constant(body_, one) == 1.0 && same_number(body_, to) == value;
  };
  return adds_one(inputs[0], inputs[1]) || adds_one(inputs[1], inputs[0]);
}

/// 1 where a number is the iteration's, -1 where it counts down to 0 from the last slice, else 0.
int SlicedInputs::direction_of(ValueId index) const {
  if (is_number(index)) return 1;
  index = same_number(body_, index);
  const auto* op =
      body_.value(index).producer == ir::NodeId::kNone ? nullptr : body_.producer_as<ops::ElementWise>(index);
  if (!op || op->kind != ops::ElementWiseKind::kSub) return 0;
  const std::vector<ValueId>& inputs = body_.node(body_.value(index).producer).inputs;
  const auto last = known_number(body_, inputs[0]);
  return last && sym::provably_equal(*last, trips_ - 1) && is_number(inputs[1]) ? -1 : 0;
}

/// What a body's input is outside, if it is captured; else kNone.
ValueId SlicedInputs::captured(ValueId value) const {
  const ir::Node& node = graph_.node(loop_);
  const auto at = static_cast<size_t>(std::ranges::find(body_.inputs(), value) - body_.inputs().begin());
  const auto first = static_cast<size_t>(node.op.as<ops::Loop>()->first_captured());
  return at < body_.inputs().size() && at + 1 >= first ? node.inputs[at + 1] : ValueId::kNone;
}

Result<SlicedInput> SlicedInputs::gathered(const ir::Node& node) const {
  const auto& op = *node.op.as<ops::Gather>();
  const int rank = body_.type(node.inputs[0]).rank();
  const SlicedInput result{captured(node.inputs[0]), op.axis < 0 ? op.axis + rank : op.axis,
                           direction_of(node.inputs[1])};
  TRY(require(op.mode == GatherMode::kDefault && op.num_elementwise_dims == 0 && result.whole != ValueId::kNone &&
                  result.direction != 0 && sym::provably_equal(body_.type(node.inputs[1]).volume(), 1),
              "a gather in it does not take one slice after the other"));
  return result;
}

Result<SlicedInput> SlicedInputs::sliced(ir::NodeId slice) const {
  const ir::Node& node = body_.node(slice);
  SlicedInput result{captured(node.inputs[0]), -1, 1};
  const auto spec = slice_spec_of(body_, slice);
  const auto number = known_number(body_, body_.inputs()[0]);
  bool one_after_the_other = result.whole != ValueId::kNone && spec && number;
  for (size_t axis = 0; one_after_the_other && axis < spec->starts.size(); ++axis) {
    const bool is_whole = spec->starts[axis] == sym::Expr(0) && spec->strides[axis] == sym::Expr(1) &&
                          sym::provably_equal(spec->sizes[axis], body_.type(node.inputs[0]).shape[axis]);
    if (is_whole) continue;
    const bool forward = sym::provably_equal(spec->starts[axis], *number);
    one_after_the_other = result.axis < 0 && spec->sizes[axis] == sym::Expr(1) &&
                          (forward || sym::provably_equal(spec->starts[axis], trips_ - 1 - *number));
    result.axis = static_cast<int>(axis);
    result.direction = forward ? 1 : -1;
  }
  TRY(require(one_after_the_other && result.axis >= 0, "a slice in it does not take one slice after the other"));
  return result;
}

Status SlicedInputs::require_whole(const SlicedInput& input) const {
  const sym::Expr extent = graph_.type(input.whole).shape[static_cast<size_t>(input.axis)];
  return require(sym::provably_equal(extent, trips_), "it has ", trips_, " iterations and reads slices of ", extent);
}

Result<SlicedInput> SlicedInputs::find(ValueId value) const {
  const ir::Node& node = graph_.node(loop_);
  const auto& loop = *node.op.as<ops::Loop>();
  const ir::NodeId producer = body_.value(value).producer;
  SlicedInput result;
  if (producer == ir::NodeId::kNone) {
    const auto at = std::ranges::find(body_.inputs(), value) - body_.inputs().begin();
    const auto k = at - 1 - loop.carried;
    TRY(require(k >= 0 && k < std::ssize(loop.scans), "a gate adds '", body_.value(value).name,
                "', which is no product of the state or of a slice"));
    result.whole = node.inputs[static_cast<size_t>(at) + 1];
    result.direction = loop.scans[static_cast<size_t>(k)];
  } else {
    const ir::Node& maker = body_.node(producer);
    TRY(require(maker.op.as<ops::Gather>() || maker.op.as<ops::Slice>(), "a gate adds '", body_.value(value).name,
                "', which ", maker.op.name(), " makes of what is no slice"));
    result = maker.op.as<ops::Gather>() ? TRY(gathered(maker)) : TRY(sliced(producer));
  }
  TRY(require_whole(result));
  return result;
}

}  // namespace kiln::passes
