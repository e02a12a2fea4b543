/// Graphs in attributes of a node, imported as bodies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "onnx/import/context.h"

namespace kiln::onnx {

/// One of a body's own inputs: a value of this type or, where it is always the same, a constant or a value of the graph
/// around, which is among the captures.
struct BodyInput {
  std::string_view name;  ///< empty: the model has no name for it
  TensorType type;
  std::optional<HostTensor> constant;
  ValueId captured = ValueId::kNone;

  bool varies() const { return !constant && captured == ValueId::kNone; }
};

/// What a body gives: a tensor, or where that is kNone a sequence of its position.
struct BodyResults {
  Values values;
  std::map<size_t, Sequence> sequences;
  std::vector<std::string> warnings;  ///< of its import: whoever keeps the body passes them on (BodyImporter::warn)
};

struct ImportedBody {
  std::shared_ptr<ir::Graph> graph;  ///< its inputs are those of the body that are no constants, then the captures
  BodyResults outputs;               ///< not yet marked as the graph's
  std::vector<std::pair<ValueId, ValueId>> copies;  ///< captures and constants of the body, and what they are outside
};

/// Makes the sequences among a body's own inputs, of the inputs that its graph has by then.
using MakeSequences = std::function<Result<Sequences>(ir::Graph& body)>;

/// What a body's own inputs are where it stands in the place of its node.
struct BodyArguments {
  std::map<std::string_view, ValueId> values;
  Sequences sequences;
  std::string suffix;  ///< of the names of nodes
};

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
  virtual Result<ImportedBody> import(const GraphDef& body, std::span<const BodyInput> inputs, const Captures& captures,
                                      const MakeSequences& make_sequences = {}) = 0;
  /// Imports a body into the graph around it. Fails with the body's first problem.
  virtual Result<BodyResults> import_here(const GraphDef& body, const BodyArguments& arguments) = 0;
  /// Whether a value of the graph with the node is an input of the network, or in a body what the body reads of one.
  virtual bool is_network_input(ValueId value) const = 0;
  /// Passes on the warnings of a body that becomes a part of the graph around it, each once.
  virtual void warn(std::span<const std::string> warnings) = 0;
};

/// Whether outputs of two branches have one rank each, or are single elements, which are brought to one rank.
bool ranks_agree(const ImportedBody& a, const ImportedBody& b);

/// The single elements that an If or a Loop reads: scalars, or lists of one.
Result<ValueId> single(ImportContext& cx, size_t input, std::string_view what);

}  // namespace kiln::onnx
