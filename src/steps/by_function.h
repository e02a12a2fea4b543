/// Steps made of functions: what a function captures is what its step keeps.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "steps/executor.h"

namespace kiln {

using LoadResult = Result<std::unique_ptr<LoadedStep>>;
using BindResult = Result<std::unique_ptr<BoundStep>>;

/// A step whose runs call `run` with their RunArguments; it answers with a Status, or cannot fail.
template <class Run>
std::unique_ptr<BoundStep> bound_step(Run run, int64_t workspace_bytes = 0) {
  class Bound final : public BoundStep {
   public:
    Bound(Run run, int64_t workspace_bytes) : run_(std::move(run)), workspace_bytes_(workspace_bytes) {}
    int64_t workspace_bytes() const override { return workspace_bytes_; }
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
  };
  return std::make_unique<Bound>(std::move(run), workspace_bytes);
}

/// A step that `bind` binds to StepShapes. What it captures lives until all that it bound is gone: that may refer to
/// it.
template <class Bind>
std::unique_ptr<LoadedStep> loaded_step(Bind bind) {
  class Loaded final : public LoadedStep {
   public:
    explicit Loaded(Bind bind) : bind_(std::move(bind)) {}

   private:
    BindResult bind_checked(const StepShapes& shapes) const override { return bind_(shapes); }
    Bind bind_;
  };
  return std::make_unique<Loaded>(std::move(bind));
}

}  // namespace kiln
