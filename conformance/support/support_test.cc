// Tests of what the conformance programs rely on: a comparison that finds differences, and children that may die.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <map>

#include "support/api_types.h"
#include "support/formats.h"
#include "support/session.h"
#include "support/tensor_file.h"
#include "support/worker_pool.h"

namespace kiln::conformance {
namespace {

using onnx::ElementType;

template <class T>
Tensor tensor(ElementType type, std::vector<T> values) {
  Tensor result{"y", type, {static_cast<int64_t>(values.size())}, {}};
  result.bytes.resize(values.size() * sizeof(T));
  const auto bytes = std::as_bytes(std::span(values));
  std::ranges::copy(bytes, result.bytes.begin());
  return result;
}
Tensor floats(std::vector<float> values) { return tensor(ElementType::kFloat, std::move(values)); }

std::string verdict(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance) {
  const Status status = compare(actual, expected, tolerance);
  return status ? "same" : status.error().message;
}

std::vector<std::byte> bytes_of(const std::vector<uint8_t>& numbers) {
  const auto bytes = std::as_bytes(std::span(numbers));
  return {bytes.begin(), bytes.end()};
}

TEST(Formats, LieAsTensorRTHasThem) {
  const nvinfer1::Dims dims = to_dims({1, 3, 1, 2});
  const auto dense = bytes_of({1, 2, 3, 4, 5, 6});
  const auto in = [&](nvinfer1::TensorFormat format) { return to_format(format, dims, 1, dense); };
  constexpr uint8_t kPad = 0xa5;
  EXPECT_EQ(in(nvinfer1::TensorFormat::kLINEAR), dense);
  EXPECT_EQ(in(nvinfer1::TensorFormat::kHWC), bytes_of({1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(in(nvinfer1::TensorFormat::kCHW2), bytes_of({1, 3, 2, 4, 5, kPad, 6, kPad}));
  EXPECT_EQ(in(nvinfer1::TensorFormat::kCHW4), bytes_of({1, 3, 5, kPad, 2, 4, 6, kPad}));
}

TEST(Formats, ComeBack) {
  const nvinfer1::Dims dims = to_dims({2, 37, 3, 5});
  std::vector<std::byte> dense(2 * 2 * 37 * 3 * 5);
  for (size_t i = 0; i < dense.size(); ++i) dense[i] = static_cast<std::byte>(i * 7);
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const nvinfer1::TensorFormat format = random_format(seed, "x", 4);
    EXPECT_EQ(from_format(format, dims, 2, to_format(format, dims, 2, dense)), dense);
  }
}

TEST(Compare, BytesDifferByLevels) {
  const auto bytes = [](int8_t value) {
    return Tensor{.name = "y", .type = ElementType::kInt8, .dims = {1}, .bytes = {static_cast<std::byte>(value)}};
  };
  EXPECT_NE(verdict(bytes(7), bytes(8), {.atol = 5}), "same");
  EXPECT_EQ(verdict(bytes(7), bytes(8), {.levels = 1}), "same");
  EXPECT_NE(verdict(bytes(7), bytes(9), {.levels = 1}), "same");
}
TEST(Compare, ToleranceIsRelativeToWhatIsExpected) {
  const Tolerance tolerance{1e-3, 1e-7};
  EXPECT_EQ(verdict(floats({100.09F, -2}), floats({100, -2}), tolerance), "same");
  EXPECT_EQ(verdict(floats({100.2F, -2}), floats({100, -2}), tolerance),
            "output 'y': 1 of 2 elements differ, the worst at [0]: 100.19999694824219 instead of 100");
  EXPECT_EQ(verdict(floats({0.5F, 100}), floats({0, 100}), {0, 0, 0.01}), "same");
  EXPECT_NE(verdict(floats({1.5F, 100}), floats({0, 100}), {0, 0, 0.01}), "same");
}

TEST(Compare, NanAndInfinityAreEqualToThemselvesOnly) {
  const Tolerance tolerance{1, 1};
  EXPECT_EQ(verdict(floats({NAN, INFINITY}), floats({-NAN, INFINITY}), tolerance), "same");
  EXPECT_NE(verdict(floats({NAN}), floats({0}), tolerance), "same");
  EXPECT_NE(verdict(floats({0}), floats({NAN}), tolerance), "same");
  EXPECT_NE(verdict(floats({INFINITY}), floats({-INFINITY}), tolerance), "same");
  EXPECT_NE(verdict(floats({1e30F}), floats({INFINITY}), tolerance), "same");
}

TEST(Compare, TypesExtentsAndIntegersExactly) {
  const Tolerance tolerance{1, 1};
  EXPECT_NE(verdict(tensor<int32_t>(ElementType::kInt32, {5}), tensor<int32_t>(ElementType::kInt32, {6}), tolerance),
            "same");
  EXPECT_EQ(verdict(tensor<int32_t>(ElementType::kInt32, {5}), tensor<int64_t>(ElementType::kInt64, {5}), tolerance),
            "output 'y' is INT32[1] instead of INT64[1]");
  Tensor column = floats({1, 2});
  column.dims = {2, 1};
  EXPECT_EQ(verdict(column, floats({1, 2}), tolerance), "output 'y' is FLOAT[2,1] instead of FLOAT[2]");
}

TEST(Compare, NarrowTypesByTheirNumbers) {
  const auto half = tensor<uint16_t>(ElementType::kFloat16, {0x3c00, 0xc000});
  EXPECT_EQ(number_at(half, 0), 1);
  EXPECT_EQ(number_at(half, 1), -2);
  const auto nibbles = tensor<uint8_t>(ElementType::kInt4, {0xf7});
  EXPECT_EQ(number_at(nibbles, 0), 7);
  EXPECT_EQ(number_at(nibbles, 1), -1);
  EXPECT_EQ(number_at(tensor<uint8_t>(ElementType::kFloat8E5M2, {0x3c}), 0), 1);
  EXPECT_EQ(number_at(tensor<uint8_t>(ElementType::kFloat8E4M3FNUZ, {0x40}), 0), 1);
  EXPECT_TRUE(std::isnan(number_at(tensor<uint8_t>(ElementType::kFloat8E5M2FNUZ, {0x80}), 0)));
}

TEST(Compare, SeesTheLastDigitOfInt64) {
  const int64_t large = (int64_t{1} << 60) + 1;  // a double has not all of its digits
  EXPECT_NE(
      verdict(tensor<int64_t>(ElementType::kInt64, {large}), tensor<int64_t>(ElementType::kInt64, {large - 1}), {}),
      "same");
}

TEST(AsInNetwork, WidensTypesThatTheApiLacks) {
  const Tensor words = as_in_network(tensor<uint16_t>(ElementType::kUint16, {65535, 1}));
  EXPECT_EQ(words.type, ElementType::kInt32);
  EXPECT_EQ(integers_of(words), (std::vector<int64_t>{65535, 1}));
  const Tensor longs = as_in_network(tensor<uint64_t>(ElementType::kUint64, {~uint64_t{0}}));
  EXPECT_EQ(longs.type, ElementType::kInt64);
  EXPECT_EQ(integers_of(longs), std::vector<int64_t>{-1});
  const Tensor bytes = as_in_network(tensor<uint8_t>(ElementType::kFloat8E5M2, {0x3e}));
  EXPECT_EQ(bytes.type, ElementType::kFloat);
  EXPECT_EQ(number_at(bytes, 0), 1.5);
  EXPECT_EQ(as_in_network(tensor<double>(ElementType::kDouble, {0.5})).type, ElementType::kFloat);
  EXPECT_EQ(as_in_network(tensor<uint8_t>(ElementType::kUint8, {7})).type, ElementType::kUint8);
}

TEST(Compare, SpreadOfANanIsInfinite) {
  EXPECT_EQ(spread(floats({1, NAN}), floats({1, 2})).max_difference, INFINITY);
  const Spread found = spread(floats({1, 2.5F}), floats({1, 2}));
  EXPECT_EQ(found.max_difference, 0.5);
  EXPECT_EQ(found.max_magnitude, 2);
}

std::map<std::string, std::string> run_pool(const std::vector<std::string>& items, const PoolOptions& options) {
  std::map<std::string, std::string> results;
  run_in_workers(
      items, options,
      [](const std::string& item) -> std::string {
        if (item == "dies") raise(SIGSEGV);
        if (item == "leaves") _exit(3);
        if (item == "hangs") sleep(60);
        return "ran " + item + "\nand spoke";
      },
      [](const std::string&, const std::string& reason) { return "lost: " + reason; },
      [&](const std::string& item, const std::string& text) { results[item] = text; });
  return results;
}

TEST(WorkerPool, EveryItemHasAnAnswerWhateverDies) {
  const std::vector<std::string> items{"a", "dies", "b", "leaves", "hangs", "c", "d"};
  for (const int batch_size : {1, 3, 64}) {
    const auto results = run_pool(items, {.num_workers = 2, .batch_size = batch_size, .timeout_s = 0.5});
    ASSERT_EQ(results.size(), items.size());
    for (const char* fine : {"a", "b", "c", "d"})
      EXPECT_EQ(results.at(fine), std::string("ran ") + fine + " and spoke");
    EXPECT_EQ(results.at("dies"), "lost: crashed: Segmentation fault");
    EXPECT_EQ(results.at("leaves"), "lost: the process ended with status 3");
    EXPECT_EQ(results.at("hangs"), "lost: took longer than 0.5 s");
  }
}

TEST(Session, ReferenceIsToldFromOtherTactics) {
  EXPECT_TRUE(is_reference("reference"));
  EXPECT_TRUE(is_reference("reference: whole"));
  EXPECT_FALSE(is_reference("reference_like"));
  EXPECT_FALSE(is_reference("gemm"));
}

}  // namespace
}  // namespace kiln::conformance
