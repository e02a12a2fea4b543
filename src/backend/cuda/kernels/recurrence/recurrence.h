/// Recurrences whose input products are made: kernels/recurrence/recurrence.cuh.
#pragma once

#include <string>

#include "backend/cuda/device/module.h"
#include "backend/cuda/kernels/recurrence/arguments.h"
#include "base/record.h"
#include "ops/recurrence.h"
#include "tensor/host_tensor.h"

namespace kiln::cuda {

struct RecurrenceTuning {
  int64_t blocks = 1;  ///< of a cluster, which shares the hidden units
  int64_t rows = 1;    ///< of the batch, which a cluster computes together

  static void reflect(auto& self, auto f) { f("blocks", self.blocks), f("rows", self.rows); }
};

/// Where a block keeps its part of R.
enum class RecurrencePlace : uint8_t { kRegisters, kShared, kGlobal };

/// The choices that decide the kernel's code, and how its weights are packed.
struct RecurrenceKernel {
  DType dtype = DType::kF32;
  ops::RecurrenceCell cell = ops::RecurrenceCell::kRnn;
  bool linear_before_reset = false;
  int64_t gates = 1, hidden = 1;
  RecurrenceTuning tuning;

  static constexpr int64_t kThreads = 512;
  static RecurrenceKernel of(const ops::Recurrence& op, DType dtype, int64_t hidden, const RecurrenceTuning& tuning);
  bool has_two_passes() const { return cell == ops::RecurrenceCell::kGru && !linear_before_reset; }
  int64_t units() const { return (hidden + tuning.blocks - 1) / tuning.blocks; }  ///< of a block
  RecurrencePlace place(int64_t most_shared_bytes) const;
  int64_t shared_bytes(RecurrencePlace place) const;
};
/// Whether kernels exist: sizes of clusters and tiles, and so many units and rows that a thread has few.
Status validate(const RecurrenceKernel& kernel);

/// The kernel's name, which says all that the code and a launch have to agree about.
std::string recurrence_entry(const RecurrenceKernel& kernel, RecurrencePlace place);

/// r [directions, gates * hidden, hidden] as blocks read it: [direction][block][k][gate][unit of the block].
Bytes pack_recurrence(const RecurrenceKernel& kernel, const HostTensor& r);

struct RecurrenceLaunch {
  LaunchShape shape;
  RecurrenceArgument argument;
};
/// `x` and `r` are extents of the products of the input, and of r.
Result<RecurrenceLaunch> recurrence_launch(const RecurrenceKernel& kernel, const ops::Recurrence& op,
                                           std::span<const int64_t> x, std::span<const int64_t> r,
                                           int64_t most_shared_bytes);

}  // namespace kiln::cuda
