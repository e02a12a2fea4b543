/// A logger and an error recorder that remember what they were told.
#pragma once

#include <NvInferRuntime.h>

#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kiln::api {

class WitnessLogger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, nvinfer1::AsciiChar const* message) noexcept override {
    const std::lock_guard lock(mutex_);
    if (severity <= Severity::kERROR) errors_.emplace_back(message);
  }
  /// The last error, or "".
  std::string last() const {
    const std::lock_guard lock(mutex_);
    return errors_.empty() ? "" : errors_.back();
  }
  size_t num_errors() const {
    const std::lock_guard lock(mutex_);
    return errors_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> errors_;
};

class WitnessRecorder final : public nvinfer1::IErrorRecorder {
 public:
  using Code = nvinfer1::ErrorCode;
  int32_t getNbErrors() const noexcept override {
    const std::lock_guard lock(mutex_);
    return static_cast<int32_t>(errors_.size());
  }
  Code getErrorCode(int32_t index) const noexcept override {
    const std::lock_guard lock(mutex_);
    return errors_[static_cast<size_t>(index)].first;
  }
  ErrorDesc getErrorDesc(int32_t index) const noexcept override {
    const std::lock_guard lock(mutex_);
    return errors_[static_cast<size_t>(index)].second.c_str();
  }
  bool hasOverflowed() const noexcept override { return false; }
  void clear() noexcept override {
    const std::lock_guard lock(mutex_);
    errors_.clear();
  }
  bool reportError(Code code, ErrorDesc text) noexcept override {
    const std::lock_guard lock(mutex_);
    errors_.emplace_back(code, text);
    return false;
  }
  RefCount incRefCount() noexcept override { return ++references_; }
  RefCount decRefCount() noexcept override { return --references_; }
  int references() const { return references_; }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<Code, std::string>> errors_;
  std::atomic<int> references_{0};
};

}  // namespace kiln::api
