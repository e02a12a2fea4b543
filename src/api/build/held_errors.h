/// Errors that are held back, so that the first one becomes the reason of another error.
#pragma once

#include <NvInferRuntimeBase.h>

#include <string>
#include <utility>
#include <vector>

namespace kiln::api {

/// Hands messages to a logger, but errors only at its end, without those that were taken.
class HeldErrors final : public nvinfer1::ILogger {
 public:
  explicit HeldErrors(nvinfer1::ILogger& to) : to_(to) {}
  HeldErrors(const HeldErrors&) = delete;
  ~HeldErrors() override {
    for (const auto& [severity, message] : held_) to_.log(severity, message.c_str());
  }
  void log(Severity severity, const char* message) noexcept override {
    try {
      if (severity <= Severity::kERROR) return static_cast<void>(held_.emplace_back(severity, message));
    } catch (...) {  // no memory to hold it
    }
    to_.log(severity, message);
  }
  /// The first error; empty where there is none. It counts as told, and so do others of the same words.
  std::string take_first() {
    if (held_.empty()) return "";
    std::string first = held_.front().second;
    std::erase_if(held_, [&](const auto& one) { return one.second == first; });
    return first;
  }

 private:
  nvinfer1::ILogger& to_;
  std::vector<std::pair<Severity, std::string>> held_;
};

}  // namespace kiln::api
