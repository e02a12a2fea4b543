#include "library/objects.h"

#include <mutex>
#include <unordered_map>

namespace kiln::plugins {
namespace {

/// Never destroyed: programs may delete plugins when they end.
struct All {
  std::mutex mutex;
  std::unordered_map<const void*, const Plugin*> by_address;
};
All& all() {
  static All& one = *new All;
  return one;
}

}  // namespace

Known::Known(const void* address, const Plugin& plugin) : address_(address) {
  const std::lock_guard lock(all().mutex);
  all().by_address[address] = &plugin;
}
Known::~Known() {
  const std::lock_guard lock(all().mutex);
  all().by_address.erase(address_);
}

const Plugin* known_plugin(const void* address) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().by_address.find(address);
  return found == all().by_address.end() ? nullptr : found->second;
}

}  // namespace kiln::plugins
