// Each case of each op by every variant of every tactic that claims it, and which cases no tactic claims. No pass runs,
// so that the network is the op itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "by_reference.h"
#include "comparison.h"
#include "fake_gpu.h"
#include "one_variant.h"

namespace kiln {
namespace {

/// Tactics that no case reaches, each with the tests that do.
const std::set<std::string_view> kCpuNotByCases{
    "attention",                  // claims many nodes: cpu/tactics/attention_test.cc
    "concatenation of views",     // claims a Slice or a Transpose, too: cpu/tactics/views_test.cc
    "convolution of bytes",       // claims three nodes or more: cpu/tactics/byte_products_test.cc
    "gemm of bytes",              // likewise
    "gemm of quantized weights",  // claims two nodes: cpu/tactics/weight_only_products_test.cc
    "fill",                       // random numbers: random_state_test.cc
    "nest of views",              // claims a Slice or a Transpose, too: cpu/tactics/views_test.cc
    "plugin",                     // what a program brings: api/build/plugin_test.cc
    "two convolutions",           // claims two nodes or more: cpu/tactics/pointwise_depthwise_test.cc
};
const std::set<std::string_view> kCudaNotByCases{
    "attention",                 // claims many nodes: cuda/tactics/attention_gpu_test.cc
    "attention to joined keys",  // likewise
    "attention of bytes",        // likewise
    "concatenation of views",    // claims a Slice or a Transpose, too: cuda/tactics/views_gpu_test.cc
    "convolution of bytes",      // claims three nodes or more: cuda/tactics/byte_products_gpu_test.cc
    "gemm of bytes",             // likewise
    "gated gemm",                // claims Slices, too: cuda/tactics/gated_product_gpu_test.cc
    "normalized gemm",           // claims Normalizations, too: cuda/tactics/normalized_product_gpu_test.cc
    "cublaslt",
    "cudnn",                      // where the libraries are: cuda/tactics/library_gpu_test.cc
    "fill",                       // random numbers: random_state_test.cc
    "gemm of quantized weights",  // claims two nodes: cuda/tactics/weight_only_products_gpu_test.cc
    "joined convolution",         // claims a Concatenation too: cuda/tactics/convolution_gpu_test.cc
    "nest of views",              // claims a Slice or a Transpose, too: cuda/tactics/views_gpu_test.cc
    "plugin",                     // what a program brings: api/build/plugin_test.cc
    "squeeze excite",             // claims many nodes: cuda/tactics/squeeze_excite_gpu_test.cc
};

class Runs {
 public:
  Runs(Backend& backend, const Reasons& references, Numerics numerics = {.tf32 = false})
      : backend_(backend), references_(references), numerics_(numerics) {}

  /// Returns the names of the tactics that claim a case. kLookOnly runs nothing.
  enum class How : uint8_t { kRun, kLookOnly };
  std::set<std::string> run_all(How how = How::kRun) {
    how_ = how;
    size_t index = 0;
    for (const Case& c : all_cases())
      if (!is_left_out(index++) && !c.op.has(Trait::kNondeterministic))
        num_runs_ += run_by_each(c, backend_, numerics_, [&](const TacticContext& cx) { return variants_of(c, cx); });
    std::cout << num_runs_ << " runs by " << claim_.size() << " tactics\n";
    for (const auto& [name, reason] : references_)
      EXPECT_TRUE(listed_.contains(std::string(name)) || std::getenv("KILN_CASES_PART"))
          << name << " is listed (" << reason << "), and a tactic takes it";
    return claim_;
  }

 private:
  /// What is to run the case; a node that only its reference could run has to be listed.
  Result<std::set<OneVariant>> variants_of(const Case& c, const TacticContext& cx) {
    Choices choices = TRY(Choices::find(cx, backend_, effort_of(kAllVariants)));
    std::set<OneVariant> result;
    for (size_t i = 0; i < choices.size(); ++i) {
      const Choice& choice = choices[i];
      if (choice.tactic == &backend_.fallback()) {
        expect_listed(c, cx, choice.region.nodes.back(), choices);
        continue;
      }
      claim_.emplace(choice.tactic->name());
      if (how_ == How::kLookOnly) continue;
      for (const Candidate& candidate : choice.candidates)
        result.insert({std::string(choice.tactic->name()), candidate.variant.name});
    }
    return result;
  }

  /// A node that its reference runs: its op has no tactics, or the list says why none takes it.
  void expect_listed(const Case& c, const TacticContext& cx, ir::NodeId node, const Choices& choices) {
    const Op& op = cx.graph.node(node).op;
    if (backend_.tactics(op.info()).empty()) return;
    if (references_.contains(c.name)) {
      listed_.insert(c.name);
      return;
    }
    std::string why;
    for (const std::string& refusal : choices.refusals(node)) why += str("\n  ", refusal);
    ADD_FAILURE() << c.name << ": " << op.name() << " has tactics, and none takes it:" << why;
  }

  Backend& backend_;
  const Reasons& references_;
  const Numerics numerics_;
  How how_ = How::kRun;
  int num_runs_ = 0;
  std::set<std::string> claim_, listed_;
};

/// Expects each of the backend's tactics among those that claimed a case, but for those that the list names.
void expect_all(const Backend& backend, const std::set<std::string>& claim,
                const std::set<std::string_view>& not_by_cases) {
  if (std::getenv("KILN_CASES_PART")) return;
  std::set<std::string_view> all;
  for (const OpInfo* op : all_ops())
    for (const Tactic* tactic : backend.tactics(*op)) all.insert(tactic->name());
  for (const std::string_view name : all)
    EXPECT_NE(claim.contains(std::string(name)), not_by_cases.contains(name)) << "tactic " << name;
}

TEST(Variants, CpuAgreesWithReference) {
  Backend& backend = cpu_backend().value();
  expect_all(backend, Runs(backend, kCpuByReference).run_all(), kCpuNotByCases);
}

/// What CUDA's tactics do not take of a graph that no pass has seen.
Reasons left_by_cuda() {
  Reasons all = kCudaByReference;
  all.insert(kCudaByPass.begin(), kCudaByPass.end());
  return all;
}

TEST(Variants, CudaClaimsEveryCase) {
  FakeGpu gpu(9, 0);
  const Reasons left = left_by_cuda();
  expect_all(*gpu.backend, Runs(*gpu.backend, left).run_all(Runs::How::kLookOnly), kCudaNotByCases);
}

// Winograd among them, by the tolerance that it needs.
TEST(Variants, CpuAgreesWithReferenceWithTf32) {
  Runs(cpu_backend().value(), kCpuByReference, {.tf32 = true}).run_all();
}

TEST(CudaVariants, AgreeWithReference) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  const Reasons left = left_by_cuda();
  Runs(*backend, left).run_all();
}

}  // namespace
}  // namespace kiln
