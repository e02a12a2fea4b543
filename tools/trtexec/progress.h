/// The bar with the time left that a terminal shows during a build.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "NvInfer.h"

namespace kiln::cli::trtexec {

class Log;

/// Nested phases with their steps, as a share that is done. The phases' steps count alike.
class Progress {
 public:
  void start(std::string name, int steps) { phases_.push_back({std::move(name), steps, 0}); }
  void complete(const std::string& name, int steps_done);
  void finish(const std::string& name);  ///< phases within it end too
  bool empty() const { return phases_.empty(); }
  double share() const;            ///< 0 to 1, of the outermost phase
  const std::string& name() const  ///< of the innermost phase
  {
    return phases_.back().name;
  }

 private:
  struct Phase {
    std::string name;
    int steps, done;
  };
  std::vector<Phase> phases_;  ///< outermost first
};

/// "[=========>          ]  47 %  0:12 left  timing tactics"; without the time while too little is known.
std::string progress_line(double share, double elapsed_s, std::string_view name);

/// Draws the bar as the builder tells how far it is.
class ProgressBar final : public nvinfer1::IProgressMonitor {
 public:
  explicit ProgressBar(Log& log) : log_(log) {}
  ~ProgressBar() noexcept override;

  void phaseStart(char const* phase, char const* parent, int32_t steps) noexcept override;
  bool stepComplete(char const* phase, int32_t step) noexcept override;
  void phaseFinish(char const* phase) noexcept override;

 private:
  using Clock = std::chrono::steady_clock;
  void draw();

  Log& log_;
  std::mutex mutex_;
  Progress progress_;
  Clock::time_point start_, drawn_;
};

}  // namespace kiln::cli::trtexec
