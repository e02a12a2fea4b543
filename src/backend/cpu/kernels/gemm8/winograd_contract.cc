#include "backend/cpu/kernels/gemm8/winograd_contract.h"

#include <algorithm>

#include "backend/cpu/kernels/gemm8/columns.h"
#include "backend/cpu/kernels/gemm8/winograd.h"
#include "backend/cpu/kernels/padded.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kMostTiles = 5 * kHalfRows;         // of a part: what they become stays in L2
constexpr int64_t kColumnsOfPart = 4 * kHalfColumns;  // whose weights stay in L2, too
constexpr int64_t kPixels = 4;                        // of a tile
constexpr int64_t kSlack = 16;                        // bytes that are read behind x

/// The window over whole tiles of 2x2 pixels.
Window of_tiles(Window window) {
  for (int axis = 1; axis < 3; ++axis) window.out[axis] = round_up(window.out[axis], 2);
  return window;
}

int64_t channels_of(const ByteShape& shape, int64_t k) {
  return shape.taps == Taps::kRows ? k / shape.window.kernel[2] : k;
}

/// The pieces of the workspace: [corrections, scales and biases][padded x][for each worker: transformed tiles, sums of
/// positions, sums of pixels].
struct Workspace {
  int64_t column_bytes, padded_bytes, tile_bytes;
  static constexpr int64_t kPositionBytes = kPositions * kHalfRows * kHalfColumns * 4;
  static constexpr int64_t kPixelBytes = kHalfRows * kPixels * kHalfColumns * 4;

  Workspace(const ByteShape& shape, int64_t channels, int64_t columns)
      : column_bytes(3 * cpu::column_bytes(columns)),
        padded_bytes(round_up(shape.n * padded(of_tiles(shape.window)).in_pixels() * channels + kSlack, kCacheLine)),
        tile_bytes(kPositions * kMostTiles * winograd_depth(channels) * 2) {}
  int64_t shared_bytes() const { return column_bytes + padded_bytes; }
  int64_t worker_bytes() const { return tile_bytes + kPositionBytes + kPixelBytes; }
};

class WinogradContraction {
 public:
  WinogradContraction(const ByteShape& shape, const PackedBytes& w, const ByteScales& scales, const ByteResult& y,
                      const Epilogue& epilogue, void* workspace)
      : shape_(shape),
        w_(w),
        scales_(scales),
        y_(y),
        epilogue_(epilogue),
        channels_(channels_of(shape, w.k)),
        depth_(winograd_depth(channels_)),
        whole_(padded(of_tiles(shape.window))),
        tiles_{1, whole_.out[1] / 2, whole_.out[2] / 2},
        all_tiles_(shape.n * tiles_[1] * tiles_[2]),
        parts_(ceil_div(all_tiles_, kMostTiles)),
        of_part_(parts_ == 0 ? 0 : round_up(ceil_div(all_tiles_, parts_), kHalfRows)),
        space_(shape, channels_, w.n),
        memory_(static_cast<std::byte*>(workspace)),
        padded_(reinterpret_cast<uint8_t*>(memory_ + space_.column_bytes)),
        inverse_(y.bytes ? 1 / y.y_scale : 1),
        columns_(fill_columns(w, scales, epilogue.bias, 0, inverse_, memory_)) {
    // Sums are of four times the weights.
    for (int64_t j = 0; j < w.n; ++j) columns_.correction[j] *= 4;
  }

  void run(Team& team, const uint8_t* x) const {
    if (all_tiles_ == 0 || w_.n == 0) return;
    copy_padded(team, of_tiles(shape_.window), shape_.n, channels_, x, static_cast<uint8_t>(scales_.x_zero), padded_);
    const int64_t row_parts = ceil_div(all_tiles_, of_part_);
    team.run(row_parts * ceil_div(w_.n, kColumnsOfPart), [&](int64_t part, int worker) {
      run_part(part % row_parts * of_part_, part / row_parts * kColumnsOfPart, worker);
    });
  }

 private:
  void run_part(int64_t tile0, int64_t col0, int worker) const {
    const int64_t count = std::min(of_part_, all_tiles_ - tile0), step = of_part_ * depth_;
    std::byte* const mine = memory_ + space_.shared_bytes() + worker * space_.worker_bytes();
    auto* const tiles = reinterpret_cast<int16_t*>(mine);
    auto* const positions = reinterpret_cast<int32_t*>(mine + space_.tile_bytes);
    int32_t* const pixels = positions + Workspace::kPositionBytes / 4;
    int64_t places[kMostTiles * kPixels];
    for (int64_t t = 0; t < count; ++t) {
      const Pixel at = pixel_of(tiles_, tile0 + t);
      find_places(at, places + t * kPixels);
      const int64_t first = (at.n * whole_.in[1] + 2 * at.at[1]) * whole_.in[2] + 2 * at.at[2];
      transform_tile({.from = padded_ + first * channels_,
                      .row_step = whole_.in[2] * channels_,
                      .channels = channels_,
                      .depth = depth_,
                      .is_signed = scales_.x_is_signed,
                      .step = step},
                     tiles + t * depth_);
    }
    const auto* const weights = reinterpret_cast<const int16_t*>(w_.transformed.data());
    for (int64_t col = col0; col < std::min(w_.n, col0 + kColumnsOfPart); col += kHalfColumns)
      for (int64_t r = 0; r < count; r += kHalfRows) {
        const int64_t rows = std::min(kHalfRows, count - r);
        multiply_positions({.a = tiles + r * depth_,
                            .step = step,
                            .b = weights + col / kHalfColumns * kPositions * depth_ * kHalfColumns,
                            .depth = depth_,
                            .positions = kPositions,
                            .corrected = kPositionOfAll},
                           columns_.correction + col, positions);
        for (int64_t t = 0; t < rows; ++t)
          transform_sums(positions + t * kHalfColumns, kHalfRows * kHalfColumns, pixels + t * kPixels * kHalfColumns);
        finish_half(pixels, rows * kPixels, places + r * kPixels, std::min(kHalfColumns, w_.n - col), finish_at(col));
      }
  }

  /// Where the pixels of a tile lie in the result; negative where they lie beyond its edge.
  void find_places(const Pixel& tile, int64_t* places) const {
    const Window& w = shape_.window;
    for (int64_t i = 0; i < kPixels; ++i) {
      const int64_t y = 2 * tile.at[1] + i / 2, x = 2 * tile.at[2] + i % 2;
      places[i] = y < w.out[1] && x < w.out[2] ? ((tile.n * w.out[1] + y) * w.out[2] + x) * w_.n : -1;
    }
  }

  Finish finish_at(int64_t col) const {
    Finish how{columns_.correction + col, columns_.scale + col, columns_.bias + col};
    how.lo = epilogue_.lo * inverse_;
    how.hi = epilogue_.hi * inverse_;
    how.floats = y_.floats ? y_.floats + col : nullptr;
    how.bytes = y_.floats ? nullptr : y_.bytes + col;
    how.zero = y_.y_zero;
    how.bytes_are_signed = y_.y_is_signed;
    return how;
  }

  const ByteShape& shape_;
  const PackedBytes& w_;
  const ByteScales& scales_;
  const ByteResult& y_;
  const Epilogue& epilogue_;
  const int64_t channels_, depth_;
  const Window whole_;  // over x with its padding
  const int64_t tiles_[3];
  const int64_t all_tiles_, parts_, of_part_;
  const Workspace space_;
  std::byte* const memory_;
  uint8_t* const padded_;
  const float inverse_;
  const Columns columns_;
};

}  // namespace

bool goes_by_winograd(const ByteShape& shape, const PackedBytes& w, const Epilogue& epilogue) {
  return w.transformed.size() > 0 && !epilogue.residual && !epilogue.hook &&
         suits_winograd(shape.window, channels_of(shape, w.k), w.n);
}

void contract_by_winograd(Team& team, const ByteShape& shape, const uint8_t* x, const PackedBytes& w,
                          const ByteScales& scales, const ByteResult& y, const Epilogue& epilogue, void* workspace) {
  WinogradContraction(shape, w, scales, y, epilogue, workspace).run(team, x);
}

int64_t winograd_workspace_bytes(const ByteShape& shape, int64_t channels, int64_t columns, int team_size) {
  if (shape.is_depthwise || !suits_winograd(shape.window, channels, columns)) return 0;
  const Workspace space(shape, channels, columns);
  return space.shared_bytes() + team_size * space.worker_bytes();
}

}  // namespace kiln::cpu
