// LSTM, GRU and RNN: their attributes, left-out inputs and outputs, and what wrong ones are told.
#include <gtest/gtest.h>

#include "onnx/test_import.h"

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

}  // namespace
}  // namespace kiln::onnx
