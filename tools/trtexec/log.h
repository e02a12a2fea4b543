/// Messages as TensorRT's programs print them: "[11/21/2026-10:00:00] [I] text", information on the standard output,
/// warnings and errors on the other; and below them, on a terminal, one line that changes.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "NvInferRuntime.h"
#include "cli/text.h"

namespace kiln::cli::trtexec {

/// Safe to use from several threads.
class Log final : public nvinfer1::ILogger {
 public:
  void set_verbose(bool verbose) { most_ = verbose ? Severity::kVERBOSE : Severity::kINFO; }
  void set_silent() { most_ = Severity::kINTERNAL_ERROR; }

  template <class... Parts>
  void info(const Parts&... parts) {
    write(Severity::kINFO, str(parts...));
  }
  template <class... Parts>
  void warn(const Parts&... parts) {
    write(Severity::kWARNING, str(parts...));
  }
  template <class... Parts>
  void error(const Parts&... parts) {
    write(Severity::kERROR, str(parts...));
  }
  template <class... Parts>
  void verbose(const Parts&... parts) {
    if (most_ == Severity::kVERBOSE) write(Severity::kVERBOSE, str(parts...));
  }
  void write(Severity severity, std::string_view text);  ///< every line of the text with its time and severity

  /// Logs a message of the library, marked as its own.
  void log(Severity severity, const char* message) noexcept override;

  /// "&&&& RUNNING TensorRT.trtexec [TensorRT v101600] [b72] # trtexec --onnx=m.onnx"; states as scripts look for them.
  void report_state(std::string_view state, std::span<const char* const> command_line);

  /// Whether a line that changes would be seen.
  static bool on_terminal();
  /// The line below all messages; empty for none.
  void set_status(std::string text);

 private:
  void erase_status();
  void draw_status();

  std::mutex mutex_;
  Severity most_ = Severity::kINFO;
  std::string status_;
};

}  // namespace kiln::cli::trtexec
