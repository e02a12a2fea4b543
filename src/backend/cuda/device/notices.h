/// What a user should hear once: a library that is missing, a cache that cannot be written. Kept until somebody with a
/// log passes by, for devices live longer than logs.
#pragma once

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
  /// Writes what was not written yet.
  void say(Log& log) {
    const std::lock_guard lock(mutex_);
    for (; said_ < notices_.size(); ++said_) log.write(notices_[said_].severity, notices_[said_].text);
  }

 private:
  struct Notice {
    Severity severity;
    std::string text;
  };
  std::mutex mutex_;
  std::vector<Notice> notices_;
  size_t said_ = 0;
};

}  // namespace kiln::cuda
