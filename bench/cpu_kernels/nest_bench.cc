// Nests: what a call costs, chains at the speed of memory, and each function within L1. The last argument: threads.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "backend/cpu/kernels/nest/nest.h"

namespace kiln::cpu {
namespace {

using enum ScalarFn;
constexpr DType kF32 = DType::kF32;

std::vector<float> some_floats(int64_t size) {
  std::vector<float> x(static_cast<size_t>(size));
  uint32_t state = 1;
  for (float& v : x) v = static_cast<float>(static_cast<int32_t>(state = state * 1664525 + 1013904223)) / 1e9f;
  return x;
}

struct Chain {
  const char* name;
  NestProgram program;
};
const Chain kChains[] = {
    {"copy", {{{kIdentity, kF32, kF32, {~0}}}, {kF32}, {kF32}, {0}}},
    {"relu", {{{kRelu, kF32, kF32, {~0}}}, {kF32}, {kF32}, {0}}},
    {"add, relu", {{{kSum, kF32, kF32, {~0, ~1}}, {kRelu, kF32, kF32, {0}}}, {kF32, kF32}, {kF32}, {1}}},
    {"silu", {{{kSigmoid, kF32, kF32, {~0}}, {kProd, kF32, kF32, {0, ~0}}}, {kF32}, {kF32}, {1}}},
    {"hard swish",
     {{{kHardSigmoid, kF32, kF32, {~0}, 1.0f / 6, 0.5f}, {kProd, kF32, kF32, {0, ~0}}}, {kF32}, {kF32}, {1}}},
    {"gelu", {{{kGeluErf, kF32, kF32, {~0}}}, {kF32}, {kF32}, {0}}},
};

void Whole(benchmark::State& state) {
  const Chain& chain = kChains[state.range(0)];
  const int64_t size = state.range(1);
  Team team(static_cast<int>(state.range(2)));
  const Nest nest = *Nest::make(chain.program);
  const std::vector<float> a = some_floats(size), b = some_floats(size);
  std::vector<float> y(static_cast<size_t>(size));
  const NestStrides dense{{1}};
  const std::vector<NestStrides> strides(chain.program.inputs.size() + 1, dense);
  const BoundNest bound(nest, std::span(&size, 1), strides);
  const void* inputs[] = {a.data(), b.data()};
  void* output = y.data();
  for (auto _ : state) bound.run(nest, team, inputs, &output);
  state.SetLabel(chain.name);
  state.SetBytesProcessed(state.iterations() * size * 4 * static_cast<int64_t>(strides.size()));
}
BENCHMARK(Whole)
    ->ArgNames({"chain", "size", "threads"})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5}, {8, 16 << 10, 4 << 20}, {1}})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5}, {400'000, 4 << 20}, {2}})
    ->UseRealTime();

// relu(x + bias): rows x cols, the bias along cols or along rows.
void Bias(benchmark::State& state) {
  const int64_t rows = state.range(0), cols = state.range(1), extents[] = {rows, cols};
  Team team(1);
  const Nest nest = *Nest::make(kChains[2].program);
  const std::vector<float> x = some_floats(rows * cols), bias = some_floats(std::max(rows, cols));
  std::vector<float> y(x.size());
  const NestStrides dense{{cols, 1}};
  const NestStrides strides[] = {dense, state.range(2) ? NestStrides{{1, 0}} : NestStrides{{0, 1}}, dense};
  const BoundNest bound(nest, extents, strides);
  const void* inputs[] = {x.data(), bias.data()};
  void* output = y.data();
  for (auto _ : state) bound.run(nest, team, inputs, &output);
  state.SetBytesProcessed(state.iterations() * rows * cols * 8);
}
BENCHMARK(Bias)
    ->ArgNames({"rows", "cols", "by_row"})
    ->ArgsProduct({{3136, 64}, {64, 3136}, {0, 1}})
    ->ArgsProduct({{512}, {49, 7}, {0, 1}});

// One kernel over 1024 elements; the argument is the ScalarFn.
void Function(benchmark::State& state) {
  const auto fn = static_cast<ScalarFn>(state.range(0));
  const std::vector<float> a = some_floats(1024), b = some_floats(1024);
  std::vector<float> y(1024);
  const NestKernel kernel = find_nest_kernel(fn, kF32);
  if (!kernel) return state.SkipWithError("no kernel of floats");
  for (auto _ : state) kernel({{a.data(), b.data()}, y.data(), 1024, 1, 1});
  state.SetLabel(std::string(name_of(fn)));
  state.SetItemsProcessed(state.iterations() * 1024);
}
BENCHMARK(Function)->DenseRange(0, static_cast<int>(kLess));

}  // namespace
}  // namespace kiln::cpu
