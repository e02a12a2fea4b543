/// Weights of a recurrence, rearranged once so that a product gives the gates of a group of hidden units side by side.
#pragma once

#include <vector>

#include "backend/cpu/kernels/aligned.h"
#include "backend/cpu/kernels/gemm/pack.h"
#include "ops/recurrence.h"
#include "tensor/host_tensor.h"

namespace kiln::cpu {

struct RecurrenceWeights {
  ops::Recurrence op;
  int64_t input = 0, hidden = 0;
  int64_t padded = 0;            ///< hidden, rounded up to whole groups of gate_group() units
  int64_t columns = 0;           ///< of products: gates * padded
  std::vector<PackedB> w, r;     ///< one a direction; no w where x has the products
  AlignedFloats a_bias, u_bias;  ///< [direction][columns]: added to products of the input, and of the state
  AlignedFloats peepholes;       ///< [direction][3][padded]; empty: none

  /// Whether the product of h for the last gate needs the reset gate, so that a step has two passes.
  bool resets_first() const { return op.cell == ops::RecurrenceCell::kGru && !op.linear_before_reset; }
  /// The column of a gate of a hidden unit. Gates stand side by side in [group][gate][unit]; where a step has two
  /// passes, those of the second follow all of the first.
  int64_t column(int64_t gate, int64_t unit) const;
};

/// w, b and p may be null. All are FP32; extents are those that the op takes.
Result<RecurrenceWeights> pack_recurrence(const ops::Recurrence& op, const HostTensor* w, const HostTensor& r,
                                          const HostTensor* b, const HostTensor* p);

/// Writes the elements of w (or r) that were packed, in their order.
void unpack_gates(const RecurrenceWeights& weights, const std::vector<PackedB>& packed, float* to);

}  // namespace kiln::cpu
