/// cuDNN on one device: its contexts, what it has answered, and plans that were made.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <vector>

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
  /// `plan` may be asked for it soon. Kept while a CudnnRound is open.
  void expect(const CudnnConvolutionSpec& spec, const CudnnChoice& choice);
  /// Made once while it is among the latest, or somebody holds it.
  Result<std::shared_ptr<const CudnnPlan>> plan(const CudnnConvolutionSpec& spec, const CudnnChoice& choice);
  /// Launches on a stream.
  Status execute(const CudnnPlan& plan, const CudnnObject& variant_pack, StreamHandle stream);

 private:
  class Planner;
  CudnnOnDevice(CudaDevice& device, const Cudnn& library, CudnnContext* context)
      : device_(device), library_(library), launches_(context) {}
  using PlanKey = std::pair<CudnnConvolutionSpec, std::string>;
  using Expected = std::map<PlanKey, CudnnChoice>;
  Result<std::vector<CudnnChoice>> ask(const CudnnConvolutionSpec& spec);
  std::shared_ptr<const CudnnPlan> find(const PlanKey& key);
  Expected take_expected(const PlanKey& key);
  void make_all(const Expected& expected);
  Result<std::shared_ptr<const CudnnPlan>> make(const PlanKey& key, const CudnnChoice& choice);

  static constexpr size_t kMostKept = 256;

  CudaDevice& device_;
  const Cudnn& library_;
  std::mutex launch_mutex_;  // a context is for one thread at a time
  CudnnContext* const launches_;
  StreamHandle stream_ = nullptr;
  std::mutex plan_mutex_;  // of the following
  std::map<CudnnConvolutionSpec, std::vector<CudnnChoice>> known_;
  std::map<PlanKey, std::weak_ptr<const CudnnPlan>> plans_;
  std::deque<std::shared_ptr<const CudnnPlan>> latest_;  // so that what was timed need not be made again
  std::vector<CudnnContext*> planners_;                  // contexts for plans that no thread uses now
  Expected expected_;
  int64_t expected_in_ = 0;  // the round
};

/// A build's questions about many layers before it times them. What is expected in the latest round is made on all
/// cores once any of it is wanted: the library compiles some plans for a quarter of a second each. A build whose
/// timings are known wants none, and has none made.
class CudnnRound {
 public:
  CudnnRound();
  ~CudnnRound();
  CudnnRound(const CudnnRound&) = delete;
  CudnnRound& operator=(const CudnnRound&) = delete;

  static bool is_open();    ///< on this thread
  static int64_t latest();  ///< of the process
};

}  // namespace kiln::cuda
