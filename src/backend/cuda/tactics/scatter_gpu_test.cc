// Scatters that reduce, against their reference, whose bits they have; on a machine with a GPU only.
#include "ops/scatter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/define.h"

namespace kiln::cuda {
namespace {

using enum ScatterReduction;
constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kI32, DType::kI64};

struct ScatterCase {
  const char* name;
  ops::Scatter op;
  Extents data, indices, updates;
  int64_t places = 1;     ///< that indices choose among, every second one counted from the back
  int64_t same_from = 0;  ///< updates from this one on are for place 0; 0: none
};

HostTensor indices_of(const ScatterCase& c) {
  std::vector<double> values(static_cast<size_t>(volume(c.indices)));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t place = c.same_from > 0 && at >= c.same_from ? 0 : at * 7919 % c.places;
    values[i] = static_cast<double>(place - (i % 2 ? c.places : 0));
  }
  return HostTensor::of(DType::kI64, c.indices, values);
}

Net scatter_net(const ScatterCase& c, DType type) {
  Net net(type);
  const ir::ValueId data = net.input(c.data, 10);
  net.inputs.push_back(indices_of(c));
  const ir::ValueId indices = net.graph.add_input("indices", tensor_type(DType::kI64, c.indices));
  net.finish(net.add(c.op, {data, indices, net.input(c.updates, 10)}));
  return net;
}

class ScatterOnGpu : public OnGpu {
 protected:
  static const Tactic& tactic() { return *tactics_for(op_info<ops::Scatter>()).front(); }
};

TEST_F(ScatterOnGpu, ReducesInTheOrderOfUpdates) {
  constexpr ScatterMode kNd = ScatterMode::kNd;
  const ScatterCase cases[] = {
      {"few elements", {.axis = 1}, {9, 60}, {8, 70}, {8, 70}, 60},
      {"rows sorted by a block", {.mode = kNd}, {60, 33}, {700, 1}, {700, 33}, 60},
      {"one row takes nearly all", {.mode = kNd}, {60, 70}, {3000, 1}, {3000, 70}, 60, 100},
      {"elements sorted by passes", {.axis = 0}, {300, 50}, {700, 50}, {700, 50}, 300},
      {"rows sorted by passes", {.mode = kNd}, {70000, 3}, {9000, 1}, {9000, 3}, 70000},
      {"one element takes nearly all", {.axis = 0}, {5}, {100'000}, {100'000}, 5, 1000},
      {"runs end at the last update", {.axis = 0}, {2}, {512}, {512}, 2},
      {"a row wider than a tile", {.mode = kNd}, {2, 41}, {300, 1}, {300, 41}, 2},
  };
  for (const ScatterCase& c : cases)
    for (const DType type : kTypes)
      for (const ScatterReduction reduction : {kSum, kProd, kMax, kMin}) {
        ScatterCase reduced = c;
        reduced.op.reduction = reduction;
        const std::string name = str(c.name, " of ", type, ", ", static_cast<int>(reduction));
        expect_agreement(name, scatter_net(reduced, type), tactic(), 0);
      }
}

TEST_F(ScatterOnGpu, NaNIsReducedAsTheReferenceDoes) {
  ScatterCase c{"", {}, {5}, {40}, {40}, 5};
  for (const ScatterReduction reduction : {kSum, kMax, kMin}) {
    c.op.reduction = reduction;
    Net net = scatter_net(c, DType::kF32);
    std::vector<double> updates(40, 2);
    updates[7] = updates[20] = NAN;
    net.inputs[2] = HostTensor::of(DType::kF32, {40}, updates);
    expect_agreement(str("NaN, ", static_cast<int>(reduction)), net, tactic(), 0);
  }
}

// --gtest_also_run_disabled_tests --gtest_filter='ScatterOnGpu*Rates'
TEST_F(ScatterOnGpu, DISABLED_Rates) {
  const ScatterCase cases[] = {
      {"64 features of 3k edges, elements", {.axis = 0}, {1000, 64}, {3000, 64}, {3000, 64}, 1000},
      {"64 features of 100k edges, rows",
       {.mode = ScatterMode::kNd},
       {10'000, 64},
       {100'000, 1},
       {100'000, 64},
       10'000},
      {"64 features of 100k edges, elements", {.axis = 0}, {10'000, 64}, {100'000, 64}, {100'000, 64}, 10'000},
      {"30k nodes to one graph", {.mode = ScatterMode::kNd}, {1, 64}, {30'000, 1}, {30'000, 64}, 1},
      {"a million updates of one element", {.axis = 0}, {4}, {1'000'000}, {1'000'000}, 4, 1},
  };
  for (const ScatterCase& c : cases) {
    ScatterCase sum = c;
    sum.op.reduction = kSum;
    const Net net = scatter_net(sum, DType::kF32);
    const auto ran = run_variants(*gpu_, net.graph, tactic(), net.inputs, {.timed = true});
    ASSERT_TRUE(ran) << ran.error().message;
    for (const RanVariant& variant : *ran)
      std::printf("%-40s %9.2f us %s\n", c.name, variant.time_us, variant.failure.c_str());
  }
}

}  // namespace
}  // namespace kiln::cuda
