#include "backend/cuda/exec/cudnn_on_device.h"

#include <algorithm>

namespace kiln::cuda {

Result<std::shared_ptr<CudnnOnDevice>> CudnnOnDevice::create(CudaDevice& device) {
  const Cudnn& library = TRY(Cudnn::instance());
  CudnnContext *launches = nullptr, *planning = nullptr;
  TRY(library.check(library.create(&launches), "starting cuDNN on '", device.properties().name, "'"));
  std::shared_ptr<CudnnOnDevice> made(new CudnnOnDevice(device, library, launches));
  TRY(library.check(library.create(&planning), "starting cuDNN on '", device.properties().name, "'"));
  made->planning_ = planning;
  return made;
}

CudnnOnDevice::~CudnnOnDevice() {
  latest_.clear();
  if (planning_) library_.destroy(planning_);
  library_.destroy(launches_);
}

Result<std::vector<CudnnChoice>> CudnnOnDevice::choices(const CudnnConvolutionSpec& spec) {
  const std::lock_guard lock(plan_mutex_);
  if (const auto at = known_.find(spec); at != known_.end()) return at->second;
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  return known_[spec] = TRY(ask(spec));
}

Result<std::vector<CudnnChoice>> CudnnOnDevice::ask(const CudnnConvolutionSpec& spec) const {
  const CudnnTarget target{library_, planning_};
  const auto graph = CudnnGraph::make(target, spec);
  std::vector<CudnnChoice> result;
  if (!graph) {
    if (graph.error().code == Code::kOutOfMemory) return std::unexpected(graph.error());
    return result;  // no operation of the library's
  }
  // Mode B answers much as A does, and the fallback's engines are slow: both are for what A does not know.
  for (const CudnnHeuristic mode : {kCudnnModeA, kCudnnModeB, kCudnnModeFallback})
    if (result.empty()) result = TRY(graph->ask(target, spec, mode));
  return result;
}

Result<std::shared_ptr<const CudnnPlan>> CudnnOnDevice::plan(const CudnnConvolutionSpec& spec,
                                                             const CudnnChoice& choice) {
  const std::lock_guard lock(plan_mutex_);
  std::weak_ptr<const CudnnPlan>& known = plans_[{spec, choice.name()}];
  if (auto there = known.lock()) return there;
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  auto made = TRY(CudnnPlan::make({library_, planning_}, spec, choice));
  known = made;
  latest_.push_back(made);
  if (latest_.size() > kMostKept) latest_.pop_front();
  return made;
}

Status CudnnOnDevice::execute(const CudnnPlan& plan, const CudnnObject& variant_pack, StreamHandle stream) {
  const std::lock_guard lock(launch_mutex_);
  if (stream != stream_) {
    TRY(library_.check(library_.set_stream(launches_, stream), "a stream for cuDNN"));
    stream_ = stream;
  }
  return library_.check(library_.execute(launches_, plan.handle(), variant_pack.handle()), "a convolution by cuDNN");
}

}  // namespace kiln::cuda
