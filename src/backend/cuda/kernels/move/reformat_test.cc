#include "backend/cuda/kernels/move/reformat.h"

#include <gtest/gtest.h>

#include <numeric>

namespace kiln::cuda {
namespace {

/// The place of an element in a format, from the format's definition.
int64_t place_of(const Format& format, const Extents& extents, const Extents& index) {
  int64_t place = 0;
  for (int i = 0; i < std::ssize(extents); ++i) {
    const int axis = format.axis_at(i);
    const auto at = static_cast<size_t>(axis);
    const int block = axis == format.block_axis() ? format.block() : 1;
    place = place * ((extents[at] + block - 1) / block) + index[at] / block;
  }
  return format.is_blocked() ? place * format.block() + index[static_cast<size_t>(format.block_axis())] % format.block()
                             : place;
}

bool next(Extents& index, const Extents& extents) {
  for (size_t axis = extents.size(); axis-- > 0; index[axis] = 0)
    if (++index[axis] < extents[axis]) return true;
  return false;
}

/// Runs copies on the host, over numbered elements.
void expect_reformats(const Extents& extents, const Format& from, const Format& to) {
  const std::string what = str(from, " to ", to, " of ", extents);
  ASSERT_TRUE(check_reformat(static_cast<int>(extents.size()), from, to)) << what;
  std::vector<int64_t> x(static_cast<size_t>(from.storage_volume(extents))),
      y(static_cast<size_t>(to.storage_volume(extents)), -1);
  std::iota(x.begin(), x.end(), 0);
  int64_t moved = 0;
  for (const StridedCopy& copy : reformat_copies(extents, from, to)) {
    Extents index(copy.extents.size());
    do {
      int64_t source = copy.from_offset, target = copy.to_offset;
      for (size_t i = 0; i < index.size(); ++i) source += index[i] * copy.from[i], target += index[i] * copy.to[i];
      y.at(static_cast<size_t>(target)) = x.at(static_cast<size_t>(source));
      ++moved;
    } while (next(index, copy.extents));
  }
  EXPECT_EQ(moved, volume(extents)) << what;
  Extents index(extents.size());
  do {
    ASSERT_EQ(y[static_cast<size_t>(place_of(to, extents, index))], place_of(from, extents, index)) << what;
  } while (next(index, extents));
}

TEST(Reformat, MovesBetweenBlockedFormats) {
  const Format linear = Format::linear(), last = Format::channels_last(4);
  const Format rows = Format::linear();
  for (const int64_t channels : {1, 3, 4, 8, 19, 32, 45, 64})
    for (const Format& from : {linear, last, rows.blocked(1, 4), rows.blocked(1, 32), last.blocked(1, 8)})
      for (const Format& to : {linear, last, rows.blocked(1, 4), rows.blocked(1, 32), last.blocked(1, 8)})
        expect_reformats({2, channels, 3, 5}, from, to);
  expect_reformats({1, 11, 2, 3, 4}, Format::channels_last(5).blocked(1, 8), linear);
}

TEST(Reformat, RefusesBlocksThatDoNotFit) {
  const Format linear = Format::linear();
  EXPECT_TRUE(check_reformat(4, linear.blocked(1, 8), linear));
  EXPECT_FALSE(check_reformat(4, linear.blocked(1, 8), linear.blocked(2, 8)));
  EXPECT_FALSE(check_reformat(4, linear.blocked(1, 6), linear.blocked(1, 4)));
  EXPECT_FALSE(check_reformat(4, linear.blocked(4, 8), linear));
  EXPECT_FALSE(check_reformat(3, Format::channels_last(4), linear));
  EXPECT_FALSE(check_reformat(7, linear.blocked(1, 8), linear));
}

}  // namespace
}  // namespace kiln::cuda
