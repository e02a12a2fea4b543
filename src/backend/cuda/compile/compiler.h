/// Kernel text to cubins for one architecture: memory, then disk, then NVRTC.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "backend/cuda/compile/kernel_cache.h"
#include "backend/cuda/compile/kernel_source.h"
#include "backend/cuda/device/notices.h"
#include "base/error.h"
#include "base/function_ref.h"
#include "base/record.h"

namespace kiln::cuda {

class CudaDevice;

/// Safe from several threads; one that asks for what another compiles waits for it.
class Compiler {
 public:
  /// `arch` is "sm_80", "sm_90a", "sm_100a"; needs no GPU. Where NVRTC is missing only `compile` fails.
  /// `cache_folder` empty: nothing on disk.
  explicit Compiler(std::string arch, std::string cache_folder = default_cache_folder());

  /// For `compiler_of`.
  static Result<std::shared_ptr<Compiler>> create(CudaDevice& device);

  const std::string& arch() const { return arch_; }
  /// The cubin. Fails with NVRTC's log, and kNotFound where NVRTC is missing.
  Result<std::shared_ptr<const Bytes>> compile(const KernelSource& source);
  /// While `ask` runs, `compile` on this thread only notes what it is asked for, and fails; then all of that is
  /// compiled, on all cores, and stays in memory. What does not compile is reported when it is asked for again.
  void compile_ahead(FunctionRef<void()> ask);
  /// Changes with all that decides a kernel's code: text, options, architecture, NVRTC's version. Where NVRTC is
  /// missing the kernels of the one that filled the disk's cache are as good.
  Result<Hash128> key_of(const KernelSource& source) const;

  /// Puts, from now on, the configuration of every kernel that is asked for and compiles `into` a set, in readable
  /// form: file, entry, choices and a hash of the prelude, not of the file's text. Null ends it.
  void note_configurations(std::set<std::string>* into);

  /// How many NVRTC compiled, and how many the disk had.
  int num_compiled() const { return num_compiled_.load(std::memory_order_relaxed); }
  int num_from_disk() const { return num_from_disk_.load(std::memory_order_relaxed); }
  /// Notices for the user: a cache that cannot be written.
  Notices& notices() { return notices_; }

 private:
  class Claim;
  Hash128 key_of(const KernelSource& source, const KernelText& text) const;
  const std::string& nvrtc_version() const;
  Result<std::shared_ptr<const Bytes>> find_or_compile(const Hash128& key, const KernelSource& source,
                                                       const KernelText& text);
  Result<Bytes> run_nvrtc(const KernelSource& source, const KernelText& text) const;

  const std::string arch_;
  Notices notices_;
  KernelCache disk_;
  mutable std::once_flag version_known_;
  mutable std::string version_;  ///< of NVRTC, here or when the disk's kernels were made
  std::mutex mutex_;
  std::condition_variable done_;
  std::map<Hash128, std::shared_ptr<const Bytes>> cubins_;  ///< null: being compiled
  std::set<std::string>* configurations_ = nullptr;
  std::atomic<int> num_compiled_{0}, num_from_disk_{0};
};

/// The one for a device, which lives as long.
Compiler& compiler_of(CudaDevice& device);

}  // namespace kiln::cuda
