#pragma once

#include "ops/plugin_object.h"
#include "steps/step.h"

namespace kiln::steps {

/// A plugin of the program's. Its tensors have the types and formats that it was configured for.
struct Plugin {
  static constexpr std::string_view name = "plugin";
  static constexpr int version = 3;
  static constexpr StepTensors tensors{.present = StepTensors::kAll,
                                       .least_inputs = 0,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .blocked = true,
                                       .sizes = StepTensors::kAny};

  PluginIdentity plugin;
  PluginGeneration generation = PluginGeneration::kV3;
  std::vector<PluginField> fields;  ///< that make it again
  int tactic = 0;
  int64_t workspace_bytes = 0;
  std::vector<int> size_outputs;               ///< by size: the scalar output that tells it
  std::vector<std::vector<int>> decided_axes;  ///< by output: axes whose extents the run decides
  std::vector<double> scales;                  ///< of tensors, inputs first: what a level is worth; empty: all 1
  std::string metadata;                        ///< that it tells of itself, for people
  /// The plugin itself, which no plan holds: who builds a step has it, who reads a plan has it made.
  std::shared_ptr<const PluginObject> object;

  static void reflect(auto& self, auto f) {
    f("plugin", self.plugin), f("generation", self.generation), f("fields", self.fields);
    f("tactic", self.tactic), f("workspace_bytes", self.workspace_bytes), f("size_outputs", self.size_outputs);
    f("decided_axes", self.decided_axes), f("scales", self.scales), f("metadata", self.metadata);
  }
  Status check(const StepTypes& types) const;
};

/// Fails unless `size_outputs` are scalars of integers, one for each size that the step tells.
Status check_size_outputs(const PluginIdentity& plugin, const std::vector<int>& size_outputs, const StepTypes& types);

/// What a plugin, or the one whose kernel it is, tells of itself. Null for a step that is neither.
const std::string* plugin_metadata_of(const AnyStep& step);

/// Returns, for each size, the index of the output that holds it. Null for a step that is neither a plugin nor the
/// kernel of one.
const std::vector<int>* size_outputs_of(const AnyStep& step);

}  // namespace kiln::steps
