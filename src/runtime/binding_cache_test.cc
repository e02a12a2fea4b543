#include "runtime/binding_cache.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "steps/testing/named_step.h"
#include "steps/testing/stub_device.h"
#include "sym/table.h"

namespace kiln::runtime {
namespace {

/// Its steps keep a byte from run to run and want a workspace of 256 bytes for each element of their output.
class Steps final : public StubDevice {
 public:
  Steps() : StubDevice("steps") {}
  struct Bound final : BoundStep {
    Bound(int64_t bytes, std::byte* kept, bool& broken) : bytes(bytes), state(kept), is_broken(broken) {}
    int64_t workspace_bytes() const override { return bytes; }
    Status run(const RunArguments&) override { return {}; }
    bool has_check() const override { return true; }
    Status check() override { return require(!std::exchange(is_broken, false), "the data is broken"); }
    int64_t bytes;
    std::byte* state;
    bool& is_broken;
  };
  struct Loaded final : KeepsState {
    explicit Loaded(Steps& owner) : steps(owner) {}
    std::vector<std::byte> initial_state() const override { return std::vector<std::byte>(1); }
    Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes, std::byte* state) const override {
      ++steps.num_bound;
      return std::make_unique<Bound>(256 * volume(shapes.outputs[0]), state, steps.is_broken);
    }
    Steps& steps;
  };
  struct NoStream final : Stream {
    Status launch_host(void (*)(void*), void*) override { return {}; }
    Status synchronize() override { return {}; }
    void fault(Error) override {}
    bool faulted() const override { return false; }
  };
  Result<std::unique_ptr<Stream>> create_stream() override { return std::make_unique<NoStream>(); }
  Status copy_from_host(void*, const void*, int64_t, Stream&) override { return {}; }
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec&, std::span<const HostTensor* const>) override {
    return std::make_unique<Loaded>(*this);
  }
  int num_bound = 0;
  bool is_broken = false;
};

/// Two bindings at once; runs nothing.
class Keeper final : public Runner {
 public:
  size_t most_bindings() const override { return 2; }
  std::byte* weight(const HostTensor&) const override { return nullptr; }
  Result<std::byte*> viewed_weight(const HostTensor&) override { return nullptr; }
  Result<std::optional<std::byte*>> shape_input(std::span<const std::byte>, Buffer&) override { return std::nullopt; }
  BodyObserver* body_observer() const override { return nullptr; }
  ValueWatch* watch() const override { return nullptr; }
  Status prepare(Binding&) override { return {}; }
  void retire(std::unique_ptr<Binding> binding) override { retired.push_back(binding->input_extents[0][0]); }
  void retire(Buffer) override {}
  void forget(const Binding&, size_t) override {}
  Status enqueue(const Run&, Stream&) override { return {}; }
  Status run_segment(Binding&, size_t, Stream&) override { return {}; }
  bool latest_was_captured() const override { return false; }
  Status wait_idle() override { return ++num_waits, Status(); }
  Status forget_runs() override { return {}; }
  Result<std::vector<float>> times_ms() const override { return std::vector<float>(); }
  Status set_aux_streams(std::vector<std::unique_ptr<Stream>>) override { return {}; }

  Extents retired;  ///< by what x was
  int num_waits = 0;
};

/// x f32[n], n from 1 to 8, is copied to y. The plan promises a workspace for 4 elements.
plan::Plan make_plan() {
  sym::Table table;
  const sym::Program n = sym::Program::compile(table.symbol("n"));
  plan::Plan plan;
  plan.symbols = {{"n", 0, 0, -1}};
  plan.inputs = {{"x", DType::kF32, {}, {n}, {"n"}, false}};
  plan.outputs = {{"y", DType::kF32, {}, {n}, {"n"}, false}};
  plan::Profile& p = plan.profiles.emplace_back();
  p.ranges = {{{1}, {2}, {8}}};
  p.value_ranges.resize(1);
  for (const plan::Place place : {plan::Place::kInput, plan::Place::kOutput}) {
    plan::Tensor& t = p.tensors.emplace_back();
    t.extents = {n}, t.place = place, t.index = 0;
  }
  plan::Step& step = p.steps.emplace_back();
  step.name = "the step", step.executor = "steps", step.step = named_step("copy"), step.inputs = {0},
  step.outputs = {1};
  p.workspace_bytes = 4 * 256;
  return plan;
}

class BindingCacheTest : public ::testing::Test {
 protected:
  BindingCacheTest() {
    shapes.select_profile(0, engine->fixed_symbols(0));
    EXPECT_TRUE(memory.allocate_for(0, keeper));
  }
  /// The current binding for an x of `n` elements.
  Binding& bind(int64_t n) {
    EXPECT_TRUE(shapes.set_input_extents(0, Extents{n}));
    EXPECT_TRUE(shapes.infer(addresses));
    const Status bound = cache.bind(shapes, addresses);
    EXPECT_TRUE(bound) << bound.error().message;
    EXPECT_TRUE(cache.is_bound(shapes));
    return cache.current();
  }
  static const std::byte* state_of(const Binding& binding) {
    return static_cast<const Steps::Bound&>(*binding.steps[0]).state;
  }

  NullLog log;
  Steps device;
  std::shared_ptr<const Engine> engine = *Engine::load(std::make_shared<const plan::Plan>(make_plan()), device, log);
  RunSettings settings;
  IoAddresses addresses{1, 1};
  ShapeState shapes{engine->plan()};
  Keeper keeper;
  ContextMemory memory{*engine, MemoryPolicy::kOwn};
  BindingCache cache{*engine, memory, keeper, settings};
};

TEST_F(BindingCacheTest, KeepsTheLatest) {
  const uint64_t first = bind(1).id;
  EXPECT_NE(bind(2).id, first);
  EXPECT_EQ(bind(1).id, first);
  EXPECT_EQ(bind(1).id, first);
  EXPECT_EQ(device.num_bound, 2);
  bind(3);
  EXPECT_EQ(keeper.retired, (Extents{2}));  // used longest ago, not made first
  EXPECT_EQ(keeper.num_waits, 1);
  EXPECT_EQ(bind(1).id, first);
  ASSERT_TRUE(shapes.set_input_extents(0, Extents{2}));
  EXPECT_FALSE(cache.is_bound(shapes));
}

TEST_F(BindingCacheTest, StatesOutliveBindings) {
  const std::byte* const state = state_of(bind(1));
  ASSERT_NE(state, nullptr);
  cache.clear();
  EXPECT_FALSE(cache.is_bound(shapes));
  EXPECT_EQ(state_of(bind(1)), state);
}

TEST_F(BindingCacheTest, AllGoWhereTheirMemoryHasToGrow) {
  bind(1), bind(4);
  EXPECT_TRUE(keeper.retired.empty());
  bind(1), bind(8);
  EXPECT_EQ(keeper.retired, (Extents{4, 1}));
}

TEST_F(BindingCacheTest, TellsWhatTheDataBrokeOnce) {
  bind(1);
  EXPECT_TRUE(cache.check_runs());
  device.is_broken = true;
  const Status checked = cache.check_runs();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "an earlier run failed: step 'the step': the data is broken");
  EXPECT_TRUE(cache.check_runs());
}

/// Runs that no call of the program's asks about: the observer hears of them when the binding goes.
TEST_F(BindingCacheTest, TellsTheObserverOfBindingsThatGo) {
  struct Observer final : FaultObserver {
    void faulted(const Error&, const Stream*) noexcept override { ++num_faults; }
    int num_faults = 0;
  } observer;
  settings.faults = &observer;
  bind(1);
  device.is_broken = true;
  cache.clear();
  EXPECT_EQ(observer.num_faults, 1);
}

TEST_F(BindingCacheTest, NeedsTheMemoryThatIsGiven) {
  ContextMemory given(*engine, MemoryPolicy::kGiven);
  BindingCache other(*engine, given, keeper, settings);
  ASSERT_TRUE(shapes.set_input_extents(0, Extents{1}));
  ASSERT_TRUE(shapes.infer(addresses));
  const Status refused = other.bind(shapes, addresses);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the context was given 0 bytes of memory and needs 256");
  alignas(256) std::byte bytes[256];
  given.give(bytes, 256);
  EXPECT_TRUE(other.bind(shapes, addresses));
  EXPECT_EQ(other.current().at.workspace, bytes);
}

}  // namespace
}  // namespace kiln::runtime
