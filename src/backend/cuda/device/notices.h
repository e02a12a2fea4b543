/// Messages that a user should hear once: a library that is missing, a cache that cannot be written. Kept until
/// somebody with a log passes by, for devices live longer than logs.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "base/log.h"

namespace kiln::cuda {

class Notices {
 public:
  /// Drops a text that was added before.
  void add(Severity severity, std::string text) {
    const std::lock_guard lock(mutex_);
    for (const Notice& notice : notices_)
      if (notice.text == text) return;
    notices_.push_back({severity, std::move(text)});
  }
  /// Writes what was not written yet. Nothing is locked meanwhile: a program's logger may use Kiln.
  void say(Log& log) {
    for (const Notice& notice : take_unsaid()) log.write(notice.severity, notice.text);
  }

 private:
  struct Notice {
    Severity severity;
    std::string text;
  };
  std::vector<Notice> take_unsaid() {
    const std::lock_guard lock(mutex_);
    const auto first = notices_.begin() + static_cast<std::ptrdiff_t>(said_);
    said_ = notices_.size();
    return {first, notices_.end()};
  }
  std::mutex mutex_;
  std::vector<Notice> notices_;
  size_t said_ = 0;
};

}  // namespace kiln::cuda
