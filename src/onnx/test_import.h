/// Imports models of a few nodes, written by onnx/test_model.h, for tests of importers.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "onnx/importer.h"
#include "onnx/reader.h"
#include "onnx/test_model.h"

namespace kiln::onnx::test {

inline constexpr int64_t kFloat = 1, kInt64 = 7, kBool = 9, kFloat16 = 10, kDouble = 11;

inline Proto ints_attribute(std::string_view name, std::initializer_list<int64_t> values) {
  Proto out = attribute(name, 7);
  for (const int64_t value : values) out.integer(field::attribute::kInts, value);
  return out;
}
inline Proto float_attribute(std::string_view name, float value) {
  return attribute(name, 1).fixed(field::attribute::kF, value);
}
inline Proto text_attribute(std::string_view name, std::string_view value) {
  return attribute(name, 3).text(field::attribute::kS, value);
}
inline Proto i64s(std::string_view name, std::initializer_list<int64_t> values) {
  Proto raw;
  for (const int64_t value : values) raw.append_raw(value);
  return tensor(name, kInt64, {static_cast<int64_t>(values.size())}).text(field::tensor::kRawData, raw.bytes);
}
inline Proto floats(std::string_view name, std::initializer_list<int64_t> dims, std::initializer_list<float> values) {
  Proto raw;
  for (const float value : values) raw.append_raw(value);
  return tensor(name, kFloat, dims).text(field::tensor::kRawData, raw.bytes);
}

struct Imported {
  ir::Graph graph;
  ImportReport report;
  Status status;
};
inline Imported import_proto(const Proto& message) {
  Imported result;
  const auto bytes = std::make_shared<std::string>(message.bytes);
  auto read = read_model(std::as_bytes(std::span(*bytes)), {"", bytes});
  if (!read) {
    result.status = std::unexpected(read.error());
    return result;
  }
  result.status = import_model(*read, result.graph, {}, result.report);
  return result;
}

/// The printed graph, or the problems, a line each.
inline std::string text_of(const Imported& imported) {
  if (imported.status) {
    const Status sound = ir::verify(imported.graph);
    return sound ? print(imported.graph) : sound.error().message;
  }
  std::string text;
  for (const Problem& problem : imported.report.errors) text += problem.message + "\n";
  return text.empty() ? imported.status.error().message : text;
}

/// One node that makes `y` of inputs and initializers, imported and printed.
inline std::string import_node(const Proto& node, std::vector<Proto> inputs, std::vector<Proto> initializers = {},
                               int64_t version = 20) {
  return text_of(
      import_proto(model(graph({{node}, std::move(inputs), {value("y")}, std::move(initializers)}), {}, version)));
}

}  // namespace kiln::onnx::test
