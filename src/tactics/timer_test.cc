#include "tactics/timer.h"

#include <gtest/gtest.h>

#include "ir/parse.h"
#include "steps/testing/named_step.h"
#include "steps/testing/stub_device.h"

namespace kiln {
namespace {

/// Runs nothing, keeps what constants its steps were given, and counts how many of them are bound at once.
class Recorder final : public StubDevice {
 public:
  struct Step final : LoadedStep {
    struct Bound final : BoundStep {
      explicit Bound(Recorder& device) : device(device) {
        device.most_bound = std::max(device.most_bound, ++device.num_bound);
      }
      ~Bound() override { --device.num_bound; }
      Status run(const RunArguments&) override { return {}; }
      Recorder& device;
    };
    explicit Step(Recorder& device) : device(device) {}
    Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes&) const override {
      return std::make_unique<Bound>(device);
    }
    Recorder& device;
  };
  Recorder() : StubDevice("recorder") {}
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec,
                                                   std::span<const HostTensor* const> constants) override {
    formats.push_back(spec.inputs[1].format);
    if (constants[1]) given.push_back(constants[1]->bytes());
    return std::make_unique<Step>(*this);
  }
  size_t num_bound = 0, most_bound = 0;
  std::vector<Format> formats;
  std::vector<std::span<const std::byte>> given;  // the bytes of input 1
};

class NoTactic final : public Tactic {
 public:
  std::string_view name() const override { return "none"; }
  Match match(const TacticContext&, ir::NodeId) const override { return reject("it is none"); }
  std::vector<Variant> variants(const TacticContext&, const Region&) const override { return {}; }
  Result<StepDraft> compile(const TacticContext&, const Region&, const Variant&) const override { return StepDraft(); }
};

/// Candidates in linear formats, each a step of its own.
std::vector<Candidate> linear_candidates(const Tactic& tactic, int count) {
  std::vector<Candidate> candidates;
  for (int i = 0; i < count; ++i) {
    Candidate& candidate = candidates.emplace_back();
    candidate.tactic = &tactic;
    candidate.variant = {str(i), {Format(), Format()}, {Format()}, {}, 0};
    candidate.draft = {.executor = "recorder", .step = named_step(str(i))};
  }
  return candidates;
}

/// What is loaded may hold what a device has few of.
TEST(Timer, LoadsSoManyCandidatesAtATime) {
  auto graph = ir::parse("x: f32[4]; y: f32[4]; z = ElementWise{kind=sum}(x, y); return z");
  ASSERT_TRUE(graph);
  const ir::ValueId z = graph->outputs()[0].value;
  const Region region{{graph->value(z).producer}, {graph->inputs()[0], graph->inputs()[1]}, {z}, {}};
  const NoTactic tactic;
  constexpr int kCount = 2 * static_cast<int>(kMostLoaded) + 7;
  std::vector<Candidate> candidates = linear_candidates(tactic, kCount);
  Recorder device;
  TimingCache cache(device.identity());
  NullLog log;
  Timer timer(device, cache, {.budget_us_per_candidate = 1}, log);
  const Numerics numerics;
  const TacticContext cx{*graph, numerics, device, 3};
  const Trial trial{region, candidates};
  ASSERT_TRUE(timer.time(cx, {&trial, 1}));
  EXPECT_EQ(timer.num_measured(), kCount);
  EXPECT_EQ(device.most_bound, kMostLoaded);
  EXPECT_EQ(device.num_bound, 0u);
  for (const Candidate& candidate : candidates) EXPECT_LT(candidate.time_us, 1e30) << candidate.variant.name;
}

/// A large weight in another order is copied once for all candidates of a comparison, which are loaded all at once.
TEST(Timer, CandidatesShareAConstantInTheirFormat) {
  auto graph = ir::parse("x: f32[1, 2, 3, 1]; y = Activation{kind=relu}(x); return y");
  ASSERT_TRUE(graph);
  const ir::ValueId x = graph->inputs()[0];
  const ir::ValueId w =
      graph->add_constant(HostTensor::of(DType::kF32, {1, 2, 3, 1}, std::vector<double>{1, 2, 3, 4, 5, 6}), "w");
  Region region{{graph->value(graph->outputs()[0].value).producer}, {x, w}, {graph->outputs()[0].value}, {}};
  const NoTactic tactic;
  const Format linear, last = Format::channels_last(4);
  std::vector<Candidate> candidates;
  for (const auto& [name, format] : {std::pair("a", last), {"b", last}, {"c", linear}, {"d", last}, {"e", linear}}) {
    Candidate& candidate = candidates.emplace_back();
    candidate.tactic = &tactic;
    candidate.variant = {name, {linear, format}, {linear}, {}, 0};
    candidate.draft = {.executor = "recorder", .step = named_step(name)};
  }
  Recorder device;
  TimingCache cache(device.identity());
  NullLog log;
  Timer timer(device, cache, {.budget_us_per_candidate = 1}, log);
  const Numerics numerics;
  const TacticContext cx{*graph, numerics, device, 3};
  const Trial trial{region, candidates};
  ASSERT_TRUE(timer.time(cx, {&trial, 1}));
  EXPECT_EQ(timer.num_measured(), 5);
  ASSERT_EQ(device.given.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    const bool is_last = device.formats[i] == last;
    EXPECT_EQ(device.given[i].data() == device.given[0].data(), is_last) << i;
    EXPECT_EQ(device.given[i].data() == graph->constant(w)->bytes().data(), !is_last) << i;
  }
}

}  // namespace
}  // namespace kiln
