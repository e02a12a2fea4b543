#include "library/proposals.h"

#include <algorithm>

#include "library/detections.h"

namespace kiln::plugins {
namespace {

constexpr double kOfSmall = -1e30;  // a score below all others, but one of a candidate

Value of_anchors(Layers& layers, const std::vector<float>& sizes) {
  return layers.constant(dims_of({1, static_cast<int64_t>(sizes.size()), 1, 1}), sizes);
}

}  // namespace

Value refined(const Value& boxes, const Value& deltas, const Refinement& how) {
  const std::vector<Value> corners = split(boxes, -1, {2, 2}), moved = split(deltas, -1, {2, 2});
  const Value size = corners[1] - corners[0] + how.larger_by;
  Value growth = moved[1] * how.size_deviation;
  if (how.most_growth > 0) growth = min(growth, how.most_growth);
  const Value half = size * exp(growth) * 0.5;
  const Value centre = corners[0] + size * 0.5 + moved[0] * how.place_deviation * size;
  return concat({centre - half, centre + half - how.larger_by}, -1);
}

Value in_image(const Value& boxes, int64_t height, int64_t width) {
  const auto bottom = static_cast<float>(height - 1), right = static_cast<float>(width - 1);
  const std::vector<float> last = {bottom, right, bottom, right};
  return max(min(boxes, boxes.layers().constant(dims_of({1, 1, 4}), last)), 0.0);
}

Ranked best_anchors(const std::vector<float>& anchors, const Value& deltas, const Value& scores, int64_t most) {
  const auto count = static_cast<int64_t>(anchors.size() / 4);
  const Value all = scores.layers().constant(dims_of({count, 4}), anchors);
  if (std::min(most, count) > kMostOfTopK) return {unsqueeze(all, {0}), deltas, scores};
  const TopK best = top_k(scores, std::min(most, count), 1);
  return {gather(all, best.indices, 0), gather_nd(deltas, unsqueeze(best.indices, {2}), 1), best.values};
}

std::vector<Value> moved_anchors(const AnchorGrid& grid, const Value& deltas) {
  Layers& layers = deltas.layers();
  const auto count = static_cast<int64_t>(grid.widths.size());
  const Extent batch = deltas.extent(0), height = deltas.extent(2), width = deltas.extent(3);
  const Value each = reshape(deltas, {batch, count, 4, height, width});
  const auto centres = [&](const Extent& cells) {
    return layers.iota(cells, nv::DataType::kFLOAT) * grid.stride + grid.first;
  };
  const auto edges = [&](const Value& centre, const std::vector<float>& sizes, int64_t axis) {
    const Value size = of_anchors(layers, sizes);
    const Value middle = centre + pick(each, 2, axis) * size, half = exp(pick(each, 2, axis + 2)) * size * 0.5;
    return std::vector<Value>{middle - half, middle + half};
  };
  const std::vector<Value> x = edges(reshape(centres(width), {1, 1, 1, width}), grid.widths, 0),
                           y = edges(reshape(centres(height), {1, 1, height, 1}), grid.heights, 1);
  return {x[0], y[0], x[1], y[1]};
}

Value chosen(const std::vector<Value>& corners, const Value& scores, const Value& is_small, const Choice& how) {
  Layers& layers = scores.layers();
  const Extent batch = scores.extent(0), count = scores.extent(1) * scores.extent(2) * scores.extent(3);
  std::vector<Value> columns;
  for (const Value& corner : corners) columns.push_back(reshape(corner, {batch, count, 1}));
  const Value boxes = concat(columns, 2);
  const Value compared = concat({columns[0], columns[1], columns[2] + 1.0, columns[3] + 1.0}, 2);
  const Value ranked = select(is_small, layers.scalar(kOfSmall, nv::DataType::kFLOAT, 4), scores);
  Suppression nms;
  nms.most = how.most;
  nms.candidates = how.candidates;
  nms.iou_threshold = std::min(how.iou_threshold, 1.0);  // no overlap is greater
  nms.score_threshold = kLowestScore;
  return detect(boxes, compared, reshape(ranked, {batch, count, 1}), nms).boxes;
}

}  // namespace kiln::plugins
