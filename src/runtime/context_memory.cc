#include "runtime/context_memory.h"

namespace kiln::runtime {

Status ContextMemory::allocate_for(int profile, Runner& runner) {
  switch (policy_) {
    case MemoryPolicy::kOwn: return grow(engine_.memory_bytes(profile), runner);
    case MemoryPolicy::kOwnLargest: return grow(engine_.max_memory_bytes(), runner);
    case MemoryPolicy::kGiven: break;
  }
  return {};
}

void ContextMemory::give(void* data, int64_t size_bytes) {
  given_ = static_cast<std::byte*>(data);
  given_bytes_ = size_bytes;
}

Result<std::byte*> ContextMemory::at_least(int64_t size_bytes, Runner& runner) {
  if (!is_given()) {
    TRY(grow(size_bytes, runner));
    return own_.data();
  }
  if (size_bytes > 0 && (!given_ || given_bytes_ < size_bytes))
    return error(Code::kState, "the context was given ", given_bytes_, " bytes of memory and needs ", size_bytes);
  return given_;
}

Status ContextMemory::grow(int64_t size_bytes, Runner& runner) {
  if (!must_grow(size_bytes)) return {};
  runner.retire(std::move(own_));
  own_ = Buffer();  // first: both need not fit
  own_ = TRY(in_context(engine_.allocate(size_bytes), [] { return "memory of the context"; }));
  return {};
}

}  // namespace kiln::runtime
