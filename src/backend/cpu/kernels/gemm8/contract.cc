#include "backend/cpu/kernels/gemm8/contract.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/kernels/gemm8/depthwise.h"
#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kMostRows = 96;      // of a part: its x stays in L2
constexpr int64_t kMostColumns = 256;  // of a part, so that its block of floats stays in L1 and L2

/// How the result is cut into parts for a team.
struct Parts {
  int64_t rows, columns;  // of a part
  int64_t row_parts, column_parts;

  Parts(int64_t all_rows, int64_t all_columns, int64_t depth) {
    constexpr double kWorkOfPart = 1 << 20;  // multiply-adds: some microseconds
    const double work = static_cast<double>(all_rows) * static_cast<double>(all_columns) *
                        static_cast<double>(std::max<int64_t>(depth, 1));
    const auto wanted = static_cast<int64_t>(std::clamp(work / kWorkOfPart, 1.0, 64.0));
    row_parts = std::clamp(ceil_div(all_rows, kMostRows), std::min(wanted, ceil_div(all_rows, kDotRows)), all_rows);
    rows = round_up(ceil_div(all_rows, row_parts), kDotRows);
    row_parts = ceil_div(all_rows, rows);
    column_parts =
        std::clamp(ceil_div(wanted, row_parts), ceil_div(all_columns, kMostColumns), ceil_div(all_columns, kDotPanel));
    columns = round_up(ceil_div(all_columns, column_parts), kDotPanel);
    column_parts = ceil_div(all_columns, columns);
  }
};

/// The pointers of an output pixel, and the bytes that each leads to.
int64_t pointers_of(const ByteShape& shape) {
  return shape.window.taps() / (shape.taps == Taps::kRows ? shape.window.kernel[2] : 1);
}
int64_t bytes_of(const ByteShape& shape, int64_t k, int64_t columns) { return shape.is_depthwise ? columns : k; }

/// The pieces of the workspace: [padding][corrections, scales and biases][for each worker: pointers, windows over
/// edges, sums, floats].
struct Workspace {
  int64_t padding_bytes, column_bytes, pointer_bytes, border_bytes, float_bytes;
  static constexpr int64_t kSumBytes = kDotRows * kDotPanel * 4;

  Workspace(const ByteShape& shape, int64_t k, int64_t columns)
      : padding_bytes(round_up(bytes_of(shape, k, columns), kCacheLine)),
        column_bytes(round_up(columns * 4, kCacheLine)),
        pointer_bytes(
            round_up((kMostRows + kDotRows) * pointers_of(shape) * static_cast<int64_t>(sizeof(void*)), kCacheLine)),
        border_bytes(shape.taps == Taps::kRows ? round_up(kMostRows * pointers_of(shape) * k, kCacheLine) : 0),
        float_bytes(kMostRows * kMostColumns * 4) {}
  int64_t shared_bytes() const { return padding_bytes + 3 * column_bytes; }
  int64_t worker_bytes() const { return pointer_bytes + border_bytes + kSumBytes + float_bytes; }
};

/// By column: what is taken off sums, what they are multiplied by, and what is added.
struct Columns {
  int32_t* correction;
  float *scale, *bias;
};
void fill_columns(const PackedBytes& w, const ByteScales& scales, const float* bias, float inverse, const Columns& to) {
  const int32_t shift = scales.x_zero + dot_shift(scales.x_is_signed);
  for (int64_t j = 0; j < w.n; ++j) {
    to.correction[j] = shift * w.column_sums[static_cast<size_t>(j)];
    to.scale[j] = scales.x_scale * scales.w_scale[scales.w_scale_is_one ? 0 : j] * inverse;
    to.bias[j] = bias ? bias[j] * inverse : 0;
  }
}

class Contraction {
 public:
  Contraction(const ByteShape& shape, const uint8_t* x, const PackedBytes& w, const ByteScales& scales,
              const ByteResult& y, const Epilogue& epilogue, void* workspace)
      : shape_(shape),
        w_(w),
        scales_(scales),
        y_(y),
        epilogue_(epilogue),
        rows_(shape.n * shape.window.out_pixels()),
        parts_(std::max<int64_t>(rows_, 1), std::max<int64_t>(w.n, 1), w.taps * w.k),
        space_(shape, w.k, w.n),
        memory_(static_cast<std::byte*>(workspace)),
        pixel_bytes_(bytes_of(shape, w.k, w.n)),
        source_{shape.window, x, shape.taps == Taps::kRows ? w.k / shape.window.kernel[2] : pixel_bytes_,
                reinterpret_cast<const uint8_t*>(memory_), shape.taps},
        goes_by_floats_(y.bytes && (epilogue.hook || epilogue.residual)) {
    std::memset(memory_, scales.x_zero & 0xff, static_cast<size_t>(pixel_bytes_));
    std::byte* const columns = memory_ + space_.padding_bytes;
    columns_ = {reinterpret_cast<int32_t*>(columns), reinterpret_cast<float*>(columns + space_.column_bytes),
                reinterpret_cast<float*>(columns + 2 * space_.column_bytes)};
    inverse_ = y.bytes && !goes_by_floats_ ? 1 / y.y_scale : 1;
    fill_columns(w, scales, epilogue.bias, inverse_, columns_);
  }

  void run(Team& team) const {
    if (rows_ == 0 || w_.n == 0) return;
    team.run(parts_.row_parts * parts_.column_parts,
             [&](int64_t part, int worker) { run_part(part % parts_.row_parts, part / parts_.row_parts, worker); });
  }

 private:
  void run_part(int64_t row_part, int64_t column_part, int worker) const {
    const int64_t row0 = row_part * parts_.rows, rows = std::min(parts_.rows, rows_ - row0);
    const int64_t col0 = column_part * parts_.columns, columns = std::min(parts_.columns, w_.n - col0);
    std::byte* const mine = memory_ + space_.shared_bytes() + worker * space_.worker_bytes();
    auto** const table = reinterpret_cast<const uint8_t**>(mine);
    auto* const border = reinterpret_cast<uint8_t*>(mine + space_.pointer_bytes);
    auto* const sums = reinterpret_cast<int32_t*>(border + space_.border_bytes);
    float* const floats = reinterpret_cast<float*>(sums) + kDotRows * kDotPanel;
    fill_pointers<uint8_t>(source_, row0, rows, kDotRows, table, border);
    for (int64_t j = 0; j < columns; j += kDotPanel)
      for (int64_t r = 0; r < rows; r += kDotRows) {
        const int64_t tile_rows = std::min(kDotRows, rows - r);
        add_up(table + r * source_.num_taps(), static_cast<int>(tile_rows), col0 + j, std::min(kDotPanel, columns - j),
               sums);
        finish(sums, tile_rows, std::min(kDotPanel, columns - j),
               finish_at(row0 + r, col0 + j, floats + r * columns + j, columns));
      }
    end_part(row0, rows, col0, columns, floats);
  }

  /// The sums of a tile, `columns` of them from column `col` on.
  void add_up(const uint8_t* const* table, int rows, int64_t col, int64_t columns, int32_t* sums) const {
    const int8_t* const b = w_.panel(col / kDotPanel);
    if (shape_.is_depthwise)
      depthwise_dot({table, col, rows, w_.k, b, scales_.x_is_signed, sums, columns});
    else
      dot({table, 0, rows, w_.taps, w_.k, b, scales_.x_is_signed, sums, columns});
  }

  /// The tile whose corner is element (row, col) of the result. `block` is its place in a part's block of floats.
  Finish finish_at(int64_t row, int64_t col, float* block, int64_t block_ld) const {
    const int64_t at = row * w_.n + col;
    Finish how{columns_.correction + col, columns_.scale + col, columns_.bias + col};
    how.residual = epilogue_.residual ? epilogue_.residual + row * epilogue_.ldr + col : nullptr;
    how.ldr = epilogue_.ldr;
    how.lo = epilogue_.lo * inverse_;
    how.hi = epilogue_.hi * inverse_;
    how.ld = goes_by_floats_ ? block_ld : w_.n;
    how.floats = goes_by_floats_ ? block : y_.floats ? y_.floats + at : nullptr;
    how.bytes = how.floats ? nullptr : y_.bytes + at;
    how.zero = y_.y_zero;
    how.bytes_are_signed = y_.y_is_signed;
    return how;
  }

  void end_part(int64_t row0, int64_t rows, int64_t col0, int64_t columns, float* block) const {
    float* const values = goes_by_floats_ ? block : y_.floats ? y_.floats + row0 * w_.n + col0 : nullptr;
    const int64_t ld = goes_by_floats_ ? columns : w_.n;
    if (const TileHook* hook = epilogue_.hook) hook->apply(hook->self, values, rows, columns, ld, row0, col0);
    if (goes_by_floats_)
      requantize(rows, columns,
                 {block, columns, y_.bytes + row0 * w_.n + col0, w_.n, 1 / y_.y_scale, y_.y_zero, y_.y_is_signed});
  }

  const ByteShape& shape_;
  const PackedBytes& w_;
  const ByteScales& scales_;
  const ByteResult& y_;
  const Epilogue& epilogue_;
  const int64_t rows_;
  const Parts parts_;
  const Workspace space_;
  std::byte* const memory_;
  const int64_t pixel_bytes_;  // that a pointer leads to
  const PointerSource<uint8_t> source_;
  const bool goes_by_floats_;  // a block of floats lies between the sums and the result's bytes
  Columns columns_;
  float inverse_;
};

}  // namespace

void contract(Team& team, const ByteShape& shape, const uint8_t* x, const PackedBytes& w, const ByteScales& scales,
              const ByteResult& y, const Epilogue& epilogue, void* workspace) {
  Contraction(shape, x, w, scales, y, epilogue, workspace).run(team);
}

Taps byte_taps(const Window& window, int64_t channels) {
  constexpr int64_t kFewChannels = 32;
  const bool merge = window.kernel[2] > 1 && window.dilation[2] == 1 && channels <= kFewChannels;
  return merge ? Taps::kRows : Taps::kPixels;
}

int64_t contract_workspace_bytes(const ByteShape& shape, int64_t k, int64_t columns, int team_size) {
  const Workspace space(shape, k, columns);
  return space.shared_bytes() + team_size * space.worker_bytes();
}

}  // namespace kiln::cpu
