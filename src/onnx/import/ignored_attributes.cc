#include "onnx/import/ignored_attributes.h"

#include <charconv>
#include <optional>
#include <utility>

namespace kiln::onnx {
namespace {

using Operator = std::pair<std::string_view, std::string_view>;  // domain and name

struct Known {
  std::string_view name;
  std::optional<std::string_view> value;  // the default, as text_of has it; absent where there is none
};

/// The entries of a row of attributes.def: "alpha=0.01 axes ".
std::vector<Known> parse(std::string_view row) {
  std::vector<Known> entries;
  for (size_t end; (end = row.find(' ')) != row.npos; row.remove_prefix(end + 1)) {
    const std::string_view entry = row.substr(0, end);
    const size_t sign = entry.find('=');
    if (sign == entry.npos)
      entries.push_back({entry, std::nullopt});
    else
      entries.push_back({entry.substr(0, sign), entry.substr(sign + 1)});
  }
  return entries;
}

struct Row {
  std::string_view domain, operation, names;
};
constexpr Row kRows[] = {
#define ATTRIBUTES(domain, operation, names) {domain, #operation, names},
#include "onnx/attributes.def"
#undef ATTRIBUTES
};

/// An operator's attributes; null where the table lacks the operator.
const std::vector<Known>* attributes_of(const Operator& of) {
  // Filled row by row: as one initializer list, whose parts are all destroyed if one throws, it compiled for 20 s.
  static const std::map<Operator, std::vector<Known>> kTable = [] {
    std::map<Operator, std::vector<Known>> table;
    for (const Row& row : kRows) table.try_emplace({row.domain, row.operation}, parse(row.names));
    return table;
  }();
  const auto found = kTable.find(of);
  return found == kTable.end() ? nullptr : &found->second;
}

const Known* find_known(const std::vector<Known>& known, std::string_view name) {
  for (const Known& entry : known)
    if (entry.name == name) return &entry;
  return nullptr;
}

/// The value of a number or a text; what kind it is where it is anything else.
std::string text_of(const AttributeDef& attribute) {
  switch (attribute.kind) {
    case AttributeKind::kInt: return str(attribute.i);
    case AttributeKind::kString: return std::string(attribute.s);
    case AttributeKind::kInts: return str(attribute.ints);
    case AttributeKind::kFloat: {
      std::array<char, 32> text;  // the shortest that reads back the same has at most 16 characters
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), attribute.f).ptr};
    }
    default: return str("a ", attribute.kind);
  }
}

}  // namespace

AttributeMeaning meaning_of(const NodeDef& node, const AttributeDef& attribute) {
  const auto* const known = attributes_of({node.domain, node.op_type});
  if (!known) return AttributeMeaning::kUnknown;
  const Known* const entry = find_known(*known, attribute.name);
  if (!entry) return AttributeMeaning::kNone;
  return entry->value == text_of(attribute) ? AttributeMeaning::kDefault : AttributeMeaning::kOther;
}

std::vector<std::string> unknown_attributes(const NodeDef& node) {
  std::vector<std::string> warnings;
  const auto* const known = attributes_of({node.domain, node.op_type});
  if (!known) return warnings;
  std::string all = known->empty() ? "it has none" : "it has";
  for (const Known& entry : *known) all += str(' ', entry.name);
  for (const AttributeDef& attribute : node.attributes)
    if (!find_known(*known, attribute.name))
      warnings.push_back(
          str(node, ": attribute '", attribute.name, "' is ignored, since the operator has no such; ", all));
  return warnings;
}

void note_unread(const NodeDef& node, const NodeReader& read, UnreadAttributes& warnings) {
  const auto* const known = attributes_of({node.domain, node.op_type});
  if (!known) return;
  for (const AttributeDef& attribute : read.unread()) {
    const Known* const entry = find_known(*known, attribute.name);
    if (!entry || entry->value == text_of(attribute)) continue;  // unknown_attributes tells of the former
    warnings.try_emplace(
        {node.domain, node.op_type, attribute.name},
        str(node, ": attribute '", attribute.name, "' is ignored, since Kiln does not read it here; it is ",
            text_of(attribute), entry->value ? str(", the default is ", *entry->value) : ""));
  }
}

}  // namespace kiln::onnx
