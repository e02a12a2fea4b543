/// A kind of step for tests, whose executors know what its name means. Plans in memory may have it, those that are read
/// cannot.
#pragma once

#include "steps/step.h"

namespace kiln {

struct NamedStep {
  static constexpr std::string_view name = "named";
  static constexpr StepTensors tensors{.present = 0,
                                       .least_inputs = 0,
                                       .most_inputs = StepTensors::kAny,
                                       .outputs = StepTensors::kAny,
                                       .sizes = StepTensors::kAny};

  std::string text;
  double number = 0;

  static void reflect(auto& self, auto f) { f("text", self.text), f("number", self.number); }
};

inline AnyStep named_step(std::string text) { return NamedStep{std::move(text)}; }
inline const NamedStep& as_named(const AnyStep& step) { return *step.as<NamedStep>(); }

}  // namespace kiln
