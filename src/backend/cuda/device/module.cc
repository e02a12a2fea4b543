#include "backend/cuda/device/module.h"

#include "backend/cuda/device/cuda_device.h"
#include "backend/cuda/device/cuda_stream.h"
#include "backend/cuda/device/launch_recorder.h"

namespace kiln::cuda {
namespace {

constexpr uint32_t kSharedBytesUnasked = 24 << 10;  // beside as much of a kernel's own; more must be asked for
constexpr uint32_t kPortableCluster = 8;

/// A launch's extents, and its cluster among the attributes.
LaunchConfig config_of(const LaunchShape& shape, LaunchAttribute (&attributes)[2]) {
  LaunchConfig config{};
  for (int i = 0; i < 3; ++i) config.grid[i] = shape.grid[i], config.block[i] = shape.block[i];
  config.shared_bytes = shape.shared_bytes;
  config.attributes = attributes;
  if (shape.cluster > 1) {
    LaunchAttribute& cluster = attributes[config.num_attributes++];
    cluster.id = kLaunchCluster;
    cluster.cluster = {shape.cluster, 1, 1};
  }
  return config;
}

}  // namespace

Module::~Module() {
  if (device_.given_up()) return;
  const CurrentContext current(device_);
  const OutsideCaptures outside(device_.driver());
  device_.driver().module_unload(handle_);
}

Result<Function> Module::function(const std::string& entry) const {
  const auto absent = [&] { return error(Code::kNotFound, "the cubin has no kernel '", entry, "'"); };
  if (!sections_.empty() && !sections_.contains(str(".text.", entry, '\0'))) return absent();
  const std::lock_guard lock(mutex_);
  auto& state = functions_[entry];
  if (!state) {
    const CurrentContext current(device_);
    const OutsideCaptures outside(device_.driver());  // the driver may load it now
    FunctionHandle handle = nullptr;
    const int result = device_.driver().module_get_function(&handle, handle_, entry.c_str());
    if (result == kNameNotFound) return absent();
    TRY(device_.driver().check(result, "kernel '", entry, "'"));
    state = std::make_unique<Function::State>(&device_, handle, entry);
  }
  return Function(*state);
}

Result<int> Function::attribute(FunctionAttribute which) const {
  const CurrentContext current(device());
  int value = 0;
  TRY(device().driver().check(device().driver().func_get_attribute(&value, which, handle()), "attribute ",
                              static_cast<int>(which), " of a kernel"));
  return value;
}

Result<int64_t> Function::max_active_blocks(const LaunchShape& shape) const {
  const CurrentContext current(device());
  TRY(prepare(shape));
  const Driver& driver = device().driver();
  int count = 0;
  if (shape.cluster > 1) {
    LaunchAttribute attributes[2];
    const LaunchConfig config = config_of(shape, attributes);
    TRY(driver.check(driver.occupancy_max_active_clusters(&count, handle(), &config), "clusters of ", shape.cluster,
                     " blocks that run at once"));
    return int64_t{count} * shape.cluster;
  }
  const auto threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  TRY(driver.check(driver.occupancy_max_active_blocks(&count, handle(), threads, shape.shared_bytes), "blocks of ",
                   threads, " threads that run at once"));
  return int64_t{count} * device().properties().num_multiprocessors;
}

Status Function::check(const LaunchShape& shape) const {
  constexpr uint32_t kMostBlocks[] = {(1u << 31) - 1, 65535, 65535}, kMostOfCluster = 16;
  const Properties& p = device().properties();
  for (size_t axis = 0; axis < 3; ++axis)
    TRY(require(shape.grid[axis] <= kMostBlocks[axis], "the kernel's grid has ", shape.grid[axis],
                " blocks; a launch may have ", kMostBlocks[axis], ": bind smaller extents"));
  const uint64_t threads = uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  TRY(require(threads >= 1 && threads <= static_cast<uint64_t>(p.max_threads_per_block), "a block of ", threads,
              " threads; '", p.name, "' has 1 to ", p.max_threads_per_block, ": build the plan again"));
  TRY(require(shape.shared_bytes <= static_cast<uint64_t>(p.shared_bytes_per_block), "a block has ", shape.shared_bytes,
              " bytes of shared memory; '", p.name, "' has ", p.shared_bytes_per_block,
              ": build the plan on this device"));
  return require(shape.cluster >= 1 && shape.cluster <= kMostOfCluster && shape.grid[0] % shape.cluster == 0,
                 "a grid of ", shape.grid[0], " blocks cannot be cut into clusters of ", shape.cluster,
                 ": build the plan again");
}

/// The function may use all shared memory from now on, so that threads with different needs do not overwrite each
/// other.
Status Function::allow_much_shared() const {
  const Driver& driver = device().driver();
  const int64_t most = device().properties().shared_bytes_per_block - TRY(attribute(kFunctionSharedBytes));
  TRY(driver.check(driver.func_set_attribute(handle(), kFunctionMaxDynamicSharedBytes, static_cast<int>(most)),
                   "allowing a kernel ", most, " bytes of shared memory"));
  state_->much_shared_allowed.store(true, std::memory_order_relaxed);
  return {};
}

Status Function::allow_shared(const LaunchShape& shape) const {
  constexpr int64_t kUnasked = 48 << 10;  // static and dynamic together
  const CurrentContext current(device());
  if (state_->much_shared_allowed.load(std::memory_order_relaxed)) return {};
  if (shape.shared_bytes + int64_t{TRY(attribute(kFunctionSharedBytes))} <= kUnasked) return {};
  return allow_much_shared();
}

Result<std::optional<std::vector<size_t>>> Function::parameter_bytes() const {
  const Driver& driver = device().driver();
  if (!driver.func_get_param_info) return std::nullopt;
  const CurrentContext current(device());
  const OutsideCaptures outside(driver);  // the driver may load the kernel now
  std::vector<size_t> result;
  for (size_t offset = 0, bytes = 0;; result.push_back(bytes)) {
    const int got = driver.func_get_param_info(handle(), result.size(), &offset, &bytes);
    if (got == kInvalidValue) return result;  // there is no parameter of that index
    if (got == kNotSupported) return std::nullopt;
    TRY(driver.check(got, "parameters of a kernel"));
  }
}

/// Asks for what a launch needs beyond the ordinary, once.
Status Function::prepare(const LaunchShape& shape) const {
  const Driver& driver = device().driver();
  if (shape.shared_bytes > kSharedBytesUnasked && !state_->much_shared_allowed.load(std::memory_order_relaxed))
      [[unlikely]] {
    TRY(allow_much_shared());
  }
  if (shape.cluster > kPortableCluster && !state_->large_clusters_allowed.load(std::memory_order_relaxed))
      [[unlikely]] {
    TRY(driver.check(driver.func_set_attribute(handle(), kFunctionNonPortableCluster, 1), "allowing clusters of ",
                     shape.cluster));
    state_->large_clusters_allowed.store(true, std::memory_order_relaxed);
  }
  return {};
}

Status launch(const Stream& stream, const Function& function, const LaunchShape& shape, void** arguments) {
  for (const uint32_t blocks : shape.grid)
    if (blocks == 0) return {};
  const CurrentContext current(function.device());
  TRY(function.prepare(shape));
  LaunchAttribute attributes[2];
  LaunchConfig config = config_of(shape, attributes);
  const auto& queue = static_cast<const CudaStream&>(stream);
  config.stream = queue.has_queue() ? queue.handle() : nullptr;
  // A programmatic dependency covers only the stream's last launch, so a launch that waits for more cannot have one.
  const bool waits = queue.take_wait();
  if (shape.pdl && !waits && function.device().properties().compute_major >= 9) {
    LaunchAttribute& early = attributes[config.num_attributes++];
    early.id = kLaunchProgrammaticSerialization;
    early.programmatic_serialization = 1;
  }
  queue.note_kernel(function.state_->name);
  if (LaunchRecorder* const recorder = queue.recorder()) [[unlikely]]
    return recorder->launch(config, function.handle(), arguments);
  const Driver& driver = function.device().driver();
  return driver.check(driver.launch_kernel_ex(&config, function.handle(), arguments, nullptr), "launching kernel '",
                      function.state_->name, "' of ", shape.grid[0], " x ", shape.grid[1], " x ", shape.grid[2],
                      " blocks of ", shape.block[0] * shape.block[1] * shape.block[2], " threads");
}

}  // namespace kiln::cuda
