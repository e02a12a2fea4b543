/// Recurrent networks of one layer: RNN, LSTM and GRU.
#pragma once

#include "ops/gate_function.h"
#include "ops/op.h"

namespace kiln::ops {

/// What one step of a recurrence computes.
enum class RecurrenceCell : int32_t { kRnn, kLstm, kGru };
std::span<const std::string_view> enum_names(RecurrenceCell);

enum class RecurrenceDirection : int32_t {
  kForward,
  kReverse,       ///< the last time step comes first
  kBidirectional  ///< direction 0 is forward, direction 1 is reverse
};
std::span<const std::string_view> enum_names(RecurrenceDirection);

/// The order of time and batch among x's axes.
enum class RecurrenceLayout : int32_t {
  kTimeMajor,  ///< x [time, batch, input], y [time, direction, batch, hidden], states [direction, batch, hidden]
  kBatchMajor  ///< x [batch, time, input], y [batch, time, direction, hidden], states [batch, direction, hidden]
};
std::span<const std::string_view> enum_names(RecurrenceLayout);

std::span<const std::string_view> enum_names(GateFunction);

struct GateActivation {
  GateFunction function = GateFunction::kSigmoid;
  double alpha = 0, beta = 0;
  static void reflect(auto& self, auto f) {
    f("function", self.function);
    f("alpha", self.alpha);
    f("beta", self.beta);
  }
  bool operator==(const GateActivation&) const = default;
};

/// One layer that carries a state h (an LSTM also a memory c) from each time step to the next, in one or two
/// directions. With x the step's input, h and c those of the step before, f, g and k the activations, and with
/// a_j = W_j x + wb_j and u_j = R_j h + rb_j for gate j (all products with vectors and matrices; * is elementwise):
///   kRnn    h' = f(a + u)
///   kLstm   i = f(a_i + u_i + p_i * c)          o = f(a_o + u_o + p_o * c')    v = f(a_v + u_v + p_v * c)
///           c' = v * c + i * g(a_c + u_c)       h' = o * k(c')                 gates i, o, v (forget), c
///   kGru    z = f(a_z + u_z)                    r = f(a_r + u_r)               gates z (update), r (reset), h
///           n = g(a_h + R_h (r * h) + rb_h)     h' = (1 - z) * n + z * h
///           linear_before_reset: n = g(a_h + r * u_h)
/// `clip` bounds the arguments of f and g (not of k) to [-clip, clip]. input_forget: v = 1 - i.
/// A row of the batch ends after sequence_lens time steps, reverse ones begin there: y is 0 beyond, and y_h and y_c are
/// the row's state at its end. That is the initial state where no step was taken.
///   in   x              a float type, 3 axes (RecurrenceLayout)
///        w              [directions, gates * hidden, input]; this and all other floats are of x's type. Absent: x has
///                       the products already, W_j x for each direction and gate, directions * gates * hidden of them
///        r              [directions, gates * hidden, hidden]
///        b              [directions, 2 * gates * hidden]: wb, then rb; absent: 0. This and all below may be absent
///        sequence_lens  i32 [batch], each in [0, time]; absent: time
///        initial_h      as y_h; absent: 0
///        initial_c      the same for kLstm
///        p              [directions, 3 * hidden], for kLstm: p_i, p_o, p_v; absent: 0
///   out  y              h' of every time step
///        y_h            h' of the last
///        y_c            c' of the last; kLstm alone
struct Recurrence {
  static constexpr std::string_view name = "Recurrence";
  static constexpr Trait traits = Trait::kContraction;
  static constexpr int min_inputs = 3, max_inputs = 8;
  enum Input { kX, kW, kR, kB, kSequenceLens, kInitialH, kInitialC, kP };
  enum Output { kY, kYH, kYC };

  RecurrenceCell cell = RecurrenceCell::kRnn;
  RecurrenceDirection direction = RecurrenceDirection::kForward;
  RecurrenceLayout layout = RecurrenceLayout::kTimeMajor;
  std::vector<GateActivation> activations;  ///< f, g and k as far as the cell has them, a direction after the other
  std::optional<double> clip;
  bool linear_before_reset = false;  ///< of kGru
  bool input_forget = false;         ///< of kLstm
  static void reflect(auto& self, auto f) {
    f("cell", self.cell);
    f("direction", self.direction);
    f("layout", self.layout);
    f("activations", self.activations);
    f("clip", self.clip);
    f("linear_before_reset", self.linear_before_reset);
    f("input_forget", self.input_forget);
  }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;

  int num_outputs() const { return cell == RecurrenceCell::kLstm ? 3 : 2; }
  int num_directions() const { return direction == RecurrenceDirection::kBidirectional ? 2 : 1; }
  int num_gates() const { return cell == RecurrenceCell::kLstm ? 4 : cell == RecurrenceCell::kGru ? 3 : 1; }
  /// Activations of one direction.
  int num_activations() const { return cell == RecurrenceCell::kLstm ? 3 : cell == RecurrenceCell::kGru ? 2 : 1; }
  bool is_reverse(int d) const { return d == 1 || direction == RecurrenceDirection::kReverse; }
  bool is_batch_major() const { return layout == RecurrenceLayout::kBatchMajor; }
};

/// The extents of a recurrence, and the steps through its tensors in elements.
struct RecurrenceShape {
  int64_t time, batch, input, hidden, directions;
  int64_t x_time, x_batch;               ///< of x
  int64_t y_time, y_batch, y_direction;  ///< of y
  int64_t state_batch, state_direction;  ///< of initial_h, initial_c, y_h and y_c

  static RecurrenceShape of(const Recurrence& op, std::span<const int64_t> x, std::span<const int64_t> r);
};

}  // namespace kiln::ops
