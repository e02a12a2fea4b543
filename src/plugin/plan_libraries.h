/// Libraries of plugins that a plan holds.
#pragma once

#include <NvInferRuntime.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/plugin_object.h"
#include "plan/plan.h"

namespace kiln::plugin {

/// Where a library's bytes may stand while it is loaded, since the system loads files alone. The first that works is
/// taken, memory in front.
struct TemporaryFiles {
  bool in_memory = true, on_disk = true;
  std::string directory;  ///< of those on disk; empty: TMPDIR, or else /tmp
};

/// Keeps the libraries of a plan loaded. Engines whose plans hold the same bytes share one library.
class PlanLibraries {
 public:
  using Creator = nvinfer1::IPluginCreatorInterface;
  struct Loaded;

  /// Loads them, which runs their initialisers. Fails where one cannot be loaded, or brings no creators; then none of
  /// them stays loaded.
  static Result<std::shared_ptr<const PlanLibraries>> load(std::span<const plan::Weight> libraries,
                                                           const TemporaryFiles& files);

  /// The creator of a plugin, of the first library that brings one; null if none does. `read_libraries` lets one bring
  /// it.
  Creator* find(const PluginIdentity& plugin) const;

 private:
  explicit PlanLibraries(std::vector<std::shared_ptr<const Loaded>> libraries);

  std::vector<std::shared_ptr<const Loaded>> libraries_;
};

/// The bytes of libraries, read from their files, as a plan holds them. Loads each to see that a runtime could,
/// and fails where it could not.
Result<std::vector<plan::Weight>> read_libraries(std::span<const std::string> paths);

}  // namespace kiln::plugin
