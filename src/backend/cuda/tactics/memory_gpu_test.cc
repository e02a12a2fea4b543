// Compares kernels that move memory, by every variant of their tactics, in halves and floats, with the ops' references,
// and measures their rates; on a machine with a GPU only.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>
#include <regex>
#include <tuple>

#include "backend/cuda/tactics/registry.h"
#include "backend/cuda/testing/net.h"
#include "backend/cuda/testing/on_gpu.h"
#include "ir/interpret.h"
#include "ops/activation.h"
#include "ops/cast.h"
#include "ops/concatenation.h"
#include "ops/element_wise.h"
#include "ops/gather.h"
#include "ops/normalization.h"
#include "ops/pooling.h"
#include "ops/reduce.h"
#include "ops/resize.h"
#include "ops/scatter.h"
#include "ops/slice.h"
#include "ops/softmax.h"
#include "ops/transpose.h"
#include "ops/unary.h"
#include "tensor/view.h"

namespace kiln::cuda {
namespace {

constexpr DType kFloats[] = {DType::kF32, DType::kF16, DType::kBF16};

class MemoryOnGpu : public OnGpu {
 protected:
  /// The last tactic of our own that takes the graph: nests stand behind contractions, and libraries behind them.
  static const Tactic& tactic_of(const Net& net) {
    const ir::NodeId root = net.graph.value(net.graph.outputs()[0].value).producer;
    const TacticContext cx{net.graph, {}, *gpu_};
    const Tactic* last = nullptr;
    for (const Tactic* tactic : tactics_for(net.graph.node(root).op.info()))
      if (tactic->name() != "cudnn" && tactic->name() != "cublaslt" && tactic->match(cx, root)) last = tactic;
    CHECK(last);
    return *last;
  }

  static void check(const Net& net, DType type, const std::string& name) {
    const auto expected = ir::interpret(net.graph, net.inputs);
    ASSERT_TRUE(expected) << name << ": " << expected.error().message;
    const auto ran = run_variants(*gpu_, net.graph, tactic_of(net), net.inputs, {.numerics = {.strongly_typed = true}});
    ASSERT_TRUE(ran) << name << ": " << ran.error().message;
    const double tolerance = type == DType::kF16 ? 2e-3 : type == DType::kBF16 ? 1.6e-2 : 3e-6;
    for (const RanVariant& variant : *ran) {
      if (variant.name.starts_with("view")) continue;  // nothing runs
      EXPECT_EQ(variant.failure, "") << name << ", " << variant.name;
      if (!variant.failure.empty()) continue;
      EXPECT_LE(relative_error(variant.result, (*expected)[0]), tolerance)
          << name << " of " << name_of(type) << ", " << variant.name;
    }
  }
  /// Checks a norm of x in groups of channels, with coefficients of channels or none.
  static void check_norm(DType type, const Extents& x, int64_t groups, bool coefficients = true) {
    Net net(type);
    const ops::Normalization norm{.axes = {2, 3}, .groups = groups};
    const ir::ValueId in = net.input(x, 2);
    net.finish(coefficients ? net.add(norm, {in, net.constant({x[1], 1, 1}), net.constant({x[1], 1, 1})})
                            : net.add(norm, {in}));
    check(net, type, str("norm of ", x, " in ", groups, " groups"));
  }

  /// Prints the time of each variant, the bytes that it must move a second, and their share of what a plain copy of
  /// as many moves.
  static void rate(const Net& net, const std::string& name) {
    if (const char* only = std::getenv("KILN_RATES"); only && !std::regex_search(name, std::regex(only))) return;
    const auto ran = run_variants(*gpu_, net.graph, tactic_of(net), {}, {.timed = true, .made_up = true});
    ASSERT_TRUE(ran) << name << ": " << ran.error().message;
    const auto bytes_of = [&](ir::ValueId value) {
      const TensorType& type = net.graph.type(value);
      return static_cast<double>(size_bytes(type.dtype, volume(*type.extents())));
    };
    double bytes = bytes_of(net.graph.outputs()[0].value);
    for (const ir::ValueId input : net.graph.inputs()) bytes += bytes_of(input);
    const auto copy_us = copy_time_us(*gpu_, static_cast<int64_t>(bytes / 2));
    ASSERT_TRUE(copy_us) << copy_us.error().message;
    for (const RanVariant& variant : *ran)
      std::printf("%-40s %-13.13s %7.2f us %5.0f GB/s %3.0f %% of a copy, %6.2f us %s\n", name.c_str(),
                  variant.name.c_str(), variant.time_us, bytes / variant.time_us * 1e-3,
                  *copy_us / variant.time_us * 100, *copy_us, variant.failure.c_str());
  }
};

const ops::ElementWise kSum{ops::ElementWiseKind::kSum}, kProduct{ops::ElementWiseKind::kProd};

ir::ValueId indices_of(Net& net, std::span<const int32_t> picks, Extents extents = {}) {
  const auto bytes = std::as_bytes(picks);
  const auto held = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
  if (extents.empty()) extents = {static_cast<int64_t>(picks.size())};
  return net.graph.add_constant(HostTensor(DType::kI32, std::move(extents), *held, held));
}

/// x * sigmoid(x + b)
ir::ValueId gated(Net& net, const Extents& x, const Extents& b) {
  const ir::ValueId in = net.input(x), sum = net.add(kSum, {in, net.constant(b)});
  return net.add(kProduct, {in, net.add(ops::Activation{.kind = ops::ActivationKind::kSigmoid}, {sum})});
}

TEST_F(MemoryOnGpu, Nests) {
  for (const DType type : kFloats)
    for (const auto& [x, b] :
         std::vector<std::pair<Extents, Extents>>{{{7}, {7}},                           // a tail alone
                                                  {{1, 1000}, {1, 1}},                  // one element for all
                                                  {{128, 768}, {1, 768}},               // rows
                                                  {{5, 13}, {1, 13}},                   // rows of no whole vectors
                                                  {{2, 24, 14, 14}, {1, 24, 1, 1}},     // planes
                                                  {{2, 24, 7, 7}, {1, 24, 1, 1}},       // planes of no whole vectors
                                                  {{3, 16, 20, 20}, {3, 16, 1, 1}},     // both axes
                                                  {{2, 3, 4, 5, 6}, {2, 1, 4, 1, 6}},   // every other axis
                                                  {{4, 512, 1024}, {1, 512, 1024}}}) {  // several vectors a thread
      Net net(type);
      net.finish(gated(net, x, b));
      check(net, type, str("gate of ", x, " by ", b));
    }
}
TEST_F(MemoryOnGpu, NestsOfSeveralTypes) {
  for (const DType type : {DType::kF16, DType::kBF16}) {
    Net net(type);
    const ir::ValueId wide = net.add(ops::Cast{DType::kF32}, {net.input({3, 40, 9, 8})});
    net.finish(net.add(ops::Cast{type}, {net.add(kProduct, {wide, wide})}));
    check(net, type, "square in f32");
  }
  Net image(DType::kF32);  // from and to channels last, too
  image.finish(image.add(ops::Cast{DType::kF16}, {image.input({2, 3, 30, 31})}));
  check(image, DType::kF16, "image in half");
}
/// Every number of a type of two bytes.
HostTensor every_half(DType type) {
  constexpr size_t kCount = 1 << 16;
  HostTensor::Fresh all = *HostTensor::make(type, {kCount});
  for (size_t i = 0; i < kCount; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    std::memcpy(all.data.data() + 2 * i, &bits, 2);
  }
  return all.tensor;
}
/// The distance of neighbours at x.
double spacing(DType type, double x) {
  const int digits = type == DType::kF16 ? 10 : 7, least = type == DType::kF16 ? -14 : -126;
  return std::ldexp(1.0, std::max(x == 0 ? least : std::ilogb(x), least) - digits);
}
/// Functions of halves are approximations, which must not be seen.
TEST_F(MemoryOnGpu, FunctionsOfEveryHalf) {
  using enum ops::ActivationKind;
  const Op functions[] = {ops::Activation{.kind = kSigmoid},
                          ops::Activation{.kind = kTanh},
                          ops::Activation{.kind = kElu, .alpha = 1},
                          ops::Activation{.kind = kSelu, .alpha = 1.67F, .beta = 1.05F},
                          ops::Activation{.kind = kSoftplus, .alpha = 1, .beta = 1},
                          ops::Activation{.kind = kScaledTanh, .alpha = 1.5F, .beta = 0.7F},
                          ops::Activation{.kind = kGeluErf},
                          ops::Activation{.kind = kGeluTanh},
                          ops::Unary{ops::UnaryKind::kExp},
                          ops::Unary{ops::UnaryKind::kSqrt},
                          ops::Unary{ops::UnaryKind::kRecip}};
  for (const DType type : {DType::kF16, DType::kBF16})
    for (size_t f = 0; f < std::size(functions); ++f) {
      Net net(type);
      net.finish(net.add(functions[f], {net.input({1 << 16})}));
      net.inputs[0] = every_half(type);
      const auto expected = ir::interpret(net.graph, net.inputs);
      ASSERT_TRUE(expected) << expected.error().message;
      const auto ran = run_variants(*gpu_, net.graph, tactic_of(net), net.inputs, {});
      ASSERT_TRUE(ran) << ran.error().message;
      const View x(net.inputs[0]), right((*expected)[0]), found((*ran)[0].result);
      int wrong = 0;
      for (int64_t i = 0; i < x.volume() && wrong < 3; ++i) {
        if (std::isinf(x[i]) || right[i] == found[i] || (std::isnan(right[i]) && std::isnan(found[i]))) continue;
        constexpr double kNothing = 1e-9;  // beside what such functions are added to
        if (std::abs(right[i] - found[i]) <= std::max(kNothing, spacing(type, right[i]))) continue;
        ++wrong;
        ADD_FAILURE() << "function " << f << " of " << name_of(type) << ' ' << x[i] << ": " << found[i] << ", not "
                      << right[i];
      }
    }
}
TEST_F(MemoryOnGpu, Moves) {
  for (const DType type : kFloats) {
    for (const auto& [x, perm] :
         std::vector<std::pair<Extents, std::vector<int64_t>>>{{{100, 200}, {1, 0}},
                                                               {{64, 64}, {1, 0}},
                                                               {{3, 65, 129}, {0, 2, 1}},
                                                               {{2, 17, 12, 64}, {0, 2, 1, 3}},
                                                               {{2, 3, 40, 50}, {0, 2, 3, 1}},
                                                               {{2, 64, 20, 30}, {0, 2, 3, 1}},
                                                               {{4, 33, 5, 70}, {3, 1, 0, 2}}}) {
      Net net(type);
      net.finish(net.add(ops::Transpose{perm}, {net.input(x)}));
      check(net, type, str("transpose of ", x, " by ", perm));
    }
    for (const Extents& part : {Extents{2, 8, 6, 5}, Extents{2, 3, 6, 5}, Extents{2, 1, 6, 5}}) {
      Net net(type);
      net.finish(net.add(ops::Concatenation{1}, {net.input(part), net.input({2, 8, 6, 5}), net.input(part)}));
      check(net, type, str("concatenation of ", part));
    }
    for (const int64_t step : {1, 2, 3}) {
      Net net(type);
      const ops::Slice slice{.starts = {0, 0, 1, 2}, .sizes = {2, 8, 6, 5}, .strides = {1, 1, step, step}};
      net.finish(net.add(slice, {net.input({2, 8, 24, 24})}));
      check(net, type, str("slice by ", step));
    }
    for (const SliceMode mode : {SliceMode::kFill, SliceMode::kReflect, SliceMode::kClamp, SliceMode::kWrap}) {
      Net net(type);
      net.finish(net.add(ops::Slice{.starts = {0, 0, -1, -2}, .sizes = {2, 3, 8, 9}, .mode = mode},
                         {net.input({2, 3, 6, 5})}));
      check(net, type, str("padding ", mode));
    }
  }
}
TEST_F(MemoryOnGpu, Paddings) {  // and cuts: rows of any length at any place of the source
  std::mt19937 random(7);
  const auto pick = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  for (int i = 0; i < 40; ++i) {
    const DType type = std::array{DType::kF16, DType::kF32, DType::kBF16, DType::kI8}[static_cast<size_t>(i % 4)];
    const auto mode = std::array{SliceMode::kFill, SliceMode::kFill, SliceMode::kReflect, SliceMode::kClamp,
                                 SliceMode::kWrap}[static_cast<size_t>(i % 5)];
    // Whole vectors of each tensor: 16 planes. Every other rank has another outer axis.
    Extents from{4, 4, pick(3, 9), pick(3, 40)}, starts(4, 0), to = from, steps(4, 1);
    for (const size_t axis : {2, 3}) {
      starts[axis] = pick(-2, 2);
      to[axis] = from[axis] + pick(-1, 6) - starts[axis];
    }
    if (i % 3 == 0) starts[0] = -1, steps[2] = pick(1, 2);
    to[3] = std::max<int64_t>(to[3], 16);
    Net net(type);
    const ir::ValueId x = net.input(from, 50), fill = net.constant({}, 50), none = ir::ValueId::kNone;
    const ops::Slice slice{.starts = starts, .sizes = to, .strides = steps, .mode = mode};
    net.finish(i % 2 == 0 ? net.add(slice, {x}) : net.add(slice, {x, none, none, none, fill}));
    check(net, type, str(mode, " of ", from, " from ", starts, " to ", to));
  }
}
TEST_F(MemoryOnGpu, Lanes) {
  for (const DType type : kFloats)
    for (const Extents& x : {Extents{3, 5, 7}, Extents{12, 128, 128}, Extents{2, 197, 197}, Extents{4, 3, 1000},
                             Extents{2, 2, 5000}, Extents{1, 2, 70'001}, Extents{2, 3000, 40}, Extents{1, 9, 16384}}) {
      for (const int axis : {1, 2}) {
        Net net(type);
        net.finish(net.add(ops::Softmax{axis}, {net.input(x, 3)}));
        check(net, type, str("softmax of ", x, " along ", axis));
      }
      for (const int64_t axis : {0, 1, 2})
        for (const ops::ReduceKind kind : {ops::ReduceKind::kAvg, ops::ReduceKind::kMax}) {
          Net net(type);
          net.finish(net.add(ops::Reduce{.kind = kind, .axes = {axis}}, {net.input(x)}));
          check(net, type, str(kind, " of ", x, " along ", axis));
        }
      Net net(type);
      net.finish(
          net.add(ops::Normalization{.axes = {2}}, {net.input(x, 2), net.constant({x[2]}), net.constant({x[2]})}));
      check(net, type, str("layer norm of ", x));
    }
}
TEST_F(MemoryOnGpu, ManyRows) {  // teams of threads go from row to row
  for (const DType type : kFloats)
    for (const Extents& x : {Extents{10'001, 40}, Extents{20'003, 33}, Extents{1401, 2056}, Extents{9601, 197}}) {
      if (x[1] > 100 && type != DType::kF16) continue;  // the reference takes long
      Net norm(type);
      norm.finish(
          norm.add(ops::Normalization{.axes = {1}}, {norm.input(x, 2), norm.constant({x[1]}), norm.constant({x[1]})}));
      check(norm, type, str("layer norm of ", x));
      Net net(type);
      net.finish(net.add(ops::Softmax{1}, {net.input(x, 3)}));
      check(net, type, str("softmax of ", x));
      if (x[1] != 40) continue;
      Net sum(type);
      sum.finish(sum.add(ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {1}}, {sum.input(x)}));
      check(sum, type, str("sum of ", x));
    }
}
TEST_F(MemoryOnGpu, Groups) {
  for (const DType type : kFloats)
    for (const int64_t groups : {1, 4, 32}) {
      Net net(type);
      const ops::Normalization norm{.axes = {2, 3}, .groups = groups};
      net.finish(net.add(norm, {net.input({2, 64, 33, 40}, 2), net.constant({64, 1, 1}), net.constant({64, 1, 1})}));
      check(net, type, str("norm in ", groups, " groups"));
    }
}
TEST_F(MemoryOnGpu, PoolingAndResize) {
  for (const DType type : kFloats)
    for (const int64_t channels : {3, 16, 64}) {
      for (const ops::PoolingKind kind : {ops::PoolingKind::kMax, ops::PoolingKind::kAverage}) {
        Net net(type);
        const ops::Pooling pooling{
            .kind = kind, .window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}};
        net.finish(net.add(pooling, {net.input({2, channels, 15, 17})}));
        check(net, type, str(kind, " pooling of ", channels, " channels"));
      }
      for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear}) {
        Net net(type);
        net.finish(net.add(ops::Resize{.mode = mode, .scales = {1, 1, 2, 2}}, {net.input({2, channels, 9, 11})}));
        check(net, type, str("resize ", mode, " of ", channels, " channels"));
      }
    }
}

TEST_F(MemoryOnGpu, MaximaOfBytes) {
  for (const DType type : {DType::kI8, DType::kU8})
    for (const int64_t channels : {3, 16, 64, 72})
      for (const auto& [window, stride, pad] :
           {std::array<int64_t, 3>{3, 2, 1}, std::array<int64_t, 3>{2, 2, 0}, std::array<int64_t, 3>{4, 1, 0}}) {
        Net net(type);
        const ops::Pooling pooling{.kind = ops::PoolingKind::kMax,
                                   .window = {window, window},
                                   .strides = {stride, stride},
                                   .pre_pads = {pad, pad},
                                   .post_pads = {pad, pad}};
        net.finish(net.add(pooling, {net.input({2, channels, 15, 17})}));
        // Of both signs, or beyond 127.
        net.inputs[0] = random_tensor(type, {2, channels, 15, 17}, 7, type == DType::kU8 ? 140 : 70);
        check(net, type, str("maxima of ", channels, " channels by windows of ", window));
      }
}

TEST_F(MemoryOnGpu, TwiceTheRowsAndColumns) {
  for (const DType type : kFloats)
    for (const Extents& x : {Extents{2, 3, 5, 8}, Extents{1, 5, 8, 24}, Extents{3, 2, 1, 4}, Extents{2, 3, 7, 6}})
      for (const CoordinateTransformation coordinate :
           {CoordinateTransformation::kHalfPixel, CoordinateTransformation::kAsymmetric}) {
        Net net(type);
        const ops::Resize resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}, .coordinate = coordinate};
        net.finish(net.add(resize, {net.input(x)}));
        check(net, type, str("resize of ", x, ' ', coordinate));
      }
}
TEST_F(MemoryOnGpu, Windows) {  // of rows of any length
  struct Case {
    Extents x;
    ops::Pooling pooling;
  };
  using enum ops::PaddingMode;
  const Case cases[] = {
      {{2, 3, 15, 17}, {.window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}}},
      {{1, 5, 14, 34}, {.window = {3, 3}, .strides = {2, 2}}},
      {{2, 3, 11, 20}, {.window = {2, 2}, .strides = {2, 2}, .padding = kExplicitRoundUp}},
      {{2, 3, 9, 40}, {.window = {3, 3}, .strides = {1, 1}, .pre_pads = {1, 1}, .post_pads = {1, 1}}},
      {{1, 7, 13, 24}, {.window = {5, 5}, .strides = {1, 1}, .pre_pads = {2, 2}, .post_pads = {2, 2}}},
      {{2, 3, 12, 48}, {.window = {2, 3}, .strides = {2, 3}, .pre_pads = {0, 2}, .post_pads = {1, 0}}},
      {{1, 3, 9, 36}, {.window = {1, 4}, .strides = {1, 4}, .pre_pads = {0, 1}}},
      {{1, 3, 16, 64}, {.window = {3, 2}, .strides = {3, 1}, .padding = kSameUpper}}};
  for (const DType type : kFloats)
    for (const Case& c : cases)
      for (int kind = 0; kind < 3; ++kind) {  // the last counts padding
        Net net(type);
        ops::Pooling pooling = c.pooling;
        pooling.kind = kind == 0 ? ops::PoolingKind::kMax : ops::PoolingKind::kAverage;
        pooling.average_excludes_padding = kind == 1;
        net.finish(net.add(pooling, {net.input(c.x)}));
        check(net, type, str(pooling.kind, " of ", c.x, " by windows of ", pooling.window));
      }
}

// Kernels that only tensors of some size run.

TEST_F(MemoryOnGpu, ManyPlanesByAnyScale) {
  using enum CoordinateTransformation;
  for (const DType type : kFloats)
    for (const auto& [coordinate, scale, x] :
         std::vector<std::tuple<CoordinateTransformation, float, Extents>>{{kHalfPixel, 1.5F, {3, 96, 30, 48}},
                                                                           {kAlignCorners, 2, {1, 300, 31, 44}},
                                                                           {kAsymmetric, 0.5F, {2, 150, 70, 72}},
                                                                           {kHalfPixel, 3, {1, 8, 500, 400}}}) {
      if (x[3] == 400 && type != DType::kF16) continue;  // more columns than threads; the reference takes long
      Net net(type);
      const ops::Resize resize{.mode = ResizeMode::kLinear, .scales = {1, 1, scale, scale}, .coordinate = coordinate};
      net.finish(net.add(resize, {net.input(x)}));
      check(net, type, str("resize of ", x, " by ", scale, ' ', coordinate));
    }
}

TEST_F(MemoryOnGpu, ManyShortRows) {
  for (const DType type : kFloats)
    for (const Extents& x :
         {Extents{64, 100, 64}, Extents{50, 100, 256}, Extents{75, 300, 49}, Extents{75, 300, 7}, Extents{400, 300, 9}})
      for (const ops::ReduceKind kind : {ops::ReduceKind::kAvg, ops::ReduceKind::kMax}) {
        Net net(type);
        net.finish(net.add(ops::Reduce{.kind = kind, .axes = {2}}, {net.input(x)}));
        check(net, type, str(kind, " of rows of ", x));
      }
  for (const DType type : kFloats)
    for (const int64_t cols : {2, 9, 20, 21, 32, 49, 64, 97}) {
      const Extents x{3, 11'399, cols};  // rows that end inside a block, in f16 inside a vector
      Net net(type), norm(type);
      net.finish(net.add(ops::Softmax{2}, {net.input(x, 3)}));
      check(net, type, str("softmax of rows of ", x));
      if (cols == 2) continue;  // the difference of two elements has fewer digits
      norm.finish(
          norm.add(ops::Normalization{.axes = {2}}, {norm.input(x, 2), norm.constant({cols}), norm.constant({cols})}));
      check(norm, type, str("layer norm of rows of ", x));
    }
}
TEST_F(MemoryOnGpu, ManyColumns) {
  for (const DType type : {DType::kF16, DType::kBF16})
    for (const Extents& x : {Extents{3, 21, 90'120}, Extents{1, 9, 540'680}, Extents{5, 13, 54'088}}) {
      Net net(type);
      net.finish(net.add(ops::Softmax{1}, {net.input(x, 3)}));
      check(net, type, str("softmax along columns of ", x));
    }
}
TEST_F(MemoryOnGpu, ManyGroups) {
  for (const DType type : kFloats) {
    check_norm(type, {2, 320, 40, 41}, 32);  // pieces of 10 channels
    check_norm(type, {3, 10, 9, 7}, 10);     // a few elements each
    check_norm(type, {3, 64, 16, 16}, 64);
  }
  check_norm(DType::kF16, {1, 4, 1024, 900}, 2);   // beyond a cluster
  check_norm(DType::kF16, {12, 64, 200, 100}, 8);  // beyond what stays in cache
}
TEST_F(MemoryOnGpu, GroupsThatClustersHold) {
  check_norm(DType::kF32, {7, 48, 150, 146}, 4);          // slices of six vectors: some threads have none
  check_norm(DType::kF32, {4, 40, 203, 207}, 5);          // odd planes
  check_norm(DType::kF32, {1, 26, 512, 512}, 26, false);  // a plane each
  check_norm(DType::kF32, {300, 48, 22, 24}, 4);          // small planes
  check_norm(DType::kBF16, {13, 40, 160, 165}, 5);
}
TEST_F(MemoryOnGpu, GroupsInSlices) {  // channels last, where vectors have channels of several groups
  check_norm(DType::kF16, {25, 320, 40, 50}, 32);
  check_norm(DType::kBF16, {300, 60, 29, 27}, 2);
  check_norm(DType::kF32, {29, 60, 61, 63}, 6);
  check_norm(DType::kF16, {9, 64, 150, 151}, 16, false);
  check_norm(DType::kF32, {3000, 48, 9, 7}, 24);
}
TEST_F(MemoryOnGpu, ChannelsByThemselves) {  // channels last, too
  for (const DType type : kFloats)
    for (const Extents& x : {Extents{3, 64, 16, 17}, Extents{2, 48, 7, 7}, Extents{1, 64, 65, 63}, Extents{2, 16, 3, 1},
                             Extents{1, 32, 260, 250}, Extents{70, 8, 40, 40}, Extents{1, 20, 30, 30},
                             Extents{500, 64, 19, 23}, Extents{13, 96, 99, 111}, Extents{150, 16, 81, 80}}) {
      Net net(type);
      const ops::Normalization norm{.axes = {2, 3}, .groups = x[1]};
      const ir::ValueId in = net.input(x, 2);
      net.finish(x[2] == 7 ? net.add(norm, {in})
                           : net.add(norm, {in, net.constant({x[1], 1, 1}), net.constant({x[1], 1, 1})}));
      check(net, type, str("instance norm of ", x));
    }
}
TEST_F(MemoryOnGpu, LargePictures) {
  for (const DType type : kFloats) {
    for (const CoordinateTransformation coordinate :
         {CoordinateTransformation::kHalfPixel, CoordinateTransformation::kAsymmetric,
          CoordinateTransformation::kAlignCorners})
      for (const ResizeMode mode : {ResizeMode::kNearest, ResizeMode::kLinear}) {
        Net net(type);
        const ops::Resize resize{.mode = mode, .scales = {1, 1, 2, 2}, .coordinate = coordinate};
        net.finish(net.add(resize, {net.input({2, 64, 67, 68})}));
        check(net, type, str("resize ", mode, ' ', coordinate));
      }
    for (const ops::PoolingKind kind : {ops::PoolingKind::kMax, ops::PoolingKind::kAverage}) {
      Net net(type);
      const ops::Pooling pooling{
          .kind = kind, .window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}, .post_pads = {1, 1}};
      net.finish(net.add(pooling, {net.input({2, 64, 131, 140})}));
      check(net, type, str(kind, " pooling of pictures"));
    }
    for (const int64_t stride : {1, 2}) {  // windows share rows
      Net net(type);
      const ops::Pooling pooling{
          .kind = ops::PoolingKind::kAverage, .window = {3, 3}, .strides = {stride, stride}, .pre_pads = {1, 0}};
      net.finish(net.add(pooling, {net.input({2, 256, 50 * stride, 90 * stride})}));
      check(net, type, str("average of windows by ", stride));
    }
    Net net(type);
    std::vector<int32_t> picks(3000);
    for (size_t i = 0; i < picks.size(); ++i) picks[i] = static_cast<int32_t>(i * 7919 % picks.size());
    net.finish(net.add(ops::Gather{}, {net.input({3000, 1024}), indices_of(net, picks)}));
    check(net, type, "gather of rows");
  }
}

TEST_F(MemoryOnGpu, ScattersKeepTheLastUpdate) {
  std::vector<int32_t> picks(5600);  // of 600 places, every second one counted from the back
  for (size_t i = 0; i < picks.size(); ++i) picks[i] = static_cast<int32_t>(i * 7919 % 600) - (i % 2 ? 600 : 0);
  for (const DType type : kFloats) {
    Net rows(type);
    const ir::ValueId to_rows = indices_of(rows, std::span(picks).first(700), {700, 1});
    rows.finish(
        rows.add(ops::Scatter{.mode = ScatterMode::kNd}, {rows.input({600, 264}), to_rows, rows.input({700, 264})}));
    check(rows, type, "scatter of rows");
    Net elements(type);
    const ir::ValueId to_elements = indices_of(elements, picks, {8, 700});
    elements.finish(
        elements.add(ops::Scatter{.axis = 1}, {elements.input({9, 600}), to_elements, elements.input({8, 700})}));
    check(elements, type, "scatter of elements");
  }
}

// Rates: run with --gtest_also_run_disabled_tests --gtest_filter='MemoryOnGpu*Rates'. KILN_RATES is a regular
// expression of the names of those that are wanted.

/// One op of one input.
Net unary_net(DType type, Op op, const Extents& x) {
  Net net(type, Net::Inputs::kNone);
  net.finish(net.add(std::move(op), {net.input(x)}));
  return net;
}

TEST_F(MemoryOnGpu, DISABLED_LargeRates) {  // 64 MiB and more
  for (const DType type : {DType::kF16, DType::kF32}) {
    const std::string of = str(" of ", name_of(type));
    const int64_t rows = type == DType::kF32 ? 8192 : 16384;  // 128 MiB in rows of 4096
    const auto unary = [&](const std::string& name, Op op, const Extents& x) {
      rate(unary_net(type, std::move(op), x), name + of);
    };
    unary("relu", ops::Activation{.kind = ops::ActivationKind::kRelu}, {rows, 4096});
    unary("gelu", ops::Activation{.kind = ops::ActivationKind::kGeluErf}, {rows, 4096});
    unary("transpose", ops::Transpose{{1, 0}}, {rows, 4096});
    unary("transpose to channels last", ops::Transpose{{0, 2, 3, 1}}, {32, 256, 64, rows / 128});
    unary("transpose of odd planes", ops::Transpose{{0, 2, 1}}, {rows / 16, 197, 333});
    unary("heads", ops::Transpose{{0, 2, 1, 3}}, {32, 512, rows / 256, 64 * 4});
    unary("softmax, rows of 4096", ops::Softmax{1}, {rows, 4096});
    unary("softmax, rows of 197", ops::Softmax{2}, {rows, 21, 197});
    for (const int64_t cols : {10, 21, 32, 49, 64, 96}) {
      const Extents x{rows * 4096 / cols, cols};
      unary(str("short: softmax, rows of ", cols), ops::Softmax{1}, x);
      unary(str("short: layer norm, rows of ", cols), ops::Normalization{.axes = {1}}, x);
      unary(str("short: sum, rows of ", cols), ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {1}}, x);
    }
    unary("softmax, columns", ops::Softmax{1}, {rows / 64, 64, 4096});
    unary("sum of rows", ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {1}}, {rows, 4096});
    unary("sum of rows of 64", ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {1}}, {rows * 64, 64});
    unary("sum of columns", ops::Reduce{.kind = ops::ReduceKind::kSum, .axes = {0}}, {rows, 4096});
    unary("average of planes", ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {2, 3}}, {256, 2048, 8, rows / 1024});
    unary("layer norm", ops::Normalization{.axes = {1}}, {rows, 4096});
    unary("layer norm, rows of 768", ops::Normalization{.axes = {1}}, {rows * 4, 768});
    unary("max pooling", ops::Pooling{.window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}}, {32, 64, 112, 112});
    unary("resize by 2", ops::Resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}}, {rows / 256, 64, 64, 64});
    for (const int64_t cols : {768, 4096}) {
      Net net(type, Net::Inputs::kNone);
      net.finish(net.add(ops::Normalization{.axes = {1}}, {net.input({cols == 768 ? rows * 4 : rows, cols}),
                                                           net.constant({cols}), net.constant({cols})}));
      rate(net, str("layer norm by ", cols, " coefficients") + of);
    }
    {
      Net net(type, Net::Inputs::kNone);
      net.finish(net.add(kSum, {net.input({rows, 4096}), net.input({rows, 4096})}));
      rate(net, "sum" + of);
    }
    {
      Net net(type, Net::Inputs::kNone);
      net.finish(gated(net, {rows / 64, 64, 64, 64}, {1, 64, 1, 1}));
      rate(net, "gate by channel" + of);
    }
    {
      Net net(type, Net::Inputs::kNone);
      net.finish(net.add(ops::Concatenation{1}, {net.input({32, 256, rows / 2}), net.input({32, 256, rows / 2})}));
      rate(net, "concatenation" + of);
    }
  }
}

TEST_F(MemoryOnGpu, DISABLED_WindowRates) {  // 64 MiB and more, too: what is not in LargeRates
  for (const DType type : {DType::kF16, DType::kF32}) {
    const std::string of = str(" of ", name_of(type));
    const int64_t rows = type == DType::kF32 ? 8192 : 16384;
    const auto unary = [&](const std::string& name, Op op, const Extents& x) {
      rate(unary_net(type, std::move(op), x), name + of);
    };
    const auto pooling = [&](const std::string& name, ops::PoolingKind kind, int64_t window, int64_t stride) {
      unary(name, ops::Pooling{.kind = kind, .window = {window, window}, .strides = {stride, stride}},
            {rows / 128, 64, 112, 112});
    };
    pooling("average pooling, 2x2", ops::PoolingKind::kAverage, 2, 2);
    pooling("average pooling, 3x3 by 2", ops::PoolingKind::kAverage, 3, 2);
    pooling("max pooling, 2x2", ops::PoolingKind::kMax, 2, 2);
    unary("nearest by 2", ops::Resize{.mode = ResizeMode::kNearest, .scales = {1, 1, 2, 2}}, {rows / 256, 64, 64, 64});
    unary("bilinear by 1.5", ops::Resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 1.5F, 1.5F}},
          {rows / 128, 64, 64, 64});
    unary("bilinear by 1/2", ops::Resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 0.5F, 0.5F}},
          {rows / 128, 64, 128, 128});
    unary("maximum of columns", ops::Reduce{.kind = ops::ReduceKind::kMax, .axes = {1}}, {rows / 64, 64, 4096});
    unary("slice by 2", ops::Slice{.starts = {0, 0}, .sizes = {rows, 2048}, .strides = {1, 2}}, {rows, 4096});
    unary("slice of every other row", ops::Slice{.starts = {0, 0}, .sizes = {rows / 2, 4096}, .strides = {2, 1}},
          {rows, 4096});
    unary("part of rows", ops::Slice{.starts = {0, 500}, .sizes = {rows, 3000}, .strides = {1, 1}}, {rows, 4096});
    unary("padding",
          ops::Slice{.starts = {0, 0, -1, -1},
                     .sizes = {rows / 128, 64, 130, 130},
                     .strides = {1, 1, 1, 1},
                     .mode = SliceMode::kFill},
          {rows / 128, 64, 128, 128});
    for (const int64_t row : {4096, 768, 64}) {
      Net net(type, Net::Inputs::kNone);
      const int64_t count = rows * 4096 / row;
      std::vector<int32_t> picks(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i)  // each row once, in no order
        picks[static_cast<size_t>(i)] = static_cast<int32_t>(i * 7919 % count);
      net.finish(net.add(ops::Gather{}, {net.input({count, row}), indices_of(net, picks)}));
      rate(net, str("gather of rows of ", row, of));
    }
  }
}

TEST_F(MemoryOnGpu, DISABLED_PlaneRates) {  // 64 MiB and more, too: lanes that are planes, or cross them
  for (const DType type : {DType::kF16, DType::kF32}) {
    const std::string of = str(" of ", name_of(type));
    const int64_t rows = type == DType::kF32 ? 8192 : 16384;
    const auto unary = [&](const std::string& name, Op op, const Extents& x) {
      rate(unary_net(type, std::move(op), x), name + of);
    };
    unary("group norm", ops::Normalization{.axes = {2, 3}, .groups = 32}, {16, 256, 128, rows / 128});
    unary("group norm, 10 channels each", ops::Normalization{.axes = {2, 3}, .groups = 32}, {rows / 256, 320, 64, 64});
    unary("group norm, 40 channels each", ops::Normalization{.axes = {2, 3}, .groups = 32}, {rows / 128, 1280, 32, 16});
    unary("group norm, 2 channels each, 32x32", ops::Normalization{.axes = {2, 3}, .groups = 128},
          {rows / 64, 256, 32, 32});
    unary("group norm, 2 channels each", ops::Normalization{.axes = {2, 3}, .groups = 128}, {rows / 256, 256, 64, 64});
    unary("group norm, 4 channels each", ops::Normalization{.axes = {2, 3}, .groups = 16}, {rows / 256, 64, 128, 128});
    const auto planes = [&](const std::string& name, int64_t n, int64_t extent) {
      unary(name, ops::Normalization{.axes = {2, 3}, .groups = 64}, {n * rows / 16384, 64, extent, extent});
    };
    unary("instance norm of 48, 64x64", ops::Normalization{.axes = {2, 3}, .groups = 48}, {rows / 48, 48, 64, 64});
    unary("instance norm of 32, 64x64", ops::Normalization{.axes = {2, 3}, .groups = 32}, {rows / 32, 32, 64, 64});
    planes("instance norm, 64x64", 256, 64);
    planes("instance norm, 16x16", 4096, 16);
    planes("instance norm, 8x8", 16384, 8);
    planes("instance norm, 128x128", 64, 128);
    planes("instance norm, 256x256", 16, 256);
    planes("instance norm, 512x512", 4, 512);
    unary("mean of planes, 7x7", ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {2, 3}}, {rows / 16, 2048, 7, 7});
    unary("mean of planes, 14x14", ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {2, 3}},
          {rows / 32, 1024, 14, 14});
    unary("softmax, channels 21", ops::Softmax{1}, {rows / 512, 21, 256, 512});
  }
}

TEST_F(MemoryOnGpu, DISABLED_SmallRates) {  // as they stand in networks at batch 1: latency
  const auto half = [](const std::string& name, Op op, const Extents& x) {
    rate(unary_net(DType::kF16, std::move(op), x), str(name, " of ", x));
  };
  half("layer norm", ops::Normalization{.axes = {1}}, {128, 768});
  half("layer norm", ops::Normalization{.axes = {1}}, {197, 1024});
  half("softmax", ops::Softmax{2}, {12, 128, 128});
  half("gelu", ops::Activation{.kind = ops::ActivationKind::kGeluErf}, {128, 3072});
  for (const Extents& x : {Extents{1, 32, 112, 112}, Extents{1, 144, 56, 56}, Extents{1, 240, 28, 28},
                           Extents{1, 672, 14, 14}, Extents{1, 1152, 7, 7}})
    half("mean", ops::Reduce{.kind = ops::ReduceKind::kAvg, .axes = {2, 3}, .keep = true}, x);
  half("group norm", ops::Normalization{.axes = {2, 3}, .groups = 32}, {1, 320, 64, 64});
  half("group norm", ops::Normalization{.axes = {2, 3}, .groups = 32}, {1, 1280, 16, 16});
  half("softmax, columns", ops::Softmax{1}, {1, 21, 64, 64});
  half("softmax, columns", ops::Softmax{1}, {1, 1000, 40});
  half("resize", ops::Resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}}, {1, 64, 32, 32});
  half("resize", ops::Resize{.mode = ResizeMode::kLinear, .scales = {1, 1, 2, 2}}, {1, 64, 128, 128});
  half("max pooling", ops::Pooling{.window = {2, 2}, .strides = {2, 2}}, {1, 64, 256, 256});
  half("max pooling", ops::Pooling{.window = {3, 3}, .strides = {2, 2}, .pre_pads = {1, 1}}, {1, 64, 112, 112});
  half("to channels last", ops::Transpose{{0, 2, 3, 1}}, {1, 3, 224, 224});
  half("heads", ops::Transpose{{0, 2, 1, 3}}, {1, 128, 12, 64});
  for (const Extents& x : {Extents{1, 64, 256, 256}, Extents{1, 256, 64, 64}}) {
    Net net(DType::kF16, Net::Inputs::kNone);
    net.finish(net.add(ops::Concatenation{1}, {net.input(x), net.input(x)}));
    rate(net, str("concatenation of ", x));
  }
}

}  // namespace
}  // namespace kiln::cuda
