/// What becomes of the work that a plugin's enqueue queues.
#pragma once

#include <cstdint>

namespace kiln {

enum class EnqueueKind : int32_t {
  kRun,        ///< it is done once
  kRecording,  ///< Kiln records it. A failure is no failure of the run, which calls enqueue again without a recording
  kCapture     ///< the program captures it in a graph of its own, which it may launch as long as the context lives
};

/// While this lives, the thread calls enqueue for work of that kind.
class EnqueueScope {
 public:
  explicit EnqueueScope(EnqueueKind kind);
  ~EnqueueScope();
  EnqueueScope(const EnqueueScope&) = delete;
  EnqueueScope& operator=(const EnqueueScope&) = delete;

  /// The kind of this thread's innermost scope; kRun outside of all.
  static EnqueueKind kind();

 private:
  const EnqueueKind before_;
};

}  // namespace kiln
