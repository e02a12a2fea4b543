// LSTM, GRU and RNN: their attributes, left-out inputs and outputs, and what wrong ones are told.
#include <gtest/gtest.h>

#include <cmath>

#include "ir/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto texts_attribute(std::string_view name, std::initializer_list<std::string_view> values) {
  Proto out = attribute(name, 8);
  for (const std::string_view value : values) out.text(field::attribute::kStrings, value);
  return out;
}
Proto floats_attribute(std::string_view name, std::initializer_list<float> values) {
  Proto out = attribute(name, 6);
  for (const float value : values) out.fixed(field::attribute::kFloats, value);
  return out;
}
/// A node of hidden size 5 over x [3, 2, 4], of whose outputs only y_h is wanted: what it is imported as, without the
/// name of the op; or what is wrong.
std::string imported(std::string_view operation, std::initializer_list<Proto> attributes, int64_t gates,
                     int64_t directions = 1, int64_t version = 14) {
  const std::string text = import_node(node(operation, {"x", "w", "r"}, {"", "y"}, "", attributes),
                                       {value("x", kFloat, {3, 2, 4}), value("w", kFloat, {directions, gates * 5, 4}),
                                        value("r", kFloat, {directions, gates * 5, 5})},
                                       {}, version);
  const std::string_view begin = text.find("Recurrence{") == std::string::npos ? ", 5]: " : "Recurrence{";
  const size_t at = text.find(begin);
  return at == std::string::npos ? text : text.substr(at + begin.size(), text.find('\n', at) - at - begin.size());
}

TEST(ImportRecurrence, Defaults) {
  EXPECT_EQ(
      imported("RNN", {int_attribute("hidden_size", 5)}, 1, 1, 7),
      "cell=rnn, direction=forward, layout=time_major, activations=[{function=tanh, alpha=0, beta=0}], clip=none, "
      "linear_before_reset=false, input_forget=false}(x, w, r)  # f32[3, 1, 2, 5] f32[1, 2, 5]");
  EXPECT_EQ(imported("LSTM", {text_attribute("direction", "bidirectional")}, 4, 2),
            "cell=lstm, direction=bidirectional, layout=time_major, activations=["
            "{function=sigmoid, alpha=0, beta=0}, {function=tanh, alpha=0, beta=0}, {function=tanh, alpha=0, beta=0}, "
            "{function=sigmoid, alpha=0, beta=0}, {function=tanh, alpha=0, beta=0}, {function=tanh, alpha=0, beta=0}], "
            "clip=none, linear_before_reset=false, input_forget=false}(x, w, r)  "
            "# f32[3, 2, 2, 5] f32[2, 2, 5] f32[2, 2, 5]");
  EXPECT_EQ(imported("GRU", {int_attribute("linear_before_reset", 1), float_attribute("clip", 2)}, 3),
            "cell=gru, direction=forward, layout=time_major, activations=["
            "{function=sigmoid, alpha=0, beta=0}, {function=tanh, alpha=0, beta=0}], clip=2, "
            "linear_before_reset=true, input_forget=false}(x, w, r)  # f32[3, 1, 2, 5] f32[1, 2, 5]");
}
TEST(ImportRecurrence, ActivationsTakeTheirNumbersInOrder) {
  EXPECT_EQ(imported("LSTM",
                     {texts_attribute("activations", {"HardSigmoid", "Tanh", "ScaledTanh"}),
                      floats_attribute("activation_alpha", {0.5F, 2}), floats_attribute("activation_beta", {0.25F, 4})},
                     4),
            "cell=lstm, direction=forward, layout=time_major, activations=[{function=hard_sigmoid, alpha=0.5, "
            "beta=0.25}, {function=tanh, alpha=0, beta=0}, {function=scaled_tanh, alpha=2, beta=4}], clip=none, "
            "linear_before_reset=false, input_forget=false}(x, w, r)  # f32[3, 1, 2, 5] f32[1, 2, 5] f32[1, 2, 5]");
  const std::string rnn = imported("RNN", {texts_attribute("activations", {"ThresholdedRelu", "Tanh"})}, 1);
  EXPECT_NE(rnn.find("activations=[{function=thresholded_relu, alpha=1, beta=0}]"), std::string::npos) << rnn;
}
TEST(ImportRecurrence, LayoutAndInputForget) {
  const std::string lstm = imported("LSTM", {int_attribute("layout", 1), int_attribute("input_forget", 1)}, 4);
  EXPECT_NE(lstm.find("layout=batch_major"), std::string::npos) << lstm;
  EXPECT_NE(lstm.find("input_forget=true}(x, w, r)  # f32[3, 2, 1, 5] f32[3, 1, 5]"), std::string::npos) << lstm;
}
TEST(ImportRecurrence, SaysWhatIsWrong) {
  EXPECT_EQ(imported("LSTM", {text_attribute("direction", "backward")}, 4),
            "direction is 'backward'; forward, reverse or bidirectional is needed");
  EXPECT_EQ(imported("LSTM", {texts_attribute("activations", {"Sigmoid", "Tanh"})}, 4),
            "activations has 2 entries; 3 are needed");
  EXPECT_EQ(imported("RNN", {texts_attribute("activations", {"Swish"})}, 1),
            "activations has 'Swish', which is not one of ONNX's");
  EXPECT_EQ(imported("RNN", {texts_attribute("activations", {"Affine"})}, 1),
            "activation Affine needs a number in activation_alpha; it has no default");
  EXPECT_EQ(imported("GRU", {int_attribute("hidden_size", 6)}, 3), "hidden_size is 6; R is f32[1, 15, 5]");
  EXPECT_EQ(imported("GRU", {int_attribute("layout", 2)}, 3), "layout is 2; 0 or 1 is needed");
  EXPECT_EQ(imported("GRU", {}, 4), "axis 1 of w f32[1, 20, 4], where f32[1, 15, 4] is needed: 20 and 15 differ");
  EXPECT_EQ(imported("LSTM", {text_attribute("clip", "1")}, 4), "attribute 'clip' is a STRING; FLOAT is needed");
}

constexpr int64_t kUint8 = 2, kInt8 = 3;

Proto bytes(std::string_view name, int64_t type, std::initializer_list<int64_t> dims, std::vector<int> numbers) {
  Proto raw;
  for (const int number : numbers) raw.append_raw(static_cast<uint8_t>(number));
  return tensor(name, type, dims).text(field::tensor::kRawData, raw.bytes);
}
/// A reverse LSTM of one hidden number over x [2, 1, 2] by weights in bytes, of com.microsoft.
Imported import_of_bytes(std::vector<Proto> weights) {
  const Proto of = node("DynamicQuantizeLSTM", {"x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"}, {"y"}, "d",
                        {int_attribute("hidden_size", 1), text_attribute("direction", "reverse")}, "com.microsoft");
  Proto whole = model(graph({{of}, {value("x", kFloat, {2, 1, 2})}, {value("y")}, std::move(weights)}), {}, 20);
  return import_proto(whole.message(field::model::kOpsetImport, opset("com.microsoft", 1)));
}
Proto biases() { return floats("b", {1, 8}, {0.1F, 0, 0, 0.2F, 0, 0, 0, 0}); }

TEST(ImportDynamicQuantizeLSTM, IsAnLstmByWhatItsBytesStandFor) {
  // A scale and a zero point for all of w; a scale for each column of r.
  const Imported got = import_of_bytes(
      {bytes("w", kUint8, {1, 2, 4}, {130, 120, 140, 128, 100, 128, 138, 126}), floats("ws", {1}, {0.05F}),
       bytes("wz", kUint8, {1}, {128}), bytes("r", kInt8, {1, 1, 4}, {4, -4, 2, 10}),
       floats("rs", {1, 4}, {0.25F, 0.125F, 0.5F, 0.1F}), bytes("rz", kInt8, {1, 4}, {0, 0, 0, 0}), biases()});
  ASSERT_TRUE(got.status) << text_of(got);
  // Gates i, o, f, c; w's column is a gate's row.
  const double w[4][2] = {{0.1, -1.4}, {-0.4, 0}, {0.6, 0.5}, {0, -0.1}};
  // x is of whole steps of its range's 255th part, so that rounding leaves it.
  const double r[4] = {1, -0.5, 1, 1}, bias[4] = {0.1, 0, 0, 0.2}, x[2][2] = {{0.5, -1}, {1.55, 0.25}};
  const auto sigmoid = [](double a) { return 1 / (1 + std::exp(-a)); };
  double h = 0, c = 0, y[2];
  for (int t = 1; t >= 0; --t) {
    double a[4];
    for (int g = 0; g < 4; ++g) a[g] = w[g][0] * x[t][0] + w[g][1] * x[t][1] + r[g] * h + bias[g];
    c = sigmoid(a[2]) * c + sigmoid(a[0]) * std::tanh(a[3]);
    y[t] = h = sigmoid(a[1]) * std::tanh(c);
  }
  const std::vector<HostTensor> inputs{
      HostTensor::of(DType::kF32, {2, 1, 2}, std::vector<double>{0.5, -1, 1.55, 0.25})};
  const auto result = ir::interpret(got.graph, inputs);
  ASSERT_TRUE(result) << result.error().message;
  const std::vector<double> found = View((*result)[0]).numbers();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NEAR(found[0], y[0], 1e-6);
  EXPECT_NEAR(found[1], y[1], 1e-6);
}
TEST(ImportDynamicQuantizeLSTM, SaysWhatIsWrong) {
  const auto told = [](std::initializer_list<int64_t> of_w, const Proto& scales) {
    const std::string text = text_of(import_of_bytes(
        {bytes("w", kUint8, of_w, std::vector<int>(8)), scales, bytes("wz", kUint8, {1}, {0}),
         bytes("r", kInt8, {1, 1, 4}, {1, 1, 1, 1}), floats("rs", {1}, {1}), bytes("rz", kInt8, {1}, {0}), biases()}));
    const std::string_view last_input = "rz i8[1]: ";
    const size_t at = text.find(last_input);
    return at == std::string::npos ? text : text.substr(at + last_input.size());
  };
  EXPECT_EQ(told({2, 4}, floats("ws", {1}, {1})), "'w' is u8[2, 4]; three axes are needed\n");
  EXPECT_EQ(told({1, 2, 4}, floats("ws", {1, 1, 1}, {1})),
            "scales and zero points of 'w' are f32[1, 1, 1]; [directions] or [directions, 4 * hidden] is needed\n");
  EXPECT_EQ(told({1, 2, 4}, floats("ws", {1, 3}, {1, 1, 1})),
            "ElementWise prod of f32[1, 2, 4] and f32[1, 1, 3]: broadcast extents: 4 and 3 differ\n");
}

}  // namespace
}  // namespace kiln::onnx
