/// Where operators come from that no importer takes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/plugin.h"

namespace kiln::onnx {

/// A node as a plugin's creator sees it.
struct PluginNode {
  PluginIdentity identity;
  std::string_view layer;  ///< the node's name
  std::span<const PluginField> attributes;
};

class PluginSource {
 public:
  virtual ~PluginSource() = default;
  virtual bool knows(const PluginIdentity& identity) = 0;
  /// The attributes of a node that its plugin is made of; others may be anything.
  virtual Result<std::vector<PluginFieldDescription>> attributes_of(const PluginIdentity& identity) = 0;
  /// The op without its number of tensors.
  virtual Result<ops::Plugin> make(const PluginNode& node) = 0;
  /// Whether the next input of a plugin that `make` made, behind inputs of types `before`, may be an INT32 and not an
  /// INT64, which exports have in its place.
  virtual bool needs_int32(const ops::Plugin& made, std::span<const DType> before) = 0;
};

}  // namespace kiln::onnx
