/// The same network in other float types: how a backend brings a graph into what its kernels compute in.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace kiln {

/// Decides node by node, in topological order.
class RetypeRules {
 public:
  virtual ~RetypeRules() = default;
  /// The type in which a node computes what was of the float type `was`: its float operands are brought into it, and
  /// its outputs of type `was` have it.
  virtual DType compute_type(const ir::Graph& graph, ir::NodeId node, DType was) = 0;
  /// Whether a convolution keeps w and bias in FP32, in whatever type it computes.
  virtual bool keeps_weights(const ir::Graph&, ir::NodeId) { return false; }
  /// A narrower type to which a node's float operands and results are rounded, though it computes in another one.
  virtual std::optional<DType> rounds_to(const ir::Graph&, ir::NodeId) { return std::nullopt; }
  /// Whether a value may be a number beyond the range of FP16, or of BF16. A cast of it to that type makes it the
  /// largest of its sign.
  virtual bool exceeds_halves(const ir::Graph&, ir::ValueId) { return false; }
  /// Whether an operand keeps FP32 where its node computes in a narrower type, which its kernels allow.
  virtual bool keeps_operand(const ir::Graph&, ir::NodeId, size_t) { return false; }
  /// Whether values that arithmetic makes are rounded to the type that they were of.
  virtual bool rounds_values() const { return false; }
};

/// `graph` anew. Inputs and outputs of the network keep their types, and so do casts of the network to types narrower
/// than FP32, since they change values (docs/adr/0006). Casts stand where types differ, and constants are converted:
/// values beyond a narrower type's range become its largest of their sign, infinities stay.
Result<ir::Graph> retype(const ir::Graph& graph, RetypeRules& rules);

/// Whether a value of the graph has a type for which `is` holds.
bool has_type(const ir::Graph& graph, bool (*is)(DType));

}  // namespace kiln
