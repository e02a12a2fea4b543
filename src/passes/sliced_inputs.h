/// Tensors around a loop of which each iteration reads one slice.
#pragma once

#include "ir/graph.h"

namespace kiln::passes {

/// A tensor around a loop, of which each iteration reads one slice.
struct SlicedInput {
  ir::ValueId whole = ir::ValueId::kNone;  ///< of the graph around the loop
  int axis = 0;                            ///< the slices are along it
  int direction = 1;                       ///< -1: the last slice comes first
  int64_t width = 0;                       ///< elements of a slice that a row has, as whoever asked for it knows
};

/// A loop whose iterations follow from the extents of what they read, one after the other.
class SlicedInputs {
 public:
  /// `body` is the loop's, or a copy of it. Fails where a condition or data may end the loop.
  static Result<SlicedInputs> of(const ir::Graph& graph, ir::NodeId loop, const ir::Graph& body);

  sym::Expr trips() const { return trips_; }
  /// What a value of the body is slices of. Fails unless iterations read all slices.
  Result<SlicedInput> find(ir::ValueId value) const;

 private:
  SlicedInputs(const ir::Graph& graph, ir::NodeId loop, const ir::Graph& body)
      : graph_(graph), loop_(loop), body_(body) {}
  Status find_trips();
  bool is_number(ir::ValueId value) const;
  bool counts_iterations(ir::ValueId value) const;
  int direction_of(ir::ValueId index) const;
  ir::ValueId captured(ir::ValueId value) const;
  Result<SlicedInput> gathered(const ir::Node& node) const;
  Result<SlicedInput> sliced(ir::NodeId slice) const;
  Status require_whole(const SlicedInput& input) const;

  const ir::Graph& graph_;
  const ir::NodeId loop_;
  const ir::Graph& body_;
  sym::Expr trips_ = 0;
};

}  // namespace kiln::passes
