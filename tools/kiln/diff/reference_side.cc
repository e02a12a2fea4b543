#include "kiln/diff/reference_side.h"

#include "base/counted.h"
#include "ir/body_role.h"
#include "ir/interpret.h"
#include "kiln/diff/widen.h"
#include "kiln/network.h"
#include "ops/cast.h"
#include "ops/constant.h"
#include "ops/fold.h"
#include "ops/pooling.h"
#include "ops/quantize.h"
#include "tensor/view.h"

namespace kiln::diff {
namespace {

/// The scale of what a Quantize makes, where it is one number that is known.
std::optional<ByteScale> scale_of(const ir::Graph& graph, const ir::Node& node) {
  const HostTensor* scale = graph.constant(node.inputs[1]);
  if (!scale || scale->volume() != 1) return std::nullopt;
  ByteScale result{.scale = View(*scale)[0]};
  if (node.input(2) == ir::ValueId::kNone) return result;
  const HostTensor* zero = graph.constant(node.inputs[2]);
  if (!zero || zero->volume() != 1) return std::nullopt;
  result.zero = View(*zero)[0];
  return result;
}

/// Whether an op hands on elements of its first input.
bool hands_on(const Op& op) {
  const auto* pooling = op.as<ops::Pooling>();
  return op.has(Trait::kMovement) || (pooling && pooling->kind == ops::PoolingKind::kMax);
}

/// The coarsest numbers of a network as it was before it was widened.
void find_precision(const ir::Graph& graph, Precision& precision) {
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    if (!graph.alive(id)) continue;
    if (graph.node(id).op.as<ops::Quantize>()) precision = std::max(precision, Precision::kBytes);
    for (const ir::ValueId output : graph.node(id).outputs) {
      if (graph.type(output).dtype == DType::kF16) precision = std::max(precision, Precision::kHalf);
      if (graph.type(output).dtype == DType::kBF16) precision = std::max(precision, Precision::kBfloat);
    }
    for (const std::shared_ptr<ir::Graph>& body : graph.node(id).bodies) find_precision(*body, precision);
  }
}

}  // namespace

Result<std::unique_ptr<ReferenceSide>> ReferenceSide::create(const ir::Graph& graph, std::string name) {
  std::unique_ptr<ReferenceSide> side(new ReferenceSide(TRY(widened(graph))));
  find_precision(graph, side->precision_);
  side->description_ = str(name, " (its references, ", counted(count_nodes(graph), "node"), ")");
  side->add_spots(side->graph_, {});
  return side;
}

void ReferenceSide::add_spots(const ir::Graph& graph, const std::string& body) {
  const auto order = graph.topological_order();
  if (!order) return;  // a run says why
  for (const ir::NodeId id : *order) {
    const ir::Node& node = graph.node(id);
    if (node.op.as<ops::Constant>()) continue;
    std::vector<size_t> reads;
    for (const ir::ValueId input : node.inputs)
      if (const auto found = places_.find({&graph, input}); found != places_.end()) reads.push_back(found->second.spot);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ir::ValueId value = node.outputs[i];
      Place place{spots_.size(), {}};
      if (node.op.as<ops::Quantize>()) place.scale = scale_of(graph, node);
      if (hands_on(node.op))
        if (const auto from = places_.find({&graph, node.inputs[0]}); from != places_.end())
          place.scale = from->second.scale;
      Spot& spot = spots_.emplace_back();
      spot.body = body;
      spot.names = {graph.value(value).name};
      for (const ir::Output& output : graph.outputs())
        if (output.value == value && output.name != spot.names[0]) spot.names.push_back(output.name);
      spot.layer = node.name.empty() ? str(node.op.name()) : node.name;
      spot.origins = node.provenance;
      spot.output = static_cast<int>(i);
      spot.reads = reads;
      places_[{&graph, value}] = place;
    }
    for (size_t b = 0; b < node.bodies.size(); ++b)
      add_spots(*node.bodies[b], str(ir::body_role(node, b), " of ", node.op.name(), " '", node.name, "'"));
  }
}

class ReferenceSide::Sink final : public ir::ValueSink {
 public:
  Sink(const ReferenceSide& side, Watcher& watcher) : side_(side), watcher_(watcher) {}
  Status made(const ir::Graph& graph, ir::ValueId value, const HostTensor& tensor) override {
    const auto found = side_.places_.find({&graph, value});
    if (found == side_.places_.end() || !watcher_.wants(found->second.spot)) return {};
    TRY(watcher_.made(found->second.spot, {tensor, found->second.scale}));
    return {};
  }

 private:
  const ReferenceSide& side_;
  Watcher& watcher_;
};

Status ReferenceSide::run(const std::vector<HostTensor>& inputs, Watcher& watcher) {
  std::vector<HostTensor> wide;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ops::Constant given{inputs[i]};
    const DType type = graph_.type(graph_.inputs()[i]).dtype;
    wide.push_back(type == inputs[i].dtype() ? inputs[i] : TRY(fold_one(ops::Cast{type}, {&given})).value);
  }
  Sink sink(*this, watcher);
  TRY(in_context(ir::interpret(graph_, wide, &sink), [&] { return description_; }));
  return {};
}

}  // namespace kiln::diff
