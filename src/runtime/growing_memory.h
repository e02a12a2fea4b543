/// Memory that is asked for while a network runs: nothing bounds the size of what is in it.
#pragma once

#include <map>
#include <span>

#include "plan/segments.h"
#include "runtime/engine.h"

namespace kiln::runtime {

/// Makes room for `bytes` in a buffer, twice of what it has at least, and keeps its first `kept` bytes. Waits for what
/// `stream` has queued before the former memory goes; null: nobody uses it. Whether the memory is another now.
Result<bool> reserve(const Engine& engine, Buffer& buffer, int64_t bytes, int64_t kept, Stream* stream);

/// Memory of the tensors of a block that have no bound, each its own.
class GrowingMemory {
 public:
  explicit GrowingMemory(const Engine& engine) : engine_(&engine) {}

  /// Null where nothing was reserved.
  std::byte* at(int tensor) const;
  int64_t room(int tensor) const;
  Status reserve(int tensor, int64_t bytes, int64_t kept, Stream* stream);
  /// Reserves what the tensors take that a segment's steps write. Those whose extents a step with bodies decides grow
  /// as it runs.
  Status reserve_outputs(const plan::Block& block, const plan::Segment& segment, std::span<const int64_t> symbols,
                         Stream* stream);
  /// Another number whenever some tensor's memory is another.
  uint64_t version() const { return version_; }

 private:
  const Engine* engine_;
  std::map<int, Buffer> buffers_;
  uint64_t version_ = 1;
};

}  // namespace kiln::runtime
