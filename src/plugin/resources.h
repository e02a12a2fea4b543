/// What plugins share by keys.
#pragma once

#include <NvInferRuntime.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace kiln::plugin {

class Library;

/// Clones of the resources that plugins give, counted by key. Safe from several threads. Code of a resource runs under
/// no lock, so it may come back here; what would have to wait for itself is an error.
class Resources {
 public:
  Resources() = default;
  Resources(const Resources&) = delete;
  Resources& operator=(const Resources&) = delete;

  /// The key's clone, with one user more. Where there is none, one thread makes it of `resource`, and others wait.
  Result<nvinfer1::IPluginResource*> acquire(const char* key, nvinfer1::IPluginResource& resource);
  /// One user less. The last one's call releases the clone and deletes it, whether or not the release succeeds.
  Status release(const char* key);
  /// Releases and deletes all clones, whoever uses them; returns what failed. What other threads are making or
  /// releasing goes first, by them.
  std::vector<Error> clear();
  /// "resource 'weights' has 2 users" for a clone whose code is the library's; empty if there is none.
  std::string used_code_of(const Library& library) const;

 private:
  struct Shared {
    /// Keeps the library of the resource's class loaded: another registry than this one may have loaded it.
    std::shared_ptr<const void> code;
    nvinfer1::IPluginResource* clone = nullptr;  ///< null while it is being made
    const void* clone_code = nullptr;            ///< `code_of` the clone, which may be gone while the slot is busy
    int32_t users = 0;
    std::thread::id busy;  ///< the thread that is making or releasing the clone, if one is
  };
  using Slot = std::shared_ptr<Shared>;
  struct Waits;
  static Waits& waits();

  std::map<std::string, Slot, std::less<>> shared_;  ///< guarded by the mutex of `waits`
};

}  // namespace kiln::plugin
