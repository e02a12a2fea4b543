/// The gates of a recurrence's time step: from the products of its input and of its state to the next state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "ops/recurrence.h"

namespace kiln::cpu {

/// Vectors in which hidden units are grouped: the columns of packed products are [group][gate][unit of the group].
int64_t gate_group();

struct GateFn {
  ops::GateFunction function = ops::GateFunction::kSigmoid;
  float alpha = 0, beta = 0;
};

/// What one pass over gates computes.
enum class GatePass : uint8_t {
  kRnn,
  kLstm,
  kGruResets,  ///< z (kept where u_z was) and r * h
  kGruState,   ///< h' from z and the product of r * h
  kGruLinear   ///< h' at once: linear_before_reset
};

/// Rows of the batch, and groups [group0, group1) of hidden units. Rows of h and of what is like it are padded to
/// whole groups; lanes beyond `hidden` hold finite numbers that nobody reads.
struct GateStep {
  GatePass pass;
  bool input_forget = false;
  GateFn f, g, k;
  float clip = std::numeric_limits<float>::infinity();
  int64_t rows = 0, group0 = 0, group1 = 0, hidden = 0;
  const float* a = nullptr;  ///< products of the input, with biases; kGruState's columns are those of its gate alone
  ptrdiff_t a_row = 0;
  const float* u = nullptr;  ///< products of the state, with what biases they have
  ptrdiff_t u_row = 0;
  const float* h = nullptr;  ///< the state before; `state_row` is between its rows, and those of all below but y
  float* next_h = nullptr;
  float* c = nullptr;        ///< kLstm: in and out
  float* reset_h = nullptr;  ///< kGruResets: r * h
  float* z = nullptr;        ///< kGruResets writes it, kGruState reads it
  ptrdiff_t state_row = 0;
  float* y = nullptr;
  ptrdiff_t y_row = 0;
  const float* peepholes = nullptr;  ///< [3][state_row] of kLstm, or null
  const int32_t* lengths = nullptr;  ///< of the rows, or null; a row that has ended keeps its state and gives zeros
  int64_t time = 0;
};
void run_gates(const GateStep& step);

}  // namespace kiln::cpu
