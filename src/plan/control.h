/// Steps with bodies: what their tensors and bodies must be, and the memory that their runs take.
#pragma once

#include "plan/plan.h"

namespace kiln::plan {

inline bool is_control(const Step& step) { return !step.bodies.empty(); }

/// Fails (kCorrupt) unless a step has as many bodies as its kind needs, with inputs and outputs as the step's tensors
/// say. The indices of bodies and tensors are valid.
Status validate_control(const Plan& plan, const Block& block, const Step& step);

/// Why a device cannot run a step with bodies by itself, but the host has to be asked in the middle of it; empty where
/// it can. Of a validated plan.
std::string why_host_steers(const Plan& plan, const Step& step);

/// Who steers a step with bodies on a GPU, and why, for people. The host does, too, where a step beside it cannot be
/// recorded. Empty on a CPU, where the host runs everything.
std::string describe_steering(const Plan& plan, const Block& block, const Step& step);

/// The parts of a control step's workspace, in bytes from its beginning; each is aligned to 256.
struct ControlLayout {
  /// A loop's number of the iteration, how many there are, and the conditions that its bodies write.
  int64_t scalars = 0;
  std::vector<int64_t> carried;  ///< of a loop: a second place for each carried value
  /// A loop on a device of its own has an aligned place for each scanned, then each stacked slice whose bound is known.
  std::vector<int64_t> slices;
  std::vector<int64_t> slice_bytes;  ///< by slice: what its place has room for
  int64_t arena = 0;                 ///< of the body that runs
  std::vector<int64_t> workspace;    ///< by body: of its steps
  int64_t total_bytes = 0;
};
ControlLayout layout_of(const Plan& plan, const Block& block, const Step& step);

/// The places among the scalars.
inline constexpr int64_t kIterationAt = 0, kCountAt = 8, kGoesOnAt = 64, kTestAt = 128, kScalarBytes = 192;

}  // namespace kiln::plan
