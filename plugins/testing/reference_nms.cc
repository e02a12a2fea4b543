#include "testing/reference_nms.h"

#include <algorithm>
#include <map>

namespace kiln::plugins::testing {
namespace {

double area(const Box& box, double larger_by) {
  return std::max(0.0, box[2] - box[0] + larger_by) * std::max(0.0, box[3] - box[1] + larger_by);
}

double overlap(const Box& a, const Box& b, double larger_by) {
  const Box both{std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])};
  const double common = area(both, larger_by);
  const double all = area(a, larger_by) + area(b, larger_by) - common;
  return all > 0 ? common / all : 0;
}

}  // namespace

std::vector<Candidate> suppress(std::vector<Candidate> candidates, const NmsRules& rules) {
  std::ranges::stable_sort(candidates, std::ranges::greater{}, &Candidate::score);
  std::vector<Candidate> kept;
  std::map<int, int> of_class;
  for (const Candidate& one : candidates) {
    const bool goes = std::ranges::any_of(kept, [&](const Candidate& other) {
      if (!rules.ignores_classes && other.box_class != one.box_class) return false;
      const double shared = overlap(one.box, other.box, rules.larger_by);
      return shared > rules.iou_threshold || (rules.touches_at_threshold && shared == rules.iou_threshold);
    });
    if (goes || of_class[one.box_class] >= rules.most_of_class) continue;
    ++of_class[one.box_class];
    kept.push_back(one);
  }
  if (kept.size() > static_cast<size_t>(rules.most)) kept.resize(static_cast<size_t>(rules.most));
  return kept;
}

Tensor overlapping_boxes(int64_t images, int64_t boxes, int64_t per_place, int seed) {
  const Tensor centres = noise({images, boxes, per_place, 2}, seed),
               sizes = noise({images, boxes, per_place, 2}, seed + 1);
  Tensor result{{images, boxes, per_place, 4}, {}};
  for (size_t i = 0; i < centres.values.size(); i += 2) {
    const double y = 0.5 + 0.25 * centres.values[i], x = 0.5 + 0.25 * centres.values[i + 1];
    const double h = 0.15 + 0.1 * sizes.values[i], w = 0.15 + 0.1 * sizes.values[i + 1];
    for (const double value : {y - h, x - w, y + h, x + w}) result.values.push_back(value);
  }
  return result;
}

Box box_at(const Tensor& boxes, size_t index) {
  return {boxes.values[4 * index], boxes.values[4 * index + 1], boxes.values[4 * index + 2],
          boxes.values[4 * index + 3]};
}

}  // namespace kiln::plugins::testing
