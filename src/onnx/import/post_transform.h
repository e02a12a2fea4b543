/// Attribute post_transform of ai.onnx.ml: what is done to the scores of a model at last.
#pragma once

#include "onnx/import/compose.h"

namespace kiln::onnx {

/// In the order of TreeEnsemble's numbers.
enum class PostTransform : uint8_t { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };
inline constexpr int64_t kNumPostTransforms = 5;

/// The attribute where it is a name; none is NONE.
Result<PostTransform> post_transform_of(ImportContext& cx);

/// Scores [rows, classes or targets], transformed.
Result<ValueId> post_transformed(ImportContext& cx, ValueId scores, PostTransform by);

/// How a classifier of two classes with one score makes the other's.
enum class OtherScore : uint8_t {
  kRest,     ///< 1 - score: scores are shares
  kNegative  ///< -score
};
/// The scores of two classes, [rows, 2], by that of the second, [rows, 1]. The specification does not say what they
/// are: as ONNX Runtime has it, LOGISTIC is applied to the score and its negative, and SOFTMAX and SOFTMAX_ZERO do
/// nothing.
Result<ValueId> two_scores(ImportContext& cx, ValueId score, OtherScore other, PostTransform by);

}  // namespace kiln::onnx
