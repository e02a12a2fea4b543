#include "ops/non_max_suppression.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ops/box-inl.h"
#include "ops/define.h"

namespace kiln {
template const OpInfo& op_info<ops::NonMaxSuppression>();

namespace {

namespace exact = HWY_NAMESPACE;

exact::Box box_at(const View& boxes, int64_t at, BoxFormat format) {
  float numbers[4];
  for (int i = 0; i < 4; ++i) numbers[i] = static_cast<float>(boxes[at + i]);
  return exact::box_of(numbers, format == BoxFormat::kCenterSizes);
}

/// The numbers that say which boxes are selected.
struct Limits {
  int64_t most;
  float iou;
  std::optional<float> score;
};

Result<std::optional<double>> number_of(const ReferenceContext& cx, int input) {
  if (!cx.has_input(input)) return std::nullopt;
  return TRY(cx.input(input))[0];
}

Result<Limits> limits_of(const ReferenceContext& cx) {
  const std::optional<double> iou = TRY(number_of(cx, 3)), score = TRY(number_of(cx, 4));
  const int64_t most = cx.has_input(2) ? TRY(cx.input(2)).integer(0) : 0;  // INT64_MAX is no double
  const Limits limits{std::max<int64_t>(most, 0), static_cast<float>(iou.value_or(0)),
                      score ? std::optional(static_cast<float>(*score)) : std::nullopt};
  TRY(require(limits.iou >= 0 && limits.iou <= 1, "iou_threshold is ", limits.iou, ", outside [0, 1]"));
  return limits;
}

/// Appends the boxes that are selected of one class of one image.
void select(const ops::NonMaxSuppression& op, const Limits& limits, const View& boxes, const View& scores,
            int64_t image, int64_t category, std::vector<int64_t>& selected) {
  const int64_t n = scores.extents()[1], c = scores.extents()[2];
  const int64_t of_class = boxes.rank() == 4 ? boxes.extents()[2] : 1;
  const auto score = [&](int64_t i) { return static_cast<float>(scores[(image * n + i) * c + category]); };
  std::vector<int64_t> order;
  for (int64_t i = 0; i < n; ++i)
    if (limits.score ? score(i) > *limits.score : !std::isnan(score(i))) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), score);
  if (op.candidates >= 0 && std::ssize(order) > op.candidates) order.resize(static_cast<size_t>(op.candidates));
  std::vector<exact::Box> kept;
  for (const int64_t i : order) {
    if (std::ssize(kept) >= limits.most) return;
    const exact::Box box = box_at(boxes, ((image * n + i) * of_class + (of_class == 1 ? 0 : category)) * 4, op.format);
    if (std::ranges::any_of(kept, [&](const exact::Box& other) { return exact::overlap(box, other, limits.iou); }))
      continue;
    kept.push_back(box);
    selected.insert(selected.end(), {image, category, i});
  }
}

Status check_number(InferContext& cx, int input, std::string_view name, bool is_count) {
  if (!cx.has_input(input)) return {};
  const TensorType& type = TRY(cx.input(input));
  TRY(cx.require(is_count ? is_index(type.dtype) : is_float(type.dtype), name, " is ", type, "; ",
                 is_count ? "i32 or i64" : "a float", " needed"));
  return cx.assume_equal(sym::product(type.shape), 1, str("elements of ", name));
}

}  // namespace

namespace ops {

Status NonMaxSuppression::infer(InferContext& cx) const {
  const TensorType& boxes = TRY(cx.input(0));
  const TensorType& scores = TRY(cx.input(1));
  TRY(cx.require(is_float(boxes.dtype) && boxes.dtype == scores.dtype, "boxes are ", boxes, " and scores ", scores,
                 "; one float type needed"));
  TRY(cx.require((boxes.rank() == 3 || boxes.rank() == 4) && scores.rank() == 3, "boxes are ", boxes, " and scores ",
                 scores, "; [b, n, 4] or [b, n, c, 4], and [b, n, c] needed"));
  TRY(cx.require(is_index(indices), "indices would be ", indices, "; i32 or i64 needed"));
  for (size_t axis = 0; axis < 2; ++axis)
    TRY(cx.assume_equal(boxes.shape[axis], scores.shape[axis], str("axis ", axis, " of boxes and scores")));
  if (boxes.rank() == 4) TRY(cx.assume_one_or(boxes.shape[2], scores.shape[2], "classes of boxes and scores"));
  TRY(cx.assume_equal(boxes.shape.back(), 4, "the numbers of a box"));
  TRY(check_number(cx, 2, "most", true));
  TRY(check_number(cx, 3, "iou_threshold", false));
  TRY(check_number(cx, 4, "score_threshold", false));
  sym::Expr of_class = scores.shape[1];
  if (candidates >= 0) of_class = sym::min(of_class, candidates);
  if (!cx.has_input(2)) of_class = 0;
  if (cx.has_values(2)) of_class = sym::min(of_class, sym::max(TRY(cx.values(2))[0], 0));
  const sym::Expr s = cx.decided_size("selected", scores.shape[0] * scores.shape[2] * of_class);
  TRY(cx.set_output(0, {indices, {s, 3}}));
  return cx.set_output(1, TensorType(DType::kI32, {}, SymbolicValues{s}));
}

Status NonMaxSuppression::reference(ReferenceContext& cx) const {
  const View boxes = TRY(cx.input(0)), scores = TRY(cx.input(1));
  const Limits limits = TRY(limits_of(cx));
  std::vector<int64_t> selected;
  for (int64_t image = 0; image < scores.extents()[0]; ++image)
    for (int64_t category = 0; category < scores.extents()[2]; ++category)
      select(*this, limits, boxes, scores, image, category, selected);
  const int64_t s = std::ssize(selected) / 3;
  cx.set_size(0, s);
  const MutableView y = TRY(cx.output(0, Extents{s, 3}));
  for (size_t i = 0; i < selected.size(); ++i) y.set_integer(static_cast<int64_t>(i), selected[i]);
  TRY(cx.output(1)).set_integer(0, s);
  return {};
}

}  // namespace ops
}  // namespace kiln
