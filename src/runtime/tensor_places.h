/// Where the tensors of a block's steps are in memory.
#pragma once

#include <optional>

#include "base/function_ref.h"
#include "runtime/binding.h"
#include "runtime/engine.h"
#include "runtime/runner.h"
#include "runtime/shape_state.h"

namespace kiln::runtime {

/// The address of tensor `id`, which is no view; nothing if it is that of each run. `is_view`: a view of it is read.
using AddressOf = FunctionRef<Result<std::optional<std::byte*>>(int id, const plan::Tensor& whole, bool is_view)>;

/// The pointers of a segment's steps. All symbols that these use must be known.
Result<StepPointers> place_steps(const plan::Block& block, const plan::Segment& segment,
                                 std::span<const int64_t> symbols, AddressOf address);
/// The address of a weight, or of the weight that a view shows.
Result<std::byte*> weight_address(const HostTensor& value, bool is_view, Runner& runner);

/// The pointers of a segment's steps of a binding whose memory is there. All symbols that they use must be known.
Result<StepPointers> place_tensors(Binding& binding, const plan::Segment& segment, const Engine& engine,
                                   const ShapeState& shapes, const IoAddresses& addresses, Runner& runner);

}  // namespace kiln::runtime
