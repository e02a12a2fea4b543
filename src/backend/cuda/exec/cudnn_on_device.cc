#include "backend/cuda/exec/cudnn_on_device.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <utility>

namespace kiln::cuda {

Result<std::shared_ptr<CudnnOnDevice>> CudnnOnDevice::create(CudaDevice& device) {
  const Cudnn& library = TRY(Cudnn::instance());
  CudnnContext* launches = nullptr;
  TRY(library.check(library.create(&launches), "starting cuDNN on '", device.properties().name, "'"));
  return std::shared_ptr<CudnnOnDevice>(new CudnnOnDevice(device, library, launches));
}

CudnnOnDevice::~CudnnOnDevice() {
  latest_.clear();
  for (CudnnContext* planner : planners_) library_.destroy(planner);
  library_.destroy(launches_);
}

/// A context for one thread's plans, given back at the end.
class CudnnOnDevice::Planner {
 public:
  static Result<Planner> make(CudnnOnDevice& cudnn) {
    {
      const std::lock_guard lock(cudnn.plan_mutex_);
      if (!cudnn.planners_.empty()) {
        Planner found(cudnn, cudnn.planners_.back());
        cudnn.planners_.pop_back();
        return found;
      }
    }
    CudnnContext* context = nullptr;
    TRY(cudnn.library_.check(cudnn.library_.create(&context), "starting cuDNN on '", cudnn.device_.properties().name,
                             "'"));
    return Planner(cudnn, context);
  }
  Planner(Planner&& other) noexcept : cudnn_(other.cudnn_), context_(std::exchange(other.context_, nullptr)) {}
  Planner& operator=(Planner&&) = delete;
  ~Planner() {
    if (!context_) return;
    const std::lock_guard lock(cudnn_.plan_mutex_);
    cudnn_.planners_.push_back(context_);
  }
  CudnnTarget target() const { return {cudnn_.library_, context_}; }

 private:
  Planner(CudnnOnDevice& cudnn, CudnnContext* context) : cudnn_(cudnn), context_(context) {}
  CudnnOnDevice& cudnn_;
  CudnnContext* context_;
};

Result<std::vector<CudnnChoice>> CudnnOnDevice::choices(const CudnnConvolutionSpec& spec) {
  {
    const std::lock_guard lock(plan_mutex_);
    if (const auto at = known_.find(spec); at != known_.end()) return at->second;
  }
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  std::vector<CudnnChoice> found = TRY(ask(spec));
  const std::lock_guard lock(plan_mutex_);
  return known_[spec] = std::move(found);
}

Result<std::vector<CudnnChoice>> CudnnOnDevice::ask(const CudnnConvolutionSpec& spec) {
  const Planner planner = TRY(Planner::make(*this));
  const CudnnTarget target = planner.target();
  const auto graph = CudnnGraph::make(target, spec);
  std::vector<CudnnChoice> result;
  if (!graph) {
    if (graph.error().code == Code::kOutOfMemory) return std::unexpected(graph.error());
    return result;  // no operation of the library's
  }
  // Modes B and fallback are asked only where A knows nothing: B's answers resemble A's, and fallback's engines are
  // slow.
  for (const CudnnHeuristic mode : {kCudnnModeA, kCudnnModeB, kCudnnModeFallback})
    if (result.empty()) result = TRY(graph->ask(target, spec, mode));
  return result;
}

void CudnnOnDevice::expect(const CudnnConvolutionSpec& spec, const CudnnChoice& choice) {
  if (!CudnnRound::is_open()) return;
  const std::lock_guard lock(plan_mutex_);
  const int64_t round = CudnnRound::latest();
  if (std::exchange(expected_in_, round) != round) expected_.clear();
  expected_.emplace(PlanKey{spec, choice.name()}, choice);
}

Result<std::shared_ptr<const CudnnPlan>> CudnnOnDevice::plan(const CudnnConvolutionSpec& spec,
                                                             const CudnnChoice& choice) {
  const PlanKey key{spec, choice.name()};
  if (auto there = find(key)) return there;
  if (const Expected expected = take_expected(key); !expected.empty()) {
    make_all(expected);
    if (auto there = find(key)) return there;
  }
  return make(key, choice);
}

std::shared_ptr<const CudnnPlan> CudnnOnDevice::find(const PlanKey& key) {
  const std::lock_guard lock(plan_mutex_);
  const auto at = plans_.find(key);
  return at == plans_.end() ? nullptr : at->second.lock();
}

/// Takes the plans that the latest round expects, if `key` is among them.
CudnnOnDevice::Expected CudnnOnDevice::take_expected(const PlanKey& key) {
  const std::lock_guard lock(plan_mutex_);
  if (expected_in_ != CudnnRound::latest() || !expected_.contains(key)) return {};
  return std::exchange(expected_, {});
}

/// Makes all plans. One that fails says so when it is asked for by itself.
void CudnnOnDevice::make_all(const Expected& expected) {
  constexpr size_t kMostThreads = 8;  // a context each
  std::vector<Expected::const_iterator> wanted;
  for (auto at = expected.begin(); at != expected.end(); ++at) wanted.push_back(at);
  std::atomic<size_t> next = 0;
  const auto work = [&]() noexcept {
    for (size_t i = next++; i < wanted.size(); i = next++) try {
        static_cast<void>(make(wanted[i]->first, wanted[i]->second));
      } catch (const std::exception&) {  // no memory: whoever asks again is told
      }
  };
  std::vector<std::jthread> threads;
  const size_t most = std::min<size_t>({std::thread::hardware_concurrency(), kMostThreads, wanted.size()});
  try {
    for (size_t i = 1; i < most; ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {  // fewer threads, then
  }
  work();
}

Result<std::shared_ptr<const CudnnPlan>> CudnnOnDevice::make(const PlanKey& key, const CudnnChoice& choice) {
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  const Planner planner = TRY(Planner::make(*this));
  auto made = TRY(CudnnPlan::make(planner.target(), key.first, choice));
  const std::lock_guard lock(plan_mutex_);
  plans_[key] = made;
  latest_.push_back(made);
  if (latest_.size() > kMostKept) latest_.pop_front();
  return made;
}

Status CudnnOnDevice::execute(const CudnnPlan& plan, const CudnnObject& variant_pack, StreamHandle stream) {
  const std::lock_guard lock(launch_mutex_);
  const OutsideCaptures outside(device_.driver());  // the library may load a kernel at its first launch
  if (stream != stream_) {
    TRY(library_.check(library_.set_stream(launches_, stream), "a stream for cuDNN"));
    stream_ = stream;
  }
  return library_.check(library_.execute(launches_, plan.handle(), variant_pack.handle()), "a convolution by cuDNN");
}

namespace {
std::atomic<int64_t> num_rounds = 0;
thread_local int num_open = 0;
}  // namespace

CudnnRound::CudnnRound() { ++num_open, ++num_rounds; }
CudnnRound::~CudnnRound() { --num_open; }
bool CudnnRound::is_open() { return num_open > 0; }
int64_t CudnnRound::latest() { return num_rounds; }

}  // namespace kiln::cuda
