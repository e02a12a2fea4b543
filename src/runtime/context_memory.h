/// Memory of a context's tensors and workspaces.
#pragma once

#include "runtime/engine.h"
#include "runtime/runner.h"

namespace kiln::runtime {

/// Whether a context allocates its memory (for the present profile, or at once for the profile that needs most) or is
/// given it before the first enqueue.
enum class MemoryPolicy : uint8_t { kOwn, kOwnLargest, kGiven };

class ContextMemory {
 public:
  ContextMemory(const Engine& engine, MemoryPolicy policy) : engine_(engine), policy_(policy) {}
  bool is_given() const { return policy_ == MemoryPolicy::kGiven; }
  /// Allocates what the profile needs, unless that is given.
  Status allocate_for(int profile, Runner& runner);
  /// Gives memory, only while `is_given`: at least Engine::memory_bytes of the profile, aligned to 256.
  void give(void* data, int64_t size_bytes);
  bool was_given(const void* data, int64_t size_bytes) const { return data == given_ && size_bytes == given_bytes_; }
  int64_t size_bytes() const { return is_given() ? given_bytes_ : own_.size_bytes(); }
  /// Whether `at_least` would have to allocate: nothing may use the memory then.
  bool must_grow(int64_t size_bytes) const { return !is_given() && own_.size_bytes() < size_bytes; }
  /// Fails where less was given.
  Result<std::byte*> at_least(int64_t size_bytes, Runner& runner);

 private:
  Status grow(int64_t size_bytes, Runner& runner);

  const Engine& engine_;
  const MemoryPolicy policy_;
  Buffer own_;
  std::byte* given_ = nullptr;
  int64_t given_bytes_ = 0;
};

}  // namespace kiln::runtime
