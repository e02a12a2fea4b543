#include "backend/cuda/tactics/library_epilogue.h"

#include <algorithm>

#include "backend/cuda/tactics/contraction.h"
#include "tactics/epilogue.h"
#include "tactics/region.h"

namespace kiln::cuda {

Match checked_for_library(const TacticContext& cx, Match region) {
  if (!region) return region;
  const auto epilogue = epilogue_of(*region);
  CHECK(epilogue.has_value());
  if (epilogue->hook) return reject("libraries fuse a bias, a residual and a relu, and no other chain");
  const steps::Epilogue none;
  if ((epilogue->lo != none.lo && epilogue->lo != 0) || epilogue->hi != none.hi)
    return reject("libraries fuse a relu; this is a clamp to ", epilogue->lo, "..", epilogue->hi);
  const ContractionTypes types = types_of(cx, *region);
  const DType y = types.out;
  if (types.is_mixed()) return reject("the operands are ", types.a, " and ", types.b, "; libraries take one type");
  if (!is_kernel_float(types.a) || (y != types.a && y != DType::kF32))
    return reject("libraries make no ", y, " of ", types.a);
  const ir::ValueId bias = region->inputs[2];
  if (bias != ir::ValueId::kNone && !cx.graph.constant(bias) && cx.graph.type(bias).dtype != y)
    return reject("the bias is ", cx.graph.type(bias), " for a result of ", y);
  return region;
}

size_t most_library_variants(const TacticContext& cx) {
  constexpr size_t kByLevel[] = {1, 2, 4, 8, 8, 16};
  return kByLevel[std::clamp(cx.optimization_level, 0, 5)];
}

double least_time_us(const TacticContext& cx, const Region& region, double multiply_adds) {
  const Machine machine = machine_of(cx);
  const DType type = cx.graph.type(region.inputs[0]).dtype;
  // Multiply-adds of a multiprocessor in a cycle: tensor cores since compute capability 9.0, before, and without them.
  const bool hopper = machine.compute >= 90;
  const double per_cycle = bits_of(type) == 8         ? (hopper ? 4096 : 2048)
                           : type != DType::kF32      ? (hopper ? 2048 : 1024)
                           : may_use_tf32(cx, region) ? (hopper ? 1024 : 512)
                                                      : 128;
  double bytes = 0;
  const auto add = [&](ir::ValueId id) {
    if (id != ir::ValueId::kNone) bytes += estimated_bytes(cx.graph.type(id));
  };
  std::ranges::for_each(region.inputs, add);
  std::ranges::for_each(region.outputs, add);
  constexpr double kLaunchUs = 2;
  const double compute_us = multiply_adds / (per_cycle * machine.multiprocessors * machine.clock_hz) * 1e6;
  return kLaunchUs + std::max(compute_us, bytes / machine.memory_bytes_per_second * 1e6);
}

}  // namespace kiln::cuda
