// Recurrences by every variant of their tactic, against the reference; on a machine with a GPU only.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ops/recurrence.h"

namespace kiln::cuda {
namespace {

using ops::GateFunction;
using ops::Recurrence;
using ops::RecurrenceCell;

struct RecurrenceCase {
  const char* name;
  RecurrenceCell cell;
  int64_t time, batch, hidden;
  bool both_directions = false, linear_before_reset = false;
};

/// Both states are given where there are two.
Net recurrence_net(const RecurrenceCase& c, DType type, Net::Inputs given) {
  Recurrence op{.cell = c.cell, .linear_before_reset = c.linear_before_reset};
  if (c.both_directions) op.direction = ops::RecurrenceDirection::kBidirectional;
  for (int i = 0; i < op.num_directions() * op.num_activations(); ++i)
    op.activations.push_back({i % op.num_activations() == 0 ? GateFunction::kSigmoid : GateFunction::kTanh});
  Net net(type, given);
  const int64_t d = op.num_directions(), rows = op.num_gates() * c.hidden;
  std::vector<ir::ValueId> inputs{net.input({c.time, c.batch, d * rows}), ir::ValueId::kNone,
                                  net.constant({d, rows, c.hidden}, 0.5 / std::sqrt(c.hidden)),
                                  net.constant({d, 2 * rows}, 0.25), ir::ValueId::kNone};
  inputs.push_back(net.input({d, c.batch, c.hidden}));
  if (c.cell == RecurrenceCell::kLstm) inputs.push_back(net.input({d, c.batch, c.hidden}));
  const auto outputs = net.graph.add(op, inputs);
  EXPECT_TRUE(outputs) << outputs.error().message;
  if (outputs) net.finish((*outputs)[0]);
  return net;
}

class RecurrenceOnGpu : public OnGpu {
 protected:
  static const Tactic& tactic() { return *tactics_for(op_info<Recurrence>()).front(); }
};

TEST_F(RecurrenceOnGpu, AgreesWithItsReference) {
  for (const DType type : {DType::kF32, DType::kF16, DType::kBF16})
    for (const RecurrenceCase& c :
         {RecurrenceCase{"lstm", RecurrenceCell::kLstm, 9, 1, 256, true},
          RecurrenceCase{"lstm of many rows", RecurrenceCell::kLstm, 5, 21, 128},
          RecurrenceCase{"lstm of odd units", RecurrenceCell::kLstm, 4, 3, 131, true},
          RecurrenceCase{"large lstm", RecurrenceCell::kLstm, 3, 2, 1024},
          RecurrenceCase{"gru", RecurrenceCell::kGru, 9, 1, 256, true},
          RecurrenceCase{"gru of many rows", RecurrenceCell::kGru, 5, 13, 512},
          RecurrenceCase{"gru, linear before reset", RecurrenceCell::kGru, 5, 5, 200, true, true},
          RecurrenceCase{"rnn", RecurrenceCell::kRnn, 6, 4, 640, true}}) {
      const double tolerance = type == DType::kF32 ? 3e-6 : type == DType::kF16 ? 3e-3 : 2e-2;
      expect_agreement(str(c.name, " of ", name_of(type)), recurrence_net(c, type, Net::Inputs::kRandom), tactic(),
                       tolerance);
    }
}

TEST_F(RecurrenceOnGpu, DISABLED_RecurrenceRates) {
  for (const DType type : {DType::kF16, DType::kF32})
    for (const int64_t batch : {1, 32})
      for (const int64_t hidden : {128, 256, 512, 1024}) {
        const RecurrenceCase c{"lstm", RecurrenceCell::kLstm, 50, batch, hidden, true};
        const Net net = recurrence_net(c, type, Net::Inputs::kNone);
        const auto ran = run_variants(*gpu_, net.graph, tactic(), {}, {.timed = true, .made_up = true});
        ASSERT_TRUE(ran) << ran.error().message;
        for (const RanVariant& variant : *ran)
          std::printf("lstm of %lld, batch %lld, %s: %s %.2f us %s\n", static_cast<long long>(hidden),
                      static_cast<long long>(batch), std::string(name_of(type)).c_str(), variant.name.c_str(),
                      variant.time_us, variant.failure.c_str());
      }
}

}  // namespace
}  // namespace kiln::cuda
