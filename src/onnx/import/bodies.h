/// Graphs in attributes of a node, imported as bodies.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/import/context.h"

namespace kiln::onnx {

/// One of a body's own inputs: a value of this type or, where it is always the same, a constant.
struct BodyInput {
  std::string_view name;
  TensorType type;
  std::optional<HostTensor> constant;
};

struct ImportedBody {
  std::shared_ptr<ir::Graph> graph;  ///< its inputs are those of the body that are no constants, then the captures
  Values outputs;                    ///< not yet marked as the graph's
  std::vector<std::pair<ValueId, ValueId>> copies;  ///< captures and constants of the body, and what they are outside
  std::vector<std::string> warnings;
};

/// Marks the outputs of a body, but the first `skipped` ones, as those of its graph.
void mark_outputs(const ImportedBody& imported, const GraphDef& body, size_t skipped = 0);

/// What bodies read of the graph around them: no constants, which each body has a copy of.
struct Captures {
  std::vector<std::string_view> names;  ///< of tensors and sequences
  Values values;                        ///< of the graph around, each once
};

class BodyImporter {
 public:
  virtual ~BodyImporter() = default;
  virtual Result<Captures> captures(std::span<const GraphDef* const> bodies) = 0;
  /// Fails with the body's first problem.
  virtual Result<ImportedBody> import(const GraphDef& body, std::span<const BodyInput> inputs,
                                      const Captures& captures) = 0;
  /// Whether a value of the graph with the node is an input of the network, or in a body what the body reads of one.
  virtual bool is_network_input(ValueId value) const = 0;
  /// Passes on the warnings of a body that becomes a part of the graph around it.
  virtual void warn(std::span<const std::string> warnings) = 0;
};

/// The single elements that an If or a Loop reads: scalars, or lists of one.
Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what);

}  // namespace kiln::onnx
