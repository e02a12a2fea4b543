/// A tensor copied from its format to another, or to other memory.
#include <cstring>

#include "backend/cpu/exec/executor.h"

namespace kiln::cpu {
namespace {

/// Element by element through strides; equal formats are one memcpy.
class BoundCopy final : public BoundStep {
 public:
  BoundCopy(const StepTensor& from, const StepTensor& to, const Extents& extents)
      : extents_(extents),
        bytes_(size_bytes(from.dtype, 1)),
        total_(size_bytes(from.dtype, volume(extents))),
        plain_(from.format == to.format) {
    if (plain_) return;
    from_ = from.format.strides(extents);
    to_ = to.format.strides(extents);
  }
  Status run(const RunArguments& arguments) override {
    const auto* src = static_cast<const std::byte*>(arguments.inputs[0]);
    auto* dst = static_cast<std::byte*>(arguments.outputs[0]);
    if (plain_) {
      if (total_ > 0) std::memcpy(dst, src, static_cast<size_t>(total_));
    } else if (total_ > 0) {
      copy_axis(src, dst, 0);
    }
    return {};
  }

 private:
  void copy_axis(const std::byte* src, std::byte* dst, size_t axis) const {
    if (axis == extents_.size()) {
      std::memcpy(dst, src, static_cast<size_t>(bytes_));
      return;
    }
    for (int64_t i = 0; i < extents_[axis]; ++i)
      copy_axis(src + i * from_[axis] * bytes_, dst + i * to_[axis] * bytes_, axis + 1);
  }

  Extents extents_, from_, to_;
  int64_t bytes_, total_;
  bool plain_;
};

class LoadedCopy final : public LoadedStep {
 public:
  explicit LoadedCopy(const StepSpec& spec) : from_(spec.inputs[0]), to_(spec.outputs[0]) {}
  Result<std::unique_ptr<BoundStep>> bind(const StepShapes& shapes) const override {
    return std::make_unique<BoundCopy>(from_, to_, shapes.inputs[0]);
  }

 private:
  StepTensor from_, to_;
};

}  // namespace

Result<std::unique_ptr<LoadedStep>> load_copy(const LoadArguments& arguments) {
  return std::make_unique<LoadedCopy>(arguments.spec);
}

}  // namespace kiln::cpu
