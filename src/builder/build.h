/// Builds a plan from a network: passes, lowering, cover, memory.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/log.h"
#include "device/allocator.h"
#include "ir/graph.h"
#include "ir/symbolic_values.h"
#include "passes/ranges.h"
#include "plan/plan.h"
#include "tactics/selector.h"
#include "tactics/tactic.h"
#include "tactics/timer.h"

namespace kiln {

/// Ranges of one optimization profile, by input name. Inputs without dynamic axes need none.
struct ProfileRequest {
  std::map<std::string, plan::InputRange> extents;
  std::map<std::string, plan::InputRange> values;  ///< of shape inputs
  std::string called = {};                         ///< in errors; empty: "optimization profile" and its number
};

/// An output whose elements follow from shapes: contexts compute it on the host. No output of the network's graph.
struct ShapeOutput {
  std::string name;
  TensorType type;  ///< with values
};

struct BuildRequest {
  std::string network_name;
  Numerics numerics;
  int optimization_level = 3;
  bool refittable = false;
  int most_aux_streams = 0;              ///< on a device of its own
  std::vector<ProfileRequest> profiles;  ///< none: one is made if every input is static
  std::map<std::string, Format> surface_formats;
  bool is_direct_io = false;  ///< inputs and outputs are read and written as they are, where that can be
  /// Inputs and outputs that are never reformatted, or the build fails: each has one of these formats, of which the
  /// build chooses.
  std::map<std::string, std::vector<Format>> direct_formats;
  std::vector<ShapeOutput> shape_outputs;
  bool warns_of_precisions = false;  ///< where a layer's precision, which is not required, cannot be had
  passes::Ranges int8_ranges;        ///< of tensors: contractions and plugins that read one of them may have bytes
  /// Largest magnitudes of tensors. Where FP16 is allowed, a layer stays in FP32 if one of its tensors exceeds FP16's
  /// range.
  passes::Ranges half_ranges;
  /// Puts ops in the place of plugins that waited for their ranges, in a graph or a body; null: there are none.
  std::function<Status(ir::Graph&)> expand_plugins;
  TimerOptions timing;
  TacticSelector* selector = nullptr;   ///< the program's say in tactics; null: it has none
  size_t most_tactics = 0;              ///< that are tried for the same nodes; 0: as many as the level says
  std::shared_ptr<Allocator> memory;    ///< of the device, for timing; null: the device's
  TimingCache* timing_cache = nullptr;  ///< null: one of the build's own
  bool editable_timing_cache = false;   ///< BuilderFlag::kEDITABLE_TIMING_CACHE: its assignments count
  /// Called with the phase's name and how far it is; false cancels the build.
  bool (*progress)(void* user, const char* phase, int done, int total) = nullptr;
  void* progress_user = nullptr;
};

/// The network is not changed. Fails with an error that names the node or input at fault.
Result<plan::Plan> build_plan(const ir::Graph& network, Backend& backend, const BuildRequest& request, Log& log);

using ir::give_symbolic_values;

}  // namespace kiln
