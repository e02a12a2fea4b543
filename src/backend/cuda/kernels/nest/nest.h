/// The kernels of nests: generated from a program, one for each way its tensors may lie.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/nest/walk.h"
#include "base/field.h"
#include "tensor/format.h"

namespace kiln::cuda {

/// How a tensor's elements lie along the innermost axis of a walk.
enum class NestLie : char {
  kRow = 'r',   ///< one after another: a vector
  kOne = '1',   ///< one for the whole axis
  kApart = 'a'  ///< any other stride
};

/// The choices that decide a nest kernel's code beside its program; never extents.
struct NestVariant {
  int width = 1;      ///< elements of the innermost axis that a thread takes at once
  std::string lies;   ///< a NestLie an input, then an output; with width 1 all are kApart
  bool wide = false;  ///< 64-bit indices
  int unroll = 1;     ///< vectors that a thread loads before it uses the first

  static void reflect(auto& self, auto f) {
    f("width", self.width), f("lies", self.lies), f("wide", self.wide), f("unroll", self.unroll);
  }
  bool operator==(const NestVariant&) const = default;
  Status check() const;
};
struct NestTuning {
  std::vector<NestVariant> variants;  ///< that the step's code holds, the likeliest first

  static void reflect(auto& self, auto f) { f("variants", self.variants); }
};

/// A tensor of a nest: where its elements lie.
struct NestTensor {
  Format format;
  Extents extents;
  std::optional<AxisStrides> view = std::nullopt;  ///< its strides by axis of output 0, where it is a view
};
/// The axes of inputs that broadcast against output 0, axes aligned at the right. Fails where their ranks do not allow
/// it, and for formats with blocks.
Result<MergedAxes> nest_axes(std::span<const NestTensor> tensors, size_t num_inputs);

/// How a tensor lies along the innermost of these axes.
NestLie lie_of(const MergedAxes& axes, size_t tensor);
/// Whether a kernel of this variant runs these axes.
bool suits(const NestVariant& variant, const MergedAxes& axes);

std::string nest_entry(size_t variant);
inline constexpr int kNestThreads = 256;  ///< of a block at most

/// A variant's launch for given axes: grid and arguments, in which only addresses are missing.
class NestLaunch {
 public:
  NestLaunch(const NestVariant& variant, const MergedAxes& axes, int num_sms);
  /// Whether the kernel may run with these addresses: vectors are aligned to their size.
  const LaunchShape& shape() const { return shape_; }
  bool takes(const void* const* tensors, std::span<const int> element_bytes) const;
  Status run(const Stream& stream, const Function& function, const void* const* tensors);

 private:
  template <class Walk, class Operand>
  struct Arguments {
    Walk walk;
    std::vector<Operand> operands;
  };
  NestVariant variant_;
  LaunchShape shape_;
  bool empty_ = false;
  Arguments<WalkArgument, OperandArgument<int32_t>> narrow_;
  Arguments<WideWalkArgument, OperandArgument<int64_t>> wide_;
  std::vector<void*> pointers_;
};

}  // namespace kiln::cuda
