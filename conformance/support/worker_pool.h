/// Runs items in child processes, so that one that crashes, hangs or corrupts memory takes nobody with it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace kiln::conformance {

struct PoolOptions {
  int num_workers = 2;
  int batch_size = 64;      ///< items a child runs before it ends: forking anew costs, leaks add up
  double timeout_s = 30;    ///< of one item
  size_t memory_bytes = 0;  ///< address space of a child; 0: no limit
};

/// `run(item)` is called in a child and returns a text without line breaks; `done(item, text)` in this process, in no
/// order. Where a child ends on its own or takes too long, the item's text is `failed(item, reason)`, and the items
/// behind it run in a new child.
void run_in_workers(const std::vector<std::string>& items, const PoolOptions& options,
                    const std::function<std::string(const std::string& item)>& run,
                    const std::function<std::string(const std::string& item, const std::string& reason)>& failed,
                    const std::function<void(const std::string& item, const std::string& text)>& done);

}  // namespace kiln::conformance
