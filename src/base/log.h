/// The target of messages to the user. A Log is handed in as an argument; there is no global one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/str.h"

namespace kiln {

enum class Severity : uint8_t { kInternalError, kError, kWarning, kInfo, kVerbose };  ///< ILogger::Severity's order

/// Receives messages; safe from several threads if `write` is.
class Log {
 public:
  virtual ~Log() = default;
  virtual void write(Severity severity, std::string_view message) = 0;
  /// Whether `write` would drop it: lets callers skip making a long text.
  virtual bool wants(Severity severity) const { return static_cast<void>(severity), true; }

  template <class... Parts>
  void error(const Parts&... parts) {
    say(Severity::kError, parts...);
  }
  template <class... Parts>
  void warning(const Parts&... parts) {
    say(Severity::kWarning, parts...);
  }
  template <class... Parts>
  void info(const Parts&... parts) {
    say(Severity::kInfo, parts...);
  }
  template <class... Parts>
  void verbose(const Parts&... parts) {
    say(Severity::kVerbose, parts...);
  }

 private:
  template <class... Parts>
  void say(Severity severity, const Parts&... parts) {
    if (wants(severity)) write(severity, str(parts...));
  }
};

/// Drops everything.
class NullLog final : public Log {
 public:
  void write(Severity, std::string_view) override {}
  bool wants(Severity) const override { return false; }
};

}  // namespace kiln
