// Recurrences with every instruction set are what the reference makes of them; however they are cut into chunks and
// parts, their bits are the same; what was packed comes back.
#include "backend/cpu/kernels/recurrence/recurrence.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "backend/cpu/kernels/recurrence/gates.h"
#include "backend/cpu/kernels/testing.h"
#include "ops/reference_context.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

using ops::GateFunction;
using ops::Recurrence;
using ops::RecurrenceCell;

constexpr int64_t kTime = 7, kBatch = 9, kInput = 5, kHidden = 170;

HostTensor random_tensor(Extents extents) {
  std::mt19937 random(static_cast<unsigned>(volume(extents)));
  std::uniform_real_distribution<double> uniform(-0.1, 0.1);
  std::vector<double> numbers(static_cast<size_t>(volume(extents)));
  for (double& x : numbers) x = uniform(random);
  return HostTensor::of(DType::kF32, std::move(extents), numbers);
}
Recurrence both_directions(RecurrenceCell cell) {
  Recurrence op{.cell = cell, .direction = ops::RecurrenceDirection::kBidirectional};
  for (int i = 0; i < 2 * op.num_activations(); ++i) op.activations.push_back({GateFunction::kTanh});
  return op;
}
/// Whether the kernel multiplies the input, or is given the products.
enum class Input { kMultiplied, kProducts };
int64_t input_width(const Recurrence& op, Input input) {
  return input == Input::kMultiplied ? kInput : 2 * op.num_gates() * kHidden;
}
RecurrenceWeights packed(const Recurrence& op, Input input = Input::kMultiplied) {
  const int64_t rows = op.num_gates() * kHidden;
  const HostTensor b = random_tensor({2, 2 * rows}), w = random_tensor({2, rows, kInput});
  return pack_recurrence(op, input == Input::kMultiplied ? &w : nullptr, random_tensor({2, rows, kHidden}), &b, nullptr)
      .value();
}

/// All outputs of a run on two threads.
std::vector<float> run(const RecurrencePlan& plan, std::vector<int32_t> lengths = {}) {
  Team team(2);
  const HostTensor x = random_tensor({kTime, kBatch, plan.weights->input}), h = random_tensor({2, kBatch, kHidden});
  constexpr int64_t kState = 2 * kBatch * kHidden;
  AlignedFloats workspace = AlignedFloats::zeros(plan.workspace_bytes() / 4).value();
  std::vector<float> out((kTime + 2) * kState);
  float* const y_h = out.data() + kTime * kState;
  EXPECT_TRUE(run_recurrence(team, plan,
                             {.x = x.data<float>(),
                              .sequence_lens = lengths.empty() ? nullptr : lengths.data(),
                              .initial_h = h.data<float>(),
                              .initial_c = nullptr,
                              .y = out.data(),
                              .y_h = y_h,
                              .y_c = plan.weights->op.cell == RecurrenceCell::kLstm ? y_h + kState : nullptr,
                              .workspace = workspace.data()}));
  return out;
}

/// What `run` has to give, where rows have all time steps.
std::vector<double> reference(const Recurrence& op, Input input) {
  const int64_t rows = op.num_gates() * kHidden;
  const std::vector<HostTensor> tensors{random_tensor({kTime, kBatch, input_width(op, input)}),
                                        random_tensor({2, rows, kInput}), random_tensor({2, rows, kHidden}),
                                        random_tensor({2, 2 * rows}), random_tensor({2, kBatch, kHidden})};
  std::vector<const HostTensor*> inputs{&tensors[0], &tensors[1], &tensors[2], &tensors[3], nullptr, &tensors[4]};
  if (input == Input::kProducts) inputs[Recurrence::kW] = nullptr;
  std::vector<double> all;
  const std::vector<HostTensor> outputs = run_reference(op, inputs).value();
  for (const HostTensor& output : outputs) {
    const std::vector<double> numbers = View(output).numbers();
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  all.resize((kTime + 2) * 2 * kBatch * kHidden);
  return all;
}
std::vector<Recurrence> cells() {
  std::vector<Recurrence> all;
  for (const RecurrenceCell cell : {RecurrenceCell::kRnn, RecurrenceCell::kLstm, RecurrenceCell::kGru})
    all.push_back(both_directions(cell));
  all.push_back(all.back());
  all.back().linear_before_reset = true;
  return all;
}

void expect_parts_to_agree(Input input) {
  for (const Recurrence& op : cells()) {
    const RecurrenceWeights weights = packed(op, input);
    RecurrencePlan plan = plan_recurrence(weights, Extents{kTime, kBatch, weights.input},
                                          Extents{2, op.num_gates() * kHidden, kHidden}, 1);
    EXPECT_EQ(plan.chunk, kTime);
    EXPECT_EQ(plan.row_blocks * plan.unit_blocks, 1);
    const std::vector<float> want = run(plan);
    const std::vector<double> numbers = reference(op, input);
    for (size_t i = 0; i < numbers.size(); ++i) ASSERT_NEAR(want[i], numbers[i], 2e-6) << str(op.cell, ' ', i);
    plan.chunk = 3;
    EXPECT_EQ(run(plan), want);
    plan.row_blocks = 4;
    EXPECT_EQ(run(plan), want);
    plan.row_blocks = 1, plan.unit_blocks = 3;
    EXPECT_EQ(run(plan), want);
    EXPECT_EQ(run(plan, std::vector<int32_t>(kBatch, kTime)), want);
    EXPECT_NE(run(plan, std::vector<int32_t>(kBatch, kTime - 1)), want);
  }
}
TEST(RecurrenceKernel, IsTheReferenceWhateverItsParts) {
  for_each_target([] { expect_parts_to_agree(Input::kMultiplied); });
  for_each_target([] { expect_parts_to_agree(Input::kProducts); });
}
TEST(RecurrenceKernel, ThreadsTakeRowsOrUnits) {
  const RecurrenceWeights weights = packed(both_directions(RecurrenceCell::kLstm));
  const auto plan = [&](int64_t batch, int threads) {
    return plan_recurrence(weights, Extents{kTime, batch, kInput}, Extents{2, 4 * kHidden, kHidden}, threads);
  };
  EXPECT_EQ(plan(9, 2).row_blocks * plan(9, 2).unit_blocks, 1) << "a thread for each direction";
  EXPECT_EQ(plan(9, 4).row_blocks, 2);
  EXPECT_EQ(plan(2, 4).row_blocks, 1) << "too few rows to read R twice";
  EXPECT_GT(plan(2, 4).unit_blocks, 1);
}
void expect_weights_back() {
  for (const Recurrence& op : cells()) {
    const HostTensor r = random_tensor({2, op.num_gates() * kHidden, kHidden});
    const HostTensor w = random_tensor({2, op.num_gates() * kHidden, kInput});
    const RecurrenceWeights weights = pack_recurrence(op, &w, r, nullptr, nullptr).value();
    std::vector<float> back(static_cast<size_t>(r.volume()));
    unpack_gates(weights, weights.r, back.data());
    EXPECT_EQ(back, std::vector<float>(r.data<float>(), r.data<float>() + r.volume()));
  }
}
TEST(RecurrenceKernel, WeightsComeBack) { for_each_target(expect_weights_back); }

}  // namespace
}  // namespace kiln::cpu
