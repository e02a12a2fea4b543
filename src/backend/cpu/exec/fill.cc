#include "steps/fill.h"

#include "backend/cpu/exec/executor.h"
#include "steps/loaded_op.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

/// y[i] = alpha + sum over axes of beta[axis] * i[axis], a row at a time.
template <class T>
struct Ramp {
  std::span<const int64_t> extents;
  std::span<const T> steps;

  T* fill(T* y, T start, size_t axis) const {
    if (axis + 1 >= extents.size()) {
      const int64_t count = extents.empty() ? 1 : extents.back();
      const T step = extents.empty() ? T{} : steps.back();
      for (int64_t i = 0; i < count; ++i) *y++ = static_cast<T>(start + step * static_cast<T>(i));
      return y;
    }
    for (int64_t i = 0; i < extents[axis]; ++i)
      y = fill(y, static_cast<T>(start + steps[axis] * static_cast<T>(i)), axis + 1);
    return y;
  }
};

class BoundFill final : public BoundStep {
 public:
  BoundFill(const ops::Fill& op, const StepSpec& spec, const StepShapes& shapes, std::byte* state)
      : op_(op),
        dtype_(spec.outputs[0].dtype),
        extents_(shapes.outputs[0]),
        alpha_type_(spec.inputs[0].dtype),
        beta_type_(spec.inputs[1].dtype),
        num_steps_(spec.inputs[1].present ? volume(shapes.inputs[1]) : 1),
        first_(initial_random_state(op)),
        state_(state ? reinterpret_cast<RandomState*>(state) : &first_) {}

  Status run(const RunArguments& arguments) override {
    if (op_.operation != FillOperation::kLinspace) return run_random(arguments);
    switch (dtype_) {
      case DType::kF32: return run_ramp<float>(arguments);
      case DType::kF64: return run_ramp<double>(arguments);
      case DType::kI32: return run_ramp<int32_t>(arguments);
      case DType::kI64: return run_ramp<int64_t>(arguments);
      default:
        return error(Code::kUnsupported, "the CPU has no kernel for a ramp of ", dtype_,
                     ", only for f32, f64, i32 and i64");
    }
  }

 private:
  template <class T>
  T number(const void* from, DType dtype, int64_t i, double otherwise) const {
    if (!from) return static_cast<T>(otherwise);
    const auto* bytes = static_cast<const std::byte*>(from);
    if constexpr (std::is_integral_v<T>) return static_cast<T>(load_integer(dtype, bytes, i));
    return static_cast<T>(load_number(dtype, bytes, i));
  }

  template <class T>
  Status run_ramp(const RunArguments& arguments) const {
    T steps[kMaxRank] = {};
    for (size_t axis = 0; axis < extents_.size(); ++axis)
      steps[axis] =
          number<T>(arguments.inputs[1], beta_type_, num_steps_ == 1 ? 0 : static_cast<int64_t>(axis), op_.beta);
    if (volume(extents_) > 0)
      Ramp<T>{extents_, {steps, extents_.size()}}.fill(static_cast<T*>(arguments.outputs[0]),
                                                       number<T>(arguments.inputs[0], alpha_type_, 0, op_.alpha), 0);
    return {};
  }

  Status run_random(const RunArguments& arguments) {
    const auto alpha = number<double>(arguments.inputs[0], alpha_type_, 0, op_.alpha);
    const auto beta = number<double>(arguments.inputs[1], beta_type_, 0, op_.beta);
    const uint64_t key = state_->key;
    const bool uniform = op_.operation == FillOperation::kRandomUniform;
    for (int64_t i = 0; i < volume(extents_); ++i) {
      const uint64_t counter = state_->position++;
      store_number(
          dtype_, static_cast<std::byte*>(arguments.outputs[0]), i,
          uniform ? alpha + (beta - alpha) * random_uniform(key, counter) : alpha + beta * random_normal(key, counter));
    }
    return {};
  }

  const ops::Fill& op_;
  DType dtype_;
  Extents extents_;
  DType alpha_type_, beta_type_;
  int64_t num_steps_;
  RandomState first_;  ///< of a step that no context keeps a generator for
  RandomState* state_;
};

}  // namespace

LoadResult load(const steps::Fill& step, const LoadArguments& arguments) {
  return loaded_op(step.op, [spec = arguments.spec](const Op& op, const StepShapes& shapes, std::byte* state) {
    return std::make_unique<BoundFill>(*op.as<ops::Fill>(), spec, shapes, state);
  });
}

}  // namespace kiln::cpu
