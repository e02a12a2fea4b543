#include "inference.h"

#include <algorithm>
#include <exception>
#include <thread>

#include "debug_writer.h"
#include "log.h"
#include "query.h"

namespace kiln::cli::trtexec {

/// When a run began, for all its threads.
struct Runner::Start {
  double sleep_ms = 0;
  Clock clock;
  Stream stream;
  Event event;
};

namespace {

void sleep_for(void* ms) {
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(*static_cast<const double*>(ms)));
}

/// Whether another query is to be started: too few are measured, or too little time has passed.
class Goal {
 public:
  explicit Goal(const InferenceOptions& options)
      : iterations_(options.iterations),
        warmup_ms_(options.warmup_ms),
        end_ms_(options.duration_s < 0 ? -1 : options.warmup_ms + 1e3 * options.duration_s) {}

  void add(const Trace& trace) {
    latest_ms_ = std::max(latest_ms_, trace.compute_start);
    if (trace.compute_start >= warmup_ms_) ++measured_;
  }
  bool warm() const { return latest_ms_ >= warmup_ms_; }
  bool endless() const { return end_ms_ < 0; }
  bool reached(int under_way) const {
    return !endless() && latest_ms_ >= end_ms_ && measured_ + under_way >= iterations_;
  }

 private:
  int64_t iterations_, measured_ = 0;
  double warmup_ms_, end_ms_, latest_ms_ = 0;
};

}  // namespace

Runner::Session Runner::make_session(nvinfer1::ICudaEngine& engine, int stream) {
  using Strategy = nvinfer1::ExecutionContextAllocationStrategy;
  const InferenceOptions& options = options_.inference;
  const bool has_own_memory = options.memory == ContextMemory::kStatic;
  Session session;
  session.context.reset(engine.createExecutionContext(has_own_memory ? Strategy::kSTATIC : Strategy::kUSER_MANAGED));
  require(session.context != nullptr, "no execution context for stream ", stream, ": the message above says why");
  if (has_own_memory && stream == 0)
    log_.info("Created execution context with device memory size: ",
              static_cast<double>(engine.getDeviceMemorySizeV2()) / (1 << 20), " MiB");
  const int profile = options.profile.value_or(0), count = engine.getNbOptimizationProfiles();
  require(profile < std::max(count, 1), "--useProfile: there is no profile ", profile, "; the plan has ", count,
          ", counted from 0");
  if (count > 1 && !options.profile && stream == 0)
    log_.warn(count,
              " profiles are in the plan, and the first is used; --useProfile chooses one, "
              "--dumpOptimizationProfile shows them");
  if (options.profile) {
    const Stream order;
    require(session.context->setOptimizationProfileAsync(profile, order), "--useProfile: profile ", profile,
            " was refused: the message above says why");
    order.synchronize();
  }
  return session;
}

/// Memory for the profile or the shapes alone, which may be less than what all profiles need.
void Runner::give_memory(const nvinfer1::ICudaEngine& engine, Session& session) {
  const InferenceOptions& options = options_.inference;
  if (options.memory == ContextMemory::kStatic) return;
  const bool of_profile = options.memory == ContextMemory::kProfile;
  const int64_t size_bytes = of_profile ? engine.getDeviceMemorySizeForProfileV2(options.profile.value_or(0))
                                        : static_cast<int64_t>(session.context->updateDeviceMemorySizeForShapes());
  session.memory = Memory(Place::kDevice, size_bytes);
  session.context->setDeviceMemoryV2(session.memory.data(), size_bytes);
  if (&session != &sessions_.front()) return;
  log_.info("Maximum device memory size across all profiles: ",
            static_cast<double>(engine.getDeviceMemorySizeV2()) / (1 << 20), " MiB");
  log_.info("Only allocated device memory enough for ", of_profile ? "current profile" : "current input shapes", ": ",
            static_cast<double>(size_bytes) / (1 << 20), " MiB");
}

Runner::Runner(nvinfer1::ICudaEngine& engine, const Options& options, nvinfer1::IProfiler* profiler, Log& log)
    : options_(options), log_(log) {
  for (int i = 0; i < options.inference.streams; ++i) sessions_.push_back(make_session(engine, i));
  if (profiler) set_profiler(profiler);
  for (Session& session : sessions_) {
    const Announce announce = &session == &sessions_.front() ? Announce::kYes : Announce::kNo;
    session.bindings = std::make_unique<Bindings>(engine, *session.context, options.inference, log, announce);
    give_memory(engine, session);
  }
  if (options.inference.debug_tensors.is_on()) write_debug_tensors(engine);
}

/// Runs once with debug tensors on, and writes them. They are off from there on: what is measured is the usual run.
void Runner::write_debug_tensors(const nvinfer1::ICudaEngine& engine) {
  const DebugTensorOptions& options = options_.inference.debug_tensors;
  nvinfer1::IExecutionContext& context = *sessions_.front().context;
  DebugWriter writer(options, engine.getName());
  context.setDebugListener(&writer);
  for (const auto& [name, file] : options.files)
    require(context.setTensorDebugState(name.c_str(), true), "--saveDebugTensors: '", name,
            "' is no debug tensor of the engine; mark it by --markDebug when it is built");
  if (!options.formats.empty()) {
    context.setAllTensorsDebugState(true);
    context.setUnfusedTensorsDebugState(true);
  }
  const Stream stream;
  sessions_.front().bindings->copy_inputs(stream);
  const bool ran = context.enqueueV3(stream);
  if (ran) stream.synchronize();
  context.setAllTensorsDebugState(false);
  context.setUnfusedTensorsDebugState(false);
  context.setDebugListener(nullptr);
  writer.finish(log_);
  require(ran, "the run with debug tensors failed: the message above says why");
  writer.require_values();
}

void Runner::set_profiler(nvinfer1::IProfiler* profiler) { sessions_.front().context->setProfiler(profiler); }

void Runner::capture(QueryLane& lane) {
  log_.info("Capturing CUDA graph for the current execution context");
  const std::string failure = lane.capture();
  if (failure.empty()) return log_.info("Successfully captured CUDA graph for the current execution context.");
  log_.warn("CUDA graph capture failed: ", failure, ". Queries are launched one by one.");
}

std::vector<Trace> Runner::run_sessions(std::span<Session> sessions, const Start& start) {
  const InferenceOptions& options = options_.inference;
  check(cudaSetDevice(options_.device), "cudaSetDevice");
  std::vector<std::unique_ptr<QueryLane>> lanes;
  for (Session& session : sessions) {
    const QueryOptions query{options.transfers, options.overlap, options.spin ? Waiting::kSpin : Waiting::kSleep};
    lanes.push_back(std::make_unique<QueryLane>(*session.context, *session.bindings, query));
    if (!options.transfers) lanes.back()->copy_inputs_now();
    if (options.cuda_graph && !session.context->getProfiler()) capture(*lanes.back());
    lanes.back()->hold_until(start.event);
  }
  std::vector<Trace> traces;
  Goal goal(options);
  const auto finish = [&](QueryLane& lane) {
    const Trace trace = lane.finish(start.event);
    if (&lane == lanes.front().get()) goal.add(trace);  // rounds are counted, not queries
    if (!goal.endless()) traces.push_back(trace);
  };
  while (!goal.reached(lanes.front()->under_way())) {
    for (auto& lane : lanes) lane->start(start.clock);
    for (auto& lane : lanes)
      if (lane->full()) finish(*lane);
    if (options.idle_ms > 0 && goal.warm())
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(options.idle_ms));
  }
  for (auto& lane : lanes)
    while (!lane->empty()) finish(*lane);
  if (options_.report.wants_outputs())
    for (auto& lane : lanes) lane->copy_outputs_now();
  return traces;
}

std::vector<Trace> Runner::run() {
  Start start;
  start.sleep_ms = options_.inference.sleep_ms;
  if (start.sleep_ms > 0) check(cudaLaunchHostFunc(start.stream, sleep_for, &start.sleep_ms), "cudaLaunchHostFunc");
  start.event.record(start.stream);
  if (start.sleep_ms == 0) start.stream.synchronize();  // else the host goes on while the device is held back
  if (!options_.inference.threads || sessions_.size() == 1) return run_sessions(sessions_, start);

  std::vector<std::vector<Trace>> parts(sessions_.size());
  std::vector<std::exception_ptr> failures(sessions_.size());
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < sessions_.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        parts[i] = run_sessions({&sessions_[i], 1}, start);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    });
  threads.clear();  // waits for them
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  std::vector<Trace> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::ranges::sort(all, {}, &Trace::h2d_start);
  return all;
}

}  // namespace kiln::cli::trtexec
