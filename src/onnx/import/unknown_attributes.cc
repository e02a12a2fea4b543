#include "onnx/import/unknown_attributes.h"

#include <map>
#include <optional>
#include <utility>

namespace kiln::onnx {
namespace {

using Operator = std::pair<std::string_view, std::string_view>;  // domain and name

/// The names of an operator's attributes, a space behind each; absent where the table lacks the operator.
std::optional<std::string_view> attributes_of(const Operator& of) {
  static const std::map<Operator, std::string_view> kTable = {
#define ATTRIBUTES(domain, operation, names) {{domain, #operation}, names},
#include "onnx/attributes.def"
#undef ATTRIBUTES
  };
  const auto found = kTable.find(of);
  return found == kTable.end() ? std::nullopt : std::optional(found->second);
}

bool has_name(std::string_view names, std::string_view name) {
  for (size_t end; (end = names.find(' ')) != names.npos; names.remove_prefix(end + 1))
    if (names.substr(0, end) == name) return true;
  return false;
}

}  // namespace

std::vector<std::string> unknown_attributes(const NodeDef& node) {
  std::vector<std::string> warnings;
  const auto names = attributes_of({node.domain, node.op_type});
  if (!names) return warnings;
  const std::string all = names->empty() ? "it has none" : str("it has ", names->substr(0, names->size() - 1));
  for (const AttributeDef& attribute : node.attributes)
    if (!has_name(*names, attribute.name))
      warnings.push_back(
          str(node, ": attribute '", attribute.name, "' is ignored, since the operator has no such; ", all));
  return warnings;
}

}  // namespace kiln::onnx
