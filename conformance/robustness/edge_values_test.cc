// Known answers where numbers are at the edges of their types: infinities, NaN, zeros, the least and the greatest. On a
// machine with a GPU these run there.
#include <NvOnnxParser.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "device_numbers.h"
#include "onnx_nodes.h"
#include "program.h"

namespace robustness {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
using Numbers = std::vector<double>;

template <class T>
std::vector<T> as(const Numbers& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Elements of a tensor of the network's on the device.
class Tensor {
 public:
  Tensor(nv::DataType type, const Numbers& numbers)
      : type_(type), floats_(as<float>(numbers)), longs_(type == nv::DataType::kINT64 ? as<int64_t>(numbers) : kNone) {}
  void* data() { return type_ == nv::DataType::kINT64 ? longs_.data() : floats_.data(); }
  Numbers read() const {
    if (type_ == nv::DataType::kFLOAT) {
      const std::vector<float> numbers = floats_.read();
      return {numbers.begin(), numbers.end()};
    }
    const std::vector<int64_t> numbers = longs_.read();
    return {numbers.begin(), numbers.end()};
  }

 private:
  inline static const std::vector<int64_t> kNone;
  nv::DataType type_;
  DeviceArray<float> floats_;
  DeviceArray<int64_t> longs_;
};

/// Results of the node of `line`, the whole network, for these inputs.
Numbers run(std::string_view line, const std::vector<Numbers>& inputs) {
  Program p;
  const std::string bytes = onnx_model(parse_node(line), Inputs::kOfNetwork);
  const std::unique_ptr<nvonnxparser::IParser> parser(nvonnxparser::createParser(*p.network, p.logger));
  EXPECT_TRUE(parser->parse(bytes.data(), bytes.size(), nullptr)) << line << ": " << p.logger.take_errors();
  const std::unique_ptr<nv::ICudaEngine> engine(p.builder->buildEngineWithConfig(*p.network, *p.config));
  if (!engine) return ADD_FAILURE() << line << ": " << p.logger.take_errors(), Numbers();
  const std::unique_ptr<nv::IExecutionContext> context(engine->createExecutionContext());
  std::vector<std::unique_ptr<Tensor>> tensors;
  for (int i = 0; i < engine->getNbIOTensors(); ++i) {
    const char* const name = engine->getIOTensorName(i);
    size_t count = 1;
    for (const int64_t extent : list(context->getTensorShape(name))) count *= static_cast<size_t>(extent);
    const bool is_input = engine->getTensorIOMode(name) == nv::TensorIOMode::kINPUT;
    tensors.push_back(std::make_unique<Tensor>(engine->getTensorDataType(name),
                                               is_input ? inputs[static_cast<size_t>(i)] : Numbers(count, 0)));
    EXPECT_TRUE(context->setTensorAddress(name, tensors.back()->data()));
  }
  EXPECT_TRUE(context->enqueueV3(nullptr)) << p.logger.take_errors();
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  return tensors.back()->read();
}

/// NaN where NaN is expected, and else within `tolerance` of the expected number; a zero's sign counts.
void expect_numbers(const Numbers& got, const Numbers& expected, double tolerance = 0) {
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double want = static_cast<double>(static_cast<float>(expected[i]));
    const bool same = got[i] == want ? std::signbit(got[i]) == std::signbit(want)
                                     : std::abs(got[i] - want) <= tolerance || (std::isnan(got[i]) && std::isnan(want));
    EXPECT_TRUE(same) << "element " << i << " is " << got[i] << "; " << want << " is right";
  }
}

TEST(EdgeValues, NormsOfZerosLeaveZeros) {
  for (const char* line : {"LpNormalization | x[2,2] | p=1", "LpNormalization | x[2,2] | p=2",
                           "LpNormalization@22 | x[2,2] | p=1, axis=1", "LpNormalization@22 | x[2,2] | p=2, axis=-1"}) {
    SCOPED_TRACE(line);
    expect_numbers(run(line, {{0, -0.0, 0, 5}}), {0, -0.0, 0, 1});
    expect_numbers(run(line, {{kNan, 0, kInf, 1}}), {kNan, kNan, kNan, 0});
  }
  // The squares vanish, and with them the norm.
  expect_numbers(run("LpNormalization | x[1,2] | p=2", {{1e-30, 0}}), {0, 0});
}

TEST(EdgeValues, TheIndexOfAnExtremeIsAnIndex) {
  const Numbers x = {1, kNan, 2, 3, -kInf, -kInf, -kInf, -kInf, kNan, kNan, kInf, kNan};
  expect_numbers(run("ArgMax | x[3,4] | axis=1", {x}), {1, 0, 0});
  expect_numbers(run("ArgMin | x[3,4] | axis=1", {x}), {1, 0, 0});
  expect_numbers(run("ArgMax | x[3,4] | axis=1, select_last_index=1", {x}), {1, 3, 3});
  expect_numbers(run("Hardmax | x[3,4] | axis=1", {x}), {0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
}

TEST(EdgeValues, CeluPassesWhatIsPositive) {
  expect_numbers(run("Celu | x[6] | alpha=~0.25", {{3e38, kInf, -kInf, kNan, 0.1, -1e-10}}),
                 {3e38, kInf, -0.25, kNan, 0.1, -1e-10}, 1e-15);
}

TEST(EdgeValues, StepsBeyondTheAxis) {
  const Numbers x = {0, 1, 2, 3, 4};
  const auto sliced = [&](const std::string& numbers) { return run("Slice | x[5], " + numbers, {x}); };
  const std::string most = "9223372036854775807", least = "-9223372036854775808";
  expect_numbers(sliced("I{1}, I{" + most + "}, I{0}, I{" + most + "}"), {1});
  expect_numbers(sliced("I{" + least + "}, I{" + most + "}, I{0}, I{" + most + "}"), {0});
  expect_numbers(sliced("I{" + most + "}, I{" + least + "}, I{0}, I{" + least + "}"), {4});
  expect_numbers(sliced("I{-2}, I{" + least + "}, I{0}, I{-" + most + "}"), {3});
  expect_numbers(sliced("I{" + most + "}, I{" + least + "}, I{0}, I{-1}"), {4, 3, 2, 1, 0});
}

TEST(EdgeValues, AResizeThatKeepsItsRatio) {  // numbers of ONNX's reference evaluator
  const Numbers x = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  const auto first = [&](const std::string& how) {
    Numbers y = run("Resize | x[1,1,4,5], _, _, I{7,7} | axes=[2,3], " + how, {x});
    y.resize(9);
    return y;
  };
  expect_numbers(first("keep_aspect_ratio_policy='not_larger', mode='nearest'"), {0, 1, 1, 2, 3, 3, 4, 5, 6});
  expect_numbers(first("keep_aspect_ratio_policy='not_larger', mode='linear'"),
                 {0, 0.5714, 1.2857, 2, 2.7143, 3.4286, 4, 2.8571, 3.4286}, 1e-4);
  expect_numbers(first("keep_aspect_ratio_policy='not_larger', mode='cubic'"),
                 {-0.4723, 0.0816, 0.9359, 1.6064, 2.2770, 3.1312, 3.6851, 2.2974, 2.8513}, 1e-4);
  expect_numbers(first("keep_aspect_ratio_policy='not_smaller', mode='nearest'"), {0, 0, 1, 1, 2, 3, 3, 4, 4});
  expect_numbers(first("keep_aspect_ratio_policy='not_smaller', mode='linear'"),
                 {0, 0.3571, 0.9286, 1.5, 2.0714, 2.6429, 3.2143, 3.7857, 4}, 1e-4);
  expect_numbers(first("keep_aspect_ratio_policy='not_smaller', mode='cubic'"),
                 {-0.5953, -0.2168, 0.4005, 1.0039, 1.6038, 2.1140, 2.7934, 3.3407, 3.6146}, 1e-4);
}

TEST(EdgeValues, RemaindersOfFloats) {
  const Numbers a = {5, 1e10, 3e38, -3e38, -7, 7, kInf, 1, kNan, 0x1p127, -4, 1e-40, -0.0, 0.1};
  const Numbers b = {kInf, 3, 0.1, 0.1, 3, -3, 3, 0, 1, 3, 2, 3e-45, 5, kNan};
  Numbers expected;
  for (size_t i = 0; i < a.size(); ++i)
    expected.push_back(std::fmod(static_cast<float>(a[i]), static_cast<float>(b[i])));
  EXPECT_EQ(expected[0], 5);
  EXPECT_EQ(expected[1], 1);
  EXPECT_EQ(expected[9], 2);
  expect_numbers(run("Mod | x[14], x[14] | fmod=1", {a, b}), expected);
}

TEST(EdgeValues, RemaindersOfIntegers) {
  const double least = -0x1p62;  // exact in a double
  const Numbers a = {7, -7, 7, -7, 5, least, least, -8}, b = {3, 3, -3, -3, 0, -1, 3, 4};
  expect_numbers(run("Mod | i[8], i[8]", {a, b}), {1, 2, -2, -1, 5, 0, 2, 0});
  expect_numbers(run("Mod | i[8], i[8] | fmod=1", {a, b}), {1, -1, 1, -1, 5, 0, -1, 0});
}

}  // namespace
}  // namespace robustness
