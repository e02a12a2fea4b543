#include "onnx/importer.h"

#include <gtest/gtest.h>

#include "ir/source_names.h"
#include "onnx/test_import.h"

namespace kiln::onnx {
namespace {

using namespace test;

Proto named_dims(std::string_view name, std::initializer_list<std::string_view> dims) {
  Proto shape;
  for (const auto dim : dims)
    shape.message(field::shape::kDim, dim.empty() ? Proto() : Proto().text(field::dim::kParam, dim));
  const Proto tensor =
      Proto().integer(field::tensor_type::kElementType, kFloat).message(field::tensor_type::kShape, shape);
  return Proto()
      .text(field::value_info::kName, name)
      .message(field::value_info::kType, Proto().message(field::type::kTensor, tensor));
}

TEST(Importer, KeepsNamesAndProvenance) {
  const Imported got = import_proto(
      model(graph({{node("LayerNormalization", {"x", "w"}, {"h", "mean"}, "norm1"), node("Relu", {"h"}, {"y"})},
                   {value("x", kFloat, {2, 3})},
                   {value("y"), value("mean")},
                   {floats("w", {3}, {1, 2, 3})}})));
  ASSERT_TRUE(got.status) << got.status.error().message;
  int of_norm = 0, of_relu = 0;
  for (int i = 0; i < got.graph.num_nodes(); ++i) {
    const ir::Node& node = got.graph.node(static_cast<ir::NodeId>(i));
    ASSERT_EQ(node.provenance.size(), 1u) << node.name;
    of_norm += node.provenance[0] == "LayerNormalization 'norm1'";
    of_relu += node.provenance[0] == "Relu 'y'";
    EXPECT_TRUE(node.provenance[0] != "initializer 'w'" || node.name == "w");
  }
  EXPECT_GT(of_norm, 2);  // the node and what computes its second output
  EXPECT_EQ(of_relu, 1);
  EXPECT_EQ(got.graph.outputs()[0].name, "y");
  EXPECT_EQ(got.graph.outputs()[1].name, "mean");
  const ir::Value& h =
      got.graph.value(got.graph.node(got.graph.value(got.graph.outputs()[0].value).producer).inputs[0]);
  EXPECT_EQ(h.name, "h");
  EXPECT_EQ(got.graph.node(h.producer).name, "norm1");
}

TEST(Importer, SourcesOfTwoModelsInOneNetworkHaveTwoNames) {
  ir::Graph network;
  for (const std::string_view x : {"x1", "x2"}) {
    ImportReport report;
    const Proto proto = model(graph({{node("Mul", {x, "w"}, {str(x, "y")})},
                                     {value(x, kFloat, {2, 3})},
                                     {value(str(x, "y"))},
                                     {floats("w", {3}, {1, 2, 3})}}));
    ASSERT_TRUE(
        import_model(read_model(std::as_bytes(std::span(proto.bytes)), {"", nullptr}).value(), network, {}, report));
  }
  EXPECT_EQ(ir::source_names(network), (std::set<std::string>{"w", "w (2)"}));
}

TEST(Importer, ListsEveryProblemOnce) {
  const Imported got = import_proto(
      model(graph({{node("ImageDecoder", {"x"}, {"a"}, "nz"), node("Relu", {"a"}, {"b"}, "after"),
                    node("Concat", {"x", "x"}, {"c"}, "cat"), node("Foo", {"b"}, {"d"}, "foo", {}, "local")},
                   {value("x", kFloat, {2, 3}), value("u", 14, {1})},
                   {value("b"), value("c"), value("d")},
                   {}}),
            {function("Unused", {"a"}, {"b"}, {node("Relu", {"a"}, {"b"})})}));
  ASSERT_EQ(got.report.errors.size(), 4u) << text_of(got);
  EXPECT_EQ(
      text_of(got),
      "input 'u': type COMPLEX64 is not supported\n"
      "node 'nz' (ImageDecoder) of x f32[2, 3]: Kiln has no importer for operator ImageDecoder of domain 'ai.onnx'\n"
      "node 'cat' (Concat) of x f32[2, 3], x f32[2, 3]: attribute 'axis' is missing; INT is needed\n"
      "node 'foo' (local.Foo): Kiln has no importer for operator Foo of domain 'local'\n");
  EXPECT_EQ(got.report.errors[1].node_name, "nz");
  EXPECT_EQ(got.report.errors[1].op_type, "ImageDecoder");
  EXPECT_EQ(got.report.errors[1].node, 0);
  EXPECT_EQ(got.report.errors[3].domain, "local");
  EXPECT_EQ(got.status.error().message, got.report.errors[0].message);
}

/// TensorRT has no DOUBLE. Inside, Kiln computes in it.
TEST(Importer, DoublesAreFloatsForPrograms) {
  const Imported got = import_proto(model(graph({{node("Neg", {"x"}, {"y"}, "n"), node("Identity", {"z"}, {"same"})},
                                                 {value("x", kDouble, {4}), value("z", kDouble, {2})},
                                                 {value("y", kDouble, {4}), value("same", kDouble, {2})},
                                                 {}})));
  ASSERT_TRUE(got.status) << text_of(got);
  std::string edges;
  for (const ir::ValueId input : got.graph.inputs())
    edges += str(got.graph.value(input).name, ' ', got.graph.type(input), ", ");
  for (const ir::Output& output : got.graph.outputs())
    edges += str(output.name, ' ', got.graph.type(output.value), ", ");
  EXPECT_EQ(edges, "x f32[4], z f32[2], y f32[4], same f32[2], ");
  EXPECT_NE(ir::print(got.graph).find("f64[4]"), std::string::npos) << ir::print(got.graph);
  ASSERT_EQ(got.report.warnings.size(), 4u);
  EXPECT_EQ(got.report.warnings[0], "input 'x' is DOUBLE in the model and FLOAT in the network");
  EXPECT_EQ(got.report.warnings[3], "output 'same' is DOUBLE in the model and FLOAT in the network");
}

TEST(Importer, ListsProblemsOfTheModelWithThoseOfItsNodes) {
  EXPECT_EQ(import_node(node("Foo", {"x", "nowhere"}, {"y"}, "foo", {}, "com.acme"), {value("x", kFloat, {2})}),
            "the model uses operators of domain 'com.acme', but imports no operator set of it\n"
            "node 'foo' (com.acme.Foo): input 'nowhere' is made by no node, and is no input or initializer\n"
            "node 'foo' (com.acme.Foo) of x f32[2]: Kiln has no importer for operator Foo of domain 'com.acme'\n");
}
TEST(Importer, MicrosoftsDomainNeedsNoImport) {
  EXPECT_EQ(import_node(node("Gelu", {"x"}, {"y"}, "g", {}, "com.microsoft"), {value("x", kFloat, {2})}),
            "x: f32[2]\ny = Activation{kind=gelu_erf, alpha=0, beta=0}(x)  # f32[2]\nreturn y\n");
}
TEST(Importer, SaysHowFilesForOneCpuAreSaved) {
  const std::string got =
      import_node(node("Conv", {"x", "w"}, {"y"}, "c", {}, "com.microsoft.nchwc"), {value("x", kFloat, {2})});
  for (const char* op : {"QLinearConv", "NhwcMaxPool"}) {
    const std::string text = import_node(node(op, {"x"}, {"y"}, "c", {}, "com.microsoft"), {value("x", kFloat, {2})});
    EXPECT_NE(
        text.find("is for images with their channels last, which ONNX Runtime chooses for the machine that saves"),
        std::string::npos)
        << text;
  }
  const std::string fused =
      import_node(node("QOrderedMatMul", {"x"}, {"y"}, "c", {}, "com.microsoft"), {value("x", kFloat, {2})});
  EXPECT_NE(fused.find("QOrderedMatMul of domain 'com.microsoft' is one of ONNX Runtime's own; the model as "
                       "it was exported"),
            std::string::npos)
      << fused;
  EXPECT_NE(got.find("'com.microsoft.nchwc' is for kernels of one kind of CPU; save the model by"), std::string::npos)
      << got;
}

TEST(Importer, SaysWhatABadNodeGot) {
  EXPECT_EQ(import_node(node("Conv", {"x", "w"}, {"y"}, "conv1"),
                        {value("x", kFloat, {1, 3, 8, 8}), value("w", kFloat, {4, 5, 3, 3})}),
            "node 'conv1' (Conv) of x f32[1, 3, 8, 8], w f32[4, 5, 3, 3]: x f32[1, 3, 8, 8] must have 1 times the "
            "5 channels of w f32[4, 5, 3, 3]: 3 and 5 differ\n");
  EXPECT_EQ(import_node(node("Conv", {"x", "w"}, {"y"}, "conv1"),
                        {value("x", kFloat16, {1, 3, 8, 8}), value("w", kFloat, {4, 3, 3, 3})}),
            "node 'conv1' (Conv) of x f16[1, 3, 8, 8], w f32[4, 3, 3, 3]: x is f16[1, 3, 8, 8] and w f32[4, 3, 3, 3]; "
            "both need one type, insert a Cast\n");
  EXPECT_EQ(
      import_node(node("Add", {"a", "b"}, {"y"}, "sum"), {value("a", kFloat, {2}), value("b", kInt64, {2})}),
      "node 'sum' (Add) of a f32[2], b i64[2]: ElementWise sum of f32[2] and i64[2]; both need one type, insert a "
      "Cast\n");
}

TEST(Importer, OneNameIsOneSymbol) {
  EXPECT_EQ(import_node(node("Concat", {"a", "b"}, {"y"}, "", {int_attribute("axis", 1)}),
                        {named_dims("a", {"batch", ""}), named_dims("b", {"batch", ""})}),
            "a: f32[batch, a_1]\n"
            "b: f32[batch, b_1]\n"
            "y = Concatenation{axis=1}(a, b)  # f32[batch, a_1 + b_1]\n"
            "return y\n");
}

TEST(Importer, InputsOfOldModelsThatAreWeightsAreConstants) {
  const Imported got = import_proto(model(graph({{node("Add", {"x", "w"}, {"y"})},
                                                 {value("x", kFloat, {2}), value("w", kFloat, {2})},
                                                 {value("y")},
                                                 {floats("w", {2}, {1, 2})}})));
  ASSERT_TRUE(got.status) << got.status.error().message;
  ASSERT_EQ(got.graph.inputs().size(), 1u);
  EXPECT_EQ(got.graph.value(got.graph.inputs()[0]).name, "x");
}

TEST(Importer, WeightsStayInTheFileWhereTheyAreAligned) {
  const auto bytes = std::make_shared<std::string>();
  int in_place = 0;
  for (size_t padding = 0; padding < 4; ++padding) {
    // A longer name moves what follows: at one of four lengths the weights begin at a multiple of 4.
    const Proto sum = node("Add", {"x", "w"}, {"y"}, std::string(padding + 1, 'n'));
    *bytes = model(graph({{sum}, {value("x", kFloat, {2})}, {value("y")}, {floats("w", {2}, {3, 4})}})).bytes;
    const auto read = read_model(std::as_bytes(std::span(*bytes)), {"", bytes});
    ASSERT_TRUE(read);
    ir::Graph graph;
    ImportReport report;
    ASSERT_TRUE(import_model(*read, graph, {}, report));
    for (int i = 0; i < graph.num_values(); ++i)
      if (const HostTensor* constant = graph.constant(static_cast<ir::ValueId>(i))) {
        const auto* at = reinterpret_cast<const char*>(constant->bytes().data());
        EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % alignof(float), 0u);
        EXPECT_EQ(constant->data<float>()[1], 4);
        in_place += at >= bytes->data() && at < bytes->data() + bytes->size();
      }
  }
  EXPECT_EQ(in_place, 1);
}

TEST(Importer, InlinesFunctions) {
  const Proto twice = function("Twice", {"a"}, {"b"}, {node("Add", {"a", "a"}, {"b"}, "inner")})
                          .message(field::function::kOpsetImport, opset("", 18));
  EXPECT_EQ(
      text_of(import_proto(model(
          graph({{node("Twice", {"x"}, {"y"}, "call", {}, "local")}, {value("x", kFloat, {2})}, {value("y")}, {}}),
          {twice}))),
      "x: f32[2]\n"
      "y = ElementWise{kind=sum}(x, x)  # f32[2]\n"
      "return y\n");
}

TEST(Importer, OutputsMayBeInputsConstantsOrOneValueTwice) {
  const Imported got = import_proto(model(graph({{node("Relu", {"x"}, {"y"})},
                                                 {value("x", kFloat, {2})},
                                                 {value("x"), value("y"), value("w")},
                                                 {floats("w", {2}, {1, 2})}})));
  ASSERT_TRUE(got.status) << got.status.error().message;
  ASSERT_EQ(got.graph.outputs().size(), 3u);
  for (const ir::Output& output : got.graph.outputs())
    EXPECT_NE(got.graph.value(output.value).producer, ir::NodeId::kNone) << output.name;
}

/// A sparse tensor of [2, 2] with 5 and 7.
Proto sparse(const Proto& indices, std::initializer_list<int64_t> dims = {2, 2}) {
  return Proto()
      .message(field::sparse_tensor::kValues, floats("w", {2}, {5, 7}))
      .message(field::sparse_tensor::kIndices, indices)
      .packed(field::sparse_tensor::kDims, dims);
}
Proto pairs(std::initializer_list<int64_t> numbers) {
  Proto raw;
  for (const int64_t number : numbers) raw.append_raw(number);
  return tensor("", kInt64, {2, 2}).text(field::tensor::kRawData, raw.bytes);
}
TEST(Importer, SparseWeightsAreMadeDense) {
  const auto with = [](const Proto& w) {
    Proto main = graph({{node("Add", {"x", "w"}, {"y"})}, {value("x", kFloat, {2, 2})}, {value("y")}, {}});
    return text_of(import_proto(model(main.message(field::graph::kSparseInitializer, w))));
  };
  for (const Proto& indices : {i64s("", {1, 2}), pairs({0, 1, 1, 0})})
    EXPECT_NE(with(sparse(indices)).find("f32[2, 2](0, 5, 7, 0)"), std::string::npos) << with(sparse(indices));
  const auto fails = [&](const Proto& w, std::string_view why) {
    EXPECT_NE(with(w).find(why), std::string::npos) << with(w);
  };
  fails(sparse(i64s("", {1, 4})), "index 1 is 4; the tensor has 4 elements");
  fails(sparse(pairs({0, 1, 1, -1})), "index 1 is -1 along axis 1, which has 2");
  fails(sparse(i64s("", {1})), "its values are FLOAT[2] and its indices INT64[1]; INT64 of one number or 2");
  fails(sparse(i64s("", {1, 2}), {1 << 20, 1 << 20}), "the sparse tensors of a model may take 2^30 bytes");
}
TEST(Importer, ConstantsMayBeSparse) {
  const Proto w = attribute("sparse_value", 11).message(field::attribute::kSparseTensor, sparse(i64s("", {0, 3})));
  const std::string text = import_node(node("Constant", {}, {"y"}, "c", {w}), {});
  EXPECT_NE(text.find("f32[2, 2](5, 0, 0, 7)"), std::string::npos) << text;
}

TEST(Importer, AnswersToFlippedBits) {
  const Proto conv =
      node("Conv", {"x", "w"}, {"c"}, "c", {ints_attribute("pads", {1, 1, 1, 1}), int_attribute("group", 1)});
  const Proto slice = node("Slice", {"c", "s", "e", "a"}, {"d"});
  const std::string good = model(graph({{conv, slice, node("Shape", {"d"}, {"n"}), node("Expand", {"t", "n"}, {"f"}),
                                         node("Mul", {"d", "f"}, {"g"}), node("ReduceMean", {"g", "a"}, {"h"}),
                                         node("Softmax", {"h"}, {"y"}, "", {int_attribute("axis", 1)})},
                                        {value("x", kFloat, {-1, 2, 4, 4})},
                                        {value("y")},
                                        {floats("w", {1, 2, 1, 1}, {1, 2}), floats("t", {1}, {3}), i64s("s", {1}),
                                         i64s("e", {-1}), i64s("a", {2})}}))
                               .bytes;
  ASSERT_TRUE(import_proto(Proto{good}).status) << import_proto(Proto{good}).status.error().message;
  int num_imported = 0, num_refused = 0;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const Imported got = import_proto(Proto{bad});  // a broken invariant would throw
    num_imported += got.status.has_value();
    num_refused += !got.status && !got.status.error().message.empty();
  }
  EXPECT_EQ(num_imported + num_refused, static_cast<int>(good.size() * 8));
  EXPECT_GT(num_refused, num_imported / 10);
}

TEST(Importer, ShapesOfWhatIsComputedFromDataAreAnError) {
  EXPECT_EQ(
      import_node(node("Reshape", {"x", "s"}, {"y"}, "r"), {value("x", kFloat, {6}), value("s", kInt64, {2, 1})}),
      "node 'r' (Reshape) of x f32[6], s i64[2, 1]: shape 's' (i64[2, 1]) must follow from constants, shapes or shape "
      "inputs; it is computed from data\n");
}
TEST(Importer, ShapeInputsOfAnyExtentAreAnError) {
  EXPECT_EQ(import_node(node("TopK", {"x", "k"}, {"y", "i"}, "t"), {value("x", kFloat, {6}), value("k", kInt64, {-1})}),
            "node 't' (TopK) of x f32[6], k i64[k_0]: k 'k' (i64[k_0]) must follow from constants, shapes or shape "
            "inputs; it follows from input 'k' (i64[k_0]), whose extent the model must state\n");
}

}  // namespace
}  // namespace kiln::onnx
