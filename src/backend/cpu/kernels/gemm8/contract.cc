#include "backend/cpu/kernels/gemm8/contract.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "backend/cpu/kernels/gemm8/avx2.h"
#include "backend/cpu/kernels/gemm8/columns.h"
#include "backend/cpu/kernels/gemm8/depthwise.h"
#include "backend/cpu/kernels/gemm8/dot.h"
#include "backend/cpu/kernels/gemm8/finish.h"
#include "backend/cpu/kernels/gemm8/half_rows.h"
#include "backend/cpu/kernels/gemm8/vnni.h"
#include "backend/cpu/kernels/gemm8/winograd_contract.h"
#include "backend/cpu/kernels/padded.h"

namespace kiln::cpu {
namespace {

constexpr int64_t kMostRows = 96;      // of a part: its x stays in L2
constexpr int64_t kMostColumns = 256;  // of a part, so that its block of floats stays in L1 and L2

/// Whether tiles are of half panels (avx2.h). Few rows would not pay for the widening of columns.
bool by_halves(const ByteShape& shape) {
  return uses_half_panels() && !shape.is_depthwise && shape.n * shape.window.out_pixels() >= kHalfRows;
}

/// Whether tiles are of lines of the result (LineTile). Short lines would not fill them, and long ones would not fit
/// into a part.
bool by_lines(const ByteShape& shape) {
  constexpr int64_t kShortest = 7;
  const int64_t line = shape.window.out[2];
  return has_vnni() && shape.taps == Taps::kRows && line >= kShortest && line <= kMostRows;
}

/// How the result is cut into parts for a team.
struct Parts {
  int64_t rows, columns;  // of a part
  int64_t row_parts, column_parts;

  /// `plan` is given where tiles are of half panels.
  Parts(const ByteShape& shape, int64_t all_columns, int64_t depth, const std::optional<RowPlan>& plan) {
    constexpr double kWorkOfPart = 1 << 20;  // multiply-adds: some microseconds
    const int64_t all_rows = std::max<int64_t>(shape.n * shape.window.out_pixels(), 1);
    const double work = static_cast<double>(all_rows) * static_cast<double>(all_columns) *
                        static_cast<double>(std::max<int64_t>(depth, 1));
    const auto wanted = static_cast<int64_t>(std::clamp(work / kWorkOfPart, 1.0, 64.0));
    row_parts = ceil_div(all_rows, plan ? plan->rows : kMostRows);
    // Columns are widened for all rows of a part: they are cut first.
    if (!plan) row_parts = std::clamp(row_parts, std::min(wanted, ceil_div(all_rows, kDotRows)), all_rows);
    const int64_t unit = by_lines(shape) ? shape.window.out[2] : kDotRows;
    rows = std::min(round_up(ceil_div(all_rows, row_parts), unit), std::max(kMostRows, unit) / unit * unit);
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

std::optional<RowPlan> plan_of(const ByteShape& shape, int64_t k) {
  if (!by_halves(shape)) return {};
  return plan_rows(shape, k);
}

/// Whether x is copied with its padding. Pixels of padding are pointers to one, if there are pointers; rows of it may
/// be partly inside.
bool copies_padded(const ByteShape& shape, const std::optional<RowPlan>& plan) {
  if (by_lines(shape)) return true;  // with room behind it
  return (shape.taps == Taps::kRows || (plan && plan->in_place)) && hangs_over_edges(shape.window);
}

/// The pieces of the workspace: [padding][the end of x][corrections, scales and biases][steps][padded x][for each
/// worker: pointers, sums, floats, rows and columns of half panels].
struct Workspace {
  int64_t padding_bytes, column_bytes, pointer_bytes, float_bytes, padded_bytes = 0, steps_bytes = 0, row_bytes = 0,
                                                                   widened_bytes = 0;
  static constexpr int64_t kSumBytes = std::max<int64_t>(kDotRows, kLineRows) * kDotPanel * 4;

  Workspace(const ByteShape& shape, int64_t k, int64_t columns, const std::optional<RowPlan>& plan)
      : padding_bytes(round_up(bytes_of(shape, k, columns) + kDotGroup, kCacheLine)),
        column_bytes(cpu::column_bytes(columns)),
        pointer_bytes(
            round_up((kMostRows + kDotRows) * pointers_of(shape) * static_cast<int64_t>(sizeof(void*)), kCacheLine)),
        float_bytes(kMostRows * kMostColumns * 4) {
    if (copies_padded(shape, plan)) {
      const int64_t pixels = shape.n * padded(shape.window).in_pixels();
      const int64_t channels = shape.taps == Taps::kRows ? k / shape.window.kernel[2] : k;
      const int64_t behind = by_lines(shape) ? kLineRows * shape.window.stride[2] * channels : 0;
      padded_bytes = round_up(pixels * channels + behind + kDotGroup, kCacheLine);
    }
    if (by_lines(shape))
      steps_bytes = round_up(pointers_of(shape) * static_cast<int64_t>(sizeof(ptrdiff_t)), kCacheLine);
    if (!plan) return;
    steps_bytes = round_up(step_bytes(pointers_of(shape), k), kCacheLine);
    row_bytes = round_up(row_memory_bytes(*plan), kCacheLine);
    widened_bytes = kHalfColumns * gathered_depth(pointers_of(shape), k) * 2;
  }
  int64_t shared_bytes() const { return 2 * padding_bytes + 3 * column_bytes + steps_bytes + padded_bytes; }
  int64_t worker_bytes() const { return pointer_bytes + kSumBytes + float_bytes + row_bytes + widened_bytes; }
};

/// Tiles read a multiple of kDotGroup bytes. Where that would lead beyond x, they read a copy of its last bytes.
struct EndOfX {
  uintptr_t begin = 0;  // of the bytes that were copied
  uintptr_t bytes = 0;
  const uint8_t* copy = nullptr;
};

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
        plan_(plan_of(shape, w.k)),
        parts_(shape, std::max<int64_t>(w.n, 1), gathered_depth(w.taps, w.k), plan_),
        space_(shape, w.k, w.n, plan_),
        memory_(static_cast<std::byte*>(workspace)),
        pixel_bytes_(bytes_of(shape, w.k, w.n)),
        x_(x),
        padded_(copies_padded(shape, plan_)
                    ? reinterpret_cast<uint8_t*>(memory_ + space_.shared_bytes() - space_.padded_bytes)
                    : nullptr),
        window_(padded_ ? padded(shape.window) : shape.window),
        source_{window_, padded_ ? padded_ : x, shape.taps == Taps::kRows ? w.k / shape.window.kernel[2] : pixel_bytes_,
                reinterpret_cast<const uint8_t*>(memory_), shape.taps},
        goes_by_floats_(y.bytes && (epilogue.hook || epilogue.residual)) {
    std::memset(memory_, scales.x_zero & 0xff, static_cast<size_t>(pixel_bytes_));
    end_of_x_ = copy_end_of_x();
    inverse_ = y.bytes && !goes_by_floats_ ? 1 / y.y_scale : 1;
    columns_ = fill_columns(w, scales, epilogue.bias, dot_shift(scales.x_is_signed), inverse_,
                            memory_ + 2 * space_.padding_bytes);
    if (by_lines_) fill_line_steps();
    if (plan_)
      steps_ = fill_steps(shape, window_, w.k, plan_->in_place,
                          memory_ + 2 * space_.padding_bytes + 3 * space_.column_bytes);
  }

  void run(Team& team) const {
    if (rows_ == 0 || w_.n == 0) return;
    if (padded_)
      copy_padded(team, shape_.window, shape_.n, source_.ld, x_, static_cast<uint8_t>(scales_.x_zero), padded_,
                  by_lines_ ? static_cast<uint8_t>(dot_shift(scales_.x_is_signed)) : uint8_t{0});
    team.run(parts_.row_parts * parts_.column_parts,
             [&](int64_t part, int worker) { run_part(part % parts_.row_parts, part / parts_.row_parts, worker); });
  }

 private:
  void run_part(int64_t row_part, int64_t column_part, int worker) const {
    const int64_t row0 = row_part * parts_.rows, rows = std::min(parts_.rows, rows_ - row0);
    const int64_t col0 = column_part * parts_.columns, columns = std::min(parts_.columns, w_.n - col0);
    std::byte* const mine = memory_ + space_.shared_bytes() + worker * space_.worker_bytes();
    auto** const table = reinterpret_cast<const uint8_t**>(mine);
    auto* const sums = reinterpret_cast<int32_t*>(mine + space_.pointer_bytes);
    float* const floats = reinterpret_cast<float*>(mine + space_.pointer_bytes + Workspace::kSumBytes);
    if (!by_lines_ && (!plan_ || !plan_->in_place)) fill_table(row0, rows, table);
    if (by_lines_)
      run_lines({row0, rows, col0, columns}, sums, floats);
    else if (plan_)
      run_half_tiles(table, {row0, rows, col0, columns}, sums, floats);
    else
      run_tiles(table, {row0, rows, col0, columns}, sums, floats);
    end_part(row0, rows, col0, columns, floats);
  }

  /// A block of the result.
  struct Area {
    int64_t row0, rows, col0, columns;
  };

  void run_tiles(const uint8_t* const* table, const Area& area, int32_t* sums, float* floats) const {
    for (int64_t j = 0; j < area.columns; j += kDotPanel)
      for (int64_t r = 0; r < area.rows; r += kDotRows) {
        const auto tile_rows = static_cast<int>(std::min(kDotRows, area.rows - r));
        run_tile(table + r * source_.num_taps(), tile_rows, area.col0 + j, std::min(kDotPanel, area.columns - j), sums,
                 finish_at(area.row0 + r, area.col0 + j, floats + r * area.columns + j, area.columns));
      }
  }

  void fill_line_steps() const {
    const Window& w = window_;
    for (int64_t tap = 0; tap < w_.taps; ++tap)
      line_steps()[tap] =
          (tap / w.kernel[1] * w.dilation[0] * w.in[1] + tap % w.kernel[1] * w.dilation[1]) * w.in[2] * source_.ld;
  }
  ptrdiff_t* line_steps() const {
    return reinterpret_cast<ptrdiff_t*>(memory_ + 2 * space_.padding_bytes + 3 * space_.column_bytes);
  }

  /// The same by lines, each in tiles of about the same size.
  void run_lines(const Area& area, int32_t* sums, float* floats) const {
    const int64_t line = window_.out[2], pitch = window_.stride[2] * source_.ld;
    for (int64_t j = 0; j < area.columns; j += kDotPanel) {
      const int64_t col = area.col0 + j, columns = std::min(kDotPanel, area.columns - j);
      const int64_t tile_rows = ceil_div(line, ceil_div(line, line_rows(columns)));
      for (int64_t begin = 0; begin < area.rows; begin += line) {
        const uint8_t* const x = padded_ + first_pixel(window_, area.row0 + begin) * source_.ld;
        for (int64_t r = 0; r < line; r += tile_rows)
          vnni_line_and_finish(
              {x + r * pitch, pitch, static_cast<int>(std::min(tile_rows, line - r)), line_steps(), w_.taps, w_.k,
               w_.panel(col / kDotPanel), columns, sums},
              finish_at(area.row0 + begin + r, col, floats + (begin + r) * area.columns + j, area.columns));
      }
    }
  }

  /// The same by half panels.
  void run_half_tiles(const uint8_t* const* table, const Area& area, int32_t* sums, float* floats) const {
    std::byte* const memory = reinterpret_cast<std::byte*>(floats) + space_.float_bytes;
    auto* const wide_columns = reinterpret_cast<int16_t*>(memory + space_.row_bytes);
    auto* const joined = reinterpret_cast<JoinedStep*>(memory + space_.row_bytes);  // these or those are needed
    const bool has_slack = padded_ || w_.k % kDotGroup == 0;
    const PlacedRows a = plan_->in_place
                             ? place_rows({shape_, window_, source_.in, w_.k, scales_.x_is_signed, has_slack}, *plan_,
                                          area.row0, area.rows, memory)
                             : place_rows({table, area.rows, w_.taps, w_.k}, scales_.x_is_signed, *plan_, memory);
    for (int64_t j = 0; j < area.columns; j += kHalfColumns) {
      const int64_t col = area.col0 + j, columns = std::min(kHalfColumns, area.columns - j);
      const int8_t* const b = w_.panel(col / kDotPanel) + col % kDotPanel * kDotGroup;
      const auto half = static_cast<size_t>(col / kHalfColumns);
      const bool joins = a.narrow && has_joins(half);
      if (a.wide) widen_half_panel(b, w_.taps, w_.k, wide_columns);
      if (joins) find_steps(w_.joined.order.data() + static_cast<int64_t>(half) * steps_.num_narrow, joined);
      for (int64_t r = 0; r < area.rows; r += kHalfRows) {
        const auto tile_rows = static_cast<int>(std::min(kHalfRows, area.rows - r));
        const Finish how = finish_at(area.row0 + r, col, floats + r * area.columns + j, area.columns);
        if (a.wide)
          dot_and_finish(WideTile{a.wide + r, steps_.wide, steps_.num_wide, wide_columns, tile_rows, columns}, how,
                         sums);
        else if (!joins)
          dot_and_finish(NarrowTile{a.narrow + r, steps_.narrow, steps_.num_narrow, b, tile_rows, columns}, how, sums);
        else
          dot_and_finish(JoinedTile{a.narrow + r, joined, w_.joined.joins[half], b, tile_rows, columns}, how, sums);
      }
    }
  }

  bool has_joins(size_t half) const { return !w_.joined.joins.empty() && w_.joined.joins[half][0] < steps_.num_narrow; }
  /// Joined steps of rows of bytes, in their order.
  void find_steps(const int32_t* order, JoinedStep* to) const {
    for (int64_t i = 0; i < steps_.num_narrow; ++i)
      to[i] = {steps_.narrow[order[i]], order[i] * static_cast<int32_t>(kDotPanel * kDotGroup)};
  }

  EndOfX copy_end_of_x() const {
    if (shape_.is_depthwise || padded_ || w_.k % kDotGroup == 0) return {};
    const int64_t x_bytes = shape_.n * shape_.window.in_pixels() * source_.ld;
    const int64_t bytes = std::min(x_bytes, round_up(w_.k, kDotGroup));
    auto* const copy = reinterpret_cast<uint8_t*>(memory_ + space_.padding_bytes);
    std::copy_n(x_ + x_bytes - bytes, bytes, copy);
    return {reinterpret_cast<uintptr_t>(x_ + x_bytes - bytes), static_cast<uintptr_t>(bytes), copy};
  }

  /// Whether the windows of output pixels up to `row` may read the last line of x.
  bool reaches_end(int64_t row) const {
    const Window& w = shape_.window;
    const Pixel at = pixel_of(w.out, row);
    if (at.n < shape_.n - 1) return false;
    return w.out[0] > 1 || w.start(1, at.at[1]) + (w.kernel[1] - 1) * w.dilation[1] >= w.in[1] - 1;
  }

  /// The pointers of output pixels [row0, row0 + rows). The last tile's missing rows are its last one, so that tiles
  /// need not ask.
  void fill_table(int64_t row0, int64_t rows, const uint8_t** table) const {
    fill_pointers<uint8_t>(source_, row0, rows, kDotRows, table, nullptr);
    const int64_t last = (rows - 1) % kDotRows;
    const uint8_t** of_tap = table + (rows - 1) / kDotRows * kDotRows * source_.num_taps();
    for (int64_t tap = 0; tap < source_.num_taps(); ++tap, of_tap += kDotRows)
      std::fill(of_tap + last + 1, of_tap + kDotRows, of_tap[last]);
    if (end_of_x_.bytes == 0 || !reaches_end(row0 + rows - 1)) return;
    for (const uint8_t** entry = table; entry != of_tap; ++entry) {
      const uintptr_t ahead = reinterpret_cast<uintptr_t>(*entry) - end_of_x_.begin;
      if (ahead < end_of_x_.bytes) *entry = end_of_x_.copy + ahead;
    }
  }

  /// A tile of `columns` columns from column `col` on, by way of `sums`.
  void run_tile(const uint8_t* const* table, int rows, int64_t col, int64_t columns, int32_t* sums,
                const Finish& how) const {
    const int8_t* const b = w_.panel(col / kDotPanel);
    if (!shape_.is_depthwise)
      return dot_and_finish({table, rows, w_.taps, w_.k, b, scales_.x_is_signed, sums, columns}, how);
    depthwise_dot({table, col, rows, w_.k, b, scales_.x_is_signed, sums, columns});
    finish(sums, rows, columns, how);
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
  const bool by_lines_ = by_lines(shape_);
  const std::optional<RowPlan> plan_;  // of half panels
  const Parts parts_;
  const Workspace space_;
  std::byte* const memory_;
  const int64_t pixel_bytes_;  // that a pointer leads to
  const uint8_t* const x_;
  uint8_t* const padded_;  // or null: x is read where it is
  const Window window_;    // over what is read
  const PointerSource<uint8_t> source_;
  const bool goes_by_floats_;  // a block of floats lies between the sums and the result's bytes
  EndOfX end_of_x_;
  Columns columns_;
  Steps steps_{};
  float inverse_;
};

}  // namespace

void contract(Team& team, const ByteShape& shape, const uint8_t* x, const PackedBytes& w, const ByteScales& scales,
              const ByteResult& y, const Epilogue& epilogue, void* workspace) {
  if (goes_by_winograd(shape, w, epilogue))
    return contract_by_winograd(team, shape, x, w, scales, y, epilogue, workspace);
  Contraction(shape, x, w, scales, y, epilogue, workspace).run(team);
}

Taps byte_taps(const Window& window, int64_t channels) {
  constexpr int64_t kFewChannels = 32;
  const bool merge = window.kernel[2] > 1 && window.dilation[2] == 1 && channels <= kFewChannels;
  return merge ? Taps::kRows : Taps::kPixels;
}

int64_t contract_workspace_bytes(const ByteShape& shape, int64_t k, int64_t columns, int team_size) {
  const Workspace space(shape, k, columns, plan_of(shape, k));
  const int64_t channels = k / (shape.taps == Taps::kRows ? shape.window.kernel[2] : 1);
  return std::max(space.shared_bytes() + team_size * space.worker_bytes(),
                  winograd_workspace_bytes(shape, channels, columns, team_size));
}

}  // namespace kiln::cpu
