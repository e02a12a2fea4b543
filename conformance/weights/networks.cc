#include "networks.h"

#include <algorithm>
#include <random>

#include "onnx/test_bodies.h"
#include "tensor/view.h"

namespace kiln {

using namespace onnx::test;
namespace field = onnx::field;

std::vector<double> NetworkWriter::random_numbers(std::string_view name, int64_t count, double low, double high,
                                                  std::string_view like) const {
  const uint64_t seed = std::ranges::count(kept_, name) > 0 ? 1 : seed_;
  if (seed == 1 && !like.empty()) name = like;
  std::mt19937_64 random(seed * 7919 + hash64(std::as_bytes(std::span(name))));
  std::uniform_real_distribution<double> numbers(low, high);
  std::vector<double> result(static_cast<size_t>(count));
  for (double& number : result) number = numbers(random);
  return result;
}

std::string NetworkWriter::add(std::string name, HostTensor value, int64_t type) {
  Proto dims;
  for (const int64_t extent : value.extents()) dims.varint(static_cast<uint64_t>(extent));
  const std::string raw(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
  parts_.initializers.push_back(Proto()
                                    .message(field::tensor::kDims, dims)
                                    .integer(field::tensor::kDataType, type)
                                    .text(field::tensor::kName, name)
                                    .text(field::tensor::kRawData, raw));
  if (is_float(value.dtype())) given_.emplace(name, std::move(value));
  return name;
}

std::string NetworkWriter::input(std::string name, const Extents& extents, int64_t type) {
  Proto shape;
  for (const int64_t extent : extents) shape.message(field::shape::kDim, Proto().integer(field::dim::kValue, extent));
  const Proto tensor =
      Proto().integer(field::tensor_type::kElementType, type).message(field::tensor_type::kShape, shape);
  parts_.inputs.push_back(Proto()
                              .text(field::value_info::kName, name)
                              .message(field::value_info::kType, Proto().message(field::type::kTensor, tensor)));
  return name;
}

std::string NetworkWriter::weights(std::string name, const Extents& extents, double low, double high,
                                   std::string_view like) {
  const auto values = random_numbers(name, volume(extents), low, high, like);
  return add(std::move(name), HostTensor::of(DType::kF32, extents, values), kFloat);
}
std::string NetworkWriter::halves(std::string name, const Extents& extents) {
  constexpr int64_t kHalf = 10;
  const auto values = random_numbers(name, volume(extents), -0.5, 0.5);
  return add(std::move(name), HostTensor::of(DType::kF16, extents, values), kHalf);
}
std::string NetworkWriter::numbers(std::string name, const Extents& extents, const std::vector<double>& values) {
  return add(std::move(name), HostTensor::of(DType::kF32, extents, values), kFloat);
}
std::string NetworkWriter::integers(std::string name, const std::vector<int64_t>& values) {
  return add(std::move(name), HostTensor::of_ints(DType::kI64, {std::ssize(values)}, values), kInt64);
}

std::string NetworkWriter::node(std::string_view op, const std::vector<std::string>& inputs,
                                std::initializer_list<Proto> attributes) {
  std::string name = str(op, ++num_nodes_);
  Proto node;
  for (const std::string& input : inputs) node.text(field::node::kInput, input);
  node.text(field::node::kOutput, name).text(field::node::kName, name).text(field::node::kOpType, op);
  for (const Proto& attribute : attributes) node.message(field::node::kAttribute, attribute);
  parts_.nodes.push_back(std::move(node));
  return name;
}

void NetworkWriter::output(std::string_view value) { parts_.outputs.push_back(onnx::test::value(value)); }

namespace {

using Text = std::string;

Text convolution(NetworkWriter& w, const Text& x, const Text& name, const Extents& kernel, int64_t pad = 0,
                 int64_t groups = 1, bool bias = true) {
  std::vector<Text> inputs{x, w.weights(name + ".w", kernel)};
  if (bias) inputs.push_back(w.weights(name + ".b", {kernel[0]}));
  return w.node("Conv", inputs, {ints_attribute("pads", {pad, pad, pad, pad}), int_attribute("group", groups)});
}

Text batch_norm(NetworkWriter& w, const Text& x, const Text& name, int64_t channels) {
  return w.node("BatchNormalization",
                {x, w.weights(name + ".gamma", {channels}, 0.5, 1.5), w.weights(name + ".beta", {channels}),
                 w.weights(name + ".mean", {channels}), w.weights(name + ".variance", {channels}, 0.2, 2)});
}

Text product(NetworkWriter& w, const Text& x, const Text& name, int64_t from, int64_t to) {
  const Text y = w.node("MatMul", {x, w.weights(name + ".w", {from, to})});
  return w.node("Add", {y, w.weights(name + ".b", {to})});
}

Text layer_norm(NetworkWriter& w, const Text& x, const Text& name, int64_t width) {
  return w.node("LayerNormalization",
                {x, w.weights(name + ".gamma", {width}, 0.5, 1.5), w.weights(name + ".beta", {width})});
}

void conv_bn(NetworkWriter& w) {
  const Text x = w.input("x", {1, 3, 16, 16});
  const Text a = w.node("Relu", {batch_norm(w, convolution(w, x, "c1", {8, 3, 3, 3}, 1, 1, false), "bn1", 8)});
  const Text b = batch_norm(w, convolution(w, a, "c2", {16, 8, 3, 3}, 1), "bn2", 16);
  w.output(w.node("Relu", {b}));
}

void residual(NetworkWriter& w) {
  const Text x = w.input("x", {2, 32, 14, 14});
  const Text a = w.node("Relu", {batch_norm(w, convolution(w, x, "c1", {64, 32, 1, 1}), "bn1", 64)});
  const Text b = w.node("Relu", {batch_norm(w, convolution(w, a, "c2", {64, 64, 3, 3}, 1), "bn2", 64)});
  const Text c = batch_norm(w, convolution(w, b, "c3", {128, 64, 1, 1}), "bn3", 128);
  const Text side = batch_norm(w, convolution(w, x, "side", {128, 32, 1, 1}), "bn4", 128);
  const Text sum = w.node("Relu", {w.node("Add", {c, side})});
  const Text pooled = w.node("Flatten", {w.node("GlobalAveragePool", {sum})});
  w.output(
      w.node("Gemm", {pooled, w.weights("fc.w", {10, 128}), w.weights("fc.b", {10})}, {int_attribute("transB", 1)}));
}

void depthwise(NetworkWriter& w) {
  const Text x = w.input("x", {1, 32, 20, 20});
  const Text a = batch_norm(w, convolution(w, x, "dw", {32, 1, 3, 3}, 1, 32), "bn1", 32);
  const Text most = w.numbers("six", {}, {6});  // an attribute of Clip, and what another node reads
  const Text six = w.node("Clip", {a, w.numbers("zero", {}, {0}), most});
  const Text gates = w.node("GlobalAveragePool", {six});
  const Text squeezed = w.node("Relu", {convolution(w, gates, "squeeze", {8, 32, 1, 1})});
  const Text excited = w.node("Sigmoid", {convolution(w, squeezed, "excite", {32, 8, 1, 1})});
  w.output(batch_norm(w, convolution(w, w.node("Mul", {w.node("Div", {six, most}), excited}), "pw", {48, 32, 1, 1}),
                      "bn2", 48));
}

/// A number that is data first, in another form, and then becomes an attribute.
void read_late(NetworkWriter& w) {
  const Text x = w.input("x", {1, 8, 6, 6});
  const Text most = w.numbers("most", {1}, {0.75});
  const Text scaled = w.node("Mul", {convolution(w, x, "c", {8, 8, 3, 3}, 1), most});
  w.output(w.node("Clip", {scaled, w.numbers("least", {}, {-0.5}), most}));
}

void groups(NetworkWriter& w) {
  const Text x = w.input("x", {1, 16, 12, 12});
  const Text a = convolution(w, x, "grouped", {32, 4, 3, 3}, 1, 4);
  const Text b = w.node("Mul", {a, w.weights("scale", {1, 32, 1, 1}, 0.5, 1.5)});
  const Text c = w.node("Add", {w.weights("shift", {32, 1, 1}), b});
  w.output(w.node("PRelu", {c, w.weights("slope", {32, 1, 1})}));
}

void deconvolution(NetworkWriter& w) {
  const Text x = w.input("x", {1, 8, 9, 9});
  const Text a = w.node("ConvTranspose", {x, w.weights("up.w", {8, 6, 2, 2}), w.weights("up.b", {12})},
                        {ints_attribute("strides", {2, 2}), int_attribute("group", 2)});
  const Text b = batch_norm(w, a, "bn1", 12);
  const Text c = w.node("ConvTranspose", {b, w.weights("last.w", {12, 5, 3, 3})}, {ints_attribute("strides", {2, 2})});
  w.output(w.node("Mul", {c, w.weights("one", {1, 1, 1, 1}, 0.5, 1.5)}));
}

void perceptron(NetworkWriter& w) {
  const Text x = w.input("x", {3, 192});
  const Text a =
      w.node("Gemm", {x, w.weights("fc1.w", {256, 192}), w.weights("fc1.b", {256})}, {int_attribute("transB", 1)});
  const Text b = product(w, w.node("Tanh", {a}), "fc2", 256, 160);
  w.output(w.node("Softmax", {product(w, w.node("Relu", {b}), "fc3", 160, 11)}));
}

Text gelu(NetworkWriter& w, const Text& x) {
  const Text erf = w.node("Erf", {w.node("Div", {x, w.numbers("sqrt2", {}, {1.4142135381698608})})});
  const Text sum = w.node("Add", {erf, w.numbers("one", {}, {1})});
  return w.node("Mul", {w.node("Mul", {x, sum}), w.numbers("half", {}, {0.5})});
}

void transformer(NetworkWriter& w) {
  constexpr int64_t kRows = 24, kWidth = 64, kHeads = 4, kDepth = 16;
  const Text x = w.input("x", {1, kRows, kWidth});
  const Text normal = layer_norm(w, x, "ln1", kWidth);
  const Text split = w.integers("split", {1, kRows, kHeads, kDepth});
  const auto heads = [&](const Text& name, std::initializer_list<int64_t> perm) {
    const Text y = product(w, normal, name, kWidth, kWidth);
    return w.node("Transpose", {w.node("Reshape", {y, split})}, {ints_attribute("perm", perm)});
  };
  const Text q = heads("q", {0, 2, 1, 3}), k = heads("k", {0, 2, 3, 1}), v = heads("v", {0, 2, 1, 3});
  const Text scores = w.node("Div", {w.node("MatMul", {q, k}), w.numbers("root", {}, {4})});
  const Text mixed = w.node("MatMul", {w.node("Softmax", {scores}), v});
  const Text joined = w.node("Reshape", {w.node("Transpose", {mixed}, {ints_attribute("perm", {0, 2, 1, 3})}),
                                         w.integers("join", {1, kRows, kWidth})});
  const Text y = w.node("Add", {x, product(w, joined, "out", kWidth, kWidth)});
  const Text inner = gelu(w, product(w, layer_norm(w, y, "ln2", kWidth), "up", kWidth, 4 * kWidth));
  w.output(w.node("Add", {y, product(w, inner, "down", 4 * kWidth, kWidth)}));
}

/// Layer norm as exporters spell it out.
Text spelled_norm(NetworkWriter& w, const Text& x, const Text& name, int64_t width) {
  const Text axes = w.integers(name + ".axes", {-1});
  const Text off = w.node("Sub", {x, w.node("ReduceMean", {x, axes})});
  const Text squares = w.node("Pow", {off, w.numbers(name + ".two", {}, {2})});
  const Text variance = w.node("Add", {w.node("ReduceMean", {squares, axes}), w.numbers(name + ".eps", {}, {1e-5})});
  const Text y = w.node("Div", {off, w.node("Sqrt", {variance})});
  return w.node(
      "Add", {w.node("Mul", {y, w.weights(name + ".gamma", {width}, 0.5, 1.5)}), w.weights(name + ".beta", {width})});
}

void embedding(NetworkWriter& w) {
  const Text ids = w.input("ids", {2, 7}, kInt64);
  const Text words = w.node("Gather", {w.weights("words", {50, 48}), ids});
  const Text places = w.node("Slice", {w.weights("places", {1, 16, 48}), w.integers("from", {0}), w.integers("to", {7}),
                                       w.integers("axes", {1})});
  const Text x = spelled_norm(w, w.node("Add", {words, places}), "ln", 48);
  w.output(product(w, x, "head", 48, 50));
}

/// Products with weights that a model computes from others.
void computed(NetworkWriter& w) {
  const Text x = w.input("x", {4, 96});
  const Text turned = w.node("Transpose", {w.weights("turned", {128, 96})});
  const Text scaled = w.node("Mul", {turned, w.weights("columns", {128}, 0.5, 1.5)});
  const Text a = w.node("MatMul", {x, scaled});
  const Text joined =
      w.node("Concat", {w.weights("left", {128, 64}), w.weights("right", {128, 80})}, {int_attribute("axis", 1)});
  const Text b = w.node("Sub", {w.node("MatMul", {a, joined}), w.weights("shift", {144})});
  const Text half = w.node("Cast", {w.halves("halves", {144, 160})}, {int_attribute("to", kFloat)});
  w.output(w.node("MatMul", {b, half}));
}

/// 3x3 convolutions that are worth a transformed filter, and a norm over instances.
void pictures(NetworkWriter& w) {
  const Text x = w.input("x", {1, 64, 28, 28});
  const Text a = w.node("Relu", {convolution(w, x, "c1", {64, 64, 3, 3}, 1)});
  const Text b = convolution(w, a, "c2", {32, 64, 5, 5}, 2);
  const Text c =
      w.node("InstanceNormalization", {b, w.weights("in.gamma", {32}, 0.5, 1.5), w.weights("in.beta", {32})});
  w.output(w.node("Conv", {c, w.weights("dilated", {32, 32, 3, 3})}, {ints_attribute("dilations", {2, 2})}));
}

/// A GRU that a loop spells out, whose body reads weights around it.
void recurrent(NetworkWriter& w) {
  const Text x = w.input("x", {5, 2, 48}), h = w.weights("initial", {2, 32});
  const Text from[] = {w.integers("0", {0}), w.integers("32", {32}), w.integers("64", {64}), w.integers("96", {96})};
  const Text axis = w.integers("axis", {1});
  w.weights("cell.w", {48, 96}, -0.2, 0.2), w.weights("cell.wb", {96});
  w.weights("cell.r", {32, 96}, -0.2, 0.2), w.weights("cell.rb", {96});
  std::vector<Proto> nodes{
      onnx::test::node("MatMul", {"e", "cell.w"}, {"xw"}), onnx::test::node("Add", {"xw", "cell.wb"}, {"a"}),
      onnx::test::node("MatMul", {"h", "cell.r"}, {"hr"}), onnx::test::node("Add", {"hr", "cell.rb"}, {"u"})};
  for (const Text sum : {"a", "u"})
    for (size_t gate = 0; gate < 3; ++gate)
      nodes.push_back(onnx::test::node("Slice", {sum, from[gate], from[gate + 1], axis}, {str(sum, gate)}));
  for (const Proto& node :
       {onnx::test::node("Add", {"a0", "u0"}, {"za"}), onnx::test::node("Sigmoid", {"za"}, {"z"}),
        onnx::test::node("Add", {"a1", "u1"}, {"ra"}), onnx::test::node("Sigmoid", {"ra"}, {"r"}),
        onnx::test::node("Mul", {"r", "u2"}, {"ru"}), onnx::test::node("Add", {"a2", "ru"}, {"na"}),
        onnx::test::node("Tanh", {"na"}, {"n"}), onnx::test::node("Sub", {"h", "n"}, {"d"}),
        onnx::test::node("Mul", {"z", "d"}, {"zd"}), onnx::test::node("Add", {"n", "zd"}, {"next"})})
    nodes.push_back(node);
  w.output(w.node("Scan", {h, x},
                  {graph_attribute("body", body(nodes, {"h", "e"}, {"next"})), int_attribute("num_scan_inputs", 1)}));
}

void write_twins(NetworkWriter& w) {
  const Text x = w.input("x", {2, 40});
  const Text a = w.node("MatMul", {x, w.weights("first", {40, 40})});
  const Text second = w.weights("second", {40, 40}, -0.5, 0.5, "first");
  w.output(w.node("Add", {a, w.node("MatMul", {w.node("Tanh", {a}), second})}));
}

void write_exact_halves(NetworkWriter& w) {
  std::vector<double> values(160 * 160);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 511) / 512;
  w.output(w.node("MatMul", {w.input("x", {3, 160}), w.numbers("w", {160, 160}, values)}));
}

}  // namespace

Network exact_halves() { return {"exact halves", write_exact_halves}; }
Network twins() { return {"twins", write_twins}; }

const std::vector<Network>& networks() {
  static const std::vector<Network> all{
      {"conv_bn", conv_bn},
      {"residual", residual},
      {"depthwise", depthwise, {}, {"zero", "six"}},
      {"read late", read_late, {}, {"least", "most"}},
      {"groups", groups},
      {"deconvolution", deconvolution},
      {"perceptron", perceptron},
      {"transformer", transformer, {"sqrt2", "one", "half"}, {}, {"root"}},
      {"embedding", embedding, {"ln.two", "ln.eps"}},
      {"computed", computed, {}, {}, {"halves"}},
      {"pictures", pictures},
      {"recurrent", recurrent},
  };
  return all;
}

}  // namespace kiln
