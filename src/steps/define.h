/// Included by a step kind's .cc alone: `template const StepKind& kiln::step_kind<steps::Softmax>();` there makes the
/// kind.
#pragma once

#include "steps/step.h"

namespace kiln {

/// The optional members of a step's struct and what holds where they are absent:
///   static constexpr int version = 2;                                       it is 1
///   Status check() const;                                                   every value of its fields is taken
///   Status check(const StepTypes& types) const;                             every type is taken
///   Status check(const StepTypes& types, const StepShapes& shapes) const;   every shape is taken
template <class T>
const StepKind& step_kind() {
  static const StepKind kind = [] {
    StepKind k{};
    k.name = T::name;
    if constexpr (requires { T::version; }) k.version = T::version;
    k.tensors = T::tensors;
    k.fields = fields_of<T>();
    k.check_fields = [](const void* step) { return kiln::check_fields(*static_cast<const T*>(step)); };
    k.check_types = [](const void* step, const StepTypes& types) -> Status {
      if constexpr (requires(const T& t) { t.check(types); }) return static_cast<const T*>(step)->check(types);
      return static_cast<void>(step), static_cast<void>(types), Status{};
    };
    k.check_shapes = [](const void* step, const StepTypes& types, const StepShapes& shapes) -> Status {
      if constexpr (requires(const T& t) { t.check(types, shapes); })
        return static_cast<const T*>(step)->check(types, shapes);
      return static_cast<void>(step), static_cast<void>(types), static_cast<void>(shapes), Status{};
    };
    k.make_default = []() -> std::shared_ptr<void> { return std::make_shared<T>(); };
    return k;
  }();
  return kind;
}

}  // namespace kiln
