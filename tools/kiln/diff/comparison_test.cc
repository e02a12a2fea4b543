/// Engines with a kernel that computes something wrong, engines that are right, and networks that overflow.
#include "kiln/diff/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "backend/cpu/device/cpu_device.h"
#include "backend/cpu/exec/executor.h"
#include "backend/cpu/tactics/backend.h"
#include "ir/parse.h"
#include "kiln/diff/engine_side.h"
#include "kiln/diff/reference_side.h"
#include "kiln/diff/report_json.h"
#include "kiln/diff/report_page.h"
#include "kiln/diff/report_text.h"
#include "plan/json.h"
#include "steps/copy.h"
#include "tensor/view.h"

namespace kiln::diff {
namespace {

/// Runs a step and then makes the first element of its first output wrong.
class FaultyBound final : public BoundStep {
 public:
  FaultyBound(std::unique_ptr<BoundStep> right, DType type) : right_(std::move(right)), type_(type) {}
  int64_t workspace_bytes() const override { return right_->workspace_bytes(); }
  Status run(const RunArguments& arguments) override {
    TRY(right_->run(arguments));
    auto* const data = static_cast<std::byte*>(arguments.outputs[0]);
    const double was = load_number(type_, data, 0);
    store_number(type_, data, 0, type_ == DType::kBool ? 1 - was : was + 1 + std::abs(was));
    return {};
  }
  bool has_check() const override { return right_->has_check(); }
  Status check() override { return right_->check(); }

 private:
  std::unique_ptr<BoundStep> right_;
  DType type_;
};

class FaultyLoaded final : public LoadedStep {
 public:
  FaultyLoaded(std::unique_ptr<LoadedStep> right, DType type) : right_(std::move(right)), type_(type) {}
  int64_t packed_bytes() const override { return right_->packed_bytes(); }
  const PacksConstants* packs_constants() const override { return right_->packs_constants(); }

 protected:
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    return std::make_unique<FaultyBound>(TRY(right_->bind(shapes)), type_);
  }

 private:
  std::unique_ptr<LoadedStep> right_;
  DType type_;
};

/// The CPU's executor, whose steps of one kind are wrong.
class FaultyExecutor final : public Executor {
 public:
  FaultyExecutor(cpu::Team& team, std::string kind) : right_(team), kind_(std::move(kind)) {}
  std::string_view name() const override { return right_.name(); }

 protected:
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                   std::span<const HostTensor* const> constants) override {
    auto loaded = TRY(right_.load(spec, constants));
    if (spec.step.name() != kind_) return loaded;
    return std::make_unique<FaultyLoaded>(std::move(loaded), spec.outputs[0].dtype);
  }

 private:
  cpu::CpuExecutor right_;
  std::string kind_;
};

std::shared_ptr<const plan::Plan> built(const ir::Graph& graph, BuildRequest request = {}) {
  auto device = *cpu::CpuDevice::create();
  device->set_executor(std::make_unique<cpu::CpuExecutor>(device->team()));
  cpu::CpuBackend backend(*device);
  NullLog log;
  auto plan = build_plan(graph, backend, request, log);
  EXPECT_TRUE(plan) << plan.error().message;
  return std::make_shared<const plan::Plan>(*std::move(plan));
}

/// A session of the plan, in which steps of the kind `faulty` are wrong.
Session session_of(std::shared_ptr<const plan::Plan> plan, std::string faulty = "") {
  Session session;
  auto device = *cpu::CpuDevice::create();
  device->set_executor(std::make_unique<FaultyExecutor>(device->team(), std::move(faulty)));
  session.device = std::move(device);
  session.plan = std::move(plan);
  NullLog log;
  session.engine = *runtime::Engine::load(session.plan, *session.device, log);
  session.context = *runtime::Context::create(session.engine, runtime::Context::Memory::kOwn);
  session.stream = *session.device->create_stream();
  return session;
}

std::unique_ptr<EngineSide> engine(std::shared_ptr<const plan::Plan> plan, std::string faulty = "") {
  return *EngineSide::create(session_of(std::move(plan), std::move(faulty)), 0, "m.plan");
}

std::unique_ptr<ReferenceSide> reference(const ir::Graph& graph) { return *ReferenceSide::create(graph, "m.onnx"); }

ir::Graph parsed(const std::string& text) {
  auto graph = ir::parse(text);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

HostTensor waves(DType type, const Extents& extents, double scale = 1) {
  std::vector<double> numbers;
  for (int64_t i = 0; i < volume(extents); ++i) numbers.push_back(scale * std::sin(0.7 * static_cast<double>(i) + 0.3));
  return HostTensor::of(type, extents, numbers);
}

std::string constant(const Extents& extents) {
  std::string text = str("Constant{value=f32", extents, "(");
  const HostTensor values = waves(DType::kF32, extents);
  for (int64_t i = 0; i < values.volume(); ++i) text += str(i == 0 ? "" : ", ", View(values)[i]);
  return text + ")}()";
}

Report compared(Side& a, Side& b, const std::vector<HostTensor>& inputs, const CompareOptions& options = {}) {
  auto report = compare_sides(a, inputs, b, inputs, options);
  EXPECT_TRUE(report) << report.error().message;
  return report ? *std::move(report) : Report();
}

/// A network in which each kernel has a layer of its own.
std::string many_kernels() {
  return str(
      "x: f32[1, 4, 8, 8]\nw = ", constant({4, 4, 3, 3}), "\nm = ", constant({1, 1, 8, 8}),
      "\ni = Constant{value=i32[3](2, 0, 1)}()\n"
      "conv = Convolution{kernel=[3, 3], pre_pads=[1, 1], post_pads=[1, 1]}(x, w)\n"
      "pool = Pooling{kind=max, window=[2, 2], strides=[2, 2]}(x)\n"
      "soft = Softmax{axis=3}(x)\n"
      "sum = Reduce{kind=sum, axes=[3], keep=true}(x)\n"
      "product = MatrixMultiply{a=none, b=none}(x, m)\n"
      "norm = Normalization{axes=[3], epsilon=0.25, groups=1, compute=f32}(x)\n"
      "grown = Unary{kind=exp}(x)\n"
      "turned = Transpose{perm=[0, 2, 3, 1]}(x)\n"
      "joined = Concatenation{axis=1}(x, grown)\n"
      "part = Slice{starts=[2], sizes=[4], axes=[3]}(x)\n"
      "taken = Gather{axis=1}(x, i)\n"
      "best, places = TopK{k=2, axis=3}(x)\n"
      "running = Cumulative{axis=3}(x)\n"
      "return conv, pool, soft, sum, product, norm, grown, turned, joined, part, taken, best, places, running\n");
}

TEST(Comparison, RightEnginesAgreeWithTheirNetwork) {
  const ir::Graph graph = parsed(many_kernels());
  const std::vector<HostTensor> inputs{waves(DType::kF32, {1, 4, 8, 8})};
  const auto a = engine(built(graph)), other = engine(built(graph, {.optimization_level = 0}));
  const auto b = reference(graph);
  for (Side* side : {static_cast<Side*>(b.get()), static_cast<Side*>(other.get())}) {
    const Report report = compared(*a, *side, inputs, {.isolate = true});
    EXPECT_EQ(report.first_outside(), nullptr) << text_of(report, true);
    EXPECT_TRUE(report.faulty().empty());
    EXPECT_GE(report.num_compared(), 14);
    EXPECT_TRUE(report.without_counterpart.empty()) << text_of(report, true);
  }
}

/// What a timer may choose: the input is copied into the order of a convolution, and a transpose of it is that copy.
TEST(Comparison, AnOutputMayBeATensorInAnotherOrder) {
  const ir::Graph graph = parsed("x: f32[1, 4, 8, 8]\nturned = Transpose{perm=[0, 2, 3, 1]}(x)\nreturn turned\n");
  plan::Plan plan = *built(graph);
  plan::Profile& profile = plan.profiles[0];
  ASSERT_EQ(profile.steps.size(), 1u);
  plan::Step& step = profile.steps[0];
  step.step = steps::Copy{};
  plan::Tensor& copy = profile.tensors[static_cast<size_t>(step.outputs[0])];
  const plan::Tensor& x = profile.tensors[static_cast<size_t>(step.inputs[0])];
  copy.name = x.name, copy.extents = x.extents, copy.format = Format::channels_last(4);
  const auto a = engine(std::make_shared<const plan::Plan>(std::move(plan)));
  const auto b = reference(graph);
  const Report report = compared(*a, *b, {waves(DType::kF32, {1, 4, 8, 8})}, {.isolate = true});
  ASSERT_EQ(report.num_compared(), 1) << text_of(report, true);
  EXPECT_EQ(report.first_outside(), nullptr) << text_of(report, true);
  EXPECT_TRUE(report.faulty().empty()) << text_of(report, true);
  EXPECT_EQ(report.tensors[0].a.name(), "turned");
  EXPECT_EQ(report.tensors[0].extents, (Extents{1, 8, 8, 4}));
}

TEST(Comparison, AFaultInEachKernelIsFoundByName) {
  const ir::Graph graph = parsed(many_kernels());
  const std::vector<HostTensor> inputs{waves(DType::kF32, {1, 4, 8, 8})};
  const auto plan = built(graph);
  std::set<std::string> kinds;
  for (const plan::Step& step : plan->profiles[0].steps) kinds.emplace(step.step.name());
  EXPECT_GE(kinds.size(), 10u);
  for (const std::string& kind : kinds) {
    const auto first = std::ranges::find(plan->profiles[0].steps, kind,
                                         [](const plan::Step& step) { return std::string(step.step.name()); });
    const auto a = engine(plan, kind);
    const auto b = reference(graph);
    const Report report = compared(*a, *b, inputs, {.isolate = true});
    ASSERT_NE(report.first_outside(), nullptr) << kind;
    EXPECT_EQ(report.first_outside()->a.layer, first->name) << kind;
    EXPECT_EQ(report.first_outside()->a.number, str(first - plan->profiles[0].steps.begin() + 1)) << kind;
    ASSERT_FALSE(report.faulty().empty()) << kind;
    for (const TensorDiff* faulty : report.faulty()) {
      const auto at = static_cast<size_t>(std::stoi(faulty->a.number)) - 1;
      EXPECT_EQ(plan->profiles[0].steps[at].step.name(), kind) << "'" << faulty->a.layer << "' is named";
    }
  }
}

TEST(Comparison, FollowersOfAFaultAreNotAtFault) {
  const ir::Graph graph =
      parsed(str("x: f32[1, 4, 8, 8]\nw = ", constant({4, 4, 3, 3}),
                 "\na = Unary{kind=exp}(x)\nb = Convolution{kernel=[3, 3]}(a, w)\n"
                 "c = Softmax{axis=3}(b)\nd = Reduce{kind=max, axes=[3], keep=true}(c)\nreturn d\n"));
  const auto a = engine(built(graph), "convolution");
  const auto b = reference(graph);
  const Report report = compared(*a, *b, {waves(DType::kF32, {1, 4, 8, 8})}, {.isolate = true});
  ASSERT_NE(report.first_outside(), nullptr);
  EXPECT_EQ(report.first_outside()->a.name(), "b");
  EXPECT_GT(std::ranges::count(report.tensors, false, &TensorDiff::within), 1) << text_of(report, true);
  ASSERT_EQ(report.faulty().size(), 1u) << text_of(report, true);
  EXPECT_EQ(report.faulty()[0]->a.name(), "b");
}

TEST(Comparison, OverflowOfHalfIsTold) {
  const ir::Graph graph = parsed(
      "x: f16[4]\n"
      "squares = ElementWise{kind=prod}(x, x)\n"
      "s = Reduce{kind=sum, axes=[0], keep=true}(squares)\n"
      "return s\n");
  BuildRequest request;
  request.numerics.strongly_typed = true;
  const auto a = engine(built(graph, request));
  const auto b = reference(graph);
  const double numbers[] = {300, 2, -512, 100};  // squares: 90000, 4, 262144, 10000
  const Report report = compared(*a, *b, {HostTensor::of(DType::kF16, {4}, numbers)});
  ASSERT_NE(report.first_outside(), nullptr) << text_of(report, true);
  const TensorDiff& last = report.tensors.back();
  EXPECT_EQ(last.overflowed, 1);
  EXPECT_EQ(last.largest_overflowed, 90000 + 4 + 262144 + 10000);
  EXPECT_NE(text_of(report, true).find("left FP16's range, 65504; the largest true one is 362148"), std::string::npos)
      << text_of(report, true);
  for (const TensorDiff& diff : report.tensors)  // one step may compute both
    if (diff.a.name() == "squares") {
      EXPECT_EQ(diff.overflowed, 2);
      EXPECT_EQ(diff.largest_overflowed, 262144);
    }
}

TEST(Comparison, TensorsWithinAStepAreSaidToBe) {
  const ir::Graph graph = parsed(str("x: f32[1, 4, 8, 8]\nw = ", constant({4, 4, 3, 3}),
                                     "\nsums = Convolution{kernel=[3, 3]}(x, w)\ny = Activation{kind=relu}(sums)\n"
                                     "return y\n"));
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const Report report = compared(*a, *b, {waves(DType::kF32, {1, 4, 8, 8})});
  ASSERT_EQ(report.hidden.size(), 1u) << text_of(report, true);
  EXPECT_EQ(report.hidden[0].b.name(), "sums");
  EXPECT_EQ(report.tensors.back().a.name(), "y");
  for (const TensorDiff& diff : report.tensors) EXPECT_NE(diff.b.name(), "sums");  // x may be seen in another order
}

TEST(Comparison, BytesAreComparedAsTheirNumbers) {
  const ir::Graph graph = parsed(
      str("x: f32[1, 4, 8, 8]\nw = ", constant({4, 4, 3, 3}),
          "\ns = Constant{value=f32[](0.02)}()\nt = Constant{value=f32[](0.05)}()\n"
          "q = Quantize{to=i8}(x, s)\nd = Dequantize{}(q, s)\n"
          "wq = Quantize{to=i8}(w, s)\nwd = Dequantize{}(wq, s)\n"
          "y = Convolution{kernel=[3, 3]}(d, wd)\nyq = Quantize{to=i8}(y, t)\nz = Dequantize{}(yq, t)\nreturn z\n"));
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const Report report = compared(*a, *b, {waves(DType::kF32, {1, 4, 8, 8})}, {.isolate = true});
  EXPECT_EQ(report.first_outside(), nullptr) << text_of(report, true);
  int bytes = 0;
  for (const TensorDiff& diff : report.tensors) {
    if (diff.a_type != DType::kI8) continue;
    ++bytes;
    EXPECT_FALSE(diff.in_levels) << diff.a.name();
    EXPECT_LT(diff.total.largest, 20) << "numbers, not levels";
  }
  EXPECT_GT(bytes, 0) << text_of(report, true);
}

/// A sum may be written in place of what it reads, whose bytes have another scale.
TEST(Comparison, BytesInPlaceOfOthersHaveTheirOwnScale) {
  const ir::Graph graph = parsed(str(
      "x: f32[1, 4, 8, 8]\nv: f32[1, 4, 8, 8]\nw = ", constant({4, 4, 1, 1}), "\ns = Constant{value=f32[](0.02)}()\n",
      "t = Constant{value=f32[](0.05)}()\nu = Constant{value=f32[](0.07)}()\nq = Quantize{to=i8}(x, s)\n",
      "d = Dequantize{}(q, s)\nwq = Quantize{to=i8}(w, s)\nwd = Dequantize{}(wq, s)\n",
      "a = Convolution{kernel=[1, 1]}(d, wd)\naq = Quantize{to=i8}(a, t)\nad = Dequantize{}(aq, t)\n",
      "b = Convolution{kernel=[1, 1]}(ad, wd)\nsum = ElementWise{kind=sum}(ad, v)\n",
      "sq = Quantize{to=i8}(sum, u)\nsd = Dequantize{}(sq, u)\nc = Convolution{kernel=[1, 1]}(sd, wd)\n",
      "e = ElementWise{kind=sum}(sd, c)\nreturn e, b\n"));
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const Report report =
      compared(*a, *b, {waves(DType::kF32, {1, 4, 8, 8}), waves(DType::kF32, {1, 4, 8, 8})}, {.isolate = true});
  EXPECT_EQ(report.first_outside(), nullptr) << text_of(report, true);
  const auto sums = std::ranges::find(report.tensors, "sq", [](const TensorDiff& diff) { return diff.a.name(); });
  ASSERT_NE(sums, report.tensors.end()) << text_of(report, true);
  EXPECT_FALSE(sums->in_levels);
}

/// A pass may name a tensor as it is called behind a reshape, whose elements it has in their order.
TEST(Comparison, TensorsOfOneNameMayBeRegrouped) {
  const auto a = engine(built(parsed("x: f32[2, 12]\ny = Unary{kind=exp}(x)\nreturn y\n")));
  const auto other = [](const std::string& shape) {
    return reference(parsed(str("x: f32", shape, "\ny = Unary{kind=exp}(x)\nreturn y\n")));
  };
  const HostTensor x = waves(DType::kF32, {2, 12});
  for (const Extents& extents : {Extents{1, 2, 3, 4}, Extents{24}, Extents{2, 1, 12, 1}}) {
    const auto b = other(str(extents));
    const auto report = compare_sides(*a, {x}, *b, {x.reshaped(extents)}, {.isolate = true});
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_EQ(report->num_compared(), 1) << str(extents);
    EXPECT_EQ(report->first_outside(), nullptr);
  }
  for (const Extents& extents : {Extents{12, 2}, Extents{3, 8}}) {  // of a transpose, it may be
    const auto b = other(str(extents));
    EXPECT_FALSE(compare_sides(*a, {x}, *b, {x.reshaped(extents)}, {})) << str(extents);
  }
}

/// b has no tensor for what a step reads: then the step before may be at fault.
TEST(Comparison, WhoIsAtFaultIsSaidWithCare) {
  TensorDiff diff;
  diff.a.names = {"y"}, diff.a.layer = "second", diff.a.number = "2", diff.extents = {1};
  diff.own = Errors{.count = 1, .max_abs = 1, .largest = 2, .worst = 0, .worst_a = 3, .worst_b = 2};
  EXPECT_EQ(
      fault_text(diff),
      "at fault by itself: 'y' of step 2 'second': off by 1 at [0] (3 instead of 2), 0.5 of the largest, 2 on b's "
      "inputs");
  diff.not_fed = {"h"};
  EXPECT_EQ(fault_text(diff),
            "at fault: 'y' of step 2 'second': off by 1 at [0] (3 instead of 2), 0.5 of the largest, 2; or else what "
            "makes its input 'h', which was a's own, for b has none");
}

TEST(ReportText, TheSignOfNaNIsNotTold) {
  const Errors errors{.count = 1, .worst = 0, .worst_a = -NAN, .worst_b = 1, .broken = 1};
  EXPECT_EQ(error_text(errors, {1}), "1 number finite on one side only, the first at [0] (nan instead of 1)");
}

TEST(ReportText, LongNamesAreCutAtTheirBeginning) {
  EXPECT_EQ(short_name("abc", 3), "abc");
  EXPECT_EQ(short_name("abcd", 3), "\u2026bcd");
  EXPECT_EQ(short_name("\u00e4b", 2), "\u2026b") << "no half of a character";
}

TEST(Comparison, OtherNetworksAreNotCompared) {
  const auto a = engine(built(parsed("x: f32[4]\ny = Unary{kind=exp}(x)\nreturn y\n")));
  const auto b = reference(parsed("x: f32[4]\nz = Unary{kind=abs}(x)\nreturn z\n"));
  const auto other = reference(parsed("x: f32[2]\ny = Unary{kind=exp}(x)\nreturn y\n"));
  const auto none = compare_sides(*a, {waves(DType::kF32, {4})}, *b, {waves(DType::kF32, {4})}, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("are they of one network?"), std::string::npos) << none.error().message;
  const auto extents = compare_sides(*a, {waves(DType::kF32, {4})}, *other, {waves(DType::kF32, {2})}, {});
  ASSERT_FALSE(extents);
  EXPECT_NE(extents.error().message.find("'y': it is f32[4] in a and f32[2] in b"), std::string::npos)
      << extents.error().message;
}

/// A parser that knows no NaN reads what an overflow leaves.
TEST(ReportJson, NumbersThatAreNoneAreTexts) {
  Report report;
  TensorDiff& diff = report.tensors.emplace_back();
  diff.a.names = {"y"}, diff.extents = {2};
  diff.total = Errors{.count = 2, .max_abs = INFINITY, .largest = 1, .worst = 0, .worst_a = NAN, .worst_b = -INFINITY};
  const auto read = plan::parse_json(json_of(report));
  ASSERT_TRUE(read) << read.error().message;
  const Datum::List tensors = std::get<Record>(read->variant()).get_list("tensors")->get();
  const Record& total = std::get<Record>(tensors[0].variant()).get_record("total")->get();
  EXPECT_EQ(*total.get_text("max_abs"), "Infinity");
  EXPECT_EQ(*total.get_text("a"), "NaN");
  EXPECT_EQ(*total.get_text("b"), "-Infinity");
  EXPECT_EQ(*total.get_double("largest"), 1);
}

/// What an observer writes to a value is what later steps read, and what the run returns.
TEST(ValueObserver, MayWriteToWhatAStepMade) {
  class Zeros final : public runtime::ValueObserver {
   public:
    bool wants(const plan::Step&, int) override { return true; }
    Status value_made(const plan::Step&, int, const runtime::ObservedValue& value, Stream&) override {
      auto* const numbers = static_cast<float*>(value.data);  // of the host
      if (seen.empty()) numbers[0] = 0;
      seen.emplace_back(numbers, numbers + volume(value.extents));
      if (seen.size() == 2) numbers[1] = 7;
      return {};
    }
    std::vector<std::vector<float>> seen;
  };
  Session session =
      session_of(built(parsed("x: f32[1, 2]\na = Softmax{axis=1}(x)\nb = Softmax{axis=1}(a)\nreturn b\n")));
  const double same[] = {5, 5};
  ASSERT_TRUE(session.set_inputs({HostTensor::of(DType::kF32, {1, 2}, same)}));
  Zeros zeros;
  session.context->set_value_observer(&zeros);
  ASSERT_TRUE(session.run());
  ASSERT_TRUE(session.fetch());
  session.context->set_value_observer(nullptr);
  ASSERT_EQ(zeros.seen.size(), 2U);
  EXPECT_EQ(zeros.seen[0], (std::vector<float>{0, 0.5F}));
  EXPECT_NEAR(zeros.seen[1][1], 1 / (1 + std::exp(-0.5F)), 1e-5);
  EXPECT_EQ(View(session.outputs[0])[0], zeros.seen[1][0]);
  EXPECT_EQ(View(session.outputs[0])[1], 7);
}

TEST(Comparison, WhatIsNotKeptIsSaid) {
  const ir::Graph graph =
      parsed("x: f32[1000]\ny = Unary{kind=exp}(x)\nz: f32[2]\nu = Unary{kind=exp}(z)\nreturn y, u\n");
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const Report report =
      compared(*a, *b, {waves(DType::kF32, {1000}), waves(DType::kF32, {2})}, {.most_kept_bytes = 100});
  EXPECT_EQ(report.not_kept, 1);
  EXPECT_EQ(report.num_compared(), 1);
  EXPECT_FALSE(report.is_complete());
  const std::string text = text_of(report, false);
  EXPECT_NE(text.find("the 1 compared of 2 tensors is within the tolerance"), std::string::npos) << text;
  EXPECT_NE(text.find("INCOMPLETE: 1 tensor was left out"), std::string::npos) << text;
}

TEST(Comparison, TensorsWithoutElementsShowNothing) {
  const ir::Graph graph =
      parsed("x: f32[0, 4]\ny = Unary{kind=exp}(x)\nz: f32[4]\nu = Unary{kind=exp}(z)\nreturn y, u\n");
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const Report report = compared(*a, *b, {waves(DType::kF32, {0, 4}), waves(DType::kF32, {4})});
  EXPECT_EQ(report.num_compared(), 1);
  EXPECT_TRUE(report.is_complete());
  for (const TensorDiff& diff : report.tensors)
    EXPECT_EQ(diff.skipped, diff.a.name() == "y" ? "it has no elements" : "");
}

/// NaN on both sides are no error of 0: nothing was compared.
TEST(Comparison, WhereNoNumberIsFiniteIsSaid) {
  const ir::Graph graph =
      parsed("x: f32[4]\nz: f32[4]\nlogs = Unary{kind=log}(x)\nroots = Unary{kind=sqrt}(z)\nreturn logs, roots\n");
  const auto a = engine(built(graph));
  const auto b = reference(graph);
  const double negative[] = {-1, -2, -3, -4}, mixed[] = {-1, 4, -9, 16};
  const HostTensor no_logs = HostTensor::of(DType::kF32, {4}, negative),
                   two_roots = HostTensor::of(DType::kF32, {4}, mixed);
  const Report report = compared(*a, *b, {no_logs, two_roots});
  EXPECT_EQ(report.num_compared(), 1);
  EXPECT_EQ(report.num_not_finite(), 1);
  EXPECT_FALSE(report.is_complete());
  const std::string text = text_of(report, false);
  for (const char* part : {"not compared: none of its 4 numbers is finite, in a as in b", "2 of 4 not finite in both",
                           "INCOMPLETE: 1 tensor has no finite number in a or b", "the first is 'logs' of step"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
  EXPECT_NE(page_of(report).find("Incomplete: 1 tensor has no finite number"), std::string::npos);
  const std::string json = json_of(report);
  for (const char* part :
       {"\"complete\": false", "\"num_compared\": 1", "\"num_not_compared\": 1", "\"not_finite\": 2"})
    EXPECT_NE(json.find(part), std::string::npos) << part << " is not in\n" << json;
  EXPECT_TRUE(compared(*a, *b, {two_roots, two_roots}).is_complete());
  const auto none = compare_sides(*a, {no_logs, no_logs}, *b, {no_logs, no_logs}, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("none of its 4 numbers is finite"), std::string::npos) << none.error().message;
}

/// A loop with one tensor, as its runs make it.
class Loop final : public Side {
 public:
  explicit Loop(std::vector<HostTensor> runs) : runs_(std::move(runs)) {
    Spot& spot = spots_.emplace_back();
    spot.body = "loop", spot.names = {"y"}, spot.layer = "y_node";
  }
  const std::string& description() const override { return description_; }
  Precision precision() const override { return Precision::kFloat; }
  const std::vector<Spot>& spots() const override { return spots_; }
  Status run(const std::vector<HostTensor>&, Watcher& watcher) override {
    for (const HostTensor& tensor : runs_) TRY(watcher.made(0, {.tensor = tensor, .scale = {}}));
    return {};
  }

 private:
  std::string description_ = "a loop";
  std::vector<Spot> spots_;
  std::vector<HostTensor> runs_;
};

TEST(Comparison, ARunThatCannotBeComparedLeavesTheOthers) {
  const HostTensor four = waves(DType::kF32, {4}), wrong = waves(DType::kF32, {4}, 2), five = waves(DType::kF32, {5});
  Loop a({four, wrong, four, four}), b({four, four, five, five});
  for (const bool isolate : {false, true}) {
    const Report report = compared(a, b, {}, {.isolate = isolate});
    ASSERT_EQ(report.tensors.size(), 1);
    const TensorDiff& diff = report.tensors[0];
    EXPECT_EQ(diff.skipped, "");
    EXPECT_EQ(diff.runs_compared, 2);
    EXPECT_EQ(diff.worst_run, 1);
    EXPECT_EQ(diff.runs_refused, 2);
    EXPECT_EQ(report.first_outside(), &diff);
    EXPECT_EQ(report.num_compared(), 1);
    for (const std::string& text : {text_of(report, false), page_of(report)})
      EXPECT_NE(text.find("2 not compared, the first since it is f32[4] in a and f32[5] in b"), std::string::npos)
          << text;
    EXPECT_NE(json_of(report).find("\"runs_refused\": 2, \"refusal\": \"it is f32[4]"), std::string::npos);
  }
  // The first run of each is refused, and the others are compared nevertheless.
  Loop late({four, four}), late_b({five, four});
  EXPECT_EQ(compared(late, late_b, {}).tensors[0].runs_compared, 1);
  Loop never({four, four}), never_b({five, five});
  const auto none = compare_sides(never, {}, never_b, {}, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("it is f32[4] in a and f32[5] in b"), std::string::npos) << none.error().message;
}

TEST(Page, NamesAreEscaped) {
  Report report;
  report.a = "<b>a</b>", report.b = "b", report.inputs = "x";
  TensorDiff& diff = report.tensors.emplace_back();
  diff.a.names = {"<script>alert('1')</script>"}, diff.a.layer = "\"quoted\" & more", diff.extents = {1};
  const std::string page = page_of(report);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<b>a"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"), std::string::npos);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("<title>kiln diff"), std::string::npos);
}

TEST(Page, RowsSayWhatThoseOfTheTextSay) {
  Report report;
  report.a = "a", report.b = "b", report.isolated = true;
  TensorDiff& diff = report.tensors.emplace_back();
  diff.a.names = {"y"}, diff.extents = {4}, diff.by = MatchedBy::kOrigin;
  diff.total.count = 4, diff.total.broken = 1, diff.total.beyond_half = 2;
  diff.within = diff.own_within = false, diff.in_levels = true;
  diff.runs_a = 5, diff.runs_b = 3, diff.runs_compared = 3, diff.worst_run = 1;
  diff.not_fed = {"x"};
  const std::string notes = notes_of(diff);
  for (const char* note :
       {"outside", "at fault", "1 not finite on one side only", "2 beyond FP16", "in levels of bytes",
        "matched by layers", "run 2 of 5", "3 in b", "3 compared", "'x' was a's own"})
    EXPECT_NE(notes.find(note), std::string::npos) << note << " is not in " << notes;
  EXPECT_NE(text_of(report, true).find(notes), std::string::npos) << text_of(report, true);
  std::string escaped = notes;
  for (size_t at = 0; (at = escaped.find('\'', at)) != std::string::npos; at += 5) escaped.replace(at, 1, "&#39;");
  EXPECT_NE(page_of(report).find(escaped), std::string::npos) << page_of(report);
}

TEST(Tolerance, IsRead) {
  EXPECT_EQ(*parse_tolerance("1e-3/2"), (Tolerance{1e-3, 2}));
  EXPECT_EQ(*parse_tolerance("0"), (Tolerance{0, 0}));
  for (const char* text : {"", "x", "1/", "/1", "-1", "nan", "1/2/3", "inf"})
    EXPECT_FALSE(parse_tolerance(text)) << text;
}

}  // namespace
}  // namespace kiln::diff
