/// Values of a loop's body written as sums: constant matrices times the rows of other values.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ops/activation.h"
#include "ops/constant.h"
#include "ops/element_wise.h"

namespace kiln::passes {

/// A matrix times the vector that a row of `source` is; or some of that vector's elements.
struct LinearTerm {
  ir::ValueId source = ir::ValueId::kNone;
  ir::ValueId weights =
      ir::ValueId::kNone;  ///< of constants: [features..., width of source], or positions [features...]
  bool picks = false;      ///< whether `weights` are positions of elements
};

/// activation(terms + bias), for each row.
struct LinearForm {
  std::vector<LinearTerm> terms;
  ir::ValueId bias = ir::ValueId::kNone;  ///< of constants: [features...]
  std::optional<ops::Activation> activation;
};

/// Finds the forms of values in a body. A value has as many rows as the loop's state, in its leading axes; the axes
/// behind them, whose extents are constants, are its features. Weights are made by ops on constants, as nodes of the
/// body that nothing else reads, so the body should be a copy.
class LinearForms {
 public:
  LinearForms(ir::Graph& body, sym::Expr rows) : body_(body), rows_(rows) {}

  /// A value that is no sum of products is a term of itself. Nothing: it has no rows and features.
  std::optional<LinearForm> of(ir::ValueId value);
  /// The extents of a value's features: the shortest ones behind axes with all rows.
  std::optional<Extents> features(ir::ValueId value) const;
  /// The value whose elements these are, in the same order.
  ir::ValueId without_views(ir::ValueId value) const;
  /// The operands of an elementwise op, where it repeats none of them; views in front of it count as it.
  std::optional<std::pair<ir::ValueId, ir::ValueId>> operands(ir::ValueId value, ops::ElementWiseKind kind) const;
  /// Whether a term is all elements of its source, in their order.
  bool is_whole(const LinearTerm& term);
  /// The form times -1, without its activation; nothing where it adds elements without a product.
  std::optional<LinearForm> negated(LinearForm form);
  /// A constant that is the same for all rows, with the features of `like`; kNone where it is another one in each row.
  ir::ValueId as_features(ir::ValueId constant, ir::ValueId like);
  /// Adds a node to the body; kNone where the op does not take these inputs.
  ir::ValueId add(Op op, std::initializer_list<ir::ValueId> inputs) { return add(std::move(op), std::span(inputs)); }
  ir::ValueId add(Op op, std::span<const ir::ValueId> inputs);
  /// The elements of a value that is made of constants.
  Result<ops::Constant> compute(ir::ValueId value);
  const ir::Graph& body() const { return body_; }

 private:
  std::optional<LinearForm> find(ir::ValueId value);
  std::optional<LinearForm> term_of(ir::ValueId value);
  std::optional<LinearForm> without_activation(ir::ValueId value);
  std::optional<LinearForm> moved(ir::ValueId value);
  std::optional<LinearForm> sum(ir::ValueId value);
  std::optional<LinearForm> difference(ir::ValueId value);
  std::optional<LinearForm> scaled(ir::ValueId value);
  std::optional<LinearForm> product(ir::ValueId value);
  std::optional<LinearForm> added(LinearForm a, const LinearForm& b);
  std::optional<LinearForm> reshaped(LinearForm form, const Extents& features);
  bool repeats_nothing(ir::ValueId value) const;
  struct Piece {
    ir::ValueId source;
    int64_t width;
  };
  bool find_pieces(ir::ValueId value, std::vector<Piece>& pieces);
  std::optional<LinearForm> product_of(const std::vector<Piece>& pieces, ir::ValueId matrix, ir::ValueId value);

  const ir::Node& maker(ir::ValueId value) const { return body_.node(body_.value(value).producer); }

  ir::Graph& body_;
  const sym::Expr rows_;
  int depth_ = 0;
  std::map<ir::ValueId, std::optional<LinearForm>> found_;
  std::map<ir::ValueId, ops::Constant> computed_;
};

}  // namespace kiln::passes
