#include "steps/window.h"

#include <gtest/gtest.h>

namespace kiln::steps {
namespace {

/// A window as a backend's kernels take it.
struct Bound {
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1},
          pad[3] = {0, 0, 0};
};

const Window kSquare{{3, 3}, {2, 2}, {1, 1}, {1, 1}};

TEST(Window, SaysWhatIsWrong) {
  EXPECT_TRUE(kSquare.check());
  const auto refused = [](auto change) {
    Window window = kSquare;
    change(window);
    const Status status = window.check();
    return status ? "nothing" : status.error().message;
  };
  EXPECT_EQ(refused([](Window& w) { w.strides = {2}; }), "a window has 2 axes with 1 strides, 2 dilations and 2 pads");
  EXPECT_EQ(refused([](Window& w) {
              w = {{1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {0, 0, 0, 0}};
            }),
            "a window has 4 axes with 4 strides, 4 dilations and 4 pads");
  EXPECT_EQ(refused([](Window& w) {
              w.dilations = {1, 0};
            }),
            "a window has a kernel, strides or dilations of [1, 0]; 1 to 2^30 - 1 are possible");
  EXPECT_EQ(refused([](Window& w) { w.pads = {-1, 0}; }), "a window reaches over 3 elements from a pad of -1");
  EXPECT_EQ(refused([](Window& w) { w.kernel[0] = w.dilations[0] = 1 << 20; }),
            "a window reaches over 1099510579201 elements from a pad of 1");
  EXPECT_EQ(refused([](Window& w) { w.same_upper = w.same_lower = true; }),
            "a window's pads are rounded both up and down");
}

TEST(Window, TakesExtentsThatKernelsCount) {
  EXPECT_TRUE(kSquare.check({1, 8, 9, 9}, {1, 4, 5, 5}));
  EXPECT_FALSE(kSquare.check({1, 8, 9}, {1, 4, 5}));
  EXPECT_FALSE(kSquare.check({1, 8, 9, 9}, {2, 4, 5, 5}));
  EXPECT_FALSE(kSquare.check({1, 8, 9, int64_t{1} << 31}, {1, 4, 5, 5}));
  EXPECT_FALSE(kSquare.check({1, 8, 9, 9}, {1, 4, 5, int64_t{1} << 30}));
}

TEST(Window, PadsAsSameRoundingImplies) {
  Window window{{4}, {1}, {1}, {0}};
  const auto pad = [&] { return window.bind<Bound>(Extents{1, 1, 8}, Extents{1, 1, 8}).pad[2]; };
  EXPECT_EQ(pad(), 0);
  window.same_upper = true;  // 3 elements are lacking: 1 goes in front
  EXPECT_EQ(pad(), 1);
  EXPECT_EQ(window.bind<Bound>({}, {}).pad[2], 0);  // extents decide it
  window.same_upper = false, window.same_lower = true;
  EXPECT_EQ(pad(), 2);
  window.strides = {3};
  EXPECT_EQ(window.bind_transposed<Bound>({}, {}).pad[2], 1);  // 4 - 3 elements are cut off
  window.strides = {5};
  EXPECT_EQ(window.bind_transposed<Bound>({}, {}).pad[2], 0);
}

TEST(Window, LiesInTheLastAxes) {
  const Bound bound = kSquare.bind<Bound>(Extents{1, 8, 9, 7}, Extents{1, 4, 5, 4});
  EXPECT_EQ(bound.in[0], 1);
  EXPECT_EQ(bound.in[1], 9);
  EXPECT_EQ(bound.out[2], 4);
  EXPECT_EQ(bound.stride[0], 1);
  EXPECT_EQ(bound.stride[2], 2);
}

TEST(Window, Abuts) {
  EXPECT_TRUE((Window{{2, 2}, {2, 2}, {1, 1}, {0, 0}}).abuts());
  EXPECT_FALSE(kSquare.abuts());
  EXPECT_TRUE(Window().is_point());
  EXPECT_FALSE(kSquare.is_point());
}

}  // namespace
}  // namespace kiln::steps
