#include "ops/recurrence.h"

#include <algorithm>
#include <optional>

#include "ops/define.h"
#include "ops/recurrence-inl.h"

namespace kiln {
template const OpInfo& op_info<ops::Recurrence>();

namespace ops {
namespace {

using Numbers = std::vector<double>;

/// Fails unless input `i` is absent or of the type and extents of `wanted`.
Status require_input(InferContext& cx, int i, std::string_view what, const TensorType& wanted) {
  if (!cx.has_input(i)) return {};
  const TensorType& found = TRY(cx.input(i));
  TRY(cx.require(found.dtype == wanted.dtype && found.rank() == wanted.rank(), what, " is ", found, "; ", wanted,
                 " is needed"));
  for (size_t axis = 0; axis < wanted.shape.size(); ++axis)
    TRY(cx.assume_equal(found.shape[axis], wanted.shape[axis],
                        str("axis ", axis, " of ", what, " ", found, ", where ", wanted, " is needed")));
  return {};
}

Status require_attributes(InferContext& cx, const Recurrence& op) {
  const auto needed = static_cast<size_t>(op.num_directions() * op.num_activations());
  TRY(cx.require(op.activations.size() == needed, "there are ", op.activations.size(), " activations; ", op.cell,
                 " in ", op.num_directions(), " directions needs ", needed));
  TRY(cx.require(!op.clip || *op.clip >= 0, "clip is ", op.clip.value_or(0), "; it must not be negative"));
  TRY(cx.require(!op.linear_before_reset || op.cell == RecurrenceCell::kGru, "linear_before_reset is of gru alone"));
  TRY(cx.require(!op.input_forget || op.cell == RecurrenceCell::kLstm, "input_forget is of lstm alone"));
  for (const int i : {Recurrence::kInitialC, Recurrence::kP})
    TRY(cx.require(!cx.has_input(i) || op.cell == RecurrenceCell::kLstm, "input ", i, " is of lstm alone"));
  return {};
}

double activate(const GateActivation& a, double x) {
  return HWY_NAMESPACE::gate_activation(a.function, x, a.alpha, a.beta);
}

/// One direction's weights, and one step of it. `h` and `c` are the state of one row of the batch.
struct Layer {
  const Recurrence& op;
  size_t input, hidden;
  size_t first;  ///< of this direction's products among x's numbers, where w is absent
  Numbers w, r, wb, rb, p;
  std::span<const GateActivation> f;  ///< f, g and k

  double clipped(double x) const { return op.clip ? std::clamp(x, -*op.clip, *op.clip) : x; }
  /// Row `at` of R times h, with its bias.
  double recurrent(size_t at, const Numbers& h) const {
    double sum = rb[at];
    for (size_t i = 0; i < hidden; ++i) sum += r[at * hidden + i] * h[i];
    return sum;
  }
  /// a_j of all gates.
  Numbers inputs(std::span<const double> x) const {
    Numbers a = wb;
    for (size_t at = 0; w.empty() && at < a.size(); ++at) a[at] += x[first + at];
    for (size_t at = 0; !w.empty() && at < a.size(); ++at)
      for (size_t i = 0; i < input; ++i) a[at] += w[at * input + i] * x[i];
    return a;
  }
  void rnn(const Numbers& a, Numbers& h) const {
    Numbers next(hidden);
    for (size_t j = 0; j < hidden; ++j) next[j] = activate(f[0], clipped(a[j] + recurrent(j, h)));
    h = next;
  }
  void lstm(const Numbers& a, Numbers& h, Numbers& c) const {
    const auto gate = [&](size_t index, size_t j) { return a[index * hidden + j] + recurrent(index * hidden + j, h); };
    Numbers next(hidden);
    for (size_t j = 0; j < hidden; ++j) {
      const double i = activate(f[0], clipped(gate(0, j) + p[j] * c[j]));
      const double forget = op.input_forget ? 1 - i : activate(f[0], clipped(gate(2, j) + p[2 * hidden + j] * c[j]));
      c[j] = forget * c[j] + i * activate(f[1], clipped(gate(3, j)));
      const double o = activate(f[0], clipped(gate(1, j) + p[hidden + j] * c[j]));
      next[j] = o * activate(f[2], c[j]);
    }
    h = next;
  }
  void gru(const Numbers& a, Numbers& h) const {
    Numbers z(hidden), reset(hidden), kept = h, next(hidden);
    for (size_t j = 0; j < hidden; ++j) {
      z[j] = activate(f[0], clipped(a[j] + recurrent(j, h)));
      reset[j] = activate(f[0], clipped(a[hidden + j] + recurrent(hidden + j, h)));
      kept[j] = reset[j] * h[j];
    }
    for (size_t j = 0; j < hidden; ++j) {
      const size_t at = 2 * hidden + j;
      const double u = op.linear_before_reset ? reset[j] * recurrent(at, h) : recurrent(at, kept);
      next[j] = (1 - z[j]) * activate(f[1], clipped(a[at] + u)) + z[j] * h[j];
    }
    h = next;
  }
  void step(std::span<const double> x, Numbers& h, Numbers& c) const {
    const Numbers a = inputs(x);
    if (op.cell == RecurrenceCell::kRnn) return rnn(a, h);
    return op.cell == RecurrenceCell::kLstm ? lstm(a, h, c) : gru(a, h);
  }
};

/// `count` numbers of an input from `at` on; zeros if it is absent.
Result<Numbers> part(ReferenceContext& cx, int input, int64_t at, int64_t count) {
  Numbers result(static_cast<size_t>(count));
  if (!cx.has_input(input)) return result;
  const View view = TRY(cx.input(input));
  for (int64_t i = 0; i < count; ++i) result[static_cast<size_t>(i)] = view[at + i];
  return result;
}

Result<Layer> layer(const Recurrence& op, ReferenceContext& cx, const RecurrenceShape& s, int64_t d) {
  const int64_t rows = op.num_gates() * s.hidden;
  const auto count = static_cast<size_t>(op.num_activations());
  return Layer{
      op,
      static_cast<size_t>(s.input),
      static_cast<size_t>(s.hidden),
      static_cast<size_t>(d * rows),
      cx.has_input(Recurrence::kW) ? TRY(part(cx, Recurrence::kW, d * rows * s.input, rows * s.input)) : Numbers(),
      TRY(part(cx, Recurrence::kR, d * rows * s.hidden, rows * s.hidden)),
      TRY(part(cx, Recurrence::kB, d * 2 * rows, rows)),
      TRY(part(cx, Recurrence::kB, (d * 2 + 1) * rows, rows)),
      TRY(part(cx, Recurrence::kP, d * 3 * s.hidden, 3 * s.hidden)),
      std::span(op.activations).subspan(static_cast<size_t>(d) * count, count)};
}

/// Runs one row of the batch through one direction.
Status run_row(const Layer& layer, ReferenceContext& cx, const RecurrenceShape& s, int64_t d, int64_t row) {
  const View x = TRY(cx.input(Recurrence::kX));
  const MutableView y = TRY(cx.output(Recurrence::kY));
  const int64_t state = d * s.state_direction + row * s.state_batch;
  Numbers h = TRY(part(cx, Recurrence::kInitialH, state, s.hidden));
  Numbers c = TRY(part(cx, Recurrence::kInitialC, state, s.hidden));
  const auto write = [&](const MutableView& to, int64_t at, const Numbers& from) {
    for (int64_t j = 0; j < s.hidden; ++j) to.set(at + j, from[static_cast<size_t>(j)]);
  };
  int64_t length = s.time;
  if (cx.has_input(Recurrence::kSequenceLens)) length = TRY(cx.input(Recurrence::kSequenceLens)).integer(row);
  TRY(require(length >= 0 && length <= s.time, "sequence_lens[", row, "] is ", length, ", outside [0, ", s.time, "]"));
  for (int64_t k = 0; k < s.time; ++k) {
    const int64_t t = layer.op.is_reverse(static_cast<int>(d)) ? s.time - 1 - k : k;
    const int64_t at = t * s.y_time + d * s.y_direction + row * s.y_batch;
    if (t < length) {
      Numbers now(static_cast<size_t>(s.input));
      for (int64_t i = 0; i < s.input; ++i) now[static_cast<size_t>(i)] = x[t * s.x_time + row * s.x_batch + i];
      layer.step(now, h, c);
    }
    write(y, at, t < length ? h : Numbers(h.size()));
  }
  write(TRY(cx.output(Recurrence::kYH)), state, h);
  if (layer.op.cell == RecurrenceCell::kLstm) write(TRY(cx.output(Recurrence::kYC)), state, c);
  return {};
}

}  // namespace

std::span<const std::string_view> enum_names(RecurrenceCell) {
  static constexpr std::string_view kNames[] = {"rnn", "lstm", "gru"};
  return kNames;
}
std::span<const std::string_view> enum_names(RecurrenceDirection) {
  static constexpr std::string_view kNames[] = {"forward", "reverse", "bidirectional"};
  return kNames;
}
std::span<const std::string_view> enum_names(RecurrenceLayout) {
  static constexpr std::string_view kNames[] = {"time_major", "batch_major"};
  return kNames;
}
std::span<const std::string_view> enum_names(GateFunction) {
  static constexpr std::string_view kNames[] = {
      "sigmoid",  "tanh",         "relu",        "leaky_relu",       "elu",   "softsign",
      "softplus", "hard_sigmoid", "scaled_tanh", "thresholded_relu", "affine"};
  return kNames;
}

RecurrenceShape RecurrenceShape::of(const Recurrence& op, std::span<const int64_t> x, std::span<const int64_t> r) {
  const bool batch_major = op.is_batch_major();
  RecurrenceShape s{};
  s.time = x[batch_major ? 1 : 0];
  s.batch = x[batch_major ? 0 : 1];
  s.input = x[2];
  s.hidden = r[2];
  s.directions = op.num_directions();
  s.x_time = batch_major ? s.input : s.batch * s.input;
  s.x_batch = batch_major ? s.time * s.input : s.input;
  s.y_direction = batch_major ? s.hidden : s.batch * s.hidden;
  s.y_time = s.directions * s.y_direction;
  s.y_batch = batch_major ? s.time * s.y_time : s.hidden;
  s.state_batch = batch_major ? s.directions * s.hidden : s.hidden;
  s.state_direction = batch_major ? s.hidden : s.batch * s.hidden;
  return s;
}

Status Recurrence::infer(InferContext& cx) const {
  const TensorType& x = TRY(cx.input(kX));
  const TensorType& r = TRY(cx.input(kR));
  TRY(cx.require(is_float(x.dtype) && x.rank() == 3, "x is ", x, "; three axes of a float type are needed"));
  TRY(cx.require(r.rank() == 3 && r.shape[2].is_const(), "r is ", r,
                 "; [directions, gates * hidden, hidden] is needed, and hidden must be a constant"));
  TRY(require_attributes(cx, *this));
  const bool batch_major = is_batch_major();
  const sym::Expr time = x.shape[batch_major ? 1 : 0], batch = x.shape[batch_major ? 0 : 1], hidden = r.shape[2];
  const sym::Expr directions = num_directions(), rows = hidden * num_gates();
  TRY(require_input(cx, kW, "w", TensorType(x.dtype, {directions, rows, x.shape[2]})));
  if (!cx.has_input(kW))
    TRY(cx.assume_equal(x.shape[2], directions * rows, str("axis 2 of x ", x, ", the products for r ", r)));
  TRY(require_input(cx, kR, "r", TensorType(x.dtype, {directions, rows, hidden})));
  TRY(require_input(cx, kB, "b", TensorType(x.dtype, {directions, rows * 2})));
  TRY(require_input(cx, kSequenceLens, "sequence_lens", TensorType(DType::kI32, {batch})));
  const TensorType state(x.dtype, batch_major ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden});
  TRY(require_input(cx, kInitialH, "initial_h", state));
  TRY(require_input(cx, kInitialC, "initial_c", state));
  TRY(require_input(cx, kP, "p", TensorType(x.dtype, {directions, hidden * 3})));
  TRY(cx.set_output(kY, TensorType(x.dtype, batch_major ? Shape{batch, time, directions, hidden}
                                                        : Shape{time, directions, batch, hidden})));
  TRY(cx.set_output(kYH, state));
  return cell == RecurrenceCell::kLstm ? cx.set_output(kYC, state) : Status();
}

Status Recurrence::reference(ReferenceContext& cx) const {
  const RecurrenceShape s = RecurrenceShape::of(*this, TRY(cx.input(kX)).extents(), TRY(cx.input(kR)).extents());
  for (int64_t d = 0; d < s.directions; ++d) {
    const Layer one = TRY(layer(*this, cx, s, d));
    for (int64_t row = 0; row < s.batch; ++row) TRY(run_row(one, cx, s, d, row));
  }
  return {};
}

}  // namespace ops
}  // namespace kiln
