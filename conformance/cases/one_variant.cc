#include "one_variant.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "builder/emit.h"
#include "built_case.h"
#include "comparison.h"
#include "ops/reference_context.h"
#include "tactics/cover.h"

namespace kiln {
namespace {

/// Times by which one variant is chosen: another takes as long for each of its nodes, so that none of many is better.
class OnlyOne final : public Timing {
 public:
  explicit OnlyOne(const OneVariant& wanted) : wanted_(wanted) {}
  Status time(const TacticContext&, std::span<const Trial> trials) override {
    for (const Trial& trial : trials)
      for (Candidate& candidate : trial.candidates) {
        const bool is_wanted = candidate.tactic->name() == wanted_.tactic && candidate.variant.name == wanted_.variant;
        candidate.time_us = is_wanted ? 0 : 1e5 * static_cast<double>(trial.region.nodes.size());
      }
    return {};
  }

 private:
  const OneVariant& wanted_;
};

plan::IoTensor io_of(const std::string& name, const TensorType& type) {
  plan::IoTensor io;
  io.name = name;
  io.dtype = type.dtype;
  for (const sym::Expr& extent : type.shape) io.extents.push_back(sym::Program::compile(extent));
  io.axis_names.resize(io.extents.size());
  return io;
}

/// A plan of the graph as it stands, in which a step is the wanted one. Shapes are static, but for sizes that data
/// decides.
Result<plan::Plan> plan_of(const TacticContext& cx, const Backend& backend, const OneVariant& wanted) {
  NullLog log;
  plan::Plan plan;
  plan.device_kind = backend.name();
  plan.device_identity = cx.device.identity();
  for (const sym::Expr& symbol : cx.graph.shared_table()->symbols())  // those that nodes decide
    plan.symbols.push_back({std::string(symbol.name())});
  plan::Profile& profile = plan.profiles.emplace_back();
  for (const ir::ValueId input : cx.graph.inputs()) {
    plan.inputs.push_back(io_of(cx.graph.value(input).name, cx.graph.type(input)));
    const Extents extents = TRY(cx.graph.type(input).extents());
    profile.ranges.push_back({extents, extents, extents});
    profile.value_ranges.emplace_back();
  }
  for (const ir::Output& output : cx.graph.outputs())
    plan.outputs.push_back(io_of(output.name, cx.graph.type(output.value)));
  const CoverOptions options;
  OnlyOne timing(wanted);
  const Cover cover = TRY(cover_graph(cx, backend, timing, options, log));
  TRY(require(std::ranges::any_of(cover.tiles,
                                  [&](const Tile& tile) {
                                    return tile.tactic && tile.tactic->name() == wanted.tactic &&
                                           tile.variant.name == wanted.variant;
                                  }),
              "the cover has another variant"));
  SourceTable weights(plan);
  WeightTable binaries(plan.binaries);
  std::map<std::string, std::string> fixed;
  const auto no_bodies = [](const ir::Node& node, size_t) -> Result<int> {
    return error(Code::kUnsupported, node.op.name(), " has bodies");
  };
  TRY(emit_block(cx.graph, cover, backend, options, 0, {weights, binaries, fixed, no_bodies}, profile));
  return plan;
}

/// Runs a lowered graph with `wanted` among its steps. Fails where the cover has another one.
Result<DeviceRun> run_by(const OneVariant& wanted, const TacticContext& cx, Backend& backend,
                         std::span<const HostTensor> inputs) {
  BuiltGraph built = TRY(BuiltGraph::load(backend, TRY(plan_of(cx, backend, wanted))));
  return built.run(inputs);
}

}  // namespace

int run_by_each(const Case& c, Backend& backend, const Numerics& numerics, Selection select) {
  const auto fail = [&](const Error& error) {
    ADD_FAILURE() << c.name << ": " << error.message;
    return 0;
  };
  auto built = build_case(c);
  if (!built) return fail(built.error());
  const auto want = run_reference(c.op, built->by_input);
  if (!want) return fail(want.error());
  if (const Status lowered = backend.lower(built->graph, numerics); !lowered) return fail(lowered.error());
  const TacticContext cx{built->graph, numerics, backend.device(), kAllVariants};
  const auto variants = select(cx);
  if (!variants) return fail(variants.error());
  int num_runs = 0;
  for (const OneVariant& wanted : *variants) {
    const std::string how = str(" by ", wanted.tactic, " (", wanted.variant, ")");
    const auto got = run_by(wanted, cx, backend, built->network_inputs);
    if (!got) {
      ADD_FAILURE() << c.name << how << ": " << got.error().message;
      continue;
    }
    ++num_runs;
    for (size_t i = 0; i < want->size(); ++i) compare(c, got->outputs[i], (*want)[i], numerics, how);
  }
  return num_runs;
}

}  // namespace kiln
