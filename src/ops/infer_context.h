/// The view of an op while its output types are found.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "sym/assumption.h"
#include "sym/table.h"
#include "tensor/host_tensor.h"
#include "tensor/tensor_type.h"

namespace kiln {

class BodyTypes;
class Op;

/// One input of a node under inference. `type` is null where an optional input is absent.
struct InferInput {
  const TensorType* type = nullptr;
  const HostTensor* constant = nullptr;  ///< its elements, where they are known at build time
  std::string_view from = {};            ///< the name of what gives it, for messages
};

/// A size that data decides: its symbol belongs to the node, whose runs bind it.
struct DecidedSize {
  sym::Expr symbol;
  sym::Expr most;         ///< its upper bound, which is known before the node runs; or sym::unbounded
  bool is_inner = false;  ///< no size: an element that each run of the node's body binds, and nobody else sees
};

class InferContext {
 public:
  /// `sizes` are those that inferring the same node gave before.
  InferContext(sym::Table& table, std::span<const InferInput> inputs, int num_outputs,
               std::vector<DecidedSize> sizes = {})
      : table_(table), inputs_(inputs), outputs_(static_cast<size_t>(num_outputs)), sizes_(std::move(sizes)) {}

  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  bool has_input(int i) const { return i < num_inputs() && inputs_[static_cast<size_t>(i)].type != nullptr; }
  /// Fails if the input is absent.
  Result<Ref<const TensorType>> input(int i) const;
  /// Its elements if they are constants, else null.
  const HostTensor* constant(int i) const { return has_input(i) ? inputs_[static_cast<size_t>(i)].constant : nullptr; }
  /// Elements of an input as expressions, floats as reals (sym/real.h); fails if they cannot be known before the op
  /// runs.
  Result<SymbolicValues> values(int i) const;
  bool has_values(int i) const;
  /// Its type, with the values of small constants too. Fails if the input is absent.
  Result<TensorType> input_type(int i) const;
  /// The node's bodies (ops/bodies.h). Fails if it has none.
  Result<Ref<BodyTypes>> bodies() const;
  void set_bodies(BodyTypes* bodies) { bodies_ = bodies; }
  /// The node's name, which the names of its sizes have in them. Outlives the context.
  void set_node_name(std::string_view name) { node_name_ = name; }

  Status set_output(int i, TensorType type);
  Status set_output(int i, const TensorType& like, Shape shape) {
    return set_output(i, TensorType(like.dtype, std::move(shape)));
  }

  template <class... Parts>
  Status require(bool holds, const Parts&... parts) const {
    return kiln::require(holds, parts...);
  }
  /// `axis` from the front; the error shows `x`, called `name`.
  Result<int> axis(int64_t axis, const TensorType& x, std::string_view name = "x") const;

  /// The symbol, in [0, most], of the next size that the op's runs decide, called `name`. An op asks for all of its
  /// sizes whenever it is inferred, in the order in which its runs tell them; inferring it again gives the same
  /// symbols. A bound that reads sym::unbounded is none. What is tuned for is `opt`, else the bound's optimum.
  sym::Expr decided_size(std::string_view name, sym::Expr most, std::optional<int64_t> opt = {});
  /// The symbol of a number that the op's runs read from data, of any sign: a size like the others.
  sym::Expr decided_number(std::string_view name);
  /// The symbol of an element that each run of a body binds; asked for behind all sizes.
  sym::Expr inner_element(std::string_view name, sym::Bounds bounds);

  /// Proven: succeeds. Disproven: fails with `why`. Unknown: succeeds, and the assumption is kept and checked at bind.
  Status assume_equal(sym::Expr a, sym::Expr b, std::string_view why);
  /// Assumes equality like `assume_equal`, of an extent that may also be 1.
  Status assume_one_or(sym::Expr small, sym::Expr extent, std::string_view why);
  /// The extent of two broadcast axes: equal, or one of them 1. Where bounds leave open which, it is sym::broadcast's,
  /// and strides decide at bind.
  Result<sym::Expr> broadcast(sym::Expr a, sym::Expr b, std::string_view why = "broadcast extents");
  /// Numpy's rule: shapes aligned at the right.
  Result<Shape> broadcast(const Shape& a, const Shape& b);

  sym::Table& table() { return table_; }
  std::vector<TensorType>& outputs() { return outputs_; }
  std::vector<sym::Assumption>& assumptions() { return assumptions_; }
  std::vector<DecidedSize>& sizes() { return sizes_; }

 private:
  sym::Table& table_;
  std::span<const InferInput> inputs_;
  std::vector<TensorType> outputs_;
  std::vector<sym::Assumption> assumptions_;
  std::vector<DecidedSize> sizes_;
  sym::Expr next_symbol(std::string_view name, sym::Bounds bounds, sym::Expr most, bool is_inner);

  size_t num_sizes_ = 0;  // asked for
  BodyTypes* bodies_ = nullptr;
  std::string_view node_name_;
};

/// What a size that a node decides is called: "count of nz"; "count" where the node has no name.
std::string size_name(std::string_view what, std::string_view node);

/// Infers an op's output types from its inputs, in a table of the caller's. What it assumes is added to `assumptions`;
/// `sizes` are those that data decides, kept from inference to inference; `bodies` are those of a node that has some;
/// `node_name` is the node's.
Result<std::vector<TensorType>> infer_types(const Op& op, std::span<const InferInput> inputs, sym::Table& table,
                                            std::vector<sym::Assumption>* assumptions = nullptr,
                                            std::vector<DecidedSize>* sizes = nullptr, BodyTypes* bodies = nullptr,
                                            std::string_view node_name = {});

}  // namespace kiln
