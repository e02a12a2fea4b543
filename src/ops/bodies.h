/// The bodies of a node, as an op that has some sees them: graphs that an op of this floor cannot name.
#pragma once

#include <span>
#include <vector>

#include "ops/infer_context.h"
#include "tensor/host_tensor.h"

namespace kiln {

/// An extent that the run of a node with bodies decides.
struct DecidedAxis {
  int output = 0;
  int axis = 0;
  bool operator==(const DecidedAxis&) const = default;
  static void reflect(auto& self, auto f) { f("output", self.output), f("axis", self.axis); }
};

/// The position of an output's axis in a list of those that are decided, or -1.
int find_axis(std::span<const DecidedAxis> decided, int output, int axis);

/// The bodies of a node whose output types are found.
class BodyTypes {
 public:
  virtual ~BodyTypes() = default;
  virtual int count() const = 0;
  /// The types of a body's outputs where its inputs are of these types. The error names the body's node that fails.
  virtual Result<std::vector<TensorType>> infer(int body, std::span<const TensorType> inputs) = 0;
  /// Makes a body that fails to be inferred one that cannot run, with outputs of these types, if such bodies may be;
  /// else fails with `error`.
  virtual Status give_up(int body, Error error, std::span<const TensorType> outputs) = 0;
  /// A bound of an extent of such an output that is known before the body runs; the extent itself if that is.
  virtual sym::Expr most(int body, sym::Expr extent) const = 0;
  /// Whether an element of such an output is known before the node runs, and has a value even where the body must not
  /// run.
  virtual bool is_known_outside(int body, sym::Expr element) const = 0;
};

/// The bodies of a node whose reference runs.
class BodyRuns {
 public:
  virtual ~BodyRuns() = default;
  virtual int count() const = 0;
  virtual Result<std::vector<HostTensor>> run(int body, std::span<const HostTensor> inputs) = 0;
};

}  // namespace kiln
