#include "builder/plugin_fields.h"

#include "steps/plugin.h"

namespace kiln {
namespace {

Status take_fields(AnyStep& step, const std::string& name) {
  const auto* const known = step.as<steps::Plugin>();
  if (!known || !known->object) return {};
  steps::Plugin plugin = *known;
  plugin.fields = TRY(in_context(plugin.object->fields(), [&] { return str("step '", name, "'"); }));
  plugin.metadata = plugin.object->metadata();
  step = std::move(plugin);
  return {};
}

Status take_fields(plan::Block& block) {
  for (plan::Step& step : block.steps) {
    TRY(take_fields(step.step, step.name));
    for (plan::Alternative& other : step.alternatives) TRY(take_fields(other.step, step.name));
  }
  return {};
}

}  // namespace

Status take_plugin_fields(plan::Plan& plan) {
  for (plan::Profile& profile : plan.profiles) TRY(take_fields(profile));
  for (plan::Body& body : plan.bodies) TRY(take_fields(body));
  return {};
}

}  // namespace kiln
