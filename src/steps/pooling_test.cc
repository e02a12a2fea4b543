#include "steps/pooling.h"

#include <gtest/gtest.h>

namespace kiln {
namespace {

std::string error_of(const Status& status) { return status ? "" : status.error().message; }

TEST(Pooling, SaysWhatIsWrong) {
  steps::Pooling step{.window = {.kernel = {3}, .strides = {2}, .dilations = {1}, .pads = {1}}, .post_pads = {1}};
  EXPECT_EQ(error_of(step.check()), "");
  const auto shapes_error = [&](const std::vector<Extents>& x, const std::vector<Extents>& y) {
    return error_of(AnyStep(step).check({}, {.inputs = x, .outputs = y, .params = {}}));
  };
  EXPECT_EQ(shapes_error({{2, 8, 10}}, {{2, 8, 5}}), "");
  EXPECT_EQ(shapes_error({{2, 8, 10}}, {{2, 4, 5}}),
            "a pooling of [2, 8, 10] cannot make [2, 4, 5]: the channels differ");
  EXPECT_NE(shapes_error({{2, 8, 10, 1}}, {{2, 8, 5, 1}}), "") << "a window has an axis a spatial axis";
  step.post_pads = {1, 1};
  EXPECT_EQ(error_of(step.check()), "a pooling has 2 post pads for 1 axes");
  step.post_pads = {int64_t{1} << 30};
  EXPECT_EQ(error_of(step.check()), "a pooling has post pads [1073741824]; they must be below 2^30");
}

TEST(Pooling, SamePadsUntilEveryWindowHasWhatItReads) {
  steps::Pooling step{.window = {.kernel = {3}, .strides = {2}, .dilations = {1}, .pads = {0}}, .post_pads = {7}};
  const Extents x{1, 1, 10}, y{1, 1, 5};
  EXPECT_EQ(step.pad_after(0, x, y, 0), 7) << "as it says";
  step.window.same_upper = true;
  EXPECT_EQ(step.pad_after(0, x, y, 0), 1) << "the last window reads 8, 9 and 10";
  EXPECT_EQ(step.pad_after(0, x, y, 1), 0);
}

}  // namespace
}  // namespace kiln
