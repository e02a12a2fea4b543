// Normalisation and attention whose results are quantized: every variant against the ops' references in FP32, with and
// without the floats beside; on a machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backend/cuda/tactics/attention.h"
#include "backend/cuda/tactics/normalization.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/activation.h"
#include "ops/element_wise.h"
#include "ops/matrix_multiply.h"
#include "ops/normalization.h"
#include "ops/quantize.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr DType kF32 = DType::kF32, kF16 = DType::kF16, kF8 = DType::kF8E4M3, kI8 = DType::kI8, kU8 = DType::kU8;
constexpr DType kFloats[] = {kF32, kF16, DType::kBF16}, kBytes[] = {kI8, kU8, kF8};

/// A network of a type, or the same one of FP32, with the numbers of that type.
struct QuantizedNet {
  DType type, computed;
  Net net;
  uint64_t seed = 0;

  QuantizedNet(DType type, DType computed) : type(type), computed(computed), net(computed, Net::Inputs::kNone) {}

  HostTensor numbers(const Extents& extents, double scale) {
    const HostTensor drawn = random_tensor(type, extents, ++seed, scale);
    std::vector<double> values;
    for (int64_t i = 0; i < drawn.volume(); ++i) values.push_back(View(drawn)[i]);
    return HostTensor::of(computed, extents, values);
  }
  ir::ValueId input(const Extents& extents, double scale = 1) {
    net.inputs.push_back(numbers(extents, scale));
    return net.input(extents);
  }
  ir::ValueId constant(const Extents& extents, double scale = 1) {
    return net.graph.add_constant(numbers(extents, scale));
  }
  /// Bytes, by a scale that uses much of their range for numbers of about `size`.
  ir::ValueId quantized(ir::ValueId x, DType to, double size) {
    const Extents ones(static_cast<size_t>(net.graph.type(x).rank()), 1);
    const double scale = to == kF8 ? size / 100 : size / 40;
    const ir::ValueId scales = net.graph.add_constant(HostTensor::of(kF32, ones, std::span(&scale, 1)));
    if (to != kU8) return net.add(ops::Quantize{to}, {x, scales});
    const ir::ValueId zero = net.graph.add_constant(HostTensor::of_ints(kU8, ones, std::vector<int64_t>{128}));
    return net.add(ops::Quantize{to}, {x, scales, zero});
  }
};

class QuantizedResultsOnGpu : public OnGpu {
 protected:
  /// How exact the floats are that become bytes.
  struct Allowed {
    double error = 0;     ///< of a number, in shares of the largest
    double share = 1e-3;  ///< of all bytes that may be others than the reference's
  };
  /// Bytes are the reference's, but for one level where a number falls beside a tie.
  static void expect_near(const HostTensor& result, const HostTensor& expected, const Allowed& may_be,
                          const std::string& name) {
    const View got(result), wanted(expected);
    ASSERT_EQ(result.dtype(), expected.dtype()) << name;
    const double zero = expected.dtype() == kU8 ? 128 : 0;
    double largest = 0;
    for (int64_t i = 0; i < wanted.volume(); ++i) largest = std::max(largest, std::abs(wanted[i] - zero));
    int64_t off = 0;
    for (int64_t i = 0; i < wanted.volume(); ++i) {
      const double level = expected.dtype() == kF8 ? std::abs(wanted[i]) / 7.9 + 0.002 : 1;
      ASSERT_NEAR(got[i], wanted[i], level + may_be.error * largest) << name << " at " << i;
      off += got[i] != wanted[i];
    }
    EXPECT_LE(static_cast<double>(off), may_be.share * static_cast<double>(wanted.volume()) + 2) << name;
  }
  /// The network's first output is of bytes; a second one has the floats that the region writes beside.
  template <class Build>
  static void check(DType type, const Build& build, const Tactic& tactic, const Allowed& may_be,
                    const std::string& name, const VariantRun& options = {}) {
    QuantizedNet made(type, type), exact(type, kF32);
    build(made);
    build(exact);
    const auto expected = ir::interpret(exact.net.graph, exact.net.inputs);
    ASSERT_TRUE(expected) << name << ": " << expected.error().message;
    const auto ran = run_variants(*gpu_, made.net.graph, tactic, made.net.inputs, options);
    ASSERT_TRUE(ran) << name << ": " << ran.error().message;
    ASSERT_FALSE(ran->empty()) << name;
    const bool has_floats = expected->size() > 1;
    for (const RanVariant& variant : *ran) {
      const std::string of = str(name, ", ", variant.name);
      ASSERT_EQ(variant.failure, "") << of;
      ASSERT_EQ(variant.others.size(), has_floats ? 1u : 0u) << of;
      expect_near(has_floats ? variant.others[0] : variant.result, (*expected)[0], may_be, of);
      const double tolerance = type == kF32 ? 3e-6 : type == kF16 ? 1e-3 : 8e-3;
      if (has_floats) {
        EXPECT_LE(relative_error(variant.result, (*expected)[1]), tolerance) << of;
      }
    }
  }
};

// (1, 2, 3, 4) has mean 2.5 and variance 1.25: normalised (-1.3416, -0.4472, 0.4472, 1.3416), the last one times 40 is
// 53.67; by 0.5 that is (-2.68, -0.89, 0.89, 107.3). The second row is 0 everywhere. The third is (-0.577, -0.577,
// -0.577, 1.732), whose last number saturates: 69.3 by 0.5.
TEST_F(QuantizedResultsOnGpu, NormsHaveTheNumbersOfPaper) {
  for (const DType type : kFloats) {
    Net net(type, Net::Inputs::kNone);
    const ir::ValueId x = net.input({3, 4});
    net.inputs.push_back(HostTensor::of(type, {3, 4}, std::vector<double>{1, 2, 3, 4, 7, 7, 7, 7, 0, 0, 0, 1}));
    const ir::ValueId weights = net.graph.add_constant(HostTensor::of(type, {4}, std::vector<double>{1, 1, 1, 40}));
    const double half = 0.5;
    const ir::ValueId scale = net.graph.add_constant(HostTensor::of(kF32, {1, 1}, std::span(&half, 1)));
    net.finish(net.add(ops::Quantize{kI8}, {net.add(ops::Normalization{.axes = {1}}, {x, weights}), scale}));
    const auto ran = run_variants(*gpu_, net.graph, normalization_tactic(), net.inputs, {});
    ASSERT_TRUE(ran) << ran.error().message;
    ASSERT_FALSE(ran->empty());
    for (const RanVariant& variant : *ran) {
      ASSERT_EQ(variant.failure, "");
      std::vector<double> numbers;
      for (int64_t i = 0; i < 12; ++i) numbers.push_back(View(variant.result)[i]);
      EXPECT_EQ(numbers, (std::vector<double>{-3, -1, 1, 107, 0, 0, 0, 0, -1, -1, -1, 127})) << name_of(type);
    }
  }
}

TEST_F(QuantizedResultsOnGpu, Norms) {
  struct Shape {
    Extents x;
    std::vector<int64_t> axes;
  };
  const Shape shapes[] = {{{7, 1024}, {1}},         {{3, 129, 768}, {2}}, {{1500, 96}, {1}}, {{5, 33}, {1}},
                          {{2, 3, 10, 20}, {2, 3}}, {{40000, 64}, {1}},   {{64, 4096}, {1}}, {{9, 1}, {1}}};
  for (const DType type : kFloats)
    for (const DType to : kBytes)
      for (const Shape& shape : shapes)
        for (const bool beside : {false, true}) {
          const auto build = [&](QuantizedNet& n) {
            const Extents of(shape.x.begin() + shape.axes.front(), shape.x.end());
            const ir::ValueId x = n.input(shape.x, 2);
            const ir::ValueId y =
                n.net.add(ops::Normalization{.axes = shape.axes}, {x, n.constant(of), n.constant(of, 0.5)});
            n.net.graph.mark_output(n.quantized(y, to, 2), "q");
            // Who reads y besides gives it on.
            const ops::Activation same{.kind = ops::ActivationKind::kClip, .alpha = -1e4, .beta = 1e4};
            if (beside) n.net.graph.mark_output(n.net.add(same, {y}), "y");
          };
          check(type, build, normalization_tactic(), {},
                str("norm of ", type, shape.x, " to ", to, beside ? " beside floats" : ""));
        }
}

TEST_F(QuantizedResultsOnGpu, Attention) {
  struct Shape {
    int64_t batch, heads, queries, keys, depth;
    bool rows_first;
  };
  const Shape shapes[] = {{2, 3, 77, 77, 64, true}, {1, 12, 197, 197, 64, true}, {1, 2, 40, 300, 128, false},
                          {2, 2, 33, 65, 40, true}, {1, 3, 5, 9, 10, true},      {1, 2, 130, 70, 7, false}};
  for (const DType type : kFloats)
    for (const DType to : kBytes)
      for (const Shape& s : shapes)
        for (const bool tf32 : {false, true}) {
          if (tf32 && type != kF32) continue;
          const auto build = [&](QuantizedNet& n) {
            const auto operand = [&](int64_t rows) {
              if (!s.rows_first) return n.input({s.batch, s.heads, rows, s.depth});
              return n.net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {n.input({s.batch, rows, s.heads, s.depth})});
            };
            const ir::ValueId q = operand(s.queries), k = operand(s.keys), v = operand(s.keys);
            ir::ValueId at = n.net.add(ops::MatrixMultiply{ops::MatrixOp::kNone, ops::MatrixOp::kTranspose}, {q, k});
            const double root = 1 / std::sqrt(static_cast<double>(s.depth));
            const double scale = View(HostTensor::scalar(type, root))[0];
            const ir::ValueId factor =
                n.net.graph.add_constant(HostTensor::of(n.computed, {1, 1, 1, 1}, std::span(&scale, 1)));
            at = n.net.add(ops::ElementWise{ops::ElementWiseKind::kProd}, {at, factor});
            at = n.net.add(ops::MatrixMultiply{}, {n.net.add(ops::Softmax{.axis = 3}, {at}), v});
            if (s.rows_first) at = n.net.add(ops::Transpose{.perm = {0, 2, 1, 3}}, {at});
            n.net.finish(n.quantized(at, to, 0.5));
          };
          // Weights, and with TF32 operands, are rounded before the products.
          const Allowed may_be = type == kF32 && !tf32  ? Allowed()
                                 : type == DType::kBF16 ? Allowed{1.0 / 128, 0.1}
                                                        : Allowed{1.0 / 1024, 0.02};
          check(type, build, attention_tactic(), may_be,
                str("attention of ", type, " in ", s.queries, " x ", s.keys, " x ", s.depth, " to ", to),
                {.numerics = {.tf32 = tf32}});
        }
}

}  // namespace
}  // namespace kiln::cuda
