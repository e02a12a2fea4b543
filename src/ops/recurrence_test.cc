#include "ops/recurrence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ops/infer_context.h"
#include "ops/reference_context.h"
#include "ops/testing/case.h"
#include "ops/testing/symbolic.h"

namespace kiln {
namespace {
using ops::GateActivation;
using ops::GateFunction;
using ops::Recurrence;
using ops::RecurrenceCell;
using ops::RecurrenceDirection;
using ops::RecurrenceLayout;
using Numbers = std::vector<double>;

constexpr auto kLstm = RecurrenceCell::kLstm;
constexpr auto kGru = RecurrenceCell::kGru;
constexpr auto kReverse = RecurrenceDirection::kReverse;
constexpr auto kBoth = RecurrenceDirection::kBidirectional;
constexpr auto kBatchMajor = RecurrenceLayout::kBatchMajor;
const GateActivation kSigmoid{GateFunction::kSigmoid}, kTanh{GateFunction::kTanh}, kRelu{GateFunction::kRelu},
    kLine{GateFunction::kAffine, 1, 0};

Recurrence rnn() { return {.activations = {kTanh}}; }
Recurrence lstm() { return {.cell = kLstm, .activations = {kSigmoid, kTanh, kTanh}}; }
Recurrence gru() { return {.cell = kGru, .activations = {kSigmoid, kTanh}}; }
/// The op with what `change` does to it, and its activations once for each direction.
Recurrence with(Recurrence op, void (*change)(Recurrence&)) {
  change(op);
  if (op.direction == kBoth && op.activations.size() == static_cast<size_t>(op.num_activations()))
    op.activations.insert(op.activations.end(), op.activations.begin(), op.activations.begin() + op.num_activations());
  return op;
}

/// Constants so small that errors do not grow from step to step.
CaseInput weights(Extents extents, DType dtype = DType::kF32) {
  Numbers literal(static_cast<size_t>(volume(extents)));
  uint32_t state = 1;
  for (double& x : literal) {
    state = state * 1664525 + 1013904223;
    x = (state >> 8) / double{1 << 24} * 0.6 - 0.3;
  }
  return {.extents = std::move(extents), .dtype = dtype, .literal = std::move(literal), .constant = true};
}
const CaseInput kAbsent{.extents = {}, .absent = true};
struct Sizes {
  int64_t time, batch, input, hidden;
};
/// x, w, r and b, and with kAll the initial state too.
enum class Given : uint8_t { kNoBias, kBias, kAll };
std::vector<CaseInput> inputs(const Recurrence& op, Sizes s, Given given, DType dtype = DType::kF32) {
  const int64_t d = op.num_directions(), rows = op.num_gates() * s.hidden;
  const auto major = [&](int64_t outer, int64_t last) {
    return op.is_batch_major() ? Extents{s.batch, outer, last} : Extents{outer, s.batch, last};
  };
  std::vector<CaseInput> all{
      {major(s.time, s.input), dtype}, weights({d, rows, s.input}, dtype), weights({d, rows, s.hidden}, dtype)};
  if (given == Given::kNoBias) return all;
  all.push_back(weights({d, 2 * rows}, dtype));
  if (given == Given::kBias) return all;
  all.push_back(kAbsent);
  all.push_back({major(d, s.hidden), dtype});
  if (op.cell == kLstm) all.push_back({major(d, s.hidden), dtype});
  return all;
}
std::vector<CaseInput> with_lengths(std::vector<CaseInput> all, Numbers lengths) {
  const Extents extents{static_cast<int64_t>(lengths.size())};
  const CaseInput input{.extents = extents, .dtype = DType::kI32, .literal = std::move(lengths)};
  if (all.size() > 4)
    all[4] = input;
  else
    all.push_back(input);
  return all;
}
CaseTable<Recurrence>::Row row(std::string name, Recurrence op, Sizes s, Given given = Given::kAll) {
  std::vector<CaseInput> all = inputs(op, s, given);
  return {std::move(name), std::move(op), std::move(all)};
}
CaseTable<Recurrence>::Row ragged(std::string name, Recurrence op, Sizes s, Numbers lengths) {
  std::vector<CaseInput> all = with_lengths(inputs(op, s, Given::kAll), std::move(lengths));
  return {std::move(name), std::move(op), std::move(all)};
}
CaseTable<Recurrence>::Row peepholes(std::string name, Recurrence op, Sizes s) {
  std::vector<CaseInput> all = inputs(op, s, Given::kAll);
  all.push_back(weights({op.num_directions(), 3 * s.hidden}));
  return {std::move(name), std::move(op), std::move(all)};
}
CaseTable<Recurrence>::Row computed(std::string name, Recurrence op, Sizes s) {
  std::vector<CaseInput> all = inputs(op, s, Given::kAll);
  for (CaseInput& input : all) input.constant = false;
  return {std::move(name), std::move(op), std::move(all)};
}
CaseTable<Recurrence>::Row multiplied(std::string name, Recurrence op, Sizes s) {
  s.input = op.num_directions() * op.num_gates() * s.hidden;
  std::vector<CaseInput> all = inputs(op, s, Given::kAll);
  all[Recurrence::kW] = kAbsent;
  return {std::move(name), std::move(op), std::move(all)};
}
CaseTable<Recurrence>::Row half(std::string name, Recurrence op, Sizes s, DType dtype) {
  std::vector<CaseInput> all = inputs(op, s, Given::kAll, dtype);
  return {std::move(name), std::move(op), std::move(all)};
}
void both(Recurrence& op) { op.direction = kBoth; }
void reverse(Recurrence& op) { op.direction = kReverse; }
void batch_major(Recurrence& op) { op.direction = kBoth, op.layout = kBatchMajor; }

const CaseTable<Recurrence> kCases{
    row("rnn", rnn(), {7, 3, 5, 6}),
    row("rnn, one of all", rnn(), {1, 1, 1, 1}, Given::kNoBias),
    row("rnn, both directions", with(rnn(), both), {5, 2, 9, 17}),
    row("rnn, batch major", with(rnn(), batch_major), {5, 3, 9, 17}),
    row("lstm", lstm(), {7, 3, 5, 6}),
    row("lstm, no bias", lstm(), {6, 1, 5, 17}, Given::kNoBias),
    row("lstm, no state", lstm(), {6, 2, 5, 17}, Given::kBias),
    row("lstm, one step", lstm(), {1, 1, 257, 128}),
    row("lstm, reverse", with(lstm(), reverse), {7, 2, 5, 17}),
    row("lstm, both directions", with(lstm(), both), {9, 1, 13, 48}),
    row("lstm, columns for threads", lstm(), {3, 1, 8, 320}),
    row("lstm, rows for threads", with(lstm(), both), {4, 37, 8, 48}),
    row("lstm, batch major", with(lstm(), batch_major), {6, 5, 9, 17}),
    row("lstm, clipped", with(lstm(), [](Recurrence& op) { op.clip = 0.25; }), {7, 3, 5, 6}),
    row("lstm, one gate for input and forget", with(lstm(), [](Recurrence& op) { op.input_forget = true; }),
        {7, 3, 5, 17}),
    peepholes("lstm, peepholes", with(lstm(), both), {7, 3, 5, 17}),
    ragged("lstm, rows that end", with(lstm(), both), {7, 4, 5, 17}, {7, 0, 3, 1}),
    ragged("lstm, rows that end, batch major", with(lstm(), batch_major), {7, 4, 5, 17}, {2, 7, 0, 6}),
    row("lstm, no step", lstm(), {0, 3, 5, 6}),
    row("lstm, no row", lstm(), {4, 0, 5, 6}),
    row("lstm, activations of many kinds",
        with(lstm(),
             [](Recurrence& op) {
               op.direction = kBoth;
               op.activations = {{GateFunction::kHardSigmoid, 0.2, 0.5}, {GateFunction::kSoftsign},
                                 {GateFunction::kScaledTanh, 0.9, 0.7},  {GateFunction::kElu, 0.8},
                                 {GateFunction::kLeakyRelu, 0.1},        {GateFunction::kAffine, 0.5, 0.1}};
             }),
        {6, 3, 5, 17}),
    computed("lstm, weights of the run", lstm(), {4, 2, 5, 6}),
    multiplied("lstm, products of the input", with(lstm(), both), {4, 2, 5, 6}),
    multiplied("gru, products of the input", with(gru(), batch_major), {4, 3, 5, 17}),
    half("lstm, f16", lstm(), {4, 2, 5, 6}, DType::kF16),
    half("lstm, bf16", lstm(), {4, 2, 5, 6}, DType::kBF16),
    row("gru", gru(), {7, 3, 5, 6}),
    row("gru, no bias", gru(), {6, 1, 5, 17}, Given::kNoBias),
    row("gru, both directions", with(gru(), both), {9, 1, 13, 48}),
    row("gru, columns for threads", gru(), {3, 1, 8, 320}),
    row("gru, batch major", with(gru(), batch_major), {6, 5, 9, 17}),
    row("gru, linear before reset",
        with(gru(),
             [](Recurrence& op) {
               op.direction = kBoth;
               op.linear_before_reset = true;
             }),
        {7, 3, 5, 17}),
    ragged("gru, rows that end", with(gru(), reverse), {7, 4, 5, 17}, {7, 0, 3, 1}),
    row("gru, clipped", with(gru(), [](Recurrence& op) { op.clip = 0.25; }), {7, 3, 5, 6}),
    row("gru, activations of other kinds",
        with(gru(),
             [](Recurrence& op) {
               op.direction = kBoth;
               op.activations = {kSigmoid, {GateFunction::kSoftplus}, kSigmoid, {GateFunction::kThresholdedRelu, 0.3}};
             }),
        {6, 2, 5, 17}),
    row("rnn, relu", with(rnn(), [](Recurrence& op) { op.activations = {kRelu}; }), {7, 3, 5, 17}),
};

/// All outputs of the reference.
std::vector<Numbers> answers(const Recurrence& op, const std::vector<CaseInput>& inputs) {
  std::vector<HostTensor> tensors(inputs.size());
  std::vector<const HostTensor*> pointers(inputs.size(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].absent) continue;
    tensors[i] = HostTensor::of(inputs[i].dtype, inputs[i].extents, inputs[i].literal);
    pointers[i] = &tensors[i];
  }
  const auto outputs = run_reference(op, pointers);
  if (!outputs) throw CheckFailed{outputs.error().message};
  std::vector<Numbers> result;
  for (const HostTensor& output : *outputs) result.push_back(View(output).numbers());
  return result;
}
const CaseInput kX = numbers({3, 1, 1}, {1, 2, -10});

TEST(Recurrence, AnRnnByHand) {
  // h' = max(2 x + 1 + h / 2 - 1, 0)
  const Recurrence op{.activations = {kRelu}};
  const std::vector<CaseInput> given{kX, numbers({1, 1, 1}, {2}), numbers({1, 1, 1}, {0.5}), numbers({1, 2}, {1, -1})};
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{2, 5, 0}, {0}}));
  EXPECT_EQ(answers(with(op, reverse), given), (std::vector<Numbers>{{4, 4, 0}, {4}}));
  EXPECT_EQ(answers(op, with_lengths(given, {2})), (std::vector<Numbers>{{2, 5, 0}, {5}}));
  EXPECT_EQ(answers(with(op, reverse), with_lengths(given, {1})), (std::vector<Numbers>{{2, 0, 0}, {2}}));
  std::vector<CaseInput> from_four = with_lengths(given, {0});
  from_four.push_back(numbers({1, 1, 1}, {4}));
  EXPECT_EQ(answers(op, from_four), (std::vector<Numbers>{{0, 0, 0}, {4}}));
  from_four[4] = kAbsent;
  EXPECT_EQ(answers(op, from_four), (std::vector<Numbers>{{4, 6, 0}, {0}}));
  EXPECT_EQ(answers({.activations = {kRelu}, .clip = 3}, given), (std::vector<Numbers>{{2, 3, 0}, {0}}));
}
TEST(Recurrence, ProductsOfTheInputByHand) {
  // Two directions of h' = max(a + 1 + h / 2, 0), a where w x stood.
  Recurrence op{.direction = kBoth, .activations = {kRelu, kRelu}};
  EXPECT_EQ(answers(op, {numbers({2, 1, 2}, {2, 10, 4, 20}), kAbsent, numbers({2, 1, 1}, {0.5, 0.5}),
                         numbers({2, 2}, {1, 0, 1, 0})}),
            (std::vector<Numbers>{{3, 21.5, 6.5, 21}, {6.5, 21.5}}));
  EXPECT_EQ(infer_error(op, {{{2, 1, 3}}, kAbsent, {{2, 1, 1}}}),
            "axis 2 of x f32[2, 1, 3], the products for r f32[2, 1, 1]: 3 and 2 differ");
}
TEST(Recurrence, AnLstmByHand) {
  Recurrence op{.cell = kLstm, .activations = {kLine, kLine, kLine}};
  std::vector<CaseInput> given{numbers({2, 1, 1}, {1, 2}), numbers({1, 4, 1}, {1, 2, 0.5, 3}),
                               numbers({1, 4, 1}, {1, 0, 0, 1})};
  // i = 1, v = 0.5, c = 1 * 3, o = 2; then i = 2 + 6, v = 1, c = 1 * 3 + 8 * (6 + 6), o = 4
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{6, 396}, {396}, {99}}));
  op.input_forget = true;  // then v = 1 - 8, c = -7 * 3 + 96
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{6, 300}, {300}, {75}}));
  op.input_forget = false;
  given[0] = numbers({1, 1, 1}, {1});
  for (int i = 0; i < 3; ++i) given.push_back(kAbsent);
  given.push_back(numbers({1, 1, 1}, {2}));
  given.push_back(numbers({1, 3}, {1, 10, 100}));
  // i = 1 + 2, v = 0.5 + 200, c = 200.5 * 2 + 3 * 3, o = 2 + 10 * 410
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{4102.0 * 410}, {4102.0 * 410}, {410}}));
}
TEST(Recurrence, AGruByHand) {
  Recurrence op{.cell = kGru, .activations = {kLine, kLine}};
  const std::vector<CaseInput> given{numbers({1, 1, 1}, {1}),
                                     numbers({1, 3, 1}, {0.25, 2, 3}),
                                     numbers({1, 3, 1}, {0.25, 0.5, 1}),
                                     numbers({1, 6}, {0, 0, 0, 0, 0, 1}),
                                     kAbsent,
                                     numbers({1, 1, 1}, {2})};
  // z = 0.75, r = 3; n = 3 + 3 * 2 + 1, or 3 + 3 * (2 + 1)
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{4}, {4}}));
  op.linear_before_reset = true;
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{4.5}, {4.5}}));
}
TEST(Recurrence, LayoutsAndDirectionsByHand) {
  // Two rows in two directions of h' = x + h, the second direction h' = x - h.
  Recurrence op{.direction = kBoth, .activations = {kLine, kLine}};
  std::vector<CaseInput> given{numbers({3, 2, 1}, {1, 10, 2, 20, 3, 30}), numbers({2, 1, 1}, {1, 1}),
                               numbers({2, 1, 1}, {1, -1})};
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{1, 10, 2, 20, 3, 30, -1, -10, 6, 60, 3, 30}, {6, 60, 2, 20}}));
  op.layout = kBatchMajor;
  given[0] = numbers({2, 3, 1}, {1, 2, 3, 10, 20, 30});
  EXPECT_EQ(answers(op, given), (std::vector<Numbers>{{1, 2, 3, -1, 6, 3, 10, 20, 30, -10, 60, 30}, {6, 2, 60, 20}}));
}
TEST(Recurrence, InfersSymbolically) {
  sym::Table t;
  const sym::Expr s = t.symbol("s"), n = t.symbol("n");
  const std::vector<TensorType> given{
      {DType::kF16, {s, n, 64}}, {DType::kF16, {2, 1024, 64}}, {DType::kF16, {2, 1024, 256}}};
  EXPECT_EQ(inferred(with(lstm(), both), given, t), "f16[s, 2, n, 256]");
  EXPECT_EQ(inferred(with(lstm(), batch_major), given, t), "f16[s, n, 2, 256]");
}
TEST(Recurrence, SaysWhatIsWrong) {
  const std::vector<CaseInput> given = inputs(gru(), {2, 3, 4, 5}, Given::kAll);
  const auto changed = [&](size_t i, CaseInput input) {
    std::vector<CaseInput> other = given;
    other[i] = std::move(input);
    return other;
  };
  EXPECT_EQ(infer_error(gru(), changed(0, {{2, 3}})), "x is f32[2, 3]; three axes of a float type are needed");
  EXPECT_EQ(infer_error(gru(), changed(1, {{1, 16, 4}})),
            "axis 1 of w f32[1, 16, 4], where f32[1, 15, 4] is needed: 16 and 15 differ");
  EXPECT_EQ(infer_error(gru(), changed(5, {{1, 3, 5}, DType::kF16})),
            "initial_h is f16[1, 3, 5]; f32[1, 3, 5] is needed");
  EXPECT_EQ(infer_error(rnn(), inputs(lstm(), {2, 3, 4, 5}, Given::kAll)), "input 6 is of lstm alone");
  EXPECT_EQ(infer_error(with(gru(), [](Recurrence& op) { op.activations.pop_back(); }), given),
            "there are 1 activations; gru in 1 directions needs 2");
  EXPECT_EQ(infer_error(with(gru(), [](Recurrence& op) { op.clip = -1; }), given),
            "clip is -1; it must not be negative");
  try {
    answers({.activations = {kRelu}},
            {kX, numbers({1, 1, 1}, {2}), numbers({1, 1, 1}, {2}), kAbsent, numbers({1}, {4}, DType::kI32)});
    ADD_FAILURE() << "a length beyond the axis was taken";
  } catch (const CheckFailed& e) {
    EXPECT_EQ(e.message, "sequence_lens[0] is 4, outside [0, 3]");
  }
}

}  // namespace
}  // namespace kiln
