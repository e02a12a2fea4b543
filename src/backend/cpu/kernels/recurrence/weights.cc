#include "backend/cpu/kernels/recurrence/weights.h"

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/recurrence/gates.h"

namespace kiln::cpu {
namespace {

/// Calls `visit(row, column)` for each row of W and R and where its packed column begins; elements follow each other
/// a panel apart.
template <class Visit>
void for_each_gate_row(const RecurrenceWeights& weights, const PackedB& packed, Visit visit) {
  for (int64_t gate = 0; gate < weights.op.num_gates(); ++gate)
    for (int64_t unit = 0; unit < weights.hidden; ++unit) {
      const int64_t column = weights.column(gate, unit);
      visit(gate * weights.hidden + unit, column / packed.panel * packed.k * packed.panel + column % packed.panel);
    }
}

Result<std::vector<PackedB>> pack_gates(const RecurrenceWeights& weights, const HostTensor& from, int64_t k) {
  std::vector<PackedB> result;
  const auto* rows = from.data<float>();
  for (int d = 0; d < weights.op.num_directions(); ++d, rows += weights.op.num_gates() * weights.hidden * k) {
    PackedB packed{.k = k, .n = weights.columns, .panel = tiling().panel, .data = {}};
    packed.data = TRY(AlignedFloats::zeros(packed_size(1, k, weights.columns)));
    for_each_gate_row(weights, packed, [&](int64_t row, int64_t at) {
      for (int64_t i = 0; i < k; ++i) packed.data.data()[at + i * packed.panel] = rows[row * k + i];
    });
    result.push_back(std::move(packed));
  }
  return result;
}

/// rb stays apart from wb where the reset gate multiplies it: linear_before_reset's last gate.
void pack_bias(RecurrenceWeights& weights, const HostTensor& b) {
  const int64_t rows = weights.op.num_gates() * weights.hidden;
  for (int64_t d = 0; d < weights.op.num_directions(); ++d)
    for (int64_t row = 0; row < rows; ++row) {
      const float* const wb = b.data<float>() + d * 2 * rows + row;
      const int64_t gate = row / weights.hidden, at = d * weights.columns + weights.column(gate, row % weights.hidden);
      const bool apart = weights.op.linear_before_reset && gate == 2;
      weights.a_bias.data()[at] = apart ? wb[0] : wb[0] + wb[rows];
      if (apart) weights.u_bias.data()[at] = wb[rows];
    }
}

}  // namespace

int64_t RecurrenceWeights::column(int64_t gate, int64_t unit) const {
  const int64_t lanes = gate_group(), gates = resets_first() ? 2 : op.num_gates();
  if (gate >= gates) return gates * padded + unit;
  return unit / lanes * gates * lanes + gate * lanes + unit % lanes;
}

Result<RecurrenceWeights> pack_recurrence(const ops::Recurrence& op, const HostTensor* w, const HostTensor& r,
                                          const HostTensor* b, const HostTensor* p) {
  RecurrenceWeights weights{.op = op, .hidden = r.extents()[2]};
  weights.input = w ? w->extents()[2] : op.num_directions() * op.num_gates() * weights.hidden;
  weights.padded = round_up(weights.hidden, gate_group());
  weights.columns = op.num_gates() * weights.padded;
  if (w) weights.w = TRY(pack_gates(weights, *w, weights.input));
  weights.r = TRY(pack_gates(weights, r, weights.hidden));
  weights.a_bias = TRY(AlignedFloats::zeros(op.num_directions() * weights.columns));
  weights.u_bias = TRY(AlignedFloats::zeros(op.num_directions() * weights.columns));
  if (b) pack_bias(weights, *b);
  if (p) {
    weights.peepholes = TRY(AlignedFloats::zeros(op.num_directions() * 3 * weights.padded));
    for (int64_t row = 0; row < 3 * op.num_directions(); ++row)
      for (int64_t unit = 0; unit < weights.hidden; ++unit)
        weights.peepholes.data()[row * weights.padded + unit] = p->data<float>()[row * weights.hidden + unit];
  }
  return weights;
}

void unpack_gates(const RecurrenceWeights& weights, const std::vector<PackedB>& packed, float* to) {
  for (const PackedB& one : packed) {
    for_each_gate_row(weights, one, [&](int64_t row, int64_t at) {
      for (int64_t i = 0; i < one.k; ++i) to[row * one.k + i] = one.data.data()[at + i * one.panel];
    });
    to += weights.op.num_gates() * weights.hidden * one.k;
  }
}

}  // namespace kiln::cpu
