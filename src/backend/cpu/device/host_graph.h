/// Host work recorded from streams, to be run again and again.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "backend/cpu/device/host_queue.h"

namespace kiln::cpu {

/// Captured work in the order of its launches, which is an order that all its dependencies allow. Never changes.
class HostGraph {
 public:
  HostGraph(std::vector<HostItem> items, std::vector<std::weak_ptr<HostQueue>> queues)
      : items_(std::move(items)), queues_(std::move(queues)) {}

  size_t num_nodes() const { return items_.size(); }
  /// Runs all of it as work of `queue`, whose failure the failure of any piece becomes.
  void run(HostQueue& queue) const;

 private:
  std::vector<HostItem> items_;
  std::vector<std::weak_ptr<HostQueue>> queues_;  // that it was recorded from: work may report failures there
};

/// A capture under way on one stream and those that joined it by waiting for its events. Several threads may add.
class HostCapture {
 public:
  explicit HostCapture(const HostQueue& origin) : origin_(origin) {}

  void add(HostItem item);
  void join(std::shared_ptr<HostQueue> queue);
  /// The capture cannot be used any more, but must still be ended.
  void invalidate() { invalidated_.store(true, std::memory_order_release); }
  bool invalidated() const { return invalidated_.load(std::memory_order_acquire); }
  bool began_on(const HostQueue& queue) const { return &queue == &origin_; }
  /// Lets all streams run work again; null if the capture was invalidated.
  std::shared_ptr<const HostGraph> end();

 private:
  const HostQueue& origin_;
  std::mutex mutex_;
  std::vector<HostItem> items_;
  std::vector<std::weak_ptr<HostQueue>> queues_;
  std::atomic<bool> invalidated_{false};
};

}  // namespace kiln::cpu
