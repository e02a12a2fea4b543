/// What a plugin of the program's computes.
#pragma once

#include "ops/op.h"
#include "ops/plugin_object.h"

namespace kiln::ops {

/// Outputs of types and shapes that the plugin decides. Never merged or folded: it may keep a state.
///   in   tensors       the first `num_tensors`
///        shape inputs  the others: shape tensors on which only the shapes of the outputs depend
///   out  as the plugin has them
struct Plugin {
  static constexpr std::string_view name = "Plugin";
  static constexpr Trait traits = Trait::kNondeterministic;
  static constexpr int min_inputs = 0, max_inputs = -1;
  PluginIdentity plugin;
  std::vector<PluginField> fields;
  int num_tensors = 0;
  std::vector<DType> output_types;             ///< that the outputs have whatever the plugin says of them; empty: none
  std::vector<double> scales;                  ///< of tensors, inputs first: what a level is worth; empty: all 1
  std::vector<int> aliased_inputs;             ///< by output: the input whose memory it has, or -1; empty: none does
  std::shared_ptr<const PluginObject> object;  ///< the plugin itself, which is no attribute
  static void reflect(auto& self, auto f) {
    f("plugin", self.plugin), f("fields", self.fields), f("num_tensors", self.num_tensors);
    f("output_types", self.output_types), f("scales", self.scales), f("aliased_inputs", self.aliased_inputs);
  }
  int num_outputs() const { return object ? object->num_outputs() : 1; }
  Status infer(InferContext&) const;
  Status reference(ReferenceContext&) const;
};

}  // namespace kiln::ops
