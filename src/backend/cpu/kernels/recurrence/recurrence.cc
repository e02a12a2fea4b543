#include "backend/cpu/kernels/recurrence/recurrence.h"

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/gemm/block.h"
#include "backend/cpu/kernels/gemm/gemm.h"
#include "backend/cpu/kernels/recurrence/gates.h"

namespace kiln::cpu {
namespace {

/// Hidden units are split at multiples of four groups: then every pass's columns begin with a pair of panels.
constexpr int64_t kGroupsOfPart = 4;

/// Rows of the batch and groups of hidden units.
struct Part {
  int64_t row0, rows, group0, groups;
};

class RecurrenceRun {
 public:
  RecurrenceRun(Team& team, const RecurrencePlan& plan, const RecurrenceTensors& tensors)
      : team_(team), plan_(plan), w_(*plan.weights), s_(plan.shape), t_(tensors) {
    a_ = t_.workspace;
    u_ = a_ + plan.inputs();
    h_ = u_ + plan.products();
    c_ = h_ + 2 * plan.state();
    reset_h_ = c_ + plan.state();
    z_ = reset_h_ + plan.state();
  }

  void run() {
    start();
    for (int64_t k = 0; k < s_.time; k += plan_.chunk) {
      const int64_t steps = std::min(plan_.chunk, s_.time - k);
      multiply_inputs(k, steps);
      plan_.unit_blocks > 1 ? run_by_units(k, steps) : run_by_rows(k, steps);
    }
    finish();
  }

 private:
  /// Rows of a state buffer, from a direction's row 0 on; `index` tells apart the two halves of h_.
  float* state(float* buffer, int64_t d, int64_t index = 0) const {
    return buffer + (index * s_.directions + d) * s_.batch * w_.padded;
  }
  float* h(int64_t d, int64_t k) const { return state(h_, d, k % 2); }
  int64_t time_of(int64_t d, int64_t k) const { return w_.op.is_reverse(static_cast<int>(d)) ? s_.time - 1 - k : k; }

  void start() {
    for (int64_t d = 0; d < s_.directions; ++d)
      for (int64_t row = 0; row < s_.batch; ++row) {
        const auto begin = [&](float* to, const float* from) {
          to += row * w_.padded;
          std::fill(to, to + w_.padded, 0.0f);
          if (from) std::copy_n(from + d * s_.state_direction + row * s_.state_batch, s_.hidden, to);
        };
        begin(h(d, 0), t_.initial_h);
        begin(state(c_, d), t_.initial_c);
      }
  }
  void finish() {
    for (int64_t d = 0; d < s_.directions; ++d)
      for (int64_t row = 0; row < s_.batch; ++row) {
        const auto end = [&](float* to, const float* from) {
          std::copy_n(from + row * w_.padded, s_.hidden, to + d * s_.state_direction + row * s_.state_batch);
        };
        end(t_.y_h, h(d, s_.time));
        if (t_.y_c) end(t_.y_c, state(c_, d));
      }
  }

  /// The first row of input products of a direction, and the rows between time steps and between those of the batch.
  float* inputs(int64_t d) const { return a_ + d * plan_.chunk * s_.batch * w_.columns; }
  int64_t time_rows() const { return w_.op.is_batch_major() ? 1 : s_.batch; }
  int64_t batch_rows(int64_t steps) const { return w_.op.is_batch_major() ? steps : 1; }

  /// Puts products that x has where those of `steps` inputs from step k on are wanted, with their biases.
  void place_products(int64_t k, int64_t steps) {
    const int64_t gates = w_.op.num_gates(), lanes = gate_group();
    team_.run(s_.directions * steps, [&](int64_t part, int) {
      const int64_t d = part / steps, first = std::min(time_of(d, k), time_of(d, k + steps - 1));
      const int64_t step = part % steps;
      for (int64_t row = 0; row < s_.batch; ++row) {
        const float* from = t_.x + (first + step) * s_.x_time + row * s_.x_batch + d * gates * s_.hidden;
        float* const to = inputs(d) + (step * time_rows() + row * batch_rows(steps)) * w_.columns;
        std::copy_n(w_.a_bias.data() + d * w_.columns, w_.columns, to);
        for (int64_t gate = 0; gate < gates; ++gate, from += s_.hidden)
          for (int64_t unit = 0; unit < s_.hidden; unit += lanes) {
            float* const group = to + w_.column(gate, unit);
            const int64_t count = std::min(lanes, s_.hidden - unit);
            for (int64_t i = 0; i < count; ++i) group[i] += from[unit + i];
          }
      }
    });
  }
  /// The products of `steps` inputs from step k on, for every direction.
  void multiply_inputs(int64_t k, int64_t steps) {
    if (w_.w.empty()) return place_products(k, steps);
    for (int64_t d = 0; d < s_.directions; ++d) {
      const int64_t first = std::min(time_of(d, k), time_of(d, k + steps - 1));
      const float* const x = t_.x + first * s_.x_time;
      GemmShape shape{.m = steps * s_.batch, .n = w_.columns, .k = s_.input};
      GemmA a{x, s_.input, {}};
      GemmC c{inputs(d), w_.columns, {}, {}};
      if (w_.op.is_batch_major() && steps > 1) {
        shape.m = steps, shape.outer = s_.batch;
        a.batch.outer = s_.x_batch, c.batch.outer = steps * w_.columns;
      } else if (w_.op.is_batch_major()) {
        a.ld = s_.x_batch;
      }
      Epilogue epilogue;
      epilogue.bias = w_.a_bias.data() + d * w_.columns;
      gemm(team_, shape, a, w_.w[static_cast<size_t>(d)], c, epilogue, nullptr);
    }
  }

  void run_by_rows(int64_t k0, int64_t steps) {
    const int64_t rows = ceil_div(s_.batch, plan_.row_blocks);
    team_.run(s_.directions * plan_.row_blocks, [&](int64_t part, int) {
      const int64_t d = part / plan_.row_blocks, row0 = part % plan_.row_blocks * rows;
      const Part all{row0, std::min(rows, s_.batch - row0), 0, w_.padded / gate_group()};
      for (int64_t k = k0; k < k0 + steps; ++k)
        for (int pass = 0; pass < num_passes(); ++pass) run_pass(pass, d, k, k0, steps, all);
    });
  }
  void run_by_units(int64_t k0, int64_t steps) {
    const int64_t all = w_.padded / gate_group();
    const int64_t groups = round_up(ceil_div(all, plan_.unit_blocks), kGroupsOfPart);
    const int64_t blocks = ceil_div(all, groups);
    for (int64_t k = k0; k < k0 + steps; ++k)
      for (int pass = 0; pass < num_passes(); ++pass)
        team_.run(s_.directions * blocks, [&](int64_t part, int) {
          const int64_t group0 = part % blocks * groups;
          run_pass(pass, part / blocks, k, k0, steps, {0, s_.batch, group0, std::min(groups, all - group0)});
        });
  }

  int num_passes() const { return w_.resets_first() ? 2 : 1; }
  GatePass gate_pass(int pass) const {
    if (w_.resets_first()) return pass == 0 ? GatePass::kGruResets : GatePass::kGruState;
    if (w_.op.cell == ops::RecurrenceCell::kGru) return GatePass::kGruLinear;
    return w_.op.cell == ops::RecurrenceCell::kLstm ? GatePass::kLstm : GatePass::kRnn;
  }

  /// One pass of step k of direction d, which is one of `steps` steps from k0 on whose input products are there.
  void run_pass(int pass, int64_t d, int64_t k, int64_t k0, int64_t steps, const Part& part) {
    const int64_t gates = !w_.resets_first() ? w_.op.num_gates() : pass == 0 ? 2 : 1;
    const int64_t pass_column = pass == 0 ? 0 : 2 * w_.padded;
    const float* const bias = w_.u_bias.data() + d * w_.columns;
    float* const u = u_ + (d * s_.batch + part.row0) * w_.columns;
    const float* const factor = (pass == 0 ? h(d, k) : state(reset_h_, d)) + part.row0 * w_.padded;
    const bool starts_at_zero = k == 0 && !t_.initial_h;
    GateStep g = gate_step(d, k, k0, steps, part);
    g.pass = gate_pass(pass);
    g.a += pass_column;
    g.u = (starts_at_zero ? bias : u) + pass_column;
    g.u_row = starts_at_zero ? 0 : w_.columns;
    g.group0 = part.group0, g.group1 = part.group0 + part.groups;
    if (!starts_at_zero) {
      const int64_t group = gates * gate_group();
      multiply_state(k, d, factor, part, {pass_column + part.group0 * group, part.groups * group}, bias, u);
    }
    run_gates(g);
  }

  /// What all passes of a step share.
  GateStep gate_step(int64_t d, int64_t k, int64_t k0, int64_t steps, const Part& part) const {
    const int64_t time = time_of(d, k), first = std::min(time_of(d, k0), time_of(d, k0 + steps - 1));
    GateStep g{.pass = GatePass::kRnn};
    g.a = inputs(d) + ((time - first) * time_rows() + part.row0 * batch_rows(steps)) * w_.columns;
    g.a_row = batch_rows(steps) * w_.columns;
    set_functions(d, g);
    g.rows = part.rows, g.hidden = s_.hidden;
    const int64_t at = part.row0 * w_.padded;
    g.h = h(d, k) + at;
    g.next_h = h(d, k + 1) + at;
    g.c = state(c_, d) + at;
    g.reset_h = state(reset_h_, d) + at;
    g.z = state(z_, d) + at;
    g.state_row = w_.padded;
    g.y = t_.y + time * s_.y_time + d * s_.y_direction + part.row0 * s_.y_batch;
    g.y_row = s_.y_batch;
    if (w_.peepholes.size() > 0) g.peepholes = w_.peepholes.data() + d * 3 * w_.padded;
    if (t_.sequence_lens) g.lengths = t_.sequence_lens + part.row0;
    g.time = time;
    return g;
  }

  void set_functions(int64_t d, GateStep& g) const {
    const auto count = static_cast<size_t>(w_.op.num_activations());
    const auto function = [&](size_t i) -> GateFn {
      if (i >= count) return {};
      const ops::GateActivation& a = w_.op.activations[static_cast<size_t>(d) * count + i];
      return {a.function, static_cast<float>(a.alpha), static_cast<float>(a.beta)};
    };
    g.f = function(0), g.g = function(1), g.k = function(2);
    if (w_.op.clip) g.clip = static_cast<float>(*w_.op.clip);
    g.input_forget = w_.op.input_forget;
  }

  struct Columns {
    int64_t first, count;
  };
  /// u = bias + factor * R, of these columns. R comes a few panels at a time, there and back again, so that a step
  /// begins with those that the one before has left in the cache.
  void multiply_state(int64_t k, int64_t d, const float* factor, const Part& part, const Columns& columns,
                      const float* bias, float* u) const {
    constexpr int64_t kPanels = 4;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const int64_t width = kPanels * tiling().panel, blocks = ceil_div(columns.count, width);
    const float* table[kBlockRows];
    for (int64_t row0 = 0; row0 < part.rows; row0 += kBlockRows) {
      Block block{};
      block.rows = std::min(kBlockRows, part.rows - row0);
      for (int64_t i = 0; i < block.rows; ++i) table[i] = factor + (row0 + i) * w_.padded;
      block.a = table;
      block.k = s_.hidden;
      block.b_is_near = true;
      block.ldc = w_.columns;
      block.lo = -kInfinity, block.hi = kInfinity;
      for (int64_t i = 0; i < blocks; ++i) {
        const int64_t offset = (k % 2 ? blocks - 1 - i : i) * width, column = columns.first + offset;
        block.cols = std::min(width, columns.count - offset);
        block.b = w_.r[static_cast<size_t>(d)].data.data() + column * s_.hidden;
        block.c = u + row0 * w_.columns + column;
        block.bias = bias + column;
        run_block(block);
      }
    }
  }

  Team& team_;
  const RecurrencePlan& plan_;
  const RecurrenceWeights& w_;
  const ops::RecurrenceShape& s_;
  const RecurrenceTensors& t_;
  float *a_, *u_, *h_, *c_, *reset_h_, *z_;
};

}  // namespace

RecurrencePlan plan_recurrence(const RecurrenceWeights& weights, std::span<const int64_t> x, std::span<const int64_t> r,
                               int team_size) {
  constexpr int64_t kFloatsOfChunk = 1 << 18;  // a MiB, which stays in cache until the gates read it
  constexpr int64_t kRowsThatShareR = 4, kProductsOfPart = 1 << 16;
  RecurrencePlan plan{.weights = &weights, .shape = ops::RecurrenceShape::of(weights.op, x, r)};
  const ops::RecurrenceShape& s = plan.shape;
  const int64_t row = std::max<int64_t>(s.batch * weights.columns, 1);
  plan.chunk = std::clamp<int64_t>(kFloatsOfChunk / row, 1, std::max<int64_t>(s.time, 1));
  const int64_t threads = ceil_div(team_size, s.directions);
  plan.row_blocks = std::clamp<int64_t>(s.batch / kRowsThatShareR, 1, threads);
  const int64_t products = s.batch * s.hidden * weights.columns;
  if (plan.row_blocks < threads)
    plan.unit_blocks = std::clamp<int64_t>(
        std::min(products / kProductsOfPart, weights.padded / gate_group() / kGroupsOfPart), 1, threads);
  return plan;
}

Status run_recurrence(Team& team, const RecurrencePlan& plan, const RecurrenceTensors& tensors) {
  if (tensors.sequence_lens)
    for (int64_t row = 0; row < plan.shape.batch; ++row)
      TRY(require(tensors.sequence_lens[row] >= 0 && tensors.sequence_lens[row] <= plan.shape.time, "sequence_lens[",
                  row, "] is ", tensors.sequence_lens[row], ", outside [0, ", plan.shape.time, "]"));
  if (plan.shape.batch == 0 || plan.shape.hidden == 0) return {};  // time may be of any size then
  RecurrenceRun(team, plan, tensors).run();
  return {};
}

}  // namespace kiln::cpu
