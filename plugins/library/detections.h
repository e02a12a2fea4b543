/// Detections by non-maximum suppression, as dense tensors: what the NMS plugins have in common.
#pragma once

#include <limits>

#include "library/shape.h"
#include "library/value.h"

namespace kiln::plugins {

/// The score of what is no detection: no threshold is below it.
constexpr double kLowestScore = std::numeric_limits<float>::lowest();

struct Suppression {
  int64_t most = 100;           ///< detections of an image
  int64_t most_of_class = -1;   ///< of each class; -1: `most`
  int64_t candidates = -1;      ///< best scores of a class that are looked at; -1: all
  double iou_threshold = 0.5;   ///< boxes that overlap more go
  double score_threshold = -1;  ///< scores that are not above it go
  int64_t background_class = -1;
  bool ignores_classes = false;  ///< boxes of different classes suppress each other
};

/// What is detected in each image, the best first; 0 behind the last.
struct Detections {
  Value count;    ///< i32 [N, 1]
  Value boxes;    ///< [N, most, 4]
  Value scores;   ///< [N, most]
  Value classes;  ///< i32 [N, most]
  Value indices;  ///< i32 [N, most]: of boxes
  Value valid;    ///< bool [N, most]
};

/// Fails unless an input has the shape [N, B, C] or [N, B, C, 1].
Status require_scores(std::span<const Shape> inputs, size_t input);
/// boxes f32 [N, B, 4] or [N, B, C, 4] as two corners, scores f32 [N, B, C]. `compared`, of boxes' shape, are those
/// whose overlap counts.
Detections detect(const Value& boxes, const Value& compared, const Value& scores, const Suppression& how);

/// The greatest float below `number`: x > just_below(n) means x >= n.
double just_below(double number);

}  // namespace kiln::plugins
