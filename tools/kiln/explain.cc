#include "explain.h"

#include <algorithm>
#include <cstdio>

#include "base/counted.h"
#include "base/microseconds.h"
#include "plan/control.h"
#include "plan/nested_steps.h"

namespace kiln {
namespace {

std::string time_text(const plan::Step& step) {
  return step.info.time_us > 0 ? us_text(step.info.time_us) : std::string("not timed");
}

std::string tactic_text(const plan::Step& step) {
  return step.info.tactic + (step.info.variant.empty() ? "" : str(" (", step.info.variant, ")"));
}

enum class Naming : uint8_t { kWhole, kNumber, kPart };

/// Whether a step's name, or one of those it is made of, is `layer`; provenance has them in quotes.
bool is_called(const plan::NestedStep& nested, std::string_view layer, Naming naming) {
  if (naming == Naming::kNumber) return layer == nested.number;
  const plan::Step& step = nested.get();
  const auto has = [&](std::string_view text) {
    if (naming == Naming::kPart) return text.find(layer) != text.npos;
    return text == layer || text.find(str('\'', layer, '\'')) != text.npos;
  };
  if (has(step.name) || std::ranges::any_of(step.provenance, has)) return true;
  for (size_t begin = 0; begin <= step.name.size();) {
    const size_t end = std::min(step.name.find(" + ", begin), step.name.size());
    if (has(std::string_view(step.name).substr(begin, end - begin))) return true;
    begin = end + 3;
  }
  return false;
}

/// "x f32[n, 64]" of each tensor that is there.
std::string tensors_text(const plan::Block& block, const std::vector<int>& ids) {
  std::string text;
  for (const int id : ids) {
    const plan::Tensor& t = block.tensors[static_cast<size_t>(id)];
    if (t.place == plan::Place::kAbsent) continue;
    text += str(text.empty() ? "" : ", ", t.name.empty() ? "?" : t.name, " ", t.dtype, "[");
    for (size_t axis = 0; axis < t.extents.size(); ++axis) {
      const auto extent = t.extents[axis].constant();
      text += str(axis == 0 ? "" : ", ", extent ? str(*extent) : std::string("?"));
    }
    text += str("]", t.place == plan::Place::kWeight ? " (weight)" : "", t.format.is_linear() ? "" : " ",
                t.format.is_linear() ? std::string() : t.format.text());
  }
  return text;
}

std::string alternative_text(const plan::Alternative& other) {
  return str("  instead, near ", other.info.shapes, ": ", other.info.variant, ", ", us_text(other.info.time_us),
             " where its own takes ", us_text(other.info.replaced_us), "\n");
}

/// "step 2 of 5", and of what where the step is in a body.
std::string place_text(const plan::NestedStep& nested) {
  const std::string text = str("step ", nested.step + 1, " of ", nested.block->steps.size());
  return nested.body ? str(text, " of the ", nested.body->name) : text;
}

std::string explain_step(const plan::Plan& plan, size_t profile_index, const plan::NestedStep& nested) {
  const plan::Block& block = *nested.block;
  const plan::Step& step = nested.get();
  std::string text = str("'", step.name, "': ", place_text(nested));
  if (plan.profiles.size() > 1) text += str(", profile ", profile_index);
  text += str("\n  ops     ", step.info.ops, "\n");
  for (const std::string& origin : step.provenance) text += str("  from    ", origin, "\n");
  text +=
      str("  reads   ", tensors_text(block, step.inputs), "\n  writes  ", tensors_text(block, step.outputs),
          "\n  run by  ", tactic_text(step), ", ", time_text(step), ", ", step.workspace_bytes, " bytes of workspace",
          step.stream > 0 ? str(", on auxiliary stream ", step.stream) : std::string(), "\n");
  for (const int body : step.bodies) {
    const plan::Body& inner = plan.bodies[static_cast<size_t>(body)];
    text += str("  holds   ", inner.name, ", ", counted(inner.steps.size(), "step"), "\n");
  }
  if (plan::is_control(step))
    if (const std::string steering = plan::describe_steering(plan, block, step); !steering.empty())
      text += str("  steered ", steering, "\n");
  for (const plan::Alternative& other : step.alternatives) text += alternative_text(other);
  const bool any = !step.info.candidates.empty();
  text += any ? "  candidates\n" : "  the plan records no other candidates\n";
  for (const std::string& line : step.info.candidates) text += str("    ", line, "\n");
  return text;
}

}  // namespace

std::string list_steps(const plan::Plan& plan) {
  std::string text;
  for (size_t p = 0; p < plan.profiles.size(); ++p) {
    if (plan.profiles.size() > 1) text += str("profile ", p, "\n");
    const std::vector<plan::NestedStep> steps = plan::nested_steps(plan, plan.profiles[p]);
    size_t width = 4;
    for (const plan::NestedStep& nested : steps) width = std::max(width, nested.number.size());
    for (const plan::NestedStep& nested : steps) {
      if (nested.body && nested.step == 0) text += str(std::string(width + 2, ' '), nested.body->name, ":\n");
      const plan::Step& step = nested.get();
      char line[160];
      std::snprintf(line, sizeof line, "%*s  %-12s %-40s ", static_cast<int>(width), nested.number.c_str(),
                    time_text(step).c_str(), tactic_text(step).c_str());
      text += str(std::string_view(line), step.name, "\n");
    }
  }
  return text;
}

Result<std::string> explain(const plan::Plan& plan, std::string_view layer) {
  for (const Naming naming : {Naming::kWhole, Naming::kNumber, Naming::kPart}) {
    std::string text;
    for (size_t p = 0; p < plan.profiles.size(); ++p)
      for (const plan::NestedStep& nested : plan::nested_steps(plan, plan.profiles[p]))
        if (is_called(nested, layer, naming)) text += str(text.empty() ? "" : "\n", explain_step(plan, p, nested));
    if (!text.empty()) return text;
  }
  return error(Code::kNotFound, "no step of the plan runs a layer called '", layer,
               "': it may have been folded into constants or shapes, or it may only be a view of memory; `kiln why "
               "m.plan` lists the steps there are");
}

}  // namespace kiln
