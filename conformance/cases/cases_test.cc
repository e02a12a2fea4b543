/// Runs every registered case through the builder and each backend, and compares with the op's reference.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "built_case.h"
#include "comparison.h"
#include "device_run.h"
#include "ops/reference_context.h"
#include "ops/testing/case.h"

namespace kiln {
namespace {

void run_all(Backend& backend, const Numerics& numerics) {
  std::map<std::string, int> ran;
  BuildRequest request;
  request.numerics = numerics;
  size_t index = 0;
  for (const Case& c : all_cases()) {
    if (is_left_out(index++)) continue;
    SCOPED_TRACE(c.name);
    const auto built = build_case(c);
    ASSERT_TRUE(built) << built.error().message;
    const auto want = run_reference(c.op, built->by_input);
    ASSERT_TRUE(want) << want.error().message;
    const auto got = run_on(backend, built->graph, built->network_inputs, request);
    if (!got) {
      ADD_FAILURE() << c.name << ": " << got.error().message;
      continue;
    }
    for (const std::string& tactic : got->tactics) ++ran[tactic];
    if (c.op.has(Trait::kNondeterministic)) continue;
    for (size_t i = 0; i < want->size(); ++i) compare(c, got->outputs[i], (*want)[i], numerics);
  }
  for (const auto& [tactic, count] : ran) std::cout << "tactic " << tactic << ": " << count << " steps\n";
}

/// Cases that mean something else, or nothing, where extents are symbols.
const std::set<std::string> kOnlyOfConstants{
    "Squeeze: whatever is 1",  // the network decides which axes go
};

/// Every case with all extents symbols that may be 1, at the case's own extents.
void run_dynamic(Backend& backend, const Numerics& numerics) {
  BuildRequest request;
  request.numerics = numerics;
  request.optimization_level = 0;
  request.profiles.resize(1);
  int num_symbols = 0;
  size_t index = 0;
  for (const Case& c : all_cases()) {
    if (is_left_out(index++) || kOnlyOfConstants.contains(c.name)) continue;
    SCOPED_TRACE(c.name);
    const auto dynamic = build_dynamic_case(c);
    ASSERT_TRUE(dynamic) << dynamic.error().message;
    if (dynamic->num_symbols == 0) continue;
    num_symbols += dynamic->num_symbols;
    const auto want = run_reference(c.op, dynamic->built.by_input);
    ASSERT_TRUE(want) << want.error().message;
    request.profiles[0] = dynamic->profile;
    const auto got = run_on(backend, dynamic->built.graph, dynamic->built.network_inputs, request);
    if (!got) {
      ADD_FAILURE() << c.name << ": " << got.error().message;
      continue;
    }
    if (c.op.has(Trait::kNondeterministic)) continue;
    for (size_t i = 0; i < want->size(); ++i) compare(c, got->outputs[i], (*want)[i], numerics);
  }
  std::cout << num_symbols << " symbols\n";
  EXPECT_TRUE(num_symbols > 500 || std::getenv("KILN_CASES_PART"));
}

TEST(Cases, CpuAgreesWithReference) { run_all(cpu_backend().value(), {.tf32 = false}); }
TEST(Cases, CpuAgreesWithReferenceWithTf32) { run_all(cpu_backend().value(), {.tf32 = true}); }

void run_on_gpu(const Numerics& numerics) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  run_all(*backend, numerics);
}
TEST(CudaCases, AgreeWithReference) { run_on_gpu({.tf32 = false}); }

TEST(Cases, CpuAgreesWithReferenceWhereExtentsAreSymbols) { run_dynamic(cpu_backend().value(), {.tf32 = false}); }
TEST(CudaCases, AgreeWithReferenceWhereExtentsAreSymbols) {
  const auto backend = cuda_backend();
  if (!backend) GTEST_SKIP() << backend.error().message;
  run_dynamic(*backend, {.tf32 = false});
}

}  // namespace
}  // namespace kiln
