/// The precision that a program set for a layer of a weakly typed network (ILayer::setPrecision).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"

namespace kiln::ir {

struct Precision {
  DType type;
  bool required = false;  ///< where it cannot be, the build fails; else it goes on
};

/// Gives a node the precision of a layer: an entry of its provenance, such as "precision f16 of 'conv1'", so that it
/// goes where the layer goes, whatever passes make of it, and is seen where provenance is shown.
void set_precision(Graph& graph, NodeId id, std::string_view layer, const Precision& precision);

/// Takes it away again.
void clear_precision(Graph& graph, NodeId id);

/// The precision of a node; none if no layer that it is made of has one. Of several, FP32 comes first, then the other
/// floats, BF16 before FP16: nobody who asked for range or digits is denied them.
std::optional<Precision> precision_of(const Node& node);

/// The same for floats that kernels compute in alone.
std::optional<DType> float_precision_of(const Node& node);

/// Whether any node of the graph has a precision for which `is` holds.
bool has_precision(const Graph& graph, bool (*is)(DType));

}  // namespace kiln::ir
