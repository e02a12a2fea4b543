#include "collection.h"

#include <cstring>

#include "base/mapped_file.h"
#include "onnx/dtypes.h"
#include "onnx/importer.h"
#include "onnx/reader.h"
#include "onnx/tensor_data.h"
#include "ops/constant.h"

namespace kiln {
namespace {

/// Multiplies FP32 elements, which may lie at any address, by 0.94 to 1.06.
void change(std::span<const std::byte> elements) {
  auto* bytes = const_cast<std::byte*>(elements.data());
  for (size_t i = 0; i + 4 <= elements.size(); i += 4) {
    float number;
    std::memcpy(&number, bytes + i, 4);
    number *= 0.94f + static_cast<float>(i * 2654435761u % 8191) / 8191 * 0.12f;
    std::memcpy(bytes + i, &number, 4);
  }
}

/// Raw elements and packed floats are read where they are in the file.
bool lies_in(std::span<const std::byte> elements, std::span<const std::byte> file) {
  return elements.data() >= file.data() && elements.data() < file.data() + file.size();
}

}  // namespace

Result<WeightedGraph> model_with_other(const std::string& path, const std::set<std::string, std::less<>>& names) {
  const auto file = TRY(MappedFile::open(path));
  const auto bytes = std::make_shared<std::vector<std::byte>>(file->bytes().begin(), file->bytes().end());
  const auto model = TRY(onnx::read_model(*bytes, {onnx::folder_of(path), bytes}));
  WeightedGraph result;
  for (const onnx::TensorDef& tensor : model->graph.initializers) {
    if (tensor.type != onnx::ElementType::kFloat) continue;
    const onnx::TensorData data = TRY(onnx::tensor_data(*model, tensor));
    if (names.contains(tensor.name) && lies_in(data.bytes, *bytes)) change(data.bytes);
    result.weights.emplace(std::string(tensor.name), TRY(onnx::host_tensor(data)));
  }
  onnx::ImportReport report;
  TRY(onnx::import_model(model, result.graph, {}, report));
  for (int i = 0; i < result.graph.num_nodes(); ++i) {
    const auto id = static_cast<ir::NodeId>(i);
    const auto* constant = result.graph.alive(id) ? result.graph.node(id).op.as<ops::Constant>() : nullptr;
    if (constant && constant->origin && !constant->origin->source.empty())
      result.weights.emplace(constant->origin->source, constant->value);
  }
  return result;
}

ProfileRequest fixed_profile(const ir::Graph& graph) {
  ProfileRequest profile;
  for (const ir::ValueId input : graph.inputs()) {
    Extents extents;
    int64_t unknown = 1;
    for (const sym::Expr& extent : graph.type(input).shape) {
      extents.push_back(extent.constant().value_or(unknown));
      if (!extent.constant()) unknown = 128;
    }
    profile.extents[graph.value(input).name] = {extents, extents, extents};
  }
  return profile;
}

}  // namespace kiln
