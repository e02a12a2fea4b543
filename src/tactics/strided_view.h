/// Values that movement alone makes of another: kernels that take strides read them where they are.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace kiln {

/// The elements of a value at regular steps in the memory of `source`, which is row-major.
struct StridedView {
  ir::ValueId source = ir::ValueId::kNone;
  sym::Expr offset;        ///< of the first, in elements
  Shape extents, strides;  ///< by the value's axes; a stride of 0 repeats
};

/// The value as it lies in its own memory.
StridedView whole_view(const ir::Graph& graph, ir::ValueId value);

/// Whether the node is a Transpose, Reshape, Squeeze, Unsqueeze, Expand or Slice within bounds.
bool may_be_viewed(const ir::Graph& graph, ir::NodeId id);

/// Whether kernels that read rows may better read what the node moves where it lies before. Rows keep their elements
/// side by side (or in reverse), and are no rows of images, which a format may keep with channels last: views are of
/// row-major memory.
bool keeps_rows_readable(const ir::Graph& graph, ir::NodeId id);

/// The view of `x` that a node makes which may be viewed; nothing where its elements lie at no regular steps, or where
/// that is not known for all values of the symbols.
std::optional<StridedView> moved_view(const ir::Graph& graph, ir::NodeId id, const StridedView& x);

}  // namespace kiln
