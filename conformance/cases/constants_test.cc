// Constants at every input of every op, in every format that a variant of a tactic reads. Nothing folds them: no pass
// runs, and the cover is made to take each variant in turn.
#include <gtest/gtest.h>

#include <set>

#include "comparison.h"
#include "device_run.h"
#include "one_variant.h"
#include "tactics/choices.h"

namespace kiln {
namespace {

/// The variants that run the graph's nodes: all, or those that read a constant in another format than the linear one.
Result<std::set<OneVariant>> variants_of(const TacticContext& cx, const Backend& backend, bool only_ordered) {
  const Choices choices = TRY(Choices::find(cx, backend, effort_of(kAllVariants)));
  std::set<OneVariant> result;
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
  /// Runs a case with constants at all inputs, and at each alone.
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
    num_runs_ += run_by_each(c, backend_, numerics_,
                             [&](const TacticContext& cx) { return variants_of(cx, backend_, only_ordered_); });
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
