#include "ops/non_max_suppression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {

using Numbers = std::vector<double>;

CaseInput most(int64_t count) {
  return {.extents = {}, .dtype = DType::kI64, .literal = {static_cast<double>(count)}, .constant = true};
}
CaseInput threshold(double value, DType dtype = DType::kF32) {
  return {.extents = {1}, .dtype = dtype, .literal = {value}, .constant = true};
}
const CaseInput kNone{.absent = true};

const CaseTable<ops::NonMaxSuppression> kCases{
    {"two images, three classes", {}, {{{2, 20, 4}}, {{2, 20, 3}}, most(5), threshold(0.3), threshold(-0.5)}},
    {"boxes by class", {}, {{{1, 12, 3, 4}}, {{1, 12, 3}}, most(4), threshold(0.2)}},
    {"boxes for all classes", {}, {{{2, 9, 1, 4}}, {{2, 9, 2}}, most(9), threshold(0.4)}},
    {"centres", {.format = BoxFormat::kCenterSizes}, {{{1, 30, 4}}, {{1, 30, 1}}, most(30), threshold(0.1)}},
    {"few candidates", {.candidates = 7, .indices = DType::kI32}, {{{1, 30, 4}}, {{1, 30, 2}}, most(30), threshold(1)}},
    {"halves", {}, {{{1, 16, 4}, DType::kF16}, {{1, 16, 2}, DType::kF16}, most(3), threshold(0.5, DType::kF16)}},
    {"scores with NaN", {}, {{{1, 16, 4}}, {{1, 16, 2}, DType::kF32, Fill::kSpecial}, most(16), threshold(0.5)}},
    {"boxes with NaN", {}, {{{1, 40, 4}, DType::kF32, Fill::kSpecial}, {{1, 40, 2}}, most(40), threshold(0.1)}},
    {"centres with NaN",
     {.format = BoxFormat::kCenterSizes},
     {{{1, 40, 4}, DType::kF32, Fill::kSpecial}, {{1, 40, 1}}, most(40), threshold(0)}},
    {"a score threshold of NaN", {}, {{{1, 9, 4}}, {{1, 9, 2}}, most(9), threshold(0.5), threshold(NAN)}},
    {"none at all", {}, {{{1, 6, 4}}, {{1, 6, 2}}, most(0), threshold(0.5)}},
    {"no boxes", {}, {{{1, 0, 4}}, {{1, 0, 2}}, most(3), threshold(0.5)}},
    {"thousands of boxes", {}, {{{1, 5000, 4}}, {{1, 5000, 1}}, most(100), threshold(0.5), threshold(0)}},
    {"thousands of candidates", {.candidates = 6000}, {{{1, 9000, 4}}, {{1, 9000, 1}}, most(9000), threshold(0.02)}},
    {"thousands of halves, ties",
     {},
     {{{1, 9000, 4}, DType::kF16}, {{1, 9000, 2}, DType::kF16}, most(300), threshold(0.3)}},
    {"a limit of the run", {}, {{{1, 8, 4}}, {{1, 8, 2}}, {.extents = {1}, .dtype = DType::kI32, .literal = {3}}}},
};

/// Three boxes of area 1: the second lies half over the first, the third apart.
const CaseInput kBoxes = numbers({1, 3, 4}, {0, 0, 1, 1, 0, 0.5, 1, 1.5, 2, 2, 3, 3});

TEST(NonMaxSuppression, KnownAnswers) {
  const CaseInput scores = numbers({1, 3, 1}, {0.5, 0.9, 0.7});
  const auto selected = [&](std::vector<CaseInput> inputs) {
    return run_reference_numbers(ops::NonMaxSuppression{}, inputs);
  };
  EXPECT_EQ(selected({kBoxes, scores, most(9), threshold(0.33)}), (Numbers{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(selected({kBoxes, scores, most(9), threshold(0.34)}), (Numbers{0, 0, 1, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(selected({kBoxes, scores, most(1), threshold(0.34)}), (Numbers{0, 0, 1}));
  EXPECT_EQ(selected({kBoxes, scores, most(9), threshold(0.34), threshold(0.7)}), (Numbers{0, 0, 1}));
  EXPECT_EQ(selected({kBoxes, scores, kNone, threshold(0.34)}), (Numbers{}));
}

/// INT64_MAX is what exporters write for no limit; as a double it is one more than an integer can be.
TEST(NonMaxSuppression, LimitsOfAnySize) {
  const auto num_selected = [](int64_t limit) {
    const std::vector<CaseInput> given{kBoxes, numbers({1, 3, 1}, {0.5, 0.9, 0.7}), most(0), threshold(0.33)};
    std::vector<HostTensor> inputs;
    for (const CaseInput& input : given) inputs.push_back(HostTensor::of(input.dtype, input.extents, input.literal));
    inputs[2] = HostTensor::of_ints(DType::kI64, {}, std::vector<int64_t>{limit});
    const auto outputs = run_reference(ops::NonMaxSuppression{}, inputs);
    EXPECT_TRUE(outputs) << outputs.error().message;
    return outputs ? (*outputs)[0].extents()[0] : -1;
  };
  for (const int64_t limit : {INT64_MAX, INT64_MAX - 1, int64_t{1} << 31, int64_t{3}})
    EXPECT_EQ(num_selected(limit), 2) << limit;
  for (const int64_t limit : {INT64_MIN, int64_t{-1}, int64_t{0}}) EXPECT_EQ(num_selected(limit), 0) << limit;
}

TEST(NonMaxSuppression, EqualScoresKeepTheirOrderAndNaNIsAboveNothing) {
  const CaseInput scores = numbers({1, 3, 1}, {0.5, NAN, 0.5});
  EXPECT_EQ(run_reference_numbers(ops::NonMaxSuppression{}, {kBoxes, scores, most(9), threshold(0)}),
            (Numbers{0, 0, 0, 0, 0, 2}));
}

/// As ONNX Runtime has it: a box with NaN covers nothing, so it is kept and suppresses none; no score is above NaN.
TEST(NonMaxSuppression, NaNInBoxesAndThresholds) {
  const auto selected = [](const CaseInput& boxes, CaseInput iou, std::vector<CaseInput> rest = {}) {
    std::vector<CaseInput> inputs{boxes, numbers({1, 3, 1}, {0.5, 0.9, 0.7}), most(9), std::move(iou)};
    inputs.insert(inputs.end(), rest.begin(), rest.end());
    return run_reference_numbers(ops::NonMaxSuppression{}, inputs);
  };
  const Numbers all{0, 0, 1, 0, 0, 2, 0, 0, 0};
  EXPECT_EQ(selected(kBoxes, threshold(0)), (Numbers{0, 0, 1, 0, 0, 2}));
  EXPECT_EQ(selected(numbers({1, 3, 4}, {0, 0, 1, 1, NAN, 0.5, 1, 1.5, 2, 2, 3, 3}), threshold(0)), all);
  EXPECT_EQ(selected(numbers({1, 3, 4}, {0, 0, 1, 1, 0, 0.5, 1, NAN, 2, 2, 3, 3}), threshold(0)), all);
  EXPECT_EQ(selected(kBoxes, threshold(0), {threshold(NAN)}), Numbers());
}

TEST(NonMaxSuppression, BoundsWhatIsSelected) {
  sym::Table table;
  const TensorType boxes{DType::kF32, {2, table.symbol("n", {1, 50, 100}), 4}};
  const TensorType scores{DType::kF32, {2, *table.find("n"), 3}};
  const HostTensor limit = HostTensor::of_ints(DType::kI64, {}, std::vector<int64_t>{10});
  const TensorType count = type_of(limit);
  const InferInput inputs[] = {{&boxes}, {&scores}, {&count, &limit}};
  std::vector<DecidedSize> sizes;
  EXPECT_EQ(str((*infer_types(ops::NonMaxSuppression{}, inputs, table, nullptr, &sizes))[0]), "i64[selected, 3]");
  EXPECT_EQ(str(sizes[0].most), "6*min(n, 10)");
}

TEST(NonMaxSuppression, SaysWhatIsWrong) {
  const ops::NonMaxSuppression op;
  EXPECT_EQ(infer_error(op, {{{1, 3, 4}}, {{1, 3}}}),
            "boxes are f32[1, 3, 4] and scores f32[1, 3]; [b, n, 4] or [b, n, c, 4], and [b, n, c] needed");
  EXPECT_EQ(infer_error(op, {{{1, 3, 4}}, {{1, 5, 2}}}), "axis 1 of boxes and scores: 3 and 5 differ");
  EXPECT_EQ(infer_error(op, {{{1, 3, 5}}, {{1, 3, 2}}}), "the numbers of a box: 5 and 4 differ");
  EXPECT_EQ(infer_error(op, {{{1, 3, 4}}, {{1, 3, 2}}, {{1}}}), "most is f32[1]; i32 or i64 needed");
}

}  // namespace
}  // namespace kiln
