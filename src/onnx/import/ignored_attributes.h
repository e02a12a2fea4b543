/// Attributes that change nothing. A model that has one was written by mistake, for a newer operator, or for what Kiln
/// does not do.
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/model.h"
#include "onnx/node_reader.h"

namespace kiln::onnx {

/// The meaning of an attribute for its node's operator. kUnknown: of an operator that the table lacks.
enum class AttributeMeaning { kUnknown, kNone, kDefault, kOther };
AttributeMeaning meaning_of(const NodeDef& node, const AttributeDef& attribute);

/// A warning for each attribute of the node that no version of its operator has, and which its importer thus ignores.
/// None for operators without an importer.
std::vector<std::string> unknown_attributes(const NodeDef& node);

/// A warning for each domain, operator and attribute, about the first node that has it.
using UnreadAttributes = std::map<std::array<std::string_view, 3>, std::string>;

/// Adds the attributes that the node's operator has and that its importer has not read. An attribute whose value is the
/// operator's default is none of them.
void note_unread(const NodeDef& node, const NodeReader& read, UnreadAttributes& warnings);

}  // namespace kiln::onnx
