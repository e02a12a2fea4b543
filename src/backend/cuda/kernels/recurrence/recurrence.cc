#include "backend/cuda/kernels/recurrence/recurrence.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "backend/cuda/kernels/sizes.h"

namespace kiln::cuda {
namespace {

constexpr int64_t kThreads = RecurrenceKernel::kThreads, kMostBlocks = 16, kMostRows = 8, kMostItems = 4;

/// Threads that share a column of so many, and how deep each one's part is: RecurrenceBlock's Matrix.
int64_t slices_of(int64_t columns) { return std::clamp<int64_t>(kThreads / columns, 1, 16); }
int64_t depth_of(int64_t hidden, int64_t columns) { return ceil_div(ceil_div(hidden, slices_of(columns)), 4) * 4; }

int64_t first_columns(const RecurrenceKernel& k) { return (k.has_two_passes() ? 2 : k.gates) * k.units(); }

}  // namespace

RecurrenceKernel RecurrenceKernel::of(const ops::Recurrence& op, DType dtype, int64_t hidden,
                                      const RecurrenceTuning& tuning) {
  return {dtype, op.cell, op.linear_before_reset, op.num_gates(), hidden, tuning};
}

int64_t RecurrenceKernel::shared_bytes(RecurrencePlace place) const {
  int64_t sums = slices_of(first_columns(*this)) * first_columns(*this);
  if (has_two_passes()) sums = std::max(sums, slices_of(units()) * units());
  const int64_t floats = ((has_two_passes() ? 3 : 2) * hidden + sums) * tuning.rows;
  return 4 * floats + (place == RecurrencePlace::kShared ? hidden * gates * units() * bytes_of(dtype) : 0);
}

RecurrencePlace RecurrenceKernel::place(int64_t most_shared_bytes) const {
  constexpr int64_t kMostKept = 72;  // of the 128 registers that 512 threads leave each
  const int64_t columns = first_columns(*this);
  const int64_t kept = depth_of(hidden, columns) + (has_two_passes() ? depth_of(hidden, units()) : 0);
  if (columns <= kThreads && kept + 4 * tuning.rows <= kMostKept) return RecurrencePlace::kRegisters;
  return shared_bytes(RecurrencePlace::kShared) <= most_shared_bytes ? RecurrencePlace::kShared
                                                                     : RecurrencePlace::kGlobal;
}

Status validate(const RecurrenceKernel& k) {
  const RecurrenceTuning& t = k.tuning;
  TRY(require(is_kernel_float(k.dtype), "no recurrence's kernel takes ", k.dtype));
  TRY(require(is_width(t.blocks, kMostBlocks) && is_width(t.rows, kMostRows), "recurrences cannot have clusters of ",
              t.blocks, " blocks for ", t.rows, " rows"));
  return require(k.hidden >= 1 && k.units() * t.rows <= kMostItems * kThreads, "a recurrence of ", k.hidden,
                 " hidden units and ", t.rows, " rows; a block of ", t.blocks, " takes ", kMostItems * kThreads,
                 " of their products");
}

std::string recurrence_entry(const RecurrenceKernel& k, RecurrencePlace place) {
  return str("recurrence_", enum_names(k.cell)[static_cast<size_t>(k.cell)], k.linear_before_reset ? "_linear" : "",
             "_h", k.hidden, "_b", k.tuning.blocks, "_r", k.tuning.rows, "_p", static_cast<int>(place));
}

Bytes pack_recurrence(const RecurrenceKernel& k, const HostTensor& r) {
  const auto size = static_cast<size_t>(bytes_of(k.dtype));
  const int64_t units = k.units(), columns = k.gates * units, directions = r.extents()[0];
  Bytes packed(static_cast<size_t>(directions * k.tuning.blocks * k.hidden * columns) * size);
  const std::byte* from = r.bytes().data();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t gate = 0; gate < k.gates; ++gate)
      for (int64_t unit = 0; unit < k.hidden; ++unit)
        for (int64_t i = 0; i < k.hidden; ++i, from += size) {
          const int64_t block = d * k.tuning.blocks + unit / units;
          const int64_t to = (block * k.hidden + i) * columns + gate * units + unit % units;
          std::memcpy(packed.data() + static_cast<size_t>(to) * size, from, size);
        }
  return packed;
}

Result<RecurrenceLaunch> recurrence_launch(const RecurrenceKernel& k, const ops::Recurrence& op,
                                           std::span<const int64_t> x, std::span<const int64_t> r,
                                           int64_t most_shared_bytes) {
  constexpr int64_t kMost = int64_t{1} << 30;
  const ops::RecurrenceShape s = ops::RecurrenceShape::of(op, x, r);
  TRY(require(s.time < kMost && s.batch < kMost, "a recurrence of ", s.time, " steps of ", s.batch,
              " rows; its kernel counts to 2^30"));
  RecurrenceLaunch launch;
  RecurrenceArgument& a = launch.argument;
  a.time = static_cast<int32_t>(s.time);
  a.batch = static_cast<int32_t>(s.batch);
  a.tiles = static_cast<int32_t>(ceil_div(s.batch, k.tuning.rows));
  a.input_forget = op.input_forget;
  a.clip = op.clip ? static_cast<float>(*op.clip) : std::numeric_limits<float>::infinity();
  a.a_time = s.x_time, a.a_batch = s.x_batch;
  a.y_time = s.y_time, a.y_batch = s.y_batch, a.y_direction = s.y_direction;
  a.state_batch = s.state_batch, a.state_direction = s.state_direction;
  for (int d = 0; d < op.num_directions(); ++d) {
    a.reverse[d] = op.is_reverse(d);
    for (int i = 0; i < op.num_activations(); ++i) {
      const ops::GateActivation& f = op.activations[static_cast<size_t>(d * op.num_activations() + i)];
      a.functions[d][i] = {f.function, static_cast<float>(f.alpha), static_cast<float>(f.beta)};
    }
  }
  launch.shape.block[0] = static_cast<uint32_t>(kThreads);
  launch.shape.grid[0] = grid_blocks(s.directions * a.tiles * k.tuning.blocks);
  launch.shape.cluster = static_cast<uint32_t>(k.tuning.blocks);
  launch.shape.pdl = true;
  launch.shape.shared_bytes = static_cast<uint32_t>(k.shared_bytes(k.place(most_shared_bytes)));
  return launch;
}

}  // namespace kiln::cuda
