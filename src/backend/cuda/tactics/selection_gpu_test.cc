// Compares kernels that select and sort much data with the ops' references, bit for bit, and measures them; on a
// machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>

#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/non_max_suppression.h"
#include "ops/non_zero.h"
#include "ops/reference_context.h"
#include "ops/top_k.h"
#include "ops/unique.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

/// An op with its inputs, of which those beyond `given` are constants.
struct Selection {
  std::string name;
  Op op;
  std::vector<HostTensor> inputs;
  size_t given = 1;
};

/// `number(i)` for each element.
template <class F>
HostTensor tensor(DType dtype, const Extents& extents, F number) {
  HostTensor::Fresh fresh = HostTensor::make(dtype, extents).value();
  const MutableView view(dtype, extents, fresh.data.data());
  for (int64_t i = 0; i < view.volume(); ++i) view.set(i, number(i));
  return fresh.tensor;
}
/// Uniform in [0, 1).
auto uniform(uint32_t seed) {
  return [random = std::mt19937(seed)](int64_t) mutable { return static_cast<double>(random() >> 8) / 16777216.0; };
}

Selection non_zero(DType dtype, const Extents& x, double share) {
  return {str("non-zero of ", x, ' ', name_of(dtype), ", ", share),
          ops::NonZero{},
          {tensor(dtype, x, [draw = uniform(1), share](int64_t i) mutable { return draw(i) < share ? 1.0 : 0.0; })}};
}
/// Boxes of images of 640 x 640; `power` says how few scores are high.
Selection boxes(int64_t count, int64_t classes, int64_t most, double score, double power) {
  auto draw = uniform(2);
  std::vector<double> corners(static_cast<size_t>(count * 4));
  for (size_t i = 0; i < corners.size(); i += 4)
    for (size_t axis = 0; axis < 2; ++axis) {
      corners[i + axis] = 600 * draw(0);
      corners[i + 2 + axis] = corners[i + axis] + 20 + 100 * draw(0);
    }
  return {str("boxes: ", count, " of ", classes, " classes above ", score),
          ops::NonMaxSuppression{},
          {HostTensor::of(DType::kF32, {1, count, 4}, corners),
           tensor(DType::kF32, {1, count, classes}, [&](int64_t i) { return std::pow(draw(i), power); }),
           HostTensor::of_ints(DType::kI64, {}, std::vector<int64_t>{most}),
           HostTensor::of(DType::kF32, {}, std::vector<double>{0.5}),
           HostTensor::of(DType::kF32, {}, std::vector<double>{score})},
          2};
}
/// One list of many boxes that are better the more they lie to the left of a strip: it suppresses few of them. Some
/// scores are NaN.
Selection strip(DType dtype, int64_t count, int64_t most, int64_t candidates, BoxFormat format) {
  auto draw = uniform(5);
  std::vector<double> corners(static_cast<size_t>(count * 4));
  for (size_t i = 0; i < corners.size(); i += 4) {
    corners[i] = draw(0) * 2, corners[i + 1] = draw(0) * 1000;
    corners[i + 2] = format == BoxFormat::kCorners ? corners[i] + 1 : 1;
    corners[i + 3] = format == BoxFormat::kCorners ? corners[i + 1] + 0.1 : 0.1;
  }
  const auto score = [&](int64_t i) { return i % 1000 == 7 ? std::nan("") : -corners[static_cast<size_t>(i) * 4 + 1]; };
  return {str("strip: ", count, ' ', name_of(dtype)),
          ops::NonMaxSuppression{.format = format, .candidates = candidates},
          {HostTensor::of(dtype, {1, count, 4}, corners), tensor(dtype, {1, count, 1}, score),
           HostTensor::of_ints(DType::kI64, {}, std::vector<int64_t>{most}),
           HostTensor::of(DType::kF32, {}, std::vector<double>{0.25})},
          2};
}
Selection first_of(DType dtype, int64_t length, int64_t k) {
  return {
      str("first ", k, " of ", length, ' ', name_of(dtype)), ops::TopK{.k = k}, {random_tensor(dtype, {1, length}, 3)}};
}

Selection unique(DType dtype, int64_t count, int64_t different, bool sorted) {
  return {str("unique of ", count, ' ', name_of(dtype), ", ", different, sorted ? "" : ", as they appear"),
          ops::Unique{.sorted = sorted},
          {tensor(dtype, {count}, [draw = uniform(4), different](int64_t i) mutable {
            return std::floor(draw(i) * static_cast<double>(different));
          })}};
}

class SelectionOnGpu : public OnGpu {
 protected:
  static RanVariant run(const Selection& s, bool timed) {
    ir::Graph graph;
    std::vector<ir::ValueId> values;
    for (size_t i = 0; i < s.inputs.size(); ++i)
      values.push_back(i < s.given
                           ? graph.add_input(str("x", i), tensor_type(s.inputs[i].dtype(), s.inputs[i].extents()))
                           : graph.add_constant(s.inputs[i], str("c", i)));
    const auto made = graph.add(s.op, values);
    EXPECT_TRUE(made) << s.name << ": " << made.error().message;
    graph.mark_output((*made)[0], "y");
    const auto ran = run_variants(*gpu_, graph, *tactics_for(s.op.info())[0], s.inputs, {.timed = timed});
    EXPECT_TRUE(ran && ran->size() == 1) << s.name << (ran ? "" : ran.error().message);
    if (!ran || ran->empty()) return {.failure = "it did not run"};
    return (*ran)[0];
  }
  static void check(const Selection& s) {
    const RanVariant ran = run(s, false);
    ASSERT_EQ(ran.failure, "") << s.name;
    const auto wanted = run_reference(s.op, s.inputs);
    ASSERT_TRUE(wanted) << s.name << ": " << wanted.error().message;
    const std::span<const std::byte> bytes = (*wanted)[0].bytes();
    ASSERT_LE(bytes.size(), ran.result.bytes().size()) << s.name;
    EXPECT_TRUE(std::ranges::equal(bytes, ran.result.bytes().first(bytes.size()))) << s.name;
    const size_t axis = s.op.name() == "NonZero" ? 1 : 0;
    for (const int64_t size : ran.sizes) EXPECT_EQ(size, (*wanted)[0].extents()[axis]) << s.name;
  }
  /// Prints its time; beside that of a copy, if it moves so many bytes at least.
  static void rate(const Selection& s, int64_t (*bytes)(const Selection&, const RanVariant&) = nullptr) {
    const RanVariant ran = run(s, true);
    ASSERT_EQ(ran.failure, "") << s.name;
    std::printf("%-50s %8.2f us", s.name.c_str(), ran.time_us);
    if (bytes) {
      const int64_t moved = bytes(s, ran);
      const auto copy_us = copy_time_us(*gpu_, moved / 2);
      ASSERT_TRUE(copy_us) << copy_us.error().message;
      std::printf(" %5.0f GB/s, %3.0f %% of a copy, %7.2f us", static_cast<double>(moved) / ran.time_us * 1e-3,
                  *copy_us / ran.time_us * 100, *copy_us);
    }
    std::printf("\n");
  }
};

TEST_F(SelectionOnGpu, NonZero) {
  for (const double share : {0.0, 0.1, 0.5, 1.0}) {
    check(non_zero(DType::kBool, {3'000'017}, share));
    check(non_zero(DType::kF32, {1001, 999}, share));
    check(non_zero(DType::kF16, {7, 30, 11, 5, 101}, share));
    check(non_zero(DType::kI64, {1, 100'003}, share));
  }
}
TEST_F(SelectionOnGpu, Boxes) {
  check(boxes(4420, 1, 200, 0.7, 1));
  check(boxes(4420, 1, 4420, 0, 1));
  check(boxes(8400, 80, 100, 0.05, 60));
  check(boxes(25'200, 3, 25'200, 0.001, 4));
  check(boxes(1000, 91, 100, 0.05, 60));
}
TEST_F(SelectionOnGpu, LongListsOfBoxes) {
  for (const int64_t count : {1500, 4096, 4097, 12'288, 30'000}) {
    check(boxes(count, 1, count, 0, 1));
    check(boxes(count, 8, 5000, 0.5, 2));
    check(strip(DType::kF32, count, count, -1, BoxFormat::kCorners));
    check(strip(DType::kF16, count, 7000, -1, BoxFormat::kCenterSizes));
    check(strip(DType::kBF16, count, count, 5000, BoxFormat::kCorners));
  }
}
TEST_F(SelectionOnGpu, LongRows) {
  for (const int64_t k : {10, 4000, 5000, 2'000'003}) check(first_of(DType::kF32, 2'000'003, k));
  check(first_of(DType::kI64, 1'100'003, 1'100'003));
  check(first_of(DType::kI8, 1'100'003, 20'000));
}
TEST_F(SelectionOnGpu, Unique) {
  for (const bool sorted : {true, false})
    for (const int64_t different : {1, 100, 10'000'000}) {
      check(unique(DType::kI64, 1'000'003, different, sorted));
      check(unique(DType::kF32, 300'007, different, sorted));
    }
}

TEST_F(SelectionOnGpu, DISABLED_Rates) {
  const auto bytes = [](const Selection& s, const RanVariant& ran) {
    return static_cast<int64_t>(s.inputs[0].bytes().size()) + ran.sizes[0] * std::ssize(s.inputs[0].extents()) * 8;
  };
  for (const DType dtype : {DType::kBool, DType::kF32})
    for (const double share : {0.1, 0.5})
      for (const Extents& x : {Extents{10'000'000}, Extents{2500, 4000}}) rate(non_zero(dtype, x, share), bytes);
  rate(boxes(4420, 1, 200, 0.7, 1));
  rate(boxes(4420, 1, 4420, 0, 1));
  rate(boxes(8400, 80, 100, 0.25, 60));
  rate(boxes(8400, 80, 100, 0.05, 60));
  rate(boxes(25'200, 80, 300, 0.001, 60));
  rate(boxes(1000, 91, 100, 0.05, 60));
  rate(boxes(25'200, 1, 300, 0.5, 10));
  rate(boxes(27'000, 1, 27'000, 0, 1));
  rate(strip(DType::kF32, 27'000, 27'000, -1, BoxFormat::kCorners));
  for (const int64_t length : {2'000'000, 10'000'000})
    for (const int64_t k : {int64_t{100}, int64_t{4000}, length}) rate(first_of(DType::kF32, length, k));
  for (const bool sorted : {true, false}) rate(unique(DType::kF32, 10'000'000, 1'000'000, sorted));
}

}  // namespace
}  // namespace kiln::cuda
