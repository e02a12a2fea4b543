#include "library/detections.h"

#include <algorithm>
#include <cmath>

namespace kiln::plugins {
namespace {

/// Scores without those of the background.
Value foreground(const Value& scores, int64_t background) {
  if (background < 0) return scores;
  const Value classes = scores.layers().iota(scores.extent(2), nv::DataType::kINT32);
  return select(classes == static_cast<double>(background), scores.layers().scalar(kLowestScore, scores.type()),
                scores);
}

/// f32 [N, C, B]: 1 where a box of a class stays.
Value selection_mask(const Value& boxes, const Value& scores, const Suppression& how) {
  Layers& layers = scores.layers();
  const int64_t most = how.most_of_class < 0 ? how.most : std::min(how.most_of_class, how.most);
  const Value selected =
      non_max_suppression(boxes, scores, most, how.iou_threshold, how.score_threshold, how.candidates);
  const Value none = layers.full({scores.extent(0), scores.extent(2), scores.extent(1)}, 0, nv::DataType::kFLOAT);
  const Value ones = layers.full({selected.extent(0)}, 1, nv::DataType::kFLOAT);
  return scatter_nd(none, selected, ones);
}

/// x [N, B, ...] with zeros behind the last place where there may be none, so that place 0 always is one.
Value never_empty(const Value& x) {
  if (!x.tensor() || x.extent(1).number().value_or(0) > 0) return x;
  std::vector<int64_t> before(static_cast<size_t>(x.rank()), 0), after = before;
  after[1] = 1;
  return pad(x, before, after);
}

/// Which of the boxes at a place is a class's: its own, or the one of all classes.
Value place_of(const Value& boxes, const Value& class_index) {
  return min(class_index, boxes.extent(2).value(boxes.layers()).i32() - 1.0);
}

/// The boxes of the detections, [N, most, 4].
Value boxes_of(const Value& boxes, const Value& index, const Value& class_index) {
  const Value from = never_empty(boxes);
  if (boxes.rank() == 3) return gather_nd(from, unsqueeze(index, {2}), 1);
  return gather_nd(from, concat({unsqueeze(index, {2}), unsqueeze(place_of(boxes, class_index), {2})}, 2), 1);
}

/// Detections where each class of a place has a box of its own, and all of them suppress each other.
Detections detect_all(const Value& boxes, const Value& compared, const Value& scores, const Suppression& how) {
  const Extent batch = scores.extent(0), classes = scores.extent(2), all = scores.extent(1) * classes;
  const auto flat = [&](const Value& x) {
    const Value each = gather(x, place_of(x, x.layers().iota(classes, nv::DataType::kINT32)), 2);
    return reshape(each, {batch, all, 4});
  };
  Detections found = detect(flat(boxes), flat(compared), reshape(scores, {batch, all, 1}), how);
  const Value count = classes.value(boxes.layers()).i32();
  const Value place = found.indices;
  found.indices = floor_div(place, count);
  found.classes = place - found.indices * count;
  return found;
}

}  // namespace

double just_below(double number) {
  return std::nextafter(static_cast<float>(number), static_cast<float>(kLowestScore));
}

Status require_scores(std::span<const Shape> inputs, size_t input) {
  if (inputs[input].size() == 4) return require_extent(inputs, input, 3, 1, "as it is of rank 4");
  return require_rank(inputs, input, 3);
}

Detections detect(const Value& boxes, const Value& compared, const Value& all_scores, const Suppression& how) {
  Layers& layers = boxes.layers();
  Value scores = foreground(all_scores, how.background_class);
  if (how.ignores_classes && boxes.rank() == 4) {
    Suppression rest = how;
    rest.background_class = -1;
    return detect_all(boxes, compared, scores, rest);
  }
  Value best_class;
  if (how.ignores_classes) {  // a box suppresses itself under its other classes
    const TopK best = top_k(scores, 1, 2);
    scores = best.values;
    best_class = best.indices;  // [N, B, 1]
  }
  const Value by_class = transpose(scores, {0, 2, 1});
  const Value candidates = select(selection_mask(compared, scores, how) > 0.5, by_class, kLowestScore);
  const Extent batch = scores.extent(0), num_boxes = scores.extent(1);
  const Value flat = concat({reshape(candidates, {batch, scores.extent(2) * num_boxes}),
                             layers.full({batch, how.most}, kLowestScore, nv::DataType::kFLOAT)},
                            1);
  const TopK best = top_k(flat, how.most, 1);
  Detections found;
  found.valid = best.values > kLowestScore;
  const Value zero = layers.scalar(0, nv::DataType::kINT32, 2);
  const Value place = select(found.valid, best.indices, zero), count = max(num_boxes, 1).value(layers).i32();
  found.classes = floor_div(place, count);
  found.indices = place - found.classes * count;
  if (how.ignores_classes)
    found.classes =
        select(found.valid, squeeze(gather_nd(never_empty(best_class), unsqueeze(found.indices, {2}), 1), {2}), zero);
  found.scores = select(found.valid, best.values, 0);
  found.boxes = select(unsqueeze(found.valid, {2}), boxes_of(boxes, found.indices, found.classes), 0);
  found.count = sum(found.valid.i32(), {1});
  return found;
}

}  // namespace kiln::plugins
