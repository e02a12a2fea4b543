/// The errors of a parser, as its program asks for them one by one.
#pragma once

#include <NvOnnxParser.h>

#include <deque>
#include <string>
#include <vector>

#include "api/base/report.h"
#include "base/error.h"
#include "onnx/importer.h"

namespace kiln::api {

class ParserError final : public nvonnxparser::IParserError {
 public:
  ParserError(nvonnxparser::ErrorCode code, std::string text, const char* call)
      : code_(code), text_(std::move(text)), call_(call) {}
  ParserError(const onnx::Problem& problem, const char* call);
  ParserError(const ParserError&) = delete;
  ParserError& operator=(const ParserError&) = delete;
  ~ParserError() override = default;

  nvonnxparser::ErrorCode code() const override { return code_; }
  const char* desc() const override { return text_.c_str(); }
  // A message says where in the model; there is no place in a source that its reader could look at.
  const char* file() const override { return ""; }
  int line() const override { return 0; }
  const char* func() const override { return call_; }
  int node() const override { return node_; }
  const char* nodeName() const override { return node_name_.c_str(); }
  const char* nodeOperator() const override { return operator_.c_str(); }
  const char* const* localFunctionStack() const override { return stack_.empty() ? nullptr : stack_.data(); }
  int32_t localFunctionStackSize() const override { return static_cast<int32_t>(stack_.size()); }

 private:
  nvonnxparser::ErrorCode code_;
  std::string text_;
  const char* call_;
  int node_ = -1;
  std::string node_name_, operator_;
  std::vector<std::string> functions_;
  std::vector<const char*> stack_;  ///< those of `functions_`
};

class ErrorList {
 public:
  explicit ErrorList(nvinfer1::ILogger& logger) : reporter_(logger) {}
  /// Logs and keeps it. `call` is a literal: "IParser::parse".
  void add(const char* call, const Error& error);
  void add(const char* call, const onnx::Problem& problem);
  int size() const { return static_cast<int>(errors_.size()); }
  const ParserError* at(int index) const;  ///< null if out of range
  void clear() { errors_.clear(); }
  const Reporter& reporter() const { return reporter_; }

  /// Whether `body()`, a Status, succeeded; its error, or that of an exception, is added.
  template <class F>
  bool run(const char* call, F body) noexcept {
    try {
      const Status status = body();
      if (!status) add(call, status.error());
      return status.has_value();
    } catch (...) {
      reporter_.report_current_exception(call);
      return false;
    }
  }

 private:
  Reporter reporter_;
  std::deque<ParserError> errors_;  ///< programs hold pointers to them
};

}  // namespace kiln::api
