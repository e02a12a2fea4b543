// Contexts on a device that works on its own: the CUDA device, over the stand-in for its driver.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <set>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/testing/fake_driver.h"
#include "runtime/context.h"
#include "steps/testing/named_step.h"

namespace kiln::api {
namespace {

using cuda::CudaDevice;
using cuda::fake_cuda_control;

/// The stand-in's work for kernels "twice" and "words": y = 2 x of floats, and y = x of 4-byte words.
void twice(const cuda::LaunchConfig&, void** arguments) {
  const auto* x = *static_cast<const float**>(arguments[0]);
  for (int64_t i = 0; i < *static_cast<int64_t*>(arguments[2]); ++i)
    (*static_cast<float**>(arguments[1]))[i] = 2 * x[i];
}
void words(const cuda::LaunchConfig&, void** arguments) {
  std::memcpy(*static_cast<void**>(arguments[1]), *static_cast<void**>(arguments[0]),
              static_cast<size_t>(*static_cast<int64_t*>(arguments[2])) * 4);
}

bool broken_data = false;  // what a kernel "twice" met

class LaunchStep final : public BoundStep {
 public:
  LaunchStep(std::shared_ptr<const cuda::Module> module, cuda::Function function, std::string name, int64_t count)
      : module_(std::move(module)), function_(function), function_name_(std::move(name)), count_(count) {}
  int64_t workspace_bytes() const override { return 512; }
  bool has_check() const override { return function_name_ == "twice"; }
  Status check() override { return require(!std::exchange(broken_data, false), "the data is broken"); }
  Status run(const RunArguments& arguments) override {
    const void* in = arguments.inputs[0];
    void* out = arguments.outputs[0];
    void* values[] = {&in, &out, &count_, nullptr};
    if (function_name_ == "library") return launch_as_libraries_do(*arguments.stream, values);
    return launch(*arguments.stream, function_, {.block = {32, 1, 1}}, values);
  }

 private:
  Status launch_as_libraries_do(const Stream& stream, void** values) {
    cuda::LaunchConfig config{.grid = {1, 1, 1}, .block = {32, 1, 1}};
    config.stream = static_cast<const cuda::CudaStream&>(stream).handle();
    const cuda::Driver& driver = function_.device().driver();
    return driver.check(driver.launch_kernel_ex(&config, function_.handle(), values, nullptr), "a library");
  }

  std::shared_ptr<const cuda::Module> module_;
  cuda::Function function_;
  std::string function_name_;
  int64_t count_;
};

class LaunchStepLoader final : public LoadedStep {
 public:
  LaunchStepLoader(CudaDevice& device, std::string kernel) : device_(device), kernel_(std::move(kernel)) {}
  Result<std::unique_ptr<BoundStep>> bind_checked(const StepShapes& shapes) const override {
    static constexpr std::string_view kImage("FAKE twice words\0", 17);
    auto module = TRY(device_.load(std::as_bytes(std::span(kImage))));
    const cuda::Function function = TRY(module->function(kernel_ == "library" ? "twice" : kernel_));
    return std::make_unique<LaunchStep>(std::move(module), function, kernel_, volume(shapes.outputs[0]));
  }

 private:
  CudaDevice& device_;
  std::string kernel_;
};

class LaunchExecutor final : public Executor {
 public:
  explicit LaunchExecutor(CudaDevice& device) : device_(device) {}
  std::string_view name() const override { return "cuda"; }
  Result<std::unique_ptr<LoadedStep>> load_checked(const StepSpec& spec, std::span<const HostTensor* const>) override {
    return std::make_unique<LaunchStepLoader>(device_, as_named(spec.step).text);
  }

 private:
  CudaDevice& device_;
};

sym::Program constant(int64_t value) { return sym::Program::constant(value); }
sym::Program symbol(int id) {
  return *sym::Program::from_words(std::vector<int64_t>{static_cast<int64_t>(sym::Kind::kSymbol), id}, 2);
}

/// x f32[n, 2] and the shape input k i32[1] give y = 4 x by way of the arena, v = the second half of weight w, and
/// z = k's elements.
plan::Plan make_plan() {
  plan::Plan plan;
  plan.device_kind = "cuda";
  plan.symbols = {{"n", 0, 0, -1}};
  plan.inputs = {{"x", DType::kF32, {}, {symbol(0), constant(2)}, {"n", ""}, false},
                 {"k", DType::kI32, {}, {constant(1)}, {""}, true}};
  plan.outputs = {{"y", DType::kF32, {}, {symbol(0), constant(2)}, {"n", ""}, false},
                  {"v", DType::kF32, {}, {constant(2)}, {""}, false},
                  {"z", DType::kI32, {}, {constant(1)}, {""}, false}};
  plan.weights = {{"w", HostTensor::of(DType::kF32, {4}, std::vector<double>{1, 2, 3, 4})}};
  plan::Profile& p = plan.profiles.emplace_back();
  p.ranges = {{{1, 2}, {2, 2}, {4, 2}}, {{1}, {1}, {1}}};
  p.value_ranges = {{}, {{0}, {1}, {99}}};
  const auto add = [&](const char* name, std::vector<sym::Program> extents, plan::Place place, int index) {
    plan::Tensor& t = p.tensors.emplace_back();
    t.name = name, t.extents = std::move(extents), t.place = place, t.index = index;
  };
  add("x", {symbol(0), constant(2)}, plan::Place::kInput, 0);
  add("2x", {symbol(0), constant(2)}, plan::Place::kArena, -1);
  add("y", {symbol(0), constant(2)}, plan::Place::kOutput, 0);
  add("w", {constant(4)}, plan::Place::kWeight, 0);
  add("w[2:]", {constant(2)}, plan::Place::kView, 3);
  p.tensors.back().offset = constant(8);
  add("v", {constant(2)}, plan::Place::kOutput, 1);
  add("k", {constant(1)}, plan::Place::kInput, 1);
  add("z", {constant(1)}, plan::Place::kOutput, 2);
  p.tensors[6].dtype = p.tensors[7].dtype = DType::kI32;
  p.tensors[1].size_bytes_max = 4 * 2 * 4;
  const auto step = [&](const char* kernel, int input, int output) {
    plan::Step& s = p.steps.emplace_back();
    s.name = str("step ", p.steps.size()), s.executor = "cuda", s.step = named_step(kernel);
    s.inputs = {input}, s.outputs = {output}, s.workspace_bytes = 512;
  };
  step("twice", 0, 1);
  step("twice", 1, 2);
  step("words", 4, 5);
  step("words", 6, 7);
  p.arena_bytes = 256;
  p.workspace_bytes = 512;
  return plan;
}

class LaunchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    device = cuda::make_fake_device();
    device->set_executor(std::make_unique<LaunchExecutor>(*device));
    fake_cuda_control().define_kernel("twice", &twice, 3);
    fake_cuda_control().define_kernel("words", &words, 3);
    ASSERT_TRUE(prepare());
  }
  Status prepare(plan::Plan plan = make_plan()) {
    NullLog log;
    engine = TRY(runtime::Engine::load(std::make_shared<const plan::Plan>(std::move(plan)), *device, log));
    context = TRY(runtime::Context::create(engine, runtime::Context::Memory::kOwn));
    stream = TRY(device->create_stream());
    x = TRY(device->allocate(32)), y = TRY(device->allocate(32));
    v = TRY(device->allocate(8)), z = TRY(device->allocate(4));
    context->set_input_address(0, x.data()), context->set_input_address(1, &k);
    context->set_output_address(0, y.data()), context->set_output_address(1, v.data());
    context->set_output_address(2, z.data());
    return context->set_input_extents(0, std::vector<int64_t>{2, 2});
  }
  Status write(const float (&values)[4]) { return device->copy_from_host(x.data(), values, 16, *stream); }
  float read(const Buffer& from, int index) {
    float value = -1;
    EXPECT_TRUE(device->copy_to_host(&value, from.data() + 4 * index, 4, *stream));
    return value;
  }
  static int64_t calls(const char* function) { return fake_cuda_control().num_calls(function); }
  void release() {
    context.reset(), engine.reset(), stream.reset();
    for (Buffer* buffer : {&x, &y, &v, &z}) *buffer = Buffer();
  }

  std::unique_ptr<CudaDevice> device;
  std::shared_ptr<const runtime::Engine> engine;
  Buffer x, y, v, z;
  int32_t k = 7;
  std::unique_ptr<Stream> stream;
  std::unique_ptr<runtime::Context> context;
};

TEST_F(LaunchTest, ComputesWithWeightsAndShapeInputs) {
  ASSERT_TRUE(write({1, 2, 3, 4}));
  const Status queued = context->enqueue(*stream);
  ASSERT_TRUE(queued) << queued.error().message;
  ASSERT_TRUE(stream->synchronize());
  EXPECT_EQ(read(y, 3), 16);
  EXPECT_EQ(read(v, 0), 3);  // what no step has uploaded: a view of a weight
  EXPECT_EQ(read(v, 1), 4);
  int32_t got = 0;
  ASSERT_TRUE(device->copy_to_host(&got, z.data(), 4, *stream));
  EXPECT_EQ(got, 7);
  k = 9;
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_TRUE(device->copy_to_host(&got, z.data(), 4, *stream));
  EXPECT_EQ(got, 9);
}

TEST_F(LaunchTest, ReplaysWhatRepeats) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(calls("cuGraphInstantiateWithFlags"), 1);
  const int64_t launches = calls("cuLaunchKernelEx"), allocations = calls("cuMemAlloc_v2");
  for (int i = 0; i < 5; ++i) {
    const auto value = static_cast<float>(i);
    ASSERT_TRUE(write({value, 0, 0, 0}));
    ASSERT_TRUE(context->enqueue(*stream));
    EXPECT_EQ(read(y, 0), 4 * value);
  }
  EXPECT_EQ(calls("cuLaunchKernelEx"), launches);
  EXPECT_EQ(calls("cuMemAlloc_v2"), allocations);
  // Another address or another shape is another run.
  const Buffer other = *device->allocate(32);
  ASSERT_TRUE(write({5, 0, 0, 0}));
  context->set_output_address(0, other.data());
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(read(other, 0), 20);
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{1, 2}));
  const float untouched = read(other, 3);
  ASSERT_TRUE(write({6, 0, 0, 1}));
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(read(other, 0), 24);
  EXPECT_EQ(read(other, 3), untouched);
}

/// Notes floats of wanted tensors as steps make them, and the first float of x where a run begins.
struct Values final : runtime::ValueObserver {
  explicit Values(CudaDevice& device) : device(device) {}
  bool wants(const plan::Step& step, int) override { return wanted.contains(step.name); }
  bool wants_beginning(const plan::Block&) override { return wanted.contains("x"); }
  Status block_begins(const plan::Block&, std::span<const void* const> inputs, std::span<const int64_t> symbols,
                      Stream& stream) override {
    float first = 0;
    TRY(device.copy_to_host(&first, inputs[0], sizeof first, stream));
    made.push_back(str("x[0] = ", first, ", n = ", symbols[0]));
    return {};
  }
  Status value_made(const plan::Step&, int, const runtime::ObservedValue& value, Stream& stream) override {
    std::vector<float> numbers(static_cast<size_t>(volume(Extents(value.extents.begin(), value.extents.end()))));
    TRY(device.copy_to_host(numbers.data(), value.data, std::ssize(numbers) * 4, stream));
    made.push_back(str(value.tensor.name, value.extents, " = ", numbers));
    if (then) TRY(then());
    return failure.empty() ? Status() : Status(error(Code::kState, failure));
  }

  CudaDevice& device;
  std::set<std::string> wanted;
  std::string failure;
  std::function<Status()> then;
  std::vector<std::string> made;
};

TEST_F(LaunchTest, ShowsWhatStepsMake) {
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_EQ(calls("cuGraphInstantiateWithFlags"), 1);
  Values values(*device);
  context->set_value_observer(&values);  // which wants nothing: the recording goes on
  const int64_t replays = calls("cuGraphLaunch"), launches = calls("cuLaunchKernelEx");
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(calls("cuGraphLaunch"), replays + 1);
  EXPECT_EQ(calls("cuLaunchKernelEx"), launches);
  values.wanted = {"step 1", "step 2", "x"};
  context->set_value_observer(&values);
  for (const float x0 : {1.F, 5.F}) {
    ASSERT_TRUE(write({x0, 2, 3, 4}));
    ASSERT_TRUE(context->enqueue(*stream));
    EXPECT_EQ(values.made,
              (std::vector<std::string>{str("x[0] = ", x0, ", n = 2"), str("2x[2, 2] = [", 2 * x0, ", 4, 6, 8]"),
                                        str("y[2, 2] = [", 4 * x0, ", 8, 12, 16]")}));
    values.made.clear();
  }
  EXPECT_EQ(calls("cuGraphLaunch"), replays + 1);
  EXPECT_EQ(calls("cuLaunchKernelEx"), launches + 8);
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{1, 2}));
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_EQ(values.made.size(), 3u);
  EXPECT_EQ(values.made[1], "2x[1, 2] = [10, 4]");
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{2, 2}));
  context->set_value_observer(nullptr);  // and here it is again
  ASSERT_TRUE(write({6, 2, 3, 4}));
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(calls("cuGraphLaunch"), replays + 2);
  EXPECT_EQ(read(y, 0), 24);
}

TEST_F(LaunchTest, EndsARunWhoseObserverFails) {
  Values values(*device);
  values.wanted = {"step 1"};
  values.failure = "I have seen enough";
  context->set_value_observer(&values);
  ASSERT_TRUE(write({1, 2, 3, 4}));
  const Status ended = context->enqueue(*stream);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "I have seen enough");
  EXPECT_EQ(calls("cuLaunchKernelEx"), 1);
  values.failure.clear();
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(read(y, 0), 4);
}

/// What an observer might change is in use, and is refused; the run goes on.
TEST_F(LaunchTest, RefusesChangesByItsObserver) {
  Values values(*device);
  values.wanted = {"step 1"};
  std::vector<Status> refused;
  values.then = [&]() -> Status {
    EXPECT_TRUE(context->infer_shapes());
    refused = {context->enqueue(*stream), context->select_profile(0), context->bind(),
               context->set_input_extents(0, std::vector<int64_t>{1, 2}), context->set_memory(nullptr, 0)};
    return {};
  };
  context->set_value_observer(&values);
  ASSERT_TRUE(write({1, 2, 3, 4}));
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_EQ(refused.size(), 5u);
  for (const Status& status : refused) EXPECT_FALSE(status);
  EXPECT_EQ(read(y, 3), 16);
}

/// Steps whose kernels a library launches are recorded as ours are, and given other addresses too.
TEST_F(LaunchTest, PutsNewAddressesIntoOneRecording) {
  for (const char* kernel : {"twice", "library"}) {
    release();
    plan::Plan plan = make_plan();
    plan.profiles[0].steps[1].step = named_step(kernel);
    ASSERT_TRUE(prepare(std::move(plan)));
    std::vector<Buffer> outputs;
    for (int i = 0; i < 12; ++i) outputs.push_back(*device->allocate(32));
    const int64_t before = calls("cuGraphInstantiateWithFlags");
    int64_t launches = 0;
    for (int i = 0; i < 40; ++i) {
      const auto value = static_cast<float>(i);
      ASSERT_TRUE(write({value, 0, 0, 0}));
      const Buffer& output = outputs[static_cast<size_t>(i) % outputs.size()];
      context->set_output_address(0, output.data());
      ASSERT_TRUE(context->enqueue(*stream));
      EXPECT_EQ(read(output, 0), 4 * value);
      if (i == 10) launches = calls("cuLaunchKernelEx");
    }
    EXPECT_EQ(calls("cuGraphInstantiateWithFlags"), before + 1) << kernel;
    // A capture of a library's call alone tells what it launches.
    EXPECT_EQ(calls("cuLaunchKernelEx"), launches + (kernel == std::string("library") ? 29 : 0));
    EXPECT_EQ(calls("cuGraphExecKernelNodeSetParams_v2"), kernel == std::string("library") ? 2 * 38 : 38);
  }
}

TEST_F(LaunchTest, WaitsForTheRunInFrontOnAnotherStream) {
  const auto other = *device->create_stream();
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(calls("cuStreamWaitEvent"), 0);  // a stream is in order as it is
  ASSERT_TRUE(context->enqueue(*other));
  EXPECT_EQ(calls("cuStreamWaitEvent"), 1);
  cuda::CudaStream mine(*device, reinterpret_cast<cuda::StreamHandle>(cuda::kPerThreadStream));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(context->enqueue(mine));  // another in each thread, whose handle is one
  EXPECT_EQ(calls("cuStreamWaitEvent"), 3);
}

TEST_F(LaunchTest, BecomesPartOfACapture) {
  const auto& driver = device->driver();
  const auto handle = static_cast<cuda::CudaStream&>(*stream).handle();
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_EQ(driver.stream_begin_capture(handle, cuda::kCaptureGlobal), 0);
  ASSERT_TRUE(context->enqueue(*stream));
  cuda::GraphHandle graph = nullptr;
  cuda::GraphExecHandle exec = nullptr;
  ASSERT_EQ(driver.stream_end_capture(handle, &graph), 0);
  ASSERT_EQ(driver.graph_instantiate_with_flags(&exec, graph, 0), 0);
  ASSERT_TRUE(write({3, 0, 0, 0}));
  ASSERT_EQ(driver.graph_launch(exec, handle), 0);
  EXPECT_EQ(read(y, 0), 12);
  // Memory that the graph uses stays, whatever shapes the context runs next.
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{4, 2}));
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_TRUE(write({5, 0, 0, 0}));
  ASSERT_EQ(driver.graph_launch(exec, handle), 0);
  EXPECT_EQ(read(y, 0), 20);
  driver.graph_exec_destroy(exec);
  driver.graph_destroy(graph);
}

TEST_F(LaunchTest, ReportsTimes) {
  struct Times final : runtime::StepObserver {
    std::vector<std::string> names;
    void step_done(const plan::Step& step, float time_ms) override {
      names.push_back(step.name);
      EXPECT_GT(time_ms, 0);
    }
  } times;
  context->set_timing(true);
  ASSERT_TRUE(context->enqueue(*stream));
  ASSERT_TRUE(context->report_times(times));
  EXPECT_EQ(times.names, (std::vector<std::string>{"step 1", "step 2", "step 3", "step 4"}));
}

/// Remembers how many kernels had been launched when it was recorded.
class RecordedEvent final : public Event {
 public:
  Status record(Stream&) override {
    launches.push_back(fake_cuda_control().num_calls("cuLaunchKernelEx"));
    return {};
  }
  Status wait(Stream&) override { return {}; }
  Status synchronize() override { return {}; }
  Result<float> elapsed_ms(const Event&) const override { return 0.0f; }
  std::vector<int64_t> launches;
};

TEST_F(LaunchTest, SaysWhenInputsAreConsumed) {
  RecordedEvent consumed;
  context->set_inputs_consumed(&consumed);
  const int64_t before = calls("cuLaunchKernelEx");
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(consumed.launches, std::vector<int64_t>{before + 1});  // of k steps read a copy
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_GT(calls("cuGraphLaunch"), 0);
  EXPECT_EQ(consumed.launches.size(), 5u);  // replays too
  context->set_inputs_consumed(nullptr);
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(consumed.launches.size(), 5u);
}

/// x gives y on the run's stream; v and z are made on others.
TEST_F(LaunchTest, BranchesRunOnAuxiliaryStreamsInCaptures) {
  release();
  plan::Plan plan = make_plan();
  plan.profiles[0].steps[2].stream = 1;
  plan.profiles[0].steps[3].stream = 3;  // there is none on 2
  NullLog log;
  engine = *runtime::Engine::load(std::make_shared<const plan::Plan>(std::move(plan)), *device, log);
  EXPECT_EQ(engine->num_aux_streams(), 3);
  EXPECT_EQ(engine->memory_bytes(0), 256 + 4 * 512);  // a workspace for each
  context = *runtime::Context::create(engine, runtime::Context::Memory::kOwn);
  stream = *device->create_stream();
  x = *device->allocate(32), y = *device->allocate(32), v = *device->allocate(8), z = *device->allocate(4);
  context->set_input_address(0, x.data()), context->set_input_address(1, &k);
  context->set_output_address(0, y.data()), context->set_output_address(1, v.data());
  context->set_output_address(2, z.data());
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{2, 2}));
  const auto given = *device->create_stream();
  std::vector<std::unique_ptr<Stream>> aux;
  aux.push_back(std::make_unique<cuda::CudaStream>(*device, static_cast<cuda::CudaStream&>(*given).handle()));
  ASSERT_TRUE(context->set_aux_streams(std::move(aux)));
  const int64_t waits = calls("cuStreamWaitEvent");
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_EQ(calls("cuStreamWaitEvent"), waits);  // launch by launch all is in line
  for (int i = 0; i < 3; ++i) {
    const auto value = static_cast<float>(i + 1);
    ASSERT_TRUE(write({value, 0, 0, 0}));
    ASSERT_TRUE(context->enqueue(*stream));
    EXPECT_EQ(read(y, 0), 4 * value);
    EXPECT_EQ(read(v, 0), 3);
  }
  EXPECT_EQ(calls("cuGraphInstantiateWithFlags"), 1);
  // Two forks and two joins; and no output is written while a step in front may read an input, whose address it may
  // have.
  EXPECT_EQ(calls("cuStreamWaitEvent"), waits + 4 + 3);
}

TEST_F(LaunchTest, TellsWhatTheDataOfAnEarlierRunBroke) {
  struct Heard final : runtime::FaultObserver {
    void faulted(const Error& error, const Stream*) noexcept override { messages.push_back(error.message); }
    std::vector<std::string> messages;
  } heard;
  context->set_fault_observer(&heard);
  ASSERT_TRUE(context->enqueue(*stream));
  EXPECT_TRUE(context->check_runs());
  broken_data = true;
  const Status failed = context->enqueue(*stream);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "an earlier run failed: step 'step 1': the data is broken");
  EXPECT_TRUE(context->enqueue(*stream));
  EXPECT_TRUE(heard.messages.empty());
  broken_data = true;  // and then other shapes: nobody asks about those steps again
  ASSERT_TRUE(context->set_input_extents(0, std::vector<int64_t>{1, 2}));
  EXPECT_FALSE(context->enqueue(*stream));
  broken_data = true;
  context.reset();
  EXPECT_EQ(heard.messages, std::vector<std::string>{"an earlier run failed: step 'step 1': the data is broken"});
  broken_data = false;
}

TEST_F(LaunchTest, NamesTheStepThatFails) {
  fake_cuda_control().fail("cuLaunchKernelEx", 2, cuda::kOutOfLaunchResources);
  const Status failed = context->enqueue(*stream);
  ASSERT_FALSE(failed);
  EXPECT_TRUE(
      failed.error().message.starts_with("step 'step 2': launching kernel 'twice' of 1 x 1 x 1 blocks of 32 threads: "
                                         "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES (701)"))
      << failed.error().message;
  EXPECT_TRUE(context->enqueue(*stream));
}

TEST_F(LaunchTest, SurvivesFailuresOfEveryCall) {
  for (const char* function : {"cuMemAlloc_v2", "cuModuleLoadData", "cuStreamCreateWithPriority", "cuEventCreate",
                               "cuGraphInstantiateWithFlags", "cuStreamEndCapture", "cuMemcpyHtoDAsync_v2"}) {
    bool done = false;
    for (int64_t nth = 1; !done; ++nth) {
      release();
      EXPECT_EQ(fake_cuda_control().live_bytes(), 0) << function << ' ' << nth;
      EXPECT_EQ(fake_cuda_control().live_objects(), 0) << function << ' ' << nth;
      fake_cuda_control().reset();
      fake_cuda_control().fail(function, nth, cuda::kOutOfDeviceMemory);
      const Status ran = [&]() -> Status {
        TRY(prepare());
        TRY(write({1, 2, 3, 4}));
        for (int i = 0; i < 4; ++i) TRY(context->enqueue(*stream));
        return stream->synchronize();
      }();
      EXPECT_TRUE(ran || ran.error().code == Code::kOutOfMemory) << ran.error().message;
      EXPECT_TRUE(!ran || read(y, 1) == 8);
      done = calls(function) < nth;
      ASSERT_LT(nth, 100);
    }
  }
}

}  // namespace
}  // namespace kiln::api
