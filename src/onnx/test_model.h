/// Writes ONNX messages for tests, by a protocol buffer writer of its own: what the reader reads has another witness.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/field_numbers.h"

namespace kiln::onnx::test {

/// A message: its encoded fields, in the order in which they were added.
struct Proto {
  std::string bytes;

  Proto& varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
    return *this;
  }
  Proto& integer(uint32_t tag, int64_t value) { return varint(tag << 3 | 0).varint(static_cast<uint64_t>(value)); }
  Proto& text(uint32_t tag, std::string_view value) {
    varint(tag << 3 | 2).varint(value.size());
    bytes += value;
    return *this;
  }
  Proto& message(uint32_t tag, const Proto& value) { return text(tag, value.bytes); }
  template <class T>
  Proto& fixed(uint32_t tag, T value) {
    varint(tag << 3 | (sizeof(T) == 4 ? 5 : 1));
    return append_raw(value);
  }
  Proto& packed(uint32_t tag, std::initializer_list<int64_t> values) {
    Proto list;
    for (const int64_t value : values) list.varint(static_cast<uint64_t>(value));
    return message(tag, list);
  }
  template <class T>
  Proto& packed_fixed(uint32_t tag, std::initializer_list<T> values) {
    Proto list;
    for (const T value : values) list.append_raw(value);
    return message(tag, list);
  }
  template <class T>
  Proto& append_raw(T value) {
    char raw[sizeof(T)];
    std::memcpy(raw, &value, sizeof(T));
    bytes.append(raw, sizeof(T));
    return *this;
  }
};

using Texts = std::initializer_list<std::string_view>;

inline Proto attribute(std::string_view name, int64_t kind) {
  return Proto().text(field::attribute::kName, name).integer(field::attribute::kType, kind);
}
inline Proto int_attribute(std::string_view name, int64_t value) {
  return attribute(name, 2).integer(field::attribute::kI, value);
}
inline Proto graph_attribute(std::string_view name, const Proto& graph) {
  return attribute(name, 5).message(field::attribute::kG, graph);
}
inline Proto ref_attribute(std::string_view name, int64_t kind, std::string_view refers_to) {
  return attribute(name, kind).text(field::attribute::kRefName, refers_to);
}

inline Proto node(std::string_view op, Texts inputs, Texts outputs, std::string_view name = "",
                  std::initializer_list<Proto> attributes = {}, std::string_view domain = "") {
  Proto out;
  for (const auto input : inputs) out.text(field::node::kInput, input);
  for (const auto output : outputs) out.text(field::node::kOutput, output);
  if (!name.empty()) out.text(field::node::kName, name);
  out.text(field::node::kOpType, op);
  for (const Proto& a : attributes) out.message(field::node::kAttribute, a);
  if (!domain.empty()) out.text(field::node::kDomain, domain);
  return out;
}

inline Proto tensor(std::string_view name, int64_t type, std::initializer_list<int64_t> dims) {
  return Proto()
      .packed(field::tensor::kDims, dims)
      .integer(field::tensor::kDataType, type)
      .text(field::tensor::kName, name);
}

inline Proto entry(std::string_view key, std::string_view value) {
  return Proto().text(field::entry::kKey, key).text(field::entry::kValue, value);
}

/// A tensor value: an extent below 0 is unknown.
inline Proto value(std::string_view name, int64_t type = 1, std::initializer_list<int64_t> extents = {}) {
  Proto shape;
  for (const int64_t extent : extents)
    shape.message(field::shape::kDim, extent < 0 ? Proto() : Proto().integer(field::dim::kValue, extent));
  const Proto tensor =
      Proto().integer(field::tensor_type::kElementType, type).message(field::tensor_type::kShape, shape);
  return Proto()
      .text(field::value_info::kName, name)
      .message(field::value_info::kType, Proto().message(field::type::kTensor, tensor));
}

struct GraphParts {
  std::vector<Proto> nodes, inputs, outputs, initializers;
};
inline Proto graph(const GraphParts& parts, std::string_view name = "main") {
  Proto out;
  for (const Proto& n : parts.nodes) out.message(field::graph::kNode, n);
  out.text(field::graph::kName, name);
  for (const Proto& t : parts.initializers) out.message(field::graph::kInitializer, t);
  for (const Proto& v : parts.inputs) out.message(field::graph::kInput, v);
  for (const Proto& v : parts.outputs) out.message(field::graph::kOutput, v);
  return out;
}

inline Proto opset(std::string_view domain, int64_t version) {
  return Proto().text(field::opset::kDomain, domain).integer(field::opset::kVersion, version);
}
inline Proto function(std::string_view name, Texts inputs, Texts outputs, const std::vector<Proto>& nodes) {
  Proto out = Proto().text(field::function::kName, name).text(field::function::kDomain, "local");
  for (const auto input : inputs) out.text(field::function::kInput, input);
  for (const auto output : outputs) out.text(field::function::kOutput, output);
  for (const Proto& n : nodes) out.message(field::function::kNode, n);
  return out;
}
inline Proto model(const Proto& graph, const std::vector<Proto>& functions = {}, int64_t version = 18) {
  Proto out = Proto().integer(field::model::kIrVersion, 8).message(field::model::kOpsetImport, opset("", version));
  if (!functions.empty()) out.message(field::model::kOpsetImport, opset("local", 1));
  out.message(field::model::kGraph, graph);
  for (const Proto& f : functions) out.message(field::model::kFunctions, f);
  return out;
}

inline std::span<const std::byte> bytes_of(const Proto& proto) { return std::as_bytes(std::span(proto.bytes)); }

}  // namespace kiln::onnx::test
