/// Handles of events and graphs: numbers that are never used twice, so that a destroyed one is recognised.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/error.h"

namespace kiln::api {

template <class T>
class Handles {
 public:
  /// `mark` is a bit above those of pointers in user space, another one for each kind of handle.
  Handles(uintptr_t mark, const char* kind) : next_(mark), kind_(kind) {}

  void* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    next_ += 16;
    objects_.emplace(next_, std::move(object));
    return reinterpret_cast<void*>(next_);
  }
  /// The object that a handle stands for; null if there is none.
  std::shared_ptr<T> find(void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
    return at == objects_.end() ? nullptr : at->second;
  }
  /// The same, and the handle stands for nothing from here on.
  std::shared_ptr<T> take(void* handle) {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(reinterpret_cast<uintptr_t>(handle));
    if (at == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(at->second);
    objects_.erase(at);
    return object;
  }
  std::string unknown(void* handle) const {
    return str("there is no ", kind_, " ", reinterpret_cast<uintptr_t>(handle),
               ": it is not of this CUDA runtime, or was destroyed");
  }

 private:
  mutable std::mutex mutex_;
  uintptr_t next_;
  const char* kind_;
  std::unordered_map<uintptr_t, std::shared_ptr<T>> objects_;
};

}  // namespace kiln::api
