// Contexts on a CUDA device whose steps decide sizes: kernels of the stand-in's write the numbers that x has.
#include <gtest/gtest.h>

#include "backend/cuda/device/testing/fake_driver.h"
#include "runtime/context.h"
#include "steps/testing/named_step.h"

namespace kiln::api {
namespace {

using cuda::CudaDevice;
using cuda::fake_cuda_control;

constexpr int64_t kMost = 64;     // of either size
constexpr int64_t kPromised = 4;  // the plan has workspaces for sizes so large

/// Kernel "count": a size is x[which].
void count(const cuda::LaunchConfig&, void** arguments) {
  const auto* x = *static_cast<const float**>(arguments[0]);
  **static_cast<int64_t**>(arguments[1]) = static_cast<int64_t>(x[*static_cast<int64_t*>(arguments[2])]);
}
/// Kernels "first" and "next": `count` elements, x[2] + i or those of the input plus one, by way of the workspace.
void compute(void** arguments, bool is_first) {
  const auto* in = *static_cast<const float**>(arguments[0]);
  auto *out = *static_cast<float**>(arguments[1]), *workspace = *static_cast<float**>(arguments[2]);
  const int64_t count = *static_cast<int64_t*>(arguments[3]);
  for (int64_t i = 0; i < count; ++i) workspace[i] = is_first ? in[2] + static_cast<float>(i) : in[i] + 1;
  for (int64_t i = 0; i < count; ++i) out[i] = workspace[i];
}
void first(const cuda::LaunchConfig&, void** arguments) { compute(arguments, true); }
void next(const cuda::LaunchConfig&, void** arguments) { compute(arguments, false); }

/// Makes every capture of its step fail.
Status refusal;

class Steps final : public Executor {
 public:
  explicit Steps(CudaDevice& device) : device_(device) {}
  std::string_view name() const override { return "cuda"; }
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec, std::span<const HostTensor* const>) override {
    return std::make_unique<Loaded>(device_, as_named(spec.step));
  }

 private:
  struct Bound final : BoundStep {
    Bound(std::shared_ptr<const cuda::Module> of, cuda::Function kernel, int64_t elements, double which)
        : module(std::move(of)), function(kernel), count(elements), size(static_cast<int64_t>(which)) {}
    int64_t workspace_bytes() const override { return 256 * count; }
    Status run(const RunArguments& run) override {
      if (run.stream->capturing()) TRY(Status(refusal));
      const void* in = run.inputs[0];
      void *out = run.sizes ? static_cast<void*>(run.sizes) : run.outputs[0], *workspace = run.workspace;
      void* values[] = {&in, &out, run.sizes ? static_cast<void*>(&size) : &workspace, &count, nullptr};
      return launch(*run.stream, function, {.block = {32, 1, 1}}, values);
    }
    std::shared_ptr<const cuda::Module> module;
    cuda::Function function;
    int64_t count, size;
  };
  struct Loaded final : LoadedStep {
    Loaded(CudaDevice& on, NamedStep s) : device(on), step(std::move(s)) {}
    Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
      static constexpr std::string_view kImage("FAKE count first next\0", 22);
      auto module = TRY(device.load(std::as_bytes(std::span(kImage))));
      const cuda::Function function = TRY(module->function(step.text));
      return std::make_unique<Bound>(std::move(module), function, volume(shapes.outputs[0]), step.number);
    }
    CudaDevice& device;
    NamedStep step;
  };
  CudaDevice& device_;
};

sym::Program constant(int64_t value) { return sym::Program::constant(value); }
sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, 2);
}

/// x f32[3] decides m, which is x[0], y f32[m] is made in four steps, q is x[1], z f32[q] is made in four. Both count
/// up from x[2] + 3.
plan::Plan make_plan() {
  plan::Plan plan;
  plan.device_kind = "cuda";
  plan.symbols = {{"m", -1, -1, -1}, {"q", -1, -1, -1}};
  plan.inputs = {{"x", DType::kF32, {}, {constant(3)}, {""}, false}};
  plan.outputs = {{"y", DType::kF32, {}, {symbol(0)}, {""}, false}, {"z", DType::kF32, {}, {symbol(1)}, {""}, false}};
  plan::Profile& p = plan.profiles.emplace_back();
  p.ranges = {{{3}, {3}, {3}}};
  p.value_ranges.resize(1);
  const auto add = [&](const std::string& name, const sym::Program& extent, plan::Place place, int index) {
    plan::Tensor& t = p.tensors.emplace_back();
    t.name = name, t.extents = {extent}, t.place = place, t.index = index, t.size_bytes_max = kMost * 4;
    if (place == plan::Place::kArena) t.offset_bytes = std::exchange(p.arena_bytes, p.arena_bytes + kMost * 4);
    return static_cast<int>(p.tensors.size()) - 1;
  };
  const auto step = [&](const std::string& name, const char* kernel, int input, int output) -> plan::Step& {
    plan::Step& s = p.steps.emplace_back();
    s.name = name, s.executor = "cuda", s.step = named_step(kernel), s.inputs = {input}, s.outputs = {output};
    return s;
  };
  const int x = add("x", constant(3), plan::Place::kInput, 0);
  for (int i = 0; i < 2; ++i) {
    const std::string size = plan.symbols[static_cast<size_t>(i)].name;
    plan::Step& counts =
        step("count " + size, "count", x, add("none of " + size, constant(1), plan::Place::kArena, -1));
    counts.step = NamedStep{"count", static_cast<double>(i)};
    counts.sizes = {{.symbol = i, .most = constant(kMost)}};
    int latest = x;
    for (int s = 0; s < 4; ++s) {
      const bool is_last = s == 3;
      const int made =
          add(str(size, s), symbol(i), is_last ? plan::Place::kOutput : plan::Place::kArena, is_last ? i : -1);
      step(str(size, " ", s), s == 0 ? "first" : "next", latest, made);
      latest = made;
    }
  }
  p.workspace_bytes = 256 * kPromised;
  return plan;
}

struct Lines final : Log {
  void write(Severity severity, std::string_view message) override {
    (severity <= Severity::kWarning ? warnings : others).emplace_back(message);
  }
  std::vector<std::string> warnings, others;
};

class DecidedSizes : public ::testing::Test {
 protected:
  void SetUp() override {
    device = cuda::make_fake_device();
    device->set_executor(std::make_unique<Steps>(*device));
    fake_cuda_control().define_kernel("count", &count, 3);
    fake_cuda_control().define_kernel("first", &first, 4);
    fake_cuda_control().define_kernel("next", &next, 4);
    NullLog unheard;
    auto loaded = runtime::Engine::load(std::make_shared<const plan::Plan>(make_plan()), *device, unheard);
    ASSERT_TRUE(loaded) << loaded.error().message;
    engine = *std::move(loaded);
    stream = *device->create_stream();
    x = *device->allocate(12), y = *device->allocate(kMost * 4 + 4), z = *device->allocate(kMost * 4 + 4);
    make_context();
  }
  void TearDown() override { refusal = {}; }

  void make_context() {
    context = *runtime::Context::create(engine, runtime::Context::Memory::kOwn);
    context->set_log(&log);
    context->set_input_address(0, x.data());
    context->set_output_address(0, y.data()), context->set_output_address(1, z.data());
  }

  Status enqueue(int64_t m, int64_t q, float start) {
    const float values[] = {static_cast<float>(m), static_cast<float>(q), start};
    TRY(device->copy_from_host(x.data(), values, sizeof values, *stream));
    for (const Buffer* output : {&y, &z}) {
      const std::vector<float> untouched(kMost + 1, -7);
      TRY(device->copy_from_host(output->data(), untouched.data(), output->size_bytes(), *stream));
    }
    return context->enqueue(*stream);
  }
  /// Expects a run with these sizes to give what it should, and no more.
  void expect_run(int64_t m, int64_t q) {
    const auto start = static_cast<float>(++num_runs);
    const Status queued = enqueue(m, q, start);
    ASSERT_TRUE(queued) << queued.error().message;
    ASSERT_TRUE(stream->synchronize());
    for (const auto& [output, size] : {std::pair(&y, m), std::pair(&z, q)}) {
      std::vector<float> expected(kMost + 1, -7), got(kMost + 1);
      for (int64_t i = 0; i < size; ++i) expected[static_cast<size_t>(i)] = start + 3 + static_cast<float>(i);
      ASSERT_TRUE(device->copy_to_host(got.data(), output->data(), output->size_bytes(), *stream));
      EXPECT_EQ(got, expected) << "run " << num_runs << ", " << m << " and " << q;
    }
    EXPECT_EQ(context->latest_output_extents(0), Extents{m});
    EXPECT_EQ(context->latest_output_extents(1), Extents{q});
  }
  static int64_t calls(const char* function) { return fake_cuda_control().num_calls(function); }

  Lines log;
  std::unique_ptr<CudaDevice> device;
  std::shared_ptr<const runtime::Engine> engine;
  Buffer x, y, z;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<runtime::Context> context;
  int num_runs = 0;
};

/// The sizes that a step decides are known when its tensors are shown.
TEST_F(DecidedSizes, AreInWhatAnObserverSees) {
  struct Sizes final : runtime::ValueObserver {
    bool wants(const plan::Step&, int) override { return true; }
    Status value_made(const plan::Step& step, int, const runtime::ObservedValue& value, Stream&) override {
      made.push_back(str(step.name, " ", value.extents, " ", value.symbols[0]));
      return {};
    }
    std::vector<std::string> made;
  } sizes;
  context->set_value_observer(&sizes);
  for (const int64_t m : {3, 1}) {
    sizes.made.clear();
    expect_run(m, 2);
    ASSERT_EQ(sizes.made.size(), 10u);
    EXPECT_EQ(sizes.made[0], str("count m [1] ", m));
    EXPECT_EQ(sizes.made[1], str("m 0 [", m, "] ", m));
    EXPECT_EQ(sizes.made[9], str("q 3 [2] ", m));
  }
  context->set_value_observer(nullptr);
  expect_run(2, 3);
}

TEST_F(DecidedSizes, ChangeFromRunToRunAndBack) {
  ASSERT_EQ(engine->segments(0).size(), 3u);
  for (const int64_t m : {3, 4, 3, 0, 3, 2, 4}) expect_run(m, 4 - m);  // each is bound anew, and launched or told anew
  for (const int64_t m : {3, 1, 3}) {
    for (int i = 0; i < 4; ++i) expect_run(m, 2);
    const int64_t launches = calls("cuLaunchKernelEx");
    expect_run(m, 2);
    EXPECT_EQ(calls("cuLaunchKernelEx"), launches) << "all three segments are replayed";
  }
  // One segment stays as it is recorded, the other changes.
  for (const int64_t q : {1, 2, 1, 1, 1, 0, 2, 2, 2}) expect_run(3, q);
  // Timed runs are launched step by step, between replays of the same sizes.
  for (const int64_t m : {3, 3, 2, 2, 3, 3}) {
    context->set_timing(true);
    expect_run(m, 2);
    context->set_timing(false);
    expect_run(m, 2);
  }
  EXPECT_TRUE(log.warnings.empty()) << log.warnings[0];
}

/// One recording of each segment goes from sizes to sizes; what was recorded for sizes that are gone goes.
TEST_F(DecidedSizes, KeepFewRecordings) {
  for (int i = 0; i < 40; ++i) expect_run(1 + i % 5, 1 + (i / 5) % 4);
  const int64_t objects = fake_cuda_control().live_objects(), made = calls("cuGraphInstantiateWithFlags");
  for (int i = 0; i < 400; ++i) expect_run(1 + i % 5, 1 + (i / 5) % 4);
  EXPECT_EQ(fake_cuda_control().live_objects(), objects);
  EXPECT_EQ(calls("cuGraphInstantiateWithFlags"), made);
  for (int i = 0; i < 400; ++i) expect_run((i / 3) % 5, (i / 7) % 4);  // where there is nothing to launch, too
  EXPECT_LE(fake_cuda_control().live_objects(), objects);
  // A recording of nothing cannot become one of something: in the end each size has its own, as long as it lasts.
  for (int i = 0; i < 60; ++i) expect_run(i / 3 % 2, i / 3 % 2);
  EXPECT_LE(fake_cuda_control().live_objects(), objects);
}

/// A recording of a segment has the address of the workspace, which is another one as soon as some segment wants more.
/// The stand-in ends the process where a replay uses memory that was freed.
TEST_F(DecidedSizes, WorkspacesThatMoveTakeRecordingsWithThem) {
  for (const int64_t most : {4, 9, 20, 64}) {  // of which the plan has room for the first
    const int64_t bytes = fake_cuda_control().live_bytes();
    for (int i = 0; i < 4; ++i) expect_run(3, most);
    if (most > kPromised) {
      EXPECT_GT(fake_cuda_control().live_bytes(), bytes) << most;
    }
    for (int i = 0; i < 4; ++i) expect_run(most, 3);
    const int64_t launches = calls("cuGraphLaunch");
    for (int i = 0; i < 4; ++i) expect_run(3, most);
    EXPECT_GT(calls("cuGraphLaunch"), launches) << most;
  }
  for (const int64_t q : {64, 4, 9, 9, 9, 64}) expect_run(3, q);
}

TEST_F(DecidedSizes, OutsideTheirBoundsAreTold) {
  for (int i = 0; i < 3; ++i) {  // launched or replayed
    const Status more = enqueue(kMost + 1, 1, 0);
    ASSERT_FALSE(more);
    EXPECT_EQ(more.error().message, "step 'count m' decided 65 for 'm', which lies in [0, 64]");
    expect_run(2, 3);
    const Status fewer = enqueue(2, -1, 0);
    ASSERT_FALSE(fewer);
    EXPECT_EQ(fewer.error().message, "step 'count q' decided -1 for 'q', which lies in [0, 64]");
    expect_run(2, 3);
  }
}

/// What the host does between two segments, here a program's allocator that takes long, is in no step's time.
TEST_F(DecidedSizes, WaitsAreInNoStepsTime) {
  struct Slow final : runtime::OutputMemory {
    Result<void*> memory_of(int output, const Extents&) override {
      for (int i = 0; i < 500; ++i) TRY(event->record(*stream));  // each takes the stand-in a microsecond
      return static_cast<void*>(outputs[output]->data());
    }
    std::unique_ptr<Event> event;
    Stream* stream;
    const Buffer* outputs[2];
  } slow;
  slow.event = *device->create_event(EventTiming::kOn);
  slow.stream = stream.get(), slow.outputs[0] = &y, slow.outputs[1] = &z;
  context->set_output_memory(&slow);
  context->set_timing(true);
  expect_run(3, 2);
  struct Times final : runtime::StepObserver {
    void step_done(const plan::Step& step, float time_ms) override {
      names.push_back(step.name);
      EXPECT_FLOAT_EQ(time_ms, 0.001f) << step.name;
    }
    std::vector<std::string> names;
  } times;
  ASSERT_TRUE(context->report_times(times));
  EXPECT_EQ(times.names,
            (std::vector<std::string>{"count m", "m 0", "m 1", "m 2", "m 3", "count q", "q 0", "q 1", "q 2", "q 3"}));
}

/// Why runs are not recorded is told once of each segment, unless it is for want of memory.
TEST_F(DecidedSizes, RecordingsThatFailAreTold) {
  for (int i = 0; i < 3; ++i) expect_run(2, 3);
  make_context();
  fake_cuda_control().fail("cuGraphInstantiateWithFlags", 1, cuda::kOutOfDeviceMemory);
  for (int i = 0; i < 4; ++i) expect_run(2, 3);
  EXPECT_TRUE(log.warnings.empty() && log.others.empty());
  make_context();
  fake_cuda_control().fail("cuGraphInstantiateWithFlags", 1, cuda::kInvalidValue);
  for (int i = 0; i < 4; ++i) expect_run(2, 3);
  ASSERT_EQ(log.warnings.size(), 1u);
  EXPECT_TRUE(
      log.warnings[0].starts_with("runs are launched step by step, which takes longer, since they cannot be "
                                  "recorded: making a graph: CUDA_ERROR_INVALID_VALUE (1)"))
      << log.warnings[0];
  log.warnings.clear();
  for (const Code code : {Code::kDevice, Code::kUnsupported}) {
    make_context();
    refusal = error(code, "not now");
    for (int i = 0; i < 8; ++i) expect_run(2, 3);
    for (int i = 0; i < 8; ++i) expect_run(1, 3);
  }
  std::vector<std::string> warnings, others;
  for (const char* step : {"count m", "m 0", "q 0"}) {
    warnings.push_back(str("runs are launched step by step, which takes longer, since they cannot be recorded: step '",
                           step, "': not now"));
    others.push_back(str("runs are not recorded, but launched step by step: step '", step, "': not now"));
  }
  EXPECT_EQ(log.warnings, warnings);
  EXPECT_EQ(log.others, others);
}

}  // namespace
}  // namespace kiln::api
