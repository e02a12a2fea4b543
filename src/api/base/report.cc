#include "api/base/report.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <new>

#include "api/base/convert.h"

namespace kiln::api {
namespace {

constexpr size_t kLongest = nvinfer1::IErrorRecorder::kMAX_DESC_LENGTH;
std::atomic<nvinfer1::ILogger*> g_first_logger{nullptr};

/// The recorder's contract limits a description: the call's name goes first, then the end of the message.
std::string for_recorder(std::string_view call, std::string_view message) {
  std::string whole = str(call, ": ", message);
  if (whole.size() <= kLongest) return whole;
  if (message.size() <= kLongest) return std::string(message);
  return std::string(message.substr(0, kLongest - 3)) + "...";
}

}  // namespace

void LogAdapter::write(Severity severity, std::string_view message) {
  logger_.log(to_api(severity), std::string(message).c_str());
}

Reporter::Reporter(nvinfer1::ILogger& logger, nvinfer1::IErrorRecorder* recorder)
    : log_(logger), recorder_(std::make_shared<std::atomic<nvinfer1::IErrorRecorder*>>(nullptr)) {
  set_recorder(recorder);
}

Reporter::Reporter(Reporter&& other) : Reporter(other.logger()) { recorder_.swap(other.recorder_); }

Reporter::~Reporter() { set_recorder(nullptr); }

void Reporter::set_recorder(nvinfer1::IErrorRecorder* recorder) {
  if (recorder) recorder->incRefCount();
  if (nvinfer1::IErrorRecorder* former = recorder_->exchange(recorder, std::memory_order_acq_rel))
    former->decRefCount();
}

void Reporter::tell(const char* call, Code code, const char* message) const {
  if (nvinfer1::IErrorRecorder* to = recorder()) to->reportError(to_api(code), for_recorder(call, message).c_str());
  log_.write(code == Code::kInternal ? Severity::kInternalError : Severity::kError, str(call, ": ", message));
}

void Reporter::report(const char* call, const Error& error) const noexcept {
  try {
    tell(call, error.code, error.message.c_str());
  } catch (...) {  // no memory for the text: say at least which call
    logger().log(nvinfer1::ILogger::Severity::kERROR, call);
  }
}

void Reporter::report_current_exception(const char* call) const noexcept {
  try {
    throw;
  } catch (const CheckFailed& failed) {
    report(call, Error{Code::kInternal, failed.message});
  } catch (const std::bad_alloc&) {
    if (nvinfer1::IErrorRecorder* to = recorder()) to->reportError(nvinfer1::ErrorCode::kFAILED_ALLOCATION, call);
    std::array<char, 160> text{};  // there is no memory for a longer one
    std::snprintf(text.data(), text.size(), "%s: out of memory", call);
    logger().log(nvinfer1::ILogger::Severity::kERROR, text.data());
  } catch (const std::exception& other) {
    report(call, Error{Code::kInternal, str("unexpected exception: ", other.what())});
  } catch (...) {
    report(call, Error{Code::kInternal, "unexpected exception of an unknown type"});
  }
}

nvinfer1::ILogger* first_logger() { return g_first_logger.load(std::memory_order_acquire); }

void remember_logger(nvinfer1::ILogger& logger) {
  nvinfer1::ILogger* expected = nullptr;
  g_first_logger.compare_exchange_strong(expected, &logger, std::memory_order_acq_rel);
}

}  // namespace kiln::api
