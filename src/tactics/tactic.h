/// A tactic: a way to run a region of a graph as one step. Nothing in a tactic measures, caches or logs; the cover
/// does.
#pragma once

#include <expected>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/record.h"
#include "device/device.h"
#include "ir/graph.h"
#include "steps/step.h"
#include "tensor/format.h"

namespace kiln {

/// The numerics that a build allows: variant filters, nothing else.
struct Numerics {
  bool tf32 = true;   ///< reduced-error variants of FP32 contractions (TF32, Winograd)
  bool fp16 = false;  ///< a weakly typed network may keep FP32 tensors in FP16
  bool bf16 = false;
  bool strongly_typed = false;           ///< every tensor is rounded to its type
  bool cublas_lt = true, cudnn = false;  ///< NVIDIA's libraries beside kernels of our own; no timing depends on them
  int64_t most_shared_bytes = std::numeric_limits<int64_t>::max();  ///< of a block on a GPU; no timing depends on it

  /// The fields that timings depend on.
  static void reflect(auto& self, auto f) {
    f("tf32", self.tf32), f("fp16", self.fp16), f("bf16", self.bf16), f("strongly_typed", self.strongly_typed);
  }
};

struct TacticContext {
  const ir::Graph& graph;
  const Numerics& numerics;
  Device& device;
  int optimization_level = 3;  ///< 0 to 5, as IBuilderConfig has it

  /// The same for another graph.
  TacticContext on(const ir::Graph& other) const { return {other, numerics, device, optimization_level}; }
};

/// Nodes claimed as one step. `nodes` in topological order; the root, whose output others see, is last.
struct Region {
  std::vector<ir::NodeId> nodes;
  std::vector<ir::ValueId> inputs;     ///< values from outside, in the order the kernel takes them; kNone where absent
  std::vector<ir::ValueId> outputs;    ///< the root's, and those of the first node that others see (Choices: place_of)
  Record data;                         ///< what `match` found and `compile` needs
  std::vector<sym::Expr> params = {};  ///< the same of what shapes decide
};
/// Why a tactic does not take a region; carries the numbers that decided it.
struct Reject {
  std::string reason;
};
using Match = std::expected<Region, Reject>;
template <class... Parts>
std::unexpected<Reject> reject(const Parts&... parts) {
  return std::unexpected(Reject{str(parts...)});
}

/// One way to run a region: the formats it reads and writes, and its tuned parameters.
struct Variant {
  std::string name;                     ///< "winograd f43, tile block 48"
  std::vector<Format> inputs, outputs;  ///< one a region's input and output
  Record params;
  double estimate_us = 0;  ///< cost model at the optimum shapes; orders and prunes candidates. 0: unknown
};

/// A compiled variant: everything of a plan's step but its tensors.
struct StepDraft {
  std::string executor;
  AnyStep step;                              ///< none: its output is its input's memory, and nothing runs
  Record tuning = {};                        ///< what the backend chose for it
  std::vector<sym::Expr> params;             ///< numbers that shapes decide, evaluated at bind
  int in_place_input = -1;                   ///< output 0 may use this input's memory if nobody else needs it
  std::vector<int> aliased_inputs = {};      ///< by output: the input whose memory it has to have, or -1; or empty
  std::shared_ptr<const Bytes> binary;       ///< code for the device; equal ones are stored once. Null: none
  Record libraries;                          ///< that the step calls: versions by names
  bool is_timed_anew = false;                ///< times of it are not kept in the timing cache
  std::vector<ir::ValueId> decided_by = {};  ///< inputs that are constants, for whose elements alone it is right

  bool is_view() const { return !step; }
};

class Tactic {
 public:
  virtual ~Tactic() = default;
  virtual std::string_view name() const = 0;
  /// The largest region rooted at `root` (its last node) that this tactic runs. Inside is no output of the graph, and
  /// the region writes what others read there: the cover asks again with outputs marked where a region is to end.
  virtual Match match(const TacticContext& cx, ir::NodeId root) const = 0;
  /// Likeliest first; never empty for a region that `match` gave.
  virtual std::vector<Variant> variants(const TacticContext& cx, const Region& region) const = 0;
  virtual Result<StepDraft> compile(const TacticContext& cx, const Region& region, const Variant& variant) const = 0;
};

/// The interface of a backend to the builder.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  ///< "cpu"
  virtual Device& device() = 0;
  /// Tactics whose region may be rooted at this kind of op, likeliest first; the reference fallback is not among them.
  virtual std::span<const Tactic* const> tactics(const OpInfo& op) const = 0;
  /// Rewrites the graph into what this backend's kernels compute in (types, composite ops). Always right under
  /// `numerics`. `ir::verify` holds after it.
  virtual Status lower(ir::Graph& graph, const Numerics& numerics) const = 0;
  /// Whether its tactics take a contraction's w as it is before it is dequantized: beside bytes of x, or beside floats.
  virtual bool multiplies_bytes(const ir::Graph& graph, ir::NodeId contraction) const {
    return static_cast<void>(graph), static_cast<void>(contraction), false;
  }
  /// Whether it has tactics for products of f64, i32 and i64.
  virtual bool multiplies_in_kind() const { return false; }
  /// Where compiling many things at once is faster than one after another: calls `ask`, which calls `Tactic::compile`
  /// and takes no heed of the answers, and then makes all that it asked for, so that the next time it is there.
  virtual void compile_ahead(FunctionRef<void()> ask) const { static_cast<void>(ask); }
  /// Runs any op by `reference` in host memory.
  virtual const Tactic& fallback() const = 0;
  /// Copies a value from one format to another: the step the cover puts where formats differ.
  virtual StepDraft reformat(const TensorType& type, const Format& from, const Format& to) const = 0;
  /// Cost of that copy at the optimum shapes, for the cover.
  virtual double reformat_estimate_us(const TensorType& type, const Format& from, const Format& to) const = 0;
  /// The cost of one more step beside the time of its kernel.
  virtual double step_overhead_us() const { return 0.3; }
};

}  // namespace kiln
