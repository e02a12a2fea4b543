/// The cell of a recurrent network in a loop's body: LSTM, GRU, or plain.
#pragma once

#include <vector>

#include "ops/recurrence.h"
#include "passes/linear_form.h"

namespace kiln::passes {

/// The argument of a gate's activation is the sum of these parts.
struct CellGate {
  std::vector<LinearTerm> inputs;      ///< of values that are not the state
  ir::ValueId r = ir::ValueId::kNone;  ///< [features..., hidden]
  ir::ValueId input_bias = ir::ValueId::kNone;
  ir::ValueId state_bias = ir::ValueId::kNone;  ///< of GRU's last gate, where the reset gate multiplies it
  ir::ValueId peephole = ir::ValueId::kNone;    ///< times the memory: a vector of constants
};

/// A step of a recurrence.
struct RecurrentCell {
  ops::Recurrence op;           ///< its cell, activations and linear_before_reset
  std::vector<CellGate> gates;  ///< in the op's order
  int64_t hidden = 0;
  /// A Recurrence of one time step that is the cell; exporters write single cells so. Its weights are those of the
  /// node, and `gates` is one that reads the node's input as a whole.
  ir::NodeId step = ir::NodeId::kNone;
  std::vector<ir::ValueId> decided_by;  ///< constants whose elements the cell's form depends on
};

/// A carried value of the body: before and behind an iteration.
struct CarriedState {
  ir::ValueId before = ir::ValueId::kNone, after = ir::ValueId::kNone;
};

/// The cells that carry h alone, and that carry h and c. The error says what is different.
Result<RecurrentCell> find_plain_cell(LinearForms& forms, const CarriedState& h);
Result<RecurrentCell> find_gru_cell(LinearForms& forms, const CarriedState& h);
Result<RecurrentCell> find_lstm_cell(LinearForms& forms, const CarriedState& h, const CarriedState& c);
/// A Recurrence of one time step that carries h, and c if that is not null.
Result<RecurrentCell> find_step(LinearForms& forms, const CarriedState& h, const CarriedState* c);

}  // namespace kiln::passes
