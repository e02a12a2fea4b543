#include "models/detections.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

namespace kiln::conformance {
namespace {

constexpr double kLeastScore = 0.3, kMostOverlap = 0.45;

double overlap(const Detection& a, const Detection& b) {
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0),
               height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  if (width <= 0 || height <= 0) return 0;
  const auto area = [](const Detection& d) { return (d.x1 - d.x0) * (d.y1 - d.y0); };
  const double shared = width * height;
  return shared / (area(a) + area(b) - shared);
}

std::vector<Detection> without_overlaps(std::vector<Detection> found) {
  std::ranges::sort(found, [](const Detection& a, const Detection& b) { return a.score > b.score; });
  std::vector<Detection> kept;
  for (const Detection& d : found)
    if (std::ranges::none_of(kept,
                             [&](const Detection& k) { return k.label == d.label && overlap(k, d) > kMostOverlap; }))
      kept.push_back(d);
  return kept;
}

const Tensor* find(const std::vector<Tensor>& tensors, std::string_view name) {
  const auto found = std::ranges::find(tensors, name, &Tensor::name);
  return found == tensors.end() ? nullptr : &*found;
}

/// The three outputs of a selection.
struct Selection {
  const Tensor *indices = nullptr, *boxes = nullptr, *scores = nullptr;
};

Result<Selection> selection_of(const std::vector<Tensor>& outputs) {
  const Selection found{find(outputs, "selected_indices"), find(outputs, "selected_boxes"),
                        find(outputs, "selected_scores")};
  TRY(require(found.indices && found.boxes && found.scores, "there are no outputs of selected boxes"));
  const int64_t rows = found.scores->num_elements();
  TRY(require(found.scores->dims == std::vector<int64_t>{rows} &&
                  found.indices->dims == std::vector<int64_t>{rows, 3} &&
                  found.boxes->dims == std::vector<int64_t>{rows, 4},
              "selected indices ", *found.indices, ", boxes ", *found.boxes, " and scores ", *found.scores,
              " do not fit each other"));
  return found;
}

Tensor with_rows(const Tensor& tensor, const std::vector<int64_t>& rows) {
  Tensor picked{tensor.name, tensor.type, tensor.dims, {}};
  const auto row_bytes = static_cast<std::ptrdiff_t>(tensor.bytes.size() / std::max<size_t>(rows.size(), 1));
  for (const int64_t row : rows) {
    const auto begin = tensor.bytes.begin() + row * row_bytes;
    picked.bytes.insert(picked.bytes.end(), begin, begin + row_bytes);
  }
  return picked;
}

}  // namespace

bool is_selection(const std::vector<Tensor>& outputs) { return selection_of(outputs).has_value(); }

Result<std::vector<Detection>> decode_selection(const std::vector<Tensor>& outputs) {
  const Selection selection = TRY(selection_of(outputs));
  std::vector<Detection> found;
  for (int64_t i = 0; i < selection.scores->num_elements(); ++i) {
    const auto corner = [&](int64_t k) { return number_at(*selection.boxes, 4 * i + k); };
    const auto label = static_cast<int64_t>(number_at(*selection.indices, 3 * i + 1));
    found.push_back({label, number_at(*selection.scores, i), corner(0), corner(1), corner(2), corner(3)});
  }
  return found;
}

Result<std::vector<Tensor>> sorted_selection(const std::vector<Tensor>& outputs) {
  const Selection selection = TRY(selection_of(outputs));
  std::vector<int64_t> rows(static_cast<size_t>(selection.scores->num_elements()));
  std::iota(rows.begin(), rows.end(), 0);
  std::ranges::sort(rows, {}, [&](int64_t row) {
    const auto index = [&](int64_t k) { return number_at(*selection.indices, 3 * row + k); };
    return std::tuple(index(0), index(1), index(2));
  });
  return std::vector{with_rows(*selection.indices, rows), with_rows(*selection.boxes, rows),
                     with_rows(*selection.scores, rows)};
}

Result<std::vector<Detection>> decode_grid_detections(const Tensor& raw) {
  // Cells of a square input of side s: (s / 8)^2 + (s / 16)^2 + (s / 32)^2 = 21 (s / 32)^2.
  TRY(require(raw.dims.size() == 3 && raw.dims[0] == 1 && raw.dims[1] % 21 == 0 && raw.dims[2] > 5, "output '",
              raw.name, "' is no grid of detections"));
  const auto coarse = static_cast<int64_t>(std::lround(std::sqrt(static_cast<double>(raw.dims[1] / 21))));
  TRY(require(21 * coarse * coarse == raw.dims[1], "output '", raw.name, "' has ", raw.dims[1],
              " cells, which no square input gives"));
  const int64_t width = raw.dims[2];
  std::vector<Detection> found;
  int64_t cell = 0;
  for (const int stride : {8, 16, 32}) {
    const int64_t side = coarse * (32 / stride);
    for (int64_t i = 0; i < side * side; ++i, ++cell) {
      const auto at = [&](int64_t k) { return number_at(raw, cell * width + k); };
      Detection d;
      for (int64_t c = 0; c < width - 5; ++c)
        if (const double score = at(4) * at(5 + c); score > d.score) d.score = score, d.label = c;
      if (d.score < kLeastScore) continue;
      const double x = (at(0) + static_cast<double>(i % side)) * stride,
                   y = (at(1) + static_cast<double>(i / side)) * stride, w = std::exp(at(2)) * stride,
                   h = std::exp(at(3)) * stride;
      d.x0 = x - w / 2, d.y0 = y - h / 2, d.x1 = x + w / 2, d.y1 = y + h / 2;
      found.push_back(d);
    }
  }
  return without_overlaps(std::move(found));
}

Status compare_detections(const std::vector<Detection>& actual, const std::vector<Detection>& expected, double iou,
                          double score) {
  const auto match = [&](const Detection& wanted, const std::vector<Detection>& among) {
    return std::ranges::any_of(among, [&](const Detection& d) {
      return d.label == wanted.label && overlap(d, wanted) >= iou && std::abs(d.score - wanted.score) <= score;
    });
  };
  const auto check = [&](const std::vector<Detection>& wanted, const std::vector<Detection>& among,
                         std::string_view what) -> Status {
    for (const Detection& d : wanted)
      if (d.score >= kLeastScore + score)
        TRY(require(match(d, among), what, " class ", d.label, " with score ", d.score, " at [", d.x0, ", ", d.y0, ", ",
                    d.x1, ", ", d.y1, "]"));
    return {};
  };
  TRY(check(expected, actual, "missed"));
  TRY(check(actual, expected, "wrongly saw"));
  return require(!expected.empty(), "nothing is expected to be seen");
}

}  // namespace kiln::conformance
