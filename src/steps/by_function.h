/// Steps made of functions: what a function captures is what its step keeps.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "steps/executor.h"

namespace kiln {

using LoadResult = Result<std::unique_ptr<LoadedStep>>;
using BindResult = Result<std::unique_ptr<BoundStep>>;

/// A step whose runs call `run` with their RunArguments; it answers with a Status, or cannot fail. `check`, if it is
/// given, is BoundStep::check.
template <class Run, class Check = std::nullptr_t>
std::unique_ptr<BoundStep> bound_step(Run run, int64_t workspace_bytes = 0, Check check = {}) {
  static constexpr bool kChecks = !std::is_null_pointer_v<Check>;
  class Bound final : public BoundStep {
   public:
    Bound(Run run, int64_t workspace_bytes, Check check)
        : run_(std::move(run)), workspace_bytes_(workspace_bytes), check_(std::move(check)) {}
    int64_t workspace_bytes() const override { return workspace_bytes_; }
    bool has_check() const override { return kChecks; }
    Status check() override {
      if constexpr (kChecks) return check_();
      return {};
    }
    Status run(const RunArguments& arguments) override {
      if constexpr (std::is_void_v<std::invoke_result_t<Run&, const RunArguments&>>) {
        run_(arguments);
        return {};
      } else {
        return run_(arguments);
      }
    }

   private:
    Run run_;
    int64_t workspace_bytes_;
    [[no_unique_address]] Check check_;
  };
  return std::make_unique<Bound>(std::move(run), workspace_bytes, std::move(check));
}

/// A step that `bind` binds to StepShapes. What it captures lives until all that it bound is gone: that may refer to
/// it.
template <class Bind>
std::unique_ptr<LoadedStep> loaded_step(Bind bind, int64_t packed_bytes = 0) {
  class Loaded final : public LoadedStep {
   public:
    Loaded(Bind bind, int64_t packed_bytes) : bind_(std::move(bind)), packed_bytes_(packed_bytes) {}
    int64_t packed_bytes() const override { return packed_bytes_; }

   private:
    BindResult bind_checked(const StepShapes& shapes) const override { return bind_(shapes); }
    Bind bind_;
    int64_t packed_bytes_;
  };
  return std::make_unique<Loaded>(std::move(bind), packed_bytes);
}

}  // namespace kiln
