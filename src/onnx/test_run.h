/// Runs a node that was imported from ONNX by the references of its ops, for tests of what importers compose.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret.h"
#include "onnx/test_import.h"
#include "tensor/view.h"

namespace kiln::onnx::test {

/// An input of a node: its type in the model, and its elements in the type that the network has for it.
struct Fed {
  int64_t type;
  HostTensor tensor;
};
inline Fed fed(int64_t type, DType dtype, Extents extents, const std::vector<double>& numbers) {
  return {type, HostTensor::of(dtype, std::move(extents), numbers)};
}
inline Fed fed_ints(int64_t type, DType dtype, Extents extents, const std::vector<int64_t>& numbers) {
  return {type, HostTensor::of_ints(dtype, std::move(extents), numbers)};
}

inline Proto value_of(std::string_view name, const Fed& input) {
  const Extents& e = input.tensor.extents();
  switch (e.size()) {
    case 0: return value(name, input.type);
    case 1: return value(name, input.type, {e[0]});
    case 2: return value(name, input.type, {e[0], e[1]});
    case 3: return value(name, input.type, {e[0], e[1], e[2]});
    default: return value(name, input.type, {e[0], e[1], e[2], e[3]});
  }
}

/// The raw data of one INT64.
inline std::string i64_bytes(int64_t number) { return Proto().append_raw(number).bytes; }

/// Output y of nodes that read the inputs a, b, c, d, e; an empty tensor where that fails, which is a test's failure.
inline HostTensor run_nodes(const std::vector<Proto>& nodes, const std::vector<Fed>& inputs,
                            std::vector<Proto> initializers = {}, int64_t version = 24) {
  constexpr std::string_view kNames[] = {"a", "b", "c", "d", "e"};
  std::vector<Proto> values;
  std::vector<HostTensor> tensors;
  for (const Fed& input : inputs) {
    values.push_back(value_of(kNames[values.size()], input));
    tensors.push_back(input.tensor);
  }
  const Imported imported =
      import_proto(model(graph({nodes, values, {value("y")}, std::move(initializers)}), {}, version));
  EXPECT_TRUE(imported.status) << text_of(imported);
  if (!imported.status) return {};
  const auto y = ir::interpret(imported.graph, tensors);
  EXPECT_TRUE(y) << y.error().message;
  return y ? (*y)[0] : HostTensor();
}

inline std::vector<double> numbers_of(const HostTensor& tensor) { return View(tensor).numbers(); }
inline std::vector<int64_t> ints_of(const HostTensor& tensor) { return View(tensor).integers(); }

}  // namespace kiln::onnx::test
