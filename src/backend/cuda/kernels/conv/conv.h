/// Convolutions on the GPU: a kernel as a plan has it, what it makes of w, and how it is launched for given extents.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/conv/arguments.h"
#include "backend/cuda/kernels/gemm/epilogue.h"
#include "backend/cuda/kernels/gemm/hopper.h"
#include "steps/contraction_types.h"
#include "tensor/extents.h"

namespace kiln::cuda {

/// A family of kernels: family.h.
struct ConvFamily;
const FieldType& field_type(Tag<const ConvFamily*>);  ///< its name

using ConvArguments = ConvArgumentsOf<void, void, void, EpilogueArguments>;

using PadArguments = PadArgumentsOf<void>;

/// A filter's canonical extents: [out, in / groups, kernel...], or of a deconvolution [in, out / groups, kernel...].
struct FilterExtents {
  int64_t groups = 1, in_channels = 1, out_channels = 1, taps = 1;  ///< channels of one group
  /// Fails where kernels could not count them.
  static Result<FilterExtents> of(std::span<const int64_t> w, int64_t groups, bool transposed);
};
/// How x is read pixel by pixel: what the driver is asked to encode. Axes are channels, width, height, images.
struct PixelMapPlan {
  int type = 0;
  uint64_t extents[4] = {1, 1, 1, 1}, strides_bytes[3] = {16, 16, 16};
  /// Corners of the first tap's positions, width and height; `upper` from the end.
  int lower[2] = {0, 0}, upper[2] = {0, 0};
  uint32_t channels = 1, pixels = 1, steps[4] = {1, 1, 1, 1};
  int swizzle = kSwizzle128;
};

/// The most pixels of y, and the most channels. Kernels round to whole tiles as they count them, in 32 bits.
constexpr int64_t kMostConvRows = (int64_t{1} << 31) - 1024;

/// Entry of the launch in front of a kernel that pads channels.
inline constexpr const char* kPadChannels = "pad_channels";
/// Entry of the second launch of a kernel with splits.
inline constexpr const char* kConvReduce = "conv_reduce";

/// The launches of a convolution; `main` first, then, where `reduce_vectors` is not 0, kConvReduce.
struct ConvLaunch {
  LaunchShape main, reduce;
  int64_t reduce_vectors = 0;
  int64_t workspace_bytes = 0;
  std::optional<MapPlan> map_w;
  std::optional<PixelMapPlan> map_x, map_x_behind;     ///< the latter where x is two tensors
  std::optional<MapPlan> map_tiles, map_tiles_behind;  ///< of x, where it is read in tiles
  LaunchShape pad;
  PadArguments pad_arguments;  ///< with pixels where the kernel pads
  int64_t padded_bytes = 0;    ///< of the workspace, in front of partial sums
};
/// What a step has to know of its kernel.
struct ConvFacts {
  bool transposed = false;      ///< of a deconvolution; by phases (phases.h) where it packs w and does not shuffle
  bool channels_last = true;    ///< what neighbouring threads read
  bool any_order = false;       ///< x and y may lie in other orders all the same
  bool reads_pictures = false;  ///< x lies in any order, at best channels first, as pictures come
  bool packs_filter = true;     ///< w in an order of its own, which pack() makes; else as the plan has it
  bool joined = false;          ///< x is two tensors, one's channels behind the other's
  bool shuffle = false;         ///< a deconvolution whose kernel is its stride, as one product
  bool sums_parts = false;      ///< a second launch, kConvReduce
  bool pads_with_zero = false;  ///< of x of bytes with a zero point: pads are that, and may be there
  int64_t pad_channels = 0;     ///< a launch in front, kPadChannels, pads x to so many; 0: none does
};

/// The choices that a kernel is compiled for. Each family has a struct of its own (mma.h, ...), of which this is the
/// first base.
struct ConvParameters {
  const ConvFamily* family;
  ContractionTypes types;  ///< w may be FP32 where x is not

  explicit ConvParameters(const ConvFamily& of) : family(&of) {}
  virtual ~ConvParameters() = default;
  static void reflect(auto& self, auto f) { f("family", self.family), f("types", self.types); }

  virtual std::string name() const = 0;
  virtual Status check_own() const = 0;  ///< the parameters of the family alone
  virtual ConvFacts facts() const { return {}; }
  virtual int64_t alignment() const { return 16; }  ///< bytes, of the addresses of its tensors
  /// Whether it can have such a filter, all its own parameters being sound.
  virtual bool takes(const FilterExtents& filter) const = 0;
  /// The elements of a filter in the kernel's order.
  virtual Bytes pack(const FilterExtents& filter, std::span<const std::byte> elements) const;
  /// Sets channels, the strides of w and, where it is split, the window's taps.
  virtual void set_filter(const FilterExtents& filter, ConvArguments& arguments) const;
  /// Sets `arguments.splits`, which is 1, and, where the kernel pads, the strides of what it reads.
  virtual Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const = 0;

  Status check() const;
  /// w is packed as what half precision keeps of it and what it loses: both are multiplied with the same x.
  bool splits_filter() const;
  /// Channels of x that the kernel sees.
  int64_t channels_read(const FilterExtents& filter) const;
  /// Elements from one output channel of a packed filter to the next: whole 16-byte pieces.
  int64_t packed_pitch(const FilterExtents& filter) const;
};

/// A kernel of any family; immutable, cheap to copy.
class ConvKernel {
 public:
  ConvKernel();  ///< some kernel: what fields of this type begin as
  template <std::derived_from<ConvParameters> T>
  ConvKernel(T parameters) : parameters_(std::make_shared<const T>(std::move(parameters))) {}
  explicit ConvKernel(std::shared_ptr<const ConvParameters> parameters) : parameters_(std::move(parameters)) {}

  const ConvParameters& operator*() const { return *parameters_; }
  const ConvParameters* operator->() const { return parameters_.get(); }
  /// The parameters of a family, or null if it is of another.
  template <class T>
  const T* as() const {
    return dynamic_cast<const T*>(parameters_.get());
  }
  Result<ConvLaunch> plan(ConvArguments& arguments, int64_t multiprocessors) const {
    arguments.splits = 1;
    return parameters_->plan(arguments, multiprocessors);
  }

 private:
  std::shared_ptr<const ConvParameters> parameters_;
};
const FieldType& field_type(Tag<ConvKernel>);  ///< the record of its parameters

/// Turns the arguments of a deconvolution whose kernel equals its stride into those of a matrix product.
Status shuffle_taps(ConvArguments& arguments);

}  // namespace kiln::cuda
