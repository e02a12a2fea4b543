/// Reads the attributes of an ONNX node, and knows which of them were read.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "onnx/model.h"

namespace kiln::onnx {

/// What an importer never asks for has no effect, which the model's author should know: see unread().
class NodeReader {
 public:
  explicit NodeReader(const NodeDef& node) : node_(node), is_read_(node.attributes.size(), false) {}

  const AttributeDef* find(std::string_view attribute);  ///< null if absent

  // The value of an attribute, or `otherwise` where it is absent. An attribute of another kind is an error that names
  // it.
  Result<int64_t> get_int(std::string_view attribute, int64_t otherwise);
  Result<float> get_float(std::string_view attribute, float otherwise);
  Result<std::string_view> get_string(std::string_view attribute, std::string_view otherwise);
  Result<std::vector<int64_t>> get_ints(std::string_view attribute, std::vector<int64_t> otherwise);
  Result<std::vector<float>> get_floats(std::string_view attribute, std::vector<float> otherwise);
  Result<std::vector<std::string_view>> get_strings(std::string_view attribute);  ///< empty where absent
  Result<const TensorDef*> get_tensor(std::string_view attribute);                ///< null where absent
  Result<const GraphDef*> get_graph(std::string_view attribute);                  ///< null where absent

  // The value of an attribute that must be there.
  Result<int64_t> need_int(std::string_view attribute);
  Result<std::string_view> need_string(std::string_view attribute);
  Result<std::vector<int64_t>> need_ints(std::string_view attribute);
  Result<Ref<const GraphDef>> need_graph(std::string_view attribute);

  /// Counts an attribute as read whose value changes nothing that the importer makes.
  void pass_over(std::string_view attribute) { find(attribute); }
  std::vector<Ref<const AttributeDef>> unread() const;  ///< the attributes that nobody asked for, in the node's order

 private:
  Result<const AttributeDef*> find_of_kind(std::string_view name, AttributeKind kind);
  Result<Ref<const AttributeDef>> need_of_kind(std::string_view name, AttributeKind kind);

  const NodeDef& node_;
  std::vector<bool> is_read_;  // by attribute of the node
};

}  // namespace kiln::onnx
