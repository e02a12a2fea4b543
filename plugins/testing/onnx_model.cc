#include "testing/onnx_model.h"

#include <algorithm>

#include "base/str.h"
#include "onnx/dtypes.h"
#include "onnx/test_model.h"

namespace kiln::plugins::testing {
namespace {

namespace field = onnx::field;
using onnx::test::Proto;

constexpr int64_t kBool = 9;

int64_t element_type(nv::DataType type) {
  switch (type) {
    case nv::DataType::kFLOAT: return 1;
    case nv::DataType::kINT8: return 3;
    case nv::DataType::kINT32: return 6;
    case nv::DataType::kINT64: return 7;
    case nv::DataType::kBOOL: return kBool;
    case nv::DataType::kHALF: return 10;
    case nv::DataType::kBF16: return 16;
    default: return 0;  // which the parser refuses
  }
}

Proto value(const std::string& name, const Tensor& tensor) {
  Proto shape;
  for (const int64_t extent : tensor.extents)
    shape.message(field::shape::kDim, Proto().integer(field::dim::kValue, extent));
  const Proto type = Proto()
                         .integer(field::tensor_type::kElementType, element_type(tensor.type))
                         .message(field::tensor_type::kShape, shape);
  return Proto()
      .text(field::value_info::kName, name)
      .message(field::value_info::kType, Proto().message(field::type::kTensor, type));
}

Proto initializer(const std::string& name, const Tensor& tensor) {
  Proto result;
  for (const int64_t extent : tensor.extents) result.integer(field::tensor::kDims, extent);
  const auto bytes = bytes_of(tensor);
  return result.integer(field::tensor::kDataType, element_type(tensor.type))
      .text(field::tensor::kName, name)
      .text(field::tensor::kRawData, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// One number is an attribute of its own, several are a list, and letters are a string.
std::optional<Proto> attribute(const nv::PluginField& given) {
  const auto count = static_cast<size_t>(given.length);
  if (!given.data) return std::nullopt;
  if (given.type == nv::PluginFieldType::kCHAR)
    return onnx::test::attribute(given.name, 3)
        .text(field::attribute::kS, {static_cast<const char*>(given.data), count});
  if (given.type == nv::PluginFieldType::kINT32) {
    const auto* const values = static_cast<const int32_t*>(given.data);
    if (count == 1) return onnx::test::int_attribute(given.name, *values);
    Proto list = onnx::test::attribute(given.name, 7);
    for (size_t i = 0; i < count; ++i) list.integer(field::attribute::kInts, values[i]);
    return list;
  }
  if (given.type == nv::PluginFieldType::kFLOAT32) {
    const auto* const values = static_cast<const float*>(given.data);
    if (count == 1) return onnx::test::attribute(given.name, 1).fixed(field::attribute::kF, *values);
    Proto list = onnx::test::attribute(given.name, 6);
    for (size_t i = 0; i < count; ++i) list.fixed(field::attribute::kFloats, values[i]);
    return list;
  }
  return std::nullopt;
}

std::optional<Proto> plugin_node(const char* plugin, const char* version, const Attributes& attributes,
                                 size_t num_inputs, int num_outputs) {
  Proto node =
      Proto().text(field::node::kOpType, plugin).text(field::node::kName, "plugin").text(field::node::kDomain, "TRT");
  for (size_t i = 0; i < num_inputs; ++i) node.text(field::node::kInput, str("x", i));
  for (int i = 0; i < num_outputs; ++i) node.text(field::node::kOutput, str("y", i));
  for (const nv::PluginField& one : attributes.fields()) {
    const std::optional<Proto> written = attribute(one);
    if (!written) return std::nullopt;
    node.message(field::node::kAttribute, *written);
  }
  return node.message(field::node::kAttribute,
                      onnx::test::attribute("plugin_version", 3).text(field::attribute::kS, version));
}

}  // namespace

bool has_onnx_form(const Attributes& attributes) {
  return std::ranges::all_of(attributes.fields(),
                             [](const nv::PluginField& one) { return attribute(one).has_value(); });
}

std::optional<std::string> onnx_model(const char* plugin, const char* version, const Attributes& attributes,
                                      const std::vector<Tensor>& inputs, int num_outputs, NodePlace place) {
  const std::optional<Proto> node = plugin_node(plugin, version, attributes, inputs.size(), num_outputs);
  if (!node) return std::nullopt;
  std::vector<Proto> outputs;
  for (int i = 0; i < num_outputs; ++i) outputs.push_back(Proto().text(field::value_info::kName, str("y", i)));
  onnx::test::GraphParts parts{.nodes = {*node}, .inputs = {}, .outputs = outputs, .initializers = {}};
  if (place == NodePlace::kBranch) {
    const Proto branch = onnx::test::graph(parts, "branch");
    parts.nodes = {Proto().text(field::node::kOpType, "If").text(field::node::kInput, "c")};
    for (int i = 0; i < num_outputs; ++i) parts.nodes[0].text(field::node::kOutput, str("y", i));
    for (const char* const name : {"then_branch", "else_branch"})
      parts.nodes[0].message(field::node::kAttribute, onnx::test::graph_attribute(name, branch));
    parts.inputs.push_back(onnx::test::value("c", kBool));
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].is_constant)
      parts.initializers.push_back(initializer(str("x", i), inputs[i]));
    else
      parts.inputs.push_back(value(str("x", i), inputs[i]));
  return onnx::test::model(onnx::test::graph(parts))
      .message(field::model::kOpsetImport, onnx::test::opset("TRT", 1))
      .bytes;
}

}  // namespace kiln::plugins::testing
