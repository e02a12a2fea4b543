/// A build's progress as IProgressMonitor hears of it: phases that nest, each with its steps.
#pragma once

#include <NvInfer.h>

#include <string>
#include <vector>

namespace kiln::api {

class Progress {
 public:
  /// Null: nobody listens.
  explicit Progress(nvinfer1::IProgressMonitor* monitor) : monitor_(monitor) {}
  ~Progress() { close_down_to(0); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// BuildRequest::progress, with a Progress as its user: `done` steps of `total` are done in a phase, which is open
  /// until a phase around it goes on. False once the monitor has asked to stop.
  static bool report(void* self, const char* phase, int done, int total) {
    return static_cast<Progress*>(self)->step(phase, done, total);
  }

 private:
  struct Phase {
    std::string name;
    int reported = 0;
  };
  bool step(const char* phase, int done, int total);
  void close_down_to(size_t depth);

  nvinfer1::IProgressMonitor* monitor_;
  std::vector<Phase> open_;
};

}  // namespace kiln::api
