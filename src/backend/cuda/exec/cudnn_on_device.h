/// cuDNN on one device: its contexts, what it has answered, and plans that were made.
#pragma once

#include <deque>
#include <map>
#include <mutex>

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/exec/cudnn_convolution.h"

namespace kiln::cuda {

/// Safe from several threads.
class CudnnOnDevice {
 public:
  static Result<std::shared_ptr<CudnnOnDevice>> create(CudaDevice& device);
  ~CudnnOnDevice();
  CudnnOnDevice(const CudnnOnDevice&) = delete;
  CudnnOnDevice& operator=(const CudnnOnDevice&) = delete;

  const Cudnn& library() const { return library_; }
  const CudaDevice& device() const { return device_; }

  /// Engines for a convolution, the likeliest first, remembered. Empty where the library has none.
  Result<std::vector<CudnnChoice>> choices(const CudnnConvolutionSpec& spec);
  /// Made once while it is among the latest, or somebody holds it.
  Result<std::shared_ptr<const CudnnPlan>> plan(const CudnnConvolutionSpec& spec, const CudnnChoice& choice);
  /// Launches on a stream.
  Status execute(const CudnnPlan& plan, const CudnnObject& variant_pack, StreamHandle stream);

 private:
  CudnnOnDevice(CudaDevice& device, const Cudnn& library, CudnnContext* context)
      : device_(device), library_(library), launches_(context) {}
  Result<std::vector<CudnnChoice>> ask(const CudnnConvolutionSpec& spec) const;

  static constexpr size_t kMostKept = 256;
  using PlanKey = std::pair<CudnnConvolutionSpec, std::string>;

  CudaDevice& device_;
  const Cudnn& library_;
  std::mutex launch_mutex_;  // a context is for one thread at a time
  CudnnContext* const launches_;
  StreamHandle stream_ = nullptr;
  std::mutex plan_mutex_;  // of the following; the context is also that of plans
  std::map<CudnnConvolutionSpec, std::vector<CudnnChoice>> known_;
  std::map<PlanKey, std::weak_ptr<const CudnnPlan>> plans_;
  std::deque<std::shared_ptr<const CudnnPlan>> latest_;  // so that what was timed need not be made again
  CudnnContext* planning_ = nullptr;
};

}  // namespace kiln::cuda
