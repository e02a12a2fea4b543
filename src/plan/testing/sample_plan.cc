#include "plan/testing/sample_plan.h"

#include <algorithm>
#include <cmath>

#include "ops/cast.h"
#include "ops/select.h"
#include "plan/cbor.h"
#include "plan/metadata.h"
#include "steps/normalization.h"
#include "steps/softmax.h"

namespace kiln::plan {
namespace {

sym::Program constant(int64_t value) { return sym::Program::constant(value); }
sym::Program words(std::vector<int64_t> words) { return *sym::Program::from_words(words, 4); }
sym::Program symbol(int id) { return words({static_cast<int64_t>(sym::Kind::kSymbol), id}); }
sym::Program times(int id, int64_t factor) {
  return words({static_cast<int64_t>(sym::Kind::kSymbol), id, static_cast<int64_t>(sym::Kind::kConst), factor,
                static_cast<int64_t>(sym::Kind::kProd)});
}

Tensor tensor(std::string name, std::vector<sym::Program> extents, Place place, int index) {
  Tensor t;
  t.name = std::move(name);
  t.extents = std::move(extents);
  t.place = place;
  t.index = index;
  return t;
}

Step step(std::string name, AnyStep computes, std::vector<int> inputs, std::vector<int> outputs) {
  Step s;
  s.name = std::move(name);
  s.executor = "cpu";
  s.step = std::move(computes);
  s.inputs = std::move(inputs);
  s.outputs = std::move(outputs);
  return s;
}

Profile sample_profile() {
  Profile p;
  p.ranges = {{{1, 6}, {2, 6}, {4, 6}}, {{1}, {1}, {1}}};
  p.value_ranges = {{}, {{-1}, {0}, {7}}};
  p.guards = {{sym::Relation::kDivides, constant(1), symbol(0), "1 divides batch (y)"}};
  p.tensors = {tensor("x", {symbol(0), constant(6)}, Place::kInput, 0),
               tensor("w", {constant(6), constant(5)}, Place::kWeight, 0),
               tensor("", {}, Place::kAbsent, -1),
               tensor("xw", {symbol(0), constant(5)}, Place::kArena, -1),
               tensor("xw flat", {times(0, 5)}, Place::kView, 3),
               tensor("y", {symbol(0), constant(5)}, Place::kOutput, 0)};
  p.tensors[3].offset_bytes = 256;
  p.tensors[3].size_bytes_max = 4 * 5 * 4;
  p.tensors[1].format = Format::permuted(std::vector<int>{1, 0});
  p.steps = {step("matmul", steps::Normalization{.axes = 2, .epsilon = 0.1}, {0, 1, 2}, {3}),
             step("relu", steps::Softmax{.axis = 1}, {4}, {5})};
  p.steps[0].tuning.set("tile", std::vector<int64_t>{6, 16, -300}).set("scale", 0.1).set("packed", true);
  p.steps[0].params = {times(0, 3)};
  p.steps[0].workspace_bytes = 1000;
  p.steps[0].binary = 0;
  p.steps[0].provenance = {"MatMul_0", "Reshape_1"};
  p.steps[0].info = {"MatrixMultiply", "gemm", "small", NAN, {"gemm: chosen", "reference: refused"}};
  p.steps[1].stream = 1;
  p.steps[1].sizes = {{2, times(0, 5)}};
  p.known_sizes = {{3, times(2, 1)}};
  p.steps[1].alternatives = {
      {{1}, steps::Softmax{}, Record().set("vec", 4), 0, {times(0, 2)}, {"small", "batch = 1", 1.5, 2.5}}};
  p.tunings = {{2, 0, 10, 10}, {1, 0, 5, 5}};
  p.arena_bytes = 512;
  p.debug_tensors = {{"a tap", 3}};
  p.workspace_bytes = 1000;
  return p;
}

}  // namespace

Plan sample_plan() {
  Plan plan;
  plan.network_name = "sample";
  plan.device_kind = "cpu";
  plan.device_identity = "a machine, 2 threads";
  plan.libraries.set("cuBLASLt", "12.8");
  plan.build = {"9.0", 2, 24, true};
  plan.symbols = {{"batch", 0, 0, -1}, {"k", 1, -1, 0}, {"found"}, {"found too"}};
  plan.guards = {{sym::Relation::kLessEqual, symbol(0), constant(4), "batch <= 4 (x)"}};
  plan.inputs = {{"x", DType::kF32, {}, {symbol(0), constant(6)}, {"batch", ""}, false},
                 {"k", DType::kI32, {}, {constant(1)}, {""}, true}};
  plan.outputs = {{"y", DType::kF32, {}, {symbol(0), constant(5)}, {"batch", ""}, false},
                  {"shape of y", DType::kI64, {}, {constant(2)}, {""}, true, {symbol(0), constant(5)}}};
  std::vector<double> elements(30);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = 0.25 * static_cast<double>(i) - 3;
  plan.weights = {{"w", HostTensor::of(DType::kF32, {6, 5}, elements)},
                  {"nibbles", HostTensor::of(DType::kI4, {3}, std::vector<double>{1, 2, 3})},
                  {"empty", HostTensor::of(DType::kF16, {0, 4}, {})},
                  {"twin", HostTensor::of(DType::kF32, {6, 5}, elements), {.derived = 1}, 0}};
  plan.weights[0].from = {.source = 0};
  plan.sources = {{"w", DType::kF32, {6, 5}, "it decides shapes", "0123456789abcdef"},
                  {"v", DType::kF16, {6, 5}, {}, {}}};
  plan.derived = {{ops::Cast{DType::kF32}, 0, {{.source = 1}}, DType::kF32, {6, 5}},
                  {ops::Select{}, 0, {{.derived = 0}, {.weight = 1}, {}}, DType::kF32, {6, 5}}};
  plan.binaries = {{"k.cubin", HostTensor::of_ints(DType::kU8, {5}, std::vector<int64_t>{127, 69, 76, 70, 0})}};
  const HostTensor library = HostTensor::of_ints(DType::kU8, {6}, std::vector<int64_t>{127, 69, 76, 70, 2, 1});
  plan.plugin_libraries = {{"/lib/a.so", library}, {"/lib/b.so", library, {}, 0}};
  plan.profiles = {sample_profile(), sample_profile()};
  return plan;
}

bool same(const Plan& a, const Plan& b) {
  // By bytes: a record that holds NaN is not equal to itself.
  if (*to_cbor(to_record(a)) != *to_cbor(to_record(b))) return false;
  const auto lists = stored_lists(a), others = stored_lists(b);
  const auto same_bytes = [](const Weight& one, const Weight& other) { return one.value == other.value; };
  for (size_t i = 0; i < lists.size(); ++i)
    if (!std::ranges::equal(*lists[i], *others[i], same_bytes)) return false;
  return true;
}

}  // namespace kiln::plan
