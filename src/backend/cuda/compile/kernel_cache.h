/// Compiled kernels on disk, by the hash of all that decides them.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "backend/cuda/device/notices.h"
#include "base/hash.h"
#include "base/record.h"

namespace kiln::cuda {

/// KILN_CACHE_DIR, else XDG_CACHE_HOME/kiln, else ~/.cache/kiln; empty where none of them is set.
std::string default_cache_folder();

/// Safe from several threads and processes: a file is written beside its place and renamed, and checked when read.
/// Where nothing can be written (a full disk, no right to) the first failure becomes a notice and no other write is
/// tried.
class KernelCache {
 public:
  /// `folder` is made when first needed; empty: no cache.
  KernelCache(std::string folder, Notices& notices) : folder_(std::move(folder)), notices_(notices) {}

  std::shared_ptr<const Bytes> find(const Hash128& key) const;  ///< null where it is not, or is damaged
  void store(const Hash128& key, const Bytes& cubin);

  /// The version of the compiler that last stored kernels here: where it is missing now, its kernels are still found.
  std::string compiler() const;  ///< empty: nobody did
  void note_compiler(const std::string& version);

 private:
  std::string path_of(const Hash128& key) const;
  Status write(const std::string& path, std::span<const std::byte> header, std::span<const std::byte> bytes) const;

  const std::string folder_;
  Notices& notices_;
  std::atomic<bool> broken_{false};
};

}  // namespace kiln::cuda
