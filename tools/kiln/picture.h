/// What `kiln show` draws, as data: an engine's layers as the inspector tells them, and beside each what it does not
/// tell: where its tensors lie in memory, which bodies it runs, and what it took. The page gets it as JSON.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/record.h"
#include "plan/plan.h"
#include "tensor/host_tensor.h"

namespace kiln {

struct StepTimes;

/// A line of the page's summary.
struct Fact {
  std::string name, text;

  static void reflect(auto& self, auto f) { f("name", self.name), f("text", self.text); }
};

/// A tensor of a block.
struct DrawnTensor {
  std::string name, place, type;
  Extents extents;                           ///< -1 where it is not known
  int parent = -1;                           ///< the tensor that it is a view of; -1: none
  int root = -1;                             ///< the tensor whose memory it lies in: itself, or the last of its parents
  int64_t offset_bytes = 0, size_bytes = 0;  ///< in the block's arena; at the profile's maximum
  int first = -1, last = -1;                 ///< steps of the block between which the arena has it

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("place", self.place), f("type", self.type), f("extents", self.extents);
    f("parent", self.parent), f("root", self.root), f("offset", self.offset_bytes), f("size", self.size_bytes);
    f("first", self.first), f("last", self.last);
  }
};

/// The steps of the network, or of a body of one of its layers.
struct DrawnBlock {
  std::string name;  ///< of a body; empty: the network
  int around = -1;   ///< the layer whose body it is
  int64_t num_runs = -1;
  int64_t arena_bytes = -1, workspace_bytes = -1;  ///< -1: not known
  std::vector<DrawnTensor> tensors;
  std::vector<int> inputs, outputs;  ///< tensors

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("around", self.around), f("runs", self.num_runs), f("arena", self.arena_bytes);
    f("workspace", self.workspace_bytes), f("tensors", self.tensors), f("inputs", self.inputs);
    f("outputs", self.outputs);
  }
};

/// A layer's place and times, beside what the inspector tells.
struct DrawnStep {
  std::string name;
  std::string number;  ///< "3", or "3.1.2": of step 3, body 1, its step 2
  int block = 0;
  std::vector<int> inputs, outputs;  ///< tensors of the block, without those that are absent
  std::vector<int> bodies;           ///< blocks
  std::vector<std::string> origins;  ///< the layers that it came from
  std::string steered;               ///< who runs its bodies, and why
  double ms = -1;                    ///< of all its runs in a run of the network; -1: not measured

  static void reflect(auto& self, auto f) {
    f("name", self.name), f("number", self.number), f("block", self.block), f("inputs", self.inputs);
    f("outputs", self.outputs), f("bodies", self.bodies), f("origins", self.origins), f("steered", self.steered);
    f("ms", self.ms);
  }
};

struct Picture {
  std::string title;
  std::string times;  ///< what the measured times are; empty: there are none
  double wall_ms = -1;
  std::vector<Fact> facts;
  std::vector<std::string> notes;  ///< what is not here, and why
  std::vector<DrawnBlock> blocks;  ///< the network's first
  std::vector<DrawnStep> steps;    ///< one a layer
  Datum::List layers;              ///< as the inspector tells them; texts where there are only names

  Record record() const;
};

/// Values of programs; -1 where they are not known.
using KnownValues = std::function<Extents(std::span<const sym::Program>)>;

/// The picture of a profile of a plan. `times` is null where nothing was measured.
Picture picture_of(const plan::Plan& plan, int profile, const KnownValues& values, const StepTimes* times);

/// The values of a plan's programs at these extents of its inputs, and at the profile's optimum of its shape inputs.
/// Fails where the plan does not allow such extents.
Result<KnownValues> values_at(const plan::Plan& plan, int profile, std::span<const HostTensor> inputs);

}  // namespace kiln
