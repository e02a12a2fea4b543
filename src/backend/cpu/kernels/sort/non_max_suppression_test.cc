#include "backend/cpu/kernels/sort/non_max_suppression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backend/cpu/kernels/lanes/testing.h"
#include "ops/reference_context.h"
#include "tensor/view.h"

namespace kiln::cpu {
namespace {

HostTensor tensor(DType dtype, const Extents& extents, const TestTensor& elements) {
  HostTensor::Fresh fresh = HostTensor::make(dtype, extents).value();
  std::copy(elements.bytes.begin(), elements.bytes.end(), fresh.data.begin());
  return fresh.tensor;
}

struct Numbers {
  int64_t images = 1, boxes = 1, classes = 1;
  int64_t most = 1 << 20;
  float iou = 0.5f;
  std::optional<float> score;
  int64_t candidates = -1;
  BoxFormat format = BoxFormat::kCorners;
  DType dtype = DType::kF32;
  bool by_class = false, wide = true;
};

/// Boxes of which many overlap; scores of which many are equal, and some NaN or infinite.
void check(const Numbers& n, int threads = 3) {
  SCOPED_TRACE(str(n.images, 'x', n.boxes, 'x', n.classes, " most ", n.most, " iou ", n.iou, ' ', name_of(n.dtype)));
  const Extents of_boxes = n.by_class ? Extents{n.images, n.boxes, n.classes, 4} : Extents{n.images, n.boxes, 4};
  const Extents of_scores{n.images, n.boxes, n.classes};
  TestTensor boxes = TestTensor::random(n.dtype, volume(of_boxes), 1, 2.0f, 1.0f);
  TestTensor scores = TestTensor::random(n.dtype, volume(of_scores), 2, 1.0f, 0.0f);
  for (int64_t i = 0; i < volume(of_scores); ++i) {
    if (i % 3 == 0) scores.set(i, std::round(scores[i] * 4) / 4);
    if (i % 41 == 0) scores.set(i, i % 2 ? NAN : INFINITY);
  }
  for (int64_t i = 0; i < volume(of_boxes); i += 97) boxes.set(i, i % 2 ? NAN : boxes[i + 1]);
  const ops::NonMaxSuppression op{
      .format = n.format, .candidates = n.candidates, .indices = n.wide ? DType::kI64 : DType::kI32};
  const HostTensor inputs[] = {tensor(n.dtype, of_boxes, boxes), tensor(n.dtype, of_scores, scores),
                               HostTensor::of_ints(DType::kI64, {}, std::vector<int64_t>{n.most}),
                               HostTensor::of(DType::kF32, {}, std::vector<double>{n.iou}),
                               HostTensor::of(DType::kF32, {}, std::vector<double>{n.score.value_or(0)})};
  const auto wanted = run_reference(op, std::span(inputs).first(n.score ? 5 : 4));
  ASSERT_TRUE(wanted) << wanted.error().message;
  const HostTensor& all = (*wanted)[0];
  const Extents shapes[] = {of_boxes, of_scores}, outputs[] = {all.extents(), {}};
  const NonMaxSuppressionShape shape{
      .sizes = steps::NonMaxSuppression{op}.sizes({.inputs = shapes, .outputs = outputs, .params = {}}),
      .dtype = n.dtype,
      .format = n.format,
      .wide_indices = n.wide};
  std::vector<std::byte> found(all.bytes().size());
  Team team(threads);
  const TestWorkspace workspace(non_max_suppression_workspace(team, shape));
  const int64_t count = non_max_suppression(team, shape, {.most = n.most, .iou = n.iou, .score = n.score}, boxes.data(),
                                            scores.data(), found.data(), static_cast<std::byte*>(workspace.data()));
  ASSERT_EQ(count, all.extents()[0]);
  EXPECT_TRUE(std::ranges::equal(found, all.bytes()));
}

TEST(NonMaxSuppressionKernel, AgreesWithReference) {
  for_each_target([] {
    for (const float iou : {0.0f, 0.3f, 0.5f, 1.0f})
      for (const std::optional<float> score : {std::optional<float>(), std::optional(0.25f)})
        for (const DType dtype : kFloatTypes) {
          check({.boxes = 500, .iou = iou, .score = score, .dtype = dtype});
          check({.images = 2, .boxes = 90, .classes = 21, .most = 7, .iou = iou, .score = score, .dtype = dtype});
        }
  });
}
TEST(NonMaxSuppressionKernel, BoxesByClassAndFormats) {
  for_each_target([] {
    for (const BoxFormat format : {BoxFormat::kCorners, BoxFormat::kCenterSizes})
      for (const bool wide : {false, true}) {
        check({.images = 2, .boxes = 60, .classes = 18, .format = format, .by_class = true, .wide = wide});
        check({.boxes = 60, .classes = 16, .candidates = 11, .format = format, .wide = wide});
      }
  });
}
TEST(NonMaxSuppressionKernel, LongLists) {
  for_each_target([] {
    check({.boxes = 4420, .most = 200});
    check({.boxes = 4420, .iou = 0.1f, .candidates = 3000});
    check({.boxes = 1500, .classes = 2, .iou = 0.05f}, 1);
  });
}
TEST(NonMaxSuppressionKernel, Nothing) {
  check({.boxes = 0});
  check({.images = 0, .boxes = 5});
  check({.boxes = 5, .classes = 0});
  check({.boxes = 5, .most = 0});
  check({.boxes = 5, .score = INFINITY});
  check({.boxes = 5, .score = NAN});
}
TEST(NonMaxSuppressionKernel, WritesNothingWhereThereIsNoRoom) {
  const std::vector<float> boxes{0, 0, 1, 1, 5, 5, 6, 6}, scores{1, 2};
  std::vector<int64_t> selected(6, -7);
  const NonMaxSuppressionShape shape{.sizes = {.images = 1, .boxes = 2, .classes = 1, .candidates = 2, .room = 1}};
  Team team(1);
  const TestWorkspace workspace(non_max_suppression_workspace(team, shape));
  EXPECT_EQ(non_max_suppression(team, shape, {.most = 9}, boxes.data(), scores.data(), selected.data(),
                                static_cast<std::byte*>(workspace.data())),
            2);
  EXPECT_EQ(selected, std::vector<int64_t>(6, -7));
}

}  // namespace
}  // namespace kiln::cpu
