// Matrix products m x k x n with packed B, bias and relu. Arguments: m, k, n, threads.
#include "backend/cpu/kernels/gemm/gemm.h"
#include "bench/cpu_kernels/measure.h"

namespace kiln::cpu {
namespace {

void Gemm(benchmark::State& state) {
  const GemmShape shape{.m = state.range(0), .n = state.range(2), .k = state.range(1)};
  const auto threads = static_cast<int>(state.range(3));
  Team team(threads);
  const auto a = numbers(shape.m * shape.k), b = numbers(shape.k * shape.n), bias = numbers(shape.n);
  std::vector<float> c(static_cast<size_t>(shape.m * shape.n));
  const auto packed = pack_b({b.data(), shape.n, 1}, shape.k, shape.n);
  Epilogue epilogue;
  epilogue.bias = bias.data();
  epilogue.lo = 0;
  for (auto _ : state)
    gemm(team, shape, {a.data(), shape.k, {}}, *packed, {c.data(), shape.n, {}, {}}, epilogue, nullptr);
  report(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
}
BENCHMARK(Gemm)
    ->ArgNames({"m", "k", "n", "threads"})
    ->ArgsProduct({{128}, {768}, {768, 3072}, {1, 2}})
    ->ArgsProduct({{128}, {3072}, {768}, {1, 2}})
    ->ArgsProduct({{1, 4}, {1024}, {1024}, {1, 2}})
    ->ArgsProduct({{1}, {768}, {50257}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// Few rows against weights larger than the caches: [k, n] = [768, 50257]. Arguments: m, DType of the packed weights
// (0 f32, 1 f16, 2 bf16), threads. Bytes a second are of the packed weights.
void GemmFewRows(benchmark::State& state) {
  const GemmShape shape{.m = state.range(0), .n = 50257, .k = 768};
  constexpr DType kTypes[] = {DType::kF32, DType::kF16, DType::kBF16};
  const DType type = kTypes[state.range(1)];
  const auto threads = static_cast<int>(state.range(2));
  Team team(threads);
  const auto a = numbers(shape.m * shape.k), b = numbers(shape.k * shape.n);
  std::vector<float> c(static_cast<size_t>(shape.m * shape.n));
  const auto packed = pack_b({b.data(), shape.n, 1}, shape.k, shape.n, 1, 1, 0, type);
  for (auto _ : state) gemm(team, shape, {a.data(), shape.k, {}}, *packed, {c.data(), shape.n, {}, {}}, {}, nullptr);
  report(state, 2.0 * static_cast<double>(shape.m * shape.n * shape.k), threads);
  state.SetBytesProcessed(state.iterations() * shape.n * shape.k * size_bytes(type, 1));
}
BENCHMARK(GemmFewRows)
    ->ArgNames({"m", "type", "threads"})
    ->ArgsProduct({{1, 2, 4, 16, 64, 128}, {0, 1, 2}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

// Attention's products for b x h heads: B as it is, transposed. Arguments: heads, sequence, depth, threads.
void GemmOfActivations(benchmark::State& state) {
  const int64_t heads = state.range(0), s = state.range(1), d = state.range(2);
  const auto threads = static_cast<int>(state.range(3));
  Team team(threads);
  const GemmShape shape{.m = s, .n = s, .k = d, .inner = heads};
  const auto q = numbers(heads * s * d), k = numbers(heads * s * d);
  std::vector<float> c(static_cast<size_t>(heads * s * s));
  const GemmA a{q.data(), heads * d, {0, d}};
  const Matrix b{k.data(), 1, heads * d};
  AlignedFloats memory = workspace(gemm_workspace_bytes(shape, a, b, {0, d}));
  for (auto _ : state) gemm(team, shape, a, b, {0, d}, {c.data(), s, {0, s * s}, {}}, {}, memory.data());
  report(state, 2.0 * static_cast<double>(heads * s * s * d), threads);
}
BENCHMARK(GemmOfActivations)
    ->ArgNames({"heads", "s", "d", "threads"})
    ->ArgsProduct({{12}, {128}, {64}, {1, 2}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kiln::cpu
