#include "log.h"

#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "NvInferVersion.h"

namespace kiln::cli::trtexec {
namespace {

char letter(nvinfer1::ILogger::Severity severity) {
  constexpr char kLetters[] = "FEWIV";
  return kLetters[static_cast<int>(severity)];
}

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "[%m/%d/%Y-%H:%M:%S]", &local);
  return text;
}

}  // namespace

void Log::write(Severity severity, std::string_view text) {
  if (severity > most_) return;
  const std::string prefix = str(time_text(), " [", letter(severity), "] ");
  const std::lock_guard lock(mutex_);
  erase_status();
  std::FILE* out = severity >= Severity::kINFO ? stdout : stderr;
  for (;;) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    std::fwrite(prefix.data(), 1, prefix.size(), out);
    std::fwrite(line.data(), 1, line.size(), out);
    std::fputc('\n', out);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  std::fflush(out);
  draw_status();
}

void Log::log(Severity severity, const char* message) noexcept {
  if (severity <= most_) write(severity, str("[TRT] ", message ? message : ""));
}

void Log::report_state(std::string_view state, std::span<const char* const> command_line) {
  std::string line =
      str("&&&& ", state, " TensorRT.trtexec [TensorRT v", NV_TENSORRT_VERSION, "] [b", NV_TENSORRT_BUILD, "] #");
  for (const char* word : command_line) line += str(" ", word);
  const std::lock_guard lock(mutex_);
  erase_status();
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

bool Log::on_terminal() { return isatty(STDOUT_FILENO) && isatty(STDERR_FILENO); }

void Log::set_status(std::string text) {
  const std::lock_guard lock(mutex_);
  erase_status();
  status_ = std::move(text);
  draw_status();
}

void Log::erase_status() {
  if (!status_.empty()) std::fputs("\r\033[K", stderr);
}

void Log::draw_status() {
  if (!status_.empty()) std::fputs(status_.c_str(), stderr);
}

}  // namespace kiln::cli::trtexec
