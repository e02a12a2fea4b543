#include "backend/cpu/kernels/copy/copy.h"
#include "backend/cpu/kernels/movement_testing.h"

namespace kiln::cpu {
namespace {

/// The place of an element in a format, by the format's definition.
int64_t place(const Format& format, const Extents& extents, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (int position = 0; position < static_cast<int>(extents.size()); ++position) {
    const int axis = format.axis_at(position);
    const auto i = static_cast<size_t>(axis);
    const bool blocked = format.is_blocked() && axis == format.block_axis();
    at = blocked ? at * ((extents[i] + format.block() - 1) / format.block()) + index[i] / format.block()
                 : at * extents[i] + index[i];
  }
  if (!format.is_blocked()) return at;
  return at * format.block() + index[static_cast<size_t>(format.block_axis())] % format.block();
}

TEST(CopyReformat, BetweenAnyTwoFormats) {
  const Extents extents = {2, 19, 5, 4};
  const Format formats[] = {Format::linear(), Format::channels_last(4), Format::linear().blocked(1, 8),
                            Format::channels_last(4).blocked(1, 8)};
  const HostTensor zeros = HostTensor::of_ints(DType::kI64, {2}, std::vector<int64_t>{0, 0});
  Team team(2);
  for (const Format& from : formats)
    for (const Format& to : formats) {
      SCOPED_TRACE(str(from, " to ", to));
      std::vector<float> source(static_cast<size_t>(from.storage_volume(extents)), -1);
      std::vector<float> want(static_cast<size_t>(to.storage_volume(extents)), 0);
      std::vector<float> got(want.size(), -2);
      std::vector<int64_t> index(4, 0);
      for (int64_t n = 0; n < volume(extents); ++n) {
        source[static_cast<size_t>(place(from, extents, index))] = static_cast<float>(n + 1);
        want[static_cast<size_t>(place(to, extents, index))] = static_cast<float>(n + 1);
        for (size_t i = 4; i-- > 0;) {
          if (++index[i] < extents[i]) break;
          index[i] = 0;
        }
      }
      const void* sources[] = {source.data(), zeros.bytes().data()};
      run_copy(team, plan_reformat(4, extents, from, to), sources, got.data());
      EXPECT_EQ(got, want);
    }
}

}  // namespace
}  // namespace kiln::cpu
