/// A logger for tests of one thread: it keeps what is an error.
#pragma once

#include <NvInferRuntime.h>

#include <string>

namespace kiln::conformance {

class ErrorLogger final : public nvinfer1::ILogger {
 public:
  void log(Severity severity, const char* text) noexcept override {
    if (severity <= Severity::kERROR) errors += std::string(text) + "\n";
  }
  std::string errors;
};

}  // namespace kiln::conformance
