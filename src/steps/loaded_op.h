/// Steps that hold an op, and keep what it keeps from run to run.
#pragma once

#include "ops/fill.h"
#include "ops/reference_context.h"
#include "steps/by_function.h"
#include "steps/keeps_state.h"

namespace kiln {

/// A step that `bind` binds to (const Op&, const StepShapes&, std::byte* state), as loaded_step does.
template <class Bind>
std::unique_ptr<LoadedStep> loaded_op(Op op, Bind bind) {
  class Loaded final : public KeepsState {
   public:
    Loaded(Op op, Bind bind) : op_(std::move(op)), bind_(std::move(bind)) {}
    std::vector<std::byte> initial_state() const override { return kiln::initial_state(op_); }

   private:
    BindResult bind_checked(const StepShapes& shapes, std::byte* state) const override {
      return bind_(op_, shapes, state);
    }
    Op op_;
    Bind bind_;
  };
  return std::make_unique<Loaded>(std::move(op), std::move(bind));
}

/// The tensors of a step as a reference takes them, their data not yet known. It moves, and is not copied.
class ReferenceTensors {
 public:
  ReferenceTensors(const StepTypes& types, const StepShapes& shapes, size_t num_sizes);
  ReferenceTensors(ReferenceTensors&&) = default;
  /// `sizes` takes those that the run decides, all of them.
  ReferenceContext context(std::byte* state, int64_t* sizes) const {
    return {inputs, outputs, state, {sizes, num_sizes_}};
  }

  std::vector<ReferenceTensor> inputs, outputs;

 private:
  std::vector<Extents> input_extents_, output_extents_;
  size_t num_sizes_;
};

}  // namespace kiln
