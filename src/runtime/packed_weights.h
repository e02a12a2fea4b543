/// Weights that an engine has packed, and no longer has as its plan gave them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "plan/plan.h"
#include "steps/packs_constants.h"

namespace kiln::runtime {

/// Lets go of a weight once the last step that reads it is loaded, if runs read packed copies and one of these has all
/// its bits; who else holds the weight's memory keeps it. Pages of files go in any case where no run reads them, for
/// they come again. Borrows the plan, which is the engine's own.
class PackedWeights {
 public:
  explicit PackedWeights(plan::Plan& plan);
  /// Called for each step of each block that a kernel runs, once, with its own kernel and its alternatives' as they are
  /// loaded.
  void add(const plan::Block& block, const plan::Step& step,
           std::span<const std::shared_ptr<const LoadedStep>> kernels);
  /// The plan with every weight, unpacked where that is what is left of it.
  Result<plan::Plan> unpacked() const;

 private:
  struct Readers {
    int to_load = 0;
    bool in_place = false;  ///< one of them reads the plan's bytes
    std::shared_ptr<const PacksConstants> holder;
    int input = -1;  ///< of the holder
  };
  void let_go(size_t weight);

  plan::Plan& plan_;
  std::vector<Readers> readers_;  ///< by weight
};

}  // namespace kiln::runtime
