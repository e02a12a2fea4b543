#include "onnx/reader.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <random>

#include "onnx/check.h"
#include "onnx/inline_functions.h"
#include "onnx/node_reader.h"
#include "onnx/tensor_data.h"
#include "onnx/test_model.h"

namespace kiln::onnx {
namespace {

using test::Proto;

std::string read_error(const Proto& proto) {
  const auto model = read_model(test::bytes_of(proto));
  return model ? "no error" : model.error().message;
}

/// A model with every kind of field that the reader knows.
Proto rich_model() {
  const Proto body = test::graph({.nodes = {test::node("Neg", {"x"}, {"b"})}, .outputs = {test::value("b")}}, "body");
  const Proto floats = test::attribute("scales", 6).packed_fixed<float>(field::attribute::kFloats, {1.5f, -2.0f});
  const Proto strings =
      test::attribute("names", 8).text(field::attribute::kStrings, "a").text(field::attribute::kStrings, "bc");
  const Proto constant =
      test::attribute("value", 4)
          .message(field::attribute::kT, test::tensor("c", 7, {2}).packed(field::tensor::kInt64Data, {-1, 300}));
  Proto op = test::node(
      "Op", {"x", "", "w"}, {"y"}, "op",
      {test::int_attribute("axis", -1), floats, strings, constant, test::graph_attribute("body", body)}, "com.acme");
  op.text(field::node::kOverload, "fast").message(field::node::kMetadata, test::entry("scope", "block.0"));
  const Proto sequence =
      Proto().message(field::type::kSequence, Proto().message(field::container_type::kElement, Proto()));
  Proto graph = test::graph({.nodes = {op},
                             .inputs = {test::value("x", 10, {-1, 3})},
                             .outputs = {test::value("y")},
                             .initializers = {test::tensor("w", 1, {2}).text(field::tensor::kRawData, "abcdefgh")}});
  graph.message(field::graph::kValueInfo,
                Proto().text(field::value_info::kName, "seq").message(field::value_info::kType, sequence));
  graph.message(
      field::graph::kSparseInitializer,
      Proto()
          .message(field::sparse_tensor::kValues,
                   test::tensor("s", 1, {2}).packed_fixed<float>(field::tensor::kFloatData, {5, 7}))
          .message(field::sparse_tensor::kIndices, test::tensor("", 7, {2}).packed(field::tensor::kInt64Data, {1, 5}))
          .packed(field::sparse_tensor::kDims, {2, 3}));
  const Proto function = test::function("F", {"a"}, {"b"}, {test::node("Neg", {"a"}, {"b"})});
  return test::model(graph, {function})
      .text(field::model::kProducerName, "by hand")
      .message(field::model::kMetadata, test::entry("author", "me"));
}

TEST(Reader, ReadsEveryKindOfField) {
  const Proto proto = rich_model();
  const auto model = read_model(test::bytes_of(proto));
  ASSERT_TRUE(model) << model.error().message;
  const Model& m = **model;
  EXPECT_EQ(m.ir_version, 8);
  EXPECT_EQ(m.opset(""), 18);
  EXPECT_EQ(m.producer_name, "by hand");
  ASSERT_EQ(m.metadata.size(), 1u);
  EXPECT_EQ(m.metadata[0].value, "me");
  EXPECT_EQ(m.functions.at(0).domain, "local");
  const GraphDef& g = m.graph;
  EXPECT_EQ(g.name, "main");
  EXPECT_EQ(g.initializers.at(1).name, "s");
  EXPECT_EQ(g.initializers[1].dims, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(g.value_infos.at(0).type.kind, TypeKind::kSequence);
  ASSERT_TRUE(g.inputs.at(0).type.shape);
  EXPECT_EQ(g.inputs[0].type.element_type, ElementType::kFloat16);
  EXPECT_FALSE(g.inputs[0].type.shape->at(0).value);
  EXPECT_EQ(g.inputs[0].type.shape->at(1).value, 3);
  const NodeDef& n = g.nodes.at(0);
  EXPECT_EQ(str(n), "node 'op' (com.acme.Op)");
  EXPECT_EQ(n.overload, "fast");
  EXPECT_EQ(n.metadata.at(0).key, "scope");
  EXPECT_EQ(n.inputs, (std::vector<std::string_view>{"x", "", "w"}));
  NodeReader reader(n);
  EXPECT_EQ(*reader.get_int("axis", 7), -1);
  EXPECT_EQ(*reader.get_int("gone", 7), 7);
  EXPECT_EQ(*reader.get_floats("scales", {}), (std::vector<float>{1.5f, -2.0f}));
  EXPECT_EQ(*reader.get_strings("names"), (std::vector<std::string_view>{"a", "bc"}));
  EXPECT_EQ((*reader.get_tensor("value"))->dims, (std::vector<int64_t>{2}));
  EXPECT_EQ((*reader.get_graph("body"))->nodes.at(0).op_type, "Neg");
}

TEST(Reader, AttributeErrorsNameKinds) {
  const Proto proto = rich_model();
  const auto model = read_model(test::bytes_of(proto));
  ASSERT_TRUE(model);
  NodeReader n((*model)->graph.nodes.at(0));
  EXPECT_EQ(n.get_int("body", 0).error().message, "attribute 'body' is a GRAPH; INT is needed");
  EXPECT_EQ(n.get_tensor("axis").error().message, "attribute 'axis' is a INT; TENSOR is needed");
  EXPECT_EQ(n.need_ints("gone").error().message, "attribute 'gone' is missing; INTS is needed");
}

TEST(Reader, TakesPackedAndUnpackedScalars) {
  const Proto loose = test::attribute("a", 7).integer(field::attribute::kInts, 5).integer(field::attribute::kInts, -6);
  const Proto tight = test::attribute("b", 7).packed(field::attribute::kInts, {5, -6});
  const Proto proto = test::model(test::graph({.nodes = {test::node("Op", {}, {"y"}, "", {loose, tight})}}));
  const auto model = read_model(test::bytes_of(proto));
  ASSERT_TRUE(model);
  NodeReader n((*model)->graph.nodes.at(0));
  EXPECT_EQ(*n.need_ints("a"), (std::vector<int64_t>{5, -6}));
  EXPECT_EQ(*n.need_ints("a"), *n.need_ints("b"));
}

TEST(Reader, InfersTheKindOfOldAttributes) {
  const Proto old = Proto().text(field::attribute::kName, "axis").integer(field::attribute::kI, 3);
  const Proto proto = test::model(test::graph({.nodes = {test::node("Op", {}, {"y"}, "", {old})}}));
  const auto model = read_model(test::bytes_of(proto));
  ASSERT_TRUE(model);
  EXPECT_EQ(*NodeReader((*model)->graph.nodes.at(0)).need_int("axis"), 3);
}

TEST(Reader, AnAttributeWithoutItsValueIsAnError) {
  const Proto lie = test::attribute("axis", 1).integer(field::attribute::kI, 3);
  EXPECT_EQ(
      read_error(test::model(test::graph({.nodes = {test::node("Op", {}, {"y"}, "n", {lie})}}))),
      "ONNX model: graph: node 0 'n': attribute 0 'axis': at byte 35: its type is FLOAT, but it holds no such value");
}

Proto nested(int levels) {
  Proto graph = test::graph({}, "");
  for (int i = 1; i < levels; ++i)
    graph = test::graph({.nodes = {test::node("If", {}, {}, "", {test::graph_attribute("b", graph)})}}, "");
  return test::model(graph);
}

TEST(Reader, BoundsNesting) {
  EXPECT_EQ(read_error(nested(kMaxNesting)), "no error");
  const std::string deep = read_error(nested(kMaxNesting + 1));
  EXPECT_TRUE(deep.ends_with("graphs nest deeper than 64 levels")) << deep;
  EXPECT_TRUE(read_error(nested(3000)).ends_with("graphs nest deeper than 64 levels"));

  Proto type = Proto().message(field::type::kTensor, Proto());
  for (int i = 0; i < 70; ++i)
    type = Proto().message(field::type::kSequence, Proto().message(field::container_type::kElement, type));
  const Proto value = Proto().text(field::value_info::kName, "x").message(field::value_info::kType, type);
  EXPECT_TRUE(read_error(test::model(test::graph({.inputs = {value}}))).ends_with("types nest deeper than 64 levels"));
}

TEST(Reader, RefusesWhatIsNoModel) {
  EXPECT_EQ(read_error(Proto()),
            "ONNX model: at byte 0: there is no graph; the file is truncated, or not an ONNX model");
  EXPECT_EQ(read_error(Proto{"#!/bin/sh"}),
            "ONNX model: at byte 0: this is not a protocol buffer field; the file is "
            "damaged, or not an ONNX model");
}

/// Pages that nobody touches take no memory: inline data of any size can be tested.
struct Reservation {
  explicit Reservation(size_t size) : size(size) {
    start = static_cast<char*>(
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  ~Reservation() { munmap(start, size); }
  char* start;
  size_t size;
};

/// A model whose only tensor, and so its graph, ends with `raw` zero bytes of raw data.
Result<std::shared_ptr<const Model>> read_with_raw_data(const Reservation& memory, uint64_t raw) {
  const Proto head = Proto()
                         .integer(field::tensor::kDataType, 2)
                         .integer(field::tensor::kDims, static_cast<int64_t>(raw))
                         .varint(field::tensor::kRawData << 3 | 2)
                         .varint(raw);
  const Proto tensor = Proto().varint(field::graph::kInitializer << 3 | 2).varint(head.bytes.size() + raw);
  const Proto graph =
      Proto().varint(field::model::kGraph << 3 | 2).varint(tensor.bytes.size() + head.bytes.size() + raw);
  const std::string start = graph.bytes + tensor.bytes + head.bytes;
  std::memcpy(memory.start, start.data(), start.size());
  return read_model(std::as_bytes(std::span(memory.start, start.size() + raw)));
}

TEST(Reader, ReadsUpTo4GiBInline) {
  const Reservation memory((size_t{5} << 30));
  ASSERT_NE(memory.start, MAP_FAILED);
  const auto most = read_with_raw_data(memory, UINT32_MAX - 64);
  ASSERT_TRUE(most) << most.error().message;
  const auto data = tensor_data(**most, (*most)->graph.initializers.at(0));
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ(data->bytes.size(), UINT32_MAX - 64);

  // 2^32 + 9 is 9 to a reader that keeps 32 bits.
  const auto more = read_with_raw_data(memory, (uint64_t{1} << 32) + 9);
  ASSERT_FALSE(more);
  EXPECT_TRUE(more.error().message.ends_with("at most 4 GiB are read inline, save larger weights as external data"))
      << more.error().message;
}

/// All that can be asked of a model; what must not crash.
void use_everything(std::span<const std::byte> bytes) {
  const auto model = read_model(bytes);
  if (!model) {
    EXPECT_FALSE(model.error().message.empty());
    return;
  }
  for (const TensorDef& tensor : (*model)->graph.initializers) {
    static_cast<void>(tensor_data(**model, tensor));
    static_cast<void>(tensor_strings(tensor));
  }
  if (const auto flat = inline_functions(*model)) static_cast<void>(check_model(*flat));
}

TEST(Reader, AnswersToEveryTruncation) {
  const std::string whole = rich_model().bytes;
  for (size_t size = 0; size < whole.size(); ++size) {
    // A copy of exactly that size lets the address sanitizer see a read beyond it.
    const std::vector<char> part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size));
    use_everything(std::as_bytes(std::span(part)));
  }
}

TEST(Reader, AnswersToFlippedBits) {
  const std::string whole = rich_model().bytes;
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<char> damaged(whole.begin(), whole.end());
    for (uint64_t flips = 1 + random() % 4; flips; --flips)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    SCOPED_TRACE(seed);
    use_everything(std::as_bytes(std::span(damaged)));
  }
}

}  // namespace
}  // namespace kiln::onnx
