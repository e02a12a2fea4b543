/// The target of an API object's errors and messages: the program's logger, and its error recorder if it set one.
#pragma once

#include <NvInferRuntime.h>

#include <atomic>
#include <memory>
#include <string_view>

#include "base/error.h"
#include "base/log.h"

namespace kiln::api {

/// Hands messages to the program's logger.
class LogAdapter final : public Log {
 public:
  explicit LogAdapter(nvinfer1::ILogger& logger) : logger_(logger) {}
  void write(Severity severity, std::string_view message) override;
  nvinfer1::ILogger& logger() const { return logger_; }

 private:
  nvinfer1::ILogger& logger_;
};

/// A member of every object that has setErrorRecorder. Safe from several threads, as the recorder and logger are.
class Reporter {
 public:
  explicit Reporter(nvinfer1::ILogger& logger, nvinfer1::IErrorRecorder* recorder = nullptr);
  /// Takes the logger and recorder that another object has now.
  explicit Reporter(const Reporter& other) : Reporter(other.logger(), other.recorder()) {}
  /// Takes the other's recorder with all who look at it; the other has none any more.
  Reporter(Reporter&& other);
  Reporter& operator=(const Reporter&) = delete;
  ~Reporter();

  nvinfer1::ILogger& logger() const { return log_.logger(); }
  Log& log() const { return log_; }
  nvinfer1::IErrorRecorder* recorder() const { return recorder_->load(std::memory_order_acquire); }
  /// The recorder as it is whenever somebody looks; null once this object is gone.
  std::shared_ptr<const std::atomic<nvinfer1::IErrorRecorder*>> current_recorder() const { return recorder_; }
  /// Counts a reference of the new recorder and lets go of the former's; null: none.
  void set_recorder(nvinfer1::IErrorRecorder* recorder);

  /// Tells logger and recorder; `call` is the API's name of what failed, as in "IRuntime::setDLACore".
  void report(const char* call, const Error& error) const noexcept;
  /// Tells of the exception being handled: CHECK's, bad_alloc, any other.
  void report_current_exception(const char* call) const noexcept;

 private:
  void tell(const char* call, Code code, const char* message) const;

  mutable LogAdapter log_;
  std::shared_ptr<std::atomic<nvinfer1::IErrorRecorder*>> recorder_;
};

/// Reports that `call` is not in Kiln yet, and answers for it.
template <class T>
T missing(const Reporter& reporter, const char* call, T answer) noexcept {
  reporter.report(call, Error{Code::kUnsupported, "not in Kiln yet"});
  return answer;
}
inline void missing(const Reporter& reporter, const char* call) noexcept { missing(reporter, call, 0); }

/// The logger of the first object that this process created; `getLogger()` of the API answers it. Its contract is a
/// global.
nvinfer1::ILogger* first_logger();
void remember_logger(nvinfer1::ILogger& logger);

}  // namespace kiln::api
