/// The target of a stream's launches while a recording is made or changed.
#pragma once

#include <vector>

#include "backend/cuda/device/driver.h"

namespace kiln::cuda {

/// The kernel nodes of a recording, by parts: what `launch` was given, or the one kernel that a library launched.
class LaunchRecorder {
 public:
  explicit LaunchRecorder(const Driver& driver) : driver_(driver) {}

  /// While the stream `captured` is: what follows is another part.
  void begin_part(StreamHandle captured);
  void end_parts(StreamHandle captured) { begin_part(captured); }
  bool can_replace(size_t part) const { return part + 1 < parts_.size() && parts_[part].kind != Kind::kUnknown; }
  bool is_librarys(size_t part) const { return parts_[part].kind == Kind::kLibrarys; }
  bool has_librarys() const;
  /// Begins to replace a part's kernels in `exec` by what is launched from here on.
  void begin_replacing(size_t part, GraphExecHandle exec);
  /// Fails where not all of them were replaced.
  Status end_replacing();
  /// A library's kernel becomes the one of `graph`, which must be of the same function.
  Status replace_librarys(size_t part, GraphExecHandle exec, GraphHandle graph);

  Status launch(const LaunchConfig& config, FunctionHandle function, void** arguments);

 private:
  struct Node {
    GraphNodeHandle handle;
    unsigned cluster;  ///< which a node keeps
  };
  enum class Kind : uint8_t { kOurs, kLibrarys, kUnknown };
  struct Part {
    size_t first_node;
    size_t graph_nodes;  ///< in front of it
    Kind kind;
  };
  void end_part(Part& part, size_t graph_nodes, GraphNodeHandle latest);
  Status replace(const LaunchConfig& config, FunctionHandle function, void** arguments);

  const Driver& driver_;
  std::vector<Part> parts_;  ///< and where the last one ends
  std::vector<Node> nodes_;
  GraphExecHandle exec_ = nullptr;  ///< while one is changed
  size_t next_ = 0, end_ = 0;
};

}  // namespace kiln::cuda
