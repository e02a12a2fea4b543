// Convolutions of square pictures, "same" padding, bias and relu. Winograd counts the direct convolution's operations.
#include "backend/cpu/kernels/conv/banded.h"
#include "backend/cpu/kernels/conv/conv.h"
#include "backend/cpu/kernels/depthwise/behind_pointwise.h"
#include "backend/cpu/kernels/depthwise/depthwise.h"
#include "backend/cpu/kernels/winograd/winograd.h"
#include "bench/cpu_kernels/measure.h"

namespace kiln::cpu {
namespace {

Window square(int64_t size, int64_t kernel, int64_t stride) {
  const int64_t pad = kernel / 2, out = (size + 2 * pad - kernel) / stride + 1;
  return {{1, size, size}, {1, out, out}, {1, kernel, kernel}, {1, stride, stride}, {1, 1, 1}, {0, pad, pad}};
}
Epilogue bias_relu(const std::vector<float>& bias) {
  Epilogue result;
  result.bias = bias.data();
  result.lo = 0;
  return result;
}
double flops(const Window& w, int64_t ic, int64_t oc) {
  return 2.0 * static_cast<double>(w.out_pixels() * w.taps() * ic * oc);
}

void Conv(benchmark::State& state) {
  const int64_t ic = state.range(0), oc = state.range(1);
  const auto threads = static_cast<int>(state.range(5));
  Team team(threads);
  ConvShape shape;
  shape.window = square(state.range(2), state.range(3), state.range(4));
  if (ic < 8) shape.input = ConvInput::kChannelsFirst;
  const Window& w = shape.window;
  const ConvWeights weights{ic, oc, 1, {1, w.kernel[1], w.kernel[2]}};
  const auto in = numbers(w.in_pixels() * ic), data = numbers(ic * oc * w.taps()), bias = numbers(oc);
  std::vector<float> out(static_cast<size_t>(w.out_pixels() * oc));
  const auto packed = pack_conv(weights, data.data());
  AlignedFloats memory = workspace(conv_workspace_bytes(shape, weights, threads));
  for (auto _ : state) conv(team, shape, in.data(), *packed, out.data(), bias_relu(bias), memory.data());
  report(state, flops(w, ic, oc), threads);
}
BENCHMARK(Conv)
    ->ArgNames({"ic", "oc", "size", "kernel", "stride", "threads"})
    ->ArgsProduct({{64}, {64}, {56}, {3}, {1}, {1, 2}})
    ->ArgsProduct({{256}, {64}, {56}, {1}, {1}, {1, 2}})
    ->ArgsProduct({{64}, {256}, {56}, {1}, {1}, {1, 2}})
    ->ArgsProduct({{16}, {96}, {56}, {1}, {1}, {1, 2}})
    ->ArgsProduct({{256}, {256}, {14}, {3}, {1}, {1, 2}})
    ->ArgsProduct({{3}, {64}, {224}, {7}, {2}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// One row of pixels, few output channels.
void Banded(benchmark::State& state) {
  const int64_t ic = state.range(0), oc = state.range(1), kernel = state.range(2), stride = state.range(3);
  const auto threads = static_cast<int>(state.range(4));
  Team team(threads);
  ConvShape shape;
  shape.window = {{1, 1, 44098}, {1, 1, (44098 - kernel) / stride + 1}, {1, 1, kernel}, {1, 1, stride}};
  const Window& w = shape.window;
  const ConvWeights weights{ic, oc, 1, {1, 1, kernel}};
  const auto in = numbers(w.in_pixels() * ic), data = numbers(ic * oc * w.taps()), bias = numbers(oc);
  std::vector<float> out(static_cast<size_t>(w.out_pixels() * oc));
  const auto packed = pack_banded(weights, stride, data.data());
  AlignedFloats memory = workspace(banded_workspace_bytes(shape, weights, threads));
  for (auto _ : state) banded(team, shape, in.data(), *packed, out.data(), bias_relu(bias), memory.data());
  report(state, flops(w, ic, oc), threads);
}
BENCHMARK(Banded)
    ->ArgNames({"ic", "oc", "kernel", "stride", "threads"})
    ->ArgsProduct({{1}, {1}, {256}, {2}, {1, 2}})
    ->ArgsProduct({{8}, {8}, {39}, {1}, {1, 2}})
    ->ArgsProduct({{32}, {1}, {3}, {1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void Winograd(benchmark::State& state) {
  const int64_t c = state.range(0);
  const auto threads = static_cast<int>(state.range(2));
  Team team(threads);
  ConvShape shape;
  shape.window = square(state.range(1), 3, 1);
  const Window& w = shape.window;
  const auto in = numbers(w.in_pixels() * c), data = numbers(c * c * 9), bias = numbers(c);
  std::vector<float> out(static_cast<size_t>(w.out_pixels() * c));
  const auto packed = pack_winograd({c, c, 1, {1, 3, 3}}, data.data());
  AlignedFloats memory = workspace(winograd_workspace_bytes(shape, {c, c}, threads));
  for (auto _ : state) winograd(team, shape, in.data(), *packed, out.data(), bias_relu(bias), memory.data());
  report(state, flops(w, c, c), threads);
}
BENCHMARK(Winograd)
    ->ArgNames({"c", "size", "threads"})
    ->ArgsProduct({{64}, {56}, {1, 2}})
    ->ArgsProduct({{128}, {28}, {1, 2}})
    ->ArgsProduct({{256}, {14}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

void Depthwise(benchmark::State& state) {
  const int64_t c = state.range(0);
  const auto threads = static_cast<int>(state.range(4));
  Team team(threads);
  ConvShape shape;
  shape.window = square(state.range(1), state.range(2), state.range(3));
  const Window& w = shape.window;
  const auto in = numbers(w.in_pixels() * c), data = numbers(c * w.taps()), bias = numbers(c);
  std::vector<float> out(static_cast<size_t>(w.out_pixels() * c));
  const auto packed = pack_depthwise({c, c, c, {1, w.kernel[1], w.kernel[2]}}, data.data());
  for (auto _ : state) depthwise(team, shape, in.data(), *packed, out.data(), bias_relu(bias));
  report(state, flops(w, 1, c), threads);
}
BENCHMARK(Depthwise)
    ->ArgNames({"c", "size", "kernel", "stride", "threads"})
    ->ArgsProduct({{96}, {56}, {3, 5, 7}, {1}, {1, 2}})
    ->ArgsProduct({{96}, {112}, {3}, {2}, {1, 2}})
    ->ArgsProduct({{512}, {14}, {3}, {1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

/// A convolution of single pixels and a depthwise one of its result.
void PointwiseDepthwise(benchmark::State& state) {
  const int64_t ic = state.range(0), c = state.range(1);
  const auto threads = static_cast<int>(state.range(5));
  Team team(threads);
  ConvShape shape;
  shape.window = square(state.range(2), state.range(3), state.range(4));
  const Window& w = shape.window;
  const auto in = numbers(w.in_pixels() * ic), points = numbers(ic * c), taps = numbers(c * w.taps()),
             bias = numbers(c);
  std::vector<float> out(static_cast<size_t>(w.out_pixels() * c));
  const auto pointwise = pack_conv({ic, c, 1, {1, 1, 1}}, points.data());
  const auto depthwise = pack_depthwise({c, c, c, {1, w.kernel[1], w.kernel[2]}}, taps.data());
  const Epilogue epilogue = bias_relu(bias);
  AlignedFloats memory = workspace(pointwise_depthwise_workspace_bytes(shape, threads));
  for (auto _ : state)
    pointwise_depthwise(team, {shape, *pointwise, epilogue, *depthwise, epilogue}, in.data(), out.data(),
                        memory.data());
  report(state, 2.0 * static_cast<double>(c * (w.in_pixels() * ic + w.out_pixels() * w.taps())), threads);
}
BENCHMARK(PointwiseDepthwise)
    ->ArgNames({"ic", "c", "size", "kernel", "stride", "threads"})
    ->ArgsProduct({{16}, {64}, {112}, {3}, {2}, {1, 2}})
    ->ArgsProduct({{24}, {72}, {56}, {3}, {1}, {1, 2}})
    ->ArgsProduct({{24}, {72}, {56}, {5}, {2}, {1, 2}})
    ->ArgsProduct({{40}, {120}, {28}, {5}, {1}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln::cpu
