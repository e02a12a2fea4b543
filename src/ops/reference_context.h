/// The view of an op while its reference runs: dense row-major tensors in host memory, extents known.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "ops/infer_context.h"
#include "ops/op.h"
#include "tensor/host_tensor.h"
#include "tensor/view.h"

namespace kiln {

/// One tensor of a reference run. `data` is null where an optional input is absent. The extents of an output that data
/// decides are the largest possible.
struct ReferenceTensor {
  DType dtype = DType::kF32;
  std::span<const int64_t> extents;
  std::byte* data = nullptr;  ///< inputs are only read
  bool present = false;
};

class BodyRuns;

class ReferenceContext {
 public:
  /// `sizes` takes those that the op's run decides.
  ReferenceContext(std::span<const ReferenceTensor> inputs, std::span<const ReferenceTensor> outputs,
                   std::byte* state = nullptr, std::span<int64_t> sizes = {})
      : inputs_(inputs), outputs_(outputs), state_(state), sizes_(sizes) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  bool has_input(int i) const { return i < num_inputs() && inputs_[static_cast<size_t>(i)].present; }
  Result<View> input(int i) const;
  Result<MutableView> output(int i) const;
  /// An output with the extents that this run has decided, at most those that `output` has.
  Result<MutableView> output(int i, std::span<const int64_t> extents) const;
  /// Tells a size, the `k`th that inference asked for.
  void set_size(size_t k, int64_t size) const {
    CHECK(k < sizes_.size());
    sizes_[k] = size;
  }
  size_t num_sizes() const { return sizes_.size(); }
  /// A copy of an input. Fails if it is absent.
  Result<HostTensor> input_tensor(int i) const;
  /// The node's bodies (ops/bodies.h). Fails if it has none.
  Result<Ref<BodyRuns>> bodies() const;
  void set_bodies(BodyRuns* bodies) { bodies_ = bodies; }
  Result<int> axis(int64_t axis, int rank) const { return normalize_axis(axis, rank); }
  /// The op's state from run to run (ops/fill.h, `initial_state`); null: this run is the first.
  std::byte* state() const { return state_; }

 private:
  std::span<const ReferenceTensor> inputs_, outputs_;
  std::byte* state_;
  std::span<int64_t> sizes_;
  BodyRuns* bodies_ = nullptr;
};

/// Runs `op`'s reference unless all outputs are empty and it decides no size: beside an extent of 0 others may be of
/// any size, and a loop over them takes forever to do nothing.
Status compute_reference(const Op& op, ReferenceContext& cx);

/// Runs `op`'s reference on tensors, output types inferred from them. Entries of `inputs` may be null where optional
/// inputs are absent.
Result<std::vector<HostTensor>> run_reference(const Op& op, std::span<const HostTensor* const> inputs);
Result<std::vector<HostTensor>> run_reference(const Op& op, std::span<const HostTensor> inputs);

/// A type whose extents and, for small index and boolean tensors, values are those of `tensor`.
TensorType type_of(const HostTensor& tensor);

}  // namespace kiln
