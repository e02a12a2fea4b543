/// Einsum: one matrix product after the other, and sums over what no other operand has.
#include "ops/einsum.h"

#include <algorithm>

#include "ops/dim_values.h"
#include "ops/matrix_multiply.h"
#include "ops/reduce.h"
#include "ops/reshape.h"
#include "ops/slice.h"
#include "ops/transpose.h"
#include "ops/unsqueeze.h"
#include "passes/decompose/decompose.h"

namespace kiln::passes {
namespace {

using Labels = std::string;

/// A value whose axes have labels.
struct Labelled {
  ir::ValueId value = ir::ValueId::kNone;
  Labels labels;
};

class Sums {
 public:
  explicit Sums(ir::Graph& graph) : graph_(graph) {}

  /// The products of all operands, with the axes of the output.
  Result<ir::ValueId> run(std::span<const ir::ValueId> operands, const EinsumEquation& equation) {
    std::vector<Labelled> xs;
    for (size_t i = 0; i < operands.size(); ++i)
      xs.push_back(TRY(without_diagonals({operands[i], equation.inputs[i]})));
    TRY(drop_ones(xs, equation.output));
    Labelled y;
    for (size_t i = 0; i < xs.size(); ++i) {
      Labels later = equation.output;  // labels that are needed beyond this operand
      for (size_t k = i + 1; k < xs.size(); ++k) later += xs[k].labels;
      const Labelled x = TRY(summed(xs[i], later + y.labels));
      y = i == 0 ? x : TRY(contract(TRY(summed(y, later + x.labels)), x, later));
    }
    return arranged(TRY(summed(y, equation.output)), equation.output);
  }

 private:
  sym::Expr extent(const Labelled& x, char label) const { return graph_.type(x.value).shape[x.labels.find(label)]; }
  Shape shape_of(const Labelled& x, const Labels& labels) const {
    Shape shape;
    for (const char label : labels) shape.push_back(extent(x, label));
    return shape;
  }
  sym::Expr volume_of(const Labelled& x, const Labels& labels) const {
    sym::Expr product = 1;
    for (const char label : labels) product *= extent(x, label);
    return product;
  }

  Result<ir::ValueId> reshape(ir::ValueId x, const Shape& to) {
    if (graph_.type(x).shape == to) return x;
    ops::Reshape op{.dims = {}, .zero_is_placeholder = false};
    if (std::ranges::all_of(to, [](const sym::Expr& e) { return e.is_const(); })) {
      for (const sym::Expr& e : to) op.dims.push_back(e.value());
      return graph_.add_one(std::move(op), {x});
    }
    const ops::DimValues dims{to, DType::kI64, {static_cast<int64_t>(to.size())}};
    return graph_.add_one(std::move(op), {x, TRY(graph_.add_one(dims, {}))});
  }
  Result<ir::ValueId> transpose(ir::ValueId x, std::vector<int64_t> perm) {
    if (std::ranges::is_sorted(perm)) return x;
    return graph_.add_one(ops::Transpose{std::move(perm)}, {x});
  }

  /// x with the axes `order` in that order; labels that x lacks get extent 1.
  Result<ir::ValueId> arranged(const Labelled& x, const Labels& order) {
    std::vector<int64_t> perm, added;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t at = x.labels.find(order[i]);
      (at == Labels::npos ? added : perm).push_back(static_cast<int64_t>(at == Labels::npos ? i : at));
    }
    const ir::ValueId moved = TRY(transpose(x.value, std::move(perm)));
    return added.empty() ? moved : graph_.add_one(ops::Unsqueeze{std::move(added)}, {moved});
  }

  /// x summed over the labels that nobody else needs.
  Result<Labelled> summed(const Labelled& x, const Labels& needed) {
    ops::Reduce sum;
    Labels kept;
    for (size_t i = 0; i < x.labels.size(); ++i) {
      if (needed.contains(x.labels[i]))
        kept += x.labels[i];
      else
        sum.axes.push_back(static_cast<int64_t>(i));
    }
    if (sum.axes.empty()) return x;
    return Labelled{TRY(graph_.add_one(std::move(sum), {x.value})), kept};
  }

  /// Each label once: the diagonal of two axes is every (n + 1)-th element of both.
  Result<Labelled> without_diagonals(Labelled x) {
    for (size_t i = 0; i < x.labels.size();) {
      const size_t twin = x.labels.find(x.labels[i], i + 1);
      if (twin == Labels::npos) {
        ++i;
        continue;
      }
      const sym::Expr n = graph_.type(x.value).shape[i];
      Labelled y{ir::ValueId::kNone, {}};
      std::vector<int64_t> perm;
      Shape flat;
      for (size_t k = 0; k < x.labels.size(); ++k) {
        if (k == i || k == twin) continue;
        perm.push_back(static_cast<int64_t>(k));
        flat.push_back(graph_.type(x.value).shape[k]);
        y.labels += x.labels[k];
      }
      y.labels += x.labels[i];
      perm.insert(perm.end(), {static_cast<int64_t>(i), static_cast<int64_t>(twin)});
      flat.push_back(n * n);
      const ir::ValueId rows = TRY(reshape(TRY(transpose(x.value, std::move(perm))), flat));
      const auto vector = [&](sym::Expr value) {
        return graph_.add_one(ops::DimValues{{value}, DType::kI64, {1}}, {});
      };
      y.value = TRY(graph_.add_one(ops::Slice{.axes = {static_cast<int64_t>(flat.size()) - 1}},
                                   {rows, TRY(vector(0)), TRY(vector(n)), TRY(vector(n + 1))}));
      x = std::move(y);
      i = 0;
    }
    return x;
  }

  /// An extent of 1 repeats. Where it meets another in a label that is summed over, its operand does without the label.
  Status drop_ones(std::vector<Labelled>& xs, const Labels& output) {
    const auto is_one = [&](const Labelled& x, char label) {
      return x.labels.contains(label) && extent(x, label).constant() == 1;
    };
    for (Labelled& x : xs)
      for (size_t i = 0; i < x.labels.size();) {
        const char label = x.labels[i];
        const bool meets = std::ranges::any_of(
            xs, [&](const Labelled& other) { return other.labels.contains(label) && !is_one(other, label); });
        if (output.contains(label) || !is_one(x, label) || !meets) {
          ++i;
          continue;
        }
        x.labels.erase(i, 1);
        Shape rest = graph_.type(x.value).shape;
        rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
        x.value = TRY(reshape(x.value, rest));
      }
    return {};
  }

  /// The product of two operands, summed over what `needed` lacks, as one matrix product: labels of both that stay
  /// count batches, those of both that go are summed over, the rest are rows and columns.
  Result<Labelled> contract(const Labelled& a, const Labelled& b, const Labels& needed) {
    Labels batch, inner, rows, columns;
    for (const char label : a.labels) {
      const bool shared = b.labels.contains(label);
      (!shared ? rows : needed.contains(label) ? batch : inner) += label;
    }
    for (const char label : b.labels)
      if (!a.labels.contains(label)) columns += label;
    Shape left = shape_of(a, batch), right = shape_of(b, batch);
    left.insert(left.end(), {volume_of(a, rows), volume_of(a, inner)});
    right.insert(right.end(), {volume_of(b, inner), volume_of(b, columns)});
    const ir::ValueId l = TRY(reshape(TRY(arranged(a, batch + rows + inner)), left));
    const ir::ValueId r = TRY(reshape(TRY(arranged(b, batch + inner + columns)), right));
    const ir::ValueId product = TRY(graph_.add_one(ops::MatrixMultiply{}, {l, r}));
    const Shape& batches = graph_.type(product).shape;  // an extent of 1 repeats
    Shape result(batches.begin(), batches.begin() + static_cast<ptrdiff_t>(batch.size()));
    for (const sym::Expr& e : shape_of(a, rows)) result.push_back(e);
    for (const sym::Expr& e : shape_of(b, columns)) result.push_back(e);
    return Labelled{TRY(reshape(product, result)), batch + rows + columns};
  }

  ir::Graph& graph_;
};

}  // namespace

Result<ir::ValueId> decompose_einsum(ir::Graph& graph, ir::NodeId id) {
  const ir::Node node = graph.node(id);
  std::vector<int> ranks;
  for (const ir::ValueId input : node.inputs) ranks.push_back(graph.type(input).rank());
  return Sums(graph).run(node.inputs, TRY(EinsumEquation::parse(node.op.as<ops::Einsum>()->equation, ranks)));
}

}  // namespace kiln::passes
