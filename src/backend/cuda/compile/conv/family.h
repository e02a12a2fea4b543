/// What makes the kernels of a family of convolutions; each has a file of its own, which makes its row.
#pragma once

#include <array>

#include "backend/cuda/compile/conv/conv.h"
#include "backend/cuda/kernels/conv/family.h"

namespace kiln::cuda {

/// Collects the kernels that are worth timing for a convolution.
struct ConvSearch {
  const ConvTraits& traits;
  const Machine& machine;
  std::vector<ConvCandidate> found = {};

  /// A kernel of a family, what it is compiled for left to choose.
  template <class T>
  T kernel() const {
    T kernel;
    kernel.types = traits.types;
    if constexpr (requires { kernel.transposed; }) kernel.transposed = traits.transposed;
    if constexpr (requires { kernel.joined; }) kernel.joined = traits.joined;
    if constexpr (std::derived_from<T, ConvTiled>) kernel.vec = traits.vec();
    return kernel;
  }
  /// Whether tensor cores may multiply, with a filter that can be packed.
  bool takes_tensor_cores() const;
  /// The paddings of channels that are worth trying, and 0: none.
  std::vector<int64_t> paddings() const;
  /// By the tile and splits alone; tensor cores or FMA do so many operations a cycle and multiprocessor.
  double product_us(const ConvParameters& kernel, const TileShape& tile, int64_t splits, double flops_per_cycle) const;
  int64_t multiprocessors() const { return static_cast<int64_t>(machine.multiprocessors); }
};

struct ConvSource {
  const ConvFamily* family;
  std::string_view file;
  bool takes_joined = false;                    ///< its text is a function `run`, and its entry is generated
  bool calls_wgmma = false;                     ///< of as many columns as its tile has
  bool x_is_right = false;                      ///< w is the left operand of what it multiplies
  std::array<std::string_view, 2> unread = {};  ///< fields that its text does not read
  void (*search)(ConvSearch& search);
};
#define FAMILY(Name) extern const ConvSource kConv##Name##Source;
#include "backend/cuda/kernels/conv/families.def"
#undef FAMILY

/// How much slower tensor cores are where x comes in pieces.
constexpr double rate_of_pieces(int64_t piece) { return piece == 16 ? 1 : piece == 8 ? 0.6 : 0.25; }

}  // namespace kiln::cuda
