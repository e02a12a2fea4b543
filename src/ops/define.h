/// Included by an op's .cc alone: `template const OpInfo& kiln::op_info<ops::Softmax>();` there makes the op's info.
#pragma once

#include "ops/infer_context.h"
#include "ops/op.h"
#include "ops/reference_context.h"

namespace kiln {

/// The optional members of an op struct and what holds where they are absent:
///   static constexpr Trait traits = Trait::kNone;
///   static constexpr int min_inputs = 1, max_inputs = 1;
///   static constexpr uint32_t host_inputs = 0, fed_back = 0;
///   int num_outputs() const;                                  1
///   Scalar scalar() const;                                    not pointwise
template <class T>
const OpInfo& op_info() {
  static const OpInfo info = [] {
    OpInfo i{};
    i.name = T::name;
    i.traits = Trait::kNone;
    i.min_inputs = i.max_inputs = 1;
    if constexpr (requires { T::traits; }) i.traits = T::traits;
    if constexpr (requires { T::min_inputs; }) i.min_inputs = T::min_inputs;
    if constexpr (requires { T::max_inputs; }) i.max_inputs = T::max_inputs;
    if constexpr (requires { T::host_inputs; }) i.host_inputs = T::host_inputs;
    if constexpr (requires { T::fed_back; }) i.fed_back = T::fed_back;
    i.fields = fields_of<T>();
    i.infer = [](const void* op, InferContext& cx) { return static_cast<const T*>(op)->infer(cx); };
    i.reference = [](const void* op, ReferenceContext& cx) { return static_cast<const T*>(op)->reference(cx); };
    if constexpr (requires(const T& t) { t.scalar(); })
      i.scalar = [](const void* op) { return static_cast<const T*>(op)->scalar(); };
    i.num_outputs = [](const void* op) -> int {
      if constexpr (requires(const T& t) { t.num_outputs(); }) return static_cast<const T*>(op)->num_outputs();
      return static_cast<void>(op), 1;
    };
    i.make_default = []() -> std::shared_ptr<void> { return std::make_shared<T>(); };
    i.clone = [](const void* op) -> std::shared_ptr<void> { return std::make_shared<T>(*static_cast<const T*>(op)); };
    return i;
  }();
  return info;
}

}  // namespace kiln
