#include "runtime/size_store.h"

namespace kiln::runtime {

Result<SizeStore> SizeStore::create(const plan::Block& block, Device& device) {
  SizeStore store;
  size_t count = 0;
  for (const plan::Step& step : block.steps) {
    store.first_.push_back(count);
    count += step.sizes.size();
  }
  store.first_.push_back(count);
  if (count == 0)
    store.first_.clear();
  else
    store.memory_ = TRY(device.allocate_pinned(static_cast<int64_t>(count * sizeof(int64_t))));
  return store;
}

std::span<int64_t> SizeStore::of_steps(size_t first, size_t end) const {
  if (first_.empty()) return {};
  auto* const sizes = reinterpret_cast<int64_t*>(memory_.data());
  return {sizes + first_[first], sizes + first_[end]};
}

}  // namespace kiln::runtime
