// Constants at every input of every op, in every format that a variant of a tactic reads. Nothing folds them: no pass
// runs, and the cover is made to take each variant in turn.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "builder/emit.h"
#include "built_case.h"
#include "comparison.h"
#include "device_run.h"
#include "ops/reference_context.h"
#include "tactics/choices.h"
#include "tactics/cover.h"

namespace kiln {
namespace {

constexpr int kLevel = 5;  // all variants, however slow they look

/// Times by which one variant is chosen: another takes as long for each of its nodes, so that none of many is better.
class OneVariant final : public Timing {
 public:
  OneVariant(std::string_view tactic, std::string_view variant) : tactic_(tactic), variant_(variant) {}
  Status time(const TacticContext&, std::span<const Trial> trials) override {
    for (const Trial& trial : trials)
      for (Candidate& candidate : trial.candidates) {
        const bool is_wanted = candidate.tactic->name() == tactic_ && candidate.variant.name == variant_;
        candidate.time_us = is_wanted ? 0 : 1e5 * static_cast<double>(trial.region.nodes.size());
      }
    return {};
  }

 private:
  std::string tactic_, variant_;
};

struct Wanted {
  std::string tactic, variant;
  auto operator<=>(const Wanted&) const = default;
};

/// What runs the graph's nodes: all variants, or those that read a constant in another format than the linear one.
Result<std::set<Wanted>> variants_of(const TacticContext& cx, const Backend& backend, bool only_ordered) {
  const Choices choices = TRY(Choices::find(cx, backend, effort_of(kLevel)));
  std::set<Wanted> result;
  for (size_t i = 0; i < choices.size(); ++i)
    for (const Candidate& candidate : choices[i].candidates) {
      const std::vector<ir::ValueId>& inputs = choices[i].region.inputs;
      bool reads = false;
      for (size_t k = 0; k < inputs.size(); ++k)
        reads |= inputs[k] != ir::ValueId::kNone && cx.graph.constant(inputs[k]) &&
                 (!only_ordered || !candidate.variant.inputs[k].is_linear());
      if (reads) result.insert({std::string(candidate.tactic->name()), candidate.variant.name});
    }
  return result;
}

plan::IoTensor io_of(const std::string& name, const TensorType& type) {
  plan::IoTensor io;
  io.name = name;
  io.dtype = type.dtype;
  for (const sym::Expr& extent : type.shape) io.extents.push_back(sym::Program::compile(extent));
  io.axis_names.resize(io.extents.size());
  return io;
}

/// A plan of the graph as it stands, in which a step is the wanted one. Shapes are static.
Result<plan::Plan> plan_of(const TacticContext& cx, const Backend& backend, const Wanted& wanted) {
  NullLog log;
  plan::Plan plan;
  plan.device_kind = backend.name();
  plan.device_identity = cx.device.identity();
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
  OneVariant timing(wanted.tactic, wanted.variant);
  const Cover cover = TRY(cover_graph(cx, backend, timing, options, log));
  TRY(require(std::ranges::any_of(cover.tiles,
                                  [&](const Tile& tile) {
                                    return tile.tactic && tile.tactic->name() == wanted.tactic &&
                                           tile.variant.name == wanted.variant;
                                  }),
              "the cover has another variant"));
  WeightTable weights(plan.weights), binaries(plan.binaries);
  TRY(emit_profile(cx.graph, cover, backend, options, 0, weights, binaries, profile));
  return plan;
}

class Runs {
 public:
  Runs(Backend& backend, bool only_ordered) : backend_(backend), only_ordered_(only_ordered) {}

  void run_all() {
    size_t index = 0;
    for (const Case& c : all_cases())
      if (!is_left_out(index++) && !c.op.has(Trait::kNondeterministic)) run(c);
    std::cout << num_runs_ << " runs of cases with constants\n";
    EXPECT_GT(num_runs_, 0);
  }

 private:
  /// With constants at all inputs, and at each alone.
  void run(const Case& c) {
    Case all = c;
    for (CaseInput& input : all.inputs) input.constant = true;
    run_with(all);
    for (size_t i = 0; i < c.inputs.size() && c.inputs.size() > 1; ++i) {
      if (c.inputs[i].absent || c.inputs[i].constant) continue;
      Case one = c;
      one.inputs[i].constant = true;
      run_with(one);
    }
  }

  void run_with(const Case& c) {
    auto built = build_case(c);
    ASSERT_TRUE(built) << c.name << ": " << built.error().message;
    const auto want = run_reference(c.op, built->by_input);
    ASSERT_TRUE(want) << c.name << ": " << want.error().message;
    ASSERT_TRUE(backend_.lower(built->graph, numerics_));
    const TacticContext cx{built->graph, numerics_, backend_.device(), kLevel};
    const auto variants = variants_of(cx, backend_, only_ordered_);
    ASSERT_TRUE(variants) << c.name << ": " << variants.error().message;
    for (const Wanted& wanted : *variants) {
      const std::string how = str(" by ", wanted.tactic, " (", wanted.variant, ")");
      const auto got = run_by(wanted, cx, built->network_inputs);
      if (!got) {
        ADD_FAILURE() << c.name << how << ": " << got.error().message;
        continue;
      }
      ++num_runs_;
      for (size_t i = 0; i < want->size(); ++i) compare(c, got->outputs[i], (*want)[i], numerics_, how);
    }
  }

  Result<DeviceRun> run_by(const Wanted& wanted, const TacticContext& cx, std::span<const HostTensor> inputs) const {
    BuiltGraph built = TRY(BuiltGraph::load(backend_, TRY(plan_of(cx, backend_, wanted))));
    return built.run(inputs);
  }

  Backend& backend_;
  const bool only_ordered_;
  const Numerics numerics_{.tf32 = false};
  int num_runs_ = 0;
};

TEST(Constants, InEveryFormatThatAVariantReads) { Runs(cpu_backend().value(), false).run_all(); }

// Kernels of row-major variants get constants as they get inputs, which CudaCases has.
TEST(CudaConstants, InEveryFormatThatAVariantReads) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  Runs(*backend, true).run_all();
}

}  // namespace
}  // namespace kiln
