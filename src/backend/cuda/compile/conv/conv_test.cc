#include "backend/cuda/compile/conv/conv.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "backend/cuda/compile/compiler.h"
#include "backend/cuda/kernels/conv/depthwise.h"
#include "backend/cuda/kernels/conv/halo.h"
#include "backend/cuda/kernels/conv/im2col.h"
#include "backend/cuda/kernels/conv/pieces.h"
#include "backend/cuda/kernels/conv/simt.h"
#include "backend/cuda/kernels/conv/stem.h"

namespace kiln::cuda {
namespace {

ConvTraits traits(DType type, FilterExtents filter, int64_t pixels) {
  return {ContractionTypes::all(type), filter, true, true, false, pixels};
}
/// The family's kernels that are worth timing, the likeliest first.
template <class T>
std::vector<T> kernels_of(const ConvTraits& t) {
  std::vector<T> found;
  for (const ConvCandidate& c : conv_candidates(t, {}))
    if (const T* kernel = c.kernel.as<T>()) found.push_back(*kernel);
  return found;
}
/// A kernel as it is read from a plan.
Result<ConvKernel> read_again(const ConvKernel& kernel) {
  const FieldType& type = field_type(Tag<ConvKernel>());
  ConvKernel read;
  TRY(type.from_datum(&read, type.to_datum(&kernel)));
  EXPECT_TRUE(type.equal(&read, &kernel));
  return read;
}

TEST(Conv, FamiliesFollowTheFilter) {
  const auto first = [](const ConvTraits& t) { return conv_candidates(t, {}).front().kernel->family; };
  EXPECT_EQ(first(traits(DType::kF16, {1, 64, 64, 9}, 3136)), &kConvWgmma);
  EXPECT_EQ(first(traits(DType::kF16, {2, 64, 64, 9}, 3136)), &kConvMma);
  EXPECT_EQ(first(traits(DType::kF16, {96, 1, 1, 9}, 3136)), &kConvDepthwise);
  ConvTraits rows = traits(DType::kF16, {96, 1, 1, 9}, 3136);
  rows.kernel_h = rows.kernel_w = 3;
  rows.stride = 1;
  EXPECT_EQ(first(rows), &kConvDepthwiseRows);
  ConvTraits exact = traits(DType::kF32, {1, 64, 64, 9}, 3136);
  exact.tf32 = false;
  EXPECT_EQ(first(exact), &kConvSimt);
}
TEST(Conv, ChannelsThatFillNoVectorTakePieces) {
  const auto found = kernels_of<ConvMma>(traits(DType::kF16, {1, 3, 64, 49}, 12544));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].piece, found[0].pad_channels ? 8 : 2);
  EXPECT_EQ(found[0].vec, 8);
}
TEST(Conv, FiltersAreWhatKernelsCount) {
  const auto filter = FilterExtents::of(Extents{64, 16, 3, 3}, 2, false);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->in_channels, 16);
  EXPECT_EQ(filter->out_channels, 32);
  EXPECT_EQ(filter->taps, 9);
  constexpr int64_t kMany = int64_t{1} << 30;
  for (const Extents& w : {Extents{2, 1, kMany, kMany, kMany}, Extents{2, kMany, 3}, Extents{2, 1 << 20, 1 << 10, 4},
                           Extents{4 * kMany, 1, 1}, Extents{0, 0, kMany, kMany}, Extents{3, 1, 1}, Extents{2, 1}})
    EXPECT_FALSE(FilterExtents::of(w, 2, false)) << w.size();
}
TEST(Conv, FiltersArePackedAlongK) {
  const FilterExtents filter{1, 2, 1, 3};  // w[0][c][t] = 10 c + t
  const float w[] = {0, 1, 2, 10, 11, 12};
  const Bytes packed = ConvMma().pack(filter, std::as_bytes(std::span(w)));
  float out[8];
  ASSERT_EQ(packed.size(), sizeof out);  // six elements, padded to whole pieces of 16 bytes
  std::memcpy(out, packed.data(), sizeof out);
  EXPECT_EQ(std::vector<float>(out, out + 8), (std::vector<float>{0, 10, 1, 11, 2, 12, 0, 0}));
}
TEST(Conv, FloatFiltersOfHalvesAreSplit) {
  ConvTraits t = traits(DType::kF16, {1, 2, 1, 3}, 500);
  t.types.b = DType::kF32;
  std::vector<const ConvFamily*> families;
  for (const ConvCandidate& c : conv_candidates(t, {})) {
    EXPECT_TRUE(c.kernel->types.is_mixed());
    EXPECT_TRUE(read_again(c.kernel));
    families.push_back(c.kernel->family);
  }
  for (const ConvFamily* family : {&kConvMma, &kConvWgmma, &kConvSimt})
    EXPECT_TRUE(std::ranges::count(families, family)) << family->name;
  ConvMma kernel;
  kernel.types = t.types;
  const float w[] = {1, 2, 3, 4 + 0x1p-12f, 5, 6};  // w[0][c][t]
  const Bytes packed = kernel.pack(t.filter, std::as_bytes(std::span(w)));
  _Float16 out[16];
  ASSERT_EQ(packed.size(), sizeof out);  // 12 elements, padded to whole pieces
  std::memcpy(out, packed.data(), sizeof out);
  EXPECT_EQ(std::vector<float>(out, out + 12), (std::vector<float>{1, 4, 2, 5, 3, 6, 0, 0x1p-12f, 0, 0, 0, 0}));
  ConvArguments a;
  a.window.kernel[2] = 3;
  kernel.set_filter(t.filter, a);
  EXPECT_EQ(a.window.taps(), 6);
  EXPECT_EQ(a.window.dilation[0], 0);
  EXPECT_EQ(a.w_out, 16);
  ConvIm2col copies;
  copies.types = t.types;
  copies.tile = {64, 64, 64, 4, 1, 0, 0, 4};
  EXPECT_FALSE(read_again(copies));
  copies.types.b = DType::kF16;
  EXPECT_TRUE(read_again(copies));
}
TEST(Conv, FewChannelsArePadded) {
  const auto found = kernels_of<ConvMma>(traits(DType::kF16, {1, 3, 64, 49}, 12544));
  const auto padded = std::ranges::find(found, 4, &ConvMma::pad_channels);
  ASSERT_NE(padded, found.end());
  EXPECT_EQ(padded->piece, 8);
  ConvArguments arguments;
  arguments.images = 2;
  arguments.x_strides = {3 * 20, 20, {20, 5, 1}};
  arguments.window.in[1] = 4, arguments.window.in[2] = 5;
  padded->set_filter({1, 3, 64, 49}, arguments);
  arguments.window.kernel[1] = arguments.window.kernel[2] = 7;
  const ConvLaunch plan = *padded->plan(arguments, 132);
  EXPECT_EQ(arguments.in_channels, 4);
  EXPECT_EQ(plan.pad_arguments.pixels, 40);
  EXPECT_EQ(plan.pad_arguments.strides.channel, 20);
  EXPECT_EQ(arguments.x_strides.at[1], 20);
  EXPECT_EQ(plan.padded_bytes, 512);
}
TEST(Conv, PicturesAreCopiedByPixels) {
  ConvTraits t = traits(DType::kF16, {1, 64, 128, 9}, 2 * 7 * 6);
  EXPECT_TRUE(kernels_of<ConvIm2col>(t).empty());  // it may have three axes
  t.pictures = true;
  const ConvIm2col kernel = kernels_of<ConvIm2col>(t).front();
  ConvArguments a;
  a.images = 2;
  a.pixels = 2 * 4 * 3;
  for (const auto& [axis, in, out] : {std::array{1, 7, 4}, std::array{2, 6, 3}}) {
    a.window.in[axis] = in, a.window.out[axis] = out;
    a.window.kernel[axis] = 3, a.window.stride[axis] = 2, a.window.pad[axis] = 1;
  }
  a.x_strides = {7 * 6 * 64, 1, {0, 6 * 64, 64}};
  a.y_strides = {4 * 3 * 128, 1, {0, 3 * 128, 128}};
  kernel.set_filter(t.filter, a);
  const ConvLaunch plan = *kernel.plan(a, 132);
  EXPECT_EQ(a.y_pixel, 128);
  ASSERT_TRUE(plan.map_x && plan.map_w);
  EXPECT_EQ(plan.map_x->extents[1], 6u);
  EXPECT_EQ(plan.map_x->lower[0], -1);
  EXPECT_EQ(plan.map_x->upper[0], -2);  // columns -1, 1, 3 of 6
  EXPECT_EQ(plan.map_x->upper[1], -1);  // rows -1, 1, 3, 5 of 7
  EXPECT_EQ(plan.map_w->extents[1], 9u);
  EXPECT_EQ(plan.map_w->strides_bytes[1], 9u * 64 * 2);
}
TEST(Conv, AbuttingTapsOfADeconvolutionAreColumns) {
  ConvIm2col kernel;
  kernel.transposed = kernel.shuffle = true;
  const FilterExtents filter{1, 2, 3, 2};  // w[in][out][tap]
  const float w[] = {0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15};
  const Bytes packed = kernel.pack(filter, std::as_bytes(std::span(w)));
  ASSERT_EQ(packed.size(), 6u * 16);  // a line a tap and out channel
  float line[4];
  std::memcpy(line, packed.data() + 4 * 16, sizeof line);  // tap 1, out 1
  EXPECT_EQ(std::vector<float>(line, line + 2), (std::vector<float>{3, 13}));
  ConvArguments a;
  a.images = 1;
  a.window.in[2] = 5, a.window.out[2] = 10, a.window.kernel[2] = a.window.stride[2] = 2;
  a.y_strides = {30, 1, {30, 30, 3}};
  kernel.set_filter(filter, a);
  ASSERT_TRUE(shuffle_taps(a));
  EXPECT_EQ(a.out_channels, 6);
  EXPECT_EQ(a.pixels, 5);
  EXPECT_EQ(a.tap_x, 3);
  EXPECT_EQ(a.y_strides.at[2], 6);
}
TEST(Conv, FirstLayersKeepLinesOfPaddedTaps) {
  ConvTraits t = traits(DType::kF16, {1, 3, 64, 49}, 12544);
  t.kernel_h = t.kernel_w = 7, t.stride = t.stride_h = 2, t.out_w = 112, t.pictures = true;
  const auto found = kernels_of<ConvStem>(t);
  ASSERT_EQ(found.size(), 4u);  // 1 to 8 lines
  const ConvStem& kernel = found.front();
  EXPECT_EQ(kernel.tile.bn, 112);
  EXPECT_TRUE(kernel.takes(t.filter));
  EXPECT_FALSE(kernel.takes({1, 5, 64, 49}));
  std::vector<_Float16> w(64 * 3 * 49);
  w[(2 * 3 + 1) * 49 + 8] = 5;  // out 2, in 1, tap (1, 1): k = 32 + 4 + 1
  const Bytes packed = kernel.pack(t.filter, std::as_bytes(std::span(w)));
  ASSERT_EQ(packed.size(), 7u * 32 * 64 * 2);
  _Float16 element;
  std::memcpy(&element, packed.data() + ((4 * 64 + 2) * 8 + 5) * 2, 2);
  EXPECT_EQ(element, 5);
  t.stride_h = 1;
  EXPECT_TRUE(kernels_of<ConvStem>(t).empty());
}
TEST(Conv, FirstLayersToBytesHavePairsOfChannels) {
  ConvTraits t = traits(DType::kI8, {1, 3, 32, 49}, 12544);
  t.kernel_h = t.kernel_w = 7, t.stride = t.stride_h = 2, t.out_h = t.out_w = 112;
  t.pictures = true;
  ASSERT_FALSE(kernels_of<ConvStem>(t).empty());
  const ConvStem kernel = kernels_of<ConvStem>(t).front();
  EXPECT_TRUE(kernel.pairs);
  EXPECT_TRUE(read_again(kernel));
  EXPECT_FALSE(kernel.takes({1, 3, 24, 49}));
  // The first tap of channel c is c + 1: lines are channels 0, 2, ... 14, 1, 3, ... 15 of each 16.
  Bytes w(32 * 3 * 49);
  for (size_t c = 0; c < 32; ++c) w[c * 3 * 49] = static_cast<std::byte>(c + 1);
  const Bytes packed = kernel.pack(t.filter, w);
  const auto line = [&](size_t i) { return static_cast<int>(packed[i * 16]); };
  EXPECT_EQ(line(0), 1);
  EXPECT_EQ(line(1), 3);
  EXPECT_EQ(line(7), 15);
  EXPECT_EQ(line(8), 2);
  EXPECT_EQ(line(31), 32);
  ConvStem wrong = kernel;
  wrong.types.out = DType::kF16;
  EXPECT_FALSE(wrong.check());
  t.read_bytes = 1;  // a residual
  EXPECT_FALSE(kernels_of<ConvStem>(t).front().pairs);
  t.read_bytes = 0;
  t.filter.out_channels = 24;
  EXPECT_FALSE(kernels_of<ConvStem>(t).front().pairs);
}
TEST(Conv, FewChannelsAreReadInTiles) {
  ConvTraits t = traits(DType::kF16, {1, 64, 64, 9}, 32 * 3136);
  t.kernel_h = t.kernel_w = 3, t.stride = t.stride_h = 1, t.out_h = t.out_w = 56, t.pictures = true;
  const auto found = kernels_of<ConvHalo>(t);
  const auto divides = std::ranges::find(found, 28 * 8, [](const ConvHalo& k) { return k.tile.bn; });
  ASSERT_NE(divides, found.end());
  const ConvHalo& kernel = *divides;
  ConvArguments a;
  a.images = 32;
  a.pixels = 32 * 3136;
  for (const size_t axis : {1, 2})
    a.window.in[axis] = a.window.out[axis] = 56, a.window.kernel[axis] = 3, a.window.pad[axis] = 1;
  a.x_strides = a.y_strides = {3136 * 64, 1, {0, 56 * 64, 64}};
  kernel.set_filter(t.filter, a);
  const ConvLaunch plan = *kernel.plan(a, 132);
  ASSERT_TRUE(plan.map_tiles);
  EXPECT_EQ(plan.map_tiles->box[1], 10u);
  EXPECT_EQ(plan.map_tiles->box[2], 30u);
  EXPECT_EQ(plan.map_w->box[2], 64u);
  a.window.stride[2] = 2;
  EXPECT_FALSE(kernel.plan(a, 132).has_value());
  t.filter.out_channels = 256;  // weights that do not fit
  EXPECT_TRUE(kernels_of<ConvHalo>(t).empty());
}
TEST(Conv, BlocksHaveNoMoreSharedMemoryThanTheMachine) {
  ConvTraits t = traits(DType::kF16, {1, 64, 64, 9}, 32 * 3136);
  t.pictures = true;
  t.kernel_h = t.kernel_w = 3, t.stride = t.stride_h = 1, t.out_h = t.out_w = 56;
  constexpr int64_t kLess = int64_t{99} << 10;
  const auto all = conv_candidates(t, {}), few = conv_candidates(t, {.shared_bytes = kLess});
  EXPECT_LT(few.size(), all.size());
  EXPECT_FALSE(few.empty());
  const auto is_of = [](const auto& candidates, auto has) { return std::ranges::any_of(candidates, has); };
  const auto is_halo = [](const ConvCandidate& c) { return c.kernel.as<ConvHalo>() != nullptr; };
  EXPECT_TRUE(is_of(all, is_halo));
  EXPECT_FALSE(is_of(few, is_halo)) << "all of the filter is in shared memory";
  for (const ConvCandidate& c : few)
    if (const auto* kernel = c.kernel.as<ConvIm2col>()) {
      EXPECT_LE(kernel->shared_bytes(), kLess);
    }
}
TEST(Conv, DepthwiseFiltersAreTapsOfChannels) {
  const float w[] = {1, 2, 3, 4, 5, 6};  // three channels of two taps
  const Bytes packed = ConvDepthwise().pack({3, 1, 1, 2}, std::as_bytes(std::span(w)));
  float out[6];
  std::memcpy(out, packed.data(), sizeof out);
  EXPECT_EQ(std::vector<float>(out, out + 6), (std::vector<float>{1, 3, 5, 2, 4, 6}));
}
/// A depthwise convolution of pictures of bytes.
ConvTraits depthwise_of_bytes(int64_t kernel_h, int64_t kernel_w, int64_t stride, DType type = DType::kI8) {
  ConvTraits t = traits(type, {96, 1, 1, kernel_h * kernel_w}, 3136);
  t.types = {type, DType::kI8, DType::kF32, type};
  t.kernel_h = kernel_h, t.kernel_w = kernel_w, t.stride = t.stride_h = stride, t.out_h = t.out_w = 56;
  return t;
}
TEST(Conv, DepthwiseBytesAreWordsOfTaps) {
  const auto found = kernels_of<ConvDepthwiseBytes>(depthwise_of_bytes(3, 3, 1));
  ASSERT_FALSE(found.empty());
  for (const ConvDepthwiseBytes& kernel : found) {
    EXPECT_TRUE(read_again(kernel));
    EXPECT_TRUE(kernel.takes({96, 1, 1, 9}));
    EXPECT_FALSE(kernel.takes({96, 1, 1, 25})) << "it would read beyond the taps";
    EXPECT_FALSE(kernel.takes({98, 1, 1, 9}));
  }
  ConvDepthwiseBytes kernel = found.front();
  kernel.kernel_h = 2, kernel.kernel_w = 3, kernel.columns = 2;
  EXPECT_EQ(kernel.moves(), 2);
  EXPECT_EQ(kernel.words(), 1);
  Bytes w(4 * 6);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<std::byte>(i + 1);
  const Bytes packed = kernel.pack({4, 1, 1, 6}, w);
  ASSERT_EQ(packed.size(), 2u * 2 * 4 * 4);
  const auto word = [&](size_t i) {
    std::vector<int> bytes;
    for (size_t at = 4 * i; at < 4 * i + 4; ++at) bytes.push_back(static_cast<int>(packed[at]));
    return bytes;
  };
  EXPECT_EQ(word(1), (std::vector{7, 8, 9, 0}));             // channel 1, the first row
  EXPECT_EQ(word(4 + 1), (std::vector{0, 7, 8, 9}));         // moved by one
  EXPECT_EQ(word(3 * 4 + 3), (std::vector{0, 22, 23, 24}));  // the last channel's second row
  kernel.kernel_w = 5, kernel.stride = 2;
  EXPECT_EQ(kernel.moves(), 1);
  EXPECT_EQ(kernel.words(), 2);
  kernel.vec = 2;
  EXPECT_FALSE(kernel.check());
  EXPECT_TRUE(kernels_of<ConvDepthwiseBytes>(depthwise_of_bytes(8, 8, 1)).empty()) << "too many taps";
  ConvTraits apart = depthwise_of_bytes(3, 3, 1);
  apart.kernel_w = 0;  // dilated
  EXPECT_TRUE(kernels_of<ConvDepthwiseBytes>(apart).empty());
  EXPECT_FALSE(kernels_of<ConvDepthwise>(apart).empty());
  for (const ConvCandidate& c : conv_candidates(depthwise_of_bytes(3, 3, 1), {}))
    EXPECT_TRUE(c.kernel->facts().pads_with_zero) << c.kernel->name();
}
TEST(Conv, DepthwiseBytesRefuseOtherWindows) {
  ConvDepthwiseBytes kernel;
  kernel.types = {DType::kU8, DType::kI8, DType::kF32, DType::kU8};
  kernel.kernel_h = kernel.kernel_w = 3, kernel.rows = 2, kernel.columns = 4, kernel.stride_h = 2, kernel.stride = 2;
  ASSERT_TRUE(kernel.check());
  ConvArguments a;
  a.images = 3;
  for (const int axis : {1, 2}) {
    a.window.in[axis] = 21, a.window.out[axis] = 11, a.window.kernel[axis] = 3, a.window.stride[axis] = 2;
    a.window.pad[axis] = 1;
  }
  a.x_strides = {21 * 21 * 32, 1, {0, 21 * 32, 32}};
  kernel.set_filter({32, 1, 1, 9}, a);
  const auto plan = kernel.plan(a, 132);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(int64_t{plan->main.grid[0]} * plan->main.block[0], 3 * 6 * 3 * 8 + 16);  // 432 threads in blocks of 64
  const auto refuses = [&](auto change) {
    ConvArguments other = a;
    change(other.window);
    return !kernel.plan(other, 132);
  };
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.stride[1] = 1; }));
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.stride[2] = 1; }));
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.kernel[2] = 5; }));
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.dilation[1] = 2; }));
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.in[2] = 0; }));
  EXPECT_TRUE(refuses([](ConvWindow& w) { w.kernel[0] = w.in[0] = 3; }));
}
TEST(Conv, KernelsSurviveTheirRecords) {
  for (const ConvCandidate& c : conv_candidates(traits(DType::kBF16, {2, 16, 24, 9}, 500), {}))
    EXPECT_TRUE(read_again(c.kernel)) << c.kernel->name();
  const FieldType& type = field_type(Tag<ConvKernel>());
  ConvKernel kernel;
  EXPECT_FALSE(type.from_datum(&kernel, Datum("mma")));
  EXPECT_FALSE(type.from_datum(&kernel, Record().set("family", "none")));
  Record record = std::get<Record>(type.to_datum(&kernel).variant());
  EXPECT_FALSE(type.from_datum(&kernel, record.set("splits", 2))) << "another family's";
}
TEST(Conv, WidthsArePowersOfTwo) {
  const FieldType& type = field_type(Tag<ConvKernel>());
  ConvKernel kernel;
  for (const ConvCandidate& c : conv_candidates(traits(DType::kF16, {1, 24, 24, 9}, 500), {}))
    for (const char* width : {"vec", "piece"}) {
      Record record = std::get<Record>(type.to_datum(&c.kernel).variant());
      if (!record.find(width)) continue;
      EXPECT_FALSE(type.from_datum(&kernel, record.set(width, 3))) << c.kernel->name();
    }
}
TEST(Conv, TooManyElementsForAnIndexAreRefused) {
  ConvKernel kernel = conv_candidates(traits(DType::kF16, {1, 64, 64, 9}, 3136), {}).front().kernel;
  ConvArguments arguments;
  arguments.images = 1 << 12;
  arguments.x_strides.n = 1 << 20;
  EXPECT_FALSE(kernel.plan(arguments, 132).has_value());
}

/// Compiles the kernels for each kind of GPU that has their instructions.
void expect_compiled(const std::vector<ConvKernel>& all, const Epilogue& epilogue) {
  for (const char* arch : {"sm_80", "sm_90a", "sm_100a"}) {
    Compiler compiler(arch);
    for (const ConvKernel& kernel : all) {
      std::optional<ByteScales> scales;
      if (kernel->types.is_of_bytes()) scales = ByteScales{.w_by_channel = true};
      const KernelSource source = source_of(kernel, epilogue, scales);
      if (source.prelude.find("wgmma") != std::string::npos && arch != std::string_view("sm_90a")) continue;
      const auto cubin = compiler.compile(source);
      if (!cubin && cubin.error().code == Code::kNotFound) GTEST_SKIP() << cubin.error().message;
      ASSERT_TRUE(cubin) << arch << ' ' << kernel->name() << ": " << cubin.error().message;
    }
  }
}
TEST(Conv, KernelsCompile) {
  const Epilogue epilogue{.bias = DType::kF16, .residual = DType::kF16, .lo = 0, .hi = 6};
  std::vector<ConvKernel> all;
  const auto add = [&](const ConvTraits& t, size_t most) {
    const auto candidates = conv_candidates(t, {});
    for (size_t i = 0; i < std::min(most, candidates.size()); ++i) all.push_back(candidates[i].kernel);
  };
  add(traits(DType::kF16, {1, 64, 256, 9}, 196), 3);
  add(traits(DType::kBF16, {1, 3, 64, 49}, 12544), 1);
  add(traits(DType::kF32, {1, 64, 64, 9}, 3136), 1);
  add(traits(DType::kF16, {1, 256, 256, 9}, 49), 2);
  ConvTraits rows = traits(DType::kF16, {96, 1, 1, 25}, 3136);
  rows.kernel_h = rows.kernel_w = 5;
  rows.stride = 2;
  add(rows, 3);
  add(traits(DType::kF16, {96, 1, 1, 9}, 3136), 2);
  for (ConvTraits t : {rows, traits(DType::kF16, {32, 1, 1, 9}, 3136), traits(DType::kF16, {1, 16, 96, 1}, 12544)}) {
    t.types.b = DType::kF32;
    add(t, 2);
  }
  ConvTraits pictures = traits(DType::kF16, {1, 64, 64, 9}, 100352);
  pictures.pictures = true;
  const auto add_all = [&](const auto& kernels, const auto& is_wanted) {
    for (const auto& kernel : kernels)
      if (is_wanted(kernel)) all.emplace_back(kernel);
  };
  const auto any = [](const auto&) { return true; };
  add_all(kernels_of<ConvIm2col>(pictures), [](const ConvIm2col& k) { return k.splits == 1 || k.splits == 4; });
  pictures.filter = {1, 1024, 512, 9}, pictures.pixels = 256, pictures.types = ContractionTypes::all(DType::kBF16);
  add_all(kernels_of<ConvIm2col>(pictures), [](const ConvIm2col& k) { return k.splits == 8; });
  ConvTraits shuffled = traits(DType::kF32, {1, 64, 32, 4}, 4096);
  shuffled.pictures = shuffled.abutting = shuffled.transposed = true, shuffled.phases = 4;
  all.emplace_back(kernels_of<ConvIm2col>(shuffled).front());
  ConvTraits first = traits(DType::kF16, {1, 3, 64, 49}, 12544);
  first.kernel_h = first.kernel_w = 7, first.stride = first.stride_h = 2, first.out_w = 112, first.pictures = true;
  add_all(kernels_of<ConvStem>(first), any);
  first.types.b = DType::kF32;
  all.emplace_back(kernels_of<ConvStem>(first).front());
  ConvTraits few = traits(DType::kF16, {1, 64, 64, 9}, 32 * 3136);
  few.kernel_h = few.kernel_w = 3, few.stride = few.stride_h = 1, few.out_h = few.out_w = 56, few.pictures = true;
  add_all(kernels_of<ConvHalo>(few), any);
  ConvTraits gather = traits(DType::kF16, {1, 64, 64, 4}, 3136);
  gather.transposed = true;
  add(gather, 2);
  expect_compiled(all, epilogue);
}
TEST(Conv, LanesOfBytesHaveLinesOfTheirChannels) {
  ConvTraits t = traits(DType::kI8, {1, 64, 128, 9}, 40'000);
  t.pictures = true;
  t.read_bytes = 1;
  const auto with_lanes = [&] {
    std::vector<ConvIm2col> found = kernels_of<ConvIm2col>(t);
    std::erase_if(found, [](const ConvIm2col& k) { return !k.lanes; });
    return found;
  };
  ASSERT_FALSE(with_lanes().empty());
  for (const ConvIm2col& kernel : with_lanes()) {
    EXPECT_TRUE(read_again(kernel));
    EXPECT_EQ(kernel.vec, 16);
    EXPECT_EQ(kernel.tile.bk, 64);
    EXPECT_TRUE(kernel.takes(t.filter));
    EXPECT_FALSE(kernel.takes({1, 64, 96, 9}));
    EXPECT_FALSE(kernel.takes({1, 80, 128, 9}));
  }
  ConvIm2col kernel = with_lanes().front();
  kernel.tile = {128, 64, 64, 8, 1, 0, 0, 8};
  ConvArguments a;
  a.images = 1;
  a.pixels = 20 * 20;
  for (const int axis : {1, 2}) {
    a.window.in[axis] = a.window.out[axis] = 20;
    a.window.kernel[axis] = 3, a.window.pad[axis] = 1;
  }
  a.x_strides = {400 * 64, 1, {0, 20 * 64, 64}};
  a.y_strides = {400 * 128, 1, {0, 20 * 128, 128}};
  kernel.set_filter(t.filter, a);
  const auto plan = kernel.plan(a, 132);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->map_x->channels, 64u);
  EXPECT_EQ(plan->map_x->swizzle, kSwizzle64);
  EXPECT_EQ(plan->map_w->swizzle, kSwizzle64);
  EXPECT_EQ(std::vector<uint64_t>(plan->map_w->extents, plan->map_w->extents + 5),
            (std::vector<uint64_t>{9 * 64, 2, 4, 8, 2}));
  EXPECT_EQ(plan->map_w->box[4], 1u);
  EXPECT_EQ(plan->main.shared_bytes, 8u * 192 * 64 + 1024 + 128 * 64);
  a.y_strides.at[1] *= 2;  // y is a part of something wider
  EXPECT_FALSE(kernel.plan(a, 132));
  kernel.splits = 2;
  EXPECT_FALSE(kernel.check());
  t.filter.in_channels = 96;  // neither a line nor half of one
  EXPECT_TRUE(with_lanes().empty());
  t.filter.in_channels = 128;
  EXPECT_EQ(with_lanes().front().tile.bk, 128);
  t.filter.out_channels = 96;
  EXPECT_TRUE(with_lanes().empty());
  t.types.out = DType::kF16;
  EXPECT_EQ(with_lanes().front().vec, 8);
}
TEST(Conv, KernelsOfBytesCompile) {
  std::vector<ConvKernel> all;
  ConvTraits bytes = traits(DType::kI8, {1, 128, 64, 9}, 3136);
  bytes.pictures = true;
  all.emplace_back(kernels_of<ConvIm2col>(bytes).front());
  ConvTraits halves = bytes;
  halves.filter.in_channels = 64;
  halves.types.out = DType::kF16;
  all.emplace_back(kernels_of<ConvIm2col>(halves).front());
  all.emplace_back(kernels_of<ConvMma>(bytes).front());
  bytes.filter.in_channels = 64;
  bytes.types = {DType::kU8, DType::kI8, DType::kF32, DType::kF16};
  all.emplace_back(kernels_of<ConvWgmma>(bytes).front());
  ConvTraits pictures = traits(DType::kI8, {1, 3, 64, 49}, 12544);
  pictures.kernel_h = pictures.kernel_w = 7, pictures.stride = pictures.stride_h = 2, pictures.out_w = 112;
  pictures.pictures = true;
  for (const DType type : {DType::kI8, DType::kU8}) {
    pictures.types = {type, DType::kI8, DType::kF32, DType::kI8};
    all.emplace_back(kernels_of<ConvStem>(pictures).front());
  }
  bytes.filter.in_channels = 3;
  all.emplace_back(kernels_of<ConvMma>(bytes).front());
  for (const auto& kernel : kernels_of<ConvDepthwiseBytes>(depthwise_of_bytes(3, 3, 1))) all.emplace_back(kernel);
  for (const auto& [size, stride] : {std::pair<int64_t, int64_t>{3, 2}, {5, 1}, {5, 2}, {7, 1}})
    all.emplace_back(kernels_of<ConvDepthwiseBytes>(depthwise_of_bytes(size, size, stride, DType::kU8)).front());
  for (const auto& kernel : kernels_of<ConvDepthwise>(depthwise_of_bytes(3, 3, 1, DType::kU8)))
    all.emplace_back(kernel);
  expect_compiled(all, {.bias = DType::kF32});
}

}  // namespace
}  // namespace kiln::cuda
