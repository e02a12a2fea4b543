#include "backend/cpu/device/host_graph.h"

namespace kiln::cpu {

void HostGraph::run(HostQueue& queue) const {
  for (const HostItem& item : items_) {
    item.run(queue, item);
    for (const auto& recorded : queues_)
      if (const auto from = recorded.lock(); from && from.get() != &queue && from->faulted()) {
        Status failed = from->take_fault();
        if (!failed) queue.fault(std::move(failed).error());
      }
  }
}

void HostCapture::add(HostItem item) {
  const std::lock_guard lock(mutex_);
  items_.push_back(std::move(item));
}

void HostCapture::join(std::shared_ptr<HostQueue> queue) {
  const std::lock_guard lock(mutex_);
  queues_.push_back(std::move(queue));
}

std::shared_ptr<const HostGraph> HostCapture::end() {
  std::vector<HostItem> items;
  std::vector<std::weak_ptr<HostQueue>> queues;
  {
    const std::lock_guard lock(mutex_);
    queues = queues_;
  }
  // Not under the lock: a queue that adds holds its own and then takes this one.
  for (const auto& joined : queues)
    if (const auto queue = joined.lock()) queue->set_capture(nullptr);
  const std::lock_guard lock(mutex_);
  items.swap(items_);
  return invalidated() ? nullptr : std::make_shared<const HostGraph>(std::move(items), std::move(queues));
}

}  // namespace kiln::cpu
