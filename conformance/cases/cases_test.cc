/// Runs every registered case through the builder and each backend, and compares with the op's reference.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "built_case.h"
#include "device_run.h"
#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "tensor/view.h"

namespace kiln {
namespace {

/// Half an ulp of the type for the rounding of the result, and as much again for each of the roundings inside that a
/// float kernel makes and the double reference does not; relative to the largest output.
double tolerance_of(const Case& c, DType output, const Numerics& numerics) {
  if (c.tolerance > 0) return c.tolerance;
  // Winograd's transforms round at numbers some ten times as large as the result.
  if (numerics.tf32 && output == DType::kF32 && c.op.has(Trait::kContraction)) return 2e-5;
  switch (output) {
    case DType::kF16: return 1.0 / 1024;
    case DType::kBF16: return 1.0 / 128;
    case DType::kF32: return 2e-6;
    default: return 0;
  }
}

void compare(const Case& c, const HostTensor& got, const HostTensor& want, const Numerics& numerics) {
  ASSERT_EQ(got.extents(), want.extents()) << c.name;
  ASSERT_EQ(got.dtype(), want.dtype()) << c.name;
  const View x(got), y(want);
  double largest = 0, worst = 0;
  int64_t at = -1;
  for (int64_t i = 0; i < y.volume(); ++i)
    if (std::isfinite(y[i])) largest = std::max(largest, std::abs(y[i]));
  for (int64_t i = 0; i < y.volume(); ++i) {
    if (std::isnan(y[i]) ? std::isnan(x[i]) : x[i] == y[i]) continue;
    const double off = std::isfinite(y[i]) && std::isfinite(x[i]) ? std::abs(x[i] - y[i]) : INFINITY;
    if (off > worst) worst = off, at = i;
  }
  EXPECT_LE(worst, tolerance_of(c, want.dtype(), numerics) * std::max(largest, 1e-30))
      << c.name << ": element " << at << " is " << (at < 0 ? 0 : x[at]) << ", the reference has "
      << (at < 0 ? 0 : y[at]);
}

/// KILN_CASES_PART=2/12 leaves every twelfth case, from the third on: for slow tools, in several processes.
bool is_left_out(size_t index) {
  const char* text = std::getenv("KILN_CASES_PART");
  size_t part = 0, parts = 0;
  return text && std::sscanf(text, "%zu/%zu", &part, &parts) == 2 && parts > 0 && index % parts != part;
}

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
    "Scale: elements",         // its coefficients are weights of x's constant shape
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
