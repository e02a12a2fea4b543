#include "passes/merge_around_reshapes.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ops/reshape.h"
#include "ops/transpose.h"
#include "passes/reshape_to.h"
#include "passes/rewrite.h"
#include "tensor/refinement.h"

namespace kiln::passes {
namespace {

/// Pieces of both shapes, where they are few enough for axes.
std::optional<Refinement> pieces_of(const Shape& from, const Shape& to) {
  auto refined = refine(from, to);
  return refined && refined->pieces.size() <= static_cast<size_t>(kMaxRank) ? refined : std::nullopt;
}

/// The pieces in the order that `perm` gives the axes.
std::vector<int64_t> permuted(const std::vector<std::vector<int64_t>>& pieces, const std::vector<int64_t>& perm) {
  std::vector<int64_t> order;
  for (const int64_t axis : perm) {
    const auto& of_axis = pieces[static_cast<size_t>(axis)];
    order.insert(order.end(), of_axis.begin(), of_axis.end());
  }
  return order;
}

Shape select(const Shape& pieces, const std::vector<int64_t>& order) {
  Shape shape;
  for (const int64_t piece : order) shape.push_back(pieces[static_cast<size_t>(piece)]);
  return shape;
}

/// x, whose memory holds the pieces in the order `before`, becomes what holds them in the order `after`, as `shape`.
Result<ir::ValueId> reordered(ir::Patch& patch, ir::ValueId x, const Shape& pieces, const std::vector<int64_t>& before,
                              const std::vector<int64_t>& after, const Shape& shape) {
  std::vector<int64_t> perm;
  for (const int64_t piece : after) perm.push_back(std::ranges::find(before, piece) - before.begin());
  ir::ValueId y = x;
  if (!std::ranges::is_sorted(perm)) {
    y = TRY(reshape_to(patch, x, select(pieces, before)));
    y = TRY(patch.add(ops::Transpose{perm}, {y}));
  }
  return reshape_to(patch, y, shape);
}

/// Transpose(Reshape(Transpose(x))): the two join.
Status join(ir::Graph& graph) {
  const ir::Pattern chain =
      ir::op<ops::Transpose>("y", ir::op<ops::Reshape>("r", ir::op<ops::Transpose>("t", ir::any("x"))));
  return rewrite(graph, chain, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const auto refined = pieces_of(found.type("t").shape, found.type("r").shape);
    if (!refined) return {};
    const auto& first = found.op<ops::Transpose>("t").perm;
    std::vector<std::vector<int64_t>> of_x(first.size());
    for (size_t i = 0; i < first.size(); ++i) of_x[static_cast<size_t>(first[i])] = refined->from[i];
    std::vector<int64_t> in_order(first.size());
    std::iota(in_order.begin(), in_order.end(), 0);
    const auto before = permuted(of_x, in_order), after = permuted(refined->to, found.op<ops::Transpose>("y").perm);
    const ir::ValueId y =
        TRY(reordered(patch, found.value("x"), refined->pieces, before, after, found.type("y").shape));
    return patch.replace(found.value("y"), y);
  });
}

bool only_reshaped(const ir::Graph& graph, ir::ValueId value) {
  const auto& users = graph.value(value).users;
  return !graph.is_output(value) && !users.empty() && std::ranges::all_of(users, [&](ir::NodeId user) {
    return graph.node(user).op.as<ops::Reshape>() && graph.node(user).inputs[0] == value;
  });
}

/// Reshape(Transpose(Reshape(x))) whose shapes have finer pieces than the Transpose: the last Reshape has less to do.
Status sink(ir::Graph& graph) {
  const ir::Pattern pair = ir::op<ops::Transpose>("y", ir::op<ops::Reshape>("r", ir::any("x")));
  return rewrite(graph, pair, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    if (!only_reshaped(found.graph(), found.value("y"))) return {};
    const auto refined = pieces_of(found.type("x").shape, found.type("r").shape);
    if (!refined || refined->pieces == found.type("r").shape) return {};
    std::vector<int64_t> before(refined->pieces.size());
    std::iota(before.begin(), before.end(), 0);
    const auto after = permuted(refined->to, found.op<ops::Transpose>("y").perm);
    const ir::ValueId y =
        TRY(reordered(patch, found.value("x"), refined->pieces, before, after, found.type("y").shape));
    return patch.replace(found.value("y"), y);
  });
}

/// Whether [batch, channel, ...] and [batch, channel, pixel] hold the same; an image of one pixel's height is a row.
bool are_image_and_plane(const Shape& image, const Shape& plane) {
  return plane.size() == 3 && image.size() >= 4 && image[0] == plane[0] && image[1] == plane[1] &&
         std::none_of(image.begin() + 2, image.end(), [](const sym::Expr& e) { return e == sym::Expr(1); });
}
bool swaps_last_of_three(const ops::Transpose& transpose) { return transpose.perm == std::vector<int64_t>{0, 2, 1}; }

/// Transpose(Reshape(x)) from [batch, channel, y, x] to rows of channels, and back: the Transpose stands beside the
/// image, where a format with channels last makes it a view.
Status beside_images(ir::Graph& graph) {
  const ir::Pattern rows = ir::op<ops::Transpose>("y", ir::op<ops::Reshape>("r", ir::any("x")));
  TRY(rewrite(graph, rows, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const Shape& x = found.type("x").shape;
    if (!are_image_and_plane(x, found.type("r").shape) || !swaps_last_of_three(found.op<ops::Transpose>("y")))
      return {};
    std::vector<int64_t> perm{0};
    for (size_t axis = 2; axis < x.size(); ++axis) perm.push_back(static_cast<int64_t>(axis));
    perm.push_back(1);
    const ir::ValueId image = TRY(patch.add(ops::Transpose{perm}, {found.value("x")}));
    return patch.replace(found.value("y"), TRY(reshape_to(patch, image, found.type("y").shape)));
  }));
  const ir::Pattern image = ir::op<ops::Reshape>("y", ir::op<ops::Transpose>("t", ir::any("x")));
  return rewrite(graph, image, [](const ir::Capture& found, ir::Patch& patch) -> Status {
    const Shape& y = found.type("y").shape;
    if (!are_image_and_plane(y, found.type("t").shape) || !swaps_last_of_three(found.op<ops::Transpose>("t")) ||
        !found.used_once("t") || only_reshaped(found.graph(), found.value("y")))
      return {};
    Shape pixels{y[0]};
    pixels.insert(pixels.end(), y.begin() + 2, y.end());
    pixels.push_back(y[1]);
    std::vector<int64_t> perm{0, static_cast<int64_t>(y.size()) - 1};
    for (size_t axis = 1; axis + 1 < y.size(); ++axis) perm.push_back(static_cast<int64_t>(axis));
    const ir::ValueId rows = TRY(reshape_to(patch, found.value("x"), pixels));
    return patch.replace(found.value("y"), TRY(patch.add(ops::Transpose{perm}, {rows})));
  });
}

}  // namespace

Status merge_around_reshapes(ir::Graph& graph, PassContext&) {
  TRY(join(graph));
  TRY(sink(graph));
  return beside_images(graph);
}

}  // namespace kiln::passes
