#include "build_watch.h"

#include <pythread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace kiln::python {

using nvinfer1::IBuilderConfig, nvinfer1::IProgressMonitor;

/// Passes everything on to the program's monitor, if it has one, and lets handlers of signals run meanwhile.
class BuildWatch::Monitor final : public IProgressMonitor {
 public:
  void phaseStart(const char* phase, const char* parent, int32_t num_steps) noexcept override {
    if (IProgressMonitor* const to = inner) to->phaseStart(phase, parent, num_steps);
  }
  bool stepComplete(const char* phase, int32_t step) noexcept override {
    if (is_interrupted()) return false;
    IProgressMonitor* const to = inner;
    return to == nullptr || to->stepComplete(phase, step);
  }
  void phaseFinish(const char* phase) noexcept override {
    if (IProgressMonitor* const to = inner) to->phaseFinish(phase);
  }

  std::atomic<IProgressMonitor*> inner = nullptr;
  const IBuilderConfig* config = nullptr;  ///< null: free for the next build

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr auto kBetween = std::chrono::milliseconds(20);  // taking the GIL may mean to wait for a thread

  bool is_interrupted() noexcept {
    if (Clock::now() - asked_ < kBetween) return false;
    const PythonLock lock;
    if (!lock) return true;
    asked_ = Clock::now();
    // A handler may have run in a callback: the logger's, for example.
    CallScope* const scope = CallScope::current();
    if (scope != nullptr && scope->interrupted()) return tell(*scope), true;
    if (PyErr_CheckSignals() == 0) return false;
    try {
      throw nb::python_error();
    } catch (...) {
      keep_interrupt();
    }
    if (scope != nullptr) tell(*scope);
    return true;
  }

  /// Says why the build ends: it will say itself that a progress monitor ended it, and the program may have none.
  static void tell(CallScope& scope) noexcept {
    try {
      scope.rethrow();
    } catch (const nb::python_error& raised) {
      try {
        const Listeners to;
        const std::string text = "the build ends, since " + type_and_text(raised) + " was raised";
        if (to.logger != nullptr) to.logger->log(nvinfer1::ILogger::Severity::kERROR, text.c_str());
      } catch (...) {  // no memory for a text
      }
    } catch (...) {  // nothing else is kept
    }
  }

  Clock::time_point asked_{};
};

namespace {

bool in_main_thread() {
  const nb::object ident = nb::module_::import_("threading").attr("main_thread")().attr("ident");
  return !ident.is_none() && nb::cast<unsigned long>(ident) == PyThread_get_thread_ident();
}

}  // namespace

// Monitors stay for good: another thread may, against the rules, build with the same configuration and keep one. Read
// and written with the GIL alone.
static std::vector<std::unique_ptr<IProgressMonitor>>& all_monitors() {
  static auto& monitors = *new std::vector<std::unique_ptr<IProgressMonitor>>;
  return monitors;
}

BuildWatch::BuildWatch(IBuilderConfig& config) : config_(config) {
  if (!in_main_thread()) return;
  for (const auto& known : all_monitors())
    if (auto* const one = static_cast<Monitor*>(known.get()); one->config == nullptr) monitor_ = one;
  if (monitor_ == nullptr) {
    all_monitors().push_back(std::make_unique<Monitor>());
    monitor_ = static_cast<Monitor*>(all_monitors().back().get());
  }
  monitor_->inner = config.getProgressMonitor();
  monitor_->config = &config;
  config.setProgressMonitor(monitor_);
}

BuildWatch::~BuildWatch() {
  if (monitor_ == nullptr) return;
  if (config_.getProgressMonitor() == monitor_) config_.setProgressMonitor(monitor_->inner);  // else a callback set one
  monitor_->inner = nullptr;
  monitor_->config = nullptr;
}

IProgressMonitor* program_monitor(const IBuilderConfig& config) {
  IProgressMonitor* monitor = config.getProgressMonitor();
  // A callback of a build may build itself, so that one watch stands in for another.
  for (bool is_ours = true; is_ours;) {
    is_ours = false;
    for (const auto& known : all_monitors())
      if (known.get() == monitor) {
        monitor = static_cast<BuildWatch::Monitor*>(known.get())->inner;
        is_ours = true;
        break;
      }
  }
  return monitor;
}

}  // namespace kiln::python
