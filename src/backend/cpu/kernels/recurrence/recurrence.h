/// Recurrences: the products of many time steps' inputs at once, then step by step the product of the state with its
/// gates right behind it, while both are in cache.
#pragma once

#include "backend/cpu/device/team.h"
#include "backend/cpu/kernels/recurrence/weights.h"

namespace kiln::cpu {

/// How a recurrence of one set of shapes runs. The results' bits do not depend on it.
struct RecurrencePlan {
  const RecurrenceWeights* weights;
  ops::RecurrenceShape shape;
  int64_t chunk = 1;        ///< time steps whose input products are there at once
  int64_t row_blocks = 1;   ///< the batch's rows, which threads run on their own through all steps of a chunk
  int64_t unit_blocks = 1;  ///< or the hidden units, whose threads meet after each step

  // Floats of the workspace, which begins with the input products.
  int64_t inputs() const { return shape.directions * chunk * shape.batch * weights->columns; }
  int64_t products() const { return shape.directions * shape.batch * weights->columns; }
  int64_t state() const { return shape.directions * shape.batch * weights->padded; }
  int64_t workspace_bytes() const { return 4 * (inputs() + products() + 5 * state()); }
};
RecurrencePlan plan_recurrence(const RecurrenceWeights& weights, std::span<const int64_t> x, std::span<const int64_t> r,
                               int team_size);

/// The tensors of a run; null where one is absent.
struct RecurrenceTensors {
  const float* x;
  const int32_t* sequence_lens;
  const float *initial_h, *initial_c;
  float *y, *y_h, *y_c;
  float* workspace;  ///< aligned to kCacheLine
};
/// Fails where a length is outside [0, time]. Allocates nothing.
Status run_recurrence(Team& team, const RecurrencePlan& plan, const RecurrenceTensors& tensors);

}  // namespace kiln::cpu
