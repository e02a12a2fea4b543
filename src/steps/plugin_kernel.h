#pragma once

#include "ops/plugin_kernel.h"
#include "ops/plugin_object.h"
#include "steps/step.h"

namespace kiln::steps {

/// A kernel that a plugin compiled ahead of time: nothing of the plugin itself is needed to run it. Its parameters are
/// the numbers of a launch (LaunchNumber) and then the scalars among the kernel's arguments.
struct PluginKernel {
  static constexpr std::string_view name = "plugin_kernel";
  static constexpr StepTensors tensors{.present = StepTensors::kAll,
                                       .least_inputs = 0,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .blocked = true,
                                       .sizes = StepTensors::kAny};

  PluginIdentity plugin;          ///< that it was, for people
  std::string entry;              ///< the kernel's name in the code
  int tactic = 0;                 ///< the plugin's, for people
  std::vector<int> scalar_bytes;  ///< of each scalar argument: 1, 2 or 4
  std::vector<int> size_outputs;  ///< by size: the scalar output that tells it
  std::string metadata;           ///< that the plugin tells of itself, for people

  static void reflect(auto& self, auto f) {
    f("plugin", self.plugin), f("entry", self.entry), f("tactic", self.tactic);
    f("scalar_bytes", self.scalar_bytes), f("size_outputs", self.size_outputs);
    f("metadata", self.metadata);
  }
  Status check(const StepTypes& types) const;
  /// Fails where no device launches a kernel so, or an argument does not hold its scalar. A bind asks, and no `check`
  /// of shapes: what a plugin said of other shapes is no damage of the plan.
  Status check_numbers(std::span<const int64_t> params) const;
};

}  // namespace kiln::steps
