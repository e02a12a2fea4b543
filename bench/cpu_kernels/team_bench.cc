// What a fork and a join cost while the helpers are awake: two empty parts.
#include "bench/cpu_kernels/measure.h"

namespace kiln::cpu {
namespace {

void ForkJoin(benchmark::State& state) {
  Team team(static_cast<int>(state.range(0)));
  for (auto _ : state) team.run(2, [](int64_t part, int) { benchmark::DoNotOptimize(part); });
}
BENCHMARK(ForkJoin)->ArgName("threads")->Arg(1)->Arg(2)->UseRealTime();

}  // namespace
}  // namespace kiln::cpu
