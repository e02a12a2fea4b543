#include "backend/cpu/tactics/weight_only_products.h"

#include <gtest/gtest.h>

#include <random>

#include "backend/cpu/kernels/testing.h"
#include "backend/cpu/tactics/backend.h"
#include "backend/cpu/tactics/testing.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/dequantize.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/reference_context.h"
#include "ops/reshape.h"
#include "steps/packs_constants.h"
#include "tactics/weight_only_products.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

using ir::ValueId;
using ops::MatrixOp;

HostTensor random_integers(DType type, Extents extents, unsigned seed) {
  HostTensor::Fresh fresh = *HostTensor::make(type, std::move(extents));
  std::mt19937 random(seed);
  for (std::byte& byte : fresh.data) byte = static_cast<std::byte>(random());
  return std::move(fresh.tensor);
}
HostTensor random_scales(DType type, Extents extents) {
  std::mt19937 random(5);
  std::vector<double> values(static_cast<size_t>(volume(extents)));
  for (double& value : values) value = 0.01 + static_cast<double>(random() % 64) / 1024;
  return HostTensor::of(type, std::move(extents), values);
}

/// Weights of a product, in the order of `b`.
struct Weights {
  DType type = DType::kI4;
  Extents extents, scales;
  MatrixOp b = MatrixOp::kNone;
  bool has_zeros = false;
  DType scale_type = DType::kF32;

  ValueId add(ir::Graph& graph) const {
    const ValueId q = graph.add_constant(random_integers(type, extents, 3));
    const ValueId scale = graph.add_constant(random_scales(scale_type, scales));
    if (!has_zeros) return *graph.add_one(ops::Dequantize{}, {q, scale});
    const ValueId zero = graph.add_constant(random_integers(type, scales, 4));
    return *graph.add_one(ops::Dequantize{}, {q, scale, zero});
  }
  /// What the reference makes of them.
  HostTensor numbers() const {
    const HostTensor q = random_integers(type, extents, 3), scale = random_scales(scale_type, scales),
                     zero = random_integers(type, scales, 4);
    const std::vector<const HostTensor*> inputs{&q, &scale, has_zeros ? &zero : nullptr};
    return std::move(run_reference(ops::Dequantize{}, inputs)->front());
  }
};

/// relu(x * w + bias) + residual, by the tactic on each target against references.
void check(const Weights& w, Extents x_extents, int64_t n, bool has_rest = true) {
  ir::Graph graph;
  Extents y_extents = x_extents;
  y_extents.back() = n;
  const ValueId x = graph.add_input("x", tensor_type(DType::kF32, x_extents));
  ValueId b = w.add(graph);
  if (w.extents.size() < x_extents.size()) {
    std::vector<int64_t> placed(x_extents.size() - w.extents.size(), 1);
    placed.insert(placed.end(), w.extents.begin(), w.extents.end());
    const ValueId shape =
        graph.add_constant(HostTensor::of_ints(DType::kI64, {static_cast<int64_t>(placed.size())}, placed));
    b = *graph.add_one(ops::Reshape{}, {b, shape});
  }
  ValueId y = *graph.add_one(ops::MatrixMultiply{.b = w.b}, {x, b});
  std::vector<HostTensor> fed{tensor_of(x_extents, random_floats(volume(x_extents), 1))};
  const HostTensor bias = tensor_of(
                       [&] {
                         Extents e(x_extents.size(), 1);
                         e.back() = n;
                         return e;
                       }(),
                       random_floats(n, 2)),
                   residual = tensor_of(y_extents, random_floats(volume(y_extents), 3));
  if (has_rest) {
    y = *graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {y, graph.add_constant(bias)});
    y = *graph.add_one(ops::Activation{ops::ActivationKind::kTanh}, {y});
    const ValueId r = graph.add_input("r", tensor_type(DType::kF32, y_extents));
    y = *graph.add_one(ops::ElementWise{ops::ElementWiseKind::kSum}, {y, r});
    fed.push_back(residual);
  }
  graph.mark_output(y, "y");

  HostTensor numbers = w.numbers();
  Extents b_extents(x_extents.size() - w.extents.size(), 1);
  b_extents.insert(b_extents.end(), w.extents.begin(), w.extents.end());
  numbers = HostTensor(numbers.dtype(), b_extents, numbers.bytes(), std::make_shared<HostTensor>(numbers));
  const std::vector<const HostTensor*> factors{&fed[0], &numbers};
  const HostTensor product = std::move(run_reference(ops::MatrixMultiply{.b = w.b}, factors)->front());
  for_each_target([&] {
    const auto device = test_device(2);
    const Numerics numerics;
    const TacticContext cx{graph, numerics, *device};
    const Tactic& tactic = weight_only_tactic();
    const Match region = tactic.match(cx, graph.value(y).producer);
    ASSERT_TRUE(region.has_value()) << region.error().reason;
    EXPECT_EQ(region->outputs[0], y);
    const auto got = run_variant(cx, tactic, *region, tactic.variants(cx, *region)[0], fed, y_extents);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    const double k = static_cast<double>(x_extents.back());
    for (int64_t i = 0; i < got->volume(); ++i) {
      double want = View(product)[i];
      if (has_rest) want = std::tanh(want + View(bias)[i % n]) + View(residual)[i];
      // Sums of products of up to 16 (or 256) steps of at most 0.08, as numbers and as what zero points take away.
      const double most = (w.type == DType::kI4 ? 16 : 256) * 0.08 * 2;
      ASSERT_NEAR(View(*got)[i], want, sum_error(k, k * most) + 1e-6) << i;
    }
  });
}

TEST(WeightOnlyProducts, OfEachTypeAndLayout) {
  for (const DType type : {DType::kI4, DType::kI8, DType::kU8})
    for (const bool has_zeros : {false, true})
      for (const int64_t rows : {1, 3, 40}) {
        SCOPED_TRACE(::testing::Message() << name_of(type) << ' ' << has_zeros << ' ' << rows);
        check({type, {64, 50}, {4, 50}, MatrixOp::kNone, has_zeros}, {rows, 64}, 50);
        check({type, {50, 64}, {50, 2}, MatrixOp::kTranspose, has_zeros, DType::kF16}, {rows, 64}, 50);
      }
}
TEST(WeightOnlyProducts, OfScalesForAllOrAChannel) {
  check({DType::kI8, {33, 20}, {1, 1}}, {4, 33}, 20);
  check({DType::kI4, {33, 21}, {1, 21}}, {4, 33}, 21, /*has_rest=*/false);
  check({DType::kU8, {20, 33}, {20, 1}, MatrixOp::kTranspose, true}, {4, 33}, 20);
}
TEST(WeightOnlyProducts, OfBatchesByOneMatrix) {
  check({DType::kI4, {1, 50, 64}, {1, 50, 2}, MatrixOp::kTranspose}, {2, 3, 64}, 50);
  check({DType::kI4, {50, 64}, {50, 2}, MatrixOp::kTranspose}, {2, 3, 64}, 50);
}

std::string refusal(const Weights& w, Extents x, bool is_output = false) {
  ir::Graph graph;
  const ValueId a = graph.add_input("x", tensor_type(DType::kF32, x)), b = w.add(graph);
  const ValueId y = *graph.add_one(ops::MatrixMultiply{.b = w.b}, {a, b});
  graph.mark_output(y, "y");
  if (is_output) graph.mark_output(b, "b");
  const auto device = test_device(1);
  const Numerics numerics;
  const Match match = weight_only_tactic().match({graph, numerics, *device}, graph.value(y).producer);
  return match ? "nothing" : match.error().reason;
}
TEST(WeightOnlyProducts, SayWhatTheyDoNotTake) {
  EXPECT_EQ(refusal({DType::kI4, {64, 8}, {16, 8}}, {2, 64}), "weights in blocks of 4; a multiple of 8 is needed");
  EXPECT_EQ(refusal({DType::kI4, {64, 8}, {4, 4}}, {2, 64}), "scales [4, 4] do not lie over weights [64, 8]");
  EXPECT_EQ(refusal({DType::kI4, {2, 64, 8}, {1, 1, 1}}, {2, 3, 64}),
            "weights [2, 64, 8] with scales [1, 1, 1] are no one matrix");
  EXPECT_EQ(refusal({DType::kI4, {64, 8}, {4, 8}}, {2, 64}, /*is_output=*/true), "others read the weights' numbers");
}
/// An engine holds the weights once, in their bits, and can tell them again.
TEST(WeightOnlyProducts, KeepTheirWeights) {
  ir::Graph graph;
  const Weights w{DType::kI4, {64, 33}, {4, 33}};
  const ValueId x = graph.add_input("x", tensor_type(DType::kF32, Extents{2, 64}));
  const ValueId y = *graph.add_one(ops::MatrixMultiply{}, {x, w.add(graph)});
  graph.mark_output(y, "y");
  for_each_target([&] {
    const auto device = test_device(1);
    const Numerics numerics;
    const TacticContext cx{graph, numerics, *device};
    const Region region = *weight_only_tactic().match(cx, graph.value(y).producer);
    const Variant variant = weight_only_tactic().variants(cx, region)[0];
    const StepDraft draft = *weight_only_tactic().compile(cx, region, variant);
    std::vector<const HostTensor*> constants;
    for (const ValueId input : region.inputs)
      constants.push_back(input == ValueId::kNone ? nullptr : graph.constant(input));
    Executor& executor = *device->executor("cpu");
    const auto loaded = executor.load(spec_of(graph, region, variant, draft), constants);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    const PacksConstants* packs = (*loaded)->packs_constants();
    ASSERT_NE(packs, nullptr);
    EXPECT_EQ(packs->constant_use(1), ConstantUse::kPacked);
    std::vector<std::byte> again(constants[1]->bytes().size());
    packs->unpack(1, again);
    EXPECT_TRUE(std::ranges::equal(again, constants[1]->bytes()));
    EXPECT_LE((*loaded)->packed_bytes(), 64 * 64 / 2 + 5 * 64 * 4 + 64 * 4);  // whole panels of columns
  });
}
TEST(WeightOnlyProducts, AreWhatTheBackendKeeps) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", tensor_type(DType::kF16, Extents{2, 64}));
  const ValueId q = graph.add_constant(random_integers(DType::kI4, {8, 64}, 3));
  const ValueId scale = graph.add_constant(random_scales(DType::kF16, {8, 2}));
  const ValueId b = *graph.add_one(ops::Dequantize{.to = DType::kF16}, {q, scale});
  const ValueId y = *graph.add_one(ops::MatrixMultiply{.b = MatrixOp::kTranspose}, {x, b});
  const ValueId z = *graph.add_one(ops::MatrixMultiply{.a = MatrixOp::kTranspose}, {b, b});
  graph.mark_output(y, "y"), graph.mark_output(z, "z");
  const auto device = test_device(1);
  const CpuBackend backend(*device);
  EXPECT_TRUE(backend.multiplies_bytes(graph, graph.value(y).producer));
  EXPECT_FALSE(backend.multiplies_bytes(graph, graph.value(z).producer));
}

}  // namespace
}  // namespace kiln::cpu
