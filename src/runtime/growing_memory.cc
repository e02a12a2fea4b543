#include "runtime/growing_memory.h"

#include <algorithm>

#include "plan/control.h"
#include "plan/decided_sizes.h"
#include "plan/validate.h"
#include "runtime/control/control.h"

namespace kiln::runtime {

Result<bool> reserve(const Engine& engine, Buffer& buffer, int64_t bytes, int64_t kept, Stream* stream) {
  if (buffer.data() && buffer.size_bytes() >= bytes) return false;
  TRY(require(bytes <= plan::kMaxMemoryBytes, bytes, " bytes are more than there can be"));
  if (stream) TRY(stream->synchronize());
  const int64_t wanted = std::max<int64_t>(bytes, 2 * buffer.size_bytes());
  Buffer larger = TRY(in_context(engine.allocate(std::max<int64_t>(wanted, 1)),
                                 [] { return "memory of a tensor whose size data decides"; }));
  if (kept > 0) {
    TRY(copy_on(engine.device(), larger.data(), buffer.data(), kept, stream));
    if (stream) TRY(stream->synchronize());
  }
  buffer = std::move(larger);
  return true;
}

std::byte* GrowingMemory::at(int tensor) const {
  const auto found = buffers_.find(tensor);
  return found == buffers_.end() ? nullptr : found->second.data();
}

int64_t GrowingMemory::room(int tensor) const {
  const auto found = buffers_.find(tensor);
  return found == buffers_.end() ? 0 : found->second.size_bytes();
}

Status GrowingMemory::reserve(int tensor, int64_t bytes, int64_t kept, Stream* stream) {
  if (TRY(runtime::reserve(*engine_, buffers_[tensor], bytes, kept, stream))) ++version_;
  return {};
}

Status GrowingMemory::reserve_outputs(const plan::Block& block, const plan::Segment& segment,
                                      std::span<const int64_t> symbols, Stream* stream) {
  for (size_t s = segment.first; s < segment.end; ++s)
    for (int id : block.steps[s].outputs) {
      const auto tensor = [&]() -> const plan::Tensor& { return block.tensors[static_cast<size_t>(id)]; };
      while (tensor().place == plan::Place::kView) id = tensor().index;
      if (tensor().place != plan::Place::kGrowing) continue;
      if (plan::is_control(block.steps[s]) && plan::decides_extent(block.steps[s], tensor())) continue;
      const int64_t bytes =
          TRY(in_context(plan::checked_bytes(tensor(), symbols), [&] { return str("tensor '", tensor().name, "'"); }));
      TRY(reserve(id, bytes, 0, stream));
    }
  return {};
}

}  // namespace kiln::runtime
