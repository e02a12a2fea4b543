#include "plugin/resources.h"

#include <condition_variable>
#include <mutex>
#include <optional>

#include "plugin/library.h"

namespace kiln::plugin {

using nvinfer1::IPluginResource;

/// Which thread waits for which clone, in all registries: threads may wait for each other across two of them.
struct Resources::Waits {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::thread::id, Slot> awaited;

  /// Whether the slot's thread waits, through others or not, for this one. Called under the mutex.
  bool end_here(Slot slot) const {
    const auto here = std::this_thread::get_id();
    while (slot && slot->busy != std::thread::id()) {
      if (slot->busy == here) return true;
      const auto next = awaited.find(slot->busy);
      slot = next == awaited.end() ? nullptr : next->second;
    }
    return false;
  }

  /// Returns when no thread is busy with the slot. Called under the mutex.
  Status wait(const Slot& slot, const char* key, std::unique_lock<std::mutex>& lock) {
    const auto here = std::this_thread::get_id();
    if (end_here(slot))
      return error(Code::kState, "resource '", key,
                   "' is being cloned or released by a call that waits for this one to end");
    awaited[here] = slot;
    changed.wait(lock, [&] { return slot->busy == std::thread::id(); });
    awaited.erase(here);
    return {};
  }

  void free(Shared& shared) {
    shared.busy = {};
    changed.notify_all();
  }
};

/// Never destroyed: registries of static storage may go last.
Resources::Waits& Resources::waits() {
  static Waits& all = *new Waits;
  return all;
}

Result<IPluginResource*> Resources::acquire(const char* key, IPluginResource& resource) {
  std::shared_ptr<const void> code = keep_code_of(&resource);  // not under our lock: the loader has its own
  Waits& all = waits();
  std::unique_lock lock(all.mutex);
  for (auto found = shared_.find(key); found != shared_.end(); found = shared_.find(key)) {
    const Slot slot = found->second;
    if (slot->busy == std::thread::id()) return ++slot->users, slot->clone;
    TRY(all.wait(slot, key, lock));
  }
  const Slot slot = std::make_shared<Shared>();
  const auto added = shared_.emplace(key, slot).first;
  slot->busy = std::this_thread::get_id();
  lock.unlock();
  IPluginResource* clone = resource.clone();
  lock.lock();
  const bool usable = clone && clone != &resource;
  if (usable)
    *slot = {.code = std::move(code), .clone = clone, .clone_code = code_of(clone), .users = 1, .busy = slot->busy};
  else
    shared_.erase(added);
  all.free(*slot);
  if (usable) return clone;
  return error(Code::kState, "resource '", key, clone ? "': clone() gave the resource itself" : "': clone() gave null");
}

namespace {

/// What its release() returned.
int32_t finish(IPluginResource* clone) {
  const int32_t failed = clone->release();
  delete clone;
  return failed;
}

Status finished(const std::string& key, int32_t failed) {
  if (failed == 0) return {};
  return error(Code::kState, "resource '", key, "': release() failed with ", failed);
}

}  // namespace

Status Resources::release(const char* key) {
  Waits& all = waits();
  std::unique_lock lock(all.mutex);
  const auto found = shared_.find(key);
  if (found == shared_.end() || found->second->users == 0)
    return error(Code::kInvalidArgument, "resource '", key,
                 "' has no users: it was never acquired, or released as often");
  const Slot slot = found->second;
  if (--slot->users > 0) return {};
  slot->busy = std::this_thread::get_id();
  lock.unlock();
  const int32_t failed = finish(slot->clone);
  lock.lock();
  const auto released = shared_.extract(found);  // the caller's key may have lain within the clone
  all.free(*slot);
  lock.unlock();
  return finished(released.key(), failed);
}

std::vector<Error> Resources::clear() {
  Waits& all = waits();
  std::unique_lock lock(all.mutex);
  std::vector<Error> failures;
  std::optional<std::string> done;  // the latest key, in the map's order: their code may change the map meanwhile
  for (auto at = shared_.begin(); at != shared_.end(); at = done ? shared_.upper_bound(*done) : shared_.begin()) {
    const auto [key, slot] = *at;
    if (slot->busy != std::thread::id()) {
      const Status waited = all.wait(slot, key.c_str(), lock);
      if (waited) continue;  // it has a clone now, or is gone
      failures.push_back(waited.error());
    } else {
      slot->users = 0, slot->busy = std::this_thread::get_id();
      lock.unlock();
      if (const Status status = finished(key, finish(slot->clone)); !status) failures.push_back(status.error());
      lock.lock();
      shared_.erase(key);
      all.free(*slot);
    }
    done = key;
  }
  return failures;
}

std::string Resources::used_code_of(const Library& library) const {
  const std::lock_guard lock(waits().mutex);
  for (const auto& [key, slot] : shared_) {
    if (!library.contains(slot->clone_code)) continue;
    if (slot->users == 0) return str("resource '", key, "' is being released");
    return str("resource '", key, "' has ", slot->users, slot->users == 1 ? " user" : " users");
  }
  return {};
}

}  // namespace kiln::plugin
