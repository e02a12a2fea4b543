#include "steps/plugin.h"

#include <cmath>

#include "steps/define.h"
#include "steps/plugin_kernel.h"

template const kiln::StepKind& kiln::step_kind<kiln::steps::Plugin>();

namespace kiln::steps {

Status Plugin::check(const StepTypes& types) const {
  TRY(require(tactic >= 0, plugin, " has tactic ", tactic));
  TRY(require(workspace_bytes >= 0, plugin, " wants ", workspace_bytes, " bytes of workspace"));
  TRY(check_size_outputs(plugin, size_outputs, types));
  TRY(require(scales.empty() || scales.size() == types.inputs.size() + types.outputs.size(), plugin, " has ",
              scales.size(), " scales of ", types.inputs.size() + types.outputs.size(), " tensors"));
  for (const double scale : scales) TRY(require(std::isfinite(scale) && scale > 0, plugin, " has a scale of ", scale));
  const int64_t num_outputs = std::ssize(types.outputs);
  TRY(require(std::ssize(decided_axes) == num_outputs, plugin, " has axes of ", decided_axes.size(), " outputs, not ",
              num_outputs));
  for (size_t i = 0; i < decided_axes.size(); ++i)
    for (const int axis : decided_axes[i])
      TRY(require(axis >= 0 && axis < types.outputs[i].rank, plugin, " decides axis ", axis, " of output ", i,
                  ", whose rank is ", types.outputs[i].rank));
  return {};
}

Status check_size_outputs(const PluginIdentity& plugin, const std::vector<int>& size_outputs, const StepTypes& types) {
  TRY(require(std::ssize(size_outputs) == types.num_sizes, plugin, " tells ", size_outputs.size(), " sizes of ",
              types.num_sizes));
  const int64_t num_outputs = std::ssize(types.outputs);
  for (const int output : size_outputs) {
    TRY(require(output >= 0 && output < num_outputs, plugin, " tells a size by output ", output, " of ", num_outputs));
    const StepTensor& tensor = types.outputs[static_cast<size_t>(output)];
    TRY(require(tensor.rank == 0 && is_index(tensor.dtype), plugin, " tells a size by output ", output,
                ", which is no scalar of i32 or i64"));
  }
  return {};
}

const std::string* plugin_metadata_of(const AnyStep& step) {
  if (const auto* plugin = step.as<Plugin>()) return &plugin->metadata;
  if (const auto* kernel = step.as<PluginKernel>()) return &kernel->metadata;
  return nullptr;
}

const std::vector<int>* size_outputs_of(const AnyStep& step) {
  if (const auto* plugin = step.as<Plugin>()) return &plugin->size_outputs;
  if (const auto* kernel = step.as<PluginKernel>()) return &kernel->size_outputs;
  return nullptr;
}

}  // namespace kiln::steps
