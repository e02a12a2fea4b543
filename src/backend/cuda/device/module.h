/// A cubin on a device, its kernels, and their launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/cuda/device/driver.h"
#include "base/error.h"

namespace kiln {
class Stream;
}

namespace kiln::cuda {

class CudaDevice;

/// A kernel of a module; lives as long as the module. Safe from several threads.
class Function {
 public:
  FunctionHandle handle() const { return state_->handle; }
  const CudaDevice& device() const { return *state_->device; }
  /// A FunctionAttribute: registers, static shared memory, the most threads of a block.
  Result<int> attribute(FunctionAttribute which) const;
  /// The bytes of each of its parameters; nothing where the driver cannot tell.
  Result<std::optional<std::vector<size_t>>> parameter_bytes() const;
  /// Blocks of such a shape, in whole clusters, that the device runs at once; 0: it has no room for a cluster.
  Result<int64_t> max_active_blocks(const struct LaunchShape& shape) const;
  /// Whether the device launches such a shape: for bind, which plans what plans and extents say.
  Status check(const struct LaunchShape& shape) const;
  /// Lets the kernel have the shared memory of such a shape beside its own, of which `launch` expects little.
  Status allow_shared(const struct LaunchShape& shape) const;

 private:
  friend class Module;
  friend Status launch(const Stream&, const Function&, const struct LaunchShape&, void**);
  struct State {
    const CudaDevice* device;
    FunctionHandle handle;
    std::string name;
    std::atomic<bool> much_shared_allowed{false}, large_clusters_allowed{false};  ///< once a launch needs them
    State(const CudaDevice* device, FunctionHandle handle, std::string name)
        : device(device), handle(handle), name(std::move(name)) {}
  };
  explicit Function(State& state) : state_(&state) {}
  Status prepare(const LaunchShape& shape) const;
  Status allow_much_shared() const;
  State* state_;
};

class Module {
 public:
  /// `sections` are the names of the cubin's sections, each ended by a 0; empty: only the driver knows.
  Module(const CudaDevice& device, ModuleHandle handle, std::string sections)
      : device_(device), handle_(handle), sections_(std::move(sections)) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// The kernel of that extern "C" name; kNotFound where there is none.
  Result<Function> function(const std::string& entry) const;

 private:
  const CudaDevice& device_;
  const ModuleHandle handle_;
  const std::string sections_;  // a kernel that is not there is no failure of the driver's
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::unique_ptr<Function::State>> functions_;  // made when first asked for
};

struct LaunchShape {
  uint32_t grid[3] = {1, 1, 1}, block[3] = {1, 1, 1};
  uint32_t shared_bytes = 0;  ///< dynamic
  uint32_t cluster = 1;       ///< blocks of a cluster, along x
  bool pdl = false;           ///< may start before the kernel in front has ended: it calls pdl_wait()
};

/// Blocks for a grid's x; more than a grid has become a number that Function::check refuses.
constexpr uint32_t grid_blocks(int64_t blocks) {
  return blocks >= 0 && blocks < int64_t{1} << 31 ? static_cast<uint32_t>(blocks) : ~0u;
}

/// A grid along x of at least so many threads, in blocks of `block`; a programmatic launch.
constexpr LaunchShape flat_shape(int64_t threads, uint32_t block) {
  LaunchShape shape;
  shape.grid[0] = grid_blocks((threads + block - 1) / block);
  shape.block[0] = block;
  shape.pdl = true;
  return shape;
}

/// Launches on a CudaStream of the function's device. Allocates nothing. A grid with a 0 in it is no work.
Status launch(const Stream& stream, const Function& function, const LaunchShape& shape, void** arguments);

}  // namespace kiln::cuda
