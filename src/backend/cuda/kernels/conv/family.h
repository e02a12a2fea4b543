/// What a family of kernels of convolutions is, and what families share. Each has a header with its parameters and a
/// file that makes its row.
#pragma once

#include <algorithm>

#include "backend/cuda/kernels/conv/conv.h"
#include "backend/cuda/kernels/gemm/gemm.h"
#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {

/// What a family does with FP32 weights of halves.
enum class FloatWeights : uint8_t {
  kNone,  ///< it takes none
  kRead,  ///< it reads weights as they are, those of bytes too
  kSplit  ///< it multiplies by two halves: what half precision keeps of them and what it loses
};

struct ConvFamily {
  std::string_view name;
  const char* entry;
  FloatWeights float_weights = FloatWeights::kNone;
  bool takes_bytes = false;  ///< ContractionTypes::is_of_bytes
  std::span<const Field> (*fields)();
  std::shared_ptr<ConvParameters> (*make)();
};
#define FAMILY(Name) extern const ConvFamily kConv##Name;
#include "backend/cuda/kernels/conv/families.def"
#undef FAMILY
/// The row of the family with parameters T.
template <class T>
constexpr ConvFamily conv_family(std::string_view name, const char* entry, FloatWeights weights = FloatWeights::kNone,
                                 bool takes_bytes = false) {
  return {name,        entry,        weights,
          takes_bytes, fields_of<T>, []() -> std::shared_ptr<ConvParameters> { return std::make_shared<T>(); }};
}

/// A kernel of tensor cores: warps share a tile; channels last.
struct ConvTiled : ConvParameters {
  TileShape tile;
  int64_t vec = 1;  ///< channels that are stored at once

  using ConvParameters::ConvParameters;
  static void reflect(auto& self, auto f) {
    ConvParameters::reflect(self, f), f("tile", self.tile), f("vec", self.vec);
  }
  Status check_own() const override { return check_tile(8); }
  bool takes(const FilterExtents& filter) const override { return filter.out_channels % vec == 0; }

 protected:
  /// Fails unless a kernel can have the tile, and vectors of at most so many channels.
  Status check_tile(int64_t most_channels) const;
  /// Whether one block has all out channels, and a warp's group at most so many sums a thread.
  bool has_all_channels(const FilterExtents& filter, int64_t most_sums) const {
    return filter.groups == 1 && filter.out_channels <= tile.bm && (tile.bm == 64 || tile.bm == 128) &&
           tile.bn % 16 == 0 && tile.bn * tile.bm / 64 <= most_sums;
  }
};

/// Bytes of a Chunk (conv/columns.cuh), of which each group of warps has two.
inline constexpr int64_t kChunkBytes = 16 * 68 * 4;
/// Bytes that an epilogue reads at once, FP32 at most.
constexpr int64_t conv_vector_bytes(int64_t vec) { return std::min<int64_t>(16, vec * 4); }
inline Status require_range(int64_t value, int64_t least, int64_t most, std::string_view what) {
  return require(value >= least && value <= most, "a convolution has ", value, ' ', what);
}
/// Fails unless the value is a power of two, `most` at most.
inline Status require_width(int64_t value, int64_t most, std::string_view what) {
  return require(is_width(value, most), "a convolution has ", value, ' ', what);
}
/// Whether the window is the one that was compiled: of pictures, by so many taps and steps.
bool is_picture_window(const ConvWindow& window, int64_t kernel_h, int64_t kernel_w, int64_t stride_h,
                       int64_t stride_w);

/// A grid of so many blocks.
Status set_conv_grid(LaunchShape& shape, int64_t blocks, int64_t threads, int64_t multiprocessors);
/// Fails where a kernel would count more channels than 32 bits hold, all groups together.
Status require_countable(const ConvArguments& arguments);
/// The tensor map of a packed filter; axes are channels, taps, out channels.
MapPlan map_of_weights(const ConvParameters& kernel, const ConvArguments& arguments, int64_t box_columns);
/// The strides of x's pixels in bytes, for tensor maps: width, height, images. Fails unless they are of whole 16 bytes.
Result<std::array<uint64_t, 3>> pixel_strides(DType type, const ConvStrides& x);
/// Channels of x's first tensor. Fails unless they are whole lines of the copy engine where a second one follows.
Result<int64_t> first_channels(const ConvParameters& kernel, bool joined, const ConvArguments& arguments);

}  // namespace kiln::cuda
