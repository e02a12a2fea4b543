#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tensor/format.h"
#include "tensor/numeric.h"
#include "tensor/view.h"

namespace kiln {
namespace {

TEST(Numeric, EveryCodeRoundTrips) {
  for (int code = 0; code < 0x10000; ++code) {
    const auto bits = static_cast<uint16_t>(code);
    EXPECT_TRUE(std::isnan(half_to_float(bits)) || float_to_half(half_to_float(bits)) == bits) << code;
    EXPECT_TRUE(std::isnan(bfloat16_to_float(bits)) || float_to_bfloat16(bfloat16_to_float(bits)) == bits) << code;
  }
  for (int code = 0; code < 0x100; ++code) {
    const auto bits = static_cast<uint8_t>(code);
    EXPECT_TRUE((bits & 0x7f) == 0x7f || float_to_f8e4m3(f8e4m3_to_float(bits)) == bits) << code;
    EXPECT_TRUE(bits == 255 || float_to_e8m0(e8m0_to_float(bits)) == bits) << code;
    EXPECT_TRUE(code >= 16 || float_to_f4e2m1(f4e2m1_to_float(bits)) == bits) << code;
  }
}
TEST(Numeric, KnownAnswers) {
  EXPECT_EQ(f8e4m3_to_float(0x7e), 448.f);
  EXPECT_EQ(f8e4m3_to_float(0x01), std::ldexp(1.f, -9));
  EXPECT_EQ(f4e2m1_to_float(7), 6.f);
  EXPECT_EQ(float_to_f8e4m3(1e6f), 0x7e);
  EXPECT_EQ(float_to_e8m0(std::numeric_limits<float>::infinity()), 255);
  EXPECT_EQ(float_to_e8m0(3), 128);  // halfway between 2 and 4: down
  EXPECT_EQ(float_to_e8m0(-1), 0);
  EXPECT_EQ(float_to_bfloat16(1.00390625f), 0x3f80);  // halfway: to even
}

/// Halfway between two bfloats, and beside it by less than a float has digits for.
TEST(Numeric, DoublesAreRoundedOnce) {
  const double half = 1 + 0x1p-8;
  EXPECT_EQ(float_to_bfloat16(round_to_odd(half)), 0x3f80);  // to even
  EXPECT_EQ(float_to_bfloat16(round_to_odd(half + 0x1p-50)), 0x3f81);
  EXPECT_EQ(float_to_bfloat16(round_to_odd(3 * half - 2 - 0x1p-50)), 0x3f81);
  EXPECT_EQ(round_to_odd(-0.5), -0.5F);
  EXPECT_EQ(round_to_odd(1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(round_to_odd(-1e-60), -std::numeric_limits<float>::denorm_min());
  EXPECT_TRUE(std::isnan(round_to_odd(NAN)));
  std::byte stored[2];
  store_number(DType::kBF16, stored, 0, half + 0x1p-50);
  EXPECT_EQ(load_number(DType::kBF16, stored, 0), 1 + 0x1p-7);
}

TEST(Format, ChannelsLastStrides) {
  const Format nhwc = Format::channels_last(4);
  EXPECT_EQ(nhwc.strides(Extents{2, 3, 4, 5}), (Extents{60, 1, 15, 3}));
  EXPECT_TRUE(nhwc.is_channels_last());
  EXPECT_EQ(*Format::parse(nhwc.text()), nhwc);
  const Format blocked = Format::linear().blocked(1, 32);
  EXPECT_EQ(blocked.storage_volume(Extents{2, 3, 4}), 2 * 32 * 4);
}
TEST(Format, NothingIsStoredBesideAnExtentOfZero) {
  constexpr int64_t kHuge = int64_t{1} << 40;
  for (const Extents& x : {Extents{0, kHuge, kHuge, kHuge}, {kHuge, kHuge, kHuge, 0}})
    for (const Format& format : {Format(), Format::channels_last(4), Format::channels_last(4).blocked(1, 32)}) {
      EXPECT_EQ(format.storage_volume(x), 0) << format.text();
      if (format.is_blocked()) continue;
      EXPECT_EQ(format.strides(x).size(), x.size());
    }
}
TEST(Format, TextRoundTripsAndRejects) {
  const Format blocked = Format::channels_last(4).blocked(1, 8);
  EXPECT_EQ(*Format::parse(blocked.text()), blocked);
  for (const char* bad : {"", "[", "[0", "[0,1]", "[0, 0]", "[1, 2]", "[0, 1]:", "linear "})
    EXPECT_FALSE(Format::parse(bad)) << bad;
}

TEST(View, PackedNibbles) {
  const HostTensor t = HostTensor::of_ints(DType::kI4, {3}, std::vector<int64_t>{-8, 7, -1});
  EXPECT_EQ(t.bytes().size(), 2u);
  EXPECT_EQ(View(t).integers(), (std::vector<int64_t>{-8, 7, -1}));
}
TEST(Extents, OverflowIsAnError) {
  EXPECT_FALSE(checked_volume(Extents{int64_t{1} << 62, 4}));
  EXPECT_EQ(*checked_volume(Extents{int64_t{1} << 62, 4, 0}), 0);
  EXPECT_FALSE(checked_volume(Extents{-1}));
}

}  // namespace
}  // namespace kiln
