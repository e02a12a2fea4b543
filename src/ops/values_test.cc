// What inference says of the elements of small tensors is what the references compute.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/fill.h"
#include "ops/gather.h"
#include "ops/infer_context.h"
#include "ops/reduce.h"
#include "ops/reference_context.h"
#include "ops/scatter.h"
#include "ops/select.h"
#include "ops/slice.h"
#include "ops/top_k.h"
#include "ops/unary.h"
#include "sym/real.h"
#include "sym/table.h"
#include "tensor/view.h"

namespace kiln {
namespace {

using sym::Expr;

class Values : public ::testing::Test {
 protected:
  TensorType ints(Extents extents, SymbolicValues values, DType dtype = DType::kI64) {
    TensorType type = tensor_type(dtype, extents);
    type.values = std::make_shared<const SymbolicValues>(std::move(values));
    return type;
  }
  TensorType floats(Extents extents, SymbolicValues values, DType dtype = DType::kF32) {
    return ints(std::move(extents), std::move(values), dtype);
  }
  static Expr number(double x) { return sym::real_of(x); }

  /// The tensor that values are where the symbols are bound; nothing where one of them has no value.
  static std::optional<HostTensor> tensor_at(const TensorType& type, std::span<const int64_t> at) {
    std::vector<double> numbers;
    std::vector<int64_t> integers;
    for (const Expr& e : *type.values) {
      const auto value = sym::evaluate(e, at);
      if (!value) return std::nullopt;
      numbers.push_back(sym::real_value(*value));
      integers.push_back(*value);
    }
    const Extents extents = *type.extents();
    return is_float(type.dtype) ? HostTensor::of(type.dtype, extents, numbers)
                                : HostTensor::of_ints(type.dtype, extents, integers);
  }

  /// Compares all outputs wherever a and b lie in [-4, 5].
  void check(const Op& op, const std::vector<TensorType>& inputs) {
    std::vector<InferInput> given;
    for (const TensorType& input : inputs) given.push_back({&input, nullptr});
    const auto types = infer_types(op, given, table);
    ASSERT_TRUE(types) << str(op) << ": " << types.error().message;
    for (const TensorType& type : *types) ASSERT_TRUE(type.values) << str(op) << " says nothing of its values";
    int compared = 0;
    for (int64_t i = -4; i <= 5; ++i)
      for (int64_t j = -4; j <= 5; ++j) {
        const std::array at{i, j};
        std::vector<HostTensor> tensors;
        for (const TensorType& input : inputs) tensors.push_back(*tensor_at(input, at));
        const auto results = run_reference(op, tensors);
        if (!results) continue;  // an index outside
        for (size_t k = 0; k < types->size(); ++k) {
          const auto said = tensor_at((*types)[k], at);
          if (!said) continue;  // no number: 0 / 0
          ++compared;
          EXPECT_EQ(View(*said).numbers(), View((*results)[k]).numbers()) << str(op) << " at " << i << ", " << j;
          for (size_t e = 0; e < (*types)[k].values->size(); ++e) {
            const int64_t value = *sym::evaluate((*(*types)[k].values)[e], at);
            EXPECT_GE(value, (*(*types)[k].values)[e].min()) << str(op);
            EXPECT_LE(value, (*(*types)[k].values)[e].max()) << str(op);
          }
        }
      }
    EXPECT_GE(compared, 10) << str(op) << ": too little was compared";
  }

  sym::Table table;
  Expr a = table.symbol("a", {-4, 1, 5}), b = table.symbol("b", {-4, 1, 5});
  Expr x = sym::real(a), y = sym::real(b);
};

TEST_F(Values, OfPairs) {
  using enum ops::ElementWiseKind;
  for (const auto kind : {kSum, kProd, kMax, kMin, kSub, kDiv, kFloorDiv, kEqual, kGreater, kLess})
    check(ops::ElementWise{kind}, {ints({3}, {a, 7, b}), ints({3}, {b, a - 10, 2})});
  for (const auto kind : {kSum, kProd, kMax, kMin, kSub, kDiv, kFloorDiv, kEqual, kGreater, kLess, kPow})
    for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16})
      check(ops::ElementWise{kind},
            {floats({3}, {x, number(2.5), sym::real(a, 2)}, dtype), floats({3}, {y, x, number(0.5)}, dtype)});
}
TEST_F(Values, OfOne) {
  using enum ops::UnaryKind;
  const Expr part = sym::real_prod(x, number(0.3));
  for (const auto kind : {kExp, kLog, kSqrt, kRecip, kAbs, kNeg, kCeil, kFloor, kSign, kRound, kIsInf, kIsNan})
    check(ops::Unary{kind}, {floats({3}, {x, part, sym::real(b, 2)})});
  for (const auto kind : {kAbs, kNeg, kSign}) check(ops::Unary{kind}, {ints({2}, {a, b - a})});
  check(ops::Unary{kNot}, {ints({2}, {sym::less(a, b), 1}, DType::kBool)});
  using enum ops::ActivationKind;
  for (const auto kind : {kRelu, kLeakyRelu, kClip, kHardSigmoid, kThresholdedRelu})
    check(ops::Activation{kind, kind == kClip ? -1.5 : 0.5, 2.5}, {floats({2}, {x, part})});
}
TEST_F(Values, OfCasts) {
  for (const DType to : {DType::kI32, DType::kI64, DType::kBool, DType::kF16, DType::kBF16})
    check(ops::Cast{to}, {floats({3}, {sym::real_prod(x, number(0.7)), y, sym::real(a - b, 4)})});
  for (const DType to : {DType::kF32, DType::kF16, DType::kF64, DType::kBool})
    check(ops::Cast{to}, {ints({2}, {a, 1000 * b})});
}
TEST_F(Values, OfChoices) {
  const TensorType condition = ints({2}, {sym::less(a, b), sym::equal(a, 2)}, DType::kBool);
  check(ops::Select{}, {condition, ints({2}, {a, 3}), ints({2}, {b, a * b})});
  check(ops::Select{}, {condition, floats({2}, {x, number(0.3)}), floats({2}, {sym::real(b, 8), number(-7)})});
}
TEST_F(Values, OfReductions) {
  using enum ops::ReduceKind;
  for (const auto kind : {kSum, kProd, kMax, kMin, kAvg}) {
    check(ops::Reduce{.kind = kind, .axes = {1}}, {ints({2, 3}, {a, b, 3, a * b, -7, a})});
    check(ops::Reduce{.kind = kind, .axes = {0, 1}, .keep = true},
          {floats({2, 2}, {x, y, number(0.5), sym::real(a * b, 2)})});
  }
}
TEST_F(Values, AtAnIndexOfTheRun) {
  const TensorType table_of_ints = ints({3, 2}, {9, 8, a, b, 7, a * b});
  check(ops::Gather{.axis = 0}, {table_of_ints, ints({2}, {a, sym::min(b, 2)})});
  check(ops::Gather{.axis = 1}, {table_of_ints, ints({}, {sym::less(a, b)})});
  check(ops::Gather{.mode = GatherMode::kElement, .axis = 0},
        {table_of_ints, ints({2, 2}, {a, 1, 0, sym::max(b, -3)})});
  check(ops::Gather{.axis = 0}, {floats({3}, {number(0.3), x, number(2)}), ints({2}, {a, b})});
  check(ops::Slice{.sizes = {2}, .strides = {1}},
        {ints({5}, {a, b, 3, 4, 5}), ints({1}, {sym::max(0, sym::min(a, 3))})});
  check(ops::Slice{.sizes = {2, 1}, .strides = {1, 1}},
        {floats({3, 2}, {x, y, number(3), number(0.1), y, x}), ints({2}, {sym::less(a, b), sym::less(b, a)})});
}
TEST_F(Values, InOrder) {
  for (const bool largest : {true, false}) {
    check(ops::TopK{.largest = largest, .k = 4}, {ints({4}, {a, b, 2, 2})});
    check(ops::TopK{.largest = largest, .axis = 0, .k = 2}, {ints({3, 2}, {a, b, 2, a, b, 0})});
    check(ops::TopK{.largest = largest, .k = 2}, {floats({3}, {sym::real_prod(x, number(0.3)), y, number(0.5)})});
  }
}
TEST_F(Values, OfMovedElements) {
  check(ops::Scatter{.mode = ScatterMode::kElement}, {ints({3}, {a, b, 3}), ints({2}, {2, -3}), ints({2}, {7, a})});
  check(ops::Scatter{.mode = ScatterMode::kNd},
        {floats({2, 2}, {x, y, x, y}), ints({1, 1}, {1}), floats({1, 2}, {number(0.3), y})});
  check(ops::Concatenation{.axis = 0}, {floats({1}, {x}), floats({2}, {number(0.25), y})});
  check(ops::Fill{.dims = {4}, .to = DType::kF32},
        {ints({1}, {4}), floats({}, {sym::real_prod(x, number(0.3))}), floats({1}, {y})});
  check(ops::Fill{.to = DType::kI64}, {ints({2}, {2, 2}), ints({}, {a}), ints({2}, {b, 3})});
}

}  // namespace
}  // namespace kiln
