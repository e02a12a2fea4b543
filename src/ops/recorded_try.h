/// Whether a plugin's enqueue is tried in a recording.
#pragma once

namespace kiln {

/// While this lives, the thread calls a plugin's enqueue for a recording. A failure there is no failure of the run: the
/// run calls enqueue again, without a recording.
class RecordedTry {
 public:
  RecordedTry();
  ~RecordedTry();
  RecordedTry(const RecordedTry&) = delete;
  RecordedTry& operator=(const RecordedTry&) = delete;

  /// Whether one lives on this thread.
  static bool is_under_way();
};

}  // namespace kiln
