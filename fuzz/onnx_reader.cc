// Whatever the bytes are, the ONNX reader accepts or explains; what it accepts can be asked for everything.
#include <cstdint>
#include <span>

#include "onnx/check.h"
#include "onnx/inline_functions.h"
#include "onnx/node_reader.h"
#include "onnx/reader.h"
#include "onnx/tensor_data.h"

namespace kiln::onnx {
namespace {

void demand(bool holds) {
  if (!holds) __builtin_trap();
}

/// An error has words; data is as long as it says, and readable to its last byte.
void use(const Model& model, const TensorDef& tensor) {
  if (const auto data = tensor_data(model, tensor)) {
    demand(static_cast<int64_t>(data->bytes.size()) == (data->num_elements * bits_of(data->type) + 7) / 8);
    volatile uint8_t sink = 0;
    for (const std::byte b : data->bytes) sink = sink + static_cast<uint8_t>(b);
  } else {
    demand(!data.error().message.empty());
  }
  if (const auto texts = tensor_strings(tensor))
    demand(static_cast<int64_t>(texts->size()) == *count_elements(tensor.dims));
}

void use(const Model& model, const GraphDef& graph) {
  for (const TensorDef& tensor : graph.initializers) use(model, tensor);
  for (const NodeDef& node : graph.nodes) {
    NodeReader reader(node);
    for (const AttributeDef& attribute : node.attributes) {
      static_cast<void>(reader.get_int(attribute.name, 0));
      static_cast<void>(reader.get_floats(attribute.name, {}));
      static_cast<void>(reader.get_tensor(attribute.name));
      static_cast<void>(reader.get_graph(attribute.name));
      for (const TensorDef& tensor : attribute.tensors) use(model, tensor);
      for (const auto& body : attribute.graphs) use(model, *body);
    }
  }
}

void read(std::span<const std::byte> bytes) {
  const auto model = read_model(bytes);
  if (!model) return demand(!model.error().message.empty());
  const auto flat = inline_functions(*model);
  if (!flat) return demand(!flat.error().message.empty());
  demand((*flat)->functions.empty());
  const CheckedModel checked = check_model(*flat);
  for (const ModelProblem& problem : checked.problems) demand(!problem.message.empty());
  if (checked.problems.empty()) demand(check_model(checked.model).model == checked.model);  // sorted is sorted
  use(*checked.model, checked.model->graph);
}

}  // namespace
}  // namespace kiln::onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  kiln::onnx::read(std::as_bytes(std::span(data, size)));
  return 0;
}
