#include "backend/cuda/device/conditional_nodes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/testing/fake_driver.h"
#include "device/async.h"

namespace kiln::cuda {
namespace {

/// A body and a test: `at` grows by `step`, and the boolean `flag`, if there is one, says whether it is below `limit`.
constexpr char kCountUp[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry count_up(.param .u64 at, .param .u64 step, .param .u64 flag, .param .u64 limit)
{
  .reg .pred %absent, %below;
  .reg .b32 %byte;
  .reg .b64 %at, %step, %flag, %limit, %value;
  ld.param.u64 %at, [at];
  ld.param.u64 %step, [step];
  ld.param.u64 %flag, [flag];
  ld.param.u64 %limit, [limit];
  ld.global.u64 %value, [%at];
  add.u64 %value, %value, %step;
  st.global.u64 [%at], %value;
  setp.eq.u64 %absent, %flag, 0;
  @%absent ret;
  setp.lt.s64 %below, %value, %limit;
  selp.u32 %byte, 1, 0, %below;
  st.global.u8 [%flag], %byte;
  ret;
}
)";

void run_count_up(const LaunchConfig&, void** arguments) {
  uint64_t values[4];
  for (size_t i = 0; i < 4; ++i) std::memcpy(&values[i], arguments[i], sizeof values[i]);
  int64_t& at = *reinterpret_cast<int64_t*>(values[0]);
  at += static_cast<int64_t>(values[1]);
  if (values[2]) *reinterpret_cast<uint8_t*>(values[2]) = at < static_cast<int64_t>(values[3]);
}

/// A device with memory of 64-bit numbers, and recordings on it.
class Recorder {
 public:
  explicit Recorder(CudaDevice& device)
      : device_(device),
        module_(*device.load(std::as_bytes(std::span(kCountUp)))),
        count_up_(*module_->function("count_up")),
        memory_(*device.allocate(kNumbers * 8)),
        stream_(*device.create_stream()) {
    write(std::vector<int64_t>(kNumbers, 0), 0);
  }
  std::byte* at(size_t number) const { return memory_.data() + number * 8; }
  int64_t* turns() const { return reinterpret_cast<int64_t*>(at(0)); }
  void write(const std::vector<int64_t>& numbers, size_t first) {
    const auto bytes = static_cast<int64_t>(numbers.size() * 8);
    EXPECT_TRUE(device_.copy_from_host(at(first), numbers.data(), bytes, *stream_));
  }
  std::vector<int64_t> read(size_t first, size_t count) {
    std::vector<int64_t> numbers(count);
    EXPECT_TRUE(device_.copy_to_host(numbers.data(), at(first), static_cast<int64_t>(count * 8), *stream_));
    return numbers;
  }
  int64_t read(size_t number) { return read(number, 1)[0]; }

  Status count_up(Stream* stream, size_t number, int64_t step = 1, std::byte* flag = nullptr, int64_t limit = 0) {
    std::byte* place = at(number);
    void* arguments[] = {&place, &step, &flag, &limit};
    return launch(*stream, count_up_, LaunchShape{}, arguments);
  }

  using Work = std::function<Status(Stream*)>;
  static Status call(void* work, Stream* stream) { return (*static_cast<Work*>(work))(stream); }
  /// Makes a recording of `work`, which the test may launch.
  Result<std::unique_ptr<Recording>> record(Work work) { return device_.record(&call, &work); }
  void launch_all(Recording& recording) {
    ASSERT_TRUE(recording.launch(*stream_));
    ASSERT_TRUE(stream_->synchronize());
  }
  /// Records and launches `work` twice: what a launch leaves does not disturb the next.
  void run(const Work& work) {
    const auto recording = record(work);
    ASSERT_TRUE(recording) << recording.error().message;
    launch_all(**recording);
    launch_all(**recording);
  }
  /// A loop that is added with these bodies.
  Status add(Stream* stream, RecordedLoop loop, Work body, Work test = nullptr) {
    std::pair<Work, Work> works(std::move(body), std::move(test));
    loop.turns = loop.turns ? loop.turns : turns();
    loop.body = [](void* argument, Stream* s) { return static_cast<std::pair<Work, Work>*>(argument)->first(s); };
    loop.test = [](void* argument, Stream* s) { return static_cast<std::pair<Work, Work>*>(argument)->second(s); };
    loop.argument = &works;
    return device_.record_loop(*stream, loop);
  }
  Status add_branch(Stream* stream, std::byte* condition, Work if_true, Work if_false) {
    std::pair<Work, Work> works(std::move(if_true), std::move(if_false));
    return device_.record_branch(
        *stream,
        {.condition = condition,
         .if_true = [](void* argument, Stream* s) { return static_cast<std::pair<Work, Work>*>(argument)->first(s); },
         .if_false = [](void* argument, Stream* s) { return static_cast<std::pair<Work, Work>*>(argument)->second(s); },
         .argument = &works});
  }

  static constexpr size_t kNumbers = 1 << 16, kValue = 8, kAsked = 9, kFlag = 10, kInnerTurns = 12, kCopy = 16,
                          kArrays = 64;

 private:
  CudaDevice& device_;
  std::shared_ptr<const Module> module_;
  Function count_up_;
  Buffer memory_;
  std::unique_ptr<Stream> stream_;
};
constexpr size_t kValue = Recorder::kValue, kAsked = Recorder::kAsked, kFlag = Recorder::kFlag;

/// How often a loop runs its body in one launch.
int64_t iterations_of(Recorder& recorder, RecordedLoop loop, int64_t limit = 0, bool tests = false) {
  std::byte* const flag = loop.goes_on || loop.tested ? recorder.at(kFlag) : nullptr;
  recorder.write({0}, kValue);
  const auto body = [&](Stream* s) { return recorder.count_up(s, kValue, 1, tests ? nullptr : flag, limit); };
  const auto test = [&](Stream* s) { return recorder.count_up(s, kValue, 0, flag, limit); };
  const auto recording = recorder.record([&](Stream* s) { return recorder.add(s, loop, body, test); });
  EXPECT_TRUE(recording) << recording.error().message;
  if (!recording) return -1;
  recorder.launch_all(**recording);
  const int64_t once = recorder.read(kValue);
  EXPECT_EQ(recorder.read(0), once);
  recorder.write({0}, kValue);
  recorder.launch_all(**recording);
  EXPECT_EQ(recorder.read(kValue), once) << "in the second launch";
  return once;
}

void check_counts(CudaDevice& device) {
  Recorder recorder(device);
  const auto asked = [&](int64_t count, int bytes) {
    recorder.write({count}, kAsked);
    return RecordedLoop{.asked = recorder.at(kAsked), .asked_bytes = bytes, .most = 7};
  };
  EXPECT_EQ(iterations_of(recorder, {.most = 7}), 7);
  EXPECT_EQ(iterations_of(recorder, {.most = 0}), 0);
  EXPECT_EQ(iterations_of(recorder, asked(5, 8)), 5);
  EXPECT_EQ(iterations_of(recorder, asked(100, 8)), 7);
  EXPECT_EQ(iterations_of(recorder, asked(-3, 8)), 0);
  EXPECT_EQ(iterations_of(recorder, asked(0xffffffff, 4)), 0);  // -1
  EXPECT_EQ(iterations_of(recorder, asked((int64_t{9} << 32) + 3, 4)), 3);
}

void check_conditions(CudaDevice& device) {
  Recorder recorder(device);
  const std::byte* const flag = recorder.at(kFlag);
  for (const int64_t starts : {0, 1, 2}) {
    recorder.write({starts}, kAsked);
    EXPECT_EQ(iterations_of(recorder, {.most = 3, .starts = recorder.at(kAsked)}), starts ? 3 : 0);
  }
  EXPECT_EQ(iterations_of(recorder, {.most = 100, .goes_on = flag}, 4), 4);
  EXPECT_EQ(iterations_of(recorder, {.most = 100, .goes_on = flag}, 0), 1);
  EXPECT_EQ(iterations_of(recorder, {.most = 3, .goes_on = flag}, 50), 3);
  EXPECT_EQ(iterations_of(recorder, {.most = 100, .tested = flag}, 4, true), 4);
  EXPECT_EQ(iterations_of(recorder, {.most = 100, .tested = flag}, 0, true), 0);
  EXPECT_EQ(iterations_of(recorder, {.most = 2, .tested = flag}, 9, true), 2);
}

/// Loops that look at their condition behind several iterations: bodies that follow the last one leave nothing.
void check_several_at_once(CudaDevice& device) {
  Recorder recorder(device);
  constexpr size_t kNext = Recorder::kCopy, kRuns = Recorder::kCopy + 1;
  std::byte* const flag = recorder.at(kFlag);
  const IterationCopy before{recorder.at(kNext), recorder.at(kValue), 8},
      behind{recorder.at(kValue), recorder.at(kNext), 8};
  const auto expect = [&](RecordedLoop loop, int64_t limit, int64_t expected) {
    for (loop.at_once = 1; loop.at_once <= 4; ++loop.at_once) {
      loop.before = {&before, 1}, loop.behind = {&behind, 1};
      recorder.write({0, 0}, kNext);
      const auto body = [&](Stream* s) -> Status {
        TRY(recorder.count_up(s, kRuns));
        return recorder.count_up(s, kNext, 1, loop.tested ? nullptr : flag, limit);
      };
      const auto test = [&](Stream* s) { return recorder.count_up(s, kNext, 0, flag, limit); };
      const auto recording = recorder.record([&](Stream* s) { return recorder.add(s, loop, body, test); });
      ASSERT_TRUE(recording) << recording.error().message;
      int64_t runs = 0;
      for (int launch = 0; launch < 2; ++launch) {
        recorder.write({0}, kValue);
        recorder.launch_all(**recording);
        EXPECT_EQ(recorder.read(kValue), expected) << loop.at_once;
        EXPECT_EQ(recorder.read(0), expected) << loop.at_once;
        runs += (expected + loop.at_once - 1) / loop.at_once * loop.at_once;
        EXPECT_EQ(recorder.read(kRuns), runs) << loop.at_once;
      }
    }
  };
  for (const int64_t asked : {0, 1, 5, 8}) {
    recorder.write({asked}, kAsked);
    expect({.asked = recorder.at(kAsked), .asked_bytes = 8, .most = 7}, 0, std::min<int64_t>(asked, 7));
  }
  for (const int64_t limit : {1, 2, 3, 4, 5, 9}) {
    expect({.most = 100, .goes_on = flag}, limit, limit);
    expect({.most = 100, .tested = flag}, limit, limit);
    expect({.most = 3, .goes_on = flag}, limit, std::min<int64_t>(limit, 3));
  }
  expect({.most = 100, .tested = flag}, 0, 0);
}

/// y[n - 1 - i] = x[i] of each array, through a place that the iterations share.
void check_copies(CudaDevice& device, size_t numbers_of_slice, size_t arrays, int64_t bytes_less, bool tests,
                  int at_once = 1) {
  Recorder recorder(device);
  constexpr size_t kTurns = 3;
  const size_t array = kTurns * numbers_of_slice;
  const auto slice = static_cast<int64_t>(numbers_of_slice * 8);
  std::vector<int64_t> x(arrays * array);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int64_t>(i + 1);
  const size_t y = Recorder::kArrays + x.size(), places = y + x.size();
  ASSERT_LE(places + arrays * numbers_of_slice, Recorder::kNumbers);
  recorder.write(x, Recorder::kArrays);
  std::vector<IterationCopy> before, behind;
  for (size_t a = 0; a < arrays; ++a) {
    std::byte* const place = recorder.at(places + a * numbers_of_slice);
    before.push_back({place, recorder.at(Recorder::kArrays + a * array), slice - bytes_less, 0, slice});
    behind.push_back({recorder.at(y + a * array) + (kTurns - 1) * slice, place, slice - bytes_less, -slice, 0});
  }
  behind.push_back({recorder.at(Recorder::kCopy), recorder.at(kValue), 8});  // stands still
  const RecordedLoop loop{.most = kTurns,
                          .tested = tests ? recorder.at(kFlag) : nullptr,
                          .at_once = at_once,
                          .before = before,
                          .behind = behind};
  recorder.run([&](Stream* s) {
    return recorder.add(
        s, loop, [&](Stream* body) { return recorder.count_up(body, kValue); },
        [&](Stream* test) { return recorder.count_up(test, kValue, 0, recorder.at(kFlag), 1000); });
  });
  const auto once = static_cast<size_t>(at_once), bodies = (kTurns + once - 1) / once * once;  // of the first launch
  EXPECT_EQ(recorder.read(Recorder::kCopy), static_cast<int64_t>(bodies + kTurns));
  const std::vector<int64_t> got = recorder.read(y, x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t turn = i / numbers_of_slice % kTurns, of_slice = i % numbers_of_slice;
    int64_t expected = x[i - turn * numbers_of_slice + (kTurns - 1 - turn) * numbers_of_slice];
    if (bytes_less > 0 && of_slice == numbers_of_slice - 1) expected &= (int64_t{1} << (8 * (8 - bytes_less))) - 1;
    ASSERT_EQ(got[i], expected) << "number " << i;
  }
}

void check_all_copies(CudaDevice& device) {
  check_copies(device, 1, 1, 0, false);
  check_copies(device, 2, 3, 0, false);
  check_copies(device, 4, 30, 4, false);    // in two launches, by four bytes
  check_copies(device, 5, 2, 5, true);      // by bytes
  check_copies(device, 6000, 1, 0, false);  // in several blocks
  check_copies(device, 4001, 2, 4, true);
  for (const bool tests : {false, true}) {
    check_copies(device, 4, 30, 4, tests, 2);
    check_copies(device, 4001, 2, 0, tests, 4);
  }
}

void check_nesting(CudaDevice& device) {
  Recorder recorder(device);
  recorder.write({4}, kAsked);
  const auto inner = [&](Stream* s) {
    const RecordedLoop loop{.turns = reinterpret_cast<int64_t*>(recorder.at(Recorder::kInnerTurns)),
                            .asked = recorder.at(kAsked),
                            .asked_bytes = 8,
                            .most = 10};
    return recorder.add(s, loop, [&](Stream* body) { return recorder.count_up(body, kValue); });
  };
  recorder.run([&](Stream* s) { return recorder.add(s, {.most = 3}, inner); });
  EXPECT_EQ(recorder.read(kValue), 2 * 3 * 4);
}

void check_branches(CudaDevice& device) {
  Recorder recorder(device);
  const auto recording = recorder.record([&](Stream* s) -> Status {
    TRY(recorder.add_branch(
        s, recorder.at(kFlag), [&](Stream* taken) { return recorder.count_up(taken, kValue, 1); },
        [&](Stream* taken) { return recorder.count_up(taken, kValue, 100); }));
    return recorder.count_up(s, kValue, 10000);  // what follows has to wait
  });
  ASSERT_TRUE(recording) << recording.error().message;
  int64_t expected = 0;
  for (const int64_t flag : {1, 0, 0, 7}) {
    recorder.write({flag}, kFlag);
    recorder.launch_all(**recording);
    expected += flag ? 10001 : 10100;
    EXPECT_EQ(recorder.read(kValue), expected);
  }
}

std::unique_ptr<CudaDevice> make_device() {
  auto device = make_fake_device();
  fake_cuda_control().define_kernel("count_up", &run_count_up, 4);
  return device;
}

/// A driver of a version, which lives as long as the test.
struct OfVersion {
  explicit OfVersion(int version) : driver(load(version)), device(*CudaDevice::create(0, driver)) {
    fake_cuda_control().define_kernel("count_up", &run_count_up, 4);
  }
  static Driver load(int version) {
    fake_cuda_control().reset();
    fake_cuda_control().set_version(version);
    Driver loaded = *load_driver(fake_driver_path());
    EXPECT_EQ(loaded.init(0), 0);
    return loaded;
  }
  const Driver driver;
  const std::unique_ptr<CudaDevice> device;
};

TEST(ConditionalNodes, CountIterations) { check_counts(*make_device()); }
TEST(ConditionalNodes, EndWhereConditionsSay) { check_conditions(*make_device()); }
TEST(ConditionalNodes, CopySlices) { check_all_copies(*make_device()); }
TEST(ConditionalNodes, RunSeveralIterationsAtOnce) { check_several_at_once(*make_device()); }
TEST(ConditionalNodes, Nest) { check_nesting(*make_device()); }
TEST(ConditionalNodes, Choose) { check_branches(*make_device()); }

/// Drivers before CUDA 12.8 have no "else": two nodes stand for it.
TEST(ConditionalNodes, ChooseWithAnOlderDriver) {
  const OfVersion old(12040);
  check_branches(*old.device);
  EXPECT_EQ(fake_cuda_control().num_calls("cuGraphAddNode"), 2);
}

TEST(ConditionalNodes, AreRefusedByOldDrivers) {
  const OfVersion old(12030);
  Recorder recorder(*old.device);
  const auto recording = recorder.record([&](Stream* s) {
    return recorder.add(s, {.most = 1}, [&](Stream* body) { return recorder.count_up(body, kValue); });
  });
  ASSERT_FALSE(recording);
  EXPECT_EQ(recording.error().code, Code::kUnsupported);
  EXPECT_EQ(recording.error().message, "the driver (CUDA 12.3) has no conditional nodes: CUDA 12.4 does");
}

/// The error of a body, or of a call, is the recording's; nothing stays behind.
TEST(ConditionalNodes, TellWhatFails) {
  const auto device = make_device();
  Recorder recorder(*device);
  const auto record = [&](Status result) {
    return recorder.record(
        [&, result](Stream* s) { return recorder.add(s, {.most = 1}, [result](Stream*) { return result; }); });
  };
  ASSERT_TRUE(record({}));
  const int64_t objects = fake_cuda_control().live_objects();
  const auto failed = record(error(Code::kUnsupported, "no such body"));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "no such body");
  for (const char* call : {"cuGraphConditionalHandleCreate", "cuGraphAddNode", "cuStreamUpdateCaptureDependencies",
                           "cuStreamBeginCaptureToGraph"}) {
    fake_cuda_control().fail(call, 1, kNotSupported);
    EXPECT_FALSE(record({})) << call;
  }
  EXPECT_EQ(fake_cuda_control().live_objects(), objects);
}

class GpuConditionalNodes : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = CudaDevice::create(0);
    if (!made) GTEST_SKIP() << made.error().message;
    device_ = *std::move(made);
  }
  std::unique_ptr<CudaDevice> device_;
};

TEST_F(GpuConditionalNodes, CountIterations) { check_counts(*device_); }
TEST_F(GpuConditionalNodes, EndWhereConditionsSay) { check_conditions(*device_); }
TEST_F(GpuConditionalNodes, CopySlices) { check_all_copies(*device_); }
TEST_F(GpuConditionalNodes, RunSeveralIterationsAtOnce) { check_several_at_once(*device_); }
TEST_F(GpuConditionalNodes, Nest) { check_nesting(*device_); }
TEST_F(GpuConditionalNodes, Choose) { check_branches(*device_); }

}  // namespace
}  // namespace kiln::cuda
