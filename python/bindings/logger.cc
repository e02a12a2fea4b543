// ILogger, which programs derive, and Logger, which prints.

#include <NvInfer.h>
#include <nanobind/trampoline.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "bindings.h"
#include "callback.h"
#include "convert.h"
#include "enums.h"

namespace kiln::python {
namespace {

using nvinfer1::ILogger;
using Severity = nvinfer1::ILogger::Severity;

class PythonLogger final : public ILogger {
 public:
  NB_TRAMPOLINE(ILogger);
  void log(Severity severity, const char* message) noexcept override {
    call<void>(nb_trampoline, {"ILogger", "log"}, [&](const nb::object& method) { method(severity, to_str(message)); });
  }
};

/// Prints what is as serious as `min_severity` or more, with the time before it.
class PrintingLogger final : public ILogger {
 public:
  explicit PrintingLogger(Severity severity) : min_severity(severity) {}
  void log(Severity severity, const char* message) noexcept override {
    if (severity > min_severity) return;
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm local{};
    localtime_r(&now, &local);
    char time[32];
    std::strftime(time, sizeof time, "%m/%d/%Y-%H:%M:%S", &local);
    const char letter = "FEWIV"[static_cast<int>(severity)];
    std::printf("[%s] [TRT] [%c] %s\n", time, letter, message);
    std::fflush(stdout);
  }
  Severity min_severity;
};

}  // namespace

void bind_logger(nb::module_& m) {
  nb::class_<ILogger, PythonLogger> logger(
      m, "ILogger", nb::is_weak_referenceable(),
      "Receives messages. Derive it, call its __init__ and define log(severity, msg); several threads may call that.");
  int_enum<Severity>(logger, "Severity", "How serious a message is; smaller is more serious.")
      .value("INTERNAL_ERROR", Severity::kINTERNAL_ERROR, "A defect of the library; the process should not go on.")
      .value("ERROR", Severity::kERROR, "A call has failed.")
      .value("WARNING", Severity::kWARNING, "Something may be wrong or slow, and the library goes on.")
      .value("INFO", Severity::kINFO, "Progress.")
      .value("VERBOSE", Severity::kVERBOSE, "Details for finding out why.")
      .export_values();
  logger.def(nb::init<>(), "Makes a logger, for classes that derive it.")
      .def("log", from_python<&ILogger::log>, "severity"_a, "msg"_a, "Receives a message.");

  nb::class_<PrintingLogger, ILogger>(m, "Logger", "Prints messages to the standard output, with time and severity.")
      .def(nb::init<Severity>(), "min_severity"_a = Severity::kWARNING,
           "Makes a logger that prints messages as serious as `min_severity`, or more.")
      .def_rw("min_severity", &PrintingLogger::min_severity, "The least serious messages that are printed.")
      .def("log", &PrintingLogger::log, "severity"_a, "msg"_a, "Prints a message, if it is serious enough.");
}

}  // namespace kiln::python
