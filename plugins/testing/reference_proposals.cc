#include "testing/reference_proposals.h"

#include <algorithm>
#include <cmath>

namespace kiln::plugins::testing {
namespace {

/// One axis of a box.
std::pair<double, double> moved(double centre, double size, double by, double growth, double image) {
  const double half = size * std::exp(growth) / 2, middle = centre + by * size;
  return {std::clamp(middle - half, 0.0, image - 1), std::clamp(middle + half, 0.0, image - 1)};
}

}  // namespace

std::vector<double> best_proposals(const Proposals& how, int64_t n, const Tensor& scores, const Tensor& deltas) {
  const auto num_anchors = std::ssize(how.anchors);
  const int64_t height = scores.extents[2], width = scores.extents[3], plane = height * width;
  std::vector<Candidate> boxes;
  for (int64_t a = 0; a < num_anchors; ++a)
    for (int64_t p = 0; p < plane; ++p) {
      const auto delta = [&](int64_t k) {
        return deltas.values[static_cast<size_t>(((n * num_anchors + a) * 4 + k) * plane + p)];
      };
      const auto& [anchor_width, anchor_height] = how.anchors[static_cast<size_t>(a)];
      const auto column = static_cast<double>(p % width), row = static_cast<double>(p / width);
      const auto [x1, x2] = moved(how.first + column * how.stride, anchor_width, delta(0), delta(2), how.image_width);
      const auto [y1, y2] = moved(how.first + row * how.stride, anchor_height, delta(1), delta(3), how.image_height);
      const double score = scores.values[static_cast<size_t>((n * num_anchors + a) * plane + p)];
      const double side = std::min(x2 - x1, y2 - y1);
      const bool is_small = side < how.least_side || (how.least_is_small && side == how.least_side);
      boxes.push_back({is_small ? -INFINITY : score, 0, 0, {x1, y1, x2, y2}});
    }
  std::ranges::stable_sort(boxes, std::ranges::greater{}, &Candidate::score);
  boxes.resize(std::min(boxes.size(), how.candidates));
  std::vector<double> best;
  for (const Candidate& one : suppress(
           boxes, {.iou_threshold = how.iou_threshold, .most = how.most, .most_of_class = how.most, .larger_by = 1}))
    best.insert(best.end(), one.box.begin(), one.box.end());
  best.resize(static_cast<size_t>(how.most) * 4);
  return best;
}

}  // namespace kiln::plugins::testing
